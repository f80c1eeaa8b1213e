//! Files of decision cases, judged by the real program.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::place::repository;

/// Files `*.jsonl` of a folder, in the order of their names.
fn case_files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "jsonl"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "{} holds no cases", folder.display());
    files
}

/// Ids of the cases that fail, and how many passed.
fn failing(folder: &Path) -> (BTreeSet<String>, usize) {
    let output = Command::new(env!("CARGO_BIN_EXE_podward"))
        .args(["check", "--format", "json", "--cases"])
        .args(case_files(folder))
        .output()
        .unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    let mut failing = BTreeSet::new();
    let mut n_passed = 0;
    for line in lines.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        if case["pass"] == true {
            n_passed += 1;
        } else {
            failing.insert(case["id"].as_str().unwrap().to_owned());
        }
    }
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    (failing, n_passed)
}

#[test]
fn every_case_of_this_repository_passes() {
    let (failing, n_passed) = failing(&repository().join("tests/cases"));
    assert_eq!(failing, BTreeSet::new());
    assert!(n_passed > 0);
}

/// Cases that are kept elsewhere: CI names their folder in `PODWARD_CASE_FOLDER`.
///
/// Those that this version cannot get right are listed; one that is listed and passes fails too.
#[test]
fn of_the_cases_kept_elsewhere_only_the_listed_ones_fail() {
    let Some(folder) = std::env::var_os("PODWARD_CASE_FOLDER") else {
        eprintln!("PODWARD_CASE_FOLDER is not set: no cases from elsewhere");
        return;
    };
    let list = std::fs::read_to_string(repository().join("tests/known_failing_cases.txt")).unwrap();
    let listed: BTreeSet<String> = list
        .lines()
        .map(|line| line.split('#').next().unwrap_or_default().trim().to_owned())
        .filter(|line| !line.is_empty())
        .collect();
    let (failing, _) = failing(Path::new(&folder));
    let worse: Vec<&String> = failing.difference(&listed).collect();
    let better: Vec<&String> = listed.difference(&failing).collect();
    assert!(worse.is_empty(), "fail and are not listed: {worse:#?}");
    assert!(better.is_empty(), "are listed and pass: {better:#?}");
}
