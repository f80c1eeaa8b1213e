use super::*;

#[test]
fn what_is_a_no_is_known_from_its_word() {
    let text: Box<str> = "text".into();
    for (cause, is_no) in [
        (RefusalCause::Policy, true),
        (
            RefusalCause::NoClient {
                asked: AskReason::Policy,
            },
            true,
        ),
        (RefusalCause::NotAuto, true),
        (RefusalCause::TooLarge, true),
        (
            RefusalCause::Futile {
                error: text.clone(),
            },
            false,
        ),
        (
            RefusalCause::Rejected {
                by: text.clone(),
                feedback: None,
            },
            true,
        ),
        (RefusalCause::Expired, true),
        (RefusalCause::ClientGone, true),
        (RefusalCause::BadCall { why: text.clone() }, true),
        (RefusalCause::UnknownTool, true),
        (
            RefusalCause::Hook {
                name: text.clone(),
                text: text.clone(),
            },
            true,
        ),
        (
            RefusalCause::HookFailed {
                name: text.clone(),
                why: text,
            },
            true,
        ),
        (RefusalCause::NotJudged, true),
        (RefusalCause::Cancelled(Progress::NotStarted), false),
        (RefusalCause::PodStopped(Progress::Started), false),
        (RefusalCause::Interrupted(Progress::NotStarted), false),
    ] {
        assert_eq!(cause.is_no(), is_no, "{cause}");
        assert_eq!(RefusalCause::is_no_word(cause.as_str()), is_no, "{cause}");
    }
}
