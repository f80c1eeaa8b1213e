//! `podward completions SHELL`.

use clap::CommandFactory as _;

use crate::arguments::{Arguments, Completions};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::Screen;

pub(super) fn run(arguments: &Completions, screen: Screen) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut Arguments::command(),
        "podward",
        &mut script,
    );
    let script = String::from_utf8_lossy(&script);
    super::finish(screen, &script, Exit::Done)
}
