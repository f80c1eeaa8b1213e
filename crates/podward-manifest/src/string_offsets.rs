//! Which bytes of a TOML string's source stand for which bytes of its value.

#[cfg(test)]
mod tests;

use podward_policy::ByteSpan;

use crate::reader::{Reader, Sited};

/// The source of a part of a string's value; all of the string where that cannot be told.
pub(crate) fn span_of_part(
    value: &Sited<String>,
    part: Option<ByteSpan>,
    reader: &Reader<'_>,
) -> ByteSpan {
    part.and_then(|part| {
        let raw = reader.source().slice(value.span);
        source_of(raw, &value.value, part)
    })
    .map_or(value.span, |part| {
        let base = value.span.start;
        ByteSpan::new(base + part.start..base + part.end)
    })
}

/// The bytes of `raw`, a TOML string with its quotes, that stand for `part` of its `value`.
///
/// `None` if `raw` is no string whose value is `value`: the caller then names the whole of it.
fn source_of(raw: &str, value: &str, part: ByteSpan) -> Option<ByteSpan> {
    let pieces = pieces(raw)?;
    let decoded: String = pieces.iter().filter_map(|piece| piece.char).collect();
    if decoded != value || part.start > part.end || part.end > value.len() {
        return None;
    }
    let mut value_at = 0;
    let mut span: Option<ByteSpan> = None;
    for piece in &pieces {
        let Some(char) = piece.char else { continue };
        let value_end = value_at + char.len_utf8();
        let touched = if part.start == part.end {
            value_at == part.start
        } else {
            value_at < part.end && part.start < value_end
        };
        if touched {
            let start = span.map_or(piece.raw.start, |span| span.start);
            span = Some(ByteSpan::new(start..piece.raw.end));
            if part.start == part.end {
                return Some(ByteSpan::new(start..start));
            }
        }
        value_at = value_end;
    }
    // An empty part at the end of the value.
    let end = raw.len() - quote_len(raw);
    Some(span.unwrap_or(ByteSpan::new(end..end)))
}

/// A part of the source: one character of the value, or (a trimmed line end) none.
#[derive(Debug, Clone, Copy)]
struct Piece {
    raw: ByteSpan,
    char: Option<char>,
}

fn quote_len(raw: &str) -> usize {
    let is_long = raw.len() >= 6 && (raw.starts_with("\"\"\"") || raw.starts_with("'''"));
    if is_long { 3 } else { 1 }
}

fn pieces(raw: &str) -> Option<Vec<Piece>> {
    let quotes = quote_len(raw);
    let is_basic = raw.starts_with('"');
    if !is_basic && !raw.starts_with('\'') {
        return None;
    }
    let inner = raw.get(quotes..raw.len().checked_sub(quotes)?)?;
    let mut cursor = Cursor {
        rest: inner,
        at: quotes,
    };
    if quotes == 3 {
        // A line end right after the opening quotes is no part of the value.
        let trimmed = inner.strip_prefix("\r\n").or(inner.strip_prefix('\n'));
        cursor.skip_to(trimmed.unwrap_or(inner));
    }
    let mut pieces = Vec::with_capacity(inner.len());
    while !cursor.rest.is_empty() {
        let start = cursor.at;
        let char = if is_basic && cursor.rest.starts_with('\\') {
            cursor.escape()?
        } else {
            cursor.next()
        };
        pieces.push(Piece {
            raw: ByteSpan::new(start..cursor.at),
            char,
        });
    }
    Some(pieces)
}

/// What is left of a string, and where that stands.
#[derive(Debug, Clone, Copy)]
struct Cursor<'r> {
    rest: &'r str,
    at: usize,
}

impl<'r> Cursor<'r> {
    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let char = chars.next();
        self.skip_to(chars.as_str());
        char
    }

    /// Goes on at `rest`, a tail of what is left.
    fn skip_to(&mut self, rest: &'r str) {
        self.at += self.rest.len() - rest.len();
        self.rest = rest;
    }

    /// Reads an escape: outer `None` if it is none of TOML's, inner `None` if it stands for
    /// nothing (a line end and the blanks after it).
    #[expect(
        clippy::option_option,
        reason = "the two say different things, as documented"
    )]
    fn escape(&mut self) -> Option<Option<char>> {
        self.next();
        let char = match self.next()? {
            'b' => '\u{8}',
            't' => '\t',
            'n' => '\n',
            'f' => '\u{c}',
            'r' => '\r',
            'e' => '\u{1b}',
            '"' => '"',
            '\\' => '\\',
            'x' => self.hex(2)?,
            'u' => self.hex(4)?,
            'U' => self.hex(8)?,
            ' ' | '\t' | '\n' | '\r' => {
                self.skip_to(self.rest.trim_start_matches([' ', '\t', '\n', '\r']));
                return Some(None);
            }
            _ => return None,
        };
        Some(Some(char))
    }

    fn hex(&mut self, n_digits: usize) -> Option<char> {
        let (digits, rest) = self.rest.split_at_checked(n_digits)?;
        self.skip_to(rest);
        char::from_u32(u32::from_str_radix(digits, 16).ok()?)
    }
}
