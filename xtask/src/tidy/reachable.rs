//! Every Rust file is part of a crate: a forgotten module or test file would never be compiled.

use syn::visit::{self, Visit};
use syn::{Item, ItemMod};

use super::Finding;
use super::rust_source::RustFile;

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

/// The files that may hold the `mod` of a file, and the module's name; `None` for a crate's root.
fn parents_of(path: &str) -> Option<(Vec<String>, String)> {
    let (folder, name) = path.rsplit_once('/')?;
    let module = name.strip_suffix(".rs")?;
    let (_, folder_name) = folder.rsplit_once('/').unwrap_or(("", folder));
    let is_root = matches!(module, "main" | "lib" | "build")
        || matches!(folder_name, "examples" | "fuzz_targets" | "benches" | "bin");
    if is_root {
        return None;
    }
    let parents = if folder_name == "src" {
        vec![format!("{folder}/lib.rs"), format!("{folder}/main.rs")]
    } else {
        vec![format!("{folder}.rs"), format!("{folder}/main.rs")]
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
