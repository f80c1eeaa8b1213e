//! The examples run and print exactly what stands beside this file; `UPDATE_EXPECT=1` writes it
//! anew.

#![cfg(test)]

use std::path::{Path, PathBuf};
use std::process::Command;

const EXAMPLES: &[&str] = &["foreign_hook", "foreign_model", "foreign_tool", "own_agent"];

/// A reader takes in a page, not a program.
const N_LINES_MAX: usize = 79;

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn source_of(example: &str) -> PathBuf {
    here().join("examples").join(example).with_extension("rs")
}

/// Builds the examples, with what `cargo test --workspace` has already built, and says where they are.
fn built() -> Vec<PathBuf> {
    let output = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--frozen", "--workspace", "--examples"])
        .arg("--message-format=json")
        .current_dir(here())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let messages = String::from_utf8(output.stdout).unwrap();
    messages
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .filter_map(|message| message["executable"].as_str().map(PathBuf::from))
        .collect()
}

fn printed_by(program: &Path) -> String {
    let output = Command::new(program).current_dir(here()).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {errors}", program.display());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_example_prints_what_is_written_down() {
    let programs = built();
    for example in EXAMPLES {
        let path = here().join("tests/examples").join(example);
        let path = path.with_extension("txt");
        let program = programs.iter().find(|path| path.ends_with(example));
        let printed = printed_by(program.unwrap());
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(&path, &printed).unwrap();
        }
        let expected = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(expected, printed, "{}", path.display());
    }
}

/// A block of code behind `<!-- from FILE -->` is a part of that file, but for how far it is indented.
#[test]
fn what_the_documentation_shows_is_what_runs() {
    let root = here().ancestors().nth(2).unwrap();
    let page = std::fs::read_to_string(root.join("docs/embedding.md")).unwrap();
    let mut n_blocks = 0;
    for block in page.split("```rust\n").skip(1) {
        let (code, _) = block.split_once("```").unwrap();
        let before = page.split_once(block).unwrap().0;
        let note = before.trim_end_matches("```rust\n").trim_end();
        let file = note.lines().last().unwrap();
        let file = file
            .strip_prefix("<!-- from ")
            .and_then(|file| file.strip_suffix(" -->"))
            .unwrap_or_else(|| panic!("no file is named before:\n{code}"));
        let source = std::fs::read_to_string(root.join(file)).unwrap();
        let flat = |text: &str| -> String {
            let lines = text.lines().map(|line| line.trim_start().to_owned() + "\n");
            lines.collect()
        };
        assert!(
            flat(&source).contains(&flat(code)),
            "{file} does not hold:\n{code}"
        );
        n_blocks += 1;
    }
    assert!(n_blocks > 0, "docs/embedding.md shows no code");
}

#[test]
fn every_example_is_listed_and_short() {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(here().join("examples")).unwrap() {
        let path = entry.unwrap().path();
        found.push(path.file_stem().unwrap().to_str().unwrap().to_owned());
    }
    found.sort();
    assert_eq!(found, EXAMPLES);
    for example in EXAMPLES {
        let n_lines = std::fs::read_to_string(source_of(example))
            .unwrap()
            .lines()
            .count();
        assert!(n_lines <= N_LINES_MAX, "{example} has {n_lines} lines");
    }
}
