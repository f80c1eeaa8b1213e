//! `glob`: the files whose paths match.

use std::ops::ControlFlow;

use async_trait::async_trait;
use podward_gate::Permit;
use podward_policy::ToolName;
use podward_scope::{Access, Kind};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::blocking::{CANCELLED, blocking};
use crate::built_in::{Arguments, Ready};
use crate::error::BadArguments;
use crate::files::{self, FileError};
use crate::lower::path::{Target, Tree};
use crate::lower::{lowered, names};
use crate::precheck;
use crate::search::LeftOut;
use crate::search::filter::PathGlob;
use crate::search::walk::{Ended, walk};
use crate::tool::{Invocation, Meanwhile, Place, Precheck, RunContext, ToolOutput};

/// The arguments of `glob`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Glob {
    /// The glob, relative to `path`: `**/*.rs`, `src/*.{ts,tsx}`. Without a `/` it is matched
    /// against the file's name at any depth: `*.rs`.
    pattern: String,
    /// The directory to search: relative to the workspace, absolute, or beginning with `~/`.
    /// Default: the workspace.
    path: Option<String>,
}

#[derive(Debug)]
struct FindFiles {
    tool: ToolName,
    target: Target,
    glob: PathGlob,
}

impl Arguments for Glob {
    const NAME: &'static str = names::GLOB;
    const DESCRIPTION: &'static str = "Find files by a glob over their paths. The result is one \
        path a line, in the order of the paths. `*` and `?` stay within one name, `**` crosses \
        directories. Hidden files are found; what .gitignore or .ignore names, and .git, is not. \
        Symbolic links are not followed. Files that may not be read are left out and counted.";

    fn lower(self, tool: &ToolName, place: &Place) -> Result<Ready, BadArguments> {
        let path = self.path.as_deref().unwrap_or(".");
        let target = Target::parse(tool, "path", path, place)?;
        let glob = PathGlob::parse(tool, "pattern", &self.pattern)?;
        Ok(Ready {
            lowered: lowered(target.operations(tool, &[])),
            invocation: Box::new(FindFiles {
                tool: tool.clone(),
                target,
                glob,
            }),
        })
    }
}

#[async_trait]
impl Invocation for FindFiles {
    fn precheck(&self, ctx: &RunContext, meanwhile: Meanwhile) -> Option<Precheck> {
        let target = self.target.clone();
        let look = move |ctx: &RunContext| files::read_dir(&ctx.scope, &target).map(drop);
        precheck::on_file(ctx, &self.target, Access::Read, meanwhile, look)
    }

    async fn run(self: Box<Self>, _permit: Permit, ctx: &RunContext) -> ToolOutput {
        let ctx = files::judged(ctx);
        blocking(move || match self.find(&ctx) {
            Ok(found) => ToolOutput::success(found),
            Err(error) => ToolOutput::failure(error.to_string()),
        })
        .await
    }
}

impl FindFiles {
    fn find(&self, ctx: &RunContext) -> Result<String, FileError> {
        let tree = Tree::new(&self.target, &ctx.place);
        let mut result = String::new();
        let mut left_out = LeftOut::default();
        let mut n_found = 0;
        let root = self.target.absolute();
        let ancestors = tree.ancestors();
        let walked = walk(&ctx.scope, root, &ancestors, &ctx.cancel, |found| {
            if !self.glob.is_match(found.below) {
                return ControlFlow::Continue(());
            }
            let target = match found.kind {
                Kind::Symlink => Target::of(found.path, &ctx.place),
                Kind::File | Kind::Directory | Kind::Special => tree.target(found.below),
            };
            if !files::may_show(&ctx.policies, &self.tool, &target) {
                left_out.not_allowed += 1;
                return ControlFlow::Continue(());
            }
            if n_found == ctx.limits.entries || result.len() > ctx.limits.output_bytes {
                return ControlFlow::Break(());
            }
            n_found += 1;
            result.push_str(&target.shown());
            result.push('\n');
            ControlFlow::Continue(())
        })?;
        left_out.unreadable += walked.n_unreadable;
        match walked.ended {
            Ended::Cancelled => return Err(FileError::new(CANCELLED)),
            Ended::Stopped => {
                result.push_str(&format!(
                    "[cut after {n_found} files: narrow the pattern or the path]\n"
                ));
            }
            Ended::Whole if n_found == 0 => result.push_str("[no file matches]\n"),
            Ended::Whole => {}
        }
        left_out.remark(&mut result);
        Ok(result)
    }
}
