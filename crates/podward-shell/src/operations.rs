//! Collects the operations of one call.

mod bases;
mod trees;

pub(crate) use bases::{Bases, has_expansion};
pub(crate) use trees::TreeAccess;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use podward_policy::{
    ByteSpan, CommandSubject, Directories, EXTERNAL_DIRECTORY, Need, Operation, OperationIdx,
    PathForm, PathSubject, Subject, Text, TextBuilder, ToolName, UnknownReason,
};

use crate::arg::Arg;
use crate::limits;
use crate::place::{ShellPlace, UrlFound};
use crate::whereabouts::LocatedWord;
use crate::work;

/// The operations found so far.
pub(crate) struct Sink<'a> {
    pub(crate) place: ShellPlace<'a>,
    operations: Vec<Operation>,
    tools: &'static Tools,
    /// Reasons of unknown code that are already there.
    unknowns: BTreeSet<UnknownKey>,
    is_over_limit: bool,
    fuel: usize,
    /// The directories that were named last, and their names.
    directories: Option<(Bases, Directories)>,
    /// The words of commands that name what is run by a path.
    pub(crate) located: BTreeMap<OperationIdx, Vec<LocatedWord>>,
}

/// A reason, its place, and whether it is only for deny rules.
type UnknownKey = (Box<str>, Option<(usize, usize)>, bool);

/// How a path is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    /// Names and sizes are shown, no content.
    List,
    /// A write that is the program's purpose.
    Write,
    /// A write by a redirection, an option or an inline script.
    Derived(Option<OperationIdx>),
}

struct Tools {
    bash: ToolName,
    read: ToolName,
    list: ToolName,
    file_write: ToolName,
    file_edit: ToolName,
    web_fetch: ToolName,
    external_directory: ToolName,
}

static TOOLS: LazyLock<Tools> = LazyLock::new(|| Tools {
    bash: tool("bash"),
    read: tool("read"),
    list: tool("list"),
    file_write: tool("file_write"),
    file_edit: tool("file_edit"),
    web_fetch: tool("web_fetch"),
    external_directory: tool(EXTERNAL_DIRECTORY),
});

impl<'a> Sink<'a> {
    pub(crate) fn new(place: ShellPlace<'a>) -> Self {
        Self {
            place,
            operations: Vec::new(),
            tools: &TOOLS,
            unknowns: BTreeSet::new(),
            is_over_limit: false,
            fuel: limits::FUEL,
            directories: None,
            located: BTreeMap::new(),
        }
    }

    /// Counts commands that are walked.
    pub(crate) const fn burn(&mut self, n_commands: usize) {
        self.fuel = self.fuel.saturating_sub(n_commands);
    }

    /// Whether a body may be walked more than once.
    pub(crate) const fn has_fuel(&self) -> bool {
        self.fuel > 0
    }

    pub(crate) fn finish(self) -> Vec<Operation> {
        self.operations
    }

    pub(crate) fn len(&self) -> usize {
        self.operations.len()
    }

    pub(crate) fn get(&self, idx: OperationIdx) -> Option<&Operation> {
        self.operations.get(idx.0)
    }

    /// The directories in which a command may run, by their names.
    pub(crate) fn directories(&mut self, bases: &Bases) -> Directories {
        if bases.single() == Some(self.place.cwd) {
            return Directories::Own;
        }
        if let Some((known, directories)) = &self.directories
            && known == bases
        {
            return directories.clone();
        }
        let own = self.directory_of(&Text::known(self.place.cwd));
        let names = bases.all().iter().map(|base| {
            let form = self.directory_of(base)?;
            let is_own = own.as_ref() == Some(&form);
            // `.` is the name of another one only where the call is not in the workspace.
            let name = match form.short.as_known() {
                _ if is_own => ".",
                Some(short) if short != "." => short,
                _ => form.absolute.as_known()?,
            };
            Some(name.into())
        });
        let names: Option<Vec<Box<str>>> = names.collect();
        let directories = names.map_or(Directories::Unknown, Directories::of);
        self.directories = Some((bases.clone(), directories.clone()));
        directories
    }

