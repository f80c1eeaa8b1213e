//! The terminal that a person answers at: whole lines, and none that was typed before it was asked
//! for.

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::fs::OFlags;
use rustix::process::getpgrp;
use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflush, tcgetattr,
    tcgetpgrp, tcsetattr,
};
use tokio::net::unix::pipe;
use tokio::time::Instant;

use crate::question::Size;

/// A terminal hands over at most this many bytes of a line and drops the rest: 4,096 with the line
/// break (`N_TTY_BUF_SIZE` of Linux).
const MAX_LINE: usize = 4095;

/// The size of a terminal that does not say which it has.
const USUAL_SIZE: Size = Size {
    columns: 80,
    rows: 24,
};

/// How often a process in the background looks whether it is in the foreground again.
const BACKGROUND_INTERVAL: Duration = Duration::from_millis(500);

/// How long nothing may be typed before a line counts.
const PAUSE: Duration = Duration::from_millis(500);

/// A terminal that tells of each key, and how it was set before.
static BY_KEY: Mutex<Option<(File, Termios)>> = Mutex::new(None);

/// The process's own terminal, whatever its standard streams are.
const PATH: &str = "/dev/tty";

/// What a person typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Typed {
    /// A line, without its line break.
    Line(String),
    /// A line of which the terminal may have dropped the end.
    TooLong,
    /// The end: Ctrl-D on an empty line, or the terminal is gone.
    End,
}

/// The terminal of this process.
#[derive(Debug)]
pub(crate) struct Terminal {
    file: File,
    /// The same file, to wait at. It is no pipe, but it is read and waited for like one.
    input: pipe::Receiver,
    typed: Vec<u8>,
    /// It is waited until nothing is typed.
    pause: Option<Pause>,
}

/// A wait until nothing is typed.
#[derive(Debug)]
struct Pause {
    until: Instant,
    n_typed: usize,
}

impl Terminal {
    /// The terminal, if a person sits at one who can be asked: standard input and standard error
    /// are a terminal, this process is in its foreground, and no CI runs it.
    ///
    /// Needs a runtime around it.
    pub(crate) fn of_a_person() -> Option<Self> {
        if !io::stdin().is_terminal() || !io::stderr().is_terminal() || is_ci() {
            return None;
        }
        // Opened anew: what is set on it is set for nobody else.
        let file = OpenOptions::new()
            .read(true)
            .custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed())
            .open(PATH)
            .ok()?;
        let input = pipe::Receiver::from_file_unchecked(file.try_clone().ok()?).ok()?;
        let typed = Vec::new();
        let terminal = Self {
            file,
            input,
            typed,
            pause: None,
        };
        terminal.is_in_foreground().then_some(terminal)
    }

    /// Whether what is typed comes to this process. One in the background that reads is stopped.
    fn is_in_foreground(&self) -> bool {
        tcgetpgrp(&self.file).is_ok_and(|group| group == getpgrp())
    }

    /// How much fits on it now.
    pub(crate) fn size(&self) -> Size {
        let Ok(size) = rustix::termios::tcgetwinsize(&self.file) else {
            return USUAL_SIZE;
        };
        let or_usual = |given: u16, usual| if given == 0 { usual } else { given.into() };
        Size {
            columns: or_usual(size.ws_col, USUAL_SIZE.columns),
            rows: or_usual(size.ws_row, USUAL_SIZE.rows),
        }
    }

    /// Waits until nothing was typed for half a second, and forgets all that was; how much was typed
    /// meanwhile. If the wait is given up, the next one goes on with it.
    pub(crate) async fn quiet(&mut self) -> usize {
        let mut until = match &self.pause {
            Some(pause) => pause.until,
            None => self.begin_pause(),
        };
        loop {
            let typed = tokio::time::timeout_at(until, self.input.readable()).await;
            let Ok(Ok(())) = typed else {
                break;
            };
            if is_in_background(&self.file) {
                tokio::time::sleep(BACKGROUND_INTERVAL).await;
                continue;
            }
            match self.input.try_read(&mut [0; MAX_LINE + 1]) {
                Ok(0) => break,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => break,
                Ok(n_bytes) => {
                    until = Instant::now() + PAUSE;
                    if let Some(pause) = &mut self.pause {
                        pause.until = until;
                        pause.n_typed += n_bytes;
                    }
                }
            }
        }
        let n_typed = self.pause.as_ref().map_or(0, |pause| pause.n_typed);
        self.end_pause();
        self.forget();
        n_typed
    }

    fn begin_pause(&mut self) -> Instant {
        self.forget();
        let until = Instant::now() + PAUSE;
        if !is_in_background(&self.file) {
            // A terminal that cannot be set tells of whole lines, and those are forgotten too.
            let _ = by_key(&self.file);
        }
        self.pause = Some(Pause { until, n_typed: 0 });
        until
    }

    fn end_pause(&mut self) {
        if self.pause.take().is_some() {
            give_back();
        }
    }

    /// Forgets what was typed until now.
    fn forget(&mut self) {
        self.typed.clear();
        if !is_in_background(&self.file) {
            // A terminal that is gone has nothing to forget.
            let _ = tcflush(&self.file, QueueSelector::IFlush);
        }
    }

    /// Waits for a line. What was typed of it stays if the wait is given up.
    pub(crate) async fn line(&mut self) -> Typed {
        loop {
            if let Some(line) = next_line(&mut self.typed) {
                return line;
            }
            if self.input.readable().await.is_err() {
                return Typed::End;
            }
            // What is typed meanwhile is for somebody else, and who reads it is stopped.
            while is_in_background(&self.file) {
                tokio::time::sleep(BACKGROUND_INTERVAL).await;
            }
            let mut bytes = [0; MAX_LINE + 1];
            match self.input.try_read(&mut bytes) {
                Ok(0) => return Typed::End,
                Ok(n_bytes) => self.typed.extend(bytes.iter().take(n_bytes)),
                Err(error) => match error.kind() {
                    io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock => {}
                    _ => return Typed::End,
                },
            }
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.end_pause();
    }
}

