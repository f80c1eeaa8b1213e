//! Reading a pattern, and refusing what the `glob` crate refuses or reads in a way that no author
//! means (D4.1).

use super::{Class, Signs, Token};
use crate::source::ByteSpan;

/// Longest pattern in bytes.
const MAX_BYTES: usize = 4096;

/// Something wrong with a pattern, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) part: ByteSpan,
    pub(crate) message: String,
    pub(crate) help: String,
}

impl Problem {
    fn new(start: usize, end: usize, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            part: ByteSpan::new(start..end),
            message: message.into(),
            help: help.into(),
        }
    }
}

/// Whether a pattern has no class and each `**` is a whole component: [`parse`] finds nothing wrong
/// with it, and it is read as it is written.
pub(crate) fn is_plainly_right(pattern: &str, signs: Signs) -> bool {
    !pattern.is_empty()
        && pattern.len() <= MAX_BYTES
        && !signs.has_class()
        && (!signs.has_stars_in_a_row() || has_whole_stars(pattern.as_bytes()))
}

fn has_whole_stars(pattern: &[u8]) -> bool {
    let is_right = |name: &[u8]| name == b"**" || !name.windows(2).any(|two| two == b"**");
    !pattern.ends_with(b"**/") && pattern.split(|byte| *byte == b'/').all(is_right)
}

/// Reads a pattern.
pub(crate) fn parse(pattern: &str) -> Result<Vec<Token>, Vec<Problem>> {
    if pattern.is_empty() {
        return Err(vec![Problem::new(
            0,
            0,
            "an empty pattern matches nothing",
            "write `*` for everything",
        )]);
    }
    if pattern.len() > MAX_BYTES {
        return Err(vec![Problem::new(
            0,
            pattern.len(),
            format!("a pattern of {} bytes is too long", pattern.len()),
            format!("a pattern has at most {MAX_BYTES} bytes; use `*` for what may differ"),
        )]);
    }
    let mut reader = Reader {
        pattern,
        at: 0,
        tokens: Vec::new(),
        problems: Vec::new(),
    };
    while let Some(c) = reader.peek() {
        match c {
            '?' => reader.push(Token::Any, 1),
            '*' => reader.stars(),
            '[' => reader.class(),
            c => reader.push(Token::Char(c), c.len_utf8()),
        }
    }
    if !reader.problems.is_empty() {
        return Err(reader.problems);
    }
    // The reader refuses all that the crate refuses; should it ever miss something, the pattern
    // must not load. The crate refuses nothing but classes and stars in a row.
    if !pattern.contains("**") && !pattern.contains('[') {
        return Ok(reader.tokens);
    }
    if let Err(error) = glob::Pattern::new(pattern) {
        return Err(vec![Problem::new(
            0,
            pattern.len(),
            format!("`{}` is no pattern: {}", shown(pattern), error.msg),
            "write `[*]`, `[?]` or `[[]` for a literal `*`, `?` or `[`",
        )]);
    }
    Ok(reader.tokens)
}

