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
        let lines = of_crate(tree, name)?;
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
