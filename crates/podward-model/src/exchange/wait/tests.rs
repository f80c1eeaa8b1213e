use super::*;

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn waits_double_and_have_a_bound() {
    let limits = RequestLimits::default();
    let millis = |n_attempts, jitter| before(n_attempts, None, jitter, &limits).as_millis();
    assert_eq!(
        [1, 2, 3, 4, 5].map(|n| millis(n, 0.5)),
        [500, 1000, 2000, 4000, 8000]
    );
    assert_eq!([millis(1, 0.0), millis(1, 1.0)], [375, 625]);
    assert_eq!([millis(30, 1.0), millis(u32::MAX, 1.0)], [60_000, 60_000]);
}

#[test]
fn what_the_provider_asks_for_counts_up_to_the_bound() {
    let limits = RequestLimits::default();
    assert_eq!(before(1, Some(seconds(7)), 0.9, &limits), seconds(7));
    assert_eq!(before(5, Some(seconds(0)), 0.9, &limits), seconds(0));
    assert_eq!(before(1, Some(seconds(3600)), 0.9, &limits), seconds(60));
}

#[test]
fn retry_after_is_seconds_or_a_date() {
    let now = SystemTime::UNIX_EPOCH + seconds(784_111_777);
    let read = |value| retry_after(value, now);
    assert_eq!(read(" 120 "), Some(seconds(120)));
    assert_eq!(read("1.5"), Some(Duration::from_millis(1500)));
    assert_eq!(read("Sun, 06 Nov 1994 08:49:47 GMT"), Some(seconds(10)));
    assert_eq!(read("Sun, 06 Nov 1994 08:49:27 GMT"), Some(seconds(0)));
    for odd in [
        "",
        "soon",
        "-1",
        "1e400",
        "NaN",
        "Sun, 99 Nov 1994 08:49:37 GMT",
    ] {
        assert_eq!(read(odd), None, "{odd}");
    }
}

#[test]
fn jitter_stays_between_0_and_1() {
    for _ in 0..1000 {
        assert!((0.0..=1.0).contains(&jitter()));
    }
}
