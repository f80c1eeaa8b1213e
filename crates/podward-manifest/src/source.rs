//! One text: bytes to lines and columns, and the line to show.

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::Arc;

use podward_policy::{ByteSpan, Location};

use crate::diagnostic::{Diagnostic, Diagnostics, Place, Severity};

/// A larger text is refused unread.
pub(crate) const MOST_BYTES: usize = 16 * 1024 * 1024;

/// Characters are counted once per block of so many bytes: a hostile line of megabytes with many
/// places in it costs no more than many lines.
const BLOCK: usize = 1024;

/// Bytes of a long line that a diagnostic keeps, and how many of them before the marked part.
const LINE_BYTES: usize = 240;
const LINE_BYTES_BEFORE: usize = 80;

/// The text of bytes that a file holds.
///
/// # Errors
/// The bytes are not UTF-8: a diagnostic that names the first place.
pub fn decode(file: &Arc<str>, bytes: &[u8]) -> Result<String, Diagnostics> {
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => return Ok(text.to_owned()),
        Err(error) => error,
    };
    let (valid, invalid) = bytes
        .split_at_checked(error.valid_up_to())
        .unwrap_or_default();
    // What follows is shown as well as it can be, so that the line is recognised.
    let end = invalid.len().min(LINE_BYTES);
    let mut shown = String::from_utf8_lossy(valid).into_owned();
    let at = shown.len();
    shown.push_str(&String::from_utf8_lossy(
        invalid.get(..end).unwrap_or_default(),
    ));
    let source = Source::new(Arc::clone(file), &shown);
    let place = source.place(ByteSpan::new(at..at + '\u{fffd}'.len_utf8()));
    let byte = invalid.first().copied().unwrap_or_default();
    let message = format!("the byte 0x{byte:02X} is not valid UTF-8");
    let diagnostic = Diagnostic::new(Severity::Error, message, Some(place))
        .with_help("a manifest is UTF-8 text: save it in that encoding");
    Err(Diagnostics::new(vec![diagnostic]))
}

/// A text with its name.
#[derive(Debug)]
pub(crate) struct Source<'t> {
    file: Arc<str>,
    text: &'t str,
    /// Byte offset of each line's first character.
    line_starts: Vec<usize>,
    /// Characters before each block.
    chars_before_block: Vec<usize>,
    /// Where the text that spans refer to has a byte more than this one, ascending.
    insertions: Vec<usize>,
}

impl<'t> Source<'t> {
    pub(crate) fn new(file: Arc<str>, text: &'t str) -> Self {
        let newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        // A byte order mark is no part of the first line.
        let first = if text.starts_with('\u{feff}') { 3 } else { 0 };
        let line_starts = std::iter::once(first)
            .chain(newlines.map(|(at, _)| at + 1))
            .collect();
        let mut chars = 0;
        let chars_before_block = text
            .as_bytes()
            .chunks(BLOCK)
            .map(|block| {
                let before = chars;
                chars += count_chars(block);
                before
            })
            .collect();
        Self {
            file,
            text,
            line_starts,
            chars_before_block,
            insertions: Vec::new(),
        }
    }

    /// The same for spans of a text into which bytes were inserted at these places, ascending.
    pub(crate) fn with_insertions(mut self, insertions: &[usize]) -> Self {
        self.insertions = insertions.to_vec();
        self
    }

    /// Where a byte of the text that spans refer to stands in this one.
    fn original(&self, at: usize) -> usize {
        let inserted = self.insertions.partition_point(|insertion| *insertion < at);
        (at - inserted).min(self.text.len())
    }

