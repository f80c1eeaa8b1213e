//! Files under docs/ that the binary prints (man pages, completions, schemas), the tables of the page
//! about the protocol (of schemas and of constants), the page with the keys of manifests, the public
//! surface of each crate, and pictures of captured screens.

mod limits;
mod protocol_page;
mod reference_page;
mod screens;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::chores::{Outcome, cargo, output_of, root, run, say};
use crate::surface;
use crate::tree::Tree;

/// The folders that hold nothing but generated files.
const FOLDERS: &[&str] = &[
    "docs/completions",
    "docs/man",
    surface::FOLDER,
    "docs/schemas",
    "docs/screens",
];

/// Shells that completions are made for, with the file's name.
const SHELLS: &[(&str, &str)] = &[
    ("bash", "podward.bash"),
    ("elvish", "podward.elv"),
    ("fish", "podward.fish"),
    ("zsh", "_podward"),
];

/// What JSON Schemas are made of.
const SCHEMAS: &[&str] = &[
    "event",
    "explained-call",
    "explanation",
    "hook-input",
    "hook-output",
    "manifest",
    "method",
    "response",
];

/// The page whose tables are made of the schemas.
const PROTOCOL_PAGE: &str = "docs/protocol.md";

/// The page that is made of the schema of manifests.
const REFERENCE_PAGE: &str = "docs/reference.md";

/// Writes all generated files and removes those that are no longer generated.
///
/// # Errors
/// The binary does not build or run, or a file cannot be written.
pub(crate) fn write() -> Outcome {
    let root = root()?;
    let wanted = generate(&root)?;
    for path in present(&root)? {
        if !wanted.contains_key(&path) {
            std::fs::remove_file(root.join(&path))?;
        }
    }
    for (path, text) in &wanted {
        let file = root.join(path);
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(file, text)?;
    }
    say(&format!("gen: {} files", wanted.len()));
    Ok(())
}

/// Fails if [`write()`] would change anything.
///
/// # Errors
/// The same, and a file that is missing, stale or too much.
pub(crate) fn check() -> Outcome {
    let root = root()?;
    let wanted = generate(&root)?;
    let mut found = BTreeMap::new();
    for path in present(&root)? {
        let text = std::fs::read_to_string(root.join(&path))?;
        found.insert(path, text);
    }
    let stale = differences(&wanted, &found);
    if stale.is_empty() {
        say(&format!("gen: {} files are up to date", wanted.len()));
        Ok(())
    } else {
        Err(format!("run `cargo xtask gen`:\n{}", stale.join("\n")).into())
    }
}

/// What is missing, stale or too much.
fn differences(wanted: &BTreeMap<String, String>, found: &BTreeMap<String, String>) -> Vec<String> {
    let mut differences = Vec::new();
    for (path, text) in wanted {
        match found.get(path) {
            None => differences.push(format!("{path} is missing")),
            Some(old) if old != text => {
                differences.push(format!("{path} is stale"));
                if path.starts_with(surface::FOLDER) {
                    differences.extend(surface::report(old, text));
                }
            }
            Some(_) => {}
        }
    }
    for path in found.keys().filter(|path| !wanted.contains_key(*path)) {
        differences.push(format!("{path} is no longer generated"));
    }
    differences
}

/// Paths of the generated files that are there.
fn present(root: &Path) -> Outcome<Vec<String>> {
    let mut paths = vec![PROTOCOL_PAGE.to_owned()];
    if root.join(REFERENCE_PAGE).is_file() {
        paths.push(REFERENCE_PAGE.to_owned());
    }
    for folder in FOLDERS {
        let Ok(entries) = std::fs::read_dir(root.join(folder)) else {
            continue;
        };
        for entry in entries {
            let name = entry?.file_name();
            paths.push(format!("{folder}/{}", name.to_string_lossy()));
        }
    }
    paths.sort();
    Ok(paths)
}

/// All generated files by their path.
fn generate(root: &Path) -> Outcome<BTreeMap<String, String>> {
    let build: &[&str] = &["build", "--quiet", "--package", "podward"];
    run("cargo build --package podward", &mut cargo(build)?)?;
    let podward = target_folder(root).join("debug/podward");
    let print = |arguments: &[&str]| {
        let mut command = Command::new(&podward);
        // The width of help texts must not hang on the terminal.
        command.args(arguments).env("COLUMNS", "100");
        output_of(&format!("podward {}", arguments.join(" ")), &mut command)
    };
    let mut files = BTreeMap::new();
    for page in print(&["man", "--list"])?.lines() {
        let text = print(&["man", page])?;
        files.insert(format!("docs/man/{page}.1"), text);
    }
    for (shell, name) in SHELLS {
        let text = print(&["completions", shell])?;
        files.insert(format!("docs/completions/{name}"), text);
    }
    for schema in SCHEMAS {
        let text = print(&["schema", schema])?;
        files.insert(format!("docs/schemas/{schema}.json"), text);
    }
    let page = std::fs::read_to_string(root.join(PROTOCOL_PAGE))?;
    let schema = |name: &str| {
        let text = files.get(&format!("docs/schemas/{name}.json"));
        text.map_or("", String::as_str)
    };
    let page = protocol_page::fill(&page, schema("method"), schema("response"), schema("event"))?;
    let page = protocol_page::place(&page, "limits", &limits::table(root)?)?;
    let reference = reference_page::page(schema("manifest"))?;
    files.insert(REFERENCE_PAGE.to_owned(), reference);
    files.insert(PROTOCOL_PAGE.to_owned(), page);
    files.extend(screens::pictures(root)?);
    files.extend(surface::of_all(&Tree::read(root)?)?);
    Ok(files)
}

fn target_folder(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| root.join("target"), |folder| root.join(folder))
}

#[cfg(test)]
mod tests;
