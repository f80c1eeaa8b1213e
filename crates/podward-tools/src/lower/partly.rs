//! Text of which parts may not be known, one character or hole at a time.

use podward_policy::{HoleKind, Text, TextBuilder};

/// A known character, or a hole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Symbol {
    Char(char),
    Hole(HoleKind),
}

impl Symbol {
    /// Whether the value of an expansion stands there: it may hold anything, `/` and `..` too.
    pub(crate) const fn is_expansion(self) -> bool {
        match self {
            Self::Char(_) => false,
            Self::Hole(kind) => kind.is_expansion(),
        }
    }
}

pub(crate) fn symbols(text: &Text) -> Vec<Symbol> {
    let known = text.known_part();
    let mut symbols = Vec::with_capacity(known.len() + text.holes().len());
    let mut holes = text.holes().iter().peekable();
    for (at, c) in known.char_indices() {
        while let Some(hole) = holes.next_if(|hole| hole.at <= at) {
            symbols.push(Symbol::Hole(hole.kind));
        }
        symbols.push(Symbol::Char(c));
    }
    symbols.extend(holes.map(|hole| Symbol::Hole(hole.kind)));
    symbols
}

pub(crate) fn text_of(symbols: &[Symbol]) -> Text {
    write(TextBuilder::new(), symbols).build()
}

pub(crate) fn write(mut text: TextBuilder, symbols: &[Symbol]) -> TextBuilder {
    for symbol in symbols {
        text = match symbol {
            Symbol::Char(c) => text.known(c.encode_utf8(&mut [0; 4])),
            Symbol::Hole(kind) => text.hole(*kind),
        };
    }
    text
}

pub(crate) fn chars(text: &str) -> impl Iterator<Item = Symbol> + '_ {
    text.chars().map(Symbol::Char)
}

pub(crate) fn has_expansion(symbols: &[Symbol]) -> bool {
    symbols.iter().any(|symbol| symbol.is_expansion())
}

/// The known characters before the first hole.
pub(crate) fn known_start(symbols: &[Symbol]) -> String {
    symbols
        .iter()
        .map_while(|symbol| match symbol {
            Symbol::Char(c) => Some(*c),
            Symbol::Hole(_) => None,
        })
        .collect()
}

/// The text, if all of it is known.
pub(crate) fn known(symbols: &[Symbol]) -> Option<String> {
    symbols
        .iter()
        .map(|symbol| match symbol {
            Symbol::Char(c) => Some(*c),
            Symbol::Hole(_) => None,
        })
        .collect()
}

/// Whether a file name pattern may match a name. Expansions never count here.
pub(crate) fn pattern_may_match(pattern: &[Symbol], name: &str) -> bool {
    let begins_with_hole = matches!(pattern.first(), Some(Symbol::Hole(_)));
    if has_expansion(pattern) || begins_with_hole && name.starts_with('.') {
        return false;
    }
    let name: Vec<char> = name.chars().collect();
    // Ends of the part of the name that the pattern so far can match.
    let mut ends = vec![0];
    for symbol in pattern {
        ends = match symbol {
            Symbol::Char(c) => ends
                .into_iter()
                .filter(|end| name.get(*end) == Some(c))
                .map(|end| end + 1)
                .collect(),
            Symbol::Hole(_) => match ends.first() {
                Some(least) => (*least..=name.len()).collect(),
                None => return false,
            },
        };
    }
    ends.last() == Some(&name.len())
}

#[cfg(test)]
mod tests;
