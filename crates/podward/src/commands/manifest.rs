//! `podward manifest FILE`: what results from all layers, every line with its origin.

use crate::arguments::Manifest;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::layers;
use crate::screen::Screen;

pub(super) fn run(arguments: &Manifest, screen: Screen) -> Result<Exit, Failure> {
    let loaded = layers::load(
        &layers::places()?,
        Some(&arguments.manifest),
        &arguments.layers,
    )?;
    layers::warn(&loaded, screen);
    super::finish(screen, &loaded.resolved.effective.to_string(), Exit::Done)
}
