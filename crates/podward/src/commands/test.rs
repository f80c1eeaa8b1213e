//! `podward test FILE…`: the tests beside rules, and files of cases.

mod junit;

use std::path::Path;

use podward_manifest::LayerKind;
use podward_pod::{LAYER_FILE, PROJECT_DIR, TestOutcome, run_policy_tests, with_causes};

use super::check::cases::{self, Outcome};
use super::isolated::read_untested;
use crate::arguments::{Format, Test, TestFormat};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::layers;
use crate::screen::Screen;

/// What became of the tests of one file.
struct Suite {
    file: String,
    /// Or why it does not load.
    outcomes: Result<Vec<Outcome>, String>,
}

pub(super) fn run(arguments: &Test, screen: Screen) -> Result<Exit, Failure> {
    let mut suites = Vec::new();
    for file in &arguments.files {
        let is_cases = file.extension().is_some_and(|end| end == "jsonl");
        let outcomes = match is_cases {
            true => Ok(cases::judge_file(file)),
            false => match tests_of(file, screen) {
                Ok(outcomes) => Ok(outcomes),
                // All files are looked at, whatever is wrong with one.
                Err(Failure::BadManifest(text)) => Err(format!("{}\n", text.trim_end())),
                Err(failure @ Failure::Unreadable { .. }) => {
                    Err(format!("error: {}\n", with_causes(&failure)))
                }
                Err(failure) => return Err(failure),
            },
        };
        suites.push(Suite {
            file: file.display().to_string(),
            outcomes,
        });
    }
    let broken = suites
        .iter()
        .filter_map(|suite| suite.outcomes.as_ref().err());
    let broken: String = broken.map(String::as_str).collect();
    screen.write_talk(&broken);
    let all = || suites.iter().flat_map(|suite| &suite.outcomes).flatten();
    let n_failed = all().filter(|outcome| !outcome.passed).count();
    let summary = format!("{} passed, {n_failed} failed\n", all().count() - n_failed);
    let mut text = String::new();
    match arguments.format {
        TestFormat::Text => {
            text.extend(all().map(|outcome| cases::show(outcome, Format::Text)));
            text.push_str(&summary);
        }
        TestFormat::Json => {
            text.extend(suites.iter().map(json_lines));
            screen.write_talk(&summary);
        }
        TestFormat::Junit => {
            text = junit::report(&suites);
            screen.write_talk(&summary);
        }
    }
    let exit = match (broken.is_empty(), n_failed) {
        (false, _) => Exit::BadManifest,
        (true, 0) => Exit::Done,
        (true, _) => Exit::Failed,
    };
    super::finish(screen, &text, exit)
}

/// A line a test; one for a file that does not load, which has none.
fn json_lines(suite: &Suite) -> String {
    match &suite.outcomes {
        Ok(outcomes) => {
            let lines = outcomes.iter();
            lines
                .map(|outcome| cases::show(outcome, Format::Json))
                .collect()
        }
        Err(why) => cases::show(&cases::unusable(&suite.file, why.clone()), Format::Json),
    }
}

/// Runs the tests of one layer.
fn tests_of(file: &Path, screen: Screen) -> Result<Vec<Outcome>, Failure> {
    let isolated = read_untested(file, kind_of(file))?;
    for warning in &isolated.warnings {
        screen.write_talk(&format!("{warning}\n"));
    }
    let outcomes = run_policy_tests(&isolated.tests, &isolated.policies, &isolated.programs);
    Ok(outcomes.iter().map(outcome).collect())
}

/// What a file may say hangs on where it lies.
fn kind_of(file: &Path) -> LayerKind {
    let absolute = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    match layers::places() {
        Ok(places) if absolute == places.machine_layer() => LayerKind::Machine,
        Ok(places) if absolute == places.user_layer() => LayerKind::User,
        _ if absolute.ends_with(Path::new(PROJECT_DIR).join(LAYER_FILE)) => LayerKind::Project,
        _ => LayerKind::Manifest, // or one more layer, which may say less
    }
}

fn outcome(run: &TestOutcome) -> Outcome {
    let why = run.test.why.as_ref();
    let why = why.map_or_else(String::new, |why| format!("; {why}"));
    Outcome {
        id: format!("{}: {}", run.test.place.location, run.call()),
        verdict: run.verdict(),
        expect: vec![run.test.expect],
        passed: run.passed(),
        note: format!("{}{why}", run.decided()),
    }
}
