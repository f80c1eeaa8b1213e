//! Which variables are known: those that exactly one thing in the text sets, to a literal.

use std::collections::{BTreeMap, BTreeSet};

use crate::syntax::{AssignedValue, Expansion, Piece, Script, Simple, Word};

/// Everything in a text that may set a variable.
#[derive(Debug, Default)]
pub(crate) struct Census {
    n_sets: BTreeMap<String, usize>,
    exported: BTreeSet<String>,
    /// Something may set any variable.
    is_open: bool,
}

/// Name of the positional parameters in a [`Census`].
pub(crate) const POSITIONAL: &str = "@";

/// Variables that bash changes on its own or reads in its own way.
const SPECIAL: &[&str] = &[
    "IFS",
    "PATH",
    "CDPATH",
    "HOME",
    "PWD",
    "OLDPWD",
    "RANDOM",
    "SRANDOM",
    "SECONDS",
    "LINENO",
    "UID",
    "EUID",
    "PPID",
    "OPTARG",
    "OPTIND",
    "OPTERR",
    "REPLY",
    "MAPFILE",
    "PIPESTATUS",
    "FUNCNAME",
    "DIRSTACK",
    "GROUPS",
    "HISTCMD",
    "SHELLOPTS",
    "SHLVL",
    "COMP_WORDBREAKS",
    "EPOCHSECONDS",
    "EPOCHREALTIME",
    "PS4",
    "PROMPT_COMMAND",
    "POSIXLY_CORRECT",
    "GLOBIGNORE",
    "_",
];

/// Commands after which any variable may have any value.
const OPEN: &[&str] = &["eval", "source", ".", "trap", "let", "alias", "enable"];

impl Census {
    pub(crate) fn of(script: &Script) -> Self {
        let mut census = Self::default();
        for name in script
            .names_set
            .iter()
            .chain(&script.names_evaluated)
            .chain(&script.functions)
        {
            census.set(name);
        }
        for simple in &script.simples {
            census.simple(simple);
        }
        census.dynamic_names(script);
        census.is_open |= script.simples.iter().any(|simple| {
            simple.assignments.iter().any(|assignment| {
                script.names_evaluated.contains(&assignment.name) && !is_number(&assignment.value)
            })
        });
        census
    }

    /// Whether a variable keeps the value of the only thing that sets it.
    pub(crate) fn is_set_once(&self, name: &str) -> bool {
        !self.is_open
            && self.n_sets.get(name) == Some(&1)
            && !SPECIAL.contains(&name)
            && !name.starts_with("BASH")
    }

    /// Whether nothing in the text sets a variable.
    pub(crate) fn is_untouched(&self, name: &str) -> bool {
        !self.is_open && !self.n_sets.contains_key(name)
    }

    pub(crate) fn is_exported(&self, name: &str) -> bool {
        self.exported.contains(name) || self.exported.contains(POSITIONAL)
    }

    fn set(&mut self, name: &str) {
        *self.n_sets.entry(name.to_owned()).or_default() += 1;
    }

    fn simple(&mut self, simple: &Simple) {
        for assignment in &simple.assignments {
            self.set(&assignment.name);
        }
        let mut words = simple.words.as_slice();
        while let Some((first, rest)) = words.split_first() {
            // Names that are variables are looked at last.
            let Some(name) = first.as_literal() else {
                return;
            };
            words = rest;
            match name.as_str() {
                "builtin" | "command" | "exec" => {}
                _ if name.starts_with('-') => {}
                _ => {
                    self.command(&name, rest);
                    return;
                }
            }
        }
    }

