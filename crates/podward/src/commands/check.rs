//! `podward check`: what would become of a call, without running anything.

mod cases;
mod one_call;
mod programs;

use std::path::Path;

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

/// The directory that a file lies in, as its path says.
fn directory_of(file: &Path) -> &Path {
    match file.parent() {
        Some(directory) if !directory.as_os_str().is_empty() => directory,
        Some(_) | None => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_name_lies_in_the_current_directory() {
        assert_eq!(directory_of(Path::new("a.toml")), Path::new("."));
        assert_eq!(directory_of(Path::new("d/a.toml")), Path::new("d"));
        assert_eq!(directory_of(Path::new("/a.toml")), Path::new("/"));
    }
}
