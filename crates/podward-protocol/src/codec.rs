//! One value, one line.

use std::io;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::ser::{Formatter, Serializer};

use crate::event::{Envelope, Event};
use crate::id::SessionId;
use crate::time::Time;

/// The longest line, in bytes, its newline not counted.
pub const MAX_LINE_BYTES: usize = 8 * 1024 * 1024;

/// A value that cannot be sent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// Its line would be longer than [`MAX_LINE_BYTES`].
    #[error("a line of {n_bytes} bytes is longer than {MAX_LINE_BYTES}")]
    LineTooLong {
        /// Bytes it would have.
        n_bytes: usize,
    },
    /// It has no JSON form.
    #[error("an event that has no JSON form")]
    NotJson(#[source] serde_json::Error),
}

/// A line that is no event this version knows.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// It is longer than [`MAX_LINE_BYTES`].
    #[error("a line of {n_bytes} bytes is longer than {MAX_LINE_BYTES}")]
    LineTooLong {
        /// Bytes it has.
        n_bytes: usize,
    },
    /// It is no JSON, or not the JSON of an event.
    #[error("a line that is no event")]
    Malformed(#[source] serde_json::Error),
    /// An event of a later version.
    #[error("unknown event `{name}`")]
    UnknownEvent {
        /// Its name.
        name: String,
        /// Its place, so that a reader that skips it sees no gap.
        seq: u64,
    },
}

/// Writes a value as one line, without the newline.
///
/// # Errors
/// The line would be too long.
pub fn encode(envelope: &Envelope) -> Result<String, EncodeError> {
    let line = json_line(envelope).map_err(EncodeError::NotJson)?;
    if line.len() > MAX_LINE_BYTES {
        return Err(EncodeError::LineTooLong {
            n_bytes: line.len(),
        });
    }
    Ok(line)
}

/// The JSON of a value in one line, whoever reads it: what a terminal obeys or does not show, and
/// what some readers take for the end of a line, is escaped.
///
/// # Errors
/// It has no JSON form.
pub fn json_line(value: &impl Serialize) -> serde_json::Result<String> {
    let mut bytes = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut bytes, Visible))?;
    // The formatter writes whole characters only.
    String::from_utf8(bytes).map_err(serde::ser::Error::custom)
}

/// Compact JSON with the characters of [`is_invisible`] as `\uXXXX`.
struct Visible;

impl Formatter for Visible {
    fn write_string_fragment<W>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()>
    where
        W: ?Sized + io::Write,
    {
        let mut rest = fragment;
        while let Some((at, char)) = rest.char_indices().find(|(_, char)| is_invisible(*char)) {
            let (before, after) = rest.split_at(at);
            writer.write_all(before.as_bytes())?;
            for unit in char.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = after.strip_prefix(char).unwrap_or_default();
        }
        writer.write_all(rest.as_bytes())
    }
}

/// Whether a text for people or terminals should escape a character beyond ASCII: it controls a
/// terminal, separates lines, is not seen, or turns the direction of writing.
#[must_use]
pub const fn is_invisible(char: char) -> bool {
    matches!(
        char,
        '\u{7f}'..='\u{9f}'
            | '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// Reads one line, with or without its newline. Unknown fields are passed over.
///
/// # Errors
/// The line is too long, no JSON, not the JSON of an event, or an event this version does not
/// know.
pub fn decode(line: &str) -> Result<Envelope, DecodeError> {
    if line.trim_end_matches('\n').len() > MAX_LINE_BYTES {
        return Err(DecodeError::LineTooLong {
            n_bytes: line.len(),
        });
    }
    let raw: RawEnvelope = serde_json::from_str(line).map_err(DecodeError::Malformed)?;
    if !Event::NAMES.contains(&raw.event.as_str()) {
        return Err(DecodeError::UnknownEvent {
            name: raw.event,
            seq: raw.seq,
        });
    }
    let event = serde_json::json!({ "event": raw.event, "data": raw.data });
    Ok(Envelope {
        time: raw.time,
        session: raw.session,
        seq: raw.seq,
        event: serde_json::from_value(event).map_err(DecodeError::Malformed)?,
    })
}

/// An envelope whose event is not known yet.
#[derive(Deserialize)]
struct RawEnvelope {
    time: Time,
    session: SessionId,
    seq: u64,
    event: String,
    #[serde(default)]
    data: Value,
}

#[cfg(test)]
mod tests;
