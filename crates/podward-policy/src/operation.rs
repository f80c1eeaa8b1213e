//! What a call would do, as values that rules can judge.

use std::sync::Arc;

use crate::circumstances::Circumstances;
use crate::source::ByteSpan;
use crate::text::Text;
use crate::tool::{EXTERNAL_DIRECTORY, ToolName};

/// The place of an operation in its [`Operations`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OperationIdx(pub usize);

/// What a tool found in a call's arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lowered {
    /// Blanks and comments only: nothing would run.
    NothingToRun,
    /// One or more operations.
    Operations(Operations),
}

/// The operations of one call: never empty.
///
/// ```compile_fail
/// // Private fields: an empty list cannot be made.
/// let none = podward_policy::Operations { all: Vec::new(), whole: None };
/// ```
///
/// ```
/// # use podward_policy::{Need, Operation, Operations, Subject, Text, ToolName};
/// let skill = Operation {
///     tool: ToolName::new("skill").unwrap(),
///     subject: Subject::Plain(Text::known("release")),
///     need: Need::Full,
///     span: None,
///     partial: Vec::new(),
/// };
/// assert_eq!(Operations::new(skill, Vec::new()).len(), 1);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operations {
    // INVARIANT: never empty; `new` and `from_vec` are the only ways to make one.
    all: Vec<Operation>,
    whole: Option<WholeText>,
}

/// The text of a whole command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WholeText {
    /// As the call holds it, without blanks at both ends.
    pub exact: Box<str>,
    /// Without comments and here-document bodies.
    pub stripped: Box<str>,
    /// Bytes of `stripped` up to which it is a line of its own, from the shortest on: those before
    /// something was appended (D5.5).
    pub heads: Box<[usize]>,
}

/// The tools that read files and do nothing else.
const READERS: [&str; 4] = ["read", "grep", "glob", "list"];

impl Lowered {
    /// Whether a call reads files, wherever they lie, and does nothing else.
    #[must_use]
    pub fn only_reads(&self) -> bool {
        let Self::Operations(operations) = self else {
            return true;
        };
        let reads = |operation: &Operation| READERS.contains(&operation.tool.as_str());
        operations.iter().any(reads)
            && operations
                .iter()
                .all(|operation| reads(operation) || operation.tool.as_str() == EXTERNAL_DIRECTORY)
    }
}

impl Operations {
    /// The operations of a call, in the order in which they stand in it.
    #[must_use]
    pub fn new(first: Operation, rest: Vec<Operation>) -> Self {
        // A call may wait long for its answer: no room is kept for more.
        let mut all = Vec::with_capacity(rest.len() + 1);
        all.push(first);
        all.extend(rest);
        Self { all, whole: None }
    }

    /// The operations of a call; `None` if there are none.
    #[must_use]
    pub fn from_vec(mut all: Vec<Operation>) -> Option<Self> {
        all.shrink_to_fit();
        (!all.is_empty()).then_some(Self { all, whole: None })
    }

    /// The same with the whole text of the call: an allow rule without wildcards equal to it covers
    /// every operation of the call, and a restrictive pattern with a shell operator is matched
    /// against [`WholeText::stripped`] and each of its heads.
    #[must_use]
    pub fn with_whole(mut self, whole: WholeText) -> Self {
        self.whole = Some(whole);
        self
    }

    /// The whole text of the call, where it is more than its single operation.
    #[must_use]
    pub const fn whole(&self) -> Option<&WholeText> {
        self.whole.as_ref()
    }

    /// All operations in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Operation> + Clone + '_ {
        self.all.iter()
    }

    /// The operation at a place.
    #[must_use]
    pub fn get(&self, idx: OperationIdx) -> Option<&Operation> {
        self.all.get(idx.0)
    }

    /// How many there are: at least 1.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "never empty")]
    pub const fn len(&self) -> usize {
        self.all.len()
    }
}

/// One thing a call would do: a tool and the text that rules for this tool are matched against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// The tool whose rules judge it.
    pub tool: ToolName,
    /// What the rules are matched against.
    pub subject: Subject,
    /// How far the operation needs an allow.
    pub need: Need,
    /// The part of the call's text it came from (bytes of the `command` of bash).
    pub span: Option<ByteSpan>,
    /// Why the analysis may not have seen all of it; empty is full coverage.
    pub partial: Vec<Box<str>>,
}