    fn directory_of(&self, base: &Text) -> Option<PathForm> {
        base.as_known()?;
        let found = self.place.forms.path(base, &Text::known("."));
        found.unknown.is_none().then_some(found.subject.lexical)
    }

    fn push(&mut self, tool: ToolName, subject: Subject, need: Need, span: Option<ByteSpan>) {
        let restrictive = matches!(need, Need::Restrictive);
        if self.operations.len() >= limits::OPERATIONS {
            // Commands are still seen by deny rules; what is derived from them is dropped.
            if !self.is_over_limit {
                self.is_over_limit = true;
                self.unknown("more operations than are judged", None);
            }
            if !matches!(subject, Subject::Command(_)) {
                return;
            }
        }
        let is_again = restrictive
            && self.operations.iter().rev().take(32).any(|operation| {
                operation.tool == tool && operation.subject == subject && operation.need == need
            });
        if is_again {
            return;
        }
        self.operations.push(Operation {
            tool,
            subject,
            need,
            span,
            partial: Vec::new(),
        });
    }

    /// Adds a simple command.
    pub(crate) fn command(
        &mut self,
        subject: CommandSubject,
        need: Need,
        span: Option<ByteSpan>,
    ) -> OperationIdx {
        let idx = OperationIdx(self.operations.len());
        self.push(
            self.tools.bash.clone(),
            Subject::Command(subject),
            need,
            span,
        );
        OperationIdx(idx.0.min(self.operations.len().saturating_sub(1)))
    }

    /// Puts another subject in place of a command's.
    pub(crate) fn replace_command(&mut self, idx: OperationIdx, subject: CommandSubject) {
        // One that was there before was not added again.
        if let Some(operation) = self.operations.get_mut(idx.0)
            && let Subject::Command(command) = &mut operation.subject
            && command.written == subject.written
        {
            *command = subject;
        }
    }

    /// Adds code that is not known before it runs.
    pub(crate) fn unknown(&mut self, why: &str, span: Option<ByteSpan>) {
        self.unknown_with(why, span, Need::Full);
    }

    /// The same with another need.
    pub(crate) fn unknown_with(&mut self, why: &str, span: Option<ByteSpan>, need: Need) {
        let place = span.map(|span| (span.start, span.end));
        let key = (why.into(), place, matches!(need, Need::Restrictive));
        if !self.unknowns.insert(key) {
            return;
        }
        self.operations.push(Operation {
            tool: self.tools.bash.clone(),
            subject: Subject::Unknown(UnknownReason::new(why)),
            need,
            span,
            partial: Vec::new(),
        });
    }

    /// Notes why the analysis may not have seen all of an operation.
    pub(crate) fn partial(&mut self, idx: OperationIdx, why: &str) {
        if let Some(operation) = self.operations.get_mut(idx.0)
            && !operation.partial.iter().any(|known| &**known == why)
        {
            operation.partial.push(why.into());
        }
    }

    /// Adds what the use of a path means; `false` if no character of it is known.
    pub(crate) fn path(&mut self, arg: &Arg, access: Access, bases: &Bases) -> bool {
        let Some(path) = bases.path(arg, &self.place) else {
            if let Access::Derived(parent) = access {
                self.unknown_path(parent, arg.span);
            }
            return false;
        };
        self.path_text(&path, access, bases, arg.span)
    }

    pub(crate) fn path_text(
        &mut self,
        path: &Text,
        access: Access,
        bases: &Bases,
        span: Option<ByteSpan>,
    ) -> bool {
        if path.as_known().is_some_and(is_free) {
            return true;
        }
        if path.as_known() == Some("") {
            return true;
        }
        let is_absolute = path.known_part().starts_with('/')
            && path.holes().first().is_none_or(|hole| hole.at > 0);
        let mut is_seen = true;
        for base in bases.all() {
            if !is_absolute && has_expansion(base) {
                is_seen = false;
                if let Access::Derived(parent) = access {
                    self.unknown_path(parent, span);
                }
                continue;
            }
            self.formed_path(base, path, access, span);
            if is_absolute {
                break;
            }
        }
        is_seen
    }

