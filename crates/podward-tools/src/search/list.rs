//! `list`: what one directory holds.

use std::fmt::Write as _;

use async_trait::async_trait;
use podward_gate::Permit;
use podward_policy::ToolName;
use podward_scope::{Access, Entry, Kind};
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
use crate::text::visible;
use crate::tool::{Invocation, Meanwhile, Place, Precheck, RunContext, ToolOutput};

/// The arguments of `list`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct List {
    /// The directory: relative to the workspace, absolute, or beginning with `~/`. Default: the
    /// workspace.
    path: Option<String>,
}

#[derive(Debug)]
struct ListDirectory {
    tool: ToolName,
    target: Target,
}

impl Arguments for List {
    const NAME: &'static str = names::LIST;
    const DESCRIPTION: &'static str = "List what one directory holds, in the order of the names: \
        directories end in `/`, files show their size. Hidden and ignored entries are listed too; \
        what may not be read is left out and counted.";

    fn lower(self, tool: &ToolName, place: &Place) -> Result<Ready, BadArguments> {
        let path = self.path.as_deref().unwrap_or(".");
        let target = Target::parse(tool, "path", path, place)?;
        Ok(Ready {
            lowered: lowered(target.operations(tool, &[])),
            invocation: Box::new(ListDirectory {
                tool: tool.clone(),
                target,
            }),
        })
    }
}

#[async_trait]
impl Invocation for ListDirectory {
    fn precheck(&self, ctx: &RunContext, meanwhile: Meanwhile) -> Option<Precheck> {
        let target = self.target.clone();
        let look = move |ctx: &RunContext| files::read_dir(&ctx.scope, &target).map(drop);
        precheck::on_file(ctx, &self.target, Access::Read, meanwhile, look)
    }

    async fn run(self: Box<Self>, _permit: Permit, ctx: &RunContext) -> ToolOutput {
        let ctx = files::judged(ctx);
        blocking(move || match self.list(&ctx) {
            Ok(listing) => ToolOutput::success(listing),
            Err(error) => ToolOutput::failure(error.to_string()),
        })
        .await
    }
}

impl ListDirectory {
    fn list(&self, ctx: &RunContext) -> Result<String, FileError> {
        let entries = files::read_dir(&ctx.scope, &self.target)?;
        let tree = Tree::new(&self.target, &ctx.place);
        let mut listing = String::new();
        let mut left_out = LeftOut::default();
        let n_entries = entries.len();
        let mut n_shown = 0;
        for (idx, entry) in entries.into_iter().enumerate() {
            if ctx.cancel.is_cancelled() {
                return Err(FileError::new(CANCELLED));
            }
            if n_shown == ctx.limits.entries || listing.len() > ctx.limits.output_bytes {
                let _ = writeln!(listing, "[cut: {} entries more]", n_entries - idx);
                break;
            }
            if !self.may_show(ctx, &tree, &entry) {
                left_out.not_allowed += 1;
                continue;
            }
            n_shown += 1;
            listing.push_str(&self.line(ctx, &entry));
        }
        if n_entries == 0 {
            listing.push_str("[the directory is empty]\n");
        }
        left_out.remark(&mut listing);
        Ok(listing)
    }

    fn may_show(&self, ctx: &RunContext, tree: &Tree<'_>, entry: &Entry) -> bool {
        let target = match entry.kind {
            Kind::Symlink => Target::of(&self.target.absolute().join(&entry.name), &ctx.place),
            Kind::File | Kind::Directory | Kind::Special => {
                tree.target(std::slice::from_ref(&entry.name))
            }
        };
        files::may_show(&ctx.policies, &self.tool, &target)
    }

    fn line(&self, ctx: &RunContext, entry: &Entry) -> String {
        let name = entry.name.to_string_lossy();
        let name = visible(&name);
        match entry.kind {
            Kind::Directory => format!("{name}/\n"),
            Kind::Symlink => format!("{name} (symbolic link)\n"),
            Kind::Special => format!("{name} (pipe, socket or device)\n"),
            Kind::File => {
                let path = self.target.absolute().join(&entry.name);
                match ctx.scope.metadata(&path) {
                    Ok(metadata) => format!("{name} ({} bytes)\n", metadata.len),
                    Err(_) => format!("{name}\n"),
                }
            }
        }
    }
}
