//! A person at a terminal: a real pseudo-terminal, what is shown on it, what is typed.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

/// Only keeps a broken program from hanging the tests.
const PATIENCE: Timespec = Timespec {
    tv_sec: 120,
    tv_nsec: 0,
};

/// A program at a terminal.
pub(crate) struct Typist {
    terminal: File,
    child: Child,
    /// Everything that was shown, without carriage returns.
    shown: String,
    /// What of it was not waited for yet.
    unseen: String,
}

/// The two ends of a terminal: the person's, the program's.
fn terminal() -> (OwnedFd, OwnedFd) {
    let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&person).unwrap();
    unlockpt(&person).unwrap();
    let name = ptsname(&person, Vec::new()).unwrap();
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let program = rustix::fs::open(name, flags, Mode::empty()).unwrap();
    tcsetwinsize(&program, size(200, 50)).unwrap();
    (person, program)
}

const fn size(columns: u16, rows: u16) -> Winsize {
    Winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    }
}

impl Typist {
    /// Starts a program with a terminal as its standard streams; `stdout` is left as it is set if
    /// it is given.
    pub(crate) fn start(command: Command, stdout: Option<Stdio>) -> Self {
        Self::start_at(terminal(), command, stdout)
    }

    /// Starts a program at a terminal of another size than the usual 200 columns and 50 rows.
    pub(crate) fn start_sized(command: Command, columns: u16, rows: u16) -> Self {
        let (person, program) = terminal();
        tcsetwinsize(&program, size(columns, rows)).unwrap();
        Self::start_at((person, program), command, None)
    }

    fn start_at(
        (person, program): (OwnedFd, OwnedFd),
        mut command: Command,
        stdout: Option<Stdio>,
    ) -> Self {
        let stream = || Stdio::from(program.try_clone().unwrap());
        command
            .stdin(stream())
            .stdout(stdout.unwrap_or_else(stream))
            .stderr(stream());
        let child = command.spawn().unwrap();
        // What stays open here would keep the terminal from ending with the program.
        drop((command, program));
        Self {
            terminal: person.into(),
            child,
            shown: String::new(),
            unseen: String::new(),
        }
    }

    /// Waits until this is shown, after what was waited for before; what came until then.
    #[track_caller]
    pub(crate) fn sees(&mut self, text: &str) -> String {
        loop {
            if let Some((before, after)) = self.unseen.split_once(text) {
                let seen = format!("{before}{text}");
                self.unseen = after.to_owned();
                return seen;
            }
            assert!(self.read(), "`{text}` is not shown: {}", self.shown);
        }
    }

    /// Reads on; whether anything came.
    fn read(&mut self) -> bool {
        let mut waits = [PollFd::new(&self.terminal, PollFlags::IN)];
        let n_ready = poll(&mut waits, Some(&PATIENCE)).unwrap();
        assert!(n_ready > 0, "nothing more is shown: {}", self.shown);
        let mut bytes = [0; 4096];
        // The other end is closed: an error on Linux.
        let n_bytes = self.terminal.read(&mut bytes).unwrap_or(0);
        let text = String::from_utf8_lossy(&bytes[..n_bytes]).replace('\r', "");
        self.shown.push_str(&text);
        self.unseen.push_str(&text);
        n_bytes > 0
    }

    /// Types a line.
    pub(crate) fn types(&mut self, line: &str) {
        self.presses(&format!("{line}\n"));
    }

    /// Makes the terminal's window larger or smaller.
    pub(crate) fn resizes(&mut self, columns: u16, rows: u16) {
        tcsetwinsize(&self.terminal, size(columns, rows)).unwrap();
    }

    /// Presses keys.
    pub(crate) fn presses(&mut self, keys: &str) {
        self.terminal.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits until each key is told of, or this is shown: what was pressed before may be forgotten, a signal
    /// too.
    #[track_caller]
    pub(crate) fn is_heard_until(&mut self, text: &str) {
        let is_heard = |terminal: &File| {
            let modes = tcgetattr(terminal).unwrap().local_modes;
            !modes.contains(LocalModes::ICANON)
        };
        while !is_heard(&self.terminal) && !self.unseen.contains(text) {
            let mut waits = [PollFd::new(&self.terminal, PollFlags::IN)];
            if poll(&mut waits, Some(&Timespec::default())).unwrap() > 0 {
                assert!(self.read(), "it has ended: {}", self.shown);
            }
        }
    }

    /// Waits for the end; the exit code, and everything that was shown. The terminal is left as it was.
    #[track_caller]
    pub(crate) fn ends(mut self) -> (Option<i32>, String) {
        while self.read() {}
        let code = self.child.wait().unwrap().code();
        let modes = tcgetattr(&self.terminal).unwrap().local_modes;
        assert!(modes.contains(LocalModes::ICANON | LocalModes::ECHO));
        (code, self.shown)
    }
}
