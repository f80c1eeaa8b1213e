//! Which tools a name in a list means.
//!
//! Source of the names: what agents call their tools, as skills in public repositories write them.

use podward_policy::{Action, KnownTools, ToolGlob, ToolName, ToolOrigin};

use crate::tool_lists::ListKind;

/// What a name means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// Tools by name or glob, as a rule names them.
    Tools { names: Vec<String>, texts: Texts },
    /// A tool of another agent that has no counterpart here.
    Foreign,
    /// No tool at all.
    Unknown,
}

/// What the texts of a tool's operations are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Texts {
    Commands,
    Paths,
    Urls,
    /// Names, such as those of skills and agents.
    Names,
    /// Anything else: several tools, tools of servers, tools of the program around podward.
    Other,
}

/// What other agents, and other spellings, call the tools; compared without regard to case.
const ALIASES: &[(&str, &str)] = &[
    ("agent", "spawn"),
    ("apply_patch", "file_edit"),
    ("create", "file_write"),
    ("create_file", "file_write"),
    ("edit", "file_edit"),
    ("edit_file", "file_edit"),
    ("editor", "file_write"),
    ("execute_bash", "bash"),
    ("execute_command", "bash"),
    ("fetch", "web_fetch"),
    ("fetch_web_content", "web_fetch"),
    ("fileedit", "file_edit"),
    ("fileread", "read"),
    ("filewrite", "file_write"),
    ("fs_read", "read"),
    ("fs_write", "file_write"),
    ("grep_search", "grep"),
    ("invoke_agent", "spawn"),
    ("list_directory", "list"),
    ("ls", "list"),
    ("multiedit", "file_edit"),
    ("notebookedit", "file_edit"),
    ("notebookread", "read"),
    ("powershell", "bash"),
    ("read_file", "read"),
    ("read_files", "read"),
    ("replace", "file_edit"),
    ("run_commands", "bash"),
    ("run_shell_command", "bash"),
    ("search_codebase", "grep"),
    ("shell", "bash"),
    ("spawn_agent", "spawn"),
    ("str_replace", "file_edit"),
    ("task", "spawn"),
    ("view", "read"),
    ("webfetch", "web_fetch"),
    ("write", "file_write"),
    ("write_file", "file_write"),
];

/// Tools of other agents without a counterpart.
const FOREIGN: &[&str] = &[
    "ask_question",
    "ask_user",
    "askuserquestion",
    "bashoutput",
    "enterplanmode",
    "exitplanmode",
    "google_web_search",
    "killbash",
    "killshell",
    "listmcpresources",
    "lsp",
    "monitor",
    "readmcpresource",
    "save_memory",
    "sendmessage",
    "taskcreate",
    "taskget",
    "tasklist",
    "taskoutput",
    "taskstop",
    "taskupdate",
    "todoread",
    "todowrite",
    "toolsearch",
    "web_search",
    "websearch",
    "workflow",
    "write_todos",
];

const SERVER_TOOL: &str = "mcp__";

/// Finds the tools that a name means.
pub(crate) fn target(name: &str, list: ListKind, known: &KnownTools) -> Target {
    if name == "*" {
        return tools(vec!["*".to_owned()], Texts::Other);
    }
    if name.starts_with(SERVER_TOOL) {
        return server_tools(name);
    }
    if name.contains(['*', '?', '[']) {
        return glob(name, list, known);
    }
    if let Some(name) = exact(name, known) {
        return name;
    }
    let lower = name.to_lowercase();
    let is_built_in = |word: &str| {
        let found = ALIASES.iter().find(|(alias, _)| *alias == word);
        found.map_or(word.to_owned(), |(_, ours)| (*ours).to_owned())
    };
    // `Bash`, `Grep` and `Skill` differ from ours by their case only.
    if let Some(name) = exact(&is_built_in(&lower), known) {
        return name;
    }
    if FOREIGN.contains(&&*lower) {
        return Target::Foreign;
    }
    if let Some((server, tool)) = name.split_once(':') {
        return server_tools(&format!("{SERVER_TOOL}{server}__{tool}"));
    }
    match name.strip_prefix("mcp_") {
        Some(rest) => split_server_tool(rest, list),
        None => Target::Unknown,
    }
}

fn tools(names: Vec<String>, texts: Texts) -> Target {
    Target::Tools { names, texts }
}

