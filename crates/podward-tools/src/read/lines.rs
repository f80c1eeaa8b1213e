//! The lines of a file, read one by one: a line of any length takes bounded memory.

use std::io::{self, BufRead, BufReader, Read};

/// How much of a file is looked at to tell text from binary.
const FIRST_BLOCK: usize = 64 * 1024;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// One line without its end.
pub(crate) struct Line {
    /// Its text, as far as a result shows it.
    pub(crate) text: String,
    /// Bytes of the line that are not shown.
    pub(crate) n_cut: u64,
}

/// A reader of lines.
pub(crate) struct Lines<R> {
    reader: BufReader<R>,
    line_bytes: usize,
    binary: Binary,
    seen: Seen,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Binary {
    Yes,
    No,
}

/// What the lines that were returned hold, beside text.
#[derive(Default)]
struct Seen {
    bom: bool,
    carriage_return: bool,
    invalid: bool,
    nul: bool,
    no_final_newline: bool,
}

impl<R: Read> Lines<R> {
    /// Reads the first block.
    pub(crate) fn of(reader: R, line_bytes: usize) -> io::Result<Self> {
        let mut reader = BufReader::with_capacity(FIRST_BLOCK, reader);
        let block = reader.fill_buf()?;
        let binary = if block.contains(&0) {
            Binary::Yes
        } else {
            Binary::No
        };
        let mut seen = Seen::default();
        if block.starts_with(BOM) {
            reader.consume(BOM.len());
            seen.bom = true;
        }
        Ok(Self {
            reader,
            line_bytes,
            binary,
            seen,
        })
    }

    /// Whether the first block holds a NUL.
    pub(crate) fn is_binary(&self) -> bool {
        self.binary == Binary::Yes
    }

    /// The next line; `None` at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<Line>> {
        let Some(raw) = self.take_line(self.line_bytes)? else {
            return Ok(None);
        };
        let mut kept = raw.kept;
        if raw.n_cut == 0 && kept.last() == Some(&b'\r') && raw.is_ended {
            kept.pop();
            self.seen.carriage_return = true;
        }
        self.seen.no_final_newline = !raw.is_ended;
        let mut n_cut = raw.n_cut;
        if n_cut > 0 {
            n_cut += drop_partial_char(&mut kept);
        }
        self.seen.nul |= kept.contains(&0);
        self.seen.invalid |= str::from_utf8(&kept).is_err();
        let text = String::from_utf8_lossy(&kept).replace('\0', "\u{fffd}");
        Ok(Some(Line { text, n_cut }))
    }

    /// Passes over the next line; `None` at the end.
    pub(crate) fn skip(&mut self) -> io::Result<Option<Line>> {
        Ok(self.take_line(0)?.map(|raw| Line {
            text: String::new(),
            n_cut: raw.n_cut,
        }))
    }

    /// What a reader of the lines should know of the bytes, in a fixed order.
    pub(crate) fn remarks(&self) -> impl Iterator<Item = &'static str> {
        let seen = &self.seen;
        [
            (seen.bom, "the file begins with a UTF-8 byte order mark"),
            (seen.carriage_return, "lines end with CRLF"),
            (
                seen.invalid,
                "some bytes are not UTF-8 and are shown as \u{fffd}",
            ),
            (seen.nul, "NUL bytes are shown as \u{fffd}"),
            (
                seen.no_final_newline,
                "the last line does not end with a newline",
            ),
        ]
        .into_iter()
        .filter(|(is_seen, _)| *is_seen)
        .map(|(_, remark)| remark)
    }

    fn take_line(&mut self, n_kept_max: usize) -> io::Result<Option<RawLine>> {
        let mut line = RawLine::default();
        let mut is_any = false;
        loop {
            let block = match self.reader.fill_buf() {
                Ok(block) => block,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if block.is_empty() {
                return Ok(is_any.then_some(line));
            }
            is_any = true;
            let end = memchr::memchr(b'\n', block);
            let part = block.split_at(end.unwrap_or(block.len())).0;
            let n_room = n_kept_max.saturating_sub(line.kept.len()).min(part.len());
            let (kept, cut) = part.split_at(n_room);
            line.kept.extend_from_slice(kept);
            line.n_cut += u64::try_from(cut.len()).unwrap_or(u64::MAX);
            let n_used = part.len() + usize::from(end.is_some());
            self.reader.consume(n_used);
            if end.is_some() {
                line.is_ended = true;
                return Ok(Some(line));
            }
        }
    }
}

#[derive(Default)]
struct RawLine {
    kept: Vec<u8>,
    n_cut: u64,
    is_ended: bool,
}

/// Drops the first bytes of a character that was cut in two, and says how many.
fn drop_partial_char(bytes: &mut Vec<u8>) -> u64 {
    let Err(error) = str::from_utf8(bytes) else {
        return 0;
    };
    // `None`: the input ended inside a character.
    if error.error_len().is_some() {
        return 0;
    }
    let n_dropped = bytes.len() - error.valid_up_to();
    bytes.truncate(error.valid_up_to());
    u64::try_from(n_dropped).unwrap_or(0)
}

#[cfg(test)]
mod tests;
