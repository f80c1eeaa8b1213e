//! Why a command failed, and the exit code that says so.

use std::io;
use std::path::PathBuf;

use podward_attach::AttachError;
use podward_client::{ClientError, Ending, PodsError};
use podward_pod::{
    CallNotFound, ChildError, GrantNotFound, KeyError, PlacesError, PodError, SessionNotFound,
    TrustError, with_causes,
};
use podward_protocol::MethodErrorCode;
use podward_undo::UndoError;

use crate::connection::CallError;
use crate::exit::Exit;
use crate::screen::{Look, Screen};

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The command line makes no sense.
    #[error("{message}")]
    Usage { message: String, help: &'static str },
    /// A layer of rules or settings cannot be used; the text names each place.
    #[error("{0}")]
    BadManifest(String),
    /// There is no home directory.
    #[error("podward's own files have no place")]
    Places {
        help: &'static str,
        source: PlacesError,
    },
    /// The key of a model cannot be kept to this process.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The pod cannot start or go on.
    #[error(transparent)]
    Pod(#[from] PodError),
    /// This process is no child, or cannot be one.
    #[error(transparent)]
    Child(#[from] ChildError),
    /// The machine has no room for a runtime or signal handlers.
    #[error("the runtime cannot start")]
    Runtime(#[source] io::Error),
    /// The events of a run could not be written to their end.
    #[error("the writer of events broke down")]
    Writer,
    /// A pod did not do what it was asked.
    #[error(transparent)]
    Call(CallError),
    /// A pod ended in the middle, or the connection to it.
    #[error("the connection to the pod is over")]
    Cut(#[source] Ending),
    /// The terminal cannot be used to show pods on.
    #[error(transparent)]
    Attach(#[from] AttachError),
    /// The directory of sockets cannot be read.
    #[error(transparent)]
    Pods(#[from] PodsError),
    /// No pod has this name.
    #[error("no pod `{name}` runs")]
    NoPod { name: String, all: Vec<String> },
    /// More than one pod has this name.
    #[error("{} pods are called `{name}`", found.len())]
    SeveralPods { name: String, found: Vec<String> },
    /// A project cannot be trusted, or the list of trusted ones cannot be used.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// Something cannot be undone.
    #[error(transparent)]
    Undo(#[from] UndoError),
    /// A grant is not there, or grants cannot be used.
    #[error(transparent)]
    Grants(#[from] GrantNotFound),
    /// No call of a session is meant.
    #[error(transparent)]
    CallNotFound(#[from] CallNotFound),
    /// A project's layer was changed while it was being trusted.
    #[error("`{}` changed while it was shown: it is not trusted", .0.display())]
    ChangedMeanwhile(PathBuf),
    /// The manifest that judges alone cannot be read.
    #[error("cannot read `{}`", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    /// What would be printed has no JSON form.
    #[error("the result cannot be written as JSON")]
    Json(#[source] serde_json::Error),
    /// Standard input cannot be read.
    #[error("cannot read standard input")]
    Stdin(#[source] io::Error),
    /// Standard output cannot be written.
    #[error("cannot write standard output")]
    Stdout(#[source] io::Error),
    /// The log file cannot be opened.
    #[error("cannot open the log file `{}`", path.display())]
    LogFile { path: PathBuf, source: io::Error },
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        Self::Call(error.into())
    }
}

impl Failure {
    /// The exit code.
    pub(crate) const fn exit(&self) -> Exit {
        match self {
            Self::Usage { .. } => Exit::Usage,
            Self::BadManifest(_) | Self::Unreadable { .. } => Exit::BadManifest,
            Self::Pod(error) => pod_exit(error),
            Self::NoPod { .. } | Self::SeveralPods { .. } => Exit::Usage,
            // What was typed.
            Self::Call(CallError::Refused(error))
                if matches!(
                    error.code,
                    MethodErrorCode::UnknownSkill | MethodErrorCode::InvalidParams
                ) =>
            {
                Exit::Usage
            }
            Self::Runtime(_)
            | Self::Writer
            | Self::Attach(_)
            | Self::Call(_)
            | Self::Json(_)
            | Self::Cut(_)
            | Self::Child(_)
            | Self::Pods(_) => Exit::Failed,
            Self::Key(error) => key_exit(error),
            Self::CallNotFound(
                CallNotFound::State(_) | CallNotFound::Session(SessionNotFound::State(_)),
            )
            | Self::Grants(GrantNotFound::State(_)) => Exit::Failed,
            Self::CallNotFound(_) => Exit::Usage,
            Self::Grants(_) => Exit::Usage,
            Self::Places { .. }
            | Self::Trust(_)
            | Self::Undo(_)
            | Self::ChangedMeanwhile(_)
            | Self::Stdin(_)
            | Self::Stdout(_)
            | Self::LogFile { .. } => Exit::Failed,
        }
    }

    /// Whether nobody reads any more: no reason to say anything.
    fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Stdout(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// Tells the person what failed, with its causes and what can be done.
    pub(crate) fn report(&self, screen: Screen) {
        if self.is_closed_pipe() {
            return;
        }
        if let Self::BadManifest(text) = self {
            // It is a report of its own: each part begins with `error:`.
            screen.write_talk(&format!("{}\n", text.trim_end()));
            return;
        }
        screen.say(Look::Bad, "error", with_causes(self));
        if let Some(help) = self.help() {
            screen.say(Look::Strong, "help", help);
        }
    }

    fn help(&self) -> Option<String> {
        match self {
            Self::Usage { help, .. } | Self::Places { help, .. } => Some((*help).to_owned()),
            Self::Pod(error) => error.help(),
            Self::Key(error) => error.help(),
            Self::Trust(error) => error.help(),
            Self::Undo(error) => error.help().map(str::to_owned),
            Self::Grants(error) => error.help(),
            Self::Pods(error) => error.help(),
            Self::Call(CallError::Refused(error)) => error.help.clone(),
            Self::Call(CallError::Lost(error)) => error.help().map(str::to_owned),
            Self::Cut(ending) => ending.help().map(str::to_owned),
            Self::NoPod { all, .. } if all.is_empty() => {
                Some("no pod runs at all: `podward serve MANIFEST` starts one".to_owned())
            }
            Self::NoPod { all: names, .. } => Some(format!("these run: {}", names.join(", "))),
            Self::SeveralPods { found, .. } => Some(format!(
                "name it by the beginning of its session's id: {}",
                found.join(", ")
            )),
            Self::CallNotFound(CallNotFound::None { .. }) => Some(
                "`call` in the lines of `run --format json`, and in the decision log of a session, \
                 is the id"
                    .to_owned(),
            ),
            Self::CallNotFound(CallNotFound::Several { .. }) => {
                Some("write more of the id".to_owned())
            }
            Self::CallNotFound(_)
            | Self::Attach(_)
            | Self::BadManifest(_)
            | Self::Json(_)
            | Self::Child(_)
            | Self::Runtime(_)
            | Self::Writer
            | Self::ChangedMeanwhile(_)
            | Self::Unreadable { .. }
            | Self::Stdin(_)
            | Self::Stdout(_)
            | Self::LogFile { .. } => None,
        }
    }
}

/// What the manifest asks for and cannot be had is the manifest's; the rest is not.
const fn pod_exit(error: &PodError) -> Exit {
    match error {
        PodError::NoModel
        | PodError::Model(_)
        | PodError::NoScript(_)
        | PodError::ScriptFile { .. }
        | PodError::Script { .. }
        | PodError::Hooks(_)
        | PodError::AutoForbidden
        | PodError::Scope(_) => Exit::BadManifest,
        PodError::Session(SessionNotFound::State(_))
        | PodError::Child(_)
        | PodError::Replay { .. }
        | PodError::State(_)
        | PodError::Socket(_)
        | PodError::Process(_)
        | PodError::Worker(_) => Exit::Failed,
        PodError::Skill(_)
        | PodError::TwoSkills(_)
        | PodError::OfChild(_)
        | PodError::Session(
            SessionNotFound::None { .. }
            | SessionNotFound::NoneOf { .. }
            | SessionNotFound::Several { .. },
        ) => Exit::Usage,
    }
}

/// A key that is not where a layer says is the layer's; the rest is not.
const fn key_exit(error: &KeyError) -> Exit {
    match error {
        KeyError::NotSet { .. }
        | KeyError::NoFile { .. }
        | KeyError::File(_)
        | KeyError::Program(_)
        | KeyError::Made { .. }
        | KeyError::Start { .. }
        | KeyError::Command { .. }
        | KeyError::Endless { .. }
        | KeyError::Unusable { .. } => Exit::BadManifest,
        KeyError::Dumpable(_) | KeyError::HandOver { .. } | KeyError::Foreign => Exit::Failed,
    }
}
