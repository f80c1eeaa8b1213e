//! `podward skills lint DIR`.

use std::path::Path;

use podward_manifest::{Diagnostic, Place, Severity};
use podward_pod::layers::Loaded;
use podward_pod::{Places, Purpose, SkillFile, SkillProblem, Skills, with_causes};
use podward_policy::KnownTools;
use podward_skill::{ManifestSays, refused_anyway};
use podward_view::counted;
use serde::Serialize;

use crate::arguments::{Format, SkillsLint};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::layers;
use crate::screen::Screen;

/// A finding as it is printed for programs.
#[derive(Debug, Serialize)]
struct Line<'a> {
    severity: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u32>,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'a str>,
}

pub(super) fn run(arguments: &SkillsLint, screen: Screen) -> Result<Exit, Failure> {
    let places = layers::places()?;
    let manifest = &arguments.manifest;
    let loaded = layers::load(&places, manifest.manifest.as_deref(), &manifest.layers)?;
    let mut n_skills = 0;
    let mut findings = Vec::new();
    for directory in &arguments.directories {
        let found = skills(directory, &places)?;
        n_skills += found.files.len() + found.problems.len();
        findings.extend(found.problems.iter().map(unplaced));
        for file in &found.files {
            let mut told = super::diagnostics(file, &loaded, Purpose::Lint);
            told.extend(refused(file, &loaded));
            told.sort_by_key(|finding| finding.place.as_ref().map(line_and_column));
            findings.extend(told);
        }
    }
    let n_errors = count(&findings, Severity::Error);
    let text: String = match arguments.format {
        Format::Text => {
            let n_warnings = count(&findings, Severity::Warning);
            let shown = findings.iter().map(|finding| format!("{finding}\n\n"));
            let total = format!(
                "{}, {}, {}\n",
                counted(n_skills, "skill"),
                counted(n_errors, "error"),
                counted(n_warnings, "warning")
            );
            shown.chain([total]).collect()
        }
        Format::Json => findings.iter().map(json).collect(),
    };
    let exit = match n_errors {
        0 => Exit::Done,
        _ => Exit::Failed,
    };
    super::super::finish(screen, &text, exit)
}

/// The skill in a directory, or else the skills below it; a `SKILL.md` is that of its directory.
fn skills(named: &Path, places: &Places) -> Result<Skills, Failure> {
    const HELP: &str = "name a directory that holds `SKILL.md`, or one with such directories in it";
    let directory = match named.file_name() {
        Some(name) if name == "SKILL.md" && named.is_file() => named.parent(),
        _ => Some(named),
    };
    // The file alone is in the directory that we are in.
    let here = Path::new(".");
    let directory = directory.map_or(here, |directory| match directory.as_os_str().is_empty() {
        true => here,
        false => directory,
    });
    if directory.symlink_metadata().is_err() {
        return Err(Failure::Usage {
            message: format!("`{}` does not exist", named.display()),
            help: HELP,
        });
    }
    let (files, problems) = match SkillFile::read(directory, places.accounts()) {
        Ok(Some(file)) => (vec![file], Vec::new()),
        Err(problem) => (Vec::new(), vec![problem]),
        Ok(None) => {
            let found = Skills::discover(&[directory.to_path_buf()], places.accounts());
            (found.files, found.problems)
        }
    };
    if files.is_empty() && problems.is_empty() {
        return Err(Failure::Usage {
            message: format!("there is no skill in `{}`", named.display()),
            help: HELP,
        });
    }
    Ok(Skills {
        files,
        problems,
        ..Skills::default()
    })
}

fn unplaced(problem: &SkillProblem) -> Diagnostic {
    Diagnostic {
        severity: Severity::Error,
        message: with_causes(problem),
        place: None,
        related: Vec::new(),
        help: problem.help(),
    }
}

/// What the manifest refuses anyway.
fn refused(file: &SkillFile, loaded: &Loaded) -> Vec<Diagnostic> {
    let Some(skill) = &file.reading.skill else {
        return Vec::new();
    };
    let known = KnownTools::built_in();
    let says = ManifestSays {
        policies: &loaded.resolved.policies,
        offered: &loaded.resolved.tools,
    };
    let place = file.place(&known, file.directory.to_str(), loaded.workspace.to_str());
    let problems = refused_anyway(&skill.tools, &place, &says);
    file.diagnostics(&problems, Purpose::Lint)
}

fn line_and_column(place: &Place) -> (u32, u32) {
    (place.location.line, place.location.column)
}

fn count(findings: &[Diagnostic], severity: Severity) -> usize {
    let is_one = |finding: &&Diagnostic| finding.severity == severity;
    findings.iter().filter(is_one).count()
}

fn json(finding: &Diagnostic) -> String {
    let location = finding.place.as_ref().map(|place| &place.location);
    let line = Line {
        severity: finding.severity.as_str(),
        file: location.map(|location| &*location.file),
        line: location.map(|location| location.line),
        column: location.map(|location| location.column),
        message: &finding.message,
        help: finding.help.as_deref(),
    };
    // Texts and numbers have a JSON form.
    podward_protocol::json_line(&line).unwrap_or_default() + "\n"
}
