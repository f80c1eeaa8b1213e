//! What README.md shows is what happens: every `$ podward …` in a `console` block is run, in the
//! project's folder, and its output compared.
//!
//! Standard output and standard error appear together, as on a terminal. In a page, `…` stands for
//! any text, and a line that is `…` for any lines.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::sandbox::{Sandbox, repository};

/// A command of a page and the output that is shown below it.
#[derive(Debug, PartialEq)]
struct Sample {
    line: usize,
    command: String,
    shown: Vec<String>,
}

/// The commands of a page's `console` blocks.
fn samples(page: &str) -> Vec<Sample> {
    let mut samples: Vec<Sample> = Vec::new();
    let mut is_console = false;
    for (idx, line) in page.lines().enumerate() {
        if line.starts_with("```") {
            is_console = line == "```console";
        } else if let (true, Some(command)) = (is_console, line.strip_prefix("$ ")) {
            samples.push(Sample {
                line: idx + 1,
                command: command.to_owned(),
                shown: Vec::new(),
            });
        } else if let (true, Some(sample)) = (is_console, samples.last_mut()) {
            sample.shown.push(line.to_owned());
        }
    }
    samples.retain(|sample| sample.command.starts_with("podward "));
    samples
}

/// Whether lines are what a page shows.
fn fits(shown: &[String], lines: &[&str]) -> bool {
    match shown.split_first() {
        None => lines.is_empty(),
        Some((first, rest)) if first.trim() == "…" => {
            (0..=lines.len()).any(|skipped| fits(rest, &lines[skipped..]))
        }
        Some((first, rest)) => lines
            .split_first()
            .is_some_and(|(line, more)| line_fits(first, line) && fits(rest, more)),
    }
}

fn line_fits(shown: &str, line: &str) -> bool {
    let parts: Vec<&str> = shown.trim_end().split('…').collect();
    let (Some(first), Some(last)) = (parts.first(), parts.last()) else {
        return false;
    };
    let line = line.trim_end();
    if parts.len() == 1 {
        return line == *first;
    }
    let Some(mut rest) = line.strip_prefix(first) else {
        return false;
    };
    for part in &parts[1..parts.len() - 1] {
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Runs a command of a page, both streams into one.
fn run(sandbox: &Sandbox, command: &str) -> String {
    let (reader, writer) = std::io::pipe().unwrap();
    let podward = sandbox.podward::<&str>(&[]);
    let folder = Path::new(podward.get_program()).parent().unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let paths = std::iter::once(folder.to_path_buf()).chain(std::env::split_paths(&path));
    let variables = podward.get_envs();
    let mut bash = Command::new("bash");
    bash.args(["-c", command])
        .env_clear()
        .envs(variables.filter_map(|(name, value)| Some((name, value?))))
        .env("PATH", std::env::join_paths(paths).unwrap())
        .current_dir(repository())
        .stdin(Stdio::null())
        .stdout(writer.try_clone().unwrap())
        .stderr(writer);
    let mut child = bash.spawn().unwrap();
    // It holds the pipe's other end: reading would never end.
    drop(bash);
    let output = std::io::read_to_string(reader).unwrap();
    child.wait().unwrap();
    output
}

#[test]
fn the_samples_of_the_readme_are_what_happens() {
    let page = std::fs::read_to_string(repository().join("README.md")).unwrap();
    let samples = samples(&page);
    assert!(!samples.is_empty(), "README.md shows nothing");
    for sample in samples {
        let output = run(&Sandbox::new(), &sample.command);
        let lines: Vec<&str> = output.lines().collect();
        assert!(
            fits(&sample.shown, &lines),
            "README.md:{}: `{}` shows\n{output}",
            sample.line,
            sample.command
        );
    }
}

#[test]
fn the_manifest_of_the_readme_loads() {
    let page = std::fs::read_to_string(repository().join("README.md")).unwrap();
    let (_, rest) = page.split_once("```toml\n").unwrap();
    let (manifest, _) = rest.split_once("```").unwrap();
    let sandbox = Sandbox::new();
    let pod = sandbox.write("pod.toml", manifest);
    let ran = sandbox.run(&["manifest", pod.to_str().unwrap()]).exits(0);
    assert_eq!(ran.stderr, "", "it loads without a warning");
}

#[test]
fn a_page_that_shows_something_else_is_found() {
    let shown = |lines: &[&str]| {
        lines
            .iter()
            .map(|line| (*line).to_owned())
            .collect::<Vec<_>>()
    };
    assert!(fits(&shown(&["a", "…", "d"]), &["a", "b", "c", "d"]));
    assert!(fits(&shown(&["a …, c"]), &["a b, c"]));
    assert!(!fits(&shown(&["a …, c"]), &["a b, d"]));
    assert!(!fits(&shown(&["a"]), &["a", "b"]));
    assert!(!fits(&shown(&["a", "b"]), &["a"]));
}
