//! Times and sizes: a number with its unit.

#[cfg(test)]
mod tests;

use std::time::Duration;

/// The longest time that can be written: a week.
pub(crate) const LONGEST: Duration = Duration::from_secs(7 * 24 * 3600);

/// The largest size that can be written: 1 GiB.
pub(crate) const LARGEST: u64 = 1 << 30;

/// The longest time that something can be kept: ten years.
pub(crate) const OLDEST: Duration = Duration::from_secs(3650 * 24 * 3600);

/// The largest size of a store: 1 TiB.
pub(crate) const LARGEST_STORE: u64 = 1 << 40;

pub(crate) const TIME_UNITS: &[(&str, u64)] =
    &[("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)];

const TIME_ORDER: &str = "the units are `h`, `m`, `s` and `ms`, in this order, each at most once";

const LONGER_THAN_LONGEST: &str = "it is longer than a week";

pub(crate) const AGE_UNITS: &[(&str, u64)] = &[
    ("d", 86_400_000),
    ("h", 3_600_000),
    ("m", 60_000),
    ("s", 1000),
];

pub(crate) const SIZE_UNITS: &[(&str, u64)] = &[
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
    let time = time(text, TIME_UNITS, TIME_ORDER, LONGEST, LONGER_THAN_LONGEST);
    time.and_then(more_than_nothing)
}

/// A time without a fraction of a second: `90s`, `1h30m`.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn whole_seconds(text: &str) -> Result<Duration, &'static str> {
    match duration(text)? {
        time if time.subsec_nanos() == 0 => Ok(time),
        _ => Err("it must be whole seconds"),
    }
}

/// A time that may be nothing: `10s`, `0s`.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn grace(text: &str) -> Result<Duration, &'static str> {
    if text.is_empty() {
        return Err("it is empty");
    }
    time(text, TIME_UNITS, TIME_ORDER, LONGEST, LONGER_THAN_LONGEST)
}

/// How long something is kept: `14d`, `36h`; each unit at most once, larger ones first.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn age(text: &str) -> Result<Duration, &'static str> {
    let order = "the units are `d`, `h`, `m` and `s`, in this order, each at most once";
    time(
        text,
        AGE_UNITS,
        order,
        OLDEST,
        "it is longer than ten years",
    )
    .and_then(more_than_nothing)
}

fn time(
    text: &str,
    units: &[(&str, u64)],
    order: &'static str,
    longest: Duration,
    too_long: &'static str,
) -> Result<Duration, &'static str> {
    let mut rest = text;
    let mut total: u64 = 0;
    let mut units = units.iter();
    while !rest.is_empty() {
        let (number, unit, after) = number_and_unit(rest)?;
        let (_, milliseconds) = units.find(|(name, _)| *name == unit).ok_or(order)?;
        total = number
            .checked_mul(*milliseconds)
            .and_then(|part| total.checked_add(part))
            .ok_or(too_long)?;
        rest = after;
    }
    let total = Duration::from_millis(total);
    if total > longest {
        return Err(too_long);
    }
    Ok(total)
}

fn more_than_nothing(time: Duration) -> Result<Duration, &'static str> {
    match time.is_zero() {
        true => Err("it must be longer than nothing"),
        false => Ok(time),
    }
}

/// A size in bytes: `2000B`, `64KiB`, `1MB`.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn size(text: &str) -> Result<u64, &'static str> {
    bytes(text, LARGEST, "it is more than 1GiB")
}

/// The size of a store in bytes: `500MiB`, `1GiB`.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn store_size(text: &str) -> Result<u64, &'static str> {
    bytes(text, LARGEST_STORE, "it is more than 1024GiB")
}

fn bytes(text: &str, largest: u64, too_large: &'static str) -> Result<u64, &'static str> {
    let (number, unit, after) = number_and_unit(text)?;
    let (_, bytes) = SIZE_UNITS
        .iter()
        .find(|(name, _)| *name == unit && after.is_empty())
        .ok_or("the units are `B`, `KiB`, `MiB`, `GiB`, `kB`, `MB` and `GB`")?;
    match number.checked_mul(*bytes) {
        Some(0) => Err("it must be more than nothing"),
        Some(total) if total <= largest => Ok(total),
        Some(_) | None => Err(too_large),
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
    time_text(duration, TIME_UNITS)
}

/// How long something is kept as it is written: the exact inverse of [`age`].
pub(crate) fn age_text(age: Duration) -> String {
    time_text(age, AGE_UNITS)
}

fn time_text(duration: Duration, units: &[(&str, u64)]) -> String {
    if duration.is_zero() {
        return "0s".to_owned();
    }
    let mut rest = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let mut text = String::new();
    for (name, milliseconds) in units {
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
