use proptest::prelude::*;

use super::*;

#[test]
fn a_time_is_written_in_utc_with_milliseconds() {
    let check = |text: &str, written: &str| {
        assert_eq!(text.parse::<Time>().unwrap().to_string(), written);
    };
    check("1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000Z");
    check("2026-01-02T03:04:05.6789Z", "2026-01-02T03:04:05.678Z");
    check("2026-01-02T03:04:05.678+01:00", "2026-01-02T02:04:05.678Z");
    check("0000-01-01T00:00:00Z", "0000-01-01T00:00:00.000Z");
}

#[test]
fn what_is_no_time_is_refused() {
    for text in [
        "",
        "now",
        "2026-01-02",
        "2026-13-02T03:04:05Z",
        "-000001-01-01T00:00:00Z",
    ] {
        assert!(text.parse::<Time>().is_err(), "{text}");
    }
    for milliseconds in [
        FIRST_MILLISECOND - 1,
        LAST_MILLISECOND + 1,
        i64::MIN,
        i64::MAX,
    ] {
        assert!(Time::from_unix_milliseconds(milliseconds).is_err());
    }
}

proptest! {
    #[test]
    fn a_time_reads_back_as_written(milliseconds in FIRST_MILLISECOND..=LAST_MILLISECOND) {
        let time = Time::from_unix_milliseconds(milliseconds).unwrap();
        prop_assert_eq!(time.unix_milliseconds(), milliseconds);
        prop_assert_eq!(time.to_string().len(), "2026-01-02T03:04:05.678Z".len());
        prop_assert_eq!(time.to_string().parse::<Time>().unwrap(), time);
    }
}
