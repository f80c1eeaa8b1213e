//! The tools of a pod, by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use podward_policy::{Lowered, ToolName, ToolOrigin};
use serde_json::Value;

use crate::arguments::nearest;
use crate::bash::Bash;
use crate::built_in::BuiltIn;
use crate::error::{BadCall, UnknownTool};
use crate::file_edit::FileEdit;
use crate::file_write::FileWrite;
use crate::lower::names;
use crate::mcp::lower_mcp;
use crate::read::Read;
use crate::search::{Glob, Grep, List};
use crate::skill::skill_tool;
use crate::spawn::spawn_tool;
use crate::tool::{Place, Proposal, Tool};
use crate::web_fetch::WebFetch;

/// The tools that can be called, told apart by their exact names.
#[derive(Clone, Default)]
pub struct Registry {
    tools: BTreeMap<ToolName, Arc<dyn Tool>>,
}

/// A second tool with the same name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is already a tool `{name}`")]
pub struct NameTaken {
    name: ToolName,
}

impl Registry {
    /// A registry without tools.
    #[must_use]
    pub fn empty() -> Self {
        Self::default()
    }

    /// The tools that podward brings and runs: `bash`, `file_edit`, `file_write`, `glob`, `grep`,
    /// `list`, `read` and `web_fetch`.
    #[must_use]
    pub fn built_in() -> Self {
        let tools: [Arc<dyn Tool>; 8] = [
            Arc::new(BuiltIn::<Bash>::new()),
            Arc::new(BuiltIn::<FileEdit>::new()),
            Arc::new(BuiltIn::<FileWrite>::new()),
            Arc::new(BuiltIn::<Glob>::new()),
            Arc::new(BuiltIn::<Grep>::new()),
            Arc::new(BuiltIn::<List>::new()),
            Arc::new(BuiltIn::<Read>::new()),
            Arc::new(BuiltIn::<WebFetch>::new()),
        ];
        Self {
            tools: tools
                .into_iter()
                .map(|tool| (tool.name().clone(), tool))
                .collect(),
        }
    }

    /// Adds a tool.
    ///
    /// # Errors
    /// A tool of the same name is there already.
    pub fn register(&mut self, tool: Arc<dyn Tool>) -> Result<(), NameTaken> {
        let name = tool.name().clone();
        if self.tools.contains_key(&name) {
            return Err(NameTaken { name });
        }
        self.tools.insert(name, tool);
        Ok(())
    }

    /// Takes away every tool that `keep` does not want.
    pub fn retain(&mut self, mut keep: impl FnMut(&ToolName) -> bool) {
        self.tools.retain(|name, _| keep(name));
    }

    /// The tool of this exact name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.get(&ToolName::new(name).ok()?)
    }

    /// The tool of this exact name.
    ///
    /// # Errors
    /// There is none; the error names what may be meant.
    pub fn look_up(&self, name: &str) -> Result<&Arc<dyn Tool>, UnknownTool> {
        self.get(name).ok_or_else(|| self.unknown(name))
    }

    /// All tools in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.tools.values()
    }

    /// Proposes a call of the tool with this name.
    ///
    /// # Errors
    /// There is no such tool, or the arguments do not fit it.
    pub fn propose(
        &self,
        name: &str,
        arguments: Value,
        place: &Place,
    ) -> Result<Proposal, BadCall> {
        self.look_up(name)?.propose(arguments, place)
    }

    fn unknown(&self, name: &str) -> UnknownTool {
        let known = self.tools.keys().map(ToolName::as_str);
        let hint = match nearest(name, known.clone()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the tools are {}", known.collect::<Vec<_>>().join(", ")),
        };
        UnknownTool::new(name, Some(hint))
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.tools.keys()).finish()
    }
}

/// Says what a call would do, without a way to run it: its canonical arguments and its operations.
///
/// It knows every built-in tool and any MCP tool (an `mcp__<server>__<tool>` counts
/// as registered).
///
/// # Errors
/// No tool has this name, or the arguments do not fit it.
pub fn lower(tool: &str, arguments: Value, place: &Place) -> Result<(Box<str>, Lowered), BadCall> {
    let name =
        ToolName::new(tool).map_err(|error| UnknownTool::new(tool, Some(error.to_string())))?;
    match name.origin() {
        ToolOrigin::Mcp { .. } => lower_mcp(&name, &arguments),
        ToolOrigin::Local => {
            let mut tools = Registry::built_in();
            // Not there for every model: no other name is taken for one of them.
            match tool {
                names::SKILL => drop(tools.tools.insert(name, skill_tool(""))),
                names::SPAWN => drop(tools.tools.insert(name, spawn_tool(""))),
                _ => {}
            }
            let proposal = tools.propose(tool, arguments, place)?;
            Ok((proposal.arguments, proposal.lowered))
        }
    }
}

/// The arguments of a call of a tool by what rules are matched against: a command, a path, a URL, a
/// name, the arguments of an MCP tool as JSON. What else the tool wants is made up.
///
/// `None`: such a call cannot be written as one text.
#[must_use]
pub fn arguments_of_text(tool: &str, text: &str) -> Option<Value> {
    use serde_json::json;
    Some(match tool {
        names::BASH => json!({ "command": text }),
        names::FILE_EDIT => json!({ "path": text, "old_string": "a", "new_string": "b" }),
        names::FILE_WRITE => json!({ "path": text, "content": "" }),
        names::GLOB | names::GREP => json!({ "pattern": "x", "path": text }),
        names::LIST | names::READ => json!({ "path": text }),
        names::SKILL => json!({ "name": text }),
        names::SPAWN => json!({ "child": text, "prompt": "x" }),
        names::WEB_FETCH => json!({ "url": text }),
        tool if tool.starts_with("mcp__") => serde_json::from_str(text).ok()?,
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
