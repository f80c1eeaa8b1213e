//! Environment variables that no child gets, whoever lets them through.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;

/// Why a child does not get a variable of podward's own environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Withheld {
    /// A shell or the program loader acts on it, beside the command that was asked for.
    ActedOn,
    /// Every child has the same value, whatever podward's own is.
    Fixed,
}

/// Shows the reason, for the person who wanted it let through.
impl fmt::Display for Withheld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ActedOn => {
                "bash or the program loader acts on this variable, beside the command that was \
                 judged: set it in the command, where it is judged too"
            }
            Self::Fixed => "podward sets this variable itself: all commands see the same value",
        })
    }
}

/// What a shell acts on before or beside the text of the command.
const ACTED_ON: &[&str] = &[
    "BASHOPTS",
    "CDPATH",
    "ENV",
    "EXECIGNORE",
    "FUNCNEST",
    "GLOBIGNORE",
    "GLOBSORT",
    "IFS",
    "OLDPWD",
    "POSIXLY_CORRECT",
    "PROMPT_COMMAND",
    "PS4",
    "SHELLOPTS",
    "TMOUT",
];

/// The same, by how the names begin: start-up files and functions, and what is loaded into every
/// program.
const ACTED_ON_FRONTS: &[&str] = &["BASH_", "LD_"];

/// One terminal, which draws nothing.
const FIXED: &[&str] = &["COLORTERM", "TERM"];

/// The same, by how the names begin: in a one-byte locale more bytes would separate words.
const FIXED_FRONTS: &[&str] = &["LC_"];

/// Why a child does not get a variable; nothing if it may.
#[must_use]
pub fn withheld(name: &OsStr) -> Option<Withheld> {
    let name = name.as_bytes();
    let holds = |names: &[&str], fronts: &[&str]| {
        names.iter().any(|known| name == known.as_bytes())
            || fronts
                .iter()
                .any(|front| name.starts_with(front.as_bytes()))
    };
    if holds(ACTED_ON, ACTED_ON_FRONTS) {
        Some(Withheld::ActedOn)
    } else if holds(FIXED, FIXED_FRONTS) {
        Some(Withheld::Fixed)
    } else {
        None
    }
}

/// Why not every variable whose name begins with `front` can be let through: one of them is acted
/// on, or all of them are fixed.
#[must_use]
pub fn withheld_among(front: &str) -> Option<Withheld> {
    let meets_acted_on = ACTED_ON.iter().any(|name| name.starts_with(front))
        || ACTED_ON_FRONTS
            .iter()
            .any(|known| known.starts_with(front) || front.starts_with(known));
    if meets_acted_on {
        Some(Withheld::ActedOn)
    } else if FIXED_FRONTS.iter().any(|known| front.starts_with(known)) {
        Some(Withheld::Fixed)
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
