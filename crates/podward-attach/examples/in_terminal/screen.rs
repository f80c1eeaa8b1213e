//! The program at a pseudo-terminal, and what is on its screen.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::num::NonZeroU16;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use vt100::Parser;

use super::Outcome;

/// How long something may take to be on the screen.
const PATIENCE: Duration = Duration::from_secs(120);

/// How long is slept while a share of the processor is counted, at most.
const STEP: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 50_000_000,
};

pub(crate) struct Screen {
    terminal: File,
    child: Child,
    parser: Parser,
    /// What was typed.
    typed: String,
    columns: usize,
}

impl Screen {
    pub(crate) fn start(program: &Path, root: &Path, columns: u16, rows: u16) -> Outcome<Self> {
        let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&person)?;
        unlockpt(&person)?;
        let name = ptsname(&person, Vec::new())?;
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let end = rustix::fs::open(name, flags, Mode::empty())?;
        let size = Winsize {
            ws_row: rows,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&end, size)?;
        let stream = || end.try_clone().map(Stdio::from);
        let child = Command::new("setsid")
            .args(["--ctty"])
            .arg(program)
            .args(["attach", "busy"])
            .env("XDG_RUNTIME_DIR", root)
            .env("XDG_CONFIG_HOME", root)
            .env("XDG_STATE_HOME", root)
            .env("TERM", "xterm-256color")
            .stdin(stream()?)
            .stdout(stream()?)
            .stderr(stream()?)
            .spawn()?;
        let size = |n: u16| NonZeroU16::new(n).ok_or("a screen of no size");
        Ok(Self {
            terminal: person.into(),
            child,
            parser: Parser::new(size(rows)?, size(columns)?, 0),
            typed: String::new(),
            columns: columns.into(),
        })
    }

    /// Waits until a text is on the screen.
    pub(crate) fn sees(&mut self, text: &str) -> Outcome {
        self.waits(|screen| screen.contains(text))
    }

    fn waits(&mut self, is_there: impl Fn(&str) -> bool) -> Outcome {
        let begun = Instant::now();
        loop {
            let screen = self.parser.screen().contents();
            if is_there(&screen) {
                return Ok(());
            }
            if begun.elapsed() > PATIENCE {
                return Err(format!("it is not shown:\n{screen}").into());
            }
            self.read()?;
        }
    }

    /// Presses a key, and says how long it took until it stood on the screen.
    pub(crate) fn press(&mut self) -> Outcome<Duration> {
        // What was written meanwhile is not what is waited for.
        while self.is_there(Timespec::default())? {
            self.read()?;
        }
        if self.typed.len() + 4 > self.columns {
            // A line of its own again: Ctrl-U takes it away.
            self.terminal.write_all(b"\x15")?;
            let typed = format!("> {}", std::mem::take(&mut self.typed));
            self.waits(|screen| !screen.contains(&typed))?;
        }
        let letters = b"abcdefghijklmnopqrstuvwxyz";
        let letter = letters.get(self.typed.len() % letters.len()).copied();
        let letter = letter.unwrap_or(b'a');
        self.typed.push(letter.into());
        let text = format!("> {}", self.typed);
        let pressed = Instant::now();
        self.terminal.write_all(&[letter])?;
        self.sees(&text)?;
        Ok(pressed.elapsed())
    }

    /// Milliseconds of the processor that the program takes in a while, in which what it writes is read.
    pub(crate) fn cpu(&mut self, long: Duration) -> Outcome<(u64, Duration)> {
        let before = self.used()?;
        let begun = Instant::now();
        while begun.elapsed() < long {
            if self.is_there(STEP)? {
                self.read()?;
            }
        }
        Ok((self.used()? - before, begun.elapsed()))
    }

    /// Milliseconds of the processor that the program has taken; a tick of Linux is ten.
    fn used(&self) -> Outcome<u64> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        let (_, rest) = stat.rsplit_once(')').ok_or("no stat")?;
        let ticks = rest.split_whitespace().skip(11).take(2);
        let ticks: Result<Vec<u64>, _> = ticks.map(str::parse).collect();
        Ok(ticks?.iter().sum::<u64>() * 10)
    }

    /// KiB of the program in memory.
    pub(crate) fn resident(&self) -> Outcome<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let number = line.and_then(|line| line.split_whitespace().next());
        Ok(number.ok_or("no VmRSS")?.parse()?)
    }

    /// Whether something was written that is not read.
    fn is_there(&self, wait: Timespec) -> Outcome<bool> {
        let mut waits = [PollFd::new(&self.terminal, PollFlags::IN)];
        Ok(poll(&mut waits, Some(&wait))? > 0)
    }

    fn read(&mut self) -> Outcome {
        if !self.is_there(STEP)? {
            return Ok(());
        }
        let mut bytes = [0; 65536];
        let n_bytes = self.terminal.read(&mut bytes)?;
        self.parser
            .process(bytes.get(..n_bytes).unwrap_or_default());
        Ok(())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
