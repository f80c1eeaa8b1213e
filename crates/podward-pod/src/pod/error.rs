//! Why a pod cannot start or go on.

use std::io;
use std::path::PathBuf;

use podward_model::ModelError;
use podward_model::script::ScriptError;
use podward_protocol::SessionId;
use podward_scope::ScopeError;
use podward_worker::{ReplayError, SkillError, WorkerError};

use crate::children::ChildError;
use crate::error::StateError;
use crate::file::shown;
use crate::hook::ProgramProblem;
use crate::serve::RunDirError;
use crate::session::SessionNotFound;
use crate::skills::TwoSkills;

/// Why a pod cannot start or go on.
#[derive(Debug, thiserror::Error)]
pub enum PodError {
    /// No layer names a model.
    #[error("no layer names a model")]
    NoModel,
    /// The model cannot be asked.
    #[error(transparent)]
    Model(ModelError),
    /// The program has no script of this name.
    #[error("there is no embedded script `{0}`")]
    NoScript(&'static str),
    /// A model's script cannot be read.
    #[error("the script `{}` cannot be read", shown(path))]
    ScriptFile {
        /// The script.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// A model's script makes no sense.
    #[error("{}", script_errors(name, errors))]
    Script {
        /// The script, as it is shown to people.
        name: String,
        /// Everything that is wrong with it.
        errors: Vec<ScriptError>,
    },
    /// There is no such session.
    #[error(transparent)]
    Session(SessionNotFound),
    /// A session holds what no worker wrote.
    #[error("the session {session} cannot go on")]
    Replay {
        /// The session.
        session: String,
        /// Why not.
        #[source]
        source: ReplayError,
    },
    /// What holds for a child cannot be kept, or had.
    #[error(transparent)]
    Child(ChildError),
    /// A session is that of a child, and nothing holds the pod that would go on with it.
    #[error(
        "the session {0} is that of a child: it goes on only under the rules of the pods above it"
    )]
    OfChild(SessionId),
    /// Files of podward's own cannot be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// The scope cannot be opened or enforced.
    #[error(transparent)]
    Scope(#[from] ScopeError),
    /// Hooks cannot be started, or could have been written by others.
    #[error("{}", hook_problems(.0))]
    Hooks(Vec<ProgramProblem>),
    /// The pod has no socket.
    #[error("the pod has no socket: {0}")]
    Socket(RunDirError),
    /// A layer forbids that questions are answered beforehand.
    #[error("a layer forbids that questions are answered beforehand (`auto = \"forbid\"`)")]
    AutoForbidden,
    /// The process cannot be made what a pod has to be.
    #[error("what tools start cannot be told from other processes")]
    Process(#[source] io::Error),
    /// The skill that was to begin with a prompt does not start; no turn has begun.
    #[error(transparent)]
    Skill(SkillError),
    /// Two skills were to begin with one prompt; no turn has begun.
    #[error(transparent)]
    TwoSkills(TwoSkills),
    /// A turn could not be recorded to its end.
    #[error(transparent)]
    Worker(WorkerError),
}

/// What to write when no layer names a model.
const HOW_TO_NAME_A_MODEL: &str = r#"write one of these into the manifest, or into ~/.config/podward/pod.toml for all of them:

    [model]
    provider = "anthropic"
    model = "claude-sonnet-4-5"
    key_env = "ANTHROPIC_API_KEY"

    [model]
    provider = "openai"
    model = "gpt-5"
    key_env = "OPENAI_API_KEY"

    [model]                                     # a server of your own: Ollama, vLLM, llama.cpp, LM Studio
    provider = "openai"
    model = "qwen3"
    base_url = "http://127.0.0.1:11434/v1"

    [model]                                     # no model at all, only the demonstration's steps
    provider = "scripted"
    script = "demo""#;

impl PodError {
    /// What can be done about it.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::NoModel => Some(HOW_TO_NAME_A_MODEL.to_owned()),
            Self::Model(error) => error.hint().map(str::to_owned),
            Self::Session(SessionNotFound::Several { candidates, .. }) => {
                Some(newest(candidates))
            }
            Self::Session(SessionNotFound::State(error)) | Self::State(error) => error.help(),
            Self::Scope(error) => error.hint(),
            Self::Worker(error) => journal_help(error),
            Self::Hooks(problems) => problems.iter().find_map(ProgramProblem::help),
            Self::Session(SessionNotFound::None { newest: Some(id), .. }) => {
                Some(format!("the newest session is {id}"))
            }
            Self::ScriptFile { .. } => Some(
                "`script` in `[model]` names it: `demo`, or a path that starts at the directory of \
                 the manifest"
                    .to_owned(),
            ),
            Self::Socket(error) => error.help(),
            Self::OfChild(id) => Some(format!("name it: `--resume {id}`")),
            Self::AutoForbidden => Some(
                "leave out `--auto`, or ask who keeps that layer: `podward manifest` names it"
                    .to_owned(),
            ),
            Self::Skill(error) => crate::skills::help(error).map(str::to_owned),
            Self::Process(_)
            | Self::Child(_)
            | Self::TwoSkills(_)
            | Self::NoScript(_)
            | Self::Script { .. }
            | Self::Session(
                SessionNotFound::None { newest: None, .. } | SessionNotFound::NoneOf { .. },
            )
            | Self::Replay { .. } => None,
        }
    }
}

/// Sessions that are named when many might be meant.
const NAMED: usize = 5;

/// The newest of several sessions.
fn newest(ids: &[SessionId]) -> String {
    let named: Vec<&str> = ids
        .iter()
        .rev()
        .take(NAMED)
        .map(SessionId::as_str)
        .collect();
    let which = if ids.len() > NAMED {
        "write more of it; the newest are"
    } else {
        "write more of it; newest first they are"
    };
    format!("{which} {}", named.join(", "))
}

/// The help of the file behind a turn that could not be recorded.
fn journal_help(error: &WorkerError) -> Option<String> {
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        if let Some(state) = cause.downcast_ref::<StateError>() {
            return state.help();
        }
        source = cause.source();
    }
    None
}

fn hook_problems(problems: &[ProgramProblem]) -> String {
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

fn script_errors(name: &str, errors: &[ScriptError]) -> String {
    let lines: Vec<String> = errors
        .iter()
        .map(|error| format!("{name}:{error}"))
        .collect();
    lines.join("\n")
}
