//! Collects the operations of one call.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::LazyLock;

use podward_policy::{
    ByteSpan, CommandSubject, EXTERNAL_DIRECTORY, Need, Operation, OperationIdx, PathForm,
    PathSubject, Subject, Text, ToolName, UnknownReason,
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
            .and_then(|path| path.as_known().map(str::to_owned))
        else {
            return Self::unknown();
        };
        if path.starts_with('/') {
            return Self::known(&path);
        }
        let entered = self.0.iter().map(|base| match base.as_known() {
            Some(base) if base.len() + path.len() < limits::DIRECTORY_BYTES => {
                work::done(base.len() + path.len());
                Self::known(&format!("{base}/{path}"))
            }
            _ => Self::unknown(),
        });
        entered.reduce(Self::join).unwrap_or_else(Self::unknown)
    }
}

/// How a path is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    /// A write that is the program's purpose.
    Write,
    /// A write by a redirection, an option or an inline script.
    Derived(Option<OperationIdx>),
}

/// What happens to all that lies below a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TreeAccess {
    /// It is deleted or changed.
    Writes,
    /// It is read and removed.
    Moves,
}

struct Tools {
    bash: ToolName,
    read: ToolName,
    file_write: ToolName,
    file_edit: ToolName,
    web_fetch: ToolName,
    external_directory: ToolName,
}

static TOOLS: LazyLock<Tools> = LazyLock::new(|| Tools {
    bash: tool("bash"),
    read: tool("read"),
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
            if !is_absolute && base.as_known().is_none() {
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

    /// Adds that all below a directory is deleted, moved or changed.
    pub(crate) fn tree(&mut self, arg: &Arg, access: TreeAccess, bases: &Bases) {
        let directories = Directories {
            home: self.place.home,
            working: bases.single(),
        };
        let Some(path) = arg
            .path(directories)
            .filter(|path| !path.known_part().is_empty())
        else {
            return;
        };
        for base in &*bases.0 {
            let found = self.place.forms.path(base, &path);
            work::done(base.known_part().len() + path.known_part().len());
            let mut trees = vec![below(&found.subject)];
            trees.extend(self.known_places_in(&found.subject));
            for tree in trees {
                let tree = Subject::Tree(tree);
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
                let tree = Subject::Tree(below(&outside));
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
        let text = arg.write_bare(podward_policy::TextBuilder::new()).build();
        if text.known_part().is_empty() {
            return false;
        }
        match self.place.forms.url(&text) {
            UrlFound::Url(subject) => {
                self.push(
                    self.tools.web_fetch.clone(),
                    Subject::Url(subject),
                    Need::Restrictive,
                    arg.span,
                );
                true
            }
            UrlFound::File(path) => self.path_text(&path, Access::Read, bases, arg.span),
            UrlFound::Unknown(_) => false,
        }
    }
}

/// The tree below a path, in all its forms.
fn below(path: &PathSubject) -> PathSubject {
    let text = |text: &Text| match text.known_part().ends_with('/') {
        true => text.clone(),
        false => podward_policy::TextBuilder::new()
            .text(text)
            .known("/")
            .build(),
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
