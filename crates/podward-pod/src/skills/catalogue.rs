//! The skills of one pod: found when it starts, read anew when one of them is started.

use std::path::{Component, Path, PathBuf};

use async_trait::async_trait;
use podward_manifest::{Diagnostic, Severity};
use podward_policy::{KnownTools, SkillFiles};
use podward_protocol::{AskedSkill, Notice};
use podward_scope::{Root, ScopeDecl};
use podward_skill::{
    Allowed, Gravity, Skill, StartedBy, ToolEntry, WorkflowRecord, WorkflowSource,
};
use podward_worker::{LoadedSkill, SkillError, SkillSource, SkillStarter};

use super::listing::listing;
use super::{Purpose, SkillFile, Skills};
use crate::accounts::Accounts;
use crate::error::with_causes;
use crate::file::shown;
use crate::places::Places;

/// The skills of one pod.
#[derive(Debug)]
pub(crate) struct Catalogue {
    /// The directories that hold them.
    roots: Vec<PathBuf>,
    found: Skills,
    accounts: Accounts,
    workspace: PathBuf,
    /// What lies in no skill: a directory that holds one of these has no files that are its own.
    apart: Vec<PathBuf>,
}

impl Catalogue {
    /// Finds the skills of these directories, for a pod in this workspace, which may be a copy of
    /// another.
    pub(crate) fn find(
        roots: &[PathBuf],
        places: &Places,
        workspace: &Path,
        original: &Path,
    ) -> Self {
        let accounts = places.accounts();
        let own = [places.config_dir(), places.state_dir()];
        let apart = [workspace, original].into_iter().chain(own);
        let apart = apart.chain(places.home());
        let both = apart.flat_map(|path| path.canonicalize().ok().into_iter().chain([path.into()]));
        Self {
            roots: roots.to_vec(),
            found: Skills::discover(roots, accounts),
            accounts: accounts.clone(),
            workspace: workspace.to_owned(),
            apart: both.collect(),
        }
    }

    /// What the model is told of those that it may start; empty if there are none.
    pub(crate) fn listing(&self) -> String {
        let skills = self.found.files.iter().filter_map(|file| {
            let skill = file.reading.skill.as_ref()?;
            (skill.started_by == StartedBy::PersonOrModel)
                .then_some((skill.name.as_str(), &*skill.description))
        });
        listing(skills)
    }

    /// What people should hear of the skills.
    pub(crate) fn notices(&self) -> Vec<Notice> {
        let unread = self.found.problems.iter().map(|problem| Notice {
            message: with_causes(problem),
            help: problem.help(),
        });
        let read = self.found.files.iter().flat_map(|file| {
            let told = self.diagnostics(file).into_iter();
            told.map(|diagnostic| Notice {
                message: diagnostic.to_string(),
                help: None,
            })
        });
        unread.chain(read).chain(self.holds_workspace()).collect()
    }

    /// What is wrong with a skill, as a warning: the pod starts without it.
    fn diagnostics(&self, file: &SkillFile) -> Vec<Diagnostic> {
        let mut problems = file.reading.problems.clone();
        if file.reading.skill.is_some() {
            let known = KnownTools::built_in();
            problems.extend(file.compile(&known, Some(&self.workspace)).problems);
        }
        let mut told = file.diagnostics(&problems, Purpose::Load);
        for diagnostic in &mut told {
            if diagnostic.severity == Severity::Error {
                let name = name_of(&file.directory);
                diagnostic.severity = Severity::Warning;
                diagnostic.message =
                    format!("the skill `{name}` does not load: {}", diagnostic.message);
            }
        }
        told
    }

    /// A directory that holds the workspace cannot be protected as a whole.
    fn holds_workspace(&self) -> impl Iterator<Item = Notice> {
        let holding = self.roots.iter().filter(|root| self.is_above(root));
        holding.map(|root| Notice {
            message: format!(
                "the workspace lies in the directory of skills `{}`: tools can add skills there",
                shown(root)
            ),
            help: Some("give skills a directory of their own".to_owned()),
        })
    }

    fn is_above(&self, root: &Path) -> bool {
        let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        self.workspace.starts_with(root)
    }

    /// What no tool may write: instructions that a tool wrote would be taken for the user's.
    pub(crate) fn protected(&self) -> Vec<PathBuf> {
        let roots = self.roots.iter().filter(|root| !self.is_above(root));
        let skills = self.found.files.iter();
        let skills = skills
            .map(|file| file.directory.clone())
            .filter(|directory| !self.is_above(directory));
        let files = self.found.files.iter();
        let files = files.map(|file| file.directory.join(super::SKILL_FILE));
        let named: Vec<PathBuf> = roots.cloned().chain(skills).chain(files).collect();
        // What a link leads to decides as much as the link.
        let resolved = named.iter().filter_map(|path| path.canonicalize().ok());
        let resolved: Vec<PathBuf> = resolved.collect();
        named.into_iter().chain(resolved).collect()
    }

    /// The declared scope, from which the files of the skills can be read.
    pub(crate) fn readable_in(&self, declared: &ScopeDecl) -> ScopeDecl {
        let mut scope = declared.clone();
        // Where nothing is declared, everything can be read.
        if !scope.allow.is_empty() {
            let usable = self.found.files.iter();
            let usable = usable.filter(|file| file.reading.skill.is_some());
            scope
                .allow
                .extend(usable.map(|file| Root::read(file.directory.clone())));
        }
        scope
    }
}