/// How far an operation needs an allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Need {
    /// Needs an allow where the default is not allow.
    Full,
    /// Can only tighten: where no rule matches, it is allowed. A rule with pattern `*` (and, for
    /// an operation of another tool, a tool glob) says what a default says and is not applied.
    Restrictive,
    /// Neutral wrappers and free builtins: needs no rule, deny and ask rules still count, a
    /// catch-all is not applied.
    Free,
    /// An address that a name or a redirect led to: needs an allow by a rule that names it. A rule
    /// with pattern `*` and an allow whose host is wildcards only say nothing of it, and where no
    /// rule names it, a default that allows asks.
    Named,
    /// A write that a command makes by a redirection, an option or an inline script: a full
    /// operation, but where a tool-wide `*` allow decides the command, it meets the rules of its
    /// tool and not the default.
    DerivedFrom(OperationIdx),
    /// The command that a wrapper runs (`sudo X`): full, or covered by a wildcard allow of the
    /// wrapper whose text before the first wildcard reaches at least `reach` bytes into the
    /// wrapper's text.
    RunBy {
        /// The wrapper's operation.
        wrapper: OperationIdx,
        /// Bytes of the wrapper's text up to the end of this operation's program name.
        reach: usize,
    },
}

/// What an operation's rules are matched against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// A simple command.
    Command(CommandSubject),
    /// A path, shared by the operations of a call that are about it.
    Path(Arc<PathSubject>),
    /// All that lies below a directory: every form of it ends in `/` (`./` is the workspace). A
    /// restrictive pattern meets it where what it names begins below the directory, an allow where
    /// it covers every path there.
    Tree(Arc<PathSubject>),
    /// A URL.
    Url(UrlSubject),
    /// Any other text, taken literally: canonical JSON of an MCP tool, a skill's name.
    Plain(Text),
    /// Code that is not known before it runs: stands for anything, and so meets the deny and ask
    /// rules of bash, read, file_write, file_edit and web_fetch alike.
    Unknown(UnknownReason),
}

/// A simple command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandSubject {
    /// The argv after quote removal, each word as [`written_word`](crate::written_word) writes it,
    /// joined by one blank. The only form an allow rule sees.
    ///
    /// A word with holes is written without quotes unless its known part needs them: that the
    /// value of a hole may come to need them is taken into account when rules are matched.
    pub written: Text,
    /// Bytes of `written`'s known part that are assignments in front of the program, its blank
    /// included; 0 if there are none.
    pub name_start: usize,
    /// End of the program's name in `written`'s known part.
    pub name_end: usize,
    /// Further forms that deny and ask rules see: without quotes, by basename, without leading
    /// assignments, without global options. None of them has quotes around words; the program is
    /// their first word that is no assignment.
    pub further: Vec<Text>,
    /// What its words do not say; `None`: all that it names by a path is named from the directory of
    /// the call, it runs there, the shell expands none of its words, and it is given no input.
    pub place: Option<Box<CommandPlace>>,
}

/// What the words of a command do not say.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommandPlace {
    /// What it does hangs on these too.
    pub circumstances: Circumstances,
    /// The command with its program, or the script that it is given, spelled by where that lies: a
    /// group for each directory in which it may run, and in a group each spelling. An allow has to
    /// match one of each group beside the command as written; a deny or an ask counts if it matches
    /// any of them.
    pub located: Vec<Vec<Text>>,
}

/// Directories in which a command may run, as rules write paths; `.` is that of the call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Directories {
    /// The directory of the call and no other.
    #[default]
    Own,
    /// One of these: at least one, in the order of their text.
    OneOf(Box<[Box<str>]>),
    /// Not known before it runs.
    Unknown,
}

/// A path, in the forms in which rules may name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathSubject {
    /// Lexically normalised.
    pub lexical: PathForm,
    /// With symlinks resolved, where that differs from the lexical form.
    pub resolved: Option<PathForm>,
    /// Further spellings that deny and ask rules see.
    pub further: Vec<PathForm>,
}

