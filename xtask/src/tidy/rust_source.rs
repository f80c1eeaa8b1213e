//! Rust files, parsed once for all checks.

use proc_macro2::Span;
use syn::{Attribute, Item, Meta};

use super::Finding;
use crate::tree::Tree;

/// A parsed Rust file.
pub(super) struct RustFile {
    /// Relative to the root.
    pub(super) path: String,
    /// What it holds.
    pub(super) text: String,
    /// Its syntax tree.
    pub(super) syntax: syn::File,
    /// It is compiled for tests alone: by where it is, or by the `#[cfg(test)] mod` that names it.
    is_test: bool,
}

/// All Rust files.
pub(super) struct RustFiles {
    /// Those that parse.
    pub(super) files: Vec<RustFile>,
    /// Those that do not.
    pub(super) unparsed: Vec<Finding>,
}

/// Parses the Rust files of the project.
pub(super) fn parse(tree: &Tree) -> RustFiles {
    let mut files = Vec::new();
    let mut unparsed = Vec::new();
    for file in tree.ending_in(".rs") {
        match syn::parse_file(&file.text) {
            Ok(syntax) => files.push(RustFile {
                path: file.path.clone(),
                text: file.text.clone(),
                syntax,
                is_test: is_test_path(&file.path),
            }),
            Err(error) => unparsed.push(Finding::at(
                "parse",
                &file.path,
                error.span().start().line,
                error.to_string(),
            )),
        }
    }
    mark_test_modules(&mut files);
    RustFiles { files, unparsed }
}

fn is_test_path(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    parts.contains(&"tests") || parts.last() == Some(&"tests.rs")
}

/// Marks the files of modules that stand behind `#[cfg(test)]`.
fn mark_test_modules(files: &mut [RustFile]) {
    let modules: Vec<String> = files.iter().flat_map(test_modules_of).collect();
    for file in files {
        let stem = file.path.trim_end_matches(".rs");
        file.is_test |= modules
            .iter()
            .any(|module| stem == module || stem.starts_with(&format!("{module}/")));
    }
}

/// Paths, without `.rs`, of the modules that a file names behind `#[cfg(test)]`.
fn test_modules_of(file: &RustFile) -> Vec<String> {
    let stem = file.path.trim_end_matches(".rs");
    let folder = match stem.rsplit_once('/') {
        Some((folder, "lib" | "main")) => folder,
        Some(_) | None => stem,
    };
    let names = file.syntax.items.iter().filter_map(|item| match item {
        Item::Mod(module) if module.content.is_none() && is_test_only(&module.attrs) => {
            Some(format!("{folder}/{}", module.ident))
        }
        _ => None,
    });
    names.collect()
}

impl RustFile {
    /// Whether all of the file is test code.
    pub(super) const fn is_test(&self) -> bool {
        self.is_test
    }
}

/// Whether an item stands behind `#[cfg(test)]`.
pub(crate) fn is_test_only(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string().trim() == "test",
        Meta::Path(path) => path.is_ident("test"),
        Meta::NameValue(_) => false,
    })
}

/// The attributes of an item.
pub(crate) fn attributes_of(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::TraitAlias(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        // `Item` is not exhaustive: what a later syn adds has no attributes that matter here.
        _ => &[],
    }
}

/// The first line of a span.
pub(super) fn line_of(span: Span) -> usize {
    span.start().line
}