/// Skills that are named where one is asked for that does not exist.
const MOST_NAMED: usize = 8;

#[async_trait]
impl SkillSource for Catalogue {
    async fn load(&self, name: &str, by: SkillStarter) -> Result<LoadedSkill, SkillError> {
        let (file, skill) = self.current(name, by)?;
        let directory = file.directory.to_string_lossy();
        Ok(LoadedSkill {
            record: WorkflowRecord::of_skill(&skill, &*file.digest, &*file.file, &*directory),
            body: skill.body,
        })
    }

    /// Those of a skill that a directory of the manifest holds now, and that loads: nobody else could
    /// have written it.
    fn own_files(&self, skill: &WorkflowRecord) -> Option<SkillFiles> {
        let WorkflowSource::Skill { dir } = &skill.source;
        let is_it = |file: &&SkillFile| file.directory.to_str() == Some(dir);
        let known = self.found.files.iter().find(is_it)?;
        let file = SkillFile::read(&known.directory, &self.accounts).ok()??;
        file.reading.skill.as_ref()?;
        let named = normalised(&known.directory);
        let resolved = known.directory.canonicalize().ok()?;
        let holds = |path: &PathBuf| path.starts_with(&named) || path.starts_with(&resolved);
        match self.apart.iter().any(holds) {
            true => None,
            false => SkillFiles::below([named.to_str()?, resolved.to_str()?]),
        }
    }
}

/// An absolute path by its text, as paths of calls are read.
fn normalised(path: &Path) -> PathBuf {
    let mut normalised = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => drop(normalised.pop()),
            Component::CurDir => {}
            other => normalised.push(other),
        }
    }
    normalised
}

impl Catalogue {
    /// What people are shown of a skill that the model asks for.
    pub(crate) fn asked(&self, name: &str) -> AskedSkill {
        let (file, skill) = match self.current(name, SkillStarter::Model) {
            Ok(current) => current,
            Err(error) => {
                let why = with_causes(&error);
                return AskedSkill::Fails { why };
            }
        };
        let written = |entries: &[ToolEntry]| {
            let written = entries.iter().map(|entry| entry.written.to_string());
            written.collect::<Vec<_>>()
        };
        AskedSkill::Found {
            file: file.file.to_string(),
            digest: file.digest,
            description: skill.description.into(),
            allowed_tools: match &skill.tools.allowed {
                Allowed::NotRestricted => None,
                Allowed::Only(entries) => Some(written(entries)),
            },
            disallowed_tools: written(&skill.tools.disallowed),
        }
    }

    /// A skill as it is now.
    fn current(&self, name: &str, by: SkillStarter) -> Result<(SkillFile, Skill), SkillError> {
        let read = self.found.files.iter().map(|file| &*file.directory);
        let unread = self.found.unread.iter().map(|directory| &**directory);
        let known = read.chain(unread).find(|known| name_of(known) == name);
        let Some(directory) = known else {
            return Err(self.unknown(name, by));
        };
        let broken = |why: String| SkillError::Broken {
            name: name.into(),
            why: why.into(),
            source: None,
        };
        // Its author may have changed it since the pod started.
        let mut file = SkillFile::read(directory, &self.accounts)
            .map_err(|problem| broken(with_causes(&problem)))?
            .ok_or_else(|| broken("its `SKILL.md` is gone".to_owned()))?;
        let Some(skill) = file.reading.skill.take() else {
            return Err(broken(first_error(&file)));
        };
        if by == SkillStarter::Model && skill.started_by == StartedBy::Person {
            return Err(SkillError::PersonOnly { name: name.into() });
        }
        Ok((file, skill))
    }

    fn unknown(&self, name: &str, by: SkillStarter) -> SkillError {
        let names: Vec<&str> = self
            .found
            .files
            .iter()
            .filter_map(|file| file.reading.skill.as_ref())
            .filter(|skill| {
                by == SkillStarter::Client || skill.started_by == StartedBy::PersonOrModel
            })
            .map(|skill| skill.name.as_str())
            .collect();
        let hint = match names.len() {
            0 => "this pod has no skills".to_owned(),
            1..=MOST_NAMED => format!("the skills are {}", names.join(", ")),
            n => format!("there are {n} others"),
        };
        SkillError::Unknown {
            name: name.chars().take(64).collect::<String>().into(),
            hint: Some(hint.into()),
        }
    }
}

/// The first error of a file that has some, with its place.
fn first_error(file: &SkillFile) -> String {
    let problems = file.reading.problems.iter();
    let errors: Vec<_> = problems
        .filter(|problem| problem.gravity == Gravity::Error)
        .cloned()
        .collect();
    let told = file.diagnostics(&errors, Purpose::Load);
    told.first().map_or_else(String::new, |error| {
        let place = error.place.as_ref();
        let at = place.map_or_else(String::new, |place| format!("{}: ", place.location));
        format!("{at}{}", error.message)
    })
}

/// A skill by the name of its directory, which it has if it has any.
fn name_of(directory: &Path) -> String {
    let name = directory.file_name().unwrap_or_default();
    shown(Path::new(name))
}
