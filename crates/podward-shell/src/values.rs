//! Which variables are known: those that exactly one thing in the text sets, to a literal.

use std::collections::{BTreeMap, BTreeSet};

use crate::syntax::{AssignedValue, Expansion, Moment, Piece, Script, Simple, Word};

mod dynamic;

/// Everything in a text that may set a variable, each with the moment from which on it counts.
///
// INVARIANT: what stands later in a text changes no earlier use: a use counts only what is placed
// up to its moment, and what takes two things counts from the later one on. Else a command that is
// appended could hide what is known of the line (D5.5).
#[derive(Debug, Default)]
pub(crate) struct Census {
    sets: BTreeMap<String, Vec<Moment>>,
    /// Names that the text exports anywhere: an export is seen by what runs later, whenever the
    /// value was set.
    exported: BTreeSet<String>,
    /// A text that is evaluated may export others.
    may_export: bool,
    /// From here on any variable may have any value.
    open_from: Option<Moment>,
    /// Commands that may change the directory of the shell.
    moves: Vec<Moment>,
    has_functions: bool,
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
    "HOSTNAME",
    "HOSTTYPE",
    "MACHTYPE",
    "OSTYPE",
    "_",
];

/// Commands after which any variable may have any value.
const OPEN: &[&str] = &["eval", "source", ".", "trap", "let", "alias", "enable"];

impl Census {
    pub(crate) fn of(script: &Script) -> Self {
        let mut census = Self::default();
        for setting in &script.settings {
            match &setting.name {
                Some(name) => census.set(name, setting.at),
                None => census.opens(true, setting.at),
            }
        }
        for (name, at) in &script.names_evaluated {
            census.set(name, *at);
        }
        for function in &script.functions {
            census.set(&function.name, function.at);
        }
        census.has_functions = !script.functions.is_empty();
        for simple in &script.simples {
            census.simple(simple);
        }
        census.evaluated_values(script);
        census.dynamic_names(script);
        census
    }

    /// Whether a variable has the value of the only thing that has set it by then.
    pub(crate) fn is_set_once(&self, name: &str, by: Moment) -> bool {
        self.n_sets(name, by) == 1 && self.may_be_known(name, by)
    }

    /// Whether a value that is remembered for a variable still holds.
    pub(crate) fn holds(&self, name: &str, by: Moment) -> bool {
        self.n_sets(name, by) <= 1 && self.may_be_known(name, by)
    }

    /// Whether something that names a variable has set it by then.
    pub(crate) fn is_set(&self, name: &str, by: Moment) -> bool {
        self.n_sets(name, by) > 0
    }

    /// Whether nothing has set a variable by then.
    pub(crate) fn is_untouched(&self, name: &str, by: Moment) -> bool {
        !self.is_open(by) && self.n_sets(name, by) == 0
    }

    fn may_be_known(&self, name: &str, by: Moment) -> bool {
        !self.is_open(by) && (is_own(name) || name == POSITIONAL)
    }

    /// Whether anything that stands behind a moment may set a variable.
    pub(crate) fn changes_after(&self, moment: Moment) -> bool {
        let is_after = |at: &Moment| *at > moment;
        self.open_from.as_ref().is_some_and(is_after) || self.sets.values().flatten().any(is_after)
    }

    /// Whether anything may change the directory of the shell.
    pub(crate) fn moves(&self) -> bool {
        !self.moves.is_empty()
    }

    /// Whether what runs behind a moment may change it; what a function does is behind each call.
    pub(crate) fn moves_after(&self, moment: Moment) -> bool {
        (self.has_functions && self.moves()) || self.moves.iter().any(|at| *at > moment)
    }

    fn is_open(&self, by: Moment) -> bool {
        self.open_from.is_some_and(|from| from <= by)
    }

    fn n_sets(&self, name: &str, by: Moment) -> usize {
        let places = self.sets.get(name).map(Vec::as_slice).unwrap_or_default();
        places.iter().filter(|at| **at <= by).take(2).count()
    }

    pub(crate) fn is_exported(&self, name: &str) -> bool {
        self.exported.contains(name) || self.exported.contains(POSITIONAL)
    }

