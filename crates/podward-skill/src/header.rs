//! The keys of the front matter, checked against the format.
//!
//! Source of what the keys are and how long they may be: the specification of Agent Skills,
//! <https://agentskills.io/specification>.

use std::collections::BTreeSet;
use std::ops::Range;

use podward_policy::ByteSpan;

use crate::name::SkillName;
use crate::problem::{Gravity, Problem};
use crate::read::StartedBy;
use crate::suggestion::nearest;
use crate::tool_lists::{Allowed, ListKind, ToolLists, entries};
use crate::yaml::{Document, Node, Value};

const MOST_DESCRIPTION_CHARS: usize = 1024;
const MOST_COMPATIBILITY_CHARS: usize = 500;

/// The keys that are read here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    Name,
    Description,
    License,
    Compatibility,
    Metadata,
    AllowedTools,
    DisallowedTools,
    DisableModelInvocation,
}

const KEYS: &[(&str, Key)] = &[
    ("name", Key::Name),
    ("description", Key::Description),
    ("license", Key::License),
    ("compatibility", Key::Compatibility),
    ("metadata", Key::Metadata),
    ("allowed-tools", Key::AllowedTools),
    ("disallowed-tools", Key::DisallowedTools),
    ("disable-model-invocation", Key::DisableModelInvocation),
];

/// Keys of other clients, and those that authors add: they mean nothing here and no harm.
const KEYS_OF_OTHERS: &[&str] = &[
    "agent",
    "argument-hint",
    "arguments",
    "author",
    "category",
    "color",
    "context",
    "effort",
    "hooks",
    "homepage",
    "keywords",
    "model",
    "paths",
    "shell",
    "tags",
    "triggers",
    "user-invocable",
    "version",
    "when-to-use",
    "when_to_use",
];

/// Words for a restriction that is none of the two keys: to overlook it would loosen what its author
/// wants. Compared as [`plain`] has them.
const LOOKS_LIKE_A_LIST: &[&str] = &[
    "allow",
    "allowed",
    "allowlist",
    "blacklist",
    "blocklist",
    "denied",
    "deny",
    "denylist",
    "disallow",
    "disallowed",
    "forbidden",
    "permissions",
    "restrictions",
    "tools",
    "whitelist",
];

/// Words that make a key about tools one that restricts them: `tool-whitelist`, `only-tools`.
const RESTRICTS: &[&str] = &[
    "allow", "black", "block", "denied", "deny", "disabl", "enabl", "exclu", "forbid", "only",
    "permi", "restrict", "white",
];

/// The header of a skill.
#[derive(Debug)]
pub(crate) struct Header {
    pub(crate) name: SkillName,
    pub(crate) description: Box<str>,
    pub(crate) license: Option<Box<str>>,
    pub(crate) compatibility: Option<Box<str>>,
    pub(crate) metadata: Vec<(Box<str>, Box<str>)>,
    pub(crate) started_by: StartedBy,
    pub(crate) tools: ToolLists,
}

/// What was read so far.
#[derive(Debug, Default)]
struct Raw {
    name: Option<SkillName>,
    description: Option<Box<str>>,
    license: Option<Box<str>>,
    compatibility: Option<Box<str>>,
    metadata: Vec<(Box<str>, Box<str>)>,
    is_for_persons: bool,
    tools: ToolLists,
}

/// Reads the header; `None` if what it needs is not there. `problems` gets all that is wrong.
/// `listed` gets the lists, as far as they could be read, also where there is no header.
pub(crate) fn read(
    directory: &str,
    text: &str,
    front: &Range<usize>,
    document: Document,
    (problems, listed): (&mut Vec<Problem>, &mut ToolLists),
) -> Option<Header> {
    let is_cut = !document.problems.is_empty();
    problems.extend(document.problems);
    let mut raw = Raw::default();
    let mut seen: Vec<(Key, ByteSpan)> = Vec::new();
    let mut unknown: BTreeSet<&str> = BTreeSet::new();
    for (key_node, value) in &document.pairs {
        let Value::Scalar { text: written, .. } = &key_node.value else {
            continue;
        };
        let Some(key) = key_of(written, key_node.span, problems) else {
            if !unknown.insert(written) {
                problems.push(twice(written, key_node.span));
            }
            continue;
        };
        if seen.iter().any(|(known, _)| *known == key) {
            problems.push(twice(written, key_node.span));
        }
        seen.push((key, key_node.span));
        // A key without a value has a place right behind it.
        let value = &placed(value, key_node);
        take(key, directory, value, text, &mut raw, problems);
    }
    listed.clone_from(&raw.tools);
    // What stands behind a syntax error was not read: it is not missing.
    if !is_cut {
        let missing = |key: Key| !seen.iter().any(|(known, _)| *known == key);
        let place = ByteSpan::new(front.start..front.start);
        if missing(Key::Name) {
            let name = SkillName::new(directory).map_or("…".to_owned(), |name| name.to_string());
            problems.push(Problem::error(
                place,
                "`name` is missing",
                format!("write `name: {name}`, the name of the directory"),
            ));
        }
        if missing(Key::Description) {
            problems.push(Problem::error(
                place,
                "`description` is missing",
                "write `description: …`: what the skill does, and when to use it",
            ));
        }
    }
    Some(Header {
        name: raw.name?,
        description: raw.description?,
        license: raw.license,
        compatibility: raw.compatibility,
        metadata: raw.metadata,
        started_by: match raw.is_for_persons {
            true => StartedBy::Person,
            false => StartedBy::PersonOrModel,
        },
        tools: raw.tools,
    })
}

