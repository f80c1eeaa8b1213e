//! The checks that no compiler makes. Each is a function from values to findings, with a test that
//! shows it fail.

mod crate_docs;
mod guards;
mod layering;
mod links;
mod names;
mod packages;
mod pages;
mod purity;
mod reachable;
mod rust_source;
mod samples;
mod style;
mod top_level;

use std::fmt;

pub(crate) use rust_source::{attributes_of, is_test_only};

use crate::chores::{Outcome, root, say};
use crate::tree::Tree;

/// A place that breaks a rule of the project.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    /// The file.
    path: String,
    /// From 1; 0 where the finding is about the whole file.
    line: usize,
    /// The check that found it.
    check: &'static str,
    /// What is wrong, and what to do.
    what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            path,
            line,
            check,
            what,
        } = self;
        match line {
            0 => write!(f, "{path}: [{check}] {what}"),
            line => write!(f, "{path}:{line}: [{check}] {what}"),
        }
    }
}

impl Finding {
    fn about(check: &'static str, path: &str, what: impl Into<String>) -> Self {
        Self::at(check, path, 0, what)
    }

    fn at(check: &'static str, path: &str, line: usize, what: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line,
            check,
            what: what.into(),
        }
    }
}

/// Runs all checks.
///
/// # Errors
/// At least one check found something; all findings are printed.
pub(crate) fn run() -> Outcome {
    let root = root()?;
    let tree = Tree::read(&root)?;
    let edges = layering::edges_of_workspace(&root)?;
    let sources = rust_source::parse(&tree);
    let mut findings = [
        layering::check(&edges),
        purity::check_dependencies(&edges),
        purity::check_sources(&sources.files),
        sources.unparsed,
        style::check(&sources.files),
        reachable::check(&sources.files),
        reachable::check_test_binaries(&tree),
        crate_docs::check(&tree),
        packages::check(&tree),
        names::check(&tree),
        links::check(&tree),
        pages::check(&tree),
        guards::check(&tree),
        samples::check(&tree),
        top_level::check(&tree),
    ]
    .concat();
    findings.sort();
    for finding in &findings {
        say(&finding.to_string());
    }
    if findings.is_empty() {
        say(&format!("tidy: {} files, no finding", tree.files().count()));
        Ok(())
    } else {
        Err(format!("tidy: {} findings", findings.len()).into())
    }
}

/// Fails the test unless the findings are exactly these, as they are printed.
#[cfg(test)]
#[track_caller]
fn expect(findings: &[Finding], expected: &[&str]) {
    let shown: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert_eq!(shown, expected);
}
