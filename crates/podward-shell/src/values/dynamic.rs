//! Commands whose names hold variables.

use super::{is_digits, leading_name};
use crate::syntax::{AssignedValue, Expansion, How, Piece, Script, Word};

/// What is known of a command's name.
pub(super) enum DynamicName {
    /// It is written out, or it is a path and so no builtin.
    Literal,
    /// It may be one of these texts: the program is the first word of each.
    OneOf(Vec<String>),
    Unknown,
}

/// As many values as are told apart.
const MOST_VALUES: usize = 64;

/// The names that the first word of a command may be.
pub(super) fn name(script: &Script, words: &[Word]) -> DynamicName {
    const PREFIXES: [&str; 3] = ["builtin", "command", "exec"];
    let mut words = words.iter();
    let Some(first) = words.next() else {
        return DynamicName::Literal;
    };
    if let Some(name) = first.as_literal() {
        let hides_name =
            PREFIXES.contains(&name.as_str()) && words.any(|word| word.as_literal().is_none());
        return match hides_name {
            true => DynamicName::Unknown,
            false => DynamicName::Literal,
        };
    }
    let is_path = first.pieces.iter().any(
        |piece| matches!(piece, Piece::Plain(text) | Piece::Quoted(text) if text.contains('/')),
    );
    if is_path {
        // A file, never a builtin.
        return DynamicName::Literal;
    }
    let mut names = vec![String::new()];
    for piece in &first.pieces {
        let parts = match piece {
            Piece::Plain(text) | Piece::Quoted(text) => Some(vec![text.clone()]),
            Piece::Expansion(expansion, _) => match &**expansion {
                Expansion::Parameter(name)
                | Expansion::Elements(name)
                | Expansion::Element(name, _) => values_of(script, name),
                Expansion::Other {
                    inner,
                    change: Some(change),
                    ..
                } if matches!(change.how, How::UnlessEmpty | How::UnlessUnset) => {
                    // A value from outside makes the program unknown, whatever it is.
                    let mut values = values_of(script, &change.name).unwrap_or_default();
                    let word = inner.last().and_then(Word::as_literal);
                    word.map(|word| {
                        values.push(word);
                        values
                    })
                }
                _ => None,
            },
            Piece::Glob(_) | Piece::Tilde(_) => None,
        };
        let Some(parts) = parts.filter(|parts| parts.len() * names.len() <= MOST_VALUES) else {
            return DynamicName::Unknown;
        };
        names = names
            .iter()
            .flat_map(|name| parts.iter().map(move |part| format!("{name}{part}")))
            .collect();
    }
    DynamicName::OneOf(names)
}

/// All values that a variable may have; `None` if one is not literal.
fn values_of(script: &Script, name: &str) -> Option<Vec<String>> {
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
    (!values.is_empty()).then_some(values)
}
