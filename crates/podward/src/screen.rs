//! Standard output for data, standard error for talk.

pub(crate) use podward_view::Look;
use podward_view::{Lines, Row, visible};

use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write as _};
use std::os::fd::AsFd;

use anstyle::{AnsiColor, Color, Style};
use rustix::fs::FileType;

use crate::arguments::ColorWhen;

/// What a look is like where there is colour. It never says more than the words do.
fn style(look: Look) -> Style {
    let colored = |color| Style::new().fg_color(Some(Color::Ansi(color)));
    match look {
        // A mark points at what asks, and a sign stands in front of what changes.
        Look::Plain | Look::Asks | Look::Added | Look::Removed => Style::new(),
        Look::Strong => Style::new().bold(),
        Look::Faint => Style::new().dimmed(),
        Look::Good => colored(AnsiColor::Green),
        Look::Warning => colored(AnsiColor::Yellow),
        Look::Bad => colored(AnsiColor::Red),
    }
}

/// What is known of a stream: the choices that hang on it are made once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stream {
    /// A person looks at it.
    pub(crate) is_terminal: bool,
    /// Colour is wanted on it.
    pub(crate) is_colored: bool,
}

impl Stream {
    fn new(is_terminal: bool, when: ColorWhen) -> Self {
        let is_colored = match when {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            ColorWhen::Auto => is_terminal && environment_allows_color(),
        };
        Self {
            is_terminal,
            is_colored,
        }
    }

    /// A row as it is written to this stream.
    pub(crate) fn row(self, row: &Row) -> String {
        let pieces = row.pieces.iter();
        pieces
            .map(|piece| self.paint(piece.look, &piece.text))
            .collect()
    }

    /// A text as it is written to this stream.
    pub(crate) fn paint(self, look: Look, text: impl Display) -> String {
        let style = style(look);
        if self.is_colored && style != Style::new() {
            format!("{style}{text}{style:#}")
        } else {
            text.to_string()
        }
    }
}

/// Whether somebody reads what is written to a file while it is written: it is none that keeps it.
fn is_passed_on(file: impl AsFd) -> bool {
    rustix::fs::fstat(file).is_ok_and(|stat| {
        let kind = FileType::from_raw_mode(stat.st_mode);
        matches!(kind, FileType::Fifo | FileType::Socket)
    })
}

/// <https://no-color.org>: set and not empty means no colour.
fn environment_allows_color() -> bool {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    set("NO_COLOR").is_none() && set("TERM").is_none_or(|term| term != "dumb")
}

/// Both output streams of the process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Screen {
    /// Standard output.
    pub(crate) data: Stream,
    /// Standard error.
    pub(crate) talk: Stream,
    /// Whether data may come to a person's screen all the same: it goes to another program.
    pub(crate) is_data_passed_on: bool,
}

impl Screen {
    /// The process's streams.
    pub(crate) fn new(when: ColorWhen) -> Self {
        Self {
            data: Stream::new(io::stdout().is_terminal(), when),
            talk: Stream::new(io::stderr().is_terminal(), when),
            is_data_passed_on: is_passed_on(io::stdout()),
        }
    }

    /// Writes data, now.
    ///
    /// # Errors
    /// Standard output is closed, full or broken.
    pub(crate) fn write_data(self, text: &str) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(text.as_bytes())?;
        stdout.flush()
    }

    /// Says something to the person, if standard error is there.
    pub(crate) fn write_talk(self, text: &str) {
        // Nobody is left to tell when standard error is closed.
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }

    /// Says a line that begins with `error:`, `warning:` or another word; the text may hold
    /// anything.
    pub(crate) fn say(self, look: Look, word: &str, text: impl Display) {
        let word = self.talk.paint(look, format_args!("{word}:"));
        let text = visible(&text.to_string(), Lines::Keep);
        self.write_talk(&format!("{word} {text}\n"));
    }
}
