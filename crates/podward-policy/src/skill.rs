//! The lists of active skills: layers that only deny.

use std::sync::Arc;

use crate::explanation::Explanation;
use crate::judge;
use crate::operation::Lowered;
use crate::policy::{Policies, Policy};
use crate::source::Location;
use crate::tool::ToolName;
use crate::verdict::Ruling;

/// What an active skill lists, as a layer beside those of the rules: all that it can do is deny.
///
/// Its policy says what it allows and denies; that it allows something is never a verdict, and it
/// never asks. Where only some ways to fill a text's holes are allowed, it denies.
#[derive(Debug)]
pub struct SkillLayer {
    pub(crate) skill: SkillLists,
    pub(crate) policy: Policy,
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
        Self { skill, policy }
    }

    /// The skill's name.
    #[must_use]
    pub const fn name(&self) -> &str {
        &self.skill.name
    }

    /// Whether the skill leaves a tool anything to do.
    pub(crate) fn leaves(&self, tool: &ToolName) -> bool {
        judge::may_ever_run(&self.policy, tool)
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

    /// The active skills that restrict something, the one that began first at the front.
    pub fn skills(&self) -> impl ExactSizeIterator<Item = &Arc<SkillLayer>> {
        self.skills.iter()
    }

    /// Judges a call of a tool: as [`Policies::judge`], and a tool to which an active skill leaves
    /// nothing is denied even where the call would do nothing.
    #[must_use]
    pub fn judge_call(&self, tool: &ToolName, call: &Lowered) -> Ruling {
        judge::judge_call(self, tool, call)
    }

    /// Judges a call of a tool and says how the verdict came about: as [`Policies::explain`], with the
    /// ruling of [`Policies::judge_call`].
    #[must_use]
    pub fn explain_call(&self, tool: &ToolName, call: &Lowered) -> Explanation {
        Explanation {
            ruling: self.judge_call(tool, call),
            ..self.explain(call)
        }
    }
}
