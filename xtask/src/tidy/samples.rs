//! Every sample manifest is judged by a test and protects secrets.

use super::Finding;
use crate::tree::Tree;

/// The matrix of calls × samples.
const VERDICTS: &str = "tests/verdicts.txt";

/// Finds samples that the verdict matrix does not judge.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let matrix = tree
        .get(VERDICTS)
        .map(|file| file.text.as_str())
        .unwrap_or_default();
    let mut findings = Vec::new();
    for file in tree.ending_in(".toml") {
        let Some(name) = file.path.strip_prefix("manifests/") else {
            continue;
        };
        let column = name.trim_end_matches(".toml");
        if !name.contains('/') && !columns(matrix).contains(&column) {
            findings.push(Finding::about(
                "samples",
                &file.path,
                format!("is not judged: no column `{column}` in {VERDICTS}"),
            ));
        }
    }
    findings
}

/// The samples that the matrix judges: the cells of its first row.
fn columns(matrix: &str) -> Vec<&str> {
    matrix
        .lines()
        .find(|line| !line.starts_with(';'))
        .unwrap_or_default()
        .split('|')
        .map(str::trim)
        .collect()
}

#[cfg(test)]
mod tests;
