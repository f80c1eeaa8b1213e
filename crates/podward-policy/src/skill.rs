//! Active skills: their lists, which only deny, and their own files.

use std::sync::Arc;

use crate::explanation::Explanation;
use crate::judge;
use crate::operation::Lowered;
use crate::policy::{Policies, Policy};
use crate::source::Location;
use crate::tool::ToolName;
use crate::verdict::Judged;

/// What an active skill lists, as a layer beside those of the rules: all that it can do is deny.
///
/// Its policy says what it allows and denies; that it allows something is never a verdict, and it
/// never asks. Where only some ways to fill a text's holes are allowed, it denies.
#[derive(Debug)]
pub struct SkillLayer {
    pub(crate) skill: SkillLists,
    /// `None`: it lists nothing, and denies nothing.
    pub(crate) policy: Option<Policy>,
    pub(crate) files: Option<SkillFiles>,
}

/// Where the files of a skill are: while it is active, what asks about reading them is not put.
///
/// That turns an ask into an allow, and nothing else: no deny, no ask that stands for a possible deny, no
/// rule that no remembered approval may answer, and no call that does anything but read there, by `read`,
/// `grep`, `glob` or `list`. A path lies there if each form lies there that an allow rule has to match
/// (D3.4): as written, and with its symlinks resolved.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SkillFiles {
    /// Absolute and normalised.
    directories: Box<[Box<str>]>,
}

/// A skill as its refusals name it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SkillLists {
    /// Its name.
    pub name: Box<str>,
    /// The digest of its `SKILL.md`.
    pub digest: Box<str>,
    /// The entries of `allowed-tools` as written, with blanks between them, the first ones of many;
    /// `None`: there is no such list.
    pub allowed: Option<Box<str>>,
}

/// What of a skill denies.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SkillSays {
    /// Its `allowed-tools` does not list it.
    NotListed {
        /// The list, as written.
        list: Box<str>,
    },
    /// Its `disallowed-tools` lists it.
    Disallowed {
        /// The entry, as written.
        entry: Box<str>,
        /// Where it is written.
        location: Location,
    },
    /// It is not known before it runs whether the skill allows it.
    Unresolved {
        /// `allowed-tools` as written, if there is such a list.
        list: Option<Box<str>>,
        /// What is not known, for people.
        why: Box<str>,
    },
}

impl SkillLayer {
    /// A layer of these lists. The message of each rule of the policy is the entry that it is made
    /// of.
    #[must_use]
    pub const fn new(skill: SkillLists, policy: Policy) -> Self {
        Self {
            skill,
            policy: Some(policy),
            files: None,
        }
    }

    /// A skill without lists: it denies nothing.
    #[must_use]
    pub const fn unrestricted(skill: SkillLists) -> Self {
        Self {
            skill,
            policy: None,
            files: None,
        }
    }

    /// The same, where its own files can be read without a question.
    #[must_use]
    pub fn with_files(self, files: SkillFiles) -> Self {
        Self {
            files: Some(files),
            ..self
        }
    }

    /// The skill's name.
    #[must_use]
    pub const fn name(&self) -> &str {
        &self.skill.name
    }

    /// Whether it can deny anything.
    #[must_use]
    pub const fn restricts(&self) -> bool {
        self.policy.is_some()
    }

    /// Whether the skill leaves a tool anything to do.
    pub(crate) fn leaves(&self, tool: &ToolName) -> bool {
        let mut policy = self.policy.iter();
        policy.all(|policy| judge::may_ever_run(policy, tool))
    }
}

impl SkillFiles {
    /// The files below a directory, by each of its names: the one in which paths are written, and the
    /// one without symlinks. `None` if one of them is not absolute and normalised, or is `/`.
    #[must_use]
    pub fn below<D: Into<Box<str>>>(directories: impl IntoIterator<Item = D>) -> Option<Self> {
        let directories: Box<[Box<str>]> = directories.into_iter().map(Into::into).collect();
        let is_name = |name: &str| !["", ".", ".."].contains(&name);
        let is_path = |path: &str| {
            let names = path.strip_prefix('/');
            // U+FFFD stands for what is no text in the names of other directories.
            names.is_some_and(|names| names.split('/').all(is_name)) && !path.contains('\u{fffd}')
        };
        directories
            .iter()
            .all(|path| is_path(path))
            .then_some(Self { directories })
    }

    /// Whether an absolute path is one of the directories or lies below one.
    pub(crate) fn hold(&self, path: &str) -> bool {
        self.directories.iter().any(|directory| {
            let rest = path.strip_prefix(&**directory);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }
}

impl Policies {
    /// The same rules while these skills are active, the one that began first at the front. Skills
    /// that were active before are so no longer.
    #[must_use]
    pub fn under(&self, skills: impl IntoIterator<Item = Arc<SkillLayer>>) -> Self {
        Self {
            layers: Arc::clone(&self.layers),
            skills: skills.into_iter().collect(),
        }
    }

    /// The active skills, the one that began first at the front.
    pub fn skills(&self) -> impl ExactSizeIterator<Item = &Arc<SkillLayer>> {
        self.skills.iter()
    }

    /// Judges a call of a tool: as [`Policies::judge`], and a tool to which an active skill leaves
    /// nothing is denied even where the call would do nothing. Beside the ruling it tells what asks.
    #[must_use]
    pub fn judge_call(&self, tool: &ToolName, call: &Lowered) -> Judged {
        judge::judge_call(self, tool, call)
    }

    /// Judges a call of a tool and says how the verdict came about: as [`Policies::explain`], with the
    /// ruling of [`Policies::judge_call`].
    #[must_use]
    pub fn explain_call(&self, tool: &ToolName, call: &Lowered) -> Explanation {
        Explanation {
            ruling: self.judge_call(tool, call).ruling,
            ..self.explain(call)
        }
    }
}
