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

/// Where screens are kept for people, and made into pictures.
const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/captures");

/// What stands there for the directory of a test: a path that is as long.
const HOME: &str = "/home/robin/project-shop";

/// A window of a server of its own.
pub(crate) struct Window {
    socket: PathBuf,
    /// The test's own directory.
    root: String,
    size: (u16, u16),
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
        let size = (columns, rows);
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
        let root = socket.parent().unwrap().display().to_string();
        let window = Self {
            socket,
            root,
            size,
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

    /// Waits until the screen says what the one says that is kept under this name for windows of this size.
    /// `PODWARD_UPDATE_CAPTURES=1` keeps what is there once it stays as it is.
    #[track_caller]
    pub(crate) fn keeps(&mut self, name: &str) {
        let (columns, rows) = self.size;
        let file = PathBuf::from(KEPT).join(format!("{name}-{columns}x{rows}.txt"));
        if std::env::var_os("PODWARD_UPDATE_CAPTURES").is_some() {
            let text = self.settled().replace(&self.root, HOME);
            std::fs::create_dir_all(KEPT).unwrap();
            std::fs::write(&file, at_one_time(&text)).unwrap();
        }
        let kept = std::fs::read_to_string(&file).unwrap_or_default();
        let (kept, root) = (words(&kept), self.root.clone());
        let what = format!("{}: {kept:?}", file.display());
        self.waits(&what, |screen| words(&screen.replace(&root, HOME)) == kept);
    }

    /// The screen with its colours, once it says the same a second later.
    fn settled(&self) -> String {
        let second = Timespec {
            tv_sec: 1,
            tv_nsec: 0,
        };
        let mut before = Vec::new();
        loop {
            let colored = self.tmux(&["capture-pane", "-e", "-p"]);
            let text = String::from_utf8(colored.stdout).unwrap();
            let now = words(&text);
            if now == before {
                return text;
            }
            before = now;
            poll(&mut [], Some(&second)).unwrap();
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

    pub(crate) fn resizes(&mut self, columns: u16, rows: u16) {
        self.size = (columns, rows);
        let (columns, rows) = (columns.to_string(), rows.to_string());
        self.tmux(&["resize-window", "-x", &columns, "-y", &rows]);
    }
}

/// The words of a screen, without what colours them and the marks of rows that go on, at one time: neither the
/// width of a path nor a clock shall matter.
fn words(screen: &str) -> Vec<String> {
    let pieces = screen.split('\u{1b}').enumerate();
    let plain: String = pieces
        .map(|(at, piece)| match piece.split_once('m') {
            Some((_, rest)) if at > 0 => rest,
            _ => piece, // no escape is in front of it
        })
        .collect();
    let plain = at_one_time(&plain);
    let words = plain.split_whitespace().filter(|word| *word != ":");
    words.map(str::to_owned).collect()
}

/// A screen with other times on it: what is left for an answer, until when, and since when a pod is lost.
fn at_one_time(screen: &str) -> String {
    let mut lines: Vec<String> = screen.split('\n').map(str::to_owned).collect();
    for line in &mut lines {
        if let Some(at) = line.find(" left ").filter(|at| *at > 5) {
            line.replace_range(at - 5..at, "59:59");
        }
        if let Some((before, after)) = line.split_once("  until   ") {
            let time = "2026-01-02T03:04:05.678Z";
            *line = format!(
                "{before}  until   {time}{}",
                after.get(time.len()..).unwrap_or_default()
            );
        }
        if let Some((before, after)) = line.split_once("lost for ") {
            let rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
            *line = format!("{before}lost for 0{rest}");
        }
    }
    lines.join("\n")
}

impl Drop for Window {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}