    /// Whether the text exports anything, or may.
    pub(crate) fn exports_any(&self) -> bool {
        self.may_export || !self.exported.is_empty()
    }

    /// Whether variables may be exported that the text does not name.
    pub(crate) const fn may_export(&self) -> bool {
        self.may_export
    }

    fn set(&mut self, name: &str, at: Moment) {
        self.sets.entry(name.to_owned()).or_default().push(at);
    }

    fn opens(&mut self, opens: bool, at: Moment) {
        if opens && self.open_from.is_none_or(|from| from > at) {
            self.open_from = Some(at);
        }
    }

    fn simple(&mut self, simple: &Simple) {
        let at = simple.at;
        for assignment in &simple.assignments {
            self.set(&assignment.name, at);
        }
        let mut words = simple.words.as_slice();
        while let Some((first, rest)) = words.split_first() {
            // Names that are variables are looked at last.
            let Some(name) = first.as_literal() else {
                self.moves.push(at);
                return;
            };
            words = rest;
            match name.as_str() {
                "builtin" | "command" | "exec" => {}
                _ if name.starts_with('-') => {}
                _ => {
                    self.command(&name, rest, at);
                    return;
                }
            }
        }
    }

    /// Arithmetic evaluates the value of a variable as an expression, which may set others.
    fn evaluated_values(&mut self, script: &Script) {
        let mut assigned: BTreeMap<&str, Moment> = BTreeMap::new();
        for simple in &script.simples {
            for assignment in simple.assignments.iter().filter(|a| !is_number(&a.value)) {
                let first = assigned.entry(&assignment.name).or_insert(simple.at);
                *first = simple.at.min(*first);
            }
        }
        for (name, at) in &script.names_evaluated {
            if let Some(assigned) = assigned.get(name.as_str()) {
                self.opens(true, (*assigned).max(*at));
            }
        }
    }

    /// Commands whose names are variables: what they may set hangs on the variables' values.
    fn dynamic_names(&mut self, script: &Script) {
        for simple in &script.simples {
            let name = dynamic::name(script, simple);
            if let Some(from) = name.unknown_from {
                self.opens(true, from.max(simple.at));
            }
            let rest = simple.words.get(1..).unwrap_or_default();
            for (text, from) in name.texts {
                self.dynamic_name(&text, rest, from.max(simple.at));
            }
        }
    }

    fn dynamic_name(&mut self, value: &str, rest: &[Word], at: Moment) {
        let mut words = value.split_whitespace();
        let name = words.next().unwrap_or_default();
        match (name, rest.first().map(Word::as_literal)) {
            ("", Some(Some(next))) => {
                self.command(&next, rest.get(1..).unwrap_or_default(), at);
            }
            ("", Some(None)) => self.opens(true, at),
            ("echo" | "test" | "[" | "true" | "false" | ":" | "pwd", _) => {}
            ("printf" | "read" | "export" | "declare" | "unset", _) if words.next().is_none() => {
                self.command(name, rest, at);
            }
            _ => self.opens(crate::builtins::is_builtin(name), at),
        }
    }

    fn command(&mut self, name: &str, args: &[Word], at: Moment) {
        if may_move(name, args) {
            self.moves.push(at);
        }
        self.may_export |= may_export(name, args);
        match name {
            "read" | "mapfile" | "readarray" | "unset" | "getopts" | "wait" => {
                self.set("REPLY", at);
                self.names(args, at);
            }
            "declare" | "typeset" | "local" | "readonly" | "export" => {
                self.names(args, at);
                if name != "readonly" {
                    self.exports(name, args);
                }
                // Another name for a variable.
                let is_reference = |arg: &Word| {
                    let text = arg.as_literal();
                    text.is_none_or(|text| text.starts_with('-') && text.contains('n'))
                };
                let refers = matches!(name, "declare" | "typeset" | "local");
                self.opens(refers && args.first().is_some_and(is_reference), at);
            }
            "printf" => self.printf(args, at),
            "set" => self.set_builtin(args, at),
            "shopt" => self.allexport(args),
            "shift" => self.set(POSITIONAL, at),
            _ => self.opens(OPEN.contains(&name), at),
        }
    }

