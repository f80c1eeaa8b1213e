//! Brace expansion of small literal braces.

use super::Reader;
use crate::limits;
use crate::syntax::{Expansion, Piece, Quoting, Word};

impl Reader<'_> {
    /// Adds the words that a word's braces make; too many make one word that is not known.
    pub(super) fn expand_braces(&mut self, word: Word, out: &mut Vec<Word>) {
        let has_brace = word
            .pieces
            .iter()
            .any(|piece| matches!(piece, Piece::Plain(text) if text.contains('{')));
        if !has_brace {
            out.push(word);
            return;
        }
        let span = word.span;
        let symbols: Vec<Symbol> = word.pieces.into_iter().flat_map(symbols).collect();
        let n_braces = symbols.iter().filter(|symbol| symbol.is('{')).count();
        // In front they name the program: what is not known of it is not taken apart.
        let names_program = out.is_empty() && symbols.iter().any(is_expansion);
        let words = if n_braces > limits::BRACES || names_program {
            None
        } else {
            expand(&symbols, 0)
        };
        match words {
            Some(words) => {
                self.n_words += words.len();
                out.extend(
                    words
                        .iter()
                        .filter(|symbols| !symbols.is_empty())
                        .map(|symbols| Word {
                            pieces: pieces(symbols),
                            span,
                        }),
                );
            }
            None => out.push(unknown_word(&symbols, span)),
        }
    }
}

/// Part of a word: a character that may be part of braces, or a piece that is not.
#[derive(Debug, Clone)]
enum Symbol {
    Plain(char),
    Other(Piece),
}

impl Symbol {
    fn is(&self, c: char) -> bool {
        matches!(self, Self::Plain(own) if *own == c)
    }
}

fn is_expansion(symbol: &Symbol) -> bool {
    matches!(symbol, Symbol::Other(Piece::Expansion(..)))
}

fn symbols(piece: Piece) -> Vec<Symbol> {
    match piece {
        Piece::Plain(text) => text.chars().map(Symbol::Plain).collect(),
        other => vec![Symbol::Other(other)],
    }
}

fn pieces(symbols: &[Symbol]) -> Vec<Piece> {
    let mut word = Word::default();
    let mut symbols = symbols.iter().peekable();
    if symbols.next_if(|symbol| symbol.is('~')).is_some() {
        // Braces come first: `{~/a,b}` begins with a home directory.
        let mut user = String::new();
        while let Some(Symbol::Plain(c)) = symbols.next_if(
            |symbol| matches!(symbol, Symbol::Plain(c) if c.is_ascii_alphanumeric() || "_-+.".contains(*c)),
        ) {
            user.push(*c);
        }
        word.pieces.push(Piece::Tilde(user));
    }
    for symbol in symbols {
        match symbol {
            Symbol::Plain(c) => word.push_plain(c.encode_utf8(&mut [0; 4])),
            Symbol::Other(piece) => word.pieces.push(piece.clone()),
        }
    }
    word.pieces
}

/// Adds a part of a word, unless a name grows by it: braces come first, so `$x{1,2}` is `$x1 $x2`.
fn join(word: &mut Vec<Symbol>, part: &[Symbol]) -> Option<()> {
    let ends_in_name = match word.last() {
        Some(Symbol::Plain(c)) => *c == '$',
        Some(Symbol::Other(Piece::Expansion(expansion, Quoting::Unquoted))) => {
            matches!(**expansion, Expansion::Parameter(_))
        }
        Some(Symbol::Other(_)) | None => false,
    };
    let is_safe = match part.first() {
        Some(Symbol::Plain(c)) => matches!(c, '/' | '.' | '-' | ','),
        Some(Symbol::Other(_)) => false,
        None => true,
    };
    if ends_in_name && !is_safe {
        return None;
    }
    word.extend_from_slice(part);
    Some(())
}

/// Keeps what the word expands, so that its commands are seen.
fn unknown_word(symbols: &[Symbol], span: crate::syntax::Span) -> Word {
    let inner = Word {
        pieces: pieces(symbols),
        span,
    };
    Word {
        pieces: vec![super::compound::piece(
            Expansion::Other {
                inner: vec![inner],
                is_many: true,
                change: None,
            },
            Quoting::Unquoted,
        )],
        span,
    }
}

