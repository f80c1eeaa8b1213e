//! What bash evaluates as an expression: that may be code (`a[$(cmd)]`), and so may the values of the variables
//! that it names.

use std::collections::{BTreeMap, BTreeSet};

use crate::expression::{self, EXPANSION};
use crate::syntax::{AndOr, AssignedValue, Command, Expansion, Piece, Script, Simple, Word};
use crate::values::POSITIONAL;

/// Variables whose new values bash evaluates as expressions.
pub(crate) const INTEGERS: &[&str] = &[
    "RANDOM", "OPTIND", "HISTCMD", "SECONDS", "LINENO", "SRANDOM",
];

/// Builtins that set variables to what they read.
const READERS: &[&str] = &["read", "mapfile", "readarray"];

/// Builtins whose arguments may be assignments.
const DECLARATIONS: &[&str] = &["declare", "typeset", "local", "export", "readonly"];

/// Programs that write numbers first, or nothing.
const COUNTERS: &[&str] = &["wc", "nproc", "pgrep", "pidof"];

/// The variables whose values are evaluated somewhere in a text, and whether one of these may be code.
pub(crate) struct Evaluated {
    names: BTreeSet<String>,
    /// Whether what the text sets one of them to may be code.
    pub(crate) may_be_code: bool,
}

/// What sets a variable.
#[derive(Default)]
struct Settings {
    names: Vec<String>,
    is_code: bool,
}

impl Evaluated {
    /// By what names them, or because the value of another that is evaluated does.
    pub(crate) fn of(script: &Script) -> Self {
        let settings = settings(script);
        let mut expressions = script.values_evaluated.clone();
        expressions.extend(INTEGERS.iter().map(|name| (*name).to_owned()));
        expressions.extend(script.simples.iter().flat_map(by_builtin));
        let of_expressions = Self::reached(&settings, expressions.clone());
        if script.keys_evaluated.is_empty() {
            return of_expressions;
        }
        expressions.extend(script.keys_evaluated.iter().cloned());
        let all = Self::reached(&settings, expressions);
        match script.has_keys {
            true => Self {
                may_be_code: of_expressions.may_be_code,
                ..all
            },
            false => all,
        }
    }

    fn reached(settings: &BTreeMap<&str, Settings>, mut names: BTreeSet<String>) -> Self {
        let mut open: Vec<String> = names.iter().cloned().collect();
        let mut may_be_code = false;
        while let Some(name) = open.pop() {
            let Some(of_name) = settings.get(name.as_str()) else {
                continue;
            };
            for inner in &of_name.names {
                if names.insert(inner.clone()) {
                    open.push(inner.clone());
                }
            }
            may_be_code |= of_name.is_code;
        }
        Self { names, may_be_code }
    }

    /// Whether the value of a variable is evaluated.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.names.contains(name)
    }
}

/// All that sets variables in a text, by their names.
fn settings(script: &Script) -> BTreeMap<&str, Settings> {
    let functions = script.functions.iter().map(|known| known.name.as_str());
    let functions: BTreeSet<&str> = functions.collect();
    let mut settings: BTreeMap<&str, Settings> = BTreeMap::new();
    let mut set = |name, words: &mut dyn Iterator<Item = &Word>| {
        let of_name: &mut Settings = settings.entry(name).or_default();
        for word in words {
            of_name.names.extend(word.evaluated());
            of_name.is_code |= word.may_be_code(script);
        }
    };
    for assignment in script.simples.iter().flat_map(|simple| &simple.assignments) {
        let words = match &assignment.value {
            AssignedValue::Scalar(word) => std::slice::from_ref(word),
            AssignedValue::Array(words) => words,
        };
        set(&assignment.name, &mut words.iter());
    }
    for (name, words) in &script.values {
        set(name, &mut words.iter());
    }
    for simple in &script.simples {
        let name = simple.words.first().and_then(Word::as_literal);
        let args = simple.words.get(1..).unwrap_or_default();
        let name = name.unwrap_or_default();
        if name == "set" || functions.contains(name.as_str()) {
            set(POSITIONAL, &mut args.iter());
        }
        if DECLARATIONS.contains(&name.as_str()) {
            for arg in args {
                if let Some(declared) = front(arg) {
                    set(declared, &mut std::iter::once(arg));
                }
            }
        }
        if name == "printf"
            && let [option, variable, rest @ ..] = args
            && option.as_literal().as_deref() == Some("-v")
            && let Some(variable) = front(variable)
        {
            set(variable, &mut rest.iter());
        }
    }
    for name in &script.readers {
        settings.entry(name).or_default().is_code = true;
    }
    for simple in &script.simples {
        let name = simple.words.first().and_then(Word::as_literal);
        if name.is_some_and(|name| READERS.contains(&name.as_str())) {
            let args = simple.words.get(1..).unwrap_or_default();
            for read in args.iter().filter_map(front).chain(["REPLY", "MAPFILE"]) {
                settings.entry(read).or_default().is_code = true;
            }
        }
    }
    settings
}

