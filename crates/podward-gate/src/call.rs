//! A tool call, as far as it must be known to judge it.

use std::fmt;
use std::sync::Arc;

use podward_policy::{Lowered, ToolName};

use crate::id::{is_id, refused};
use crate::question::RequestId;

/// The id of one tool call: 1 to 64 characters of `A-Z a-z 0-9 _ -`, the set that every model
/// provider takes back.
///
/// Who makes one sees to it that it is unique in its session.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(Arc<str>);

/// A text that can be no call's id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a call id: an id has 1 to 64 letters, digits, `_` and `-`")]
pub struct CallIdError {
    text: String,
}

/// What is known of a call: who is called, with what, and what that would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallFacts {
    // A question about the call has the same id.
    id: RequestId,
    tool: ToolName,
    arguments: Arc<str>,
    lowered: Lowered,
    // A question may wait long: most are about no such call.
    part_of: Option<Box<PartOf>>,
}

/// Where a further call comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
struct PartOf {
    call: CallId,
    redirected_from: Vec<Box<str>>,
}

/// A call that nobody has judged yet: its facts, and `P`, what would run.
///
/// The payload comes out again only through a [`Permitted`](crate::Permitted):
///
/// ```
/// # use podward_gate::{Call, CallFacts, CallId};
/// # use podward_policy::{Lowered, ToolName};
/// # let facts = CallFacts::new(
/// #     CallId::new("a").unwrap(), ToolName::new("read").unwrap(), "{}", Lowered::NothingToRun);
/// let call = Call::new(facts, "what would run");
/// assert_eq!(call.facts().id().as_str(), "a");
/// ```
///
/// ```compile_fail,E0616
/// # use podward_gate::{Call, CallFacts, CallId};
/// # use podward_policy::{Lowered, ToolName};
/// # let facts = CallFacts::new(
/// #     CallId::new("a").unwrap(), ToolName::new("read").unwrap(), "{}", Lowered::NothingToRun);
/// let call = Call::new(facts, "what would run");
/// let unjudged = call.payload; // private
/// ```
#[derive(Debug)]
pub struct Call<P> {
    pub(crate) facts: Arc<CallFacts>,
    pub(crate) payload: P,
}

impl CallId {
    /// Checks an id.
    ///
    /// # Errors
    /// It is empty, longer than 64 bytes, or has another character.
    pub fn new(text: &str) -> Result<Self, CallIdError> {
        match is_id(text) {
            true => Ok(Self(text.into())),
            false => Err(CallIdError {
                text: refused(text),
            }),
        }
    }

    /// The nearest id to what a model wrote: other characters become `_`, and it is cut at 48.
    #[must_use]
    pub fn from_model(text: &str) -> Self {
        let is_fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let fit: String = text
            .chars()
            .take(48)
            .map(|c| if is_fit(c) { c } else { '_' })
            .collect();
        Self(if fit.is_empty() { "call" } else { &fit }.into())
    }

    /// The same id with a number behind it, for a second call that would have the same.
    #[must_use]
    pub fn numbered(&self, number: u32) -> Self {
        let base = self.0.get(..48).unwrap_or(&self.0);
        Self(format!("{base}_{number}").into())
    }

    /// The id of a further call that this one turned out to need: `call_1` and `redirect` give
    /// `call_1-redirect`.
    #[must_use]
    pub fn further(&self, word: &str) -> Self {
        let base = self.0.get(..32).unwrap_or(&self.0);
        Self::from_model(&format!("{base}-{word}"))
    }

    /// The id as the model and the logs know it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl CallFacts {
    /// The facts of a call; `arguments` is canonical JSON (RFC 8785), so that equal arguments are
    /// equal texts.
    #[must_use]
    pub fn new(
        id: CallId,
        tool: ToolName,
        arguments: impl Into<Box<str>>,
        lowered: Lowered,
    ) -> Self {
        Self {
            id: id.into(),
            tool,
            arguments: arguments.into().into(),
            lowered,
            part_of: None,
        }
    }

    /// The same, of a further call that a running call turned out to need, and to which these addresses have
    /// led by redirects, one after the other.
    #[must_use]
    pub fn as_part_of(mut self, call: CallId, redirected_from: Vec<Box<str>>) -> Self {
        self.part_of = Some(Box::new(PartOf {
            call,
            redirected_from,
        }));
        self
    }

    /// The running call that turned out to need this one; `None` for a call that the model made.
    #[must_use]
    pub fn part_of(&self) -> Option<&CallId> {
        self.part_of.as_deref().map(|part_of| &part_of.call)
    }

    /// The addresses that have led to this call, one after the other: its arguments do not say them.
    #[must_use]
    pub fn redirected_from(&self) -> &[Box<str>] {
        let part_of = self.part_of.as_deref();
        part_of.map_or(&[], |part_of| &part_of.redirected_from)
    }

    /// The call's id.
    #[must_use]
    pub const fn id(&self) -> &CallId {
        self.id.call()
    }

    /// The id of a question about the call.
    pub(crate) const fn request(&self) -> &RequestId {
        &self.id
    }

    /// The tool that is called.
    #[must_use]
    pub const fn tool(&self) -> &ToolName {
        &self.tool
    }

    /// The arguments as canonical JSON (RFC 8785).
    #[must_use]
    pub fn arguments(&self) -> &str {
        &self.arguments
    }

    /// The arguments, shared.
    pub(crate) const fn shared_arguments(&self) -> &Arc<str> {
        &self.arguments
    }

    /// What the call would do.
    #[must_use]
    pub const fn lowered(&self) -> &Lowered {
        &self.lowered
    }
}

impl<P> Call<P> {
    /// A call and what would run.
    #[must_use]
    pub fn new(facts: CallFacts, payload: P) -> Self {
        Self {
            facts: Arc::new(facts),
            payload,
        }
    }

    /// What is known of the call.
    #[must_use]
    pub const fn facts(&self) -> &Arc<CallFacts> {
        &self.facts
    }
}

#[cfg(test)]
mod tests;
