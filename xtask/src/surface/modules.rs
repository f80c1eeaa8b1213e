//! The modules of a crate, and what a name in one of them means.

use std::collections::{BTreeMap, BTreeSet};

use syn::{Item, ItemMod, ItemUse, UseTree, Visibility};

use crate::chores::Outcome;
use crate::tidy::is_test_only;
use crate::tree::Tree;

/// The path of a module or an item inside its crate: `["event", "ModelEvent"]`.
pub(super) type Path = Vec<String>;

/// One module.
#[derive(Default)]
pub(super) struct Module {
    /// Its items that are compiled outside tests.
    pub(super) items: Vec<Item>,
    /// What its `use` declarations bring in: name to path, as written.
    uses: BTreeMap<String, Path>,
    /// Those of them that are `pub`.
    pub(super) reexports: BTreeMap<String, Path>,
    /// The names of what it defines, modules too.
    defined: BTreeSet<String>,
}

/// A crate as its source says it.
pub(super) struct Crate {
    /// As in paths: `podward_gate`.
    pub(super) name: String,
    pub(super) modules: BTreeMap<Path, Module>,
    /// Public names of what the crate defines: the definition's path to its shortest public path.
    public: BTreeMap<Path, Path>,
}

/// What a name means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Something that this crate defines.
    Local(Path),
    /// A path of another crate, or of the standard library.
    Foreign(Path),
    /// Nothing that the module brings in: a name of the prelude, or a generic parameter.
    Unknown,
}

impl Crate {
    /// Reads a crate from its root on.
    ///
    /// # Errors
    /// A file is missing or does not parse, or holds what cannot be read.
    pub(super) fn read(tree: &Tree, name: &str) -> Outcome<Self> {
        let mut crate_ = Self {
            name: name.replace('-', "_"),
            modules: BTreeMap::new(),
            public: BTreeMap::new(),
        };
        let folder = format!("crates/{name}/src");
        let root = tree.get(&format!("{folder}/lib.rs"));
        let root = root.ok_or_else(|| format!("{folder}/lib.rs is missing"))?;
        let items = syn::parse_file(&root.text)?.items;
        crate_.add_module(tree, &folder, Vec::new(), items)?;
        crate_.find_public(&Vec::new(), &Vec::new())?;
        Ok(crate_)
    }

    fn add_module(&mut self, tree: &Tree, folder: &str, path: Path, items: Vec<Item>) -> Outcome {
        let mut module = Module::default();
        for mut item in items {
            if is_test_only(crate::tidy::attributes_of(&item)) {
                continue;
            }
            match &mut item {
                Item::Use(item) => module.add_use(item)?,
                Item::Mod(child) => {
                    let items = items_of(tree, folder, &path, child)?;
                    self.add_module(tree, folder, joined(&path, &child.ident.to_string()), items)?;
                }
                _ => {}
            }
            module.defined.extend(name_of(&item));
            module.items.push(item);
        }
        self.modules.insert(path, module);
        Ok(())
    }

    /// Walks through what is public, from the root on.
    fn find_public(&mut self, module: &Path, public: &Path) -> Outcome {
        let Some(found) = self.modules.get(module) else {
            return Ok(());
        };
        let mut named = Vec::new();
        for item in &found.items {
            if let (true, Some(name)) = (is_public(item), name_of(item)) {
                named.push((joined(module, &name), joined(public, &name)));
            }
        }
        for (name, path) in &found.reexports {
            match self.meaning_of_reexport(module, path) {
                Meaning::Local(target) => named.push((target, joined(public, name))),
                Meaning::Foreign(_) => {}
                Meaning::Unknown => {
                    return Err(format!(
                        "{}: `pub use {}` leads nowhere",
                        self.name,
                        path.join("::")
                    )
                    .into());
                }
            }
        }
        for (target, public) in named {
            let known = self.public.get(&target);
            if known.is_some_and(|known| known.len() <= public.len()) {
                continue;
            }
            self.public.insert(target.clone(), public.clone());
            if self.modules.contains_key(&target) {
                self.find_public(&target, &public)?;
            }
        }
        Ok(())
    }

    /// The public path of something that this crate defines.
    pub(super) fn public_path(&self, definition: &Path) -> Option<String> {
        let public = self.public.get(definition)?;
        Some(format!("{}::{}", self.name, public.join("::")))
    }

    /// Modules that can be named from outside, the root among them, with their public paths.
    pub(super) fn public_modules(&self) -> impl Iterator<Item = (&Path, &Module, String)> {
        self.modules.iter().filter_map(|(path, module)| {
            let public = if path.is_empty() {
                self.name.clone()
            } else {
                self.public_path(path)?
            };
            Some((path, module, public))
        })
    }

    /// What the path of a `pub use` means: one that begins with nothing known is of another crate.
    pub(super) fn meaning_of_reexport(&self, module: &Path, path: &Path) -> Meaning {
        match self.meaning_of_path(module, path) {
            Meaning::Unknown if path.len() > 1 => Meaning::Foreign(path.clone()),
            known => known,
        }
    }