    /// Arguments that are names, or begin with one.
    fn names(&mut self, args: &[Word], at: Moment) {
        for arg in args {
            match leading_name(arg) {
                Some(name) => self.set(&name, at),
                None => {
                    let is_option = arg
                        .as_literal()
                        .is_some_and(|text| text.starts_with(['-', '+']) || is_digits(&text));
                    self.opens(!is_option, at);
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

    fn printf(&mut self, args: &[Word], at: Moment) {
        let Some(first) = args.first() else {
            return;
        };
        match first.as_literal() {
            Some(text) if text == "-v" => self.names(args.get(1..2).unwrap_or_default(), at),
            Some(text) if text.starts_with("-v") => {
                self.set(text.get(2..).unwrap_or_default(), at);
            }
            Some(_) => {}
            // A value that is not known may be `-v`.
            None if args.len() > 1 && first.as_plain().is_none() => {
                let may_be_option = !first
                    .pieces
                    .first()
                    .is_some_and(|piece| matches!(piece, Piece::Plain(text) | Piece::Quoted(text) if !text.is_empty()));
                self.opens(may_be_option, at);
            }
            None => {}
        }
    }

    fn set_builtin(&mut self, args: &[Word], at: Moment) {
        let literal: Vec<Option<String>> = args.iter().map(Word::as_literal).collect();
        let only_options = literal.iter().all(|arg| {
            arg.as_ref()
                .is_some_and(|text| text.starts_with(['-', '+']) && text != "--" && text != "-")
        });
        if !only_options {
            self.set(POSITIONAL, at);
        }
        if literal
            .iter()
            .flatten()
            .any(|text| text.starts_with('-') && !text.starts_with("--") && text.contains('a'))
        {
            self.exported.insert(POSITIONAL.to_owned());
        }
        self.allexport(args);
    }

    /// The option by which all that is set is exported, in full.
    fn allexport(&mut self, args: &[Word]) {
        let is_named = |arg: &Word| arg.as_literal().as_deref() == Some("allexport");
        if args.iter().any(is_named) {
            self.exported.insert(POSITIONAL.to_owned());
        }
    }
}

/// Whether a command may change the directory of the shell. A trap does what its text does.
fn may_move(name: &str, args: &[Word]) -> bool {
    const MOVES: [&str; 4] = ["cd", "pushd", "popd", "eval"];
    let holds = |text: String| MOVES.iter().any(|name| text.contains(name));
    match name {
        "trap" => args.iter().any(|arg| arg.as_literal().is_none_or(holds)),
        name => MOVES.contains(&name),
    }
}

/// Whether a command may export variables that it does not name: by a text, or an option that is not
/// known.
fn may_export(name: &str, args: &[Word]) -> bool {
    const EXPORTS: [&str; 5] = ["export", "declare", "typeset", "local", "set"];
    let holds = |text: String| EXPORTS.iter().any(|name| text.contains(name));
    let is_unknown = |arg: &Word| arg.as_literal().is_none();
    match name {
        "eval" | "trap" => args.iter().any(|arg| arg.as_literal().is_none_or(holds)),
        "set" => options_of_set(args).any(is_unknown),
        _ => false,
    }
}

/// The arguments of `set` that may be options, or the names of some.
fn options_of_set(args: &[Word]) -> impl Iterator<Item = &Word> {
    let mut takes_name = false;
    args.iter().take_while(move |arg| {
        let Some(text) = arg.as_literal() else {
            return true;
        };
        let is_name = std::mem::take(&mut takes_name);
        let is_option = text.starts_with(['-', '+']) && text != "--";
        takes_name = is_option && text.ends_with('o');
        is_name || is_option
    })
}

/// Whether a variable is one that bash neither changes on its own nor reads in its own way.
pub(crate) fn is_own(name: &str) -> bool {
    !SPECIAL.contains(&name) && !name.starts_with("BASH")
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

    /// All that is remembered, the latest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &(String, Value)> {
        self.0.iter().rev()
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