    /// Commands whose names are variables: what they may set hangs on the variables' values.
    fn dynamic_names(&mut self, script: &Script) {
        for simple in &script.simples {
            let Some(name) = dynamic_name(&simple.words) else {
                continue;
            };
            let Some(values) = name.and_then(|name| first_words(script, name)) else {
                self.is_open = true;
                return;
            };
            for value in values {
                let rest = simple.words.get(1..).unwrap_or_default();
                match (value.as_str(), rest.first().map(Word::as_literal)) {
                    ("", Some(Some(next))) => {
                        self.command(&next, rest.get(1..).unwrap_or_default())
                    }
                    ("", Some(None)) => self.is_open = true,
                    ("echo" | "test" | "[" | "true" | "false" | ":" | "pwd", _) => {}
                    (value, _) => self.is_open |= crate::builtins::is_builtin(value),
                }
            }
        }
    }

    fn command(&mut self, name: &str, args: &[Word]) {
        match name {
            "read" | "mapfile" | "readarray" | "unset" | "getopts" | "wait" => {
                self.set("REPLY");
                self.names(args);
            }
            "declare" | "typeset" | "local" | "readonly" | "export" => {
                self.names(args);
                if name != "readonly" {
                    self.exports(name, args);
                }
            }
            "printf" => self.printf(args),
            "set" => self.set_builtin(args),
            "shift" => self.set(POSITIONAL),
            _ => self.is_open |= OPEN.contains(&name),
        }
    }

    /// Arguments that are names, or begin with one.
    fn names(&mut self, args: &[Word]) {
        for arg in args {
            match leading_name(arg) {
                Some(name) => self.set(&name),
                None => {
                    let is_option = arg
                        .as_literal()
                        .is_some_and(|text| text.starts_with(['-', '+']) || is_digits(&text));
                    self.is_open |= !is_option;
                }
            }
        }
    }

    fn exports(&mut self, name: &str, args: &[Word]) {
        let exports = name == "export"
            || args
                .iter()
                .filter_map(Word::as_literal)
                .any(|text| text.starts_with('-') && text.contains('x'));
        if exports {
            self.exported.extend(args.iter().filter_map(leading_name));
        }
    }

    fn printf(&mut self, args: &[Word]) {
        let Some(first) = args.first() else {
            return;
        };
        match first.as_literal() {
            Some(text) if text == "-v" => self.names(args.get(1..2).unwrap_or_default()),
            Some(text) if text.starts_with("-v") => {
                self.set(text.get(2..).unwrap_or_default());
            }
            Some(_) => {}
            // A value that is not known may be `-v`.
            None if args.len() > 1 && first.as_plain().is_none() => {
                let may_be_option = !first
                    .pieces
                    .first()
                    .is_some_and(|piece| matches!(piece, Piece::Plain(text) | Piece::Quoted(text) if !text.is_empty()));
                self.is_open |= may_be_option;
            }
            None => {}
        }
    }

    fn set_builtin(&mut self, args: &[Word]) {
        let literal: Vec<Option<String>> = args.iter().map(Word::as_literal).collect();
        let only_options = literal.iter().all(|arg| {
            arg.as_ref()
                .is_some_and(|text| text.starts_with(['-', '+']) && text != "--" && text != "-")
        });
        if !only_options {
            self.set(POSITIONAL);
        }
        if literal
            .iter()
            .flatten()
            .any(|text| text.starts_with('-') && !text.starts_with("--") && text.contains('a'))
        {
            self.exported.insert(POSITIONAL.to_owned());
        }
    }
}

/// The variable that is a command's whole name, if the name is not literal: `Some(None)` if it is
/// more than one variable.
#[expect(
    clippy::option_option,
    reason = "a literal name, a variable, and anything else"
)]
fn dynamic_name(words: &[Word]) -> Option<Option<&str>> {
    let prefixes = ["builtin", "command", "exec"];
    let mut words = words.iter();
    let first = words.next()?;
    let Some(name) = first.as_literal() else {
        let mut pieces = first
            .pieces
            .iter()
            .filter(|piece| !matches!(piece, Piece::Quoted(text) if text.is_empty()));
        let is_path = first.pieces.iter().any(
            |piece| matches!(piece, Piece::Plain(text) | Piece::Quoted(text) if text.contains('/')),
        );
        if is_path {
            // A file, never a builtin.
            return None;
        }
        return Some(match (pieces.next(), pieces.next()) {
            (Some(Piece::Expansion(expansion, _)), None) => match &**expansion {
                Expansion::Parameter(name) | Expansion::Elements(name) => Some(name),
                Expansion::Element(name, _) => Some(name),
                _ => None,
            },
            _ => None,
        });
    };
    let hides_name =
        prefixes.contains(&name.as_str()) && words.any(|word| word.as_literal().is_none());
    hides_name.then_some(None)
}

