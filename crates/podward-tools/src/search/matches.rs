//! Matching lines, collected within the limits of a result.

use std::fs::File;
use std::io::{self, Read as _};

use grep_matcher::LineTerminator;
use grep_regex::RegexMatcher;
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkFinish,
    SinkMatch,
};

use crate::search::grep::Output;
use crate::search::walk::Ended;
use crate::text::cut_line;
use crate::tool::ToolLimits;

/// A search over many files, with one result.
pub(super) struct Search<'a> {
    matcher: &'a RegexMatcher,
    searcher: Searcher,
    output: Output,
    limits: &'a ToolLimits,
    result: String,
    n_matches: usize,
    n_files: usize,
}

/// What became of one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Searched {
    /// It was searched.
    Text(Room),
    /// It holds a NUL; its matches do not count.
    Binary,
    /// It is larger than files that are searched.
    TooLarge,
}

/// Whether more matches fit into the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    Left,
    Full,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        matcher: &'a RegexMatcher,
        n_context: usize,
        output: Output,
        limits: &'a ToolLimits,
    ) -> Self {
        let n_context = match output {
            Output::Lines => n_context,
            Output::Files => 0,
        };
        let searcher = SearcherBuilder::new()
            .line_number(true)
            .line_terminator(LineTerminator::crlf())
            .before_context(n_context)
            .after_context(n_context)
            .binary_detection(BinaryDetection::quit(0))
            .build();
        Self {
            matcher,
            searcher,
            output,
            limits,
            result: String::new(),
            n_matches: 0,
            n_files: 0,
        }
    }

    /// Searches one file.
    pub(super) fn file(&mut self, shown: &str, file: File) -> io::Result<Searched> {
        if file.metadata()?.len() > self.limits.file_bytes {
            return Ok(Searched::TooLarge);
        }
        let mut lines = FileLines {
            shown,
            output: self.output,
            line_bytes: self.limits.line_bytes,
            n_matches_max: match self.output {
                Output::Lines => self.limits.matches - self.n_matches.min(self.limits.matches),
                Output::Files => 1,
            },
            bytes_max: self.limits.output_bytes.saturating_sub(self.result.len()),
            text: String::new(),
            n_matches: 0,
            is_binary: false,
            is_full: false,
            gap: Gap::None,
        };
        // A file that grows while it is read ends where it was too large.
        let reader = file.take(self.limits.file_bytes);
        self.searcher
            .search_reader(self.matcher, reader, &mut lines)?;
        if lines.is_binary {
            return Ok(Searched::Binary);
        }
        if lines.n_matches == 0 && !lines.is_full {
            return Ok(Searched::Text(Room::Left));
        }
        let is_over = lines.is_full && self.output == Output::Lines;
        if self.output == Output::Files && self.n_files == self.limits.entries {
            return Ok(Searched::Text(Room::Full));
        }
        self.n_matches += lines.n_matches;
        self.n_files += 1;
        let is_apart = self.searcher.before_context() > 0 && !lines.text.is_empty();
        if is_apart && !self.result.is_empty() {
            self.result.push_str("--\n");
        }
        self.result.push_str(&lines.text);
        let is_over = is_over || self.result.len() > self.limits.output_bytes;
        Ok(Searched::Text(if is_over {
            Room::Full
        } else {
            Room::Left
        }))
    }

    /// The result, with a mark if more would match.
    pub(super) fn finish(self, ended: Ended) -> String {
        let mut result = self.result;
        let n = match self.output {
            Output::Lines => self.n_matches,
            Output::Files => self.n_files,
        };
        if ended == Ended::Stopped {
            let what = match self.output {
                Output::Lines => "matching lines",
                Output::Files => "files",
            };
            result.push_str(&format!(
                "[cut after {n} {what}: narrow the pattern, the path or the glob]\n"
            ));
        } else if n == 0 {
            result.push_str("[no match]\n");
        }
        result
    }
}

/// The matching lines of one file.
struct FileLines<'a> {
    shown: &'a str,
    output: Output,
    line_bytes: usize,
    n_matches_max: usize,
    bytes_max: usize,
    text: String,
    n_matches: usize,
    is_binary: bool,
    /// More would match than fits.
    is_full: bool,
    gap: Gap,
}

/// Whether lines were passed over since the last one shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gap {
    None,
    Passed,
}

impl FileLines<'_> {
    fn push(&mut self, mark: char, number: Option<u64>, line: &[u8]) {
        let line = String::from_utf8_lossy(line);
        let line = line.trim_end_matches(['\n', '\r']);
        let number = number.unwrap_or(0);
        if self.gap == Gap::Passed && !self.text.is_empty() {
            self.text.push_str("--\n");
        }
        self.gap = Gap::None;
        self.text.push_str(self.shown);
        self.text.push(mark);
        self.text.push_str(&number.to_string());
        self.text.push(mark);
        self.text.push_str(&cut_line(line, self.line_bytes));
        self.text.push('\n');
    }
}

impl Sink for &mut FileLines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        if self.n_matches == self.n_matches_max || self.text.len() > self.bytes_max {
            self.is_full = true;
            return Ok(false);
        }
        self.n_matches += 1;
        match self.output {
            Output::Lines => {
                self.push(':', found.line_number(), found.bytes());
                Ok(true)
            }
            Output::Files => {
                self.text.push_str(self.shown);
                self.text.push('\n');
                Ok(false)
            }
        }
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let is_before_what_no_longer_fits =
            *context.kind() == SinkContextKind::Before && self.n_matches == self.n_matches_max;
        if !is_before_what_no_longer_fits {
            self.push('-', context.line_number(), context.bytes());
        }
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        self.gap = Gap::Passed;
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> io::Result<bool> {
        self.is_binary = true;
        Ok(false)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        self.is_binary |= finish.binary_byte_offset().is_some();
        Ok(())
    }
}
