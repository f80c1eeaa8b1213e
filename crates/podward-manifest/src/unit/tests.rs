use std::time::Duration;

use proptest::prelude::*;

use super::{
    LARGEST, LONGEST, age, age_text, duration, duration_text, grace, size, size_text, store_size,
    whole_seconds,
};

#[test]
fn times_have_units() {
    for (text, expected) in [
        ("1ms", 1),
        ("90s", 90_000),
        ("2m", 120_000),
        ("1h", 3_600_000),
        ("1h30m", 5_400_000),
        ("1h0m1s1ms", 3_601_001),
        ("168h", 604_800_000),
    ] {
        assert_eq!(
            duration(text),
            Ok(Duration::from_millis(expected)),
            "{text}"
        );
    }
    for text in [
        "",
        "1",
        "s",
        "1 s",
        " 1s",
        "1s ",
        "-1s",
        "+1s",
        "1.5s",
        "1d",
        "1S",
        "30m1h",
        "1s1s",
        "0s",
        "0h0m",
        "169h",
        "99999999999999999999s",
        "18446744073709551615h",
        "1m18446744073709551615ms",
        "１s",
    ] {
        assert!(duration(text).is_err(), "{text}");
    }
}

#[test]
fn a_grace_may_be_nothing() {
    for text in ["0s", "0ms", "0h"] {
        assert_eq!(grace(text), Ok(Duration::ZERO), "{text}");
    }
    assert_eq!(grace("10s"), Ok(Duration::from_secs(10)));
    assert_eq!(grace("500ms"), Ok(Duration::from_millis(500)));
    for text in ["", "0", "s", "169h"] {
        assert!(grace(text).is_err(), "{text}");
    }
    assert_eq!(duration_text(Duration::ZERO), "0s");
}

#[test]
fn whole_seconds_have_no_fraction() {
    assert_eq!(whole_seconds("1m30s"), Ok(Duration::from_secs(90)));
    assert_eq!(whole_seconds("2s0ms"), Ok(Duration::from_secs(2)));
    for text in ["", "0s", "1500ms", "1ms", "1"] {
        assert!(whole_seconds(text).is_err(), "{text}");
    }
}

#[test]
fn sizes_have_units() {
    for (text, expected) in [
        ("1B", 1),
        ("100kB", 100_000),
        ("64KiB", 65_536),
        ("1MB", 1_000_000),
        ("1MiB", 1 << 20),
        ("1GiB", 1 << 30),
        ("1GB", 1_000_000_000),
    ] {
        assert_eq!(size(text), Ok(expected), "{text}");
    }
    for text in [
        "",
        "1",
        "64K",
        "64KB",
        "64kb",
        "1 MB",
        "0B",
        "2GiB",
        "1KiB1B",
        "-1B",
        "18446744073709551615GiB",
    ] {
        assert!(size(text).is_err(), "{text}");
    }
}

proptest! {
    #[test]
    fn a_time_is_read_as_it_is_written(milliseconds in 1..=LONGEST.as_millis() as u64) {
        let time = Duration::from_millis(milliseconds);
        prop_assert_eq!(duration(&duration_text(time)), Ok(time));
    }

    #[test]
    fn a_size_is_read_as_it_is_written(bytes in 1..=LARGEST) {
        prop_assert_eq!(size(&size_text(bytes)), Ok(bytes));
    }

    #[test]
    fn no_text_makes_the_units_panic(text: String) {
        let _ = (duration(&text), size(&text));
    }
}

#[test]
fn what_is_kept_long_is_counted_in_days() {
    for (text, hours) in [
        ("14d", 14 * 24),
        ("1d12h", 36),
        ("36h", 36),
        ("3650d", 87_600),
    ] {
        let expected = Duration::from_secs(hours * 3600);
        assert_eq!(age(text), Ok(expected), "{text}");
        assert_eq!(age(&age_text(expected)), Ok(expected), "{text}");
    }
    for text in ["1w", "3651d", "0d", "1ms", "1h1d", "14"] {
        assert!(age(text).is_err(), "{text}");
    }
    assert_eq!(store_size("1024GiB"), Ok(1 << 40));
    assert!(store_size("1025GiB").is_err());
}
