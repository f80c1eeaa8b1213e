//! A text that lists tools, cut into its entries.
//!
//! Entries are separated by blanks, line ends and commas. An entry is a name, or a name with
//! something in parentheses right behind it; in there blanks and commas belong to the entry, and
//! so do parentheses in pairs and in quotes.

#[cfg(test)]
mod tests;

use std::ops::Range;

/// One entry of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token<'t> {
    /// Its bytes in the text.
    pub(crate) range: Range<usize>,
    pub(crate) content: Result<Content<'t>, TokenProblem>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Content<'t> {
    pub(crate) name: &'t str,
    /// What stands in the parentheses, if there are any.
    pub(crate) argument: Option<&'t str>,
}

/// Why an entry cannot be read. Whatever it was to mean, it must not be taken for less of a
/// restriction, so each of these is an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenProblem {
    /// `Bash(git:*`.
    OpenParenthesis,
    /// `Bash(echo "x)`.
    OpenQuote,
    /// `Bash git:*)`.
    StrayClose,
    /// `(git:*)`, also behind a blank: `Bash (git:*)`.
    NoName,
    /// `Bash(git:*)Read`.
    NoSeparator,
    /// `Bash()`.
    NothingInside,
}

impl TokenProblem {
    pub(crate) const fn message(self) -> &'static str {
        match self {
            Self::OpenParenthesis => "this parenthesis is not closed",
            Self::OpenQuote => "a quote in these parentheses is not closed",
            Self::StrayClose => "this parenthesis closes nothing",
            Self::NoName => "there is no tool's name in front of this parenthesis",
            Self::NoSeparator => "something follows right behind a closing parenthesis",
            Self::NothingInside => "these parentheses are empty",
        }
    }

    pub(crate) const fn help(self) -> &'static str {
        match self {
            Self::OpenParenthesis => "close it, as in `Bash(git:*)`",
            Self::OpenQuote => "close the quote, or write `\\` in front of it",
            Self::StrayClose => "remove it, or write the `(` that it belongs to",
            Self::NoName => "write the name right in front of it, without a blank: `Bash(git:*)`",
            Self::NoSeparator => "write a blank or a comma between two tools",
            Self::NothingInside => "write `Bash` or `Bash(*)` for every use of the tool",
        }
    }
}

/// Cuts a text into its entries.
pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = skip_separators(text, at) {
        let token = token_at(text, start);
        at = token.range.end.max(start + 1);
        found.push(token);
    }
    found
}

fn skip_separators(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    rest.find(|c| !is_separator(c)).map(|n_bytes| at + n_bytes)
}

fn is_separator(c: char) -> bool {
    c == ',' || c.is_whitespace()
}

/// The entry that begins here.
fn token_at(text: &str, start: usize) -> Token<'_> {
    let rest = text.get(start..).unwrap_or_default();
    if let Some(token) = quoted(text, start) {
        return token;
    }
    let name_len = rest
        .find(|c| is_separator(c) || matches!(c, '(' | ')'))
        .unwrap_or(rest.len());
    let name = rest.get(..name_len).unwrap_or_default();
    let name_end = start + name_len;
    match rest.get(name_len..).and_then(|rest| rest.chars().next()) {
        Some('(') => with_argument(text, start, name, name_end),
        Some(')') => Token {
            range: start..end_of_token(text, name_end),
            content: Err(TokenProblem::StrayClose),
        },
        _ => Token {
            range: start..name_end,
            content: Ok(Content {
                name,
                argument: None,
            }),
        },
    }
}

/// An entry in quotes of its own, in a list that is one text: `Read, "Bash(git:*)"`.
fn quoted(text: &str, start: usize) -> Option<Token<'_>> {
    let rest = text.get(start..)?;
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let inner = rest.get(1..)?;
    let len = inner.find(quote)?;
    let inside = inner.get(..len)?;
    let end = start + len + 2;
    let is_alone = text
        .get(end..)
        .is_none_or(|rest| rest.chars().next().is_none_or(is_separator));
    let mut only = tokens(inside).into_iter();
    let token = only.next().filter(|_| is_alone)?;
    only.next().is_none().then_some(Token {
        range: start..end,
        content: token.content,
    })
}

fn with_argument<'t>(text: &'t str, start: usize, name: &'t str, open: usize) -> Token<'t> {
    let problem = |range, problem| Token {
        range,
        content: Err(problem),
    };
    let close = match closing(text, open) {
        Ok(close) => close,
        // The rest cannot be told apart any more.
        Err(why) => return problem(start..text.len(), why),
    };
    let end = close + 1;
    let argument = text.get(open + 1..close).unwrap_or_default();
    let follows = text.get(end..).and_then(|rest| rest.chars().next());
    if follows.is_some_and(|c| !is_separator(c)) {
        return problem(start..end_of_token(text, end), TokenProblem::NoSeparator);
    }
    if name.is_empty() {
        return problem(start..end, TokenProblem::NoName);
    }
    if argument.trim().is_empty() {
        return problem(start..end, TokenProblem::NothingInside);
    }
    Token {
        range: start..end,
        content: Ok(Content {
            name,
            argument: Some(argument),
        }),
    }
}

/// The parenthesis that closes the one at this place.
fn closing(text: &str, open: usize) -> Result<usize, TokenProblem> {
    let mut depth = 0_usize;
    let mut quote = None;
    let mut escaped = false;
    let rest = text.get(open..).unwrap_or_default();
    for (n_bytes, c) in rest.char_indices() {
        if std::mem::take(&mut escaped) {
            continue;
        }
        match (c, quote) {
            ('\\', None | Some('"')) => escaped = true,
            (c, Some(open)) if c == open => quote = None,
            (_, Some(_)) => {}
            ('"' | '\'', None) => quote = Some(c),
            ('(', None) => depth += 1,
            (')', None) => {
                depth -= 1;
                if depth == 0 {
                    return Ok(open + n_bytes);
                }
            }
            (_, None) => {}
        }
    }
    Err(match quote {
        Some(_) => TokenProblem::OpenQuote,
        None => TokenProblem::OpenParenthesis,
    })
}

fn end_of_token(text: &str, from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    from + rest.find(is_separator).unwrap_or(rest.len())
}
