//! Skills on disk: each is a directory that holds a `SKILL.md`.

mod catalogue;
mod help;
mod listing;
mod slash;
#[cfg(test)]
mod tests;

use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use podward_manifest::{Diagnostic, Place, Severity};
use podward_policy::KnownTools;
use podward_skill::{CompiledLists, Gravity, ListPlace, Problem, Reading, Skill, read};

use crate::accounts::Accounts;
use crate::digest::digest;
use crate::file::{FileError, read_guarded, shown};

pub(crate) use catalogue::Catalogue;
pub(crate) use help::help;
pub use slash::TwoSkills;
pub(crate) use slash::prompt;

/// The file that makes a directory a skill.
const SKILL_FILE: &str = "SKILL.md";

/// More entries than this are not looked at.
const MOST_ENTRIES: usize = 4096;

/// The skills of some directories.
#[derive(Debug, Default)]
pub struct Skills {
    /// Each `SKILL.md` that could be read, by directory in the order given and by name in each.
    pub files: Vec<SkillFile>,
    /// The directories whose `SKILL.md` could not: they keep their names.
    pub unread: Vec<PathBuf>,
    /// Why they could not, and what else was wrong.
    pub problems: Vec<SkillProblem>,
}

/// A `SKILL.md` that was read, well formed or not.
#[derive(Debug, Clone)]
pub struct SkillFile {
    /// The skill's directory, absolute; a symlink that led to it is not followed in the name.
    pub directory: PathBuf,
    /// The file as people see it.
    pub file: Arc<str>,
    /// The digest of its bytes.
    pub digest: String,
    /// What is in it.
    pub reading: Reading,
}

/// Why a skill, or a directory of skills, cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SkillProblem {
    /// The directory is not there.
    #[error("the directory of skills `{}` does not exist", shown(.0))]
    Missing(PathBuf),
    /// The directory cannot be listed.
    #[error("the directory of skills `{}` cannot be read", shown(path))]
    Unreadable {
        /// The directory.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The directory has more than a few thousand entries.
    #[error("the directory of skills `{}` has more than {MOST_ENTRIES} entries", shown(.0))]
    TooMany(PathBuf),
    /// The name of a skill's directory is no text.
    #[error("the name of `{}` is not UTF-8", shown(.0))]
    NotUtf8(PathBuf),
    /// The file has the wrong case.
    #[error("`{}` is not read", shown(.0))]
    LowerCase(PathBuf),
    /// A `SKILL.md` cannot be read, or others could have written it.
    #[error(transparent)]
    File(#[from] FileError),
    /// An earlier directory has a skill of this name.
    #[error("the skill `{}` is hidden by `{}`", shown(path), shown(by))]
    Hidden {
        /// The directory of the skill that is not used.
        path: PathBuf,
        /// That of the one that is.
        by: PathBuf,
    },
}

/// What a skill is read for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To be used: advice is left out, and a name that names no tool is a warning.
    Load,
    /// To be checked by its author: everything is told, and such a name is an error.
    Lint,
}

impl Purpose {
    /// How a problem is told; `None`: not at all.
    #[must_use]
    pub const fn severity(self, gravity: Gravity) -> Option<Severity> {
        match (self, gravity) {
            (_, Gravity::Error) | (Self::Lint, Gravity::Fault) => Some(Severity::Error),
            (_, Gravity::Warning) | (Self::Load, Gravity::Fault) | (Self::Lint, Gravity::Hint) => {
                Some(Severity::Warning)
            }
            (Self::Load, Gravity::Hint) => None,
        }
    }
}

impl SkillProblem {
    /// What can be done about it.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::File(error) => error.help(),
            Self::Missing(_) => Some("make it, or take it out of `[skills] directories`".into()),
            Self::LowerCase(_) => Some(format!("rename it: `{SKILL_FILE}`")),
            Self::Hidden { .. } => Some("rename one of the two".into()),
            Self::NotUtf8(_) => Some("name the directory like the skill".into()),
            Self::Unreadable { .. } | Self::TooMany(_) => None,
        }
    }
}

impl Skills {
    /// Reads every `<name>/SKILL.md` of these directories. A name that stands in several is that of the
    /// first.
    ///
    /// Files are held to what layers are held to: nobody else could have written them. One that cannot
    /// be used keeps its name all the same: a wider one of a later directory does not take its place.
    /// What is hidden (`.git`) and what holds no `SKILL.md` is no skill.
    #[must_use]
    pub fn discover(directories: &[PathBuf], accounts: &Accounts) -> Self {
        let mut skills = Self::default();
        for directory in directories {
            match names(directory) {
                Ok(names) => skills.add(directory, names, accounts),
                Err(problem) => skills.problems.push(problem),
            }
        }
        skills
    }

