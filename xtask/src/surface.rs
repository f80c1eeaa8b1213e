//! The public surface of the library crates, as text that is checked in: one line for each thing
//! that a user of the crate can name, call, match or rely on.
//!
//! It is read from the source, so it needs no compiler of a certain version. What it cannot read
//! (a public item made by a macro, a glob of another crate) is an error, not a gap. It does not see
//! auto traits: a type that stops being `Send` is caught by a test of its crate.

mod difference;
mod impls;
mod items;
mod modules;
mod text;

use std::collections::BTreeSet;

use crate::chores::Outcome;
use crate::tree::Tree;

pub(crate) use difference::report;

/// Where the surfaces are kept.
pub(crate) const FOLDER: &str = "docs/public-api";

/// The surface of every library crate, by the path of its file.
///
/// # Errors
/// A crate holds something public that cannot be read.
pub(crate) fn of_all(tree: &Tree) -> Outcome<Vec<(String, String)>> {
    let version = version_of(tree)?;
    let mut surfaces = Vec::new();
    for file in tree.ending_in("/src/lib.rs") {
        let Some(name) = crate_of(&file.path) else {
            continue;
        };
        let mut lines: Vec<String> = of_crate(tree, name)?.into_iter().collect();
        lines.sort_by_cached_key(|line| (subject_of(line).to_owned(), line.clone()));
        let mut text = format!("# {name} {version}\n");
        for line in lines {
            text.push_str(&line);
            text.push('\n');
        }
        surfaces.push((format!("{FOLDER}/{name}.txt"), text));
    }
    Ok(surfaces)
}

/// The crate whose root this is, if it ships.
fn crate_of(path: &str) -> Option<&str> {
    path.strip_prefix("crates/")?.strip_suffix("/src/lib.rs")
}

/// What a line is about, so that all of a type stands together: the type of an implementation, else
/// the first path.
fn subject_of(line: &str) -> &str {
    let is_path = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':');
    let start = match line.rfind(" for ") {
        Some(at) if line.starts_with("impl") => at + " for ".len(),
        _ => line.find("podward_").unwrap_or(0),
    };
    let subject = line.get(start..).unwrap_or(line);
    let end = subject.find(|c| !is_path(c)).unwrap_or(subject.len());
    subject.get(..end).unwrap_or(subject).trim_end_matches(':')
}

/// The lines of one crate's surface, sorted.
fn of_crate(tree: &Tree, name: &str) -> Outcome<BTreeSet<String>> {
    let crate_ = modules::Crate::read(tree, name)?;
    let mut lines = items::lines(&crate_)?;
    lines.extend(impls::lines(&crate_)?);
    Ok(lines)
}

/// The version that all crates share.
fn version_of(tree: &Tree) -> Outcome<String> {
    let manifest = tree.get("Cargo.toml").ok_or("there is no Cargo.toml")?;
    let manifest: toml::Table = manifest.text.parse()?;
    manifest
        .get("workspace")
        .and_then(|workspace| workspace.get("package")?.get("version")?.as_str())
        .map(str::to_owned)
        .ok_or_else(|| "Cargo.toml has no workspace.package.version".into())
}

#[cfg(test)]
mod tests;
