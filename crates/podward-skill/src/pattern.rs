//! What stands in the parentheses of an entry, as patterns of rules.

use crate::target::Texts;
use crate::tool_lists::ListKind;

/// Every text of a tool.
pub(crate) const EVERYTHING: &str = "*";

/// The directories that skills name by a word.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Directories<'a> {
    /// Where the skill lies.
    pub(crate) skill: Option<&'a str>,
    /// Where the agent works.
    pub(crate) workspace: Option<&'a str>,
}

/// Words for the skill's own directory.
const SKILL_WORDS: &[&str] = &["${CLAUDE_SKILL_DIR}", "${SKILL_DIR}", "{baseDir}"];

/// Words for the directory that the agent works in.
const WORKSPACE_WORDS: &[&str] = &["${CLAUDE_PROJECT_DIR}"];

/// Words of other clients that stand for nothing here.
const FOREIGN_WORDS: &[&str] = &["${CLAUDE_PLUGIN_ROOT}", "${CLAUDE_PLUGIN_DATA}"];

/// The patterns of an entry with this argument: an operation that one of them matches is meant.
///
/// A list of what is allowed gets no more patterns than its author must have meant; a list of what
/// is not allowed gets every one that may be meant.
pub(crate) fn patterns(
    argument: &str,
    texts: Texts,
    list: ListKind,
    directories: Directories<'_>,
) -> Vec<String> {
    let argument = &resolved(argument.trim(), list, directories);
    if argument == EVERYTHING {
        return vec![EVERYTHING.to_owned()];
    }
    match texts {
        Texts::Commands => vec![command(argument)],
        Texts::Paths => paths(argument, list),
        Texts::Urls => urls(argument, list),
        Texts::Names => names(argument),
        Texts::Other => vec![argument.clone()],
    }
}

/// A word for a directory that nothing here stands for.
pub(crate) fn foreign_word<'a>(argument: &str, directories: Directories<'_>) -> Option<&'a str> {
    let unset = |words: &'static [&'static str], directory: Option<&str>| {
        let words = if directory.is_some() { &[] } else { words };
        words.iter().copied()
    };
    FOREIGN_WORDS
        .iter()
        .copied()
        .chain(unset(SKILL_WORDS, directories.skill))
        .chain(unset(WORKSPACE_WORDS, directories.workspace))
        .find(|word| argument.contains(word))
}

/// The argument with the directories that it names. In what is not allowed each such word is
/// anything: a directory can be written in many ways.
fn resolved(argument: &str, list: ListKind, directories: Directories<'_>) -> String {
    let mut text = argument.to_owned();
    let groups = [
        (SKILL_WORDS, directories.skill),
        (WORKSPACE_WORDS, directories.workspace),
        (FOREIGN_WORDS, None),
    ];
    for (words, directory) in groups {
        for word in words {
            text = match (list, directory) {
                (ListKind::Disallowed, _) => text.replace(word, EVERYTHING),
                (ListKind::Allowed, Some(directory)) => text.replace(word, &literal(directory)),
                (ListKind::Allowed, None) => text,
            };
        }
    }
    text
}

/// A text in which nothing is a wildcard.
fn literal(text: &str) -> String {
    escaped(text, &['*', '?', '['])
}

fn escaped(text: &str, special: &[char]) -> String {
    text.chars().fold(String::new(), |mut escaped, c| {
        match special.contains(&c) {
            true => escaped.extend(['[', c, ']']),
            false => escaped.push(c),
        }
        escaped
    })
}

/// `git:*` and `git *` are the program with any arguments or none; a `*` elsewhere is anything;
/// nothing else is special.
fn command(argument: &str) -> String {
    let argument = match argument.strip_suffix(":*") {
        Some(command) => format!("{command} *"),
        None => argument.to_owned(),
    };
    let mut pattern = String::with_capacity(argument.len());
    let mut rest = argument.as_str();
    while let Some(c) = rest.chars().next() {
        let after = rest.strip_prefix("[*]").or(rest.strip_prefix("[?]"));
        // A directory was put in, with its own special characters as classes.
        if let Some(after) = after.or(rest.strip_prefix("[[]")) {
            pattern.push_str(rest.strip_suffix(after).unwrap_or_default());
            rest = after;
            continue;
        }
        match c {
            '*' if pattern.ends_with('*') => {}
            '?' | '[' => pattern.extend(['[', c, ']']),
            c => pattern.push(c),
        }
        rest = rest.strip_prefix(c).unwrap_or_default();
    }
    pattern
}

/// Paths are written as in ignore files: `//` begins an absolute one, and what is not allowed is so
/// at every depth, with all that lies below it.
fn paths(argument: &str, list: ListKind) -> Vec<String> {
    let path = argument.strip_prefix("./").unwrap_or(argument);
    let absolute = path.strip_prefix('/').filter(|path| path.starts_with('/'));
    let path = absolute.unwrap_or(path);
    let (path, is_directory) = match path.strip_suffix('/') {
        Some(directory) if !directory.is_empty() => (directory, true),
        _ => (path, false),
    };
    let below = format!("{path}/*");
    match list {
        ListKind::Allowed if is_directory => vec![path.to_owned(), below],
        ListKind::Allowed => vec![path.to_owned()],
        ListKind::Disallowed => {
            let mut all = vec![path.to_owned()];
            let is_open = path.ends_with('*');
            if !is_open {
                all.push(below.clone());
            }
            let is_anchored = path.starts_with(['/', '~', '*']);
            if !is_anchored && !path.contains('/') {
                all.push(format!("*/{path}"));
                if !is_open {
                    all.push(format!("*/{below}"));
                }
            }
            if absolute.is_none()
                && let Some(below_root) = path.strip_prefix('/').filter(|path| !path.is_empty())
            {
                // In ignore files a leading `/` is the top of the project.
                all.push(below_root.to_owned());
                all.push(format!("{below_root}/*"));
            }
            all
        }
    }
}

/// `domain:example.com`, or a pattern over URLs.
fn urls(argument: &str, list: ListKind) -> Vec<String> {
    let Some(host) = argument.strip_prefix("domain:") else {
        return vec![argument.to_owned()];
    };
    let host = host.trim();
    let host = match list {
        ListKind::Allowed => host.to_owned(),
        // Hosts are compared in lower case.
        ListKind::Disallowed => host.to_lowercase(),
    };
    match list {
        ListKind::Allowed => vec![format!("https://{host}/*"), format!("http://{host}/*")],
        ListKind::Disallowed => vec![format!("*://{host}/*"), format!("*://{host}:*")],
    }
}

/// Names, several with commas between them; what follows a name is for the tool.
fn names(argument: &str) -> Vec<String> {
    let name = |part: &str| {
        let part = part.trim();
        let part = part.strip_suffix(":*").unwrap_or(part);
        part.strip_suffix(" *").unwrap_or(part).to_owned()
    };
    argument
        .split(',')
        .map(name)
        .filter(|name| !name.is_empty())
        .collect()
}
