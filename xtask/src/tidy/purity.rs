//! Pure crates take values and return values.

use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Item, ItemUse, Path, Signature, UseTree};

use super::Finding;
use super::layering::{Edge, LAYERS, Purity};
use super::rust_source::{RustFile, attributes_of, is_test_only, line_of};

const CHECK: &str = "purity";

/// Crates from outside that a pure crate may use: none of them does I/O.
const ALLOWED: &[&str] = &[
    "glob",
    "granit-parser",
    "jiff",
    "memchr",
    "schemars",
    "serde",
    "serde_json",
    "sha2",
    "similar",
    "strsim",
    "thiserror",
    "toml",
    "unicode-width",
    "url",
];

/// What of the standard library meets the world.
const WORLD: &[&[&str]] = &[
    &["std", "fs"],
    &["std", "env"],
    &["std", "net"],
    &["std", "os"],
    &["std", "process"],
    &["std", "thread"],
    &["std", "time", "Instant"],
    &["std", "time", "SystemTime"],
    &["std", "io", "stdin"],
    &["std", "io", "stdout"],
    &["std", "io", "stderr"],
];

/// Finds dependencies of pure crates that are not on the list.
pub(super) fn check_dependencies(edges: &[Edge]) -> Vec<Finding> {
    edges
        .iter()
        .filter(|edge| is_pure(&edge.from))
        .filter(|edge| !LAYERS.iter().any(|layer| layer.name == edge.to))
        .filter(|edge| !ALLOWED.contains(&edge.to.as_str()))
        .map(|edge| {
            Finding::about(
                CHECK,
                &format!("crate {}", edge.from),
                format!("is pure and may not use `{}`", edge.to),
            )
        })
        .collect()
}

/// Finds uses of the file system, environment, clock, threads and async in pure crates.
pub(super) fn check_sources(files: &[RustFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files {
        let crate_name = file
            .path
            .strip_prefix("crates/")
            .and_then(|rest| rest.split_once("/src/"))
            .map(|(name, _)| name);
        if crate_name.is_some_and(is_pure) && !file.is_test() {
            let mut visitor = Visitor {
                path: &file.path,
                findings: &mut findings,
            };
            visitor.visit_file(&file.syntax);
        }
    }
    findings
}

fn is_pure(name: &str) -> bool {
    LAYERS
        .iter()
        .any(|layer| layer.name == name && layer.purity == Purity::Pure)
}

struct Visitor<'a> {
    path: &'a str,
    findings: &'a mut Vec<Finding>,
}

impl Visitor<'_> {
    fn meet(&mut self, line: usize, path: &[String]) {
        let met = WORLD
            .iter()
            .find(|world| path.len() >= world.len() && world.iter().zip(path).all(|(a, b)| a == b));
        if let Some(world) = met {
            self.findings.push(Finding::at(
                CHECK,
                self.path,
                line,
                format!("a pure crate uses `{}`", world.join("::")),
            ));
        }
    }

    fn walk_use(&mut self, line: usize, prefix: &mut Vec<String>, tree: &UseTree) {
        match tree {
            UseTree::Path(path) => {
                prefix.push(path.ident.to_string());
                self.walk_use(line, prefix, &path.tree);
                prefix.pop();
            }
            UseTree::Name(name) => {
                prefix.push(name.ident.to_string());
                self.meet(line, prefix);
                prefix.pop();
            }
            UseTree::Rename(rename) => {
                prefix.push(rename.ident.to_string());
                self.meet(line, prefix);
                prefix.pop();
            }
            UseTree::Glob(_) => self.meet(line, prefix),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.walk_use(line, prefix, tree);
                }
            }
        }
    }
}

impl<'ast> Visit<'ast> for Visitor<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_test_only(attributes_of(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.walk_use(line_of(item.span()), &mut Vec::new(), &item.tree);
    }

    fn visit_path(&mut self, path: &'ast Path) {
        let segments: Vec<String> = path
            .segments
            .iter()
            .map(|segment| segment.ident.to_string())
            .collect();
        self.meet(line_of(path.span()), &segments);
        visit::visit_path(self, path);
    }

    fn visit_signature(&mut self, signature: &'ast Signature) {
        if let Some(token) = &signature.asyncness {
            self.findings.push(Finding::at(
                CHECK,
                self.path,
                line_of(token.span),
                format!("a pure crate has an async function, `{}`", signature.ident),
            ));
        }
        visit::visit_signature(self, signature);
    }
}

#[cfg(test)]
mod tests;