/// The first words of all values that a variable may have; `None` if one is not literal.
fn first_words(script: &Script, name: &str) -> Option<Vec<String>> {
    let is_positional = matches!(name, "@" | "*") || is_digits(name);
    if is_positional && !script.functions.is_empty() {
        return None;
    }
    let mut values = Vec::new();
    for simple in &script.simples {
        for assignment in simple.assignments.iter().filter(|a| a.name == name) {
            match &assignment.value {
                AssignedValue::Scalar(word) => values.push(word.as_literal()?),
                AssignedValue::Array(words) => {
                    for word in words {
                        values.push(word.as_literal()?);
                    }
                }
            }
        }
        let first = simple.words.first().and_then(Word::as_literal);
        match first.as_deref() {
            Some("set") if is_positional => {
                for word in simple.words.iter().skip(1) {
                    values.push(word.as_literal()?);
                }
            }
            Some("export" | "readonly") => {
                for word in simple.words.iter().skip(1) {
                    if leading_name(word).as_deref() == Some(name) {
                        let text = word.as_literal()?;
                        values.push(text.split_once('=').map_or("", |(_, v)| v).to_owned());
                    }
                }
            }
            _ => {}
        }
    }
    for (_, words) in script.loops.iter().filter(|(variable, _)| variable == name) {
        for word in words {
            values.push(word.clone()?);
        }
    }
    let firsts: Vec<String> = values
        .iter()
        .map(|value| {
            value
                .split_whitespace()
                .next()
                .unwrap_or_default()
                .to_owned()
        })
        .collect();
    (!firsts.is_empty()).then_some(firsts)
}

/// The name that an argument of a declaration begins with.
fn leading_name(word: &Word) -> Option<String> {
    let text = match word.pieces.first() {
        Some(Piece::Plain(text) | Piece::Quoted(text)) => text,
        _ => return None,
    };
    let end = text
        .bytes()
        .position(|byte| !(byte.is_ascii_alphanumeric() || byte == b'_'))
        .unwrap_or(text.len());
    let name = text.get(..end)?;
    let is_whole = match text.as_bytes().get(end) {
        Some(b'=' | b'+' | b'[') => true,
        Some(_) => false,
        None => word.pieces.len() == 1 || matches!(word.pieces.get(1), Some(Piece::Glob('['))),
    };
    let starts = name
        .bytes()
        .next()
        .is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    (is_whole && starts).then(|| name.to_owned())
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_number(value: &AssignedValue) -> bool {
    match value {
        AssignedValue::Scalar(word) => word.pieces.iter().all(|piece| match piece {
            Piece::Plain(text) | Piece::Quoted(text) => {
                is_digits(text.strip_prefix('-').unwrap_or(text))
            }
            Piece::Expansion(expansion, _) => {
                matches!(**expansion, Expansion::Arithmetic(_))
            }
            _ => false,
        }),
        AssignedValue::Array(_) => false,
    }
}

/// The variables that are known at one point.
#[derive(Debug, Default)]
pub(crate) struct Values(Vec<(String, Value)>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Scalar(String),
    List(Vec<String>),
    /// A file name of which the beginning and the end are known.
    Between(String, String),
}

impl Values {
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.0
            .iter()
            .rev()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value)
    }

    pub(crate) fn insert(&mut self, name: &str, value: Value) {
        self.0.push((name.to_owned(), value));
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Forgets what became known after a point.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }
}
