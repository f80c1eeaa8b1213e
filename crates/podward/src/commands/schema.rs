//! `podward schema`: what a line of `run --format json` is.

use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::Screen;

pub(super) fn run(screen: Screen) -> Result<Exit, Failure> {
    super::finish(screen, &podward_protocol::events_schema(), Exit::Done)
}
