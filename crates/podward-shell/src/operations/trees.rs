//! Directories that are deleted, moved or changed with all that lies below.

use podward_policy::{Need, PathForm, PathSubject, Subject, Text, TextBuilder};

use super::{Bases, Sink};
use crate::arg::Arg;
use crate::work;

/// What happens to all that lies below a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TreeAccess {
    /// It is deleted or changed.
    Writes,
    /// It is read and removed.
    Moves,
}

impl Sink<'_> {
    /// Adds that all below a directory is deleted, moved or changed.
    pub(crate) fn tree(&mut self, arg: &Arg, access: TreeAccess, bases: &Bases) {
        let Some(path) = bases
            .path(arg, &self.place)
            .filter(|path| !path.known_part().is_empty())
        else {
            return;
        };
        for base in bases.all() {
            let found = self.place.forms.path(base, &path);
            work::done(base.known_part().len() + path.known_part().len());
            let mut trees = vec![below(&found.subject)];
            trees.extend(self.known_places_in(&found.subject));
            for tree in trees {
                let tree = Subject::tree(tree);
                if access == TreeAccess::Moves {
                    let tool = self.tools.read.clone();
                    self.push(tool, tree.clone(), Need::Restrictive, arg.span);
                }
                for tool in [self.tools.file_write.clone(), self.tools.file_edit.clone()] {
                    self.push(tool, tree.clone(), Need::Restrictive, arg.span);
                }
            }
            if let Some(outside) = found.outside {
                let tool = self.tools.external_directory.clone();
                let tree = Subject::tree(below(&outside));
                self.push(tool, tree, Need::Restrictive, arg.span);
            }
        }
    }

    /// The workspace and the home directory, where they lie below a directory: rules name what is
    /// in them by forms that do not begin with the directory's.
    fn known_places_in(&self, directory: &PathSubject) -> Vec<PathSubject> {
        let here = self
            .place
            .forms
            .path(&Text::known(self.place.cwd), &Text::known("."));
        let here = &here.subject.lexical;
        let mut workspace = here.absolute.known_part();
        if let Some(short) = here
            .short
            .as_known()
            .filter(|short| !short.starts_with('/'))
        {
            workspace = workspace
                .strip_suffix(short)
                .unwrap_or(workspace)
                .trim_end_matches('/');
        }
        let form = |short: &str, absolute: &str, home: Option<&str>| PathSubject {
            lexical: PathForm {
                short: Text::known(short),
                absolute: Text::known(format!("{absolute}/")),
                home: home.map(Text::known),
            },
            resolved: None,
            further: Vec::new(),
        };
        let mut places = vec![(workspace, form("./", workspace, None))];
        if let Some(home) = self.place.home {
            let home = home.trim_end_matches('/');
            places.push((home, form(&format!("{home}/"), home, Some("~/"))));
        }
        places.retain(|(place, _)| {
            let forms = std::iter::once(&directory.lexical)
                .chain(&directory.resolved)
                .chain(&directory.further);
            forms
                .filter_map(|form| form.absolute.as_known())
                .any(|above| {
                    let rest = place.strip_prefix(above.trim_end_matches('/'));
                    rest.is_some_and(|rest| rest.starts_with('/'))
                })
        });
        places.into_iter().map(|(_, form)| form).collect()
    }
}

/// The tree below a path, in all its forms.
fn below(path: &PathSubject) -> PathSubject {
    let text = |text: &Text| match text.known_part().ends_with('/') {
        true => text.clone(),
        false => TextBuilder::new().text(text).known("/").build(),
    };
    let form = |form: &PathForm| PathForm {
        short: text(&form.short),
        absolute: text(&form.absolute),
        home: form.home.as_ref().map(text),
    };
    PathSubject {
        lexical: form(&path.lexical),
        resolved: path.resolved.as_ref().map(form),
        further: path.further.iter().map(form).collect(),
    }
}
