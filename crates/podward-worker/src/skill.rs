//! Skills as a worker starts and ends them.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use podward_policy::SkillFiles;
use podward_skill::WorkflowRecord;

/// Skills that are active at the same time.
pub const MOST_ACTIVE_SKILLS: usize = 8;

/// A prompt, and the skill that begins with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// What the user says; may be empty where a skill begins.
    pub text: String,
    /// The name of the skill, if one begins.
    pub skill: Option<Box<str>>,
}

impl Prompt {
    /// A prompt with which a skill begins. The text behind its name is what it is to work on.
    #[must_use]
    pub fn starting(skill: impl Into<Box<str>>, text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            skill: Some(skill.into()),
        }
    }
}

/// A prompt with which no skill begins.
impl From<String> for Prompt {
    fn from(text: String) -> Self {
        Self { text, skill: None }
    }
}

/// A prompt with which no skill begins.
impl From<&str> for Prompt {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

/// Who starts a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SkillStarter {
    /// A person, or what acts for one: with a prompt.
    Client,
    /// The model, by a call.
    Model,
}

/// Finds the skills that a worker can start.
#[async_trait]
pub trait SkillSource: Send + Sync {
    /// Reads a skill as it is now. The record's name is the one that was asked for.
    ///
    /// # Errors
    /// There is no such skill, it has errors, or it is not for this starter.
    async fn load(&self, name: &str, by: SkillStarter) -> Result<LoadedSkill, SkillError>;

    /// Where the files of a skill are that began just now, or with which a session goes on: while it is
    /// active, nobody is asked about reading them. `None`, if this is not said: they are asked about as
    /// all others.
    ///
    /// It is for whoever can vouch for the directory as it is now; a record of earlier does not.
    fn own_files(&self, _skill: &WorkflowRecord) -> Option<SkillFiles> {
        None
    }
}

/// A skill that can be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedSkill {
    /// What the session keeps of it.
    pub record: WorkflowRecord,
    /// Its instructions, as written.
    pub body: Box<str>,
}

/// Why a skill does not start, or end. The text is for people and for the model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SkillError {
    /// There is none of this name.
    #[error("there is no skill `{name}`{}", hint_text(.hint.as_deref()))]
    Unknown {
        /// The name that was asked for.
        name: Box<str>,
        /// What may be meant.
        hint: Option<Box<str>>,
    },
    /// Its file has errors, or could not be read.
    #[error("the skill `{name}` does not load: {why}")]
    Broken {
        /// The skill.
        name: Box<str>,
        /// What is wrong, in a line.
        why: Box<str>,
        /// The cause, if there is one behind it.
        #[source]
        source: Option<Box<dyn Error + Send + Sync>>,
    },
    /// Only a person may start it.
    #[error("the skill `{name}` is started by a person only")]
    PersonOnly {
        /// The skill.
        name: Box<str>,
    },
    /// It is active already.
    #[error("the skill `{name}` is active already: it is not started a second time")]
    AlreadyActive {
        /// The skill.
        name: Box<str>,
    },
    /// Too many are.
    #[error(
        "the skill `{name}` is not started: {MOST_ACTIVE_SKILLS} skills are active, and there can be \
         no more"
    )]
    TooMany {
        /// The skill.
        name: Box<str>,
    },
    /// It is not active: it cannot end.
    #[error("the skill `{name}` is not active")]
    NotActive {
        /// The skill.
        name: Box<str>,
    },
}

/// An active skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActiveSkill {
    /// What the session keeps of it.
    pub record: Arc<WorkflowRecord>,
    /// How many of the tools that the model is told of it leaves anything to do, as far as the rules
    /// do too; `None`: it restricts nothing.
    pub n_tools: Option<usize>,
}

/// The active skills of a worker, for those who look at them and end them. Clones are one.
#[derive(Debug, Clone, Default)]
pub struct ActiveSkills(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    active: Vec<ActiveSkill>,
    /// Those that are to end, and who wants it.
    ending: BTreeMap<Box<str>, Box<str>>,
}

impl ActiveSkills {
    /// The active skills, the one that began first at the front.
    #[must_use]
    pub fn list(&self) -> Vec<ActiveSkill> {
        self.lock().active.clone()
    }

    /// Asks for the end of a skill, in the name of a client. In a turn it ends before the next
    /// request to the model; between two turns with [`Worker::end_skills`](crate::Worker::end_skills), or else with the next turn.
    ///
    /// # Errors
    /// [`SkillError::NotActive`].
    pub fn end(&self, name: &str, by: &str) -> Result<(), SkillError> {
        let mut state = self.lock();
        let is_active = state.active.iter().any(|skill| *skill.record.name == *name);
        if !is_active {
            return Err(SkillError::NotActive { name: name.into() });
        }
        state.ending.entry(name.into()).or_insert_with(|| by.into());
        Ok(())
    }

    /// Whether a skill that was asked to end is still active.
    #[must_use]
    pub fn is_ending(&self) -> bool {
        !self.lock().ending.is_empty()
    }

    /// Those that are to end and are active, and who wants it.
    pub(crate) fn ending(&self) -> Vec<(Box<str>, Box<str>)> {
        let state = self.lock();
        let names = state.active.iter().map(|skill| &skill.record.name);
        names
            .filter_map(|name| Some((name.clone(), state.ending.get(name)?.clone())))
            .collect()
    }

    pub(crate) fn set(&self, active: Vec<ActiveSkill>) {
        let mut state = self.lock();
        let names: BTreeSet<&str> = active.iter().map(|skill| &*skill.record.name).collect();
        state.ending.retain(|name, _| names.contains(&**name));
        state.active = active;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // INVARIANT: nothing below panics while it changes the state, so it is whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Loads a skill, which has to be the one that was asked for.
pub(crate) async fn load(
    source: Option<&dyn SkillSource>,
    name: &str,
    by: SkillStarter,
) -> Result<LoadedSkill, SkillError> {
    let unknown = |hint: Option<&str>| SkillError::Unknown {
        name: name.into(),
        hint: hint.map(Into::into),
    };
    let source = source.ok_or_else(|| unknown(Some("there are no skills here")))?;
    let loaded = source.load(name, by).await?;
    match *loaded.record.name == *name {
        true => Ok(loaded),
        false => Err(unknown(None)),
    }
}

fn hint_text(hint: Option<&str>) -> String {
    hint.map(|hint| format!("; {hint}")).unwrap_or_default()
}
