use super::*;

const GRACE: Duration = Duration::from_secs(10);
const REFUSE: Unattended = Unattended::Refuse { grace: GRACE };

/// So many seconds after the beginning, by both clocks.
fn at(seconds: u64) -> Moment {
    Moment {
        steady: Duration::from_secs(seconds),
        wall: 1_000_000 + i64::try_from(seconds).unwrap() * 1_000,
    }
}

fn seconds(seconds: u64) -> Option<Duration> {
    Some(Duration::from_secs(seconds))
}

#[test]
fn with_nobody_there_a_question_is_refused_at_once() {
    let mut presence = Presence::new(REFUSE);
    assert_eq!(presence.ask("q", None, at(0)), Some(Fate::NoClient));
    assert_eq!(presence.due(at(99)), []);
    assert_eq!(presence.next_due(), None);
}

#[test]
fn questions_outlive_the_last_approver_by_the_grace() {
    let mut presence = Presence::new(REFUSE);
    presence.join(1);
    presence.join(2);
    assert_eq!(presence.ask("a", None, at(0)), None);
    presence.leave(1, at(1));
    assert_eq!((presence.next_due(), presence.due(at(99))), (None, vec![]));
    presence.leave(2, at(100));
    assert_eq!(presence.ask("b", None, at(105)), None, "within the grace");
    assert_eq!(presence.next_due(), seconds(110));
    assert_eq!(presence.due(at(109)), []);
    let gone = vec![("a", Fate::ClientGone), ("b", Fate::ClientGone)];
    assert_eq!(presence.due(at(110)), gone);
    assert_eq!(presence.due(at(111)), []);
    assert_eq!(presence.ask("c", None, at(111)), Some(Fate::NoClient));
}

#[test]
fn an_approver_who_comes_back_within_the_grace_finds_everything_open() {
    let mut presence = Presence::new(REFUSE);
    presence.join(1);
    assert_eq!(presence.ask("a", None, at(0)), None);
    presence.leave(1, at(1));
    presence.join(2);
    assert_eq!((presence.next_due(), presence.due(at(99))), (None, vec![]));
}

#[test]
fn without_a_grace_questions_go_with_the_last_approver() {
    let mut presence = Presence::new(Unattended::Refuse {
        grace: Duration::ZERO,
    });
    presence.join(1);
    assert_eq!(presence.ask("a", None, at(0)), None);
    presence.leave(1, at(1));
    assert_eq!(presence.due(at(1)), [("a", Fate::ClientGone)]);
    assert_eq!(presence.ask("b", None, at(1)), Some(Fate::NoClient));
}

#[test]
fn who_was_there_before_a_restart_is_waited_for_as_long_as_the_grace() {
    let mut presence = Presence::new(REFUSE);
    presence.expect_somebody(at(0));
    assert_eq!(presence.ask("a", None, at(3)), None);
    assert_eq!(presence.due(at(10)), [("a", Fate::ClientGone)]);
}

#[test]
fn what_waits_needs_nobody_and_expires() {
    let mut presence = Presence::new(Unattended::Wait);
    assert_eq!(presence.ask("late", seconds(60), at(0)), None);
    assert_eq!(presence.ask("soon", seconds(30), at(0)), None);
    assert_eq!(presence.ask("settled", seconds(30), at(0)), None);
    assert_eq!(presence.expires_at(&"soon"), Some(at(30).wall));
    presence.settle(&"settled");
    presence.join(1);
    presence.leave(1, at(1));
    assert_eq!(presence.next_due(), seconds(30));
    assert_eq!(presence.due(at(29)), []);
    assert_eq!(presence.due(at(30)), [("soon", Fate::Expired)]);
    assert_eq!(presence.due(at(90)), [("late", Fate::Expired)]);
    assert_eq!(presence.next_due(), None);
}

#[test]
fn a_clock_that_is_set_closes_a_question_and_never_keeps_it_open() {
    let ask = || {
        let mut presence = Presence::new(Unattended::Wait);
        assert_eq!(presence.ask("q", seconds(60), at(0)), None);
        presence
    };
    let moment = |steady, wall| Moment {
        steady: at(steady).steady,
        wall: at(wall).wall,
    };
    // Set forwards, or the machine slept.
    assert_eq!(ask().due(moment(1, 60)), [("q", Fate::Expired)]);
    // Set backwards.
    assert_eq!(ask().due(moment(60, 0)), [("q", Fate::Expired)]);
    assert_eq!(ask().due(moment(59, 59)), []);
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
    assert_eq!(presence.ask("a", seconds(15), at(0)), None);
    assert_eq!(presence.ask("b", seconds(60), at(0)), None);
    presence.leave(1, at(10));
    assert_eq!(presence.next_due(), seconds(15));
    assert_eq!(presence.due(at(15)), [("a", Fate::Expired)]);
    assert_eq!(presence.due(at(20)), [("b", Fate::ClientGone)]);
}