/// One spelling of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathForm {
    /// Relative to the workspace when inside it (the workspace itself is `.`), else absolute.
    pub short: Text,
    /// Absolute.
    pub absolute: Text,
    /// With `~/` in front, when below the home directory.
    pub home: Option<Text>,
}

/// A canonical URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UrlSubject {
    /// Scheme, lower-case host, path and query: no user info, no default port, no fragment.
    pub text: Text,
    /// The host's bytes in `text`'s known part (empty for a URL without a host).
    pub host: ByteSpan,
    /// It was written with user info: no allow covers it.
    pub has_user_info: bool,
}

/// Why code cannot be known before it runs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct UnknownReason(Box<str>);

impl PathSubject {
    /// All spellings.
    pub(crate) fn forms(&self) -> impl Iterator<Item = &PathForm> {
        std::iter::once(&self.lexical)
            .chain(&self.resolved)
            .chain(&self.further)
    }
}

impl PathForm {
    /// All that is known of this spelling: short, absolute, from the home directory.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &Text> {
        [&self.short, &self.absolute].into_iter().chain(&self.home)
    }
}

impl Operation {
    /// An operation of a tool whose rules are matched against a text as it is: it needs an allow,
    /// and all of it is known.
    ///
    /// ```
    /// # use podward_policy::{Lowered, Operation, ToolName};
    /// let deploy = ToolName::new("deploy")?;
    /// // What `tool = "deploy"`, `pattern = "production"` would match:
    /// let lowered = Lowered::from(Operation::plain(&deploy, "production"));
    /// # Ok::<(), podward_policy::ToolNameError>(())
    /// ```
    #[must_use]
    pub fn plain(tool: &ToolName, text: impl Into<Box<str>>) -> Self {
        Self {
            tool: tool.clone(),
            subject: Subject::Plain(Text::known(text)),
            need: Need::Full,
            span: None,
            partial: Vec::new(),
        }
    }
}

/// A call that does one thing.
impl From<Operation> for Lowered {
    fn from(only: Operation) -> Self {
        Self::Operations(Operations::new(only, Vec::new()))
    }
}

impl CommandSubject {
    /// What it does hangs on these beside its words.
    #[must_use]
    pub fn circumstances(&self) -> &Circumstances {
        self.place
            .as_ref()
            .map_or(Circumstances::none(), |place| &place.circumstances)
    }

    /// The directories in which it may run.
    #[must_use]
    pub fn directories(&self) -> &Directories {
        &self.circumstances().directories
    }

    /// What has to be matched beside the command as written ([`CommandPlace::located`]).
    #[must_use]
    pub fn located(&self) -> &[Vec<Text>] {
        self.place.as_ref().map_or(&[], |place| &place.located)
    }
}

impl Directories {
    /// Directories by their names, each once.
    #[must_use]
    pub fn of(mut names: Vec<Box<str>>) -> Self {
        names.sort_unstable();
        names.dedup();
        match &*names {
            [] => Self::Own,
            [only] if &**only == OWN => Self::Own,
            _ => Self::OneOf(names.into()),
        }
    }

    /// Their names; `None`: they are not known.
    #[must_use]
    pub fn names(&self) -> Option<Vec<&str>> {
        match self {
            Self::Own => Some(vec![OWN]),
            Self::OneOf(names) => Some(names.iter().map(|name| &**name).collect()),
            Self::Unknown => None,
        }
    }

    /// Whether what runs in one of these runs in one of the others.
    pub(crate) fn are_among(&self, others: &Self) -> bool {
        match (self.names(), others.names()) {
            (Some(names), Some(others)) => names.iter().all(|name| others.contains(name)),
            (None, _) | (_, None) => false,
        }
    }
}

/// The name of the directory of the call.
const OWN: &str = ".";

impl Subject {
    /// A path.
    #[must_use]
    pub fn path(path: PathSubject) -> Self {
        Self::Path(Arc::new(path))
    }

    /// All that lies below a directory.
    #[must_use]
    pub fn tree(directory: PathSubject) -> Self {
        Self::Tree(Arc::new(directory))
    }
}

impl UnknownReason {
    /// A short reason for people, lower case, no full stop: `text with shell characters`.
    #[must_use]
    pub fn new(why: impl Into<Box<str>>) -> Self {
        Self(why.into())
    }

    /// The reason.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
