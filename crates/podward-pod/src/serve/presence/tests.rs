use super::*;

const GRACE: Duration = Duration::from_secs(10);
const REFUSE: Unattended = Unattended::Refuse { grace: GRACE };

/// So many seconds after the beginning, by both clocks.
fn at(seconds: i64) -> Moment {
    Moment {
        steady: seconds * 1_000,
        wall: 1_000_000 + seconds * 1_000,
    }
}

fn expired<const N: usize>(expired: [&'static str; N]) -> Due<&'static str> {
    Due {
        expired: expired.into(),
        is_deserted: false,
    }
}

fn deserted() -> Due<&'static str> {
    Due {
        expired: BTreeSet::new(),
        is_deserted: true,
    }
}

#[test]
fn with_nobody_there_a_question_is_refused_at_once() {
    let mut presence = Presence::new(REFUSE);
    assert_eq!(presence.ask("q", None, at(0)), Some(Fate::NoClient));
    assert_eq!(presence.due(at(99)), expired([]));
    assert_eq!(presence.next_due(), None);
}

#[test]
fn questions_outlive_the_last_approver_by_the_grace() {
    let mut presence = Presence::new(REFUSE);
    presence.join(1);
    presence.join(2);
    assert_eq!(presence.ask("a", None, at(0)), None);
    presence.leave(1, at(1));
    assert_eq!(
        (presence.next_due(), presence.due(at(99))),
        (None, expired([]))
    );
    presence.leave(2, at(100));
    assert_eq!(presence.ask("b", None, at(105)), None, "within the grace");
    assert_eq!(presence.next_due(), Some(at(110).steady));
    assert_eq!(presence.due(at(109)), expired([]));
    assert_eq!(presence.due(at(110)), deserted());
    assert_eq!(presence.due(at(111)), expired([]));
    assert_eq!(presence.ask("c", None, at(111)), Some(Fate::NoClient));
}

#[test]
fn an_approver_who_comes_back_within_the_grace_finds_everything_open() {
    let mut presence = Presence::new(REFUSE);
    presence.join(1);
    assert_eq!(presence.ask("a", None, at(0)), None);
    presence.leave(1, at(1));
    presence.join(2);
    assert_eq!(
        (presence.next_due(), presence.due(at(99))),
        (None, expired([]))
    );
}

#[test]
fn without_a_grace_questions_go_with_the_last_approver() {
    let mut presence = Presence::new(Unattended::Refuse {
        grace: Duration::ZERO,
    });
    presence.join(1);
    assert_eq!(presence.ask("a", None, at(0)), None);
    presence.leave(1, at(1));
    assert_eq!(presence.due(at(1)), deserted());
    assert_eq!(presence.ask("b", None, at(1)), Some(Fate::NoClient));
}

#[test]
fn who_was_there_before_a_restart_is_waited_for_as_long_as_the_grace() {
    let mut presence = Presence::new(REFUSE);
    presence.expect_somebody(at(0));
    assert_eq!(presence.ask("a", None, at(3)), None);
    assert_eq!(presence.due(at(10)), deserted());
}

#[test]
fn what_waits_needs_nobody_and_expires() {
    let mut presence = Presence::new(Unattended::Wait);
    assert_eq!(presence.ask("late", Some(at(60)), at(0)), None);
    assert_eq!(presence.ask("soon", Some(at(30)), at(0)), None);
    assert_eq!(presence.ask("settled", Some(at(30)), at(0)), None);
    presence.settle(&"settled", Some(at(30)));
    presence.join(1);
    presence.leave(1, at(1));
    assert_eq!(presence.next_due(), Some(at(30).steady));
    assert_eq!(presence.due(at(29)), expired([]));
    assert_eq!(presence.due(at(30)), expired(["soon"]));
    assert_eq!(presence.due(at(90)), expired(["late"]));
    assert_eq!(presence.next_due(), None);
}

#[test]
fn a_clock_that_is_set_closes_a_question_and_never_keeps_it_open() {
    let ask = || {
        let mut presence = Presence::new(Unattended::Wait);
        assert_eq!(presence.ask("q", Some(at(60)), at(0)), None);
        presence
    };
    let moment = |steady, wall| Moment {
        steady: at(steady).steady,
        wall: at(wall).wall,
    };
    // Set forwards, or the machine slept.
    assert_eq!(ask().due(moment(1, 60)), expired(["q"]));
    // Set backwards.
    assert_eq!(ask().due(moment(60, 0)), expired(["q"]));
    assert_eq!(ask().due(moment(59, 59)), expired([]));
}

#[test]
fn an_approver_who_answers_no_two_pings_is_silent() {
    let mut presence = Presence::<&str>::new(REFUSE);
    presence.join(1);
    presence.join(2);
    presence.join(3);
    let is_remote = |client| client != 3;
    assert_eq!(presence.ping(is_remote), Vec::<u64>::new());
    presence.hear(1);
    assert_eq!(presence.ping(is_remote), Vec::<u64>::new());
    presence.hear(1);
    assert_eq!(
        presence.ping(is_remote),
        [2],
        "and the terminal is not asked"
    );
    presence.leave(2, at(30));
    presence.hear(1);
    assert_eq!(presence.ping(is_remote), Vec::<u64>::new());
}

#[test]
fn a_question_that_expires_during_the_grace_has_expired() {
    let mut presence = Presence::new(REFUSE);
    presence.join(1);
    assert_eq!(presence.ask("a", Some(at(15)), at(0)), None);
    assert_eq!(presence.ask("b", Some(at(60)), at(0)), None);
    presence.leave(1, at(10));
    assert_eq!(presence.next_due(), Some(at(15).steady));
    assert_eq!(presence.due(at(15)), expired(["a"]));
    assert_eq!(presence.due(at(20)), deserted());
}

#[test]
fn a_question_expires_so_much_later_by_both_clocks() {
    assert_eq!(at(3).after(Duration::from_secs(60)), at(63));
    let late = at(3).after(Duration::MAX);
    assert_eq!((late.steady, late.wall), (i64::MAX, i64::MAX));
}
