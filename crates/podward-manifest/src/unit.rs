//! Times and sizes: a number with its unit.

#[cfg(test)]
mod tests;

use std::time::Duration;

/// The longest time that can be written: a week.
pub(crate) const LONGEST: Duration = Duration::from_secs(7 * 24 * 3600);

/// The largest size that can be written: 1 GiB.
pub(crate) const LARGEST: u64 = 1 << 30;

const TIME_UNITS: &[(&str, u64)] = &[("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)];

const SIZE_UNITS: &[(&str, u64)] = &[
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1000),
    ("B", 1),
];

/// A time: `500ms`, `90s`, `1h30m`; each unit at most once, larger ones first.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn duration(text: &str) -> Result<Duration, &'static str> {
    let mut rest = text;
    let mut total: u64 = 0;
    let mut units = TIME_UNITS.iter();
    while !rest.is_empty() {
        let (number, unit, after) = number_and_unit(rest)?;
        let (_, milliseconds) = units
            .find(|(name, _)| *name == unit)
            .ok_or("the units are `h`, `m`, `s` and `ms`, in this order, each at most once")?;
        total = number
            .checked_mul(*milliseconds)
            .and_then(|part| total.checked_add(part))
            .ok_or("it is longer than a week")?;
        rest = after;
    }
    let total = Duration::from_millis(total);
    if total.is_zero() {
        return Err("it must be longer than nothing");
    }
    if total > LONGEST {
        return Err("it is longer than a week");
    }
    Ok(total)
}

/// A size in bytes: `2000B`, `64KiB`, `1MB`.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn size(text: &str) -> Result<u64, &'static str> {
    let (number, unit, after) = number_and_unit(text)?;
    let (_, bytes) = SIZE_UNITS
        .iter()
        .find(|(name, _)| *name == unit && after.is_empty())
        .ok_or("the units are `B`, `KiB`, `MiB`, `GiB`, `kB`, `MB` and `GB`")?;
    match number.checked_mul(*bytes) {
        Some(0) => Err("it must be more than nothing"),
        Some(total) if total <= LARGEST => Ok(total),
        Some(_) | None => Err("it is more than 1GiB"),
    }
}

/// The number at the front, the letters after it, and the rest.
fn number_and_unit(text: &str) -> Result<(u64, &str, &str), &'static str> {
    let number_len = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at_checked(number_len).unwrap_or((text, ""));
    let unit_len = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (unit, after) = rest.split_at_checked(unit_len).unwrap_or((rest, ""));
    if number.is_empty() || unit.is_empty() {
        return Err("it must be a number with its unit behind it, without a blank");
    }
    let number = number.parse().map_err(|_| "the number is too large")?;
    Ok((number, unit, after))
}

/// A time as it is written: the exact inverse of [`duration`].
pub(crate) fn duration_text(duration: Duration) -> String {
    let mut rest = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let mut text = String::new();
    for (name, milliseconds) in TIME_UNITS {
        if rest >= *milliseconds {
            text.push_str(&format!("{}{name}", rest / milliseconds));
            rest %= milliseconds;
        }
    }
    text
}

/// A size as it is written: the largest binary unit that divides it.
pub(crate) fn size_text(bytes: u64) -> String {
    let unit = SIZE_UNITS
        .iter()
        .filter(|(name, _)| name.ends_with("iB"))
        .find(|(_, unit)| bytes >= *unit && bytes.is_multiple_of(*unit));
    match unit {
        Some((name, unit)) => format!("{}{name}", bytes / unit),
        None => format!("{bytes}B"),
    }
}
