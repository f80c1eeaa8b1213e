//! Commands whose names hold variables.

use super::{is_digits, leading_name};
use crate::syntax::{AssignedValue, Expansion, How, Moment, Piece, Script, Simple, Word};

/// What a command's name may be, where it holds variables; nothing, where it is written out or is a
/// path and so no builtin.
#[derive(Default)]
pub(super) struct DynamicName {
    /// Texts, each from a moment on: the program is the first word of each.
    pub(super) texts: Vec<(String, Moment)>,
    /// From this moment on it may be anything.
    pub(super) unknown_from: Option<Moment>,
}

/// As many values as are told apart.
const MOST_VALUES: usize = 64;

/// Bytes of a value that are looked at: the names of builtins are far shorter.
const MOST_BYTES: usize = 256;

/// The names that the first word of a command may be.
pub(super) fn name(script: &Script, simple: &Simple) -> DynamicName {
    const PREFIXES: [&str; 3] = ["builtin", "command", "exec"];
    let mut words = simple.words.iter();
    let Some(first) = words.next() else {
        return DynamicName::default();
    };
    if let Some(name) = first.as_literal() {
        let hides_name =
            PREFIXES.contains(&name.as_str()) && words.any(|word| word.as_literal().is_none());
        return match hides_name {
            true => DynamicName::unknown(),
            false => DynamicName::default(),
        };
    }
    let is_path = first.pieces.iter().any(
        |piece| matches!(piece, Piece::Plain(text) | Piece::Quoted(text) if text.contains('/')),
    );
    if is_path {
        // A file, never a builtin.
        return DynamicName::default();
    }
    let mut names = DynamicName {
        texts: vec![(String::new(), Moment::default())],
        unknown_from: None,
    };
    for piece in &first.pieces {
        names = names.followed_by(&part(script, simple, piece));
    }
    names
}

/// What one piece of a command's name may be.
fn part(script: &Script, simple: &Simple, piece: &Piece) -> DynamicName {
    let expansion = match piece {
        Piece::Plain(text) | Piece::Quoted(text) => {
            let mut name = DynamicName::default();
            name.add(Some(text.clone()), Moment::default());
            return name;
        }
        Piece::Glob(_) | Piece::Tilde(_) => return DynamicName::unknown(),
        Piece::Expansion(expansion, _) => expansion,
    };
    match &**expansion {
        Expansion::Parameter(name) | Expansion::Elements(name) | Expansion::Element(name, _) => {
            values_of(script, name, simple.at)
        }
        Expansion::Other {
            inner,
            change: Some(change),
            ..
        } if matches!(change.how, How::UnlessEmpty | How::UnlessUnset) => {
            match inner.last().and_then(Word::as_literal) {
                // A value from outside makes the program unknown, whatever it is.
                Some(word) => {
                    let mut values = values_of(script, &change.name, simple.at);
                    values.unknown_from = None;
                    values.texts.push((word, Moment::default()));
                    values
                }
                None => DynamicName::unknown(),
            }
        }
        _ => DynamicName::unknown(),
    }
}

/// All values that a variable may have in a command.
fn values_of(script: &Script, name: &str, at: Moment) -> DynamicName {
    let is_positional = matches!(name, "@" | "*") || is_digits(name);
    let mut values = DynamicName::default();
    // It may stand in a function that began before.
    if is_positional && script.functions.iter().any(|function| function.at < at) {
        return DynamicName::unknown();
    }
    for simple in &script.simples {
        for assignment in simple.assignments.iter().filter(|a| a.name == name) {
            match &assignment.value {
                AssignedValue::Scalar(word) => values.add(word.as_literal(), simple.at),
                AssignedValue::Array(words) => {
                    for word in words {
                        values.add(word.as_literal(), simple.at);
                    }
                }
            }
        }
        let first = simple.words.first().and_then(Word::as_literal);
        match first.as_deref() {
            Some("set") if is_positional => {
                for word in simple.words.iter().skip(1) {
                    values.add(word.as_literal(), simple.at);
                }
            }
            Some("export" | "readonly") => {
                for word in simple.words.iter().skip(1) {
                    if leading_name(word).as_deref() == Some(name) {
                        let value = word
                            .as_literal()
                            .map(|text| text.split_once('=').map_or("", |(_, v)| v).to_owned());
                        values.add(value, simple.at);
                    }
                }
            }
            _ => {}
        }
    }
    for (_, words, set_at) in script
        .loops
        .iter()
        .filter(|(variable, ..)| variable == name)
    {
        for word in words {
            values.add(word.clone(), *set_at);
        }
    }
    if !values.texts.iter().any(|(_, set_at)| *set_at <= at) {
        // Its first value comes from outside.
        return DynamicName::unknown();
    }
    values.cut();
    values
}

impl DynamicName {
    fn unknown() -> Self {
        Self {
            texts: Vec::new(),
            unknown_from: Some(Moment::default()),
        }
    }

    /// Adds a value that is set at a moment; `None` if it is not known.
    fn add(&mut self, value: Option<String>, at: Moment) {
        match value {
            Some(text) if text.len() <= MOST_BYTES => self.texts.push((text, at)),
            _ => self.is_unknown_from(at),
        }
    }

    fn is_unknown_from(&mut self, at: Moment) {
        self.unknown_from = Some(self.unknown_from.map_or(at, |from| from.min(at)));
    }

    /// Each text with each of the others behind it.
    fn followed_by(self, others: &Self) -> Self {
        let mut both = Self {
            texts: Vec::new(),
            unknown_from: self.unknown_from,
        };
        if let Some(from) = others.unknown_from {
            both.is_unknown_from(from);
        }
        for (text, at) in &self.texts {
            for (other, other_at) in &others.texts {
                both.add(Some(format!("{text}{other}")), *other_at.max(at));
            }
        }
        both.cut();
        both
    }

    /// The first ones are told apart; what comes after them may be anything.
    fn cut(&mut self) {
        self.texts.sort_by_key(|(_, at)| *at);
        if let Some((_, at)) = self.texts.get(MOST_VALUES) {
            let at = *at;
            self.is_unknown_from(at);
            self.texts.truncate(MOST_VALUES);
        }
    }
}
