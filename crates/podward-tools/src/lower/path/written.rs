//! A path as it is written, read from left to right.

use std::ffi::OsString;
use std::path::{Component, Path};

use podward_policy::{HoleKind, UnknownReason};

use super::Parts;
use super::alias::{Alias, alias, may_be_alias};
use crate::lower::partly::{Symbol, chars, has_expansion, known, pattern_may_match};
use crate::lower::resolve::{Step, steps_down};

/// A path from the root: the names that are known, then those from the first one on that is not.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// Normalised by its text: `.` and empty names gone, `..` applied to what stands before it.
    pub(super) plain: Parts,
    /// The same with the kernel's aliases replaced by what they stand for.
    pub(super) parts: Parts,
    /// As the kernel walks it: `..` follows a link on the way.
    pub(super) steps: Vec<Step>,
    /// Names of which the first is known in part, none of them `..`.
    pub(super) rest: Vec<Vec<Symbol>>,
    pub(super) unknown: Option<UnknownReason>,
}

/// One name of a path.
#[derive(Debug, Clone)]
pub(crate) enum Name {
    Known(OsString),
    Up,
    /// A name with a hole.
    Partly(Vec<Symbol>),
}

/// `..` behind the value of an expansion: where the path starts is not known any more.
struct Lost;

/// A path with holes.
pub(super) enum Read {
    Rooted(Written),
    /// Names of which the first begins with an expansion: they may start anywhere.
    Rootless(Vec<Vec<Symbol>>),
}

impl Written {
    /// A path that is wholly known, for who opens what its text names.
    pub(super) fn by_text(path: &Path, cwd: Option<&Parts>) -> Self {
        let mut written = Self::default();
        for component in path.components() {
            match component {
                Component::Normal(name) => written.down(name.to_owned(), cwd),
                Component::ParentDir => {
                    written.plain.pop();
                    written.parts.pop();
                }
                Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
            }
        }
        written.steps = steps_down(&written.parts).collect();
        written
    }

    /// A path that starts from a directory, as the kernel opens it.
    pub(super) fn from(directory: &Path, names: &[Name], cwd: Option<&Parts>) -> Read {
        let mut written = Self::by_text(directory, cwd);
        for (idx, name) in names.iter().enumerate() {
            let done = match name {
                Name::Known(name) => {
                    written.down(name.clone(), cwd);
                    Ok(())
                }
                Name::Up => written.up(),
                Name::Partly(name) => {
                    written.rest.push(name.clone());
                    Ok(())
                }
            };
            if let Err(Lost) = done {
                let rest = names.get(idx + 1..).unwrap_or_default();
                return Read::Rootless(rootless(vec![anything()], rest));
            }
        }
        if !written.rest.is_empty()
            && let Some(why) = may_be_alias(&written.parts, &written.rest)
        {
            written.unknown = Some(UnknownReason::new(why));
        }
        Read::Rooted(written)
    }

    fn down(&mut self, name: OsString, cwd: Option<&Parts>) {
        if !self.rest.is_empty() {
            self.rest.push(chars(&name.to_string_lossy()).collect());
            return;
        }
        self.plain.push(name.clone());
        self.parts.push(name.clone());
        self.steps.push(Step::Down(name));
        match alias(&self.parts) {
            Alias::None => {}
            Alias::WorkingDirectory => match cwd {
                Some(cwd) => self.parts.clone_from(cwd),
                None => self.unknown = Some(UnknownReason::new("the working directory")),
            },
            Alias::Root => self.parts.clear(),
            Alias::Unknown(why) => self.unknown = Some(UnknownReason::new(why)),
        }
    }

    fn up(&mut self) -> Result<(), Lost> {
        match self.rest.pop() {
            Some(name) if has_expansion(&name) => return Err(Lost),
            Some(_) => return Ok(()),
            None => {}
        }
        self.plain.pop();
        self.parts.pop();
        self.steps.push(Step::Up);
        Ok(())
    }
}

/// The names of a path with holes; empty ones and `.` are gone.
pub(super) fn names(path: &[Symbol]) -> Vec<Name> {
    path.split(|symbol| *symbol == Symbol::Char('/'))
        .filter_map(|name| match known(name) {
            Some(known) => match known.as_str() {
                "" | "." => None,
                ".." => Some(Name::Up),
                _ => Some(Name::Known(known.into())),
            },
            None => Some(Name::Partly(without_dots(name).to_vec())),
        })
        .collect()
}

/// The name without dots behind an expansion whose value may make them `.` or `..`.
fn without_dots(name: &[Symbol]) -> &[Symbol] {
    let n_dots = name
        .iter()
        .rev()
        .take_while(|symbol| **symbol == Symbol::Char('.'))
        .count();
    match name.split_at_checked(name.len() - n_dots) {
        Some((before, _))
            if n_dots <= 2 && before.last().is_some_and(|last| last.is_expansion()) =>
        {
            before
        }
        _ => name,
    }
}

/// The same names with the first pattern that may be `..` or `.` taken for each of them: some
/// versions of bash let `.*` match both.
pub(super) fn dotted(names: &[Name]) -> Vec<Vec<Name>> {
    let may_be = |dots: &str| {
        names.iter().position(
            |name| matches!(name, Name::Partly(pattern) if pattern_may_match(pattern, dots)),
        )
    };
    let mut ways = Vec::new();
    if let Some(idx) = may_be("..") {
        let mut way = names.to_vec();
        way.splice(idx..=idx, [Name::Up]);
        ways.push(way);
    }
    if let Some(idx) = may_be(".") {
        let mut way = names.to_vec();
        way.remove(idx);
        ways.push(way);
    }
    ways
}

/// Names that start anywhere, after the first ones.
pub(super) fn rootless(start: Vec<Vec<Symbol>>, names: &[Name]) -> Vec<Vec<Symbol>> {
    let mut all = start;
    for name in names {
        match name {
            Name::Known(name) => {
                all.push(chars(&name.to_string_lossy()).collect());
            }
            Name::Partly(name) => all.push(name.clone()),
            Name::Up => match all.pop() {
                Some(name) if !has_expansion(&name) => {}
                _ => all = vec![anything()],
            },
        }
    }
    all
}

fn anything() -> Vec<Symbol> {
    vec![Symbol::Hole(HoleKind::Anything)]
}