/// A tool that is known by exactly this name.
fn exact(name: &str, known: &KnownTools) -> Option<Target> {
    let name = ToolName::new(name).ok().filter(|name| known.knows(name))?;
    // Nobody calls the pseudo-tool, and a rule about it would say more than a list of tools.
    if name.as_str() == podward_policy::EXTERNAL_DIRECTORY {
        return None;
    }
    let texts = match name.as_str() {
        "bash" => Texts::Commands,
        "file_edit" | "file_write" | "glob" | "grep" | "list" | "read" => Texts::Paths,
        "web_fetch" => Texts::Urls,
        "skill" | "spawn" => Texts::Names,
        _ => Texts::Other,
    };
    Some(tools(vec![name.to_string()], texts))
}

/// `mcp__server__tool` with or without wildcards, or a server alone.
fn server_tools(name: &str) -> Target {
    let rest = name.strip_prefix(SERVER_TOOL).unwrap_or(name);
    let named = match rest.split_once("__") {
        Some((server, "")) => format!("{SERVER_TOOL}{server}__*"),
        Some(_) => name.to_owned(),
        None if rest == "*" => name.to_owned(),
        None => format!("{SERVER_TOOL}{rest}__*"),
    };
    let is_glob = named.contains(['*', '?', '[']);
    let is_good = match is_glob {
        true => is_good_glob(&named),
        false => {
            ToolName::new(&named).is_ok_and(|name| matches!(name.origin(), ToolOrigin::Mcp { .. }))
        }
    };
    match is_good {
        true => tools(vec![named], Texts::Other),
        false => Target::Unknown,
    }
}

/// A pattern for a server's tools is made of the characters of names and wildcards.
fn is_good_glob(name: &str) -> bool {
    let is_good = |c: char| c.is_ascii_alphanumeric() || "_-.*?[]!".contains(c);
    let rest = name.strip_prefix(SERVER_TOOL).unwrap_or_default();
    rest.chars().all(is_good) && !rest.starts_with("__")
}

/// A pattern over names, or `server*:tool*`.
fn glob(name: &str, list: ListKind, known: &KnownTools) -> Target {
    if let Some((server, tool)) = name.split_once(':') {
        return server_tools(&format!("{SERVER_TOOL}{server}__{tool}"));
    }
    if let Some(servers) = name.strip_prefix("mcp_") {
        return server_tools(&format!("{SERVER_TOOL}{servers}"));
    }
    let Ok(glob) = ToolGlob::new(name, known) else {
        return Target::Unknown;
    };
    let names = match list {
        // The servers' tools are named by patterns of their own.
        ListKind::Allowed => fitting(&glob, known),
        ListKind::Disallowed => {
            let written = glob.fits_some(known).then(|| name.to_owned());
            written.into_iter().chain(of_aliases(name, known)).collect()
        }
    };
    match names.is_empty() {
        true => Target::Unknown,
        false => tools(names, Texts::Other),
    }
}

/// The tools around here that a pattern fits.
fn fitting(glob: &ToolGlob, known: &KnownTools) -> Vec<String> {
    let is_called = |tool: &&ToolName| tool.as_str() != podward_policy::EXTERNAL_DIRECTORY;
    let known = known.iter().filter(is_called);
    known
        .filter(|tool| glob.matches(tool))
        .map(ToString::to_string)
        .collect()
}

/// The tools of which a pattern fits another name, whatever the case: `Web*` is `web_fetch` too.
fn of_aliases(name: &str, known: &KnownTools) -> Vec<String> {
    let Ok(glob) = ToolGlob::new(&name.to_lowercase(), known) else {
        return Vec::new();
    };
    let mut names = fitting(&glob, known);
    for (alias, ours) in ALIASES {
        let fits = ToolName::new(alias).is_ok_and(|alias| glob.matches(&alias));
        if fits && !names.iter().any(|name| name == ours) {
            names.push((*ours).to_owned());
        }
    }
    names
}

/// `mcp_server_tool`, where nothing says which `_` stands between the two. What is allowed is the
/// shortest server's tool; what is denied is every one that it may be.
fn split_server_tool(rest: &str, list: ListKind) -> Target {
    let splits = rest.match_indices('_').filter_map(|(at, _)| {
        let (server, tool) = rest.split_at_checked(at)?;
        let tool = tool.strip_prefix('_')?;
        let name = format!("{SERVER_TOOL}{server}__{tool}");
        let is_name = !server.is_empty() && ToolName::new(&name).is_ok();
        is_name.then_some(name)
    });
    let names: Vec<String> = match list {
        ListKind::Allowed => splits.take(1).collect(),
        ListKind::Disallowed => splits.collect(),
    };
    match names.is_empty() {
        true => Target::Unknown,
        false => tools(names, Texts::Other),
    }
}

/// What the rules of a list say.
pub(crate) const fn action(list: ListKind) -> Action {
    match list {
        ListKind::Allowed => Action::Allow,
        ListKind::Disallowed => Action::Deny,
    }
}
