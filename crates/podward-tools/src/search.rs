//! `grep`, `glob` and `list`: what is below a directory, as far as `read` allows it.
//!
//! A directory is walked through the scope, name by name, and no symlink is followed. What `read`
//! does not allow, or the rules for the tool itself, is left out before it is opened, and counted.

mod filter;
mod glob;
mod grep;
mod ignored;
mod list;
mod matches;
mod walk;

pub(crate) use glob::Glob;
pub(crate) use grep::Grep;
pub(crate) use list::List;

use std::fmt::Write as _;

/// What a result does not show.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct LeftOut {
    not_allowed: usize,
    unreadable: usize,
    too_large: usize,
}

impl LeftOut {
    /// One remark a line for what was left out; nothing if nothing was.
    fn remark(self, result: &mut String) {
        let mut say = |n: usize, one: &str, several: &str| match n {
            0 => {}
            1 => drop(writeln!(result, "[1 file left out: {one}]")),
            n => drop(writeln!(result, "[{n} files left out: {several}]")),
        };
        say(
            self.not_allowed,
            "reading it is not allowed",
            "reading them is not allowed",
        );
        say(
            self.unreadable,
            "it cannot be opened",
            "they cannot be opened",
        );
        say(
            self.too_large,
            "it is too large to search",
            "they are too large to search",
        );
    }
}

#[cfg(test)]
mod tests;
