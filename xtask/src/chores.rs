//! What every chore needs: the project's root, its own errors, and running a command.

use std::error::Error;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a chore gives back.
pub(crate) type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// The folder of the root `Cargo.toml`.
pub(crate) fn root() -> Outcome<PathBuf> {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .map(Path::to_path_buf)
        .ok_or_else(|| "xtask has no parent folder".into())
}

/// Tells the person at the terminal what is going on.
pub(crate) fn say(text: &str) {
    // Nobody is left to tell when standard error is closed.
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// A cargo command in the project's root.
pub(crate) fn cargo(arguments: &[&str]) -> Outcome<Command> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root()?);
    Ok(command)
}

/// Runs a command to its end.
///
/// # Errors
/// It cannot be started, or it fails.
pub(crate) fn run(name: &str, command: &mut Command) -> Outcome {
    say(&format!("== {name}"));
    let status = command.status()?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{name} failed: {status}").into())
    }
}

/// What a command prints, when it succeeds.
///
/// # Errors
/// It cannot be started, it fails, or it prints something that is not UTF-8.
pub(crate) fn output_of(name: &str, command: &mut Command) -> Outcome<String> {
    let output = command.output()?;
    if output.status.success() {
        Ok(String::from_utf8(output.stdout)?)
    } else {
        let stderr = String::from_utf8_lossy(&output.stderr);
        Err(format!("{name} failed: {}\n{stderr}", output.status).into())
    }
}
