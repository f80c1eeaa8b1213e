//! Versions, edition and lints are written once; no dependency is there for nothing.

use toml::{Table, Value};

use super::Finding;
use crate::tree::{File, Tree};

const CHECK: &str = "packages";
const INHERITED: &[&str] = &[
    "version",
    "edition",
    "rust-version",
    "license",
    "authors",
    "publish",
];
const SECTIONS: &[&str] = &["dependencies", "dev-dependencies", "build-dependencies"];

/// Finds crates that write what the root says, and dependencies that nothing uses.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut used_by_members = Vec::new();
    for file in members(tree) {
        match file.text.parse::<Table>() {
            Ok(package) => {
                check_package(file, &package, &mut findings);
                check_used(tree, file, &package, &mut findings);
                used_by_members.extend(dependencies(&package).map(|(_, name, _)| name.to_owned()));
            }
            Err(error) => findings.push(Finding::about(CHECK, &file.path, error.to_string())),
        }
    }
    if let Some(root) = tree.get("Cargo.toml") {
        check_root(root, &used_by_members, &mut findings);
    }
    findings
}

fn members(tree: &Tree) -> impl Iterator<Item = &File> {
    tree.ending_in("/Cargo.toml")
        .filter(|file| {
            ["crates/", "tests/", "xtask/"]
                .iter()
                .any(|folder| file.path.starts_with(folder))
        })
        // A project that ships as test data is no member.
        .filter(|file| file.path.matches('/').count() <= 2)
}

fn check_package(file: &File, package: &Table, findings: &mut Vec<Finding>) {
    let mut find = |what: String| findings.push(Finding::about(CHECK, &file.path, what));
    let inherits = |value: Option<&Value>| {
        value.and_then(|value| value.get("workspace")) == Some(&Value::Boolean(true))
    };
    let section = package.get("package");
    for key in INHERITED {
        if !inherits(section.and_then(|section| section.get(key))) {
            find(format!(
                "`{key}` is not inherited: `{key}.workspace = true`"
            ));
        }
    }
    if !inherits(package.get("lints")) {
        find("`[lints]` is not inherited: `workspace = true`".to_owned());
    }
    let name = section.and_then(|section| section.get("name"));
    let folder = file.path.trim_end_matches("/Cargo.toml");
    let folder = folder.rsplit('/').next().unwrap_or(folder);
    // The name of a crate for tests says so.
    let expected = if file.path.starts_with("tests/") {
        format!("podward-test-{folder}")
    } else {
        folder.to_owned()
    };
    if name.and_then(Value::as_str) != Some(expected.as_str()) {
        find(format!(
            "the crate is not named like its folder, `{expected}`"
        ));
    }
    for (section, name, value) in dependencies(package) {
        if !inherits(Some(value)) {
            find(format!(
                "`{name}` in [{section}] is not inherited: `{name} = {{ workspace = true }}`"
            ));
        }
    }
}

fn dependencies(package: &Table) -> impl Iterator<Item = (&'static str, &str, &Value)> {
    SECTIONS.iter().flat_map(|section| {
        package
            .get(*section)
            .and_then(Value::as_table)
            .into_iter()
            .flatten()
            .map(|(name, value)| (*section, name.as_str(), value))
    })
}

fn check_used(tree: &Tree, file: &File, package: &Table, findings: &mut Vec<Finding>) {
    let folder = file.path.trim_end_matches("Cargo.toml");
    // The tests at the top level belong to the binary crate.
    let is_binary = folder == "crates/podward/";
    let sources: Vec<&File> = tree
        .ending_in(".rs")
        .filter(|source| {
            source.path.starts_with(folder) || (is_binary && source.path.starts_with("tests/"))
        })
        .collect();
    for (section, name, _) in dependencies(package) {
        let module = name.replace('-', "_");
        if !sources
            .iter()
            .any(|source| names_crate(&source.text, &module))
        {
            findings.push(Finding::about(
                CHECK,
                &file.path,
                format!("`{name}` in [{section}] is not used"),
            ));
        }
    }
}

/// Whether a text has a word before `::` or in a `use`.
fn names_crate(text: &str, module: &str) -> bool {
    text.match_indices(module).any(|(start, _)| {
        let before = text.get(..start).and_then(|text| text.chars().next_back());
        let after = text.get(start + module.len()..).unwrap_or_default();
        let is_word_start = before.is_none_or(|c| !c.is_alphanumeric() && c != '_');
        is_word_start
            && (after.starts_with("::") || after.starts_with(';') || after.starts_with(" as "))
    })
}

fn check_root(root: &File, used: &[String], findings: &mut Vec<Finding>) {
    let table = root.text.parse::<Table>().unwrap_or_default();
    let declared = table
        .get("workspace")
        .and_then(|workspace| workspace.get("dependencies"))
        .and_then(Value::as_table);
    for name in declared.into_iter().flatten().map(|(name, _)| name) {
        if !used.contains(name) {
            findings.push(Finding::about(
                CHECK,
                &root.path,
                format!("`{name}` in [workspace.dependencies] is used by no crate"),
            ));
        }
    }
}

#[cfg(test)]
mod tests;
