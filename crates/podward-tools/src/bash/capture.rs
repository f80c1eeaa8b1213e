//! What a command says, in the order in which it says it, within a limit.

use std::collections::VecDeque;

/// The beginning and the end of an output, each up to half of the limit.
#[derive(Debug)]
pub(crate) struct Capture {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    half: usize,
    n_cut: u64,
}

impl Capture {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self {
            head: Vec::new(),
            tail: VecDeque::new(),
            half: bytes_max / 2,
            n_cut: 0,
        }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let room = self.half.saturating_sub(self.head.len()).min(bytes.len());
        let (head, rest) = bytes.split_at(room);
        self.head.extend_from_slice(head);
        self.tail.extend(rest);
        let excess = self.tail.len().saturating_sub(self.half);
        self.tail.drain(..excess);
        self.n_cut = self
            .n_cut
            .saturating_add(u64::try_from(excess).unwrap_or(u64::MAX));
    }

    /// The text; what is not UTF-8 is shown as `U+FFFD`, and where something was cut, a line says
    /// how much.
    pub(crate) fn into_text(mut self) -> String {
        if self.n_cut == 0 {
            self.head.extend(self.tail);
            return String::from_utf8_lossy(&self.head).into_owned();
        }
        // A character that the cut went through is cut as a whole.
        let head_end = whole_characters(&self.head);
        let tail_start = self
            .tail
            .iter()
            .take(3)
            .take_while(|byte| is_continuation(**byte))
            .count();
        let n_more = self.head.len() - head_end + tail_start;
        let n_cut = self.n_cut + u64::try_from(n_more).unwrap_or(0);
        self.head.truncate(head_end);
        self.tail.drain(..tail_start);
        let head = String::from_utf8_lossy(&self.head);
        let newline = if head.is_empty() || head.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        let tail = String::from_utf8_lossy(self.tail.make_contiguous());
        format!("{head}{newline}[... {n_cut} bytes cut ...]\n{tail}")
    }
}

/// The length without a character that is not complete at the end.
fn whole_characters(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Ok(_) => bytes.len(),
        // Something else is wrong before the end: the last character starts within four bytes.
        Err(_) => {
            let last = bytes
                .iter()
                .rev()
                .take(4)
                .position(|byte| !is_continuation(*byte));
            match last.and_then(|back| bytes.len().checked_sub(back + 1)) {
                Some(start)
                    if bytes.get(start..).is_some_and(|character| {
                        std::str::from_utf8(character)
                            .is_err_and(|error| error.error_len().is_none())
                    }) =>
                {
                    start
                }
                _ => bytes.len(),
            }
        }
    }
}

fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

#[cfg(test)]
mod tests;