fn twice(key: &str, span: ByteSpan) -> Problem {
    Problem::error(
        span,
        format!("`{key}` stands here a second time"),
        "keep one of the two: readers differ in which one counts",
    )
}

fn placed(value: &Node, key: &Node) -> Node {
    let is_empty = value.span.start >= value.span.end;
    Node {
        span: match is_empty {
            true => key.span,
            false => value.span,
        },
        value: value.value.clone(),
    }
}

/// The key that a text names; what it is instead goes to `problems`.
fn key_of(written: &str, span: ByteSpan, problems: &mut Vec<Problem>) -> Option<Key> {
    if let Some((_, key)) = KEYS.iter().find(|(name, _)| *name == written) {
        return Some(*key);
    }
    let plain = plain(written);
    let same = KEYS.iter().find(|(name, _)| name.replace('-', "") == plain);
    if let Some((name, key)) = same {
        problems.push(Problem::warning(
            span,
            format!("`{written}` is read as `{name}`"),
            format!("write `{name}`: other readers overlook the key as it is"),
        ));
        return Some(*key);
    }
    if written == "<<" {
        problems.push(Problem::error(
            span,
            "what `<<` would merge is not read",
            "write its keys out",
        ));
        return None;
    }
    if looks_like_a_list(&plain) {
        problems.push(Problem::error(
            span,
            format!("`{written}` is no key, and looks like a restriction"),
            "write `allowed-tools` or `disallowed-tools`: it would be overlooked otherwise",
        ));
        return None;
    }
    if !written.is_ascii() && written.bytes().any(|byte| byte.is_ascii_graphic()) {
        problems.push(Problem::error(
            span,
            format!(
                "`{written}` is no key, and may look like one: not all of its letters are `a-z`"
            ),
            "write it in plain letters; a restriction would be overlooked otherwise",
        ));
        return None;
    }
    if KEYS_OF_OTHERS.contains(&written) {
        problems.push(Problem::new(
            Gravity::Hint,
            span,
            format!("`{written}` has no effect here"),
            "it is a key of other clients; what is the author's own belongs in `metadata`",
        ));
        return None;
    }
    let help = match nearest(written, KEYS.iter().map(|(name, _)| *name)) {
        Some(name) => format!("did you mean `{name}`?"),
        None => "what is the author's own belongs in `metadata`".to_owned(),
    };
    let message = format!("`{written}` is no key of a skill: it has no effect");
    problems.push(Problem::warning(span, message, help));
    None
}

/// A key as it is compared: letters and digits alone, without case, those of full width as the others.
fn plain(written: &str) -> String {
    let narrow = |c: char| match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        c => c,
    };
    let letters = written.chars().map(narrow).filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// Whether a key, in plain letters, is not one of the two lists and means something like them.
fn looks_like_a_list(plain: &str) -> bool {
    let restricts = || RESTRICTS.iter().any(|word| plain.contains(word));
    is_near_a_list(plain)
        || LOOKS_LIKE_A_LIST.contains(&plain)
        || (plain.contains("tool") && restricts())
}

/// Whether a key is one of the two lists, or a slip of the pen away from it.
fn is_near_a_list(plain: &str) -> bool {
    ["allowedtools", "disallowedtools"]
        .iter()
        .any(|list| strsim::osa_distance(plain, list) <= 2)
}

fn take(
    key: Key,
    directory: &str,
    value: &Node,
    text: &str,
    raw: &mut Raw,
    problems: &mut Vec<Problem>,
) {
    match key {
        Key::Name => raw.name = name(directory, value, problems),
        Key::Description => {
            raw.description = filled("description", value, MOST_DESCRIPTION_CHARS, problems);
            let text = raw.description.as_deref().unwrap_or_default();
            if LIST_KEYS.iter().any(|key| text.contains(key)) {
                problems.push(overlooked(value.span, "`description`"));
            }
        }
        Key::License => raw.license = scalar("license", value, problems).map(Into::into),
        Key::Compatibility => {
            let most = MOST_COMPATIBILITY_CHARS;
            raw.compatibility = filled("compatibility", value, most, problems);
        }
        Key::Metadata => raw.metadata = metadata(value, problems),
        Key::AllowedTools => {
            raw.tools.allowed = Allowed::Only(entries(ListKind::Allowed, value, text, problems));
        }
        Key::DisallowedTools => {
            raw.tools.disallowed = entries(ListKind::Disallowed, value, text, problems);
        }
        Key::DisableModelInvocation => {
            // Whatever it says but a plain no, it is a wish to restrict.
            let word = scalar("disable-model-invocation", value, problems).unwrap_or("true");
            raw.is_for_persons = !matches!(word, "false" | "False" | "FALSE" | "no" | "off");
        }
    }
}

