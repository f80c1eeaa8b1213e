//! What a session keeps of a skill that was started: enough to hold to it after a restart.

#[cfg(test)]
mod tests;

use podward_policy::{KnownTools, Policy, SkillLayer, SkillLists};
use serde::{Deserialize, Serialize};

use crate::compile::ListPlace;
use crate::read::{Skill, read};
use crate::tool_lists::{Allowed, ListKind, ToolEntry, ToolLists};

/// A workflow that was started, as a session records it. Its JSON is part of the format of session
/// files.
///
/// What counts while it is active is this record, also where the file has changed in the meantime.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkflowRecord {
    /// Its name: that of the skill.
    pub name: Box<str>,
    /// The digest of the file that it was read from.
    pub digest: Box<str>,
    /// The file as people see it.
    pub file: Box<str>,
    /// The file up to the instructions, from which its lists are read again.
    pub header: Box<str>,
    /// Where it comes from.
    pub source: WorkflowSource,
}

/// Where a workflow comes from.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum WorkflowSource {
    /// A skill.
    Skill {
        /// Its directory, absolute.
        dir: Box<str>,
    },
}

impl WorkflowRecord {
    /// The record of a skill that was read from a `file`, as people see its name, in `dir`, an absolute
    /// path.
    #[must_use]
    pub fn of_skill(
        skill: &Skill,
        digest: impl Into<Box<str>>,
        file: impl Into<Box<str>>,
        dir: impl Into<Box<str>>,
    ) -> Self {
        Self {
            name: skill.name.as_str().into(),
            digest: digest.into(),
            file: file.into(),
            header: skill.header.clone(),
            source: WorkflowSource::Skill { dir: dir.into() },
        }
    }

    /// What it lists; a record that cannot be read allows no tool.
    #[must_use]
    pub fn lists(&self) -> ToolLists {
        read(&self.name, self.header.as_bytes()).tools()
    }

    /// Compiles what it lists, for these tools and in a workspace, an absolute path. Where its files are
    /// is not said by a record ([`SkillLayer::with_files`]): what is looser for it is for those to say
    /// who look at the disk as it is now.
    #[must_use]
    pub fn layer(&self, known: &KnownTools, workspace: Option<&str>) -> SkillLayer {
        let lists = self.lists();
        let mut place = ListPlace::new(&*self.file, known).in_skill(self.dir());
        if let Some(workspace) = workspace {
            place = place.in_workspace(workspace);
        }
        let policy = lists.compile(&place).layer;
        let skill = SkillLists {
            name: self.name.clone(),
            digest: self.digest.clone(),
            allowed: match &lists.allowed {
                Allowed::NotRestricted => None,
                Allowed::Only(entries) => Some(quoted(entries).into()),
            },
        };
        if lists.restricts_nothing() {
            return SkillLayer::unrestricted(skill);
        }
        let policy = policy.unwrap_or_else(|| Policy::deny_all(place.whole()));
        SkillLayer::new(skill, policy)
    }

    /// What the model reads when it is started: what it is held to, then the instructions, with the
    /// words for directories and arguments replaced.
    #[must_use]
    pub fn instructions(
        &self,
        body: &str,
        arguments: Option<&str>,
        workspace: Option<&str>,
    ) -> String {
        let dir = self.dir();
        let mut text = format!(
            "The skill `{}` is active. Its files are in `{dir}`.",
            self.name
        );
        let lists = self.lists();
        if let Allowed::Only(entries) = &lists.allowed {
            text += &match entries.is_empty() {
                true => " While it is active, no tool may be called.".to_owned(),
                false => format!(
                    " While it is active, it allows these tools and no others: `{}`.",
                    quoted(entries)
                ),
            };
        }
        let disallowed = lists.entries(ListKind::Disallowed);
        if !disallowed.is_empty() {
            text += &format!(" It allows no use of: `{}`.", quoted(disallowed));
        }
        let mut body = replaced(body, "${CLAUDE_SKILL_DIR}", dir);
        body = replaced(&body, "{baseDir}", dir);
        if let Some(workspace) = workspace {
            body = replaced(&body, "${CLAUDE_PROJECT_DIR}", workspace);
        }
        let arguments = arguments.unwrap_or_default().trim();
        let has_place = body.contains(ARGUMENTS);
        body = replaced(&body, ARGUMENTS, arguments);
        text += "\n\n";
        text += body.trim();
        if !has_place && !arguments.is_empty() {
            text += "\n\nArguments: ";
            text += arguments;
        }
        text
    }

    fn dir(&self) -> &str {
        match &self.source {
            WorkflowSource::Skill { dir } => dir,
        }
    }
}

/// Stands in instructions for what was written behind the skill's name.
const ARGUMENTS: &str = "$ARGUMENTS";

/// What stands in the place of one word makes the instructions longer by at most so much, the first time
/// aside: long arguments in very many places would fill the memory.
const MOST_ADDED_BYTES: usize = 1024 * 1024;

/// A text with a word replaced, as often as there is room for.
fn replaced(text: &str, word: &str, by: &str) -> String {
    let n_most = (MOST_ADDED_BYTES / by.len().max(1)).max(1);
    text.replacen(word, by, n_most)
}

/// Longer lists are quoted in part: the quote stands in the instructions, in each refusal and in the
/// log of it. The record has the whole.
const QUOTED_BYTES: usize = 2000;

/// Entries as written, with blanks between them, as many as there is room for.
fn quoted(entries: &[ToolEntry]) -> String {
    let mut text = String::new();
    for (idx, entry) in entries.iter().enumerate() {
        let separator = if idx == 0 { "" } else { " " };
        if text.len() + separator.len() + entry.written.len() > QUOTED_BYTES {
            let n_left = entries.len() - idx;
            text += &format!("{separator}… and {n_left} more");
            break;
        }
        text += separator;
        text += &entry.written;
    }
    text
}
