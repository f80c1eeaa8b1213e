//! What a child does while it works, as the pods above tell it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::event::{TextDelta, ToolCallArguments, ToolCallFinished, ToolCallVerdict};
use crate::id::CallId;

/// Something that a pod below does while it works. Its calls are in snapshots, what it writes is in none: what
/// comes of a child is the result of the call that started it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChildWorked {
    /// The call of this pod that started the child, or the child above it.
    pub call: CallId,
    /// The pod that does it.
    pub pod: String,
    /// The names of the pods above it, outermost first.
    pub path: Vec<String>,
    /// What it does.
    pub did: ChildWork,
}

/// What a child does. A call is named as in its questions: by the call that started the child, `/`, and the
/// child's own id. A long result is cut; what is much too long in another place is not told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", content = "data", rename_all = "snake_case")]
pub enum ChildWork {
    /// Its model wrote text.
    TextDelta(TextDelta),
    /// Its model's message is complete and holds a tool call.
    ToolCallArguments(ToolCallArguments),
    /// A tool call was judged.
    ToolCallVerdict(Box<ToolCallVerdict>),
    /// A tool call has its result.
    ToolCallFinished(ToolCallFinished),
}

impl ChildWork {
    /// The same, every call of it with another id.
    #[must_use]
    pub fn with_calls(mut self, rename: impl Fn(&CallId) -> CallId) -> Self {
        match &mut self {
            Self::TextDelta(_) => {}
            Self::ToolCallArguments(call) => call.call = rename(&call.call),
            Self::ToolCallVerdict(verdict) => {
                verdict.call = rename(&verdict.call);
                verdict.part_of = verdict.part_of.as_ref().map(rename);
            }
            Self::ToolCallFinished(finished) => finished.call = rename(&finished.call),
        }
        self
    }
}
