//! What a type can do: its own functions, and the traits that it implements or derives.

use std::collections::BTreeSet;

use syn::punctuated::Punctuated;
use syn::{Attribute, Field, Fields, Generics, ImplItem, Item, ItemImpl, Meta, Token, Visibility};

use super::items::has;
use super::modules::{Crate, Path, joined, name_of};
use super::text::{Scope, qualifiers};
use crate::chores::Outcome;

/// Derives whose traits have other names than the derives.
const DERIVED: &[(&str, &[&str])] = &[
    ("Debug", &["std::fmt::Debug"]),
    ("Hash", &["std::hash::Hash"]),
    (
        "thiserror::Error",
        &["std::error::Error", "std::fmt::Display"],
    ),
];

/// A line for each function of a public type, and for each trait that it has.
///
/// # Errors
/// An implementation cannot be read.
pub(super) fn lines(crate_: &Crate) -> Outcome<BTreeSet<String>> {
    let mut lines = BTreeSet::new();
    for (path, module) in &crate_.modules {
        let scope = Scope::new(crate_, path);
        for item in &module.items {
            if let Item::Impl(item) = item {
                lines.extend(impl_lines(&scope, item)?);
            }
            let (attributes, generics, fields) = match item {
                Item::Struct(item) => (&item.attrs, &item.generics, fields_of(&item.fields)),
                Item::Enum(item) => {
                    let variants = item.variants.iter();
                    let fields = variants.flat_map(|variant| fields_of(&variant.fields));
                    (&item.attrs, &item.generics, fields.collect())
                }
                _ => continue,
            };
            let definition = joined(path, &name_of(item).unwrap_or_default());
            if let Some(public) = crate_.public_path(&definition) {
                let derived = Derived {
                    attributes,
                    generics,
                    fields,
                };
                lines.extend(derive_lines(&scope, &derived, &public)?);
            }
        }
    }
    Ok(lines)
}

fn fields_of(fields: &Fields) -> Vec<&Field> {
    fields.iter().collect()
}

fn impl_lines(scope: &Scope<'_>, item: &ItemImpl) -> Outcome<Vec<String>> {
    let scope = scope.with(&item.generics);
    let generics = scope.generics(&item.generics);
    let bounds = scope.bounds(&item.generics);
    let of = scope.show(&item.self_ty);
    let Some((trait_, _)) = &item.trait_ else {
        let owner = scope.definition_of(&item.self_ty);
        let Some(public) = owner.and_then(|owner: Path| scope.crate_.public_path(&owner)) else {
            return Ok(Vec::new());
        };
        return inherent_lines(&scope, item, &public, &format!("{generics}{bounds}"));
    };
    let trait_ = scope.show(trait_);
    // What cannot be named from outside adds nothing to the surface.
    if trait_.contains("private(") || of.contains("private(") {
        return Ok(Vec::new());
    }
    let types: Vec<String> = item
        .items
        .iter()
        .filter_map(|part| match part {
            ImplItem::Type(part) => Some(format!("{} = {}", part.ident, scope.show(&part.ty))),
            _ => None,
        })
        .collect();
    let types = if types.is_empty() {
        String::new()
    } else {
        format!(" {{ {} }}", types.join(", "))
    };
    Ok(vec![format!(
        "impl{generics} {trait_} for {of}{bounds}{types}"
    )])
}

/// The public functions and constants of an implementation without a trait.
fn inherent_lines(
    scope: &Scope<'_>,
    item: &ItemImpl,
    public: &str,
    of: &str,
) -> Outcome<Vec<String>> {
    let of = if of.is_empty() {
        String::new()
    } else {
        format!(" (impl{of})")
    };
    let mut lines = Vec::new();
    for part in &item.items {
        match part {
            ImplItem::Fn(part) if is_public(&part.vis) => {
                let name = format!("{}fn {public}::{}", qualifiers(&part.sig), part.sig.ident);
                lines.push(format!("{name}{}{of}", scope.signature(&part.sig)));
            }
            ImplItem::Const(part) if is_public(&part.vis) => {
                let ty = scope.show(&part.ty);
                lines.push(format!("const {public}::{}: {ty}{of}", part.ident));
            }
            ImplItem::Fn(_) | ImplItem::Const(_) => {}
            _ => {
                return Err(
                    format!("a part of `impl {public}` is of a kind that is not read").into(),
                );
            }
        }
    }
    Ok(lines)
}

const fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// What derives are made of.
struct Derived<'a> {
    attributes: &'a [Attribute],
    generics: &'a Generics,
    fields: Vec<&'a Field>,
}

fn derive_lines(scope: &Scope<'_>, item: &Derived<'_>, public: &str) -> Outcome<Vec<String>> {
    let parameters: Vec<String> = item
        .generics
        .params
        .iter()
        .map(|parameter| match parameter {
            syn::GenericParam::Type(parameter) => parameter.ident.to_string(),
            syn::GenericParam::Const(parameter) => parameter.ident.to_string(),
            syn::GenericParam::Lifetime(parameter) => format!("'{}", parameter.lifetime.ident),
        })
        .collect();
    let (generics, of) = if parameters.is_empty() {
        (String::new(), public.to_owned())
    } else {
        let parameters = parameters.join(", ");
        (format!("<{parameters}>"), format!("{public}<{parameters}>"))
    };
    let mut lines = Vec::new();
    for attribute in item.attributes {
        let Meta::List(list) = &attribute.meta else {
            continue;
        };
        if !list.path.is_ident("derive") {
            continue;
        }
        let derives = list.parse_args_with(Punctuated::<syn::Path, Token![,]>::parse_terminated)?;
        for derive in &derives {
            let derive = scope.show(derive);
            let known = DERIVED.iter().find(|(name, _)| *name == derive);
            let traits = known.map_or_else(|| vec![derive.as_str()], |(_, traits)| traits.to_vec());
            lines.extend(
                traits
                    .iter()
                    .map(|trait_| format!("impl{generics} {trait_} for {of}")),
            );
        }
    }
    for field in &item.fields {
        if has(&field.attrs, "from") {
            let from = scope.show(&field.ty);
            lines.push(format!("impl{generics} From<{from}> for {of}"));
        }
    }
    Ok(lines)
}
