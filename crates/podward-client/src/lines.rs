//! Lines from a socket, each bounded.

use std::io;
use std::sync::Arc;

use podward_protocol::MAX_LINE_BYTES;
use tokio::io::{AsyncBufRead, AsyncBufReadExt};

use crate::error::Ending;

/// Reads the next line, without its newline.
///
/// Dropped in the middle, it loses what it has read of a line.
///
/// # Errors
/// Nothing more comes, or the line is too long or no UTF-8. A last line without a newline was cut off,
/// and is none.
pub(crate) async fn next_line(reader: &mut (impl AsyncBufRead + Unpin)) -> Result<String, Ending> {
    let mut line = Vec::new();
    loop {
        let buffer = reader
            .fill_buf()
            .await
            .map_err(|error| match error.kind() {
                // The pod left without reading all that was sent to it.
                io::ErrorKind::ConnectionReset => Ending::Closed,
                _ => Ending::Failed(Arc::new(error)), // the socket itself fails
            })?;
        if buffer.is_empty() {
            return Err(Ending::Closed);
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let n_taken = end.unwrap_or(buffer.len());
        if line.len() + n_taken > MAX_LINE_BYTES {
            return Err(Ending::LongLine);
        }
        line.extend(buffer.iter().take(n_taken));
        reader.consume(n_taken + usize::from(end.is_some()));
        if end.is_some() {
            return String::from_utf8(line).map_err(|_| Ending::NotUtf8);
        }
    }
}
