//! `file_write`: a whole file, written at once.

use async_trait::async_trait;
use podward_gate::Permit;
use podward_policy::ToolName;
use podward_scope::{Access, Replaced, Scope};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::blocking::{CANCELLED, blocking};
use crate::built_in::{Arguments, Ready};
use crate::error::BadArguments;
use crate::files::{self, FileError};
use crate::keep;
use crate::lower::path::Target;
use crate::lower::{lowered, names};
use crate::precheck;
use crate::tool::{Invocation, Meanwhile, Place, Precheck, RunContext, ToolOutput};

/// The arguments of `file_write`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileWrite {
    /// The file: relative to the workspace, absolute, or beginning with `~/`.
    path: String,
    /// Everything the file shall hold.
    content: String,
}

#[derive(Debug)]
struct WriteFile {
    target: Target,
    content: String,
}

impl Arguments for FileWrite {
    const NAME: &'static str = names::FILE_WRITE;
    const DESCRIPTION: &'static str = "Write a whole file: create it, or replace all it holds. \
        Missing directories above it are created. The file is replaced in one step, so nobody sees \
        a half-written one. To change a part of a file, edit it instead.";

    fn lower(self, tool: &ToolName, place: &Place) -> Result<Ready, BadArguments> {
        if self.path.ends_with('/') {
            return Err(BadArguments::new(
                tool,
                "`path` ends in `/`, which names a directory",
            ));
        }
        let target = Target::parse(tool, "path", &self.path, place)?;
        let restrictive = [names::built_in(names::FILE_EDIT)];
        Ok(Ready {
            lowered: lowered(target.operations(tool, &restrictive)),
            invocation: Box::new(WriteFile {
                target,
                content: self.content,
            }),
        })
    }
}

#[async_trait]
impl Invocation for WriteFile {
    fn precheck(&self, ctx: &RunContext, meanwhile: Meanwhile) -> Option<Precheck> {
        let target = self.target.clone();
        let look = move |ctx: &RunContext| check(ctx, &target);
        precheck::on_file(ctx, &self.target, Access::Write, meanwhile, look)
    }

    async fn run(self: Box<Self>, permit: Permit, ctx: &RunContext) -> ToolOutput {
        if ctx.cancel.is_cancelled() {
            return ToolOutput::failure(CANCELLED);
        }
        let ctx = files::judged(ctx);
        blocking(move || {
            let _turn = files::write_turn();
            let n_bytes = self.content.len();
            let shown = self.target.shown();
            let write =
                |scope: &Scope| files::replace(scope, &self.target, self.content.as_bytes());
            let written = check(&ctx, &self.target)
                .and_then(|()| keep::around(&ctx, permit.facts(), &self.target, write));
            match written {
                Ok(Replaced::Created) => {
                    ToolOutput::success(format!("created `{shown}` ({n_bytes} bytes)"))
                }
                Ok(Replaced::Replaced) => ToolOutput::success(format!(
                    "overwrote `{shown}` (it holds {n_bytes} bytes now)"
                )),
                Err(error) => ToolOutput::failure(error.to_string()),
            }
        })
        .await
    }
}

/// Whether a file can be written there.
fn check(ctx: &RunContext, target: &Target) -> Result<(), FileError> {
    precheck::in_scope(ctx, target, Access::Write)?;
    Ok(ctx.scope.check_replace(target.absolute())?)
}

#[cfg(test)]
mod tests;