    fn formed_path(&mut self, base: &Text, path: &Text, access: Access, span: Option<ByteSpan>) {
        let found = self.place.forms.path(base, path);
        work::done(base.known_part().len() + path.known_part().len());
        if let Some(reason) = &found.unknown {
            self.unknown(reason.as_str(), span);
        }
        self.access(found.subject, access, span);
        if let Some(outside) = found.outside {
            self.push(
                self.tools.external_directory.clone(),
                Subject::path(outside),
                Need::Restrictive,
                span,
            );
        }
    }

    fn access(&mut self, subject: PathSubject, access: Access, span: Option<ByteSpan>) {
        let subject = Subject::path(subject);
        match access {
            Access::Read => {
                self.push(self.tools.read.clone(), subject, Need::Restrictive, span);
            }
            Access::List => {
                self.push(self.tools.list.clone(), subject, Need::Restrictive, span);
            }
            Access::Write => {
                let edit = subject.clone();
                self.push(
                    self.tools.file_write.clone(),
                    subject,
                    Need::Restrictive,
                    span,
                );
                self.push(self.tools.file_edit.clone(), edit, Need::Restrictive, span);
            }
            Access::Derived(parent) => {
                let need = parent.map_or(Need::Full, Need::DerivedFrom);
                let edit = subject.clone();
                self.push(self.tools.file_write.clone(), subject, need, span);
                self.push(self.tools.file_edit.clone(), edit, Need::Restrictive, span);
            }
        }
    }

    /// A write to a path that is not known.
    fn unknown_path(&mut self, parent: Option<OperationIdx>, span: Option<ByteSpan>) {
        let form = PathForm {
            short: Text::anything(),
            absolute: Text::anything(),
            home: None,
        };
        let subject = PathSubject {
            lexical: form,
            resolved: None,
            further: Vec::new(),
        };
        self.access(subject, Access::Derived(parent), span);
    }

    /// Adds a change into a directory; whether it is known and inside the workspace.
    pub(crate) fn directory(&mut self, bases: &Bases, span: Option<ByteSpan>) -> bool {
        let mut is_inside = true;
        for base in bases.all() {
            if base.as_known().is_none() {
                is_inside = false;
                continue;
            }
            let found = self.place.forms.path(base, &Text::known("."));
            if let Some(reason) = &found.unknown {
                self.unknown(reason.as_str(), span);
            }
            if let Some(outside) = found.outside {
                is_inside = false;
                self.push(
                    self.tools.external_directory.clone(),
                    Subject::path(outside),
                    Need::Restrictive,
                    span,
                );
            }
        }
        is_inside
    }

    /// Adds the fetch of a URL, or the read of a `file:` URL.
    pub(crate) fn fetch(&mut self, arg: &Arg, bases: &Bases) -> bool {
        let text = arg.write_bare(TextBuilder::new()).build();
        if text.known_part().is_empty() {
            return false;
        }
        let urls = match self.place.forms.url(&text) {
            UrlFound::Url(urls) => urls,
            UrlFound::File { path, url } => {
                let is_seen = match behind_file_scheme(arg) {
                    Some(path) => self.path(&path, Access::Read, bases),
                    None => self.path_text(&path, Access::Read, bases, arg.span),
                };
                if !is_seen {
                    return false;
                }
                vec![url]
            }
            UrlFound::Unknown(_) => return false,
        };
        for url in urls {
            let tool = self.tools.web_fetch.clone();
            self.push(tool, Subject::Url(url), Need::Restrictive, arg.span);
        }
        true
    }
}

/// The path of `file://$PWD/…`: a variable that names a directory is known only in front.
fn behind_file_scheme(url: &Arg) -> Option<Arg> {
    const SCHEME: &str = "file://";
    let is_scheme = url.prefix().eq_ignore_ascii_case(SCHEME);
    is_scheme.then(|| url.without_prefix(SCHEME.len()))
}

/// Targets that are no files: free for everyone.
fn is_free(path: &str) -> bool {
    matches!(
        path,
        "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/stdin"
    )
}

#[expect(
    clippy::expect_used,
    reason = "the names of built-in tools are tool names"
)]
fn tool(name: &str) -> ToolName {
    ToolName::new(name).expect("a built-in tool's name")
}
