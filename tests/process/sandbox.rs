//! A home, a configuration, a state directory and a workspace of their own for one test.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// The folder of the root `Cargo.toml`.
pub(crate) fn repository() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.ancestors().nth(2).unwrap().to_path_buf()
}

pub(crate) struct Sandbox {
    root: TempDir,
}

/// What a run of the program left.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ran {
    /// The same, if it ended with this exit code.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// The lines of standard output as JSON.
    #[track_caller]
    pub(crate) fn json_lines(&self) -> Vec<serde_json::Value> {
        self.stdout
            .lines()
            .map(|line| {
                serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
            })
            .collect()
    }
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        let root = TempDir::with_prefix("podward-test-").unwrap();
        for folder in ["home", "config", "state", "tmp", "work"] {
            let path = root.path().join(folder);
            std::fs::create_dir(&path).unwrap();
            std::fs::set_permissions(&path, PermissionsExt::from_mode(0o700)).unwrap();
        }
        Self { root }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.path("work")
    }

    /// Writes a file that nobody else could have written.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
        path
    }

    /// Writes a manifest beside the workspace, with a scripted model and these rules.
    pub(crate) fn pod(&self, script: &str, permissions: &str) -> PathBuf {
        self.write("script.toml", script);
        self.write(
            "pod.toml",
            &format!(
                "[pod]\nname = \"test\"\nworkspace = \"work\"\n\
                 [model]\nprovider = \"scripted\"\nscript = \"./script.toml\"\n{permissions}"
            ),
        )
    }

    /// The program with this sandbox as its whole world, its folder being the workspace.
    pub(crate) fn podward<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_podward"));
        command.args(arguments);
        command
    }

    /// The program with a terminal of its own, which its standard input has to be.
    pub(crate) fn at_terminal(&self, arguments: &[&str]) -> Command {
        let mut command = self.command("setsid");
        command
            .args(["--ctty", env!("CARGO_BIN_EXE_podward")])
            .args(arguments)
            .env("NO_COLOR", "1");
        command
    }

    /// The same, started by a line of a shell in which `"$@"` is the program with its arguments.
    pub(crate) fn at_terminal_by(&self, line: &str, arguments: &[&str]) -> Command {
        let mut command = self.command("setsid");
        command
            .args(["--ctty", "sh", "-c", line, "sh"])
            .arg(env!("CARGO_BIN_EXE_podward"))
            .args(arguments)
            .env("NO_COLOR", "1");
        command
    }

    /// The program where no further namespace can be made, so that its boundary is held only in
    /// part; `None` where user namespaces, with which this is brought about, cannot be had.
    pub(crate) fn without_namespaces(&self, arguments: &[&str]) -> Option<Command> {
        let can_be_had = Command::new("unshare")
            .args(["--map-root-user", "true"])
            .output()
            .is_ok_and(|output| output.status.success());
        let script = "exec unshare --map-root-user sh -c \
            'echo 0 > /proc/sys/user/max_user_namespaces && \
             exec setpriv --bounding-set=-all --inh-caps=-all \"$@\"' sh \"$@\"";
        if !can_be_had {
            // Said, not hidden: some machines forbid user namespaces.
            eprintln!("no user namespaces here: nothing to take away");
        }
        can_be_had.then(|| {
            let mut command = self.command("sh");
            command
                .args(["-c", script, "sh", env!("CARGO_BIN_EXE_podward")])
                .args(arguments);
            command
        })
    }

    /// Any program in the same world.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.path("home"))
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("XDG_STATE_HOME", self.path("state"))
            .env("TMPDIR", self.path("tmp"))
            .current_dir(self.work())
            .stdin(Stdio::null());
        command
    }

    /// Runs the program to its end.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Ran {
        self.podward(arguments).output().unwrap().into()
    }

    /// Directories of all sessions, oldest first.
    pub(crate) fn sessions(&self) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(self.path("state/podward/sessions")) else {
            return Vec::new();
        };
        let mut sessions: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        sessions.sort();
        sessions
    }

    /// The only session.
    #[track_caller]
    pub(crate) fn session(&self) -> PathBuf {
        let mut sessions = self.sessions();
        assert_eq!(sessions.len(), 1, "{sessions:?}");
        sessions.remove(0)
    }
}

/// Rules that allow everything.
pub(crate) const ALLOW_ALL: &str = "[permissions]\ndefault_action = \"allow\"\n";