    /// What a path means that is written in a module.
    pub(super) fn meaning_of_path(&self, module: &Path, path: &[String]) -> Meaning {
        self.meaning_within(module, path, 0)
    }

    fn meaning_within(&self, module: &Path, path: &[String], depth: usize) -> Meaning {
        // A `use` that names itself would be looked up for ever.
        if depth > 16 {
            return Meaning::Unknown;
        }
        let Some((first, rest)) = path.split_first() else {
            return Meaning::Local(module.clone());
        };
        match first.as_str() {
            "crate" => return self.meaning_within(&Vec::new(), rest, depth + 1),
            "self" => return self.meaning_within(module, rest, depth + 1),
            "super" => {
                let parent = module.split_last().map(|(_, parent)| parent.to_vec());
                return self.meaning_within(&parent.unwrap_or_default(), rest, depth + 1);
            }
            _ => {}
        }
        let Some(here) = self.modules.get(module) else {
            return Meaning::Unknown;
        };
        if here.defined.contains(first) {
            let definition = joined(module, first);
            if rest.is_empty() || !self.modules.contains_key(&definition) {
                return Meaning::Local([definition, rest.to_vec()].concat());
            }
            return self.meaning_within(&definition, rest, depth + 1);
        }
        if let Some(used) = here.uses.get(first) {
            let whole = [used.clone(), rest.to_vec()].concat();
            return match self.meaning_within(module, &whole, depth + 1) {
                Meaning::Unknown => Meaning::Foreign(whole),
                known => known,
            };
        }
        Meaning::Unknown
    }
}

impl Module {
    fn add_use(&mut self, item: &ItemUse) -> Outcome {
        let mut found = Vec::new();
        flatten(&item.tree, &mut Vec::new(), &mut found)?;
        for (name, path) in found {
            if matches!(item.vis, Visibility::Public(_)) {
                self.reexports.insert(name.clone(), path.clone());
            }
            // `use std` alone brings in nothing that is not there anyway.
            if path.len() > 1 || path.last() != Some(&name) {
                self.uses.insert(name, path);
            }
        }
        Ok(())
    }
}

/// The names that a `use` brings in, each with its path.
fn flatten(tree: &UseTree, path: &mut Path, found: &mut Vec<(String, Path)>) -> Outcome {
    match tree {
        UseTree::Path(part) => {
            path.push(part.ident.to_string());
            flatten(&part.tree, path, found)?;
            path.pop();
        }
        UseTree::Name(name) if name.ident == "self" => {
            found.extend(path.last().cloned().map(|last| (last, path.clone())));
        }
        UseTree::Name(name) => {
            let name = name.ident.to_string();
            found.push((name.clone(), joined(path, &name)));
        }
        UseTree::Rename(rename) => {
            found.push((
                rename.rename.to_string(),
                joined(path, &rename.ident.to_string()),
            ));
        }
        UseTree::Group(group) => {
            for tree in &group.items {
                flatten(tree, path, found)?;
            }
        }
        UseTree::Glob(_) => {
            return Err(format!(
                "`use {}::*`: what a glob brings in is not read",
                path.join("::")
            )
            .into());
        }
    }
    Ok(())
}

/// The items of a module: those between its braces, or those of its file.
fn items_of(tree: &Tree, folder: &str, parent: &Path, module: &mut ItemMod) -> Outcome<Vec<Item>> {
    if let Some((_, items)) = &mut module.content {
        return Ok(std::mem::take(items));
    }
    let path = joined(parent, &module.ident.to_string()).join("/");
    let file = format!("{folder}/{path}.rs");
    let found = tree.get(&file);
    let found = found.ok_or_else(|| format!("{file} is missing"))?;
    Ok(syn::parse_file(&found.text)?.items)
}

/// A path with one more name.
pub(super) fn joined(path: &Path, name: &str) -> Path {
    let mut path = path.clone();
    path.push(name.to_owned());
    path
}

/// The name of what an item defines.
pub(super) fn name_of(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Mod(item) => &item.ident,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        // Implementations and uses define no name; a macro's name is not a path.
        _ => return None,
    };
    Some(name.to_string())
}

/// Whether an item is `pub` where it stands.
pub(super) fn is_public(item: &Item) -> bool {
    let visibility = match item {
        Item::Const(item) => &item.vis,
        Item::Enum(item) => &item.vis,
        Item::Fn(item) => &item.vis,
        Item::Mod(item) => &item.vis,
        Item::Static(item) => &item.vis,
        Item::Struct(item) => &item.vis,
        Item::Trait(item) => &item.vis,
        Item::Type(item) => &item.vis,
        Item::Union(item) => &item.vis,
        // As for names.
        _ => return false,
    };
    matches!(visibility, Visibility::Public(_))
}
