//! One module a subcommand; each is thin: arguments in, one call into a crate, text out.

mod attach;
mod check;
mod child;
mod chosen;
mod completions;
mod explain;
mod following;
mod grants;
mod isolated;
mod lint;
mod made;
mod man;
mod manifest;
mod pending;
mod pods;
mod reply;
mod run;
mod schema;
mod send;
mod serve;
mod skills;
mod stop;
mod test;
mod tools;
mod trust;
mod undo;

use podward_pod::ModelKey;

use crate::arguments::Command;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::Screen;

/// Runs a subcommand.
///
/// # Errors
/// It could not do its work.
pub(crate) fn run(
    command: Command,
    key: Option<ModelKey>,
    screen: Screen,
) -> Result<Exit, Failure> {
    match command {
        Command::Completions(arguments) => completions::run(&arguments, screen),
        Command::Man(arguments) => man::run(&arguments, screen),
        Command::Schema(arguments) => schema::run(&arguments, screen),
        Command::Check(arguments) => check::run(&arguments, screen),
        Command::Explain(arguments) => explain::run(&arguments, screen),
        Command::Lint(arguments) => lint::run(&arguments, screen),
        Command::Test(arguments) => test::run(&arguments, screen),
        Command::Tools(arguments) => tools::run(&arguments, screen),
        Command::Manifest(arguments) => manifest::run(&arguments, screen),
        Command::Trust(arguments) => trust::run(&arguments, screen),
        Command::Grants(arguments) => grants::run(&arguments, screen),
        Command::Skills(arguments) => skills::run(&arguments, screen),
        Command::Undo(arguments) => undo::run(&arguments, screen),
        Command::Run(arguments) => run::run(arguments, key, screen),
        Command::Serve(arguments) => serve::run(arguments, key, screen),
        Command::Attach(arguments) => attach::run(&arguments, screen),
        Command::Child => child::run(key),
        Command::Send(arguments) => send::run(&arguments, screen),
        Command::Cancel(arguments) => stop::cancel(&arguments, screen),
        Command::Stop(arguments) => stop::stop(&arguments),
        Command::Pods(arguments) => pods::run(&arguments, screen),
        Command::Pending(arguments) => pending::run(&arguments, screen),
        Command::Reply(arguments) => reply::run(&arguments, screen),
    }
}

/// A runtime for what waits for other processes.
fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(Failure::Runtime)
}

/// A value as a line of JSON.
fn json_line(value: &impl serde::Serialize) -> Result<String, Failure> {
    let line = podward_protocol::json_line(value).map_err(Failure::Json)?;
    Ok(format!("{line}\n"))
}

/// Writes what a command prints, and ends it well; a reader that went away wanted no more.
fn finish(screen: Screen, text: &str, exit: Exit) -> Result<Exit, Failure> {
    match screen.write_data(text) {
        Ok(()) => Ok(exit),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(exit),
        Err(error) => Err(Failure::Stdout(error)),
    }
}
