//! A tool call whose arguments are still being written.

use std::sync::Arc;

use crate::error::ModelError;
use crate::event::{ModelEvent, StopReason, ToolInput};
use crate::exchange::Out;
use crate::outgoing::FitWords;

/// The most calls in one answer, and the most bytes of their arguments together: more than any
/// provider writes, and little enough to keep.
const MAX_CALLS: usize = 1024;
const MAX_ARGUMENTS: usize = 16 * 1024 * 1024;

/// A call that is not complete.
#[derive(Debug, Clone)]
pub(crate) struct OpenCall {
    pub(crate) idx: usize,
    pub(crate) id: String,
    /// Our name of the tool.
    pub(crate) name: String,
    pub(crate) arguments: String,
}

/// The calls of one answer.
#[derive(Debug, Clone)]
pub(crate) struct Calls {
    names: Arc<FitWords>,
    n_calls: usize,
    n_bytes: usize,
}

impl Calls {
    pub(crate) const fn new(names: Arc<FitWords>) -> Self {
        Self {
            names,
            n_calls: 0,
            n_bytes: 0,
        }
    }

    /// Whether there are any.
    pub(crate) const fn is_empty(&self) -> bool {
        self.n_calls == 0
    }

    /// Our name for a tool.
    pub(crate) fn name(&self, name: &str) -> String {
        self.names.back(name)
    }

    /// A new call; it is to be told by [`started`].
    pub(crate) fn begin(&mut self, id: &str, name: &str) -> Result<OpenCall, ModelError> {
        if self.n_calls >= MAX_CALLS {
            return Err(protocol("it makes too many calls"));
        }
        let idx = self.n_calls;
        self.n_calls += 1;
        Ok(OpenCall {
            idx,
            id: id.to_owned(),
            name: self.name(name),
            arguments: String::new(),
        })
    }

    /// More of a call's arguments.
    pub(crate) fn push(
        &mut self,
        call: &mut OpenCall,
        json: &str,
        out: &mut Out,
    ) -> Result<(), ModelError> {
        if json.is_empty() {
            return Ok(());
        }
        self.n_bytes = self.n_bytes.saturating_add(json.len());
        if self.n_bytes > MAX_ARGUMENTS {
            return Err(protocol("the arguments of its calls are too large"));
        }
        call.arguments.push_str(json);
        out.push_back(ModelEvent::ToolInputDelta {
            idx: call.idx,
            json: json.to_owned(),
        });
        Ok(())
    }
}

/// Tells that a call has begun.
pub(crate) fn started(call: &OpenCall, out: &mut Out) {
    out.push_back(ModelEvent::ToolUseStarted {
        idx: call.idx,
        id: call.id.clone(),
        name: call.name.clone(),
    });
}

/// Tells that a call is complete. `stop` is why the answer ended, if it did right behind it.
pub(crate) fn completed(call: OpenCall, stop: Option<&StopReason>, out: &mut Out) {
    let is_cut = stop == Some(&StopReason::MaxTokens) && call.arguments.trim().is_empty();
    let input = if is_cut {
        ToolInput::Invalid {
            raw: String::new(),
            why: "the answer reached its token limit before the arguments".to_owned(),
        }
    } else {
        ToolInput::parse(&call.arguments)
    };
    out.push_back(ModelEvent::ToolUse {
        idx: call.idx,
        id: call.id,
        name: call.name,
        input,
    });
}

/// The answer is not what the format says.
pub(crate) fn protocol(message: impl Into<String>) -> ModelError {
    ModelError::Protocol {
        message: message.into(),
    }
}

/// The answer ended in the middle.
pub(crate) fn cut() -> ModelError {
    ModelError::Connection {
        message: "the answer ended in the middle".to_owned(),
    }
}
