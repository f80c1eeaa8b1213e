//! Patterns for commands: quotes brought to the form in which commands are written (D3.1).

use super::Token;
use crate::text::written_word;

/// A pattern as it is compared with commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Words {
    /// Each quoted word matches exactly one word.
    pub(crate) tokens: Vec<Token>,
    /// The pattern without its quotes, where a word with quotes also has a `*` outside them. What
    /// such a word means is not clear, so restrictive rules look for this as well.
    pub(crate) loose: Option<Vec<Token>>,
    pub(crate) quoting: Quoting,
    /// There are two blanks in a row, or one at an end: no command is written like that.
    pub(crate) has_odd_blank: bool,
}

/// The quotes of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quoting {
    /// There are none.
    None,
    /// Each is closed.
    Closed,
    /// One is not closed: all are taken literally.
    Open,
}

/// Brings a pattern to the form in which commands are written.
pub(crate) fn words(tokens: &[Token]) -> Words {
    let has_quotes = tokens.iter().any(is_quote);
    let Some(parts) = split(tokens) else {
        return Words {
            tokens: tokens.to_vec(),
            loose: None,
            quoting: Quoting::Open,
            has_odd_blank: false,
        };
    };
    let has_odd_blank = has_odd_blank(&parts);
    let mut strict = Vec::with_capacity(tokens.len());
    let mut loose = Vec::with_capacity(tokens.len());
    let mut is_unclear = false;
    for part in parts {
        match part {
            Part::Blank(token) => {
                loose.push(token.clone());
                strict.push(token);
            }
            Part::Word(word) => {
                loose.extend(word.content.iter().cloned());
                is_unclear |= word.has_quotes && word.has_open_star;
                word.write(&mut strict);
            }
        }
    }
    Words {
        tokens: strict,
        loose: is_unclear.then_some(loose),
        quoting: match has_quotes {
            true => Quoting::Closed,
            false => Quoting::None,
        },
        has_odd_blank,
    }
}

enum Part {
    Blank(Token),
    Word(Word),
}

#[derive(Default)]
struct Word {
    content: Vec<Token>,
    has_quotes: bool,
    has_open_star: bool,
}

impl Word {
    fn is_empty(&self) -> bool {
        self.content.is_empty() && !self.has_quotes
    }

    /// Appends the word in the form in which commands are written.
    fn write(self, tokens: &mut Vec<Token>) {
        if !self.has_quotes {
            tokens.extend(self.content);
            return;
        }
        let literal: Option<String> = self.content.iter().map(Token::literal).collect();
        match literal {
            Some(literal) => tokens.extend(written_word(&literal).chars().map(Token::Char)),
            None => tokens.push(Token::Word(self.content.into_boxed_slice())),
        }
    }
}

/// The words and blanks of a pattern; `None` if a quote is not closed.
fn split(tokens: &[Token]) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    let mut word = Word::default();
    let mut open = None;
    let mut rest = tokens.iter();
    while let Some(token) = rest.next() {
        match (open, token) {
            (None, Token::Char('\\')) if rest.as_slice().first().is_some_and(is_quote) => {
                word.has_quotes = true;
                word.content.extend(rest.next().cloned());
            }
            (None, token) if is_quote(token) => {
                open = quote(token);
                word.has_quotes = true;
            }
            (None, Token::Char(' ' | '\t' | '\n')) => {
                if !word.is_empty() {
                    parts.push(Part::Word(std::mem::take(&mut word)));
                }
                parts.push(Part::Blank(token.clone()));
            }
            (Some('"'), Token::Char('\\')) if rest.as_slice().first().is_some_and(escapes) => {
                word.content.extend(rest.next().cloned());
            }
            (Some(open_quote), token) if quote(token) == Some(open_quote) => open = None,
            (open, token) => {
                word.has_open_star |=
                    open.is_none() && matches!(token, Token::Star | Token::Directories);
                word.content.push(token.clone());
            }
        }
    }
    if open.is_some() {
        return None;
    }
    if !word.is_empty() {
        parts.push(Part::Word(word));
    }
    Some(parts)
}

fn quote(token: &Token) -> Option<char> {
    match token {
        Token::Char(c @ ('\'' | '"')) => Some(*c),
        _ => None,
    }
}

fn is_quote(token: &Token) -> bool {
    quote(token).is_some()
}

/// What a backslash escapes between double quotes.
fn escapes(token: &Token) -> bool {
    matches!(token, Token::Char('"' | '\\' | '$' | '`'))
}

/// Whether there are two blanks in a row or one at an end: no command is written like that.
fn has_odd_blank(parts: &[Part]) -> bool {
    let blank = |part: &Part| matches!(part, Part::Blank(_));
    parts.first().is_some_and(blank)
        || parts.last().is_some_and(blank)
        || parts.windows(2).any(|pair| pair.iter().all(blank))
}

#[cfg(test)]
mod tests;
