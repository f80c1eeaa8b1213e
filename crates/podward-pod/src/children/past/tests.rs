use podward_worker::{EndReason, Limit};

use super::*;

#[test]
fn each_end_of_a_turn_is_known_by_its_word() {
    let aborted = EndReason::Aborted {
        hook: "h".into(),
        reason: "no".into(),
    };
    for (reason, why) in [
        (EndReason::Done, None),
        (
            EndReason::Limit(Limit::Steps),
            Some("a limit of it was reached"),
        ),
        (aborted, Some("a hook ended its turn")),
        (EndReason::Cancelled, Some("its turn was cancelled")),
    ] {
        assert_eq!(failure(reason.as_str()).as_deref(), why, "{reason}");
    }
}
