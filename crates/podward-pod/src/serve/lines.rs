//! Lines from a socket, each bounded.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};

/// What was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Read {
    /// A line without its newline.
    Line(Vec<u8>),
    /// The line is longer than it may be; what came of it is dropped.
    TooLong,
    /// Nothing more comes. A last line without a newline was cut off, and is none.
    End,
}

/// Reads the next line of at most `max` bytes.
///
/// Dropped in the middle, it loses what it has read of a line: a reader is one future for as long as
/// its connection.
pub(crate) async fn next_line(
    reader: &mut (impl AsyncBufRead + Unpin),
    max: usize,
) -> io::Result<Read> {
    let mut line = Vec::new();
    loop {
        let buffer = reader.fill_buf().await?;
        if buffer.is_empty() {
            return Ok(Read::End);
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let n_taken = end.unwrap_or(buffer.len());
        if line.len() + n_taken > max {
            return Ok(Read::TooLong);
        }
        line.extend(buffer.iter().take(n_taken));
        reader.consume(n_taken + usize::from(end.is_some()));
        if end.is_some() {
            return Ok(Read::Line(line));
        }
    }
}

#[cfg(test)]
mod tests;
