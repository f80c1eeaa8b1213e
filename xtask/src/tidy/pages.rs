//! Pages stay short, and the map names every crate.

use super::Finding;
use super::layering::LAYERS;
use crate::tree::Tree;

/// Pages with a limit of lines.
const LIMITS: &[(&str, usize)] = &[("README.md", 120), ("docs/ARCHITECTURE.md", 300)];

/// Finds pages that are missing or too long, crates that the map does not name, and text files
/// with blanks at the end of a line or without a newline at the end.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, limit) in LIMITS {
        match tree.get(path).map(|file| file.text.lines().count()) {
            None => findings.push(Finding::about("pages", path, "is missing")),
            Some(n_lines) if n_lines > *limit => findings.push(Finding::about(
                "pages",
                path,
                format!("{n_lines} lines, at most {limit}"),
            )),
            Some(_) => {}
        }
    }
    if let Some(map) = tree.get("docs/ARCHITECTURE.md") {
        for layer in LAYERS {
            if !map.text.contains(layer.name) {
                findings.push(Finding::about(
                    "pages",
                    &map.path,
                    format!("the map does not name `{}`", layer.name),
                ));
            }
        }
    }
    for file in tree.files().filter(|file| is_prose(&file.path)) {
        if !file.text.is_empty() && !file.text.ends_with('\n') {
            findings.push(Finding::about("pages", &file.path, "no newline at the end"));
        }
        for (idx, line) in file.text.lines().enumerate() {
            if line.ends_with([' ', '\t']) {
                findings.push(Finding::at(
                    "pages",
                    &file.path,
                    idx + 1,
                    "a blank at the end of the line",
                ));
            }
        }
    }
    findings
}

/// What people write by hand; test data may hold anything.
fn is_prose(path: &str) -> bool {
    let by_hand = !path.starts_with("fuzz/corpus/") && !path.starts_with("docs/man/");
    by_hand
        && [".md", ".toml", ".rs"]
            .iter()
            .any(|end| path.ends_with(end))
}

#[cfg(test)]
mod tests;
