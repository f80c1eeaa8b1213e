//! What time it is.

use podward_protocol::Time;

/// What time it is.
///
/// It may stand still or go backwards: nothing hangs on the order of two times.
pub trait Clock: Send + Sync {
    /// The present.
    fn now(&self) -> Time;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Time {
        let milliseconds = jiff::Timestamp::now().as_millisecond();
        // A clock that is set beyond the year 9999 is of no use; the start of 1970 says so.
        Time::from_unix_milliseconds(milliseconds).unwrap_or(Time::UNIX_EPOCH)
    }
}
