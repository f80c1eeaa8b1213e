//! What can be named: items, their fields, variants and the parts of traits.

use std::collections::BTreeSet;

use syn::{Attribute, Fields, Item, ItemEnum, ItemStruct, ItemTrait, TraitItem, Visibility};

use super::modules::{Crate, Meaning, Module, Path, joined, name_of};
use super::text::{Scope, qualifiers};
use crate::chores::Outcome;

/// A line for each item that can be named from outside.
///
/// # Errors
/// An item cannot be read.
pub(super) fn lines(crate_: &Crate) -> Outcome<BTreeSet<String>> {
    let mut lines = BTreeSet::new();
    for (path, module) in &crate_.modules {
        for item in &module.items {
            let Some(name) = name_of(item) else {
                check_readable(crate_, path, item)?;
                continue;
            };
            let Some(public) = crate_.public_path(&joined(path, &name)) else {
                continue;
            };
            let scope = Scope::new(crate_, path);
            lines.extend(item_lines(&scope, item, &public)?);
        }
    }
    for (path, module, public) in crate_.public_modules() {
        lines.extend(module_lines(crate_, path, module, &public));
    }
    Ok(lines)
}

/// An item that only the compiler could read must not be part of the surface.
fn check_readable(crate_: &Crate, module: &Path, item: &Item) -> Outcome {
    match item {
        Item::Use(_) | Item::Impl(_) => Ok(()),
        Item::Macro(item) if item.ident.is_some() && !has(&item.attrs, "macro_export") => Ok(()),
        _ => Err(format!(
            "{}: an item in `{}` cannot be read: a macro makes it, or is exported",
            crate_.name,
            module.join("::")
        )
        .into()),
    }
}

/// The module itself, and what it passes on.
fn module_lines(crate_: &Crate, path: &Path, module: &Module, public: &str) -> Vec<String> {
    let mut lines = Vec::new();
    if !path.is_empty() {
        lines.push(format!("mod {public}"));
    }
    for (name, target) in &module.reexports {
        let here = format!("{public}::{name}");
        match crate_.meaning_of_reexport(path, target) {
            Meaning::Foreign(target) => lines.push(format!("use {here} = {}", target.join("::"))),
            Meaning::Local(definition) => {
                // A second name; the first has all the lines.
                let first = crate_.public_path(&definition);
                lines.extend(
                    first
                        .filter(|first| *first != here)
                        .map(|first| format!("use {here} = {first}")),
                );
            }
            Meaning::Unknown => {}
        }
    }
    lines
}

fn item_lines(scope: &Scope<'_>, item: &Item, public: &str) -> Outcome<Vec<String>> {
    Ok(match item {
        Item::Const(item) => vec![format!("const {public}: {}", scope.show(&item.ty))],
        Item::Static(item) => vec![format!("static {public}: {}", scope.show(&item.ty))],
        Item::Fn(item) => {
            let qualifiers = qualifiers(&item.sig);
            vec![format!(
                "{qualifiers}fn {public}{}",
                scope.signature(&item.sig)
            )]
        }
        Item::Type(item) => {
            let scope = scope.with(&item.generics);
            let generics = scope.generics(&item.generics);
            vec![format!(
                "type {public}{generics} = {}",
                scope.show(&item.ty)
            )]
        }
        Item::Struct(item) => struct_lines(scope, item, public),
        Item::Enum(item) => enum_lines(scope, item, public),
        Item::Trait(item) => trait_lines(scope, item, public)?,
        Item::Mod(_) => Vec::new(),
        _ => return Err(format!("`{public}` is of a kind that is not read").into()),
    })
}

