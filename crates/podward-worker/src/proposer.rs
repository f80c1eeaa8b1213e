//! From a tool's name and arguments to a call that can be judged.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;

use podward_gate::{Call, CallFacts, CallId};
use podward_tools::{BadArguments, BadCall, Invocation, Place, Registry};
use serde_json::Value;

/// Makes calls of a tool's name and arguments, as the worker makes those of its model. Clones are
/// cheap.
#[derive(Clone)]
pub struct Proposer(Arc<Parts>);

struct Parts {
    tools: Registry,
    place: Place,
}

impl Proposer {
    /// Makes calls of these tools, in this place.
    #[must_use]
    pub fn new(tools: Registry, place: Place) -> Self {
        Self(Arc::new(Parts { tools, place }))
    }

    /// Makes a call; nothing happens by it.
    ///
    /// # Errors
    /// There is no such tool, or the arguments do not fit it.
    pub fn propose(
        &self,
        id: CallId,
        tool: &str,
        arguments: Value,
    ) -> Result<Call<Box<dyn Invocation>>, BadCall> {
        let Parts { tools, place } = &*self.0;
        let tool = tools.look_up(tool)?;
        let bad = |why: &str| BadCall::Arguments(BadArguments::new(tool.name(), why));
        if !arguments.is_object() {
            return Err(bad("they are no JSON object"));
        }
        // INVARIANT: a tool proposes without changing anything, so nothing is half done.
        let proposal = panic::catch_unwind(AssertUnwindSafe(|| tool.propose(arguments, place)))
            .map_err(|_| bad("the tool failed to read them"))??;
        let facts = CallFacts::new(
            id,
            tool.name().clone(),
            proposal.arguments,
            proposal.lowered,
        );
        Ok(Call::new(facts, proposal.invocation))
    }

    /// Whether there is a tool of this name.
    pub(crate) fn knows(&self, tool: &str) -> bool {
        self.0.tools.get(tool).is_some()
    }
}
