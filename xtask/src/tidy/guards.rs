//! What the pages promise is guarded by tests that exist.

use std::collections::BTreeSet;

use super::Finding;
use crate::tree::Tree;

/// Pages that name the tests behind what they say.
const PAGES: &[&str] = &["docs/ARCHITECTURE.md", "docs/threat-model.md"];

/// A test's name states a rule, so it has at least this many underscores; other names have fewer.
const MIN_UNDERSCORES: usize = 3;

/// Finds tests that a page names and that are not there.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let functions: BTreeSet<&str> = tree
        .ending_in(".rs")
        .flat_map(|file| functions_of(&file.text))
        .collect();
    let mut findings = Vec::new();
    for file in PAGES.iter().filter_map(|path| tree.get(path)) {
        for (idx, line) in file.text.lines().enumerate() {
            let missing = line
                .split('`')
                .filter(|word| is_test_name(word) && !functions.contains(word));
            findings.extend(missing.map(|name| {
                let what = format!("there is no test `{name}`: name the one that guards this");
                Finding::at("guards", &file.path, idx + 1, what)
            }));
        }
    }
    findings
}

fn functions_of(source: &str) -> impl Iterator<Item = &str> {
    source.lines().filter_map(|line| {
        let (_, rest) = line.split_once("fn ")?;
        rest.split(['(', '<']).next()
    })
}

fn is_test_name(word: &str) -> bool {
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    word.chars().all(is_name) && word.matches('_').count() >= MIN_UNDERSCORES
}

#[cfg(test)]
mod tests;
