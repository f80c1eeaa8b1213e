//! What the calls of one message may change before one of them runs.

use std::collections::BTreeMap;
use std::path::PathBuf;

use podward_gate::CallFacts;

use super::{reads::only_reads, written_paths};
use crate::lower::names;
use crate::tool::{Meanwhile, RunContext};

/// What the calls of one message may change.
#[derive(Debug, Default)]
pub struct Changes {
    /// Calls that may change anything.
    n_anything: usize,
    /// Calls that write one file.
    n_files: usize,
    /// How many write which.
    files: BTreeMap<PathBuf, usize>,
}

/// What one call may change.
enum Change {
    Nothing,
    File(PathBuf),
    Anything,
}

impl Changes {
    /// What these calls may change.
    pub fn of<'a>(calls: impl IntoIterator<Item = &'a CallFacts>, ctx: &RunContext) -> Self {
        let mut changes = Self::default();
        for call in calls {
            match change(call, ctx) {
                Change::Nothing => {}
                Change::File(path) => {
                    changes.n_files += 1;
                    *changes.files.entry(path).or_default() += 1;
                }
                Change::Anything => changes.n_anything += 1,
            }
        }
        changes
    }

    /// What the others may change of what one of them is about, before it runs.
    #[must_use]
    pub fn before(&self, call: &CallFacts, ctx: &RunContext) -> Meanwhile {
        let is_left_alone = match change(call, ctx) {
            Change::Nothing => self.n_anything + self.n_files == 0,
            Change::File(path) => {
                self.n_anything == 0
                    && self
                        .files
                        .get(&path)
                        .is_none_or(|n_writers| *n_writers <= 1)
            }
            Change::Anything => false,
        };
        match is_left_alone {
            true => Meanwhile::NothingChanges,
            false => Meanwhile::FilesChange,
        }
    }
}

fn change(call: &CallFacts, ctx: &RunContext) -> Change {
    match call.tool().as_str() {
        names::FILE_WRITE | names::FILE_EDIT => {
            let mut written = written_paths(call.lowered());
            match (written.pop(), written.is_empty()) {
                (Some(path), true) => Change::File(path),
                (Some(_) | None, _) => Change::Anything,
            }
        }
        names::READ | names::GREP | names::GLOB | names::LIST | names::WEB_FETCH | names::SKILL => {
            Change::Nothing
        }
        names::BASH if only_reads(call.lowered(), ctx) => Change::Nothing,
        _ => Change::Anything, // another tool may do whatever it does
    }
}

#[cfg(test)]
mod tests;