fn struct_lines(scope: &Scope<'_>, item: &ItemStruct, public: &str) -> Vec<String> {
    let scope = scope.with(&item.generics);
    let is_open = !has(&item.attrs, "non_exhaustive")
        && item
            .fields
            .iter()
            .all(|field| matches!(field.vis, Visibility::Public(_)));
    // An open one can be made and taken apart outside: one more field breaks that.
    let openness = if is_open { "open" } else { "opaque" };
    let shape = match (&item.fields, is_open) {
        (Fields::Unit, true) => " unit",
        (Fields::Unnamed(_), true) => " tuple",
        _ => "",
    };
    let generics = scope.generics(&item.generics);
    let bounds = scope.bounds(&item.generics);
    let mut lines = vec![format!(
        "struct {public}{generics}{bounds} ({openness}{shape})"
    )];
    for (idx, field) in item.fields.iter().enumerate() {
        if matches!(field.vis, Visibility::Public(_)) {
            let name = field
                .ident
                .as_ref()
                .map_or_else(|| idx.to_string(), ToString::to_string);
            lines.push(format!("field {public}::{name}: {}", scope.show(&field.ty)));
        }
    }
    lines
}

fn enum_lines(scope: &Scope<'_>, item: &ItemEnum, public: &str) -> Vec<String> {
    let scope = scope.with(&item.generics);
    let is_open = !has(&item.attrs, "non_exhaustive");
    let openness = if is_open {
        "exhaustive"
    } else {
        "non_exhaustive"
    };
    let generics = scope.generics(&item.generics);
    let mut lines = vec![format!("enum {public}{generics} ({openness})")];
    for variant in &item.variants {
        let fields: Vec<String> = variant
            .fields
            .iter()
            .map(|field| match &field.ident {
                Some(name) => format!("{name}: {}", scope.show(&field.ty)),
                None => scope.show(&field.ty),
            })
            .collect();
        let fields = fields.join(", ");
        let fields = match &variant.fields {
            Fields::Unit => String::new(),
            Fields::Named(_) => format!(" {{ {fields} }}"),
            Fields::Unnamed(_) => format!("({fields})"),
        };
        let hidden = if has(&variant.attrs, "non_exhaustive") {
            " (non_exhaustive)"
        } else {
            ""
        };
        lines.push(format!(
            "variant {public}::{}{fields}{hidden}",
            variant.ident
        ));
    }
    lines
}

fn trait_lines(scope: &Scope<'_>, item: &ItemTrait, public: &str) -> Outcome<Vec<String>> {
    let scope = scope.with(&item.generics);
    // It makes the methods' futures boxed, which whoever implements the trait has to do too.
    let boxed = if has(&item.attrs, "async_trait") {
        " (async_trait)"
    } else {
        ""
    };
    let above: Vec<String> = item
        .supertraits
        .iter()
        .map(|bound| scope.show(bound))
        .collect();
    let above = if above.is_empty() {
        String::new()
    } else {
        format!(": {}", above.join(" + "))
    };
    let generics = scope.generics(&item.generics);
    let bounds = scope.bounds(&item.generics);
    let mut lines = vec![format!("trait {public}{generics}{above}{bounds}{boxed}")];
    for part in &item.items {
        let (is_provided, line) = match part {
            TraitItem::Fn(part) => {
                let name = format!("{}fn {public}::{}", qualifiers(&part.sig), part.sig.ident);
                (
                    part.default.is_some(),
                    format!("{name}{}", scope.signature(&part.sig)),
                )
            }
            TraitItem::Type(part) => {
                let bounds: Vec<String> =
                    part.bounds.iter().map(|bound| scope.show(bound)).collect();
                let bounds = bounds.join(" + ");
                (
                    part.default.is_some(),
                    format!("type {public}::{}: {bounds}", part.ident),
                )
            }
            TraitItem::Const(part) => {
                let ty = scope.show(&part.ty);
                (
                    part.default.is_some(),
                    format!("const {public}::{}: {ty}", part.ident),
                )
            }
            _ => return Err(format!("a part of `{public}` is of a kind that is not read").into()),
        };
        let duty = if is_provided { "provided" } else { "required" };
        lines.push(format!("{duty} {line}"));
    }
    Ok(lines)
}

/// Whether an attribute stands before an item.
pub(super) fn has(attributes: &[Attribute], name: &str) -> bool {
    attributes.iter().any(|attribute| {
        attribute
            .path()
            .segments
            .last()
            .is_some_and(|last| last.ident == name)
    })
}
