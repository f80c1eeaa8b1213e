//! One value, one line.

use std::io;

use serde::Serialize;
use serde::de::Error as _;
use serde_json::Error;
use serde_json::ser::{Formatter, Serializer};

use crate::event::Envelope;
use crate::method::MethodId;

mod line;
mod object;
mod request;

pub use line::{Line, RawReply, RawResponse, decode_line, encode_response};
pub(crate) use object::{object, present};
pub use request::{RefusedRequest, decode_request, encode_request};

/// The longest line that a pod sends, in bytes, its newline not counted.
pub const MAX_LINE_BYTES: usize = 8 * 1024 * 1024;

/// The longest line that a pod reads, in bytes, its newline not counted. It holds a prompt, or the new
/// arguments of a call; and a pod may have to keep one such line for each of its clients.
pub const MAX_REQUEST_BYTES: usize = 1024 * 1024;

/// A value that cannot be sent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// Its line would be longer than the other side reads.
    #[error("a line of {n_bytes} bytes is longer than {max_bytes}")]
    LineTooLong {
        /// Bytes it would have.
        n_bytes: usize,
        /// Bytes that are read: [`MAX_LINE_BYTES`] or [`MAX_REQUEST_BYTES`].
        max_bytes: usize,
    },
    /// It has no JSON form.
    #[error("a value that has no JSON form")]
    NotJson(#[source] Error),
}

/// A line of a pod that this version does not know.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// It is longer than [`MAX_LINE_BYTES`].
    #[error("a line of {n_bytes} bytes is longer than {MAX_LINE_BYTES}")]
    LineTooLong {
        /// Bytes it has.
        n_bytes: usize,
    },
    /// It is no JSON, or not the JSON of an event or a response.
    #[error("a line that is no event and no response")]
    Malformed(#[source] Error),
    /// An event of a later version.
    #[error("unknown event `{name}`")]
    UnknownEvent {
        /// Its name.
        name: String,
        /// Its place, so that a reader that skips it sees no gap.
        seq: u64,
    },
    /// An error of a method of a later version.
    #[error("unknown error `{code}`: {message}")]
    UnknownErrorCode {
        /// The request's number.
        id: Option<MethodId>,
        /// What kind of error it is.
        code: String,
        /// What is wrong.
        message: String,
    },
}

/// Writes an event as one line, without the newline.
///
/// ```
/// use podward_protocol::{Envelope, Event, SessionId, Status, Time, decode, encode};
///
/// let envelope = Envelope {
///     time: Time::from_unix_milliseconds(1_767_323_045_678)?,
///     session: SessionId::from_bits(1),
///     seq: 0,
///     snapshot: false,
///     event: Event::Status(Status::Idle),
/// };
/// let line = encode(&envelope)?;
/// assert!(!line.contains('\n'));
/// assert_eq!(decode(&line)?, envelope);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The line would be too long.
pub fn encode(envelope: &Envelope) -> Result<String, EncodeError> {
    within(envelope, MAX_LINE_BYTES)
}

/// The line of a value, if it is not too long.
fn within(value: &impl Serialize, max_bytes: usize) -> Result<String, EncodeError> {
    let line = json_line(value).map_err(EncodeError::NotJson)?;
    let n_bytes = line.len();
    if n_bytes > max_bytes {
        return Err(EncodeError::LineTooLong { n_bytes, max_bytes });
    }
    Ok(line)
}

/// The JSON of a value in one line, whoever reads it: what a terminal obeys or does not show, and
/// what some readers take for the end of a line, is escaped.
///
/// # Errors
/// It has no JSON form.
pub fn json_line(value: &impl Serialize) -> Result<String, Error> {
    let mut bytes = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut bytes, Visible))?;
    // The formatter writes whole characters only.
    String::from_utf8(bytes).map_err(Error::custom)
}

/// Compact JSON with the characters of [`is_invisible`] as `\uXXXX`.
struct Visible;

impl Formatter for Visible {
    fn write_string_fragment<W>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()>
    where
        W: ?Sized + io::Write,
    {
        // Most of it needs no look at its characters.
        if fragment.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            return writer.write_all(fragment.as_bytes());
        }
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

/// Whether a text for people or terminals should escape a character: a terminal obeys it, it looks
/// like nothing, or it turns text around.
///
/// Unicode 16: general categories Cc, Cf, Zl, Zp, Co and Cn's noncharacters, the default-ignorable
/// code points, and blanks that are not the blank. Newline and tab are among them: who shows more
/// than one line lets them through.
///
/// ```
/// use podward_protocol::is_invisible;
///
/// assert!(is_invisible('\u{1b}') && is_invisible('\u{202e}') && is_invisible('\u{a0}'));
/// assert!(!is_invisible('a') && !is_invisible(' ') && !is_invisible('é'));
/// ```
#[must_use]
pub const fn is_invisible(char: char) -> bool {
    matches!(
        char,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{a0}' | '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}'
            | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}' | '\u{8e2}'
            | '\u{115f}'..='\u{1160}' | '\u{1680}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}'
            | '\u{205f}'..='\u{206f}' | '\u{2800}' | '\u{3000}' | '\u{3164}'
            | '\u{e000}'..='\u{f8ff}' | '\u{fdd0}'..='\u{fdef}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{fffe}'..='\u{ffff}'
            | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}' | '\u{f0000}'..='\u{10ffff}'
    )
}

/// Reads one event, with or without its newline. Unknown fields are passed over.
///
/// # Errors
/// The line is too long, no JSON, not the JSON of an event, or an event this version does not
/// know.
pub fn decode(line: &str) -> Result<Envelope, DecodeError> {
    match decode_line(line)? {
        Line::Event(envelope) => Ok(envelope),
        Line::Response(_) => Err(DecodeError::Malformed(Error::custom("no `event`"))),
    }
}

#[cfg(test)]
pub(crate) mod strategies;
#[cfg(test)]
mod tests;
