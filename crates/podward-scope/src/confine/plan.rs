//! What the helper is to do, as values and as arguments.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::confine::terminals::is_terminal;
use crate::decl::Shield;
use crate::level::Subtraction;

/// The first argument of a helper.
pub(crate) const MARK: &str = "__confine";

/// The limits of a child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    /// The roots that may be written; no symbolic links, none below another.
    pub(crate) writes: Vec<PathBuf>,
    pub(crate) reads: Reads,
    /// The paths taken out of the roots; sorted.
    pub(crate) shields: Vec<(PathBuf, Shield)>,
    pub(crate) subtraction: Subtraction,
    pub(crate) restrict: Restrict,
}

/// What may be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reads {
    Everything,
    /// These roots, and what programs need to run at all.
    Only(Vec<PathBuf>),
}

/// Whether anything is restricted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Restrict {
    Landlock,
    Nothing,
}

/// What happens inside the limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Task {
    /// Nothing: the limits are set up and reported.
    Probe,
    /// A program runs.
    Run {
        program: PathBuf,
        arguments: Vec<OsString>,
        directory: PathBuf,
        grace: Duration,
    },
}

impl Plan {
    /// No limits at all.
    pub(crate) fn unrestricted() -> Self {
        Self {
            writes: Vec::new(),
            reads: Reads::Everything,
            shields: Vec::new(),
            subtraction: Subtraction::NotNeeded,
            restrict: Restrict::Nothing,
        }
    }

    /// What this plan does not do as declared, when there are no mounts to do it with.
    pub(crate) fn gaps(&self) -> Vec<String> {
        if self.subtraction != Subtraction::Entries {
            return Vec::new();
        }
        let mut kept: BTreeMap<&Path, Vec<String>> = BTreeMap::new();
        let mut hidden = Vec::new();
        for (path, shield) in &self.shields {
            let shown = format!("`{}`", path.display());
            if self.writes.iter().any(|root| path.starts_with(root)) {
                let parent = path.parent().unwrap_or(path);
                kept.entry(parent).or_default().push(shown.clone());
            }
            // That terminals can be seen and not opened is as it should be.
            if *shield == Shield::Hidden && !is_terminal(path) {
                hidden.push(shown);
            }
        }
        let mut gaps: Vec<_> = kept
            .into_iter()
            .map(|(parent, kept)| {
                format!(
                    "entries directly in `{}` cannot be made, renamed or removed, to keep {}",
                    parent.display(),
                    kept.join(", ")
                )
            })
            .collect();
        if !hidden.is_empty() {
            gaps.push(format!(
                "names in {} can be listed and sockets there connected to, and new entries beside \
                 them cannot be read",
                hidden.join(", ")
            ));
        }
        gaps
    }

    pub(crate) fn to_arguments(&self, task: &Task) -> Vec<OsString> {
        let mut arguments = Vec::new();
        let mut option = |name: &str, value: &OsStr| {
            arguments.push(OsString::from(name));
            arguments.push(value.to_owned());
        };
        option("--subtraction", OsStr::new(word(self.subtraction)));
        if self.restrict == Restrict::Nothing {
            option("--restrict", OsStr::new("nothing"));
        }
        for path in &self.writes {
            option("--write", path.as_os_str());
        }
        if let Reads::Only(paths) = &self.reads {
            option("--restrict", OsStr::new("reads"));
            for path in paths {
                option("--read", path.as_os_str());
            }
        }
        for (path, shield) in &self.shields {
            let name = match shield {
                Shield::ReadOnly => "--read-only",
                Shield::Hidden => "--hide",
            };
            option(name, path.as_os_str());
        }
        if let Task::Run {
            program,
            arguments: of_program,
            directory,
            grace,
        } = task
        {
            option("--directory", directory.as_os_str());
            option("--grace", OsStr::new(&grace.as_millis().to_string()));
            arguments.push(OsString::from("--"));
            arguments.push(program.as_os_str().to_owned());
            arguments.extend(of_program.iter().cloned());
        }
        arguments
    }

    pub(crate) fn from_arguments(
        mut arguments: impl Iterator<Item = OsString>,
    ) -> Result<(Self, Task), String> {
        let mut plan = Self::unrestricted();
        plan.restrict = Restrict::Landlock;
        let mut reads = Vec::new();
        let mut directory = PathBuf::from("/");
        let mut grace = Duration::ZERO;
        let mut only = false;
        while let Some(name) = arguments.next() {
            if name == "--" {
                let program = arguments.next().ok_or("no program")?;
                let task = Task::Run {
                    program: PathBuf::from(program),
                    arguments: arguments.collect(),
                    directory,
                    grace,
                };
                plan.reads = Reads::of(only, reads);
                return Ok((plan, task));
            }
            let value = arguments
                .next()
                .ok_or_else(|| format!("no value for `{}`", name.display()))?;
            match (name.to_str(), value.to_str()) {
                (Some("--subtraction"), Some(word)) => plan.subtraction = subtraction(word)?,
                (Some("--restrict"), Some("nothing")) => plan.restrict = Restrict::Nothing,
                (Some("--restrict"), Some("reads")) => only = true,
                (Some("--write"), _) => plan.writes.push(PathBuf::from(value)),
                (Some("--read"), _) => reads.push(PathBuf::from(value)),
                (Some("--read-only"), _) => {
                    plan.shields.push((PathBuf::from(value), Shield::ReadOnly));
                }
                (Some("--hide"), _) => plan.shields.push((PathBuf::from(value), Shield::Hidden)),
                (Some("--directory"), _) => directory = PathBuf::from(value),
                (Some("--grace"), Some(number)) => {
                    let millis = number.parse().map_err(|_| "no number for `--grace`")?;
                    grace = Duration::from_millis(millis);
                }
                _ => return Err(format!("unknown option `{}`", name.display())),
            }
        }
        plan.reads = Reads::of(only, reads);
        Ok((plan, Task::Probe))
    }
}

impl Reads {
    fn of(only: bool, paths: Vec<PathBuf>) -> Self {
        if only {
            Self::Only(paths)
        } else {
            Self::Everything
        }
    }
}

fn word(subtraction: Subtraction) -> &'static str {
    match subtraction {
        Subtraction::NotNeeded => "none",
        Subtraction::Mounts => "mounts",
        Subtraction::Entries => "entries",
    }
}

fn subtraction(word: &str) -> Result<Subtraction, String> {
    match word {
        "none" => Ok(Subtraction::NotNeeded),
        "mounts" => Ok(Subtraction::Mounts),
        "entries" => Ok(Subtraction::Entries),
        _ => Err(format!("unknown subtraction `{word}`")),
    }
}

#[cfg(test)]
mod tests;
