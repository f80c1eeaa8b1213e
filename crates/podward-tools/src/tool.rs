//! What a tool is: it lowers a call's arguments to operations, and runs what was permitted.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use podward_gate::Permit;
use podward_policy::{Lowered, Policies, ToolName};
use podward_scope::{Scope, ScopeDecl, ScopeError};
use podward_shell::AddedPrograms;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::bash::{USUAL_NAMES, names_of};
use crate::error::BadCall;
use crate::keep::Keep;
use crate::skill::{NoSkills, StartSkill};
use crate::spawn::{NoChildren, RunChild};

/// Something the model can call.
pub trait Tool: Send + Sync {
    /// The exact name that rules and the model use.
    fn name(&self) -> &ToolName;

    /// What the tool does, written for the model.
    fn description(&self) -> &str;

    /// The JSON Schema of the arguments, given to the model.
    fn schema(&self) -> Value;

    /// Parses a call's arguments, once, and says what the call would do.
    ///
    /// Reads the disk only to resolve symlinks, and only if `place` says so; changes nothing.
    ///
    /// # Errors
    /// The arguments do not fit the schema.
    fn propose(&self, arguments: Value, place: &Place) -> Result<Proposal, BadCall>;
}

/// A call that can be judged, and run if it is permitted.
pub struct Proposal {
    /// The arguments as canonical JSON (RFC 8785).
    pub arguments: Box<str>,
    /// What the call would do.
    pub lowered: Lowered,
    /// The typed arguments, ready to run.
    pub invocation: Box<dyn Invocation>,
}

impl std::fmt::Debug for Proposal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Proposal")
            .field("arguments", &self.arguments)
            .field("lowered", &self.lowered)
            .finish_non_exhaustive()
    }
}

/// The typed arguments of one call: what was judged is what runs.
#[async_trait]
pub trait Invocation: Send {
    /// The session that the call is to work in, if it works in one of its own: that is on record before the
    /// call runs. When the process dies before there is a result, whoever goes on with the session that the
    /// call was made in has it judged and run again, and [`RunContext::session`] is the one of before.
    fn session(&self, _: &RunContext) -> Option<String> {
        None
    }

    /// A look at whether the call can only fail, as things are, for a call that a person would be asked
    /// about: with an error that is its result, and nobody is asked. `None`: nothing is known against it.
    ///
    /// The model reads the error without anybody's approval: it must not tell what the rules do not let
    /// the model know anyway. Where other calls may change files before this one runs, what is on disk says
    /// nothing yet.
    fn precheck(&self, _: &RunContext, _: Meanwhile) -> Option<Precheck> {
        None
    }

    /// Runs the call.
    ///
    /// It ends soon after `ctx.cancel` is cancelled, with an error result that says so.
    async fn run(self: Box<Self>, permit: Permit, ctx: &RunContext) -> ToolOutput;
}

/// Looks whether a call can only fail, and changes nothing: the error is the one that the call would end
/// with. It may work on files and block meanwhile.
pub type Precheck = Box<dyn FnOnce() -> Result<(), String> + Send>;

/// What may happen between a look at a call and its run, as far as is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meanwhile {
    /// No call that may run before it changes what it is about.
    NothingChanges,
    /// Another call may.
    FilesChange,
}

/// Has a further call judged that a running call turns out to need: the redirect of a fetch, the
/// address that a name led to.
///
/// It is judged, shown to hooks, asked about and written down like a call of the model; only then
/// is there anything to run.
#[async_trait]
pub trait Judge: Send + Sync {
    /// Judges a call of the same tool.
    async fn judge(&self, occasion: Occasion, proposal: Proposal) -> Judged;
}

/// What makes a running call need a further one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occasion {
    /// One short word for it; it becomes part of the further call's id.
    pub word: Box<str>,
    /// The addresses that have led there by redirects, one after the other: a person who is asked sees them.
    pub redirected_from: Vec<Box<str>>,
}

/// What became of a further call.
pub enum Judged {
    /// It may run.
    Run(Permit, Box<dyn Invocation>),
    /// It does not run, and why, written for the model.
    Refused(String),
}

/// Refuses every further call: for a call that nobody runs in a turn.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unjudged;

#[async_trait]
impl Judge for Unjudged {
    async fn judge(&self, _occasion: Occasion, _proposal: Proposal) -> Judged {
        Judged::Refused("nobody is there to judge a further call".to_owned())
    }
}

/// What the model reads as the result of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolOutput {
    /// The text.
    pub content: String,
    /// Whether the call failed.
    pub is_error: bool,
}

impl ToolOutput {
    /// The result of a call that did what it was asked to.
    #[must_use]
    pub fn success(content: impl Into<String>) -> Self {
        Self {
            content: content.into(),
            is_error: false,
        }
    }

    /// The result of a call that failed, and why.
    #[must_use]
    pub fn failure(content: impl Into<String>) -> Self {
        Self {
            content: content.into(),
            is_error: true,
        }
    }
}

/// Where a call is made: what relative paths, `~` and "inside the workspace" mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The pod's workspace; absolute.
    pub workspace: PathBuf,
    /// The directory that relative paths start from; absolute.
    pub cwd: PathBuf,
    /// The home directory; absolute.
    pub home: Option<PathBuf>,
    /// Whether symlinks are resolved.
    pub links: Links,
    /// The names of the variables that a command of `bash` finds in its environment: setting one
    /// of them reaches the programs that the command starts.
    pub environment: Vec<String>,
    /// Models of programs beside those that are built in.
    pub programs: Arc<AddedPrograms>,
}