struct Reader<'a> {
    pattern: &'a str,
    at: usize,
    tokens: Vec<Token>,
    problems: Vec<Problem>,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.pattern.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn push(&mut self, token: Token, n_bytes: usize) {
        self.tokens.push(token);
        self.at += n_bytes;
    }

    fn refuse(&mut self, n_bytes: usize, message: impl Into<String>, help: impl Into<String>) {
        let end = self.at + n_bytes;
        self.problems
            .push(Problem::new(self.at, end, message, help));
        self.at = end;
    }

    fn stars(&mut self) {
        let n_stars = self.rest().len() - self.rest().trim_start_matches('*').len();
        let begins_component = self.at == 0
            || self
                .pattern
                .get(..self.at)
                .is_some_and(|before| before.ends_with('/'));
        let after = self.rest().get(n_stars..).unwrap_or_default();
        match (n_stars, begins_component, after.chars().next()) {
            (1, _, _) => self.push(Token::Star, 1),
            (2, true, None) => self.push(Token::Directories, 2),
            (2, true, Some('/')) if after.len() > 1 => {
                // Twice in a row says nothing more.
                if self.tokens.last() == Some(&Token::Directories) {
                    self.at += 3;
                } else {
                    self.push(Token::Directories, 3);
                }
            }
            (2, true, Some('/')) => self.refuse(
                3,
                "a pattern that ends in `**/` does not mean directories only",
                "write `*` for everything below: it also crosses `/`",
            ),
            (2, _, _) => self.refuse(
                2,
                "`**` must be a whole path component",
                "write `*`, which also crosses `/` and blanks; a literal star is `[*]`",
            ),
            (n, _, _) => self.refuse(
                n,
                format!("{n} stars in a row"),
                "write `*`, which also crosses `/` and blanks; a literal star is `[*]`",
            ),
        }
    }

    fn class(&mut self) {
        let Some((negated, content, n_bytes)) = class_at(self.rest()) else {
            self.refuse(
                1,
                "`[` begins a class of characters that is not closed",
                "write `[[]` for a literal `[`",
            );
            return;
        };
        if let Some((message, help)) = odd_class(self.pattern, self.at, content) {
            self.refuse(n_bytes, message, help);
            return;
        }
        let ranges = ranges(content);
        if let Some((first, last)) = ranges.iter().find(|(first, last)| first > last) {
            let message = format!("the range `{first}-{last}` in a class is empty");
            self.refuse(n_bytes, message, format!("write `{last}-{first}`"));
            return;
        }
        match (negated, &*ranges) {
            (false, [(first, last)]) if first == last => {
                let literal = Token::Char(*first);
                self.push(literal, n_bytes);
            }
            _ => self.push(
                Token::Class(Class {
                    negated,
                    ranges: ranges.into_boxed_slice(),
                }),
                n_bytes,
            ),
        }
    }
}

/// The class at the start of `rest`: whether it is negated, what is in it, its length in bytes.
/// A `]` right after the opening is a member.
fn class_at(rest: &str) -> Option<(bool, &str, usize)> {
    let inner = rest.strip_prefix('[')?;
    let (negated, inner) = match inner.strip_prefix('!') {
        Some(inner) => (true, inner),
        None => (false, inner),
    };
    let n_first = inner.chars().next()?.len_utf8();
    let close = inner.get(n_first..)?.find(']')? + n_first;
    let content = inner.get(..close)?;
    Some((negated, content, rest.len() - inner.len() + close + 1))
}

/// Classes that the crate reads, but not as any author means them.
fn odd_class(pattern: &str, at: usize, content: &str) -> Option<(String, String)> {
    let literal_bracket = "a class stands for one character; write `[[]` for a literal `[`";
    let blank = |c: char| c.is_ascii_whitespace();
    if content.starts_with("[:") {
        return Some((
            "named classes are not known here".to_owned(),
            "write the range, such as `[a-z]` or `[0-9]`".to_owned(),
        ));
    }
    if content.starts_with('^') && content.len() > 1 {
        return Some((
            "`^` does not negate a class here".to_owned(),
            "write `[!…]`; to include `^`, do not write it first".to_owned(),
        ));
    }
    if content.contains(blank) && !content.chars().all(blank) {
        return Some((
            "this `[…]` is a class of characters, and holds a blank".to_owned(),
            literal_bracket.to_owned(),
        ));
    }
    let after_scheme = pattern
        .get(..at)
        .is_some_and(|before| before.ends_with("://"));
    if after_scheme && content.contains(':') {
        return Some((
            "this `[…]` is a class of characters, not an address".to_owned(),
            "write `[[]` for the literal `[` of an address".to_owned(),
        ));
    }
    None
}

fn ranges(content: &str) -> Vec<(char, char)> {
    let chars: Vec<char> = content.chars().collect();
    let mut rest = &*chars;
    let mut ranges = Vec::new();
    loop {
        rest = match rest {
            [first, '-', last, rest @ ..] => {
                ranges.push((*first, *last));
                rest
            }
            [c, rest @ ..] => {
                ranges.push((*c, *c));
                rest
            }
            [] => return ranges,
        };
    }
}

/// A pattern in a message: cut if long, control characters escaped.
fn shown(pattern: &str) -> String {
    let mut shown: String = pattern
        .chars()
        .take(60)
        .flat_map(char::escape_debug)
        .collect();
    if pattern.chars().count() > 60 {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests;
