//! The `podward` program: arguments in, one call into the crates below, text and exit code out.
//!
//! It must never know how a call is judged or run: what it prints, the crates below decided.
//!
//! Where is what: the command line in `arguments`, one module a subcommand in `commands`, exit codes
//! in `exit`, what a run looks like in `transcript`, who follows one in `follow`, a person's answers in
//! `question`; what is said of a call or a question is worded in `podward-view`.

mod arguments;
mod before;
mod commands;
mod connection;
mod exit;
mod failure;
mod follow;
mod judged;
mod layers;
mod logging;
mod prompt;
mod question;
mod screen;
mod shell_word;
mod signals;
mod terminal;
mod transcript;
mod unanswered;

use std::process::ExitCode;

use clap::Parser as _;

use crate::arguments::{Arguments, ColorWhen};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::Screen;

fn main() -> ExitCode {
    // Some starts of this program are not for people: the parent of a command that bash runs.
    if let Some(code) = podward_scope::confine_main(std::env::args_os()) {
        return code;
    }
    if let Some(failure) = arguments::misread(std::env::args_os()) {
        failure.report(Screen::new(ColorWhen::Auto));
        return failure.exit().into();
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return usage(&error),
    };
    let screen = Screen::new(arguments.general.color);
    match start(arguments, screen) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            failure.report(screen);
            failure.exit().into()
        }
    }
}

fn start(arguments: Arguments, screen: Screen) -> Result<Exit, Failure> {
    // Before anything else is done: what this process knows is its own.
    let key = podward_pod::start()?;
    logging::start(&arguments.general, screen)?;
    commands::run(arguments.command, key, screen)
}

/// Help that was asked for is data; a command line that makes no sense is not.
fn usage(error: &clap::Error) -> ExitCode {
    let screen = Screen::new(ColorWhen::Auto);
    let rendered = error.render();
    let text = |stream: screen::Stream| {
        if stream.is_colored {
            rendered.ansi().to_string()
        } else {
            rendered.to_string()
        }
    };
    if error.use_stderr() {
        screen.write_talk(&text(screen.talk));
        return Exit::Usage.into();
    }
    // Nobody reads any more: the help is not missed.
    let _ = screen.write_data(&text(screen.data));
    Exit::Done.into()
}
