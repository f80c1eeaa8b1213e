//! How long to wait before another attempt.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{Duration, SystemTime};

use jiff::fmt::rfc2822;

use crate::endpoint::RequestLimits;

/// The wait after this many attempts.
///
/// `asked` is what the provider asks for; `jitter`, from 0 to 1, spreads the attempts of many.
pub(super) fn before(
    n_attempts: u32,
    asked: Option<Duration>,
    jitter: f64,
    limits: &RequestLimits,
) -> Duration {
    let doubled = 2u32.saturating_pow(n_attempts.saturating_sub(1));
    let own = limits.first_wait.saturating_mul(doubled);
    let wait = match asked {
        Some(asked) => asked,
        None => own.min(limits.longest_wait).mul_f64(0.75 + jitter / 2.0),
    };
    wait.min(limits.longest_wait)
}

/// A number from 0 to 1 that is another one each time.
pub(super) fn jitter() -> f64 {
    // The keys of a hash map are the randomness that the standard library has.
    let random = RandomState::new().build_hasher().finish();
    f64::from(u16::try_from(random & 0xffff).unwrap_or_default()) / f64::from(u16::MAX)
}

/// Reads `Retry-After`: seconds, or a date (RFC 9110, section 10.2.3).
pub(super) fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = rfc2822::parse(value).ok()?.timestamp();
    let then = SystemTime::try_from(date).ok()?;
    Some(then.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests;
