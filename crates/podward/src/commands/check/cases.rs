//! `podward check --cases FILE…`: decision cases, each with a manifest of its own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use podward_manifest::{Isolated, TEST_HOME, TEST_WORKSPACE};
use podward_policy::Action;
use podward_tools::Place;
use podward_view::one_line;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::arguments::Format;
use crate::commands::isolated::{directory_of, isolated};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::judged::{Judged, judge};
use crate::screen::{Look, Screen};

/// Characters of a message in the list of failed cases.
const SHOWN_CHARS: usize = 400;

/// One line of a case file; keys that are not listed are passed over.
#[derive(Debug, Deserialize)]
struct Case {
    id: String,
    /// TOML text that holds `[permissions]`, or nothing.
    manifest: String,
    tool: String,
    input: Value,
    /// Where relative paths start from, seen from the workspace.
    #[serde(default)]
    cwd: PathBuf,
    expect: Vec<Expected>,
    #[serde(default)]
    why: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Expected {
    Allow,
    Ask,
    Deny,
}

impl From<Expected> for Action {
    fn from(expected: Expected) -> Self {
        match expected {
            Expected::Allow => Self::Allow,
            Expected::Ask => Self::Ask,
            Expected::Deny => Self::Deny,
        }
    }
}

/// What became of one case.
#[derive(Debug)]
pub(in crate::commands) struct Outcome {
    pub(in crate::commands) id: String,
    /// `None`: there was nothing to judge.
    pub(in crate::commands) verdict: Option<Action>,
    pub(in crate::commands) expect: Vec<Action>,
    pub(in crate::commands) passed: bool,
    /// What to tell about a case that failed.
    pub(in crate::commands) note: String,
}

/// What is printed of a case for programs.
#[derive(Debug, Serialize)]
struct Line<'a> {
    id: &'a str,
    verdict: Option<&'static str>,
    expect: Vec<&'static str>,
    pass: bool,
    /// Of one that failed: what decided.
    #[serde(skip_serializing_if = "str::is_empty")]
    note: &'a str,
}

/// Cases that passed, of how many.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Rate {
    n_passed: usize,
    n_cases: usize,
}

impl Rate {
    fn count(&mut self, outcome: &Outcome) {
        self.n_cases += 1;
        self.n_passed += usize::from(outcome.passed);
    }
}

impl std::fmt::Display for Rate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { n_passed, n_cases } = *self;
        write!(f, "{n_passed}/{n_cases}")?;
        // Tenths of a percent, without a float.
        if let Some(tenths) = (n_passed * 1000).checked_div(n_cases) {
            write!(f, " ({}.{} %)", tenths / 10, tenths % 10)?;
        }
        Ok(())
    }
}

/// Judges the cases of all files.
///
/// # Errors
/// Standard output is broken. A file that cannot be read counts as a failed case.
pub(super) fn run(files: &[PathBuf], format: Format, screen: Screen) -> Result<Exit, Failure> {
    let mut total = Rate::default();
    let mut attacks = Rate::default();
    let mut controls = Rate::default();
    let mut text = String::new();
    for outcome in files.iter().flat_map(|file| judge_file(file)) {
        total.count(&outcome);
        if outcome.expect.as_slice() == [Action::Allow] {
            controls.count(&outcome);
        } else if !outcome.expect.contains(&Action::Allow)
            && !outcome.expect.is_empty()
            && !outcome.id.contains("-ok-")
        {
            attacks.count(&outcome);
        }
        text.push_str(&show(&outcome, format));
    }
    let summary = format!(
        "{} passed, {} failed",
        total.n_passed,
        total.n_cases - total.n_passed
    );
    match format {
        Format::Text => text.push_str(&format!("{summary}\n")),
        Format::Json => screen.write_talk(&format!("{summary}\n")),
    }
    let rates = format!("attacks stopped {attacks}, harmless calls allowed {controls}");
    screen.say(Look::Strong, "rates", rates);
    let exit = if total.n_passed == total.n_cases {
        Exit::Done
    } else {
        Exit::Failed
    };
    crate::commands::finish(screen, &text, exit)
}

