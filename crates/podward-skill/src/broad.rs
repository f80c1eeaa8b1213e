//! Lists that say less than their authors may think.

use podward_policy::KnownTools;

use crate::problem::{Gravity, Problem};
use crate::target::{Target, Texts, target};
use crate::tool_lists::{ListKind, ToolEntry, ToolLists};

/// Programs that run whatever they are given.
const RUN_ANYTHING: &[&str] = &[
    "awk",
    "bash",
    "bun",
    "bunx",
    "dash",
    "deno",
    "docker",
    "doas",
    "env",
    "eval",
    "exec",
    "fish",
    "gawk",
    "ksh",
    "lua",
    "make",
    "node",
    "nohup",
    "npx",
    "parallel",
    "perl",
    "php",
    "pipx",
    "pnpx",
    "podman",
    "powershell",
    "pwsh",
    "python",
    "python2",
    "python3",
    "ruby",
    "sh",
    "ssh",
    "su",
    "sudo",
    "time",
    "timeout",
    "tsx",
    "uv",
    "uvx",
    "watch",
    "xargs",
    "zsh",
];

/// What is allowed more widely than it looks.
pub(crate) fn hints(lists: &ToolLists, known: &KnownTools) -> Vec<Problem> {
    let list = ListKind::Allowed;
    let hint = |entry: &ToolEntry, message: String, help: &str| {
        Problem::new(Gravity::Hint, entry.span, message, help)
    };
    let mut found = Vec::new();
    for entry in lists.entries(list) {
        let Target::Tools { texts, .. } = target(&entry.name, list, known) else {
            continue;
        };
        let argument = entry.argument.as_deref().map(str::trim);
        let is_whole = matches!(argument, None | Some("*"));
        if &*entry.name == "*" && is_whole {
            found.push(hint(
                entry,
                "`*` allows every tool: the list restricts nothing".to_owned(),
                "name the tools that the skill needs",
            ));
        } else if matches!(&*entry.name, "mcp__*" | "mcp__*__*") {
            found.push(hint(
                entry,
                format!("`{}` allows every tool of every server", entry.name),
                "name the server, such as `mcp__github__*`",
            ));
        } else if texts == Texts::Commands && is_whole {
            found.push(hint(
                entry,
                format!("`{}` allows every command", entry.written),
                "name the commands, such as `Bash(git:*)`: a command can do what all other tools do",
            ));
        } else if texts == Texts::Commands
            && let Some(program) = argument.and_then(runs_anything)
        {
            found.push(hint(
                entry,
                format!("`{}` allows whatever `{program}` runs", entry.written),
                "name more of the command, such as the script or the subcommand",
            ));
        }
    }
    found
}

/// The program of a pattern that leaves open what the program is to run.
fn runs_anything(argument: &str) -> Option<&str> {
    let command = argument
        .strip_suffix(":*")
        .or_else(|| argument.strip_suffix(" *"))
        .or_else(|| argument.strip_suffix('*'))?;
    let program = command.rsplit('/').next().unwrap_or(command);
    let is_one = RUN_ANYTHING.contains(&program);
    (is_one || program.is_empty()).then_some(if program.is_empty() { "*" } else { program })
}

/// What stands in parentheses and matches nothing, or not what it seems to.
pub(crate) fn odd_argument(entry: &ToolEntry, texts: Texts, list: ListKind) -> Option<Problem> {
    let argument = entry.argument.as_deref()?;
    let odd =
        |message: String, help: &str| Some(Problem::warning(entry.span, message, help.to_owned()));
    match texts {
        Texts::Commands => {
            let command = argument.strip_suffix(":*").unwrap_or(argument);
            let program = command.split(' ').next().unwrap_or_default();
            let program = program.rsplit('}').next().unwrap_or(program);
            if program.contains(':') && !program.contains("://") {
                return odd(
                    format!("no program is named `{program}`: a `:` counts only in a last `:*`"),
                    "write the words of the command with blanks between them: `Bash(aws s3:*)`",
                );
            }
            if has_operator(command) && argument.contains('*') && list == ListKind::Allowed {
                return odd(
                    format!("`{argument}` is more than one command, and each is judged by itself"),
                    "write an entry for each command, or the whole line without a star",
                );
            }
            None
        }
        Texts::Urls if argument.starts_with("domain:") || argument.contains("://") => None,
        Texts::Urls => odd(
            format!("no URL is `{argument}`"),
            "write `WebFetch(domain:example.com)`, or a pattern such as `https://example.com/*`",
        ),
        Texts::Other if entry.name.starts_with("mcp") => odd(
            format!("`{argument}` is compared with the arguments of the call, as JSON"),
            "leave the parentheses out to mean every call of the tool",
        ),
        Texts::Paths | Texts::Names | Texts::Other => None,
    }
}

/// Whether a shell operator stands outside quotes.
fn has_operator(command: &str) -> bool {
    let mut quote = None;
    for c in command.chars() {
        quote = match (c, quote) {
            ('"' | '\'', None) => Some(c),
            (c, Some(open)) if c == open => None,
            (_, quote) => quote,
        };
        if quote.is_none() && matches!(c, '|' | ';' | '&' | '<' | '>' | '`') {
            return true;
        }
    }
    false
}
