//! The tools of a pod, and those of them that its model is told of.

use podward_manifest::Resolved;
use podward_policy::ToolName;
use podward_tools::{Registry, skill_tool, spawn_tool};

use crate::children::Children;
use crate::layers::Loaded;

/// The tools that there are; `skill` where the model can start one, `spawn` where there are children.
pub(super) fn tools(loaded: &Loaded, listing: &str) -> Registry {
    let mut tools = Registry::built_in();
    if !listing.is_empty() {
        // No built-in tool has its name.
        let _ = tools.register(skill_tool(listing));
    }
    let children = Children::listing(loaded);
    if !children.is_empty() {
        let _ = tools.register(spawn_tool(&children));
    }
    tools.retain(|name| loaded.resolved.tools.contains(name));
    tools
}

/// The tools that the model is told of, and those that no rule could ever let run.
pub(super) fn offered(resolved: &Resolved, tools: &Registry) -> (Vec<ToolName>, Vec<ToolName>) {
    let tools = tools.iter().map(|tool| tool.name().clone());
    let is_too_deep =
        |tool: &ToolName| tool.as_str() == "spawn" && resolved.limits.child_depth == 0;
    tools.partition(|tool| resolved.policies.may_ever_run(tool) && !is_too_deep(tool))
}
