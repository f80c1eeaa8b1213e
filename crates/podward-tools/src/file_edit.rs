//! `file_edit`: exact text in a file, replaced.

mod near_miss;
mod replacement;

use std::io::Read as _;
use std::sync::Arc;

use async_trait::async_trait;
use podward_gate::{CallFacts, Permit};
use podward_policy::ToolName;
use podward_scope::Access;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::blocking::{CANCELLED, blocking};
use crate::built_in::{Arguments, Ready};
use crate::error::BadArguments;
use crate::file_edit::replacement::{Edit, Edited, Occurrences};
use crate::files::{self, FileError};
use crate::keep;
use crate::lower::path::Target;
use crate::lower::{lowered, names};
use crate::precheck;
use crate::tool::{Invocation, Meanwhile, Place, Precheck, RunContext, ToolOutput};

/// The arguments of `file_edit`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileEdit {
    /// The file: relative to the workspace, absolute, or beginning with `~/`.
    path: String,
    /// The text to replace, exactly as it stands in the file, indentation included, line numbers
    /// left out. It must occur exactly once, unless `replace_all` is true.
    old_string: String,
    /// The text to put in its place. Empty: the old text is deleted.
    new_string: String,
    /// Whether to replace every occurrence. Default: false.
    replace_all: Option<bool>,
}

#[derive(Debug, Clone)]
struct EditFile {
    target: Target,
    edit: Arc<Edit>,
}

/// An edit that is found to be possible.
struct Prepared {
    before: Vec<u8>,
    edited: Edited,
    sight: Sight,
}

impl Arguments for FileEdit {
    const NAME: &'static str = names::FILE_EDIT;
    const DESCRIPTION: &'static str = "Replace exact text in a file. Give enough lines around the \
        change to make the old text occur only once. Line ends (LF or CRLF) of the file are kept. \
        The result shows the change as a unified diff.";

    fn lower(self, tool: &ToolName, place: &Place) -> Result<Ready, BadArguments> {
        if self.old_string.is_empty() {
            return Err(BadArguments::new(tool, "`old_string` is empty")
                .with_hint("it is the exact text to replace"));
        }
        if self.old_string == self.new_string {
            return Err(BadArguments::new(
                tool,
                "`old_string` and `new_string` are the same",
            ));
        }
        let target = Target::parse(tool, "path", &self.path, place)?;
        let restrictive = [names::built_in(names::FILE_WRITE)];
        Ok(Ready {
            lowered: lowered(target.operations(tool, &restrictive)),
            invocation: Box::new(EditFile {
                target,
                edit: Arc::new(Edit {
                    old: self.old_string,
                    new: self.new_string,
                    occurrences: match self.replace_all {
                        Some(true) => Occurrences::All,
                        Some(false) | None => Occurrences::TheOnlyOne,
                    },
                }),
            }),
        })
    }
}

#[async_trait]
impl Invocation for EditFile {
    fn precheck(&self, ctx: &RunContext, meanwhile: Meanwhile) -> Option<Precheck> {
        let edit = self.clone();
        let look = move |ctx: &RunContext| edit.prepare(ctx).map(drop);
        precheck::on_file(ctx, &self.target, Access::Write, meanwhile, look)
    }

    async fn run(self: Box<Self>, permit: Permit, ctx: &RunContext) -> ToolOutput {
        if ctx.cancel.is_cancelled() {
            return ToolOutput::failure(CANCELLED);
        }
        let ctx = files::judged(ctx);
        blocking(move || match self.apply(permit.facts(), &ctx) {
            Ok(done) => ToolOutput::success(done),
            Err(error) => ToolOutput::failure(error.to_string()),
        })
        .await
    }
}

impl EditFile {
    fn apply(&self, call: &CallFacts, ctx: &RunContext) -> Result<String, FileError> {
        let _turn = files::write_turn();
        let shown = self.target.shown();
        let Prepared {
            before,
            edited,
            sight,
        } = self.prepare(ctx)?;
        keep::around(ctx, call, &self.target, |scope| {
            files::replace(scope, &self.target, &edited.contents)
        })?;
        let n = edited.n_replaced;
        let times = if n == 1 { "time" } else { "times" };
        let mut result = format!("replaced {n} {times} in `{shown}`");
        if sight == Sight::Shown {
            result.push('\n');
            result.push_str(&replacement::diff(
                &shown,
                &self.edit,
                &before,
                &edited,
                ctx.limits.output_bytes,
            ));
        }
        Ok(result)
    }

    /// Finds out what the edit makes of the file, and whether that can be written.
    fn prepare(&self, ctx: &RunContext) -> Result<Prepared, FileError> {
        precheck::in_scope(ctx, &self.target, Access::Write)?;
        let shown = self.target.shown();
        let before = self.load(ctx)?;
        let sight = if files::may_read(&ctx.policies, &self.target) {
            Sight::Shown
        } else {
            Sight::Hidden
        };
        let bytes_max = ctx.limits.file_bytes;
        let edited = self.edit.apply(&before, bytes_max).map_err(|error| {
            FileError::new(match sight {
                Sight::Shown => error.explained(&shown, &self.edit, &before),
                Sight::Hidden => error.stated(&shown),
            })
        })?;
        ctx.scope.check_replace(self.target.absolute())?;
        Ok(Prepared {
            before,
            edited,
            sight,
        })
    }

    fn load(&self, ctx: &RunContext) -> Result<Vec<u8>, FileError> {
        let shown = self.target.shown();
        let file = files::open(&ctx.scope, &self.target)?;
        let most = ctx.limits.file_bytes;
        let mut contents = Vec::new();
        file.take(most.saturating_add(1))
            .read_to_end(&mut contents)
            .map_err(|error| FileError::read(&shown, &error))?;
        if u64::try_from(contents.len()).unwrap_or(u64::MAX) > most {
            return Err(FileError::new(format!(
                "`{shown}` is larger than {most} bytes, the most that can be edited"
            )));
        }
        if memchr::memchr(0, &contents).is_some() {
            return Err(FileError::new(format!(
                "`{shown}` is a binary file ({} bytes)",
                contents.len()
            )));
        }
        Ok(contents)
    }
}

/// Whether a result may show what the file holds: an edit can be allowed where reading is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sight {
    Shown,
    Hidden,
}

#[cfg(test)]
mod tests;