/// All words that some symbols expand to; `None` beyond the limits.
fn expand(symbols: &[Symbol], depth: usize) -> Option<Vec<Vec<Symbol>>> {
    if depth > 8 {
        return None;
    }
    let mut open = 0;
    while let Some(at) = symbols
        .iter()
        .skip(open)
        .position(|symbol| symbol.is('{'))
        .map(|at| at + open)
    {
        if let Some((alternatives, end)) = alternatives(symbols, at)? {
            let before = symbols.get(..at)?;
            let rest = expand(symbols.get(end..)?, depth + 1)?;
            let mut words = Vec::new();
            for alternative in alternatives {
                for middle in expand(&alternative, depth + 1)? {
                    for after in &rest {
                        let mut word = before.to_vec();
                        join(&mut word, &middle)?;
                        join(&mut word, after)?;
                        words.push(word);
                        if words.len() > limits::BRACE_WORDS {
                            return None;
                        }
                    }
                }
            }
            return Some(words);
        }
        open = at + 1;
    }
    Some(vec![symbols.to_vec()])
}

type Alternatives = Vec<Vec<Symbol>>;

/// What the braces that open at a place hold, and where they end; nothing if they are plain text.
#[expect(
    clippy::option_option,
    reason = "the outer one is the limit, the inner one the absence of braces"
)]
fn alternatives(symbols: &[Symbol], open: usize) -> Option<Option<(Alternatives, usize)>> {
    let mut depth = 0_usize;
    let mut parts = vec![Vec::new()];
    for (at, symbol) in symbols.iter().enumerate().skip(open + 1) {
        let is_outer = depth == 0;
        if symbol.is('}') && is_outer {
            if parts.len() > 1 {
                return Some(Some((parts, at + 1)));
            }
            return match parts.first() {
                Some(part) => sequence(part).map(|found| found.map(|words| (words, at + 1))),
                None => Some(None),
            };
        }
        if symbol.is(',') && is_outer {
            parts.push(Vec::new());
            continue;
        }
        if symbol.is('{') {
            depth += 1;
        } else if symbol.is('}') {
            depth -= 1;
        }
        if let Some(part) = parts.last_mut() {
            part.push(symbol.clone());
        }
    }
    // Braces without an end: bash may still expand inner ones in its own way.
    if parts.len() > 1 && depth > 0 {
        return None;
    }
    Some(None)
}

/// `1..3` and `a..c`.
#[expect(
    clippy::option_option,
    reason = "the outer one is the limit, the inner one the absence of a sequence"
)]
fn sequence(symbols: &[Symbol]) -> Option<Option<Alternatives>> {
    let mut text = String::new();
    for symbol in symbols {
        match symbol {
            Symbol::Plain(c) => text.push(*c),
            Symbol::Other(Piece::Expansion(..)) if text.contains("..") => return None,
            Symbol::Other(_) => return Some(None),
        }
    }
    if !text.contains("..") {
        return Some(None);
    }
    let parts: Vec<&str> = text.split("..").collect();
    let [first, last] = parts.as_slice() else {
        return None;
    };
    let is_padded = |text: &str| {
        let digits = text.strip_prefix('-').unwrap_or(text);
        digits.len() > 1 && digits.starts_with('0')
    };
    if is_padded(first) || is_padded(last) {
        return None;
    }
    if let (Ok(first), Ok(last)) = (first.parse::<i64>(), last.parse::<i64>()) {
        if first.abs_diff(last) >= limits::BRACE_WORDS as u64 {
            return None;
        }
        let step = if first <= last { 1 } else { -1 };
        let count = first.abs_diff(last) + 1;
        let mut value = first;
        let mut words = Vec::new();
        for _ in 0..count {
            words.push(value.to_string().chars().map(Symbol::Plain).collect());
            value = value.saturating_add(step);
        }
        return Some(Some(words));
    }
    match (first.as_bytes(), last.as_bytes()) {
        ([first], [last]) if first.is_ascii_lowercase() && last.is_ascii_lowercase() => {
            let letters: Vec<u8> = if first <= last {
                (*first..=*last).collect()
            } else {
                (*last..=*first).rev().collect()
            };
            Some(Some(
                letters
                    .into_iter()
                    .map(|letter| vec![Symbol::Plain(char::from(letter))])
                    .collect(),
            ))
        }
        // Letters of both cases pass through punctuation.
        _ => None,
    }
}
