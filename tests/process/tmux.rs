//! A program in a window of tmux: what stands on its screen, and keys.

use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};

/// Only keeps a broken program from hanging the tests.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often it is looked whether that is over: a clock on the screen writes without end.
const STEP: Timespec = Timespec {
    tv_sec: 5,
    tv_nsec: 0,
};

/// A window of a server of its own.
pub(crate) struct Window {
    socket: PathBuf,
    /// Gets a copy of what the program writes: something may be new on the screen.
    written: File,
}

impl Window {
    /// Starts a program in a window of this size.
    pub(crate) fn start(directory: PathBuf, program: &Command, columns: u16, rows: u16) -> Self {
        let socket = directory.join("tmux.sock");
        let fifo = directory.join("tmux.fifo");
        mknodat(CWD, &fifo, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        // Read and written, so that it never ends.
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let written = rustix::fs::open(&fifo, flags, Mode::empty()).unwrap();
        let mut tmux = Command::new("tmux");
        tmux.env_clear();
        for (key, value) in program.get_envs() {
            if let Some(value) = value {
                tmux.env(key, value);
            }
        }
        if let Some(directory) = program.get_current_dir() {
            tmux.current_dir(directory);
        }
        let (columns, rows) = (columns.to_string(), rows.to_string());
        tmux.env("LC_ALL", "C.UTF-8")
            .env("TERM", "xterm-256color")
            .args(["-u", "-f", "/dev/null", "-S"])
            .arg(&socket)
            .args(["new-session", "-d", "-x", &columns, "-y", &rows])
            // It begins when what it writes is listened to.
            .args(["sh", "-c", "read -r _; exec \"$@\"", "sh"])
            .arg(program.get_program())
            .args(program.get_args());
        assert!(tmux.status().unwrap().success());
        let window = Self {
            socket,
            written: written.into(),
        };
        let pipe = format!("exec cat > '{}'", fifo.display());
        window.tmux(&["pipe-pane", "-O", &pipe]);
        window.presses(&["Enter"]);
        window
    }

    fn tmux(&self, arguments: &[&str]) -> Output {
        let mut tmux = Command::new("tmux");
        tmux.arg("-S").arg(&self.socket).args(arguments);
        tmux.output().unwrap()
    }

    /// What stands on the screen.
    pub(crate) fn screen(&self) -> String {
        let output = self.tmux(&["capture-pane", "-p"]);
        String::from_utf8(output.stdout).unwrap()
    }

    /// Waits until something stands on the screen.
    #[track_caller]
    pub(crate) fn sees(&mut self, text: &str) -> String {
        self.waits(text, |screen| screen.contains(text))
    }

    /// Waits until something stands on the screen no more.
    #[track_caller]
    pub(crate) fn sees_no_more(&mut self, text: &str) -> String {
        self.waits(text, |screen| !screen.contains(text))
    }

    /// Waits until the screen is another one.
    #[track_caller]
    pub(crate) fn sees_other_than(&mut self, old: &str) -> String {
        self.waits("another screen", |screen| screen != old)
    }

    #[track_caller]
    fn waits(&mut self, what: &str, is_there: impl Fn(&str) -> bool) -> String {
        let begun = Instant::now();
        loop {
            let screen = self.screen();
            if is_there(&screen) {
                return screen;
            }
            let mut waits = [PollFd::new(&self.written, PollFlags::IN)];
            let n_ready = poll(&mut waits, Some(&STEP)).unwrap();
            let is_late = begun.elapsed() > PATIENCE;
            assert!(!is_late, "`{what}` is waited for:\n{screen}");
            if n_ready > 0 {
                let _ = self.written.read(&mut [0; 65536]).unwrap();
            }
        }
    }

    /// Presses keys, by the names that tmux has for them.
    pub(crate) fn presses(&self, keys: &[&str]) {
        let mut arguments = vec!["send-keys"];
        arguments.extend(keys);
        self.tmux(&arguments);
    }

    /// Types a text, all at once.
    pub(crate) fn types(&self, text: &str) {
        self.tmux(&["send-keys", "-l", text]);
    }

    pub(crate) fn resizes(&self, columns: u16, rows: u16) {
        let (columns, rows) = (columns.to_string(), rows.to_string());
        self.tmux(&["resize-window", "-x", &columns, "-y", &rows]);
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}