/// The name that an argument begins with.
fn front(word: &Word) -> Option<&str> {
    let (Piece::Plain(text) | Piece::Quoted(text)) = word.pieces.first()? else {
        return None;
    };
    let end = text
        .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .unwrap_or(text.len());
    text.get(..end).filter(|name| !name.is_empty())
}

/// The variables whose values a builtin evaluates: in expressions, and as integers.
fn by_builtin(simple: &Simple) -> Vec<String> {
    match is_evaluating(simple) {
        true => {
            let args = simple.words.get(1..).unwrap_or_default();
            args.iter().flat_map(Word::evaluated).collect()
        }
        false => Vec::new(),
    }
}

/// Whether a builtin evaluates its arguments.
fn is_evaluating(simple: &Simple) -> bool {
    let is_integer = |arg: &Word| {
        let text = arg.as_literal().unwrap_or_default();
        text.starts_with('-') && text.contains('i')
    };
    match simple.words.first().and_then(Word::as_literal).as_deref() {
        Some("let") => true,
        Some("declare" | "typeset" | "local") => simple.words.iter().skip(1).any(is_integer),
        _ => false,
    }
}

impl Simple {
    /// Whether it declares an associative array.
    pub(crate) fn declares_keys(&self) -> bool {
        let name = self.words.first().and_then(Word::as_literal);
        let is_associative = |arg: &Word| {
            let text = arg.as_literal().unwrap_or_default();
            text.starts_with('-') && text.contains('A')
        };
        name.is_some_and(|name| DECLARATIONS.contains(&name.as_str()))
            && self.words.iter().skip(1).any(is_associative)
    }
}

impl Script {
    /// Whether what a command writes is a number.
    fn writes_number(&self, list: &[AndOr]) -> bool {
        let [AndOr { first, rest, .. }] = list else {
            return false;
        };
        let Some(Command::Simple(idx)) = first.commands.last().filter(|_| rest.is_empty()) else {
            return false;
        };
        let words = self.simples.get(idx.0).map(|simple| &simple.words);
        let Some((name, args)) = words.and_then(|words| words.split_first()) else {
            return false;
        };
        let literal: Vec<String> = args.iter().filter_map(Word::as_literal).collect();
        let has = |option: &str| literal.iter().any(|arg| arg == option);
        match name.as_literal().as_deref() {
            Some(name) if COUNTERS.contains(&name) => true,
            Some("grep" | "egrep" | "fgrep") => has("-c") && args.len() <= 3,
            Some("date") => {
                let is_digits = |arg: &String| {
                    let format = arg.strip_prefix('+').unwrap_or_default();
                    !format.is_empty() && format.split('%').all(|part| part.len() <= 1)
                };
                args.len() == 1 && literal.iter().any(is_digits)
            }
            Some("git") => has("--count"),
            Some("id") => has("-u") || has("-g"),
            Some("tput") => has("cols") || has("lines"),
            Some("seq") => args.iter().all(|arg| !arg.may_be_code(self)),
            _ => false,
        }
    }
}

impl Word {
    /// The variables whose values are part of the word if it is an expression.
    pub(crate) fn evaluated(&self) -> Vec<String> {
        let text = self.as_expression();
        let names = expression::names(&text).map(|(_, name)| name.to_owned());
        let mut evaluated: Vec<String> = names.filter(|name| !name.contains(EXPANSION)).collect();
        for piece in &self.pieces {
            let Piece::Expansion(expansion, _) = piece else {
                continue;
            };
            match &**expansion {
                Expansion::Parameter(name) if is_positional(name) => {
                    evaluated.push(POSITIONAL.to_owned());
                }
                Expansion::Parameter(name)
                | Expansion::Elements(name)
                | Expansion::Element(name, _) => evaluated.push(name.clone()),
                Expansion::Other { inner, change, .. } => {
                    evaluated.extend(change.iter().map(|change| change.name.clone()));
                    evaluated.extend(inner.iter().flat_map(Self::evaluated));
                }
                Expansion::Array(words) => evaluated.extend(words.iter().flat_map(Self::evaluated)),
                Expansion::Command(_) | Expansion::Process(_) | Expansion::Arithmetic(_) => {}
            }
        }
        evaluated
    }

    /// Whether it may be code if it is an expression, whatever the variables hold that it names.
    pub(crate) fn may_be_code(&self, script: &Script) -> bool {
        self.pieces.iter().any(|piece| match piece {
            Piece::Plain(text) | Piece::Quoted(text) => text.contains(['$', '`']),
            Piece::Glob(_) | Piece::Tilde(_) => false,
            Piece::Expansion(expansion, _) => match &**expansion {
                Expansion::Parameter(_)
                | Expansion::Elements(_)
                | Expansion::Element(..)
                | Expansion::Process(_)
                | Expansion::Arithmetic(_) => false,
                Expansion::Command(list) => !script.writes_number(list),
                Expansion::Other { inner, change, .. } => {
                    change.is_none() || inner.iter().any(|word| word.may_be_code(script))
                }
                Expansion::Array(words) => words.iter().any(|word| word.may_be_code(script)),
            },
        })
    }
}

fn is_positional(name: &str) -> bool {
    matches!(name, "@" | "*") || name.bytes().all(|byte| byte.is_ascii_digit())
}
