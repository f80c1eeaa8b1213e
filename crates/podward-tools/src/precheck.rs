//! Whether a call on a file can only fail, found out before a person is asked about it.

use std::path::Path;

use podward_policy::{Action, Policies};
use podward_scope::Access;

use crate::files::{self, FileError};
use crate::lower::path::Target;
use crate::lower::{lowered, names};
use crate::tool::{Links, Meanwhile, Precheck, RunContext};

/// The look at a call on `target` before a person is asked about it: at the scope, and with `look` at the
/// disk where it may tell what is there.
///
/// What it finds the model reads without anybody's approval, so it tells no more than the rules let it know
/// anyway: where they allow `read` of the path, what reading would tell; else what the roots of the scope
/// say of the path as the model wrote it.
pub(crate) fn on_file(
    ctx: &RunContext,
    target: &Target,
    wanted: Access,
    meanwhile: Meanwhile,
    look: impl FnOnce(&RunContext) -> Result<(), FileError> + Send + 'static,
) -> Option<Precheck> {
    let ctx = files::judged(ctx);
    if meanwhile == Meanwhile::NothingChanges && is_free_to_read(&ctx.policies, target) {
        return Some(Box::new(move || {
            look(&ctx).map_err(|error| error.to_string())
        }));
    }
    if in_scope(&ctx, target, wanted).is_ok() {
        return None;
    }
    let error = out_of_scope(&ctx, &target.lexical(), wanted)?;
    Some(Box::new(move || Err(error.to_string())))
}

/// The first step of a call on a file: whether the scope gives the right that it needs, by its roots alone.
pub(crate) fn in_scope(ctx: &RunContext, target: &Target, wanted: Access) -> Result<(), FileError> {
    match out_of_scope(ctx, target.absolute(), wanted) {
        None => Ok(()),
        // In words that say where a link leads only where nothing else is wrong.
        Some(error) => Err(out_of_scope(ctx, &target.lexical(), wanted).unwrap_or(error)),
    }
}

/// What the roots of the scope say against a path; nothing where it may lead through links.
fn out_of_scope(ctx: &RunContext, path: &Path, wanted: Access) -> Option<FileError> {
    match ctx.place.links {
        Links::Resolve => ctx.scope.check(path, wanted).err().map(FileError::from),
        Links::Lexical => None,
    }
}

/// Whether the rules allow a call of `read` on a path.
fn is_free_to_read(policies: &Policies, target: &Target) -> bool {
    let read = names::built_in(names::READ);
    let operations = lowered(target.operations(&read, &[]));
    policies.judge_call(&read, &operations).ruling.action == Action::Allow
}

#[cfg(test)]
mod tests;