pub(in crate::commands) fn show(outcome: &Outcome, format: Format) -> String {
    let verdict = outcome.verdict.map(Action::as_str);
    let expect: Vec<&'static str> = outcome
        .expect
        .iter()
        .map(|action| action.as_str())
        .collect();
    match format {
        Format::Json => {
            let line = Line {
                id: &outcome.id,
                verdict,
                expect,
                pass: outcome.passed,
                note: match outcome.passed {
                    true => "",
                    false => &outcome.note,
                },
            };
            // Texts, lists of text and a bool: there is a JSON form.
            podward_protocol::json_line(&line).unwrap_or_default() + "\n"
        }
        Format::Text if outcome.passed => String::new(),
        Format::Text => {
            let id = one_line(&outcome.id, SHOWN_CHARS);
            let note = one_line(&outcome.note, SHOWN_CHARS);
            format!(
                "{id}: {}, expected {}: {note}\n",
                verdict.unwrap_or("not judged"),
                if expect.is_empty() {
                    "nothing".to_owned()
                } else {
                    expect.join(" or ")
                },
            )
        }
    }
}

/// Judges the cases of one file; one that cannot be read is a failed case.
pub(in crate::commands) fn judge_file(file: &Path) -> Vec<Outcome> {
    let name = file.display().to_string();
    let text = match std::fs::read(file) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) => return vec![unusable(&name, format!("cannot be read: {error}"))],
    };
    let directory = std::path::absolute(directory_of(file));
    let directory = directory.unwrap_or_default();
    // Most files repeat a few manifests.
    let mut compiled = BTreeMap::new();
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(idx, line)| {
            let at = format!("{name}:{}", idx + 1);
            judge_line(&at, line, &directory, &mut compiled)
        })
        .collect()
}

/// What counts as failed because there is no case to judge.
pub(in crate::commands) fn unusable(at: &str, note: String) -> Outcome {
    Outcome {
        id: at.to_owned(),
        verdict: None,
        expect: Vec::new(),
        passed: false,
        note,
    }
}

fn judge_line(
    at: &str,
    line: &str,
    directory: &Path,
    compiled: &mut BTreeMap<String, Result<Isolated, String>>,
) -> Outcome {
    let case: Case = match serde_json::from_str(line) {
        Ok(case) => case,
        Err(error) => return unusable(at, format!("is no case: {error}")),
    };
    if case.expect.is_empty() {
        return unusable(at, "is no case: `expect` is empty".to_owned());
    }
    let policies = compiled.entry(case.manifest.clone()).or_insert_with(|| {
        let manifest = case.manifest.clone();
        isolated(case.id.as_str().into(), directory, manifest)
            .map_err(|diagnostics| diagnostics.to_string())
    });
    let expect = case
        .expect
        .into_iter()
        .map(Action::from)
        .collect::<Vec<_>>();
    match policies {
        Err(diagnostics) => Outcome {
            id: case.id,
            verdict: None,
            expect,
            passed: false,
            note: format!("{at}: its manifest does not load: {diagnostics}"),
        },
        Ok(isolated) => {
            let place = Place {
                cwd: Path::new(TEST_WORKSPACE).join(case.cwd),
                ..Place::new(TEST_WORKSPACE, Some(TEST_HOME.into()))
                    .with_programs(isolated.programs.clone())
                    .isolated()
            };
            let judged = judge(&isolated.policies, &case.tool, case.input, &place);
            let verdict = judged.action();
            Outcome {
                id: case.id,
                verdict: Some(verdict),
                passed: expect.contains(&verdict),
                expect,
                note: format!("{at}: {}; {}", cause(&judged), case.why),
            }
        }
    }
}

fn cause(judged: &Judged) -> String {
    podward_view::cause_text(&judged.wire_ruling())
}

#[cfg(test)]
mod tests;
