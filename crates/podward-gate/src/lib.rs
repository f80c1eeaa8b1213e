//! The state machine of one pod's calls: submit, then run, refuse or ask; each settles once.
//!
//! It must never know a clock, a file, a client or what a tool does: values in, values out.
//!
//! A tool call becomes a [`Call`], which [`Gate::submit`] turns into a [`Permitted`] (the only
//! thing that runs), a [`Refusal`] (its text takes the place of the tool's result) or a
//! [`Question`], which stays open until [`Gate::answer`] settles it.

mod call;
mod gate;
mod permit;
mod refusal;
mod wording;

pub use call::{Call, CallFacts, CallId, CallIdError};
pub use gate::{
    Answer, AnswerError, AskReason, Gate, Question, REPEATS_ASKED, RequestId, Settled, Submitted,
};
pub use permit::{Permit, Permitted};
pub use refusal::{Progress, Refusal, RefusalCause};
pub use wording::refusal_text;
