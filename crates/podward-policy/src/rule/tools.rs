//! Which tools a rule is about (D4.5).

use crate::action::Action;
use crate::operation::{Operation, Subject};
use crate::pattern::{Glob, Hit, Problem, covers, parse};
use crate::text::{HoleKind, TextBuilder};
use crate::tool::{EXTERNAL_DIRECTORY, KnownTools, ToolName, ToolOrigin};
use crate::work::Work;

/// The tools of a rule.
#[derive(Debug, Clone)]
pub(crate) enum ToolPattern {
    /// `*`.
    Every,
    /// One tool.
    Exact(ToolName),
    /// A glob over names that does not begin with `mcp__`.
    Names(Glob<'static>),
    /// A glob that begins with `mcp__`.
    Mcp(McpPattern),
}

/// `mcp__<server>__<tool>`, compared part by part.
#[derive(Debug, Clone)]
pub(crate) struct McpPattern {
    server: Glob<'static>,
    tool: McpTools,
    /// The pattern over the whole name.
    name: Glob<'static>,
}

#[derive(Debug, Clone)]
enum McpTools {
    Named(Glob<'static>),
    /// `mcp__*`: all tools of all servers.
    Every,
    /// `mcp__git*`: no tool is named. Nothing is allowed by that, but everything is restricted
    /// that it may mean.
    Unnamed,
}

/// Whether a text is a glob over names and not a name.
pub(crate) fn is_glob(tool: &str) -> bool {
    tool.contains(['*', '?', '['])
}

impl ToolPattern {
    /// Reads a glob over names.
    pub(crate) fn glob(tool: &str) -> Result<Self, Vec<Problem>> {
        let name = Glob::new(parse(tool)?);
        if matches!(tool, "*" | "**") {
            return Ok(Self::Every);
        }
        let Some(parts) = tool.strip_prefix("mcp__") else {
            return Ok(Self::Names(name));
        };
        let (server, tool) = match parts.split_once("__") {
            Some((server, tool)) => (server, McpTools::Named(Glob::new(parse(tool)?))),
            None if parts == "*" => (parts, McpTools::Every),
            None => (parts, McpTools::Unnamed),
        };
        Ok(Self::Mcp(McpPattern {
            server: Glob::new(parse(server)?),
            tool,
            name,
        }))
    }

    pub(crate) const fn is_glob(&self) -> bool {
        match self {
            Self::Exact(_) => false,
            Self::Every | Self::Names(_) | Self::Mcp(_) => true,
        }
    }

    /// Whether a rule of this action is about a tool.
    pub(crate) fn matches(&self, tool: &ToolName, action: Action) -> bool {
        let fits = |glob: &Glob, text: &str| {
            let found = glob.matches(text, &(0..0), &mut Work::new());
            // Names are short: this cannot cost too much. If it did, a restriction would stand.
            found.unwrap_or(action != Action::Allow)
        };
        if let Self::Exact(name) = self {
            return name == tool;
        }
        if tool.as_str() == EXTERNAL_DIRECTORY {
            return false;
        }
        match (self, tool.origin()) {
            (Self::Exact(_), _) | (Self::Mcp(_), ToolOrigin::Local) => false,
            (Self::Every, _) => true,
            (Self::Names(glob), ToolOrigin::Local) => fits(glob, tool.as_str()),
            (Self::Names(glob), ToolOrigin::Mcp { .. }) => {
                action != Action::Allow && fits(glob, tool.as_str())
            }
            (Self::Mcp(pattern), ToolOrigin::Mcp { server, tool: part }) => match &pattern.tool {
                McpTools::Every => true,
                McpTools::Named(glob) => fits(&pattern.server, server) && fits(glob, part),
                McpTools::Unnamed => {
                    action != Action::Allow
                        && (fits(&pattern.server, server) || fits(&pattern.name, tool.as_str()))
                }
            },
        }
    }

    /// Whether a rule of this action is about any tool there can be.
    pub(crate) fn fits_some(&self, known: &KnownTools, action: Action) -> bool {
        match self {
            Self::Every | Self::Exact(_) => true,
            Self::Mcp(pattern) => match pattern.tool {
                McpTools::Every | McpTools::Named(_) => true,
                McpTools::Unnamed => action != Action::Allow,
            },
            Self::Names(glob) => {
                let mcp = TextBuilder::new()
                    .known("mcp__")
                    .hole(HoleKind::Anything)
                    .known("__")
                    .hole(HoleKind::Anything)
                    .build();
                known.iter().any(|name| self.matches(name, action))
                    || (action != Action::Allow
                        && glob.hit_text(&mcp, &(0..0), &mut Work::new()) != Hit::No)
            }
        }
    }

    /// Whether every tool that `late` is about is one that `self` is about: as rules of these
    /// actions.
    pub(crate) fn covers(
        &self,
        action: Action,
        late: &Self,
        late_action: Action,
        work: &mut Work,
    ) -> bool {
        match (self, late) {
            (_, Self::Exact(name)) => self.matches(name, action),
            (Self::Every, _) => true,
            (Self::Names(early), Self::Names(late)) => {
                // An allow is about local tools only.
                (action != Action::Allow || late_action == Action::Allow)
                    && covers(early, late, work)
            }
            (Self::Mcp(early), Self::Mcp(late)) => match (&early.tool, &late.tool) {
                (McpTools::Every, _) => true,
                (McpTools::Named(tool), McpTools::Named(late_tool)) => {
                    covers(&early.server, &late.server, work) && covers(tool, late_tool, work)
                }
                (McpTools::Named(_) | McpTools::Unnamed, _) => false,
            },
            (Self::Exact(_), _)
            | (Self::Names(_), Self::Every | Self::Mcp(_))
            | (Self::Mcp(_), Self::Every | Self::Names(_)) => false,
        }
    }
}

/// The tools whose deny and ask rules code of unknown text meets (D3.3).
const REACHED_BY_CODE: &[&str] = &["bash", "read", "file_write", "file_edit", "web_fetch"];

impl ToolPattern {
    /// Whether unknown code may do what these tools do, if a rule restricts them.
    pub(crate) fn is_reached_by_code(&self) -> bool {
        REACHED_BY_CODE
            .iter()
            .filter_map(|name| ToolName::new(name).ok())
            .any(|name| self.matches(&name, Action::Deny))
    }
}

/// Whether an operation stands for anything that code can do: it is a hole, or its program is one.
pub(crate) fn stands_for_anything(operation: &Operation) -> bool {
    match &operation.subject {
        Subject::Unknown(_) => operation.tool.as_str() == "bash",
        Subject::Command(command) => crate::rule::has_unknown_program(command),
        Subject::Path(_) | Subject::Tree(_) | Subject::Url(_) | Subject::Plain(_) => false,
    }
}