impl Place {
    /// A place whose directory is its workspace, whose symlinks are resolved, and whose commands
    /// have the usual environment.
    #[must_use]
    pub fn new(workspace: impl Into<PathBuf>, home: Option<PathBuf>) -> Self {
        let workspace = workspace.into();
        Self {
            cwd: workspace.clone(),
            workspace,
            home,
            links: Links::Resolve,
            environment: USUAL_NAMES.map(str::to_owned).to_vec(),
            programs: Arc::default(),
        }
    }

    /// The same place, where the commands of `bash` get this environment
    /// ([`RunContext::environment`]).
    #[must_use]
    pub fn with_environment(mut self, environment: &[(OsString, OsString)]) -> Self {
        self.environment = names_of(environment);
        self
    }

    /// The same place, where commands are read with these models too.
    #[must_use]
    pub fn with_programs(mut self, programs: AddedPrograms) -> Self {
        self.programs = Arc::new(programs);
        self
    }

    /// The same place, judged by its text alone: the disk is not looked at.
    #[must_use]
    pub fn isolated(mut self) -> Self {
        self.links = Links::Lexical;
        self
    }
}

/// Whether the disk is asked where a path leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Links {
    /// Symlinks are resolved on disk.
    Resolve,
    /// The disk is not looked at: a path is its text.
    Lexical,
}

/// What a running call may use.
#[derive(Clone)]
pub struct RunContext {
    /// The physical boundary: every file is opened through it.
    pub scope: Arc<Scope>,
    /// Where the call is made.
    pub place: Place,
    /// How much a call may return and how long it may take.
    pub limits: ToolLimits,
    /// The policies, for leaving out of a search what `read` does not allow.
    pub policies: Policies,
    /// The whole environment of a child process.
    pub environment: Vec<(OsString, OsString)>,
    /// Keeps what a call is about to change; `None` keeps nothing.
    pub keep: Option<Arc<dyn Keep>>,
    /// Has a further call judged that the running one turns out to need.
    pub judge: Arc<dyn Judge>,
    /// Starts skills, for the tool `skill`.
    pub skills: Arc<dyn StartSkill>,
    /// Runs children, for the tool `spawn`.
    pub children: Arc<dyn RunChild>,
    /// The session that the call works in, if [`Invocation::session`] named one.
    pub session: Option<Arc<str>>,
    /// Cancelled when the call shall end.
    pub cancel: CancellationToken,
}

impl RunContext {
    /// A context with the usual limits, an empty environment for child processes, nothing that
    /// keeps what is changed, and nobody who judges further calls (a worker puts itself there).
    ///
    /// `policies` are those that the gate judges by: a search leaves out what they let nobody read.
    #[must_use]
    pub fn new(scope: Arc<Scope>, place: Place, policies: Policies) -> Self {
        Self {
            scope,
            place: place.with_environment(&[]),
            limits: ToolLimits::default(),
            policies,
            environment: Vec::new(),
            keep: None,
            judge: Arc::new(Unjudged),
            skills: Arc::new(NoSkills),
            children: Arc::new(NoChildren),
            session: None,
            cancel: CancellationToken::new(),
        }
    }

    /// A context for tools that start no programs, in one existing directory (absolute): files can
    /// be read everywhere and written in it.
    ///
    /// # Errors
    /// The directory cannot be used.
    pub fn in_directory(directory: &Path, policies: Policies) -> Result<Self, ScopeError> {
        let scope = Scope::open(&ScopeDecl::default(), directory, directory, &[])?;
        let place = Place::new(directory, None);
        Ok(Self::new(Arc::new(scope), place, policies))
    }
}

/// How much a call may return and how long it may take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolLimits {
    /// Bytes of one result; what is more is cut, with a mark.
    pub output_bytes: usize,
    /// Bytes of the largest file that `file_edit` loads and that `grep` searches.
    pub file_bytes: u64,
    /// Bytes that `read` returns of one file.
    pub read_bytes: usize,
    /// Lines that `read` returns unless the call asks for fewer.
    pub read_lines: usize,
    /// Bytes of one line in a result; what is more is cut, with a mark.
    pub line_bytes: usize,
    /// Matching lines that `grep` returns.
    pub matches: usize,
    /// Paths that `glob`, `list` and `grep` for files return.
    pub entries: usize,
    /// How long a `bash` command may run when the call does not say, and at most.
    pub bash_timeout: Duration,
    /// Bytes that `web_fetch` takes of one answer, unpacked.
    pub fetch_bytes: usize,
    /// How long the network may take over one call of `web_fetch`, redirects included.
    pub fetch_timeout: Duration,
}

impl Default for ToolLimits {
    fn default() -> Self {
        Self {
            output_bytes: 64 * 1024,
            file_bytes: 32 * 1024 * 1024,
            read_bytes: 64 * 1024,
            read_lines: 2000,
            line_bytes: 2000,
            matches: 200,
            entries: 1000,
            bash_timeout: Duration::from_secs(120),
            fetch_bytes: 5 * 1024 * 1024,
            fetch_timeout: Duration::from_secs(30),
        }
    }
}