/// The text of a value that is one.
fn scalar<'n>(key: &str, node: &'n Node, problems: &mut Vec<Problem>) -> Option<&'n str> {
    match &node.value {
        Value::Scalar { text, .. } => Some(text),
        Value::Sequence(_) | Value::Mapping(_) => {
            problems.push(Problem::error(
                node.span,
                format!("`{key}` is no text"),
                format!("write `{key}: …` on one line, in quotes if it begins with `[` or `{{`"),
            ));
            None
        }
    }
}

/// How the lists begin.
const LIST_KEYS: [&str; 2] = ["allowed-tools:", "disallowed-tools:"];

fn overlooked(span: ByteSpan, place: &str) -> Problem {
    Problem::warning(
        span,
        format!("a list of tools in {place} restricts nothing"),
        "if it is meant, write it in the front matter, at the start of a line",
    )
}

/// The line of a list that stands at the top of the instructions, where a second header may be taken for
/// the first.
pub(crate) fn list_in_body(text: &str, body: &Range<usize>) -> Option<Problem> {
    let mut at = body.start;
    for line in text.get(body.clone())?.split_inclusive('\n') {
        let start = line.trim_start();
        if start.starts_with(['#', '`', '~']) {
            return None;
        }
        if LIST_KEYS.iter().any(|key| start.starts_with(key)) {
            let span = ByteSpan::new(at..at + line.trim_end().len());
            return Some(overlooked(span, "the instructions"));
        }
        at += line.len();
    }
    None
}

/// A text that is neither blank nor too long.
fn filled(key: &str, node: &Node, most: usize, problems: &mut Vec<Problem>) -> Option<Box<str>> {
    let text = scalar(key, node, problems)?.trim();
    let n_chars = text.chars().count();
    if text.is_empty() {
        problems.push(Problem::error(
            node.span,
            format!("`{key}` is empty"),
            format!("write a text of 1 to {most} characters"),
        ));
    } else if n_chars > most {
        problems.push(Problem::error(
            node.span,
            format!("`{key}` has {n_chars} characters, at most {most} are read"),
            "shorten it; details belong in the instructions below",
        ));
    }
    Some(text.into())
}

fn name(directory: &str, node: &Node, problems: &mut Vec<Problem>) -> Option<SkillName> {
    let written = scalar("name", node, problems)?;
    match SkillName::new(written) {
        Ok(name) => {
            if name.as_str() != directory {
                let shown = directory.escape_debug();
                problems.push(Problem::error(
                    node.span,
                    format!("the skill is named `{name}` and its directory `{shown}`"),
                    format!("name the directory `{name}` too, or change the name"),
                ));
            }
            Some(name)
        }
        Err(error) => {
            problems.push(Problem::error(node.span, error.to_string(), error.help()));
            None
        }
    }
}

/// The texts of `metadata`; what is none is left out.
fn metadata(node: &Node, problems: &mut Vec<Problem>) -> Vec<(Box<str>, Box<str>)> {
    let Value::Mapping(pairs) = &node.value else {
        let is_empty = matches!(&node.value, Value::Scalar { text, .. } if text.is_empty());
        if !is_empty {
            problems.push(Problem::error(
                node.span,
                "`metadata` is no mapping",
                "write one `key: value` a line below it, further in",
            ));
        }
        return Vec::new();
    };
    let mut read: Vec<(Box<str>, Box<str>)> = Vec::new();
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for (key, value) in pairs {
        let Value::Scalar { text: key_text, .. } = &key.value else {
            continue;
        };
        if !seen.insert(key_text) {
            problems.push(twice(key_text, key.span));
        }
        if is_near_a_list(&plain(key_text)) {
            problems.push(Problem::error(
                key.span,
                format!("`{key_text}` in `metadata` restricts nothing"),
                "move it to the start of a line, out of `metadata`: it would be overlooked otherwise",
            ));
        }
        match &value.value {
            Value::Scalar { text, .. } => read.push((key_text.clone(), text.clone())),
            Value::Sequence(_) | Value::Mapping(_) => problems.push(Problem::new(
                Gravity::Hint,
                key.span,
                format!("`{key_text}` in `metadata` is no text: it is left out"),
                "the format has texts there: put the value in quotes",
            )),
        }
    }
    read
}
