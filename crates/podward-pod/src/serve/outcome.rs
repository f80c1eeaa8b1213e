//! What became of a question, on the wire.

use podward_gate::{Answer, DecidedBy, GrantId, RefusalCause};
use podward_protocol as wire;
use podward_protocol::Outcome;
use podward_worker::Decision;

/// What a decision made of the question about its call; `None`: it is still asked.
pub(super) fn of_decision(decision: &Decision) -> Option<Outcome> {
    match decision {
        Decision::Ask(_) => None,
        Decision::Run { by, .. } => Some(match by {
            DecidedBy::Policy => Outcome::ApprovedOnce,
            DecidedBy::Answer(answer) => of_answer(answer),
            DecidedBy::Grants { grants, .. } => granted(grants),
        }),
        Decision::Refuse(refusal) => Some(of_refusal(refusal.cause())),
    }
}

/// What an answer makes of a question.
pub(super) fn of_answer(answer: &Answer) -> Outcome {
    match answer {
        Answer::Once { .. } => Outcome::ApprovedOnce,
        Answer::Always { grant, with, .. } => {
            let all: Vec<GrantId> = std::iter::once(grant).chain(with).cloned().collect();
            granted(&all)
        }
        Answer::Edited { .. } => Outcome::ApprovedEdited,
        Answer::Auto => Outcome::Auto,
        Answer::Granted { grants, .. } => granted(grants),
        Answer::Rejected { feedback, .. } => rejected(feedback.as_deref()),
        Answer::Expired => Outcome::Expired,
        Answer::NoClient => Outcome::NoClient,
        Answer::NotAuto => Outcome::NotAuto,
        Answer::TooLarge => Outcome::TooLarge,
        Answer::Futile { error } => futile(error),
        Answer::ClientGone => Outcome::ClientGone,
        Answer::Cancelled => Outcome::Cancelled,
        Answer::PodStopped => Outcome::PodStopped,
        Answer::Interrupted => Outcome::Interrupted,
        Answer::Hook { name, text } => Outcome::Hook {
            name: name.to_string(),
            text: text.to_string(),
        },
        Answer::HookFailed { name, why } => Outcome::HookFailed {
            name: name.to_string(),
            why: why.to_string(),
        },
    }
}

/// Who gave an answer.
pub(super) fn by(answer: &Answer) -> wire::DecidedBy {
    let client = |by: &str, edited| wire::DecidedBy::Client {
        name: by.to_owned(),
        edited,
    };
    match answer {
        Answer::Once { by } | Answer::Always { by, .. } | Answer::Rejected { by, .. } => {
            client(by, false)
        }
        Answer::Edited { by } => client(by, true),
        Answer::Auto => wire::DecidedBy::Auto,
        Answer::Granted { grants, by } => crate::wire::granted(grants, by),
        Answer::Hook { name, .. } | Answer::HookFailed { name, .. } => wire::DecidedBy::Hook {
            name: name.to_string(),
        },
        Answer::Expired
        | Answer::NoClient
        | Answer::NotAuto
        | Answer::TooLarge
        | Answer::Futile { .. }
        | Answer::ClientGone
        | Answer::Cancelled
        | Answer::PodStopped
        | Answer::Interrupted => wire::DecidedBy::Pod,
    }
}

fn of_refusal(cause: &RefusalCause) -> Outcome {
    match cause {
        RefusalCause::Policy => Outcome::Policy,
        RefusalCause::NoClient { .. } => Outcome::NoClient,
        RefusalCause::Rejected { feedback, .. } => rejected(feedback.as_deref()),
        RefusalCause::Expired => Outcome::Expired,
        RefusalCause::NotAuto => Outcome::NotAuto,
        RefusalCause::TooLarge => Outcome::TooLarge,
        RefusalCause::Futile { error } => futile(error),
        RefusalCause::ClientGone => Outcome::ClientGone,
        RefusalCause::Hook { name, text } => Outcome::Hook {
            name: name.to_string(),
            text: text.to_string(),
        },
        RefusalCause::HookFailed { name, why } => Outcome::HookFailed {
            name: name.to_string(),
            why: why.to_string(),
        },
        RefusalCause::Cancelled(_) => Outcome::Cancelled,
        RefusalCause::PodStopped(_) => Outcome::PodStopped,
        RefusalCause::Interrupted(_)
        | RefusalCause::NotJudged
        | RefusalCause::BadCall { .. }
        | RefusalCause::UnknownTool => Outcome::Interrupted,
    }
}

fn rejected(feedback: Option<&str>) -> Outcome {
    match feedback {
        Some(feedback) => Outcome::RejectedWithFeedback {
            feedback: feedback.to_owned(),
        },
        None => Outcome::Rejected,
    }
}

fn futile(error: &str) -> Outcome {
    Outcome::Futile {
        error: error.to_owned(),
    }
}

fn granted(grants: &[GrantId]) -> Outcome {
    Outcome::ApprovedAlways {
        grants: crate::wire::grant_ids(grants),
    }
}
