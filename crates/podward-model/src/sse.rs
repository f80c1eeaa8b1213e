//! Server-sent events: from bytes, cut anywhere, to events.
//!
//! As the HTML standard says (section 9.2, "Server-sent events"), except that `id` and `retry` mean
//! nothing here, and that a line and an event have a largest size.

/// The largest line, and the largest event.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SseEvent {
    /// Its name; empty if it has none.
    pub(crate) name: String,
    /// Its data, lines joined by line feeds.
    pub(crate) data: String,
}

/// A line or an event is larger than any provider sends.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLarge;

/// Reads a stream.
#[derive(Debug, Default)]
pub(crate) struct SseParser {
    /// The line so far.
    line: Vec<u8>,
    name: Vec<u8>,
    /// The data so far, a line feed behind each line.
    data: Vec<u8>,
    /// The byte before was a carriage return, which a line feed may follow.
    after_return: bool,
    /// The first line is behind us, and a byte order mark with it.
    has_begun: bool,
}

impl SseParser {
    /// Reads the next bytes; gives the events that they complete.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<Vec<SseEvent>, TooLarge> {
        let mut events = Vec::new();
        let mut rest = bytes;
        if self.after_return && !rest.is_empty() {
            self.after_return = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (line, after) = rest.split_at(end);
            self.extend_line(line)?;
            rest = match after {
                [b'\r', b'\n', after @ ..] | [_, after @ ..] => after,
                [] => after,
            };
            self.after_return = after == b"\r";
            events.extend(self.end_line()?);
        }
        self.extend_line(rest)?;
        Ok(events)
    }

    fn extend_line(&mut self, bytes: &[u8]) -> Result<(), TooLarge> {
        if self.line.len().saturating_add(bytes.len()) > MAX_BYTES {
            return Err(TooLarge);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self) -> Result<Option<SseEvent>, TooLarge> {
        let whole = std::mem::take(&mut self.line);
        let mut line = whole.as_slice();
        if !self.has_begun {
            self.has_begun = true;
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.is_empty() {
            return Ok(self.end_event());
        }
        let mut parts = line.splitn(2, |&byte| byte == b':');
        let field = parts.next().unwrap_or_default();
        let value = parts.next().unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                if self.data.len().saturating_add(value.len()) > MAX_BYTES {
                    return Err(TooLarge);
                }
                self.data.extend_from_slice(value);
                self.data.push(b'\n');
            }
            b"event" => self.name = value.to_vec(),
            _ => {} // a comment, or a field that means nothing here
        }
        Ok(None)
    }

    fn end_event(&mut self) -> Option<SseEvent> {
        let name = std::mem::take(&mut self.name);
        let mut data = std::mem::take(&mut self.data);
        data.pop()?; // the last line feed; without data there is no event
        Some(SseEvent {
            name: text(name),
            data: text(data),
        })
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests;