/// Sets a terminal so that it tells of each key and not of each line, until [`give_back`].
fn by_key(file: &File) -> io::Result<()> {
    let usual = tcgetattr(file)?;
    let mut by_key = usual.clone();
    by_key.local_modes.remove(LocalModes::ICANON);
    by_key.special_codes[SpecialCodeIndex::VMIN] = 1;
    by_key.special_codes[SpecialCodeIndex::VTIME] = 0;
    let kept = (file.try_clone()?, usual);
    *BY_KEY.lock().unwrap_or_else(PoisonError::into_inner) = Some(kept);
    Ok(tcsetattr(file, OptionalActions::Now, &by_key)?)
}

/// Sets the terminal of this process as it was. Who ends the process without dropping what is in it calls
/// this before.
pub(crate) fn give_back() {
    let kept = BY_KEY.lock().unwrap_or_else(PoisonError::into_inner).take();
    // Who sets it from the background is stopped; a shell has set it by then.
    if let Some((file, usual)) = kept.filter(|(file, _)| !is_in_background(file)) {
        let _ = tcsetattr(&file, OptionalActions::Now, &usual);
    }
}

/// Whether what is typed comes to another process. A terminal that is gone has no foreground.
fn is_in_background(file: &File) -> bool {
    tcgetpgrp(file).is_ok_and(|group| group != getpgrp())
}

/// Takes the first whole line.
fn next_line(typed: &mut Vec<u8>) -> Option<Typed> {
    let end = typed.iter().position(|byte| *byte == b'\n')?;
    let line: Vec<u8> = typed.drain(..=end).take(end).collect();
    if line.len() >= MAX_LINE {
        return Some(Typed::TooLong);
    }
    Some(Typed::Line(String::from_utf8_lossy(&line).into_owned()))
}

/// Whether a CI runs this process: what services that run builds set.
fn is_ci() -> bool {
    std::env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false")
}

#[cfg(test)]
mod tests;
