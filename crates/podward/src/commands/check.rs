//! `podward check`: what would become of a call, without running anything.

pub(super) mod cases;
mod one_call;

use crate::arguments::Check;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::Screen;

pub(super) fn run(arguments: &Check, screen: Screen) -> Result<Exit, Failure> {
    if arguments.cases.is_empty() {
        one_call::run(arguments, screen)
    } else {
        cases::run(&arguments.cases, arguments.format, screen)
    }
}