    /// The skill of a name, if it has no errors.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<(&SkillFile, &Skill)> {
        self.files.iter().find_map(|file| {
            let skill = file.reading.skill.as_ref()?;
            (skill.name.as_str() == name).then_some((file, skill))
        })
    }

    fn add(&mut self, directory: &Path, names: Vec<PathBuf>, accounts: &Accounts) {
        for name in names {
            let path = directory.join(name);
            match SkillFile::read(&path, accounts) {
                Ok(Some(file)) => match self.hides(&file.directory) {
                    Some(by) => self.problems.push(SkillProblem::Hidden { path, by }),
                    None => self.files.push(file),
                },
                Ok(None) => {}
                Err(problem) => {
                    self.problems.push(problem);
                    if self.hides(&path).is_none() {
                        self.unread.push(path);
                    }
                }
            }
        }
    }

    /// The directory of an earlier skill of the same name.
    fn hides(&self, directory: &Path) -> Option<PathBuf> {
        let read = self.files.iter().map(|file| &file.directory);
        let mut earlier = read.chain(&self.unread);
        let known = earlier.find(|known| known.file_name() == directory.file_name())?;
        Some(known.clone())
    }
}

/// The names in a directory, sorted.
fn names(directory: &Path) -> Result<Vec<PathBuf>, SkillProblem> {
    let unreadable = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound => SkillProblem::Missing(directory.into()),
        _ => SkillProblem::Unreadable {
            path: directory.into(),
            source,
        },
    };
    let mut names = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(unreadable)? {
        let name = entry.map_err(unreadable)?.file_name();
        if name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        if names.len() == MOST_ENTRIES {
            return Err(SkillProblem::TooMany(directory.into()));
        }
        names.push(PathBuf::from(name));
    }
    names.sort();
    Ok(names)
}

impl SkillFile {
    /// Reads the skill in a directory; `None`: it holds no `SKILL.md`.
    ///
    /// # Errors
    /// The file cannot be read, or others could have written it.
    pub fn read(directory: &Path, accounts: &Accounts) -> Result<Option<Self>, SkillProblem> {
        let path = directory.join(SKILL_FILE);
        // A file among the skills has nothing below it.
        if directory
            .metadata()
            .is_ok_and(|metadata| !metadata.is_dir())
        {
            return Ok(None);
        }
        let Some(bytes) = read_guarded(&path, accounts)? else {
            let lower = directory.join("skill.md");
            return match lower.symlink_metadata() {
                Ok(_) => Err(SkillProblem::LowerCase(lower)),
                Err(_) => Ok(None),
            };
        };
        let absolute = std::path::absolute(directory).unwrap_or_else(|_| directory.into());
        let is_named = matches!(
            absolute.components().next_back(),
            Some(Component::Normal(_))
        );
        let absolute = match is_named {
            true => absolute,
            // `..` is no name.
            false => absolute.canonicalize().unwrap_or(absolute),
        };
        let name = absolute.file_name().unwrap_or_default().to_str();
        let name = name.ok_or_else(|| SkillProblem::NotUtf8(directory.into()))?;
        Ok(Some(Self {
            file: shown(&path).into(),
            digest: digest(&bytes),
            reading: read(name, &bytes),
            directory: absolute,
        }))
    }

    /// Compiles what the skill lists; a file with errors allows no tool.
    #[must_use]
    pub fn compile(&self, known: &KnownTools, workspace: Option<&Path>) -> CompiledLists {
        let tools = self.reading.tools();
        let directory = self.directory.to_str();
        tools.compile(&self.place(known, directory, workspace.and_then(Path::to_str)))
    }

    /// The place of its lists.
    #[must_use]
    pub fn place<'a>(
        &self,
        known: &'a KnownTools,
        directory: Option<&'a str>,
        workspace: Option<&'a str>,
    ) -> ListPlace<'a> {
        let mut place = ListPlace::new(Arc::clone(&self.file), known);
        if let Some(directory) = directory {
            place = place.in_skill(directory);
        }
        if let Some(workspace) = workspace {
            place = place.in_workspace(workspace);
        }
        place
    }

    /// Problems as they are told, each with its line.
    #[must_use]
    pub fn diagnostics(&self, problems: &[Problem], purpose: Purpose) -> Vec<Diagnostic> {
        let told = |problem: &Problem| {
            Some(Diagnostic {
                severity: purpose.severity(problem.gravity)?,
                message: problem.message.clone(),
                place: Some(Place::in_text(&self.file, &self.reading.text, problem.span)),
                related: Vec::new(),
                help: problem.help.clone(),
            })
        };
        let mut sorted: Vec<&Problem> = problems.iter().collect();
        sorted.sort_by_key(|problem| problem.span);
        sorted.into_iter().filter_map(told).collect()
    }
}
