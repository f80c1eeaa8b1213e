//! A command line: read by `podward-shell`, with the paths and URLs of this crate.

use podward_policy::{Lowered, Text};
use podward_shell::{Forms, PathFound, ShellPlace, UrlFound};

use crate::lower::path::CommandPaths;
use crate::lower::url::{Fetched, fetched};
use crate::tool::Place;

/// The operations of a command line.
pub(crate) fn lower_command(command: &str, place: &Place) -> Lowered {
    let cwd = place.cwd.to_string_lossy();
    let home = place.home.as_ref().map(|home| home.to_string_lossy());
    let environment: Vec<&str> = place.environment.iter().map(String::as_str).collect();
    let place = ShellPlace {
        programs: (!place.programs.is_empty()).then_some(&*place.programs),
        cwd: &cwd,
        home: home.as_deref(),
        environment: &environment,
        forms: &CommandPaths::new(place),
    };
    podward_shell::lower(command, &place)
}

impl Forms for CommandPaths<'_> {
    fn path(&self, base: &Text, path: &Text) -> PathFound {
        let found = self.find(base, path);
        PathFound {
            subject: found.subject,
            outside: found.outside,
            unknown: found.unknown,
        }
    }

    fn url(&self, url: &Text) -> UrlFound {
        match fetched(url) {
            Fetched::Url(subjects) => UrlFound::Url(subjects),
            Fetched::File { path, url } => UrlFound::File { path, url },
            Fetched::Unknown(why) => UrlFound::Unknown(why),
        }
    }
}

#[cfg(test)]
mod tests;
