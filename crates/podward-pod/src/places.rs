//! Where podward's own files are.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::accounts::Accounts;

/// The directory of the machine layer.
pub const MACHINE_DIR: &str = "/etc/podward";

/// The name of a layer's file in its directory.
pub const LAYER_FILE: &str = "pod.toml";

/// The directory of the project layer, below the workspace.
pub const PROJECT_DIR: &str = ".podward";

/// Where settings of programs are below the home directory, if no variable says otherwise.
const CONFIG_BELOW_HOME: &str = ".config";

/// Where what is kept of programs is below the home directory, if no variable says otherwise.
const STATE_BELOW_HOME: &str = ".local/state";

/// The base directories, and whose they are.
///
/// They come in one value so that nothing a tool can set moves them: the binary reads its
/// environment once, before any tool runs.
#[derive(Debug, Clone)]
pub struct Places {
    machine: PathBuf,
    config: PathBuf,
    state: PathBuf,
    temp: PathBuf,
    run: PathBuf,
    home: Option<PathBuf>,
    accounts: Accounts,
}

/// A base directory that cannot be found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no home directory: `HOME` is {state}")]
pub struct PlacesError {
    state: &'static str,
}

impl PlacesError {
    /// What can be done about it.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        "set HOME to an absolute path, or XDG_CONFIG_HOME and XDG_STATE_HOME both"
    }
}

impl Places {
    /// The places of this process: `/etc/podward`, `$XDG_CONFIG_HOME/podward` (default
    /// `$HOME/.config/podward`), `$XDG_STATE_HOME/podward` (default `$HOME/.local/state/podward`).
    ///
    /// A relative `XDG_*` value is passed over, as the XDG base directory specification says.
    ///
    /// # Errors
    /// `HOME` is unset, empty or relative, and a default hangs on it.
    pub fn from_environment() -> Result<Self, PlacesError> {
        Self::from_variables(|name| std::env::var_os(name))
    }

    /// The places that a set of variables names.
    fn from_variables(variable: impl Fn(&str) -> Option<OsString>) -> Result<Self, PlacesError> {
        let absolute = |name: &str| {
            variable(name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        let home = absolute("HOME");
        let error = || PlacesError {
            state: match variable("HOME") {
                None => "not set",
                Some(value) if value.is_empty() => "empty",
                Some(_) => "not absolute",
            },
        };
        let base = |name: &str, below_home: &str| match absolute(name) {
            Some(base) => Ok(base.join("podward")),
            None => usual(home.as_deref(), below_home).ok_or_else(error),
        };
        let state = base("XDG_STATE_HOME", STATE_BELOW_HOME)?;
        Ok(Self {
            machine: MACHINE_DIR.into(),
            config: base("XDG_CONFIG_HOME", CONFIG_BELOW_HOME)?,
            run: match absolute("XDG_RUNTIME_DIR") {
                Some(runtime) => runtime.join("podward"),
                None => state.join("run"),
            },
            state,
            temp: absolute("TMPDIR").unwrap_or_else(|| "/tmp".into()),
            home,
            accounts: Accounts::of_this_machine(),
        })
    }

    /// Places below one directory: for tests, and for programs that keep a pod apart.
    #[must_use]
    pub fn below(root: &Path) -> Self {
        Self {
            machine: root.join("etc/podward"),
            config: root.join("config/podward"),
            state: root.join("state/podward"),
            temp: root.join("tmp"),
            run: root.join("run/podward"),
            home: Some(root.join("home")),
            accounts: Accounts::of_this_machine(),
        }
    }

    /// The same places with other users and groups.
    #[must_use]
    pub fn with_accounts(mut self, accounts: Accounts) -> Self {
        self.accounts = accounts;
        self
    }

    /// The file of the machine layer.
    #[must_use]
    pub fn machine_layer(&self) -> PathBuf {
        self.machine.join(LAYER_FILE)
    }

    /// The directory of the machine layer.
    #[must_use]
    pub fn machine_dir(&self) -> &Path {
        &self.machine
    }

    /// The file of the user layer.
    #[must_use]
    pub fn user_layer(&self) -> PathBuf {
        self.config.join(LAYER_FILE)
    }

    /// The directory of the user layer.
    #[must_use]
    pub fn config_dir(&self) -> &Path {
        &self.config
    }

    /// The directory of everything podward writes down.
    #[must_use]
    pub fn state_dir(&self) -> &Path {
        &self.state
    }

    /// Where [`Places::config_dir`] is if no variable says otherwise.
    #[must_use]
    pub fn usual_config_dir(&self) -> Option<PathBuf> {
        usual(self.home(), CONFIG_BELOW_HOME)
    }

    /// Where [`Places::state_dir`] is if no variable says otherwise.
    #[must_use]
    pub fn usual_state_dir(&self) -> Option<PathBuf> {
        usual(self.home(), STATE_BELOW_HOME)
    }

    /// The directory of all sessions.
    #[must_use]
    pub fn sessions_dir(&self) -> PathBuf {
        self.state.join("sessions")
    }

    /// The directory of the sockets of all pods that run: `$XDG_RUNTIME_DIR/podward`, or `run` in
    /// the directory of everything podward writes down.
    #[must_use]
    pub fn run_dir(&self) -> &Path {
        &self.run
    }

    /// The directory in which a session makes its temporary one.
    #[must_use]
    pub fn temp_dir(&self) -> &Path {
        &self.temp
    }

    /// The user's home directory.
    #[must_use]
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// The users and groups of the machine.
    #[must_use]
    pub const fn accounts(&self) -> &Accounts {
        &self.accounts
    }
}

/// Where podward's part of a base directory is if no variable says otherwise.
fn usual(home: Option<&Path>, below_home: &str) -> Option<PathBuf> {
    Some(home?.join(below_home).join("podward"))
}

#[cfg(test)]
mod tests;
