//! A crate's first doc line says what it is; the next paragraph what it must never know.

use super::Finding;
use crate::tree::Tree;

/// Finds crate roots whose docs do not say both.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.files()
        .filter(|file| file.path.ends_with("/src/lib.rs") || file.path.ends_with("/src/main.rs"))
        .filter_map(|file| {
            let docs: Vec<&str> = file
                .text
                .lines()
                .map_while(|line| line.strip_prefix("//!"))
                .collect();
            let what = match docs.first() {
                None => "a crate begins with `//!`: what it is",
                Some(_) if docs.join("\n").contains("must never") => return None,
                Some(_) => "a crate's docs say what it must never know",
            };
            Some(Finding::about("crate docs", &file.path, what))
        })
        .collect()
}

#[cfg(test)]
mod tests;
