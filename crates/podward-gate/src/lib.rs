//! The state machine of one pod's calls: submit, then run, refuse or ask; each settles once.
//!
//! It must never know a clock, a file, a client or what a tool does: values in, values out.
//!
//! A tool call becomes a [`Call`], which [`Gate::submit`] turns into a [`Permitted`] (the only
//! thing that runs), a [`Refusal`] (its text takes the place of the tool's result) or a
//! [`Question`]. That is put by [`Gate::put`] when nothing else stands against the call, and stays
//! open until an answer settles it; answers that are remembered are [`Grant`]s.
//!
//! ```
//! use podward_gate::{Answer, Call, CallFacts, CallId, Gate, Settled, Submitted};
//! use podward_policy::{Action, KnownTools, Operation, Policy, PolicySpec, ToolName};
//!
//! let rules = PolicySpec::new(Action::Ask);
//! let compiled = Policy::compile(&rules, &KnownTools::built_in()).map_err(|_| "a rule is wrong")?;
//! let mut gate = Gate::new(compiled.policy.into());
//!
//! let skill = ToolName::new("skill")?;
//! let operation = Operation::plain(&skill, "release");
//! let facts = CallFacts::new(CallId::new("call_1")?, skill, "{}", operation.into());
//! // What runs is anything: here a text.
//! let Submitted::Ask(question) = gate.submit(Call::new(facts, "the release")) else {
//!     return Err("the rules ask about everything".into());
//! };
//! gate.put(question.id())?;
//! let Settled::Run(permitted) = gate.answer(question.id(), Answer::Once { by: "me".into() })? else {
//!     return Err("it was said yes".into());
//! };
//! let (permit, what) = permitted.release();
//! assert_eq!((permit.facts().id().as_str(), what), ("call_1", "the release"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answer;
mod call;
mod gate;
mod grant;
mod id;
mod permit;
mod question;
mod refusal;
mod wording;

pub use answer::{Answer, AnswerError, DecidedBy, EditError};
pub use call::{Call, CallFacts, CallId, CallIdError};
pub use gate::{Gate, Put, REPEATS_ASKED, Settled, Submitted};
pub use grant::{Grant, GrantId, GrantIdError, Uses};
pub use permit::{Permit, Permitted};
pub use question::{AskReason, Question, RequestId, Rest};
pub use refusal::{Progress, Refusal, RefusalCause};
pub use wording::{edit_note, refusal_text, session_note};
