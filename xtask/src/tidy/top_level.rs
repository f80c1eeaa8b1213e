//! The top level has a fixed set of entries, each with one job.

use super::Finding;
use crate::tree::Tree;

const ENTRIES: &[&str] = &[
    ".cargo",
    ".ci",
    ".gitignore",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "SECURITY.md",
    "benches",
    "clippy.toml",
    "crates",
    "deny.toml",
    "docs",
    "fuzz",
    "manifests",
    "rustfmt.toml",
    "tests",
    "tickets",
    "xtask",
];

/// Finds entries that are not in the set, and those that are missing.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut entries: Vec<&str> = tree
        .files()
        .map(|file| file.path.split('/').next().unwrap_or(&file.path))
        .collect();
    entries.dedup();
    let stray = entries
        .iter()
        .filter(|entry| !ENTRIES.contains(entry))
        .map(|entry| Finding::about("top level", entry, "does not belong at the top level"));
    let missing = ENTRIES
        .iter()
        .filter(|entry| !entries.contains(entry))
        .map(|entry| Finding::about("top level", entry, "is missing"));
    stray.chain(missing).collect()
}

#[cfg(test)]
mod tests;