    /// The text of a span; empty if it is none.
    pub(crate) fn slice(&self, span: ByteSpan) -> &'t str {
        let range = self.original(span.start)..self.original(span.end);
        self.text.get(range).unwrap_or_default()
    }

    /// File, line and column of a byte.
    pub(crate) fn location(&self, at: usize) -> Location {
        let at = self.original(at);
        let line_idx = self.line_idx(at);
        let start = self.line_start(line_idx);
        let column = self
            .chars_before(at)
            .saturating_sub(self.chars_before(start))
            + 1;
        Location {
            file: Arc::clone(&self.file),
            line: u32::try_from(line_idx + 1).unwrap_or(u32::MAX),
            column: u32::try_from(column).unwrap_or(u32::MAX),
        }
    }

    /// The place of a span, with its line.
    pub(crate) fn place(&self, span: ByteSpan) -> Place {
        let marked = self.original(span.start)..self.original(span.end);
        let line = self.line(self.line_idx(marked.start));
        let start = self.boundary(marked.start.clamp(line.start, line.end));
        let end = self.boundary(marked.end.clamp(start, line.end));
        let (source_line, underline) = self.excerpt(line, start..end);
        Place {
            location: self.location(span.start),
            source_line,
            underline,
        }
    }

    /// The places of a span, one for each line that it lies in.
    pub(crate) fn places(&self, span: ByteSpan) -> Vec<Place> {
        let mut places = vec![self.place(span)];
        let mut line_idx = self.line_idx(self.original(span.start)) + 1;
        while let Some(start) = self.line_starts.get(line_idx)
            && *start < span.end.min(self.text.len())
        {
            places.push(self.place(ByteSpan::new(*start..span.end)));
            line_idx += 1;
        }
        places
    }

    /// A line, or as much of it as a person needs around the marked part.
    fn excerpt(&self, line: Range<usize>, marked: Range<usize>) -> (String, Range<usize>) {
        let (start, end) = if line.len() <= LINE_BYTES {
            (line.start, line.end)
        } else {
            let start = marked
                .start
                .saturating_sub(LINE_BYTES_BEFORE)
                .max(line.start);
            (
                self.boundary(start),
                self.boundary((start + LINE_BYTES).min(line.end)),
            )
        };
        let mut shown = String::new();
        if start > line.start {
            shown.push('…');
        }
        let offset = shown.len();
        shown.push_str(self.text.get(start..end).unwrap_or_default());
        let underline = (marked.start.max(start) - start + offset)
            ..(marked.end.clamp(start, end) - start + offset);
        if end < line.end {
            shown.push('…');
        }
        (shown, underline)
    }

    fn line_idx(&self, at: usize) -> usize {
        self.line_starts
            .partition_point(|start| *start <= at)
            .saturating_sub(1)
    }

    fn line_start(&self, line_idx: usize) -> usize {
        self.line_starts.get(line_idx).copied().unwrap_or(0)
    }

    /// A line without its end.
    fn line(&self, line_idx: usize) -> Range<usize> {
        let start = self.line_start(line_idx);
        let end = self
            .line_starts
            .get(line_idx + 1)
            .map_or(self.text.len(), |next| next - 1);
        let line = self.text.get(start..end).unwrap_or_default();
        let line = line.strip_suffix('\r').unwrap_or(line);
        start..start + line.len()
    }

    /// The last character boundary at or before a byte.
    fn boundary(&self, at: usize) -> usize {
        (0..=at.min(self.text.len()))
            .rev()
            .find(|at| self.text.is_char_boundary(*at))
            .unwrap_or(0)
    }

    /// Characters before a byte.
    fn chars_before(&self, at: usize) -> usize {
        let block_idx = at / BLOCK;
        let rest = self.text.as_bytes().get(block_idx * BLOCK..at);
        let Some(before) = self.chars_before_block.get(block_idx) else {
            // Just past the last byte of a text of whole blocks.
            let last = self.chars_before_block.len().saturating_sub(1);
            let rest = self.text.as_bytes().get(last * BLOCK..).unwrap_or_default();
            return self.chars_before_block.get(last).copied().unwrap_or(0) + count_chars(rest);
        };
        before + count_chars(rest.unwrap_or_default())
    }
}

/// The characters that begin in these bytes.
fn count_chars(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| (**byte as i8) >= -0x40).count()
}
