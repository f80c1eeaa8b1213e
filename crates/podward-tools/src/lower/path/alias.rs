//! The kernel's other names for files: proc(5), `/dev/fd`.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;

use crate::lower::partly::{Symbol, has_expansion, known, pattern_may_match};

const OPEN_FILE: &str = "an open file of a process";
const OTHER: &str = "a directory or file of another process";

/// What a path is to the kernel, beside a name on disk.
pub(crate) enum Alias {
    /// Nothing else.
    None,
    /// The process's own working directory.
    WorkingDirectory,
    /// The process's own root.
    Root,
    /// Something that its text does not tell.
    Unknown(&'static str),
}

/// Whether exactly this path is one of the kernel's aliases.
pub(crate) fn alias(parts: &[OsString]) -> Alias {
    let mut names = parts.iter().map(|part| part.as_bytes());
    match (names.next(), names.next()) {
        (Some(b"dev"), Some(b"fd" | b"stdin" | b"stdout" | b"stderr")) if names.len() == 0 => {
            Alias::Unknown(OPEN_FILE)
        }
        (Some(b"proc"), Some(process)) => {
            let is_self = matches!(process, b"self" | b"thread-self");
            if !is_self && !process.iter().all(u8::is_ascii_digit) {
                return Alias::None;
            }
            let rest: Vec<&[u8]> = names.collect();
            let (is_own, rest) = match rest.as_slice() {
                [b"task", _, rest @ ..] => (false, rest),
                rest => (is_self, rest),
            };
            match rest {
                [b"cwd"] if is_own => Alias::WorkingDirectory,
                [b"root"] if is_own => Alias::Root,
                [b"fd" | b"map_files" | b"exe"] => Alias::Unknown(OPEN_FILE),
                [b"cwd" | b"root"] => Alias::Unknown(OTHER),
                _ => Alias::None,
            }
        }
        _ => Alias::None,
    }
}

/// Why a path that goes on with names known in part may be one of them.
pub(super) fn may_be_alias(parts: &[OsString], rest: &[Vec<Symbol>]) -> Option<&'static str> {
    let known_names = parts
        .iter()
        .map(|part| Name::Known(part.to_string_lossy().into_owned()));
    let names: Vec<Name<'_>> = known_names
        .chain(rest.iter().map(|name| match known(name) {
            Some(name) => Name::Known(name),
            None => Name::Partly(name),
        }))
        .collect();
    let is_any = |name: &Name<'_>, of: &[&str]| of.iter().any(|known| name.may_be(known));
    match names.as_slice() {
        [dev, file, ..] if dev.is("dev") && is_any(file, &["fd", "stdin", "stdout", "stderr"]) => {
            Some(OPEN_FILE)
        }
        [proc, process, rest @ ..] if proc.is("proc") && process.may_be_process() => {
            let rest = match rest {
                [task, _, rest @ ..] if task.may_be("task") => rest,
                rest => rest,
            };
            let first = rest.first()?;
            if is_any(first, &["fd", "map_files", "exe"]) {
                return Some(OPEN_FILE);
            }
            is_any(first, &["cwd", "root"]).then_some(OTHER)
        }
        _ => None,
    }
}

enum Name<'a> {
    Known(String),
    Partly(&'a [Symbol]),
}

impl Name<'_> {
    fn is(&self, name: &str) -> bool {
        matches!(self, Self::Known(known) if known == name)
    }

    fn may_be(&self, name: &str) -> bool {
        match self {
            Self::Known(known) => known == name,
            Self::Partly(pattern) => pattern_may_match(pattern, name),
        }
    }

    fn may_be_process(&self) -> bool {
        match self {
            Self::Known(name) => {
                name == "self" || name == "thread-self" || name.bytes().all(|b| b.is_ascii_digit())
            }
            Self::Partly(pattern) => {
                let known = pattern.iter().filter_map(|symbol| match symbol {
                    Symbol::Char(c) => Some(*c),
                    Symbol::Hole(_) => None,
                });
                has_expansion(pattern)
                    || self.may_be("self")
                    || self.may_be("thread-self")
                    || known.clone().all(|c| c.is_ascii_digit())
            }
        }
    }
}
