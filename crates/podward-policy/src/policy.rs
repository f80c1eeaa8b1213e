//! A compiled `[permissions]` table, and the layers that judge together.

use std::sync::Arc;

use crate::operation::Lowered;
use crate::spec::{Finding, PolicySpec};
use crate::tool::{BUILT_IN_TOOLS, ToolName, ToolOrigin};
use crate::verdict::{LayerName, Ruling};

/// The tools whose names rules may use, beside any `mcp__<server>__<tool>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownTools(Vec<ToolName>);

impl KnownTools {
    /// The tools that podward brings and its pseudo-tools.
    #[must_use]
    pub fn built_in() -> Self {
        Self::with(std::iter::empty())
    }

    /// The same, and the tools that the program around podward has registered.
    #[must_use]
    pub fn with(registered: impl IntoIterator<Item = ToolName>) -> Self {
        let built_in = BUILT_IN_TOOLS
            .iter()
            .filter_map(|name| ToolName::new(name).ok());
        let mut names: Vec<_> = built_in.chain(registered).collect();
        names.sort();
        names.dedup();
        Self(names)
    }

    /// The names, sorted, each once.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &ToolName> + '_ {
        self.0.iter()
    }

    /// Whether a tool of this exact name is known: one of these, or any MCP tool.
    #[must_use]
    pub fn knows(&self, name: &ToolName) -> bool {
        matches!(name.origin(), ToolOrigin::Mcp { .. }) || self.0.binary_search(name).is_ok()
    }
}

/// The tools that podward brings.
impl Default for KnownTools {
    fn default() -> Self {
        Self::built_in()
    }
}

/// One compiled `[permissions]` table.
#[derive(Debug)]
pub struct Policy {}

/// A policy that compiled, and what its author should hear about it.
#[derive(Debug)]
pub struct Compiled {
    /// The policy.
    pub policy: Policy,
    /// Warnings, in the order of the rules.
    pub warnings: Vec<Finding>,
}

impl Policy {
    /// Compiles a table.
    ///
    /// # Errors
    /// Every rule that does not compile, all at once.
    pub fn compile(_spec: &PolicySpec, _tools: &KnownTools) -> Result<Compiled, Vec<Finding>> {
        Ok(Compiled {
            policy: Self {},
            warnings: Vec::new(),
        })
    }
}

/// The layers of one pod, outermost first. None at all: every call is allowed, cause `NoPolicy`.
#[derive(Debug, Clone, Default)]
pub struct Policies {
    layers: Arc<[(LayerName, Policy)]>,
}

impl Policies {
    /// The layers in order.
    #[must_use]
    pub fn new(layers: Vec<(LayerName, Policy)>) -> Self {
        Self {
            layers: layers.into(),
        }
    }

    /// Judges what a call would do: the strictest verdict over all operations and layers.
    #[must_use]
    pub fn judge(&self, _call: &Lowered) -> Ruling {
        let _ = &self.layers;
        Ruling {
            action: crate::Action::Deny,
            cause: crate::Cause::NoPolicy,
            operation: None,
            coverage: crate::Coverage::Full,
        }
    }

    /// Whether some text of this tool can get a verdict other than deny: a tool for which there is
    /// none is not offered to the model.
    #[must_use]
    pub fn may_ever_run(&self, _tool: &ToolName) -> bool {
        false
    }
}
