//! A pod that is served so that something can be measured, and how figures are printed.

use std::error::Error;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

pub(crate) type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// A pod that is served for this, and ends with it.
pub(crate) struct Served {
    pub(crate) child: Child,
    pub(crate) socket: PathBuf,
    _directory: tempfile::TempDir,
}

impl Served {
    /// A pod whose first message has so many calls, all of them asked about.
    pub(crate) fn start(program: &mut Command, n_questions: usize) -> Outcome<Self> {
        let directory = tempfile::tempdir()?;
        let path = |name: &str| directory.path().join(name);
        std::fs::create_dir(path("work"))?;
        std::fs::DirBuilder::new().mode(0o700).create(path("run"))?;
        let mut script = "[[step]]\n".to_owned();
        for number in 0..n_questions {
            // Each tells when it ran, and is another call than the others.
            write!(
                script,
                "[[step.call]]\ntool = \"bash\"\ninput = {{ command = 'date +%s%N-{number}' }}\n"
            )?;
        }
        std::fs::write(path("script.toml"), script)?;
        let manifest = format!(
            "[pod]\nname = \"load\"\nworkspace = \"work\"\n\
             [model]\nprovider = \"scripted\"\nscript = \"./script.toml\"\n\
             [permissions]\ndefault_action = \"deny\"\non_ask = \"wait\"\nask_timeout = \"1h\"\n\
             rule = [{{ tool = \"bash\", pattern = \"date *\", action = \"ask\" }}]\n\
             [limits]\nmessage_calls = {n_questions}\n"
        );
        std::fs::write(path("pod.toml"), manifest)?;
        let mut child = program
            .args(["serve", "--format", "json"])
            .arg(path("pod.toml"))
            .current_dir(path("work"))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", directory.path())
            .env("XDG_RUNTIME_DIR", path("run"))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut lines = BufReader::new(child.stdout.take().ok_or("no output")?);
        let mut line = String::new();
        lines.read_line(&mut line)?;
        // What it tells is of no interest, but somebody has to read it.
        std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        let is_socket = |path: &PathBuf| path.extension().is_some_and(|ext| ext == "sock");
        let socket = std::fs::read_dir(path("run").join("podward"))?
            .filter_map(|entry| entry.ok().map(|entry| entry.path()))
            .find(is_socket)
            .ok_or("the pod has no socket")?;
        Ok(Self {
            child,
            socket,
            _directory: directory,
        })
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The program that was built with this example.
pub(crate) fn built_beside() -> Option<PathBuf> {
    let directory = std::env::current_exe().ok()?.parent()?.parent()?.to_owned();
    Some(directory.join("podward"))
}

/// A row of times: the median, and what 99 of 100 are not above.
pub(crate) fn row(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |percent: usize| times.get(times.len() * percent / 100).copied();
    let (median, p99) = (at(50).unwrap_or_default(), at(99).unwrap_or_default());
    println!("| {what} | {median:.1?} | {p99:.1?} |");
}
