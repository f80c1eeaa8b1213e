//! Where a command runs, and who knows how paths and URLs are spelled.

use podward_policy::{PathSubject, Text, UnknownReason, UrlSubject};

use crate::programs::AddedPrograms;

/// Where a command runs.
#[derive(Clone, Copy)]
pub struct ShellPlace<'a> {
    /// The directory the command starts in, absolute.
    pub cwd: &'a str,
    /// The home directory, if one is known.
    pub home: Option<&'a str>,
    /// Names of the variables that the shell's environment holds: setting one of them reaches the
    /// programs that the command starts.
    pub environment: &'a [&'a str],
    /// The spelling rules of paths and URLs.
    pub forms: &'a dyn Forms,
    /// Models of programs beside those that are built in.
    pub programs: Option<&'a AddedPrograms>,
}

/// The spelling rules of paths and URLs: they live in one place, outside this crate.
pub trait Forms {
    /// The forms of a path.
    ///
    /// `base` is the directory that a relative path starts from: absolute, or a text with a hole
    /// where it is not known. `path` is as a program would open it: no `~` stands for anything.
    fn path(&self, base: &Text, path: &Text) -> PathFound;

    /// The forms of a URL as a program takes it: one without a scheme means `http`.
    fn url(&self, url: &Text) -> UrlFound;
}

/// A path with its forms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathFound {
    /// The forms in which rules may name it.
    pub subject: PathSubject,
    /// The forms that lie outside the workspace, if the path does, or may.
    pub outside: Option<PathSubject>,
    /// Why the place that it leads to cannot be told by its text.
    pub unknown: Option<UnknownReason>,
}

/// What a URL turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UrlFound {
    /// A URL that is fetched over a network, in each spelling that a rule may use.
    Url(Vec<UrlSubject>),
    /// A `file:` URL.
    File {
        /// The file that it names.
        path: Text,
        /// The URL itself.
        url: UrlSubject,
    },
    /// Text that is no URL, or one that cannot be told.
    Unknown(UnknownReason),
}
