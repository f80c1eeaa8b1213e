//! Modules are named after what they hold.

use super::Finding;
use crate::tree::Tree;

/// Names that say nothing about what is inside.
const EMPTY_NAMES: &[&str] = &[
    "utils", "util", "common", "helpers", "manager", "misc", "shared", "stuff",
];

/// Finds `mod.rs` files and modules with a name that says nothing.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.ending_in(".rs") {
        let name = file.path.rsplit('/').next().unwrap_or(&file.path);
        let module = name.trim_end_matches(".rs");
        // `tests/foo.rs` would be a test binary: what several share is in `tests/foo/mod.rs`.
        if module == "mod" && !file.path.contains("/tests/") {
            findings.push(Finding::about(
                "names",
                &file.path,
                "`foo.rs` beside `foo/` instead of `foo/mod.rs`",
            ));
        }
        let says_nothing = |word: &str| {
            EMPTY_NAMES.contains(&word) || word.split('_').any(|w| EMPTY_NAMES.contains(&w))
        };
        if file
            .path
            .trim_end_matches(".rs")
            .split('/')
            .any(says_nothing)
        {
            findings.push(Finding::about(
                "names",
                &file.path,
                "the name says nothing about what is inside: name it after the noun it holds",
            ));
        }
    }
    findings
}

#[cfg(test)]
mod tests;
