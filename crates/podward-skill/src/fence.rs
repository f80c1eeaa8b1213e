//! Where the front matter stands in a `SKILL.md`.

use std::ops::Range;

use podward_policy::ByteSpan;

use crate::problem::Problem;

const FENCE: &str = "---";

/// The parts of a text, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Parts {
    /// What stands between the fences.
    pub(crate) front: Range<usize>,
    /// All behind the closing fence.
    pub(crate) body: Range<usize>,
}

/// Finds the fences: a first line `---`, after a byte order mark if there is one, and the next
/// line `---`.
pub(crate) fn split(text: &str) -> Result<Parts, Problem> {
    let start = if text.starts_with('\u{feff}') {
        '\u{feff}'.len_utf8()
    } else {
        0
    };
    let mut lines = Lines { text, at: start };
    let first = lines.next().unwrap_or(start..start);
    if !is_fence(text, &first) {
        return Err(no_opening(text, start, first));
    }
    let front_start = lines.at;
    for line in lines.by_ref() {
        if is_fence(text, &line) {
            return Ok(Parts {
                front: front_start..line.start,
                body: next_line(text, line.end)..text.len(),
            });
        }
    }
    Err(Problem::error(
        ByteSpan::new(first),
        "the front matter that begins here does not end",
        "write a line `---` below its last key, above the instructions",
    ))
}

fn no_opening(text: &str, start: usize, first: Range<usize>) -> Problem {
    let shown = text.get(first.clone()).unwrap_or_default();
    let rest = text.get(start..).unwrap_or_default();
    let message = "a skill begins with front matter, between two lines `---`";
    let help = if rest.trim().is_empty() {
        "the file is empty: write `---`, `name: …`, `description: …`, `---`, and the instructions"
    } else if shown.starts_with(FENCE) {
        "the first line is `---` and nothing else"
    } else if rest.trim_start().starts_with(FENCE) {
        "put the `---` on the first line, without blanks in front of it"
    } else {
        "write `---`, `name: …`, `description: …`, `---` above the instructions"
    };
    Problem::error(ByteSpan::new(first), message, help)
}

fn is_fence(text: &str, line: &Range<usize>) -> bool {
    text.get(line.clone())
        .is_some_and(|line| line.trim_end_matches([' ', '\t']) == FENCE)
}

/// The start of the line behind the one that ends here.
fn next_line(text: &str, end: usize) -> usize {
    let rest = text.get(end..).unwrap_or_default();
    let n_bytes = if rest.starts_with("\r\n") {
        2
    } else {
        usize::from(!rest.is_empty())
    };
    end + n_bytes
}

/// Lines without their ends: `\n`, `\r\n`, or a lone `\r`, which ends a line in YAML too.
struct Lines<'t> {
    text: &'t str,
    at: usize,
}

impl Iterator for Lines<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let start = self.at;
        let end = start + rest.find(['\n', '\r']).unwrap_or(rest.len());
        self.at = next_line(self.text, end);
        Some(start..end)
    }
}
