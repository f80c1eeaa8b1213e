//! The right to run one call, once.

use std::sync::Arc;

use podward_policy::Ruling;

use crate::answer::DecidedBy;
use crate::call::{Call, CallFacts};
use crate::grant::{GrantId, Used};
use crate::refusal::{Refusal, RefusalCause};

/// The right to run one call, once: a tool's execution takes one by value.
///
/// Only [`Permitted::release`] makes one, and only a gate makes a [`Permitted`]; it can be neither
/// copied nor made elsewhere. So a tool whose execution takes a `Permit` never runs unjudged:
///
/// ```
/// # use podward_gate::{Call, CallFacts, CallId, Gate, Permit, Settled, Submitted};
/// # use podward_policy::{Lowered, Policies, ToolName};
/// fn run_tool(_permit: Permit, command: &str) -> String { format!("ran {command}") }
/// # let facts = CallFacts::new(
/// #     CallId::new("a").unwrap(), ToolName::new("bash").unwrap(), "{}", Lowered::NothingToRun);
/// # let call = Call::new(facts, "ls");
/// let mut gate = Gate::new(Policies::default());
/// match gate.submit(call) {
///     Submitted::Settled(Settled::Run(permitted)) => {
///         let (permit, command) = permitted.release();
///         assert_eq!(run_tool(permit, command), "ran ls");
///     }
///     Submitted::Settled(Settled::Refuse(_)) | Submitted::Ask(_) => {}
/// }
/// ```
///
/// It cannot be written down, so there is nothing to run a tool with:
///
/// ```compile_fail,E0451
/// # use podward_gate::Permit;
/// # fn run_tool(_permit: Permit, command: &str) -> String { format!("ran {command}") }
/// fn forge(facts: std::sync::Arc<podward_gate::CallFacts>) {
///     run_tool(Permit { facts }, "ls"); // its field is private
/// }
/// ```
///
/// and it runs one call, not two:
///
/// ```compile_fail,E0382
/// # use podward_gate::Permit;
/// # fn run_tool(_permit: Permit, command: &str) -> String { format!("ran {command}") }
/// fn run_twice(permit: Permit) {
///     run_tool(permit, "ls");
///     run_tool(permit, "rm -rf /"); // used after move
/// }
/// ```
#[derive(Debug)]
pub struct Permit {
    facts: Arc<CallFacts>,
}

/// A call that may run, and what runs: it owns the arguments that were judged.
///
/// It cannot be made outside the gate (the twin that passes is at [`Permit`]):
///
/// ```compile_fail,E0451
/// # use podward_gate::{CallFacts, DecidedBy, Permitted};
/// # use podward_policy::Ruling;
/// fn forge(facts: std::sync::Arc<CallFacts>, ruling: Ruling, by: DecidedBy) -> Permitted<&'static str> {
///     Permitted { facts, ruling, by, payload: "ls" } // its fields are private
/// }
/// ```
///
/// A call that has been released or refused is gone, so it is settled once:
///
/// ```
/// # use podward_gate::{Permitted, Refusal, RefusalCause};
/// fn settle(permitted: Permitted<&str>) -> &str {
///     let (_permit, command) = permitted.release();
///     command
/// }
/// ```
///
/// ```compile_fail,E0382
/// # use podward_gate::{Permitted, Refusal, RefusalCause};
/// fn settle_twice(permitted: Permitted<&str>) -> Refusal {
///     let (_permit, command) = permitted.release();
///     permitted.refuse(RefusalCause::NotJudged) // used after move
/// }
/// ```
#[derive(Debug)]
pub struct Permitted<P> {
    facts: Arc<CallFacts>,
    ruling: Ruling,
    by: DecidedBy,
    used: Used,
    payload: P,
}

impl Permit {
    /// What is known of the call that may run.
    #[must_use]
    pub const fn facts(&self) -> &Arc<CallFacts> {
        &self.facts
    }
}

impl<P> Permitted<P> {
    pub(crate) fn new(call: Call<P>, ruling: Ruling, by: DecidedBy) -> Self {
        Self {
            facts: call.facts,
            ruling,
            by,
            used: Used::NONE,
            payload: call.payload,
        }
    }

    /// The same, for which a use was taken of each of these grants.
    pub(crate) fn using(mut self, used: Used) -> Self {
        self.used = used;
        self
    }

    /// What is known of the call.
    #[must_use]
    pub const fn facts(&self) -> &Arc<CallFacts> {
        &self.facts
    }

    /// The verdict over it: an allow, or an ask that was answered.
    #[must_use]
    pub const fn ruling(&self) -> &Ruling {
        &self.ruling
    }

    /// Who lets it run.
    #[must_use]
    pub const fn by(&self) -> &DecidedBy {
        &self.by
    }

    /// The grants with limited uses of which one was taken for it.
    #[must_use]
    pub fn used(&self) -> &[GrantId] {
        self.used.ids()
    }

    /// What is to run, to be looked at.
    pub const fn payload(&self) -> &P {
        &self.payload
    }

    /// The right to run, and what to run.
    #[must_use]
    pub fn release(self) -> (Permit, P) {
        (Permit { facts: self.facts }, self.payload)
    }

    /// Gives the right back: the call is refused after all, and what was taken for it is unused.
    #[must_use]
    pub fn refuse(self, cause: RefusalCause) -> Refusal {
        Refusal::judged(self.facts, self.ruling, cause).not_using(self.used)
    }
}
