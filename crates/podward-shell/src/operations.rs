//! Collects the operations of one call.

mod trees;

pub(crate) use trees::TreeAccess;

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::LazyLock;

use podward_policy::{
    ByteSpan, CommandSubject, EXTERNAL_DIRECTORY, Need, Operation, OperationIdx, PathForm,
    PathSubject, Subject, Text, TextBuilder, ToolName, UnknownReason,
};

use crate::arg::{Arg, Directories};
use crate::limits;
use crate::place::{ShellPlace, UrlFound};
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
}

/// A reason, its place, and whether it is only for deny rules.
type UnknownKey = (Box<str>, Option<(usize, usize)>, bool);

/// The directories that a relative path may start from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bases(Rc<[Text]>);

impl Bases {
    pub(crate) fn known(directory: &str) -> Self {
        Self(Rc::new([Text::known(directory)]))
    }

    pub(crate) fn unknown() -> Self {
        Self(Rc::new([Text::anything()]))
    }

    /// The directory, if there is only one and it is known.
    pub(crate) fn single(&self) -> Option<&str> {
        match &*self.0 {
            [base] => base.as_known(),
            _ => None,
        }
    }

    pub(crate) fn is_unknown(&self) -> bool {
        self.0.iter().any(|base| base.as_known().is_none())
    }

    /// Whether the first, where every change of directory succeeded, is known to lie inside the
    /// workspace.
    pub(crate) fn is_inside(&self, place: &ShellPlace<'_>) -> bool {
        self.0.first().is_some_and(|base| {
            base.as_known().is_some() && {
                let found = place.forms.path(base, &Text::known("."));
                found.outside.is_none() && found.unknown.is_none()
            }
        })
    }

    pub(crate) fn join(self, other: Self) -> Self {
        if other.0.iter().all(|base| self.0.contains(base)) {
            return self;
        }
        let mut all = self.0.to_vec();
        for base in &*other.0 {
            if !all.contains(base) {
                all.push(base.clone());
            }
        }
        if all.len() > limits::BASES {
            all.truncate(limits::BASES);
            all.push(Text::anything());
        }
        Self(all.into())
    }

    /// After changing into a directory.
    pub(crate) fn enter(&self, directory: &Arg, place: &ShellPlace<'_>) -> Self {
        let directories = Directories {
            home: place.home,
            working: self.single(),
        };
        let Some(path) = directory
            .path(directories)
            .filter(|path| !has_expansion(path))
        else {
            return Self::unknown();
        };
        if path.known_part().starts_with(CWD) && path.as_known().is_some() {
            // The directory that the shell is in.
            let below = path.known_part().split_at(CWD.len()).1;
            if below.is_empty() || below.starts_with('/') {
                return self.joined(&Text::known(format!("./{below}")));
            }
        }
        if path.known_part().starts_with('/') && path.holes().first().is_none_or(|h| h.at > 0) {
            return Self(Rc::new([path]));
        }
        self.joined(&path)
    }

    /// A path below each of the directories.
    fn joined(&self, path: &Text) -> Self {
        let len = path.known_part().len();
        let entered = self.0.iter().map(|base| {
            let n_bytes = base.known_part().len() + len;
            if has_expansion(base) || n_bytes >= limits::DIRECTORY_BYTES {
                return Self::unknown();
            }
            work::done(n_bytes);
            let joined = TextBuilder::new().text(base).known("/").text(path).build();
            Self(Rc::new([joined]))
        });
        entered.reduce(Self::join).unwrap_or_else(Self::unknown)
    }
}

/// The kernel's name of the working directory.
const CWD: &str = "/proc/self/cwd";

/// Whether a text holds a value that is not known, and not a file name pattern only.
fn has_expansion(text: &Text) -> bool {
    text.holes().iter().any(|hole| hole.kind.is_expansion())
}

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
        }
    }

    /// Counts a command that is walked.
    pub(crate) const fn burn(&mut self) {
        self.fuel = self.fuel.saturating_sub(1);
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
        let directories = Directories {
            home: self.place.home,
            working: bases.single(),
        };
        let Some(path) = arg.path(directories) else {
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
        for base in &*bases.0 {
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
                Subject::Path(outside),
                Need::Restrictive,
                span,
            );
        }
    }

    fn access(&mut self, subject: PathSubject, access: Access, span: Option<ByteSpan>) {
        let subject = Subject::Path(subject);
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
        for base in &*bases.0 {
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
                    Subject::Path(outside),
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
