//! Every Rust file is part of a crate: a forgotten module or test file would never be compiled.

use syn::visit::{self, Visit};
use syn::{Item, ItemMod};

use super::Finding;
use super::rust_source::RustFile;
use crate::tree::Tree;

/// Finds Rust files that no `mod` names.
pub(super) fn check(files: &[RustFile]) -> Vec<Finding> {
    files
        .iter()
        .filter_map(|file| {
            let (parents, module) = parents_of(&file.path)?;
            let named = files
                .iter()
                .filter(|other| parents.contains(&other.path))
                .any(|parent| names_module(parent, &module));
            (!named).then(|| {
                Finding::about(
                    "reachable",
                    &file.path,
                    format!("no `mod {module};` in {}", parents.join(" or ")),
                )
            })
        })
        .collect()
}

/// Finds test binaries at the top level that the binary crate does not declare.
pub(super) fn check_test_binaries(tree: &Tree) -> Vec<Finding> {
    const OWNER: &str = "crates/podward/Cargo.toml";
    let declared = tree
        .get(OWNER)
        .map(|file| file.text.as_str())
        .unwrap_or_default();
    tree.ending_in("/main.rs")
        // What has a `src` is a crate of its own.
        .filter(|file| file.path.starts_with("tests/") && !file.path.contains("/src/"))
        .filter(|file| !declared.contains(&format!("path = \"../../{}\"", file.path)))
        .map(|file| {
            let what = format!("no [[test]] of {OWNER} has this path");
            Finding::about("reachable", &file.path, what)
        })
        .collect()
}

/// The files that may hold the `mod` of a file, and the module's name; `None` for a crate's root.
fn parents_of(path: &str) -> Option<(Vec<String>, String)> {
    let (folder, name) = path.rsplit_once('/')?;
    let module = name.strip_suffix(".rs")?;
    let (_, folder_name) = folder.rsplit_once('/').unwrap_or(("", folder));
    // Cargo finds the test binaries of a package by itself; those at the top level are in none.
    let is_test_binary = folder_name == "tests" && folder != "tests" && !folder.contains("/src/");
    let is_root = matches!(module, "main" | "lib" | "build" | "mod")
        || matches!(folder_name, "examples" | "fuzz_targets" | "benches" | "bin")
        || is_test_binary;
    if is_root {
        return None;
    }
    let parents = if folder_name == "src" {
        vec![format!("{folder}/lib.rs"), format!("{folder}/main.rs")]
    } else {
        let names = ["main.rs", "mod.rs"].map(|name| format!("{folder}/{name}"));
        [vec![format!("{folder}.rs")], names.to_vec()].concat()
    };
    Some((parents, module.to_owned()))
}

fn names_module(file: &RustFile, module: &str) -> bool {
    struct Modules<'a> {
        wanted: &'a str,
        found: bool,
    }
    impl<'ast> Visit<'ast> for Modules<'_> {
        fn visit_item_mod(&mut self, item: &'ast ItemMod) {
            self.found |= item.content.is_none() && item.ident == self.wanted;
        }
        fn visit_item(&mut self, item: &'ast Item) {
            visit::visit_item(self, item);
        }
    }
    let mut modules = Modules {
        wanted: module,
        found: false,
    };
    modules.visit_file(&file.syntax);
    modules.found
}

#[cfg(test)]
mod tests;
