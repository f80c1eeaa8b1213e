//! `grep`: the lines of files that match.

use std::ops::ControlFlow;

use async_trait::async_trait;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
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
use crate::search::matches::{Room, Search, Searched};
use crate::search::walk::{Ended, walk};
use crate::tool::{Invocation, Meanwhile, Place, Precheck, RunContext, ToolOutput};

/// More lines around a match are better read.
const CONTEXT_MAX: u64 = 20;

/// Bytes of a compiled pattern: what one call may cost.
const REGEX_BYTES_MAX: usize = 2 * 1024 * 1024;

/// The arguments of `grep`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Grep {
    /// A regular expression in the syntax of Rust's `regex` crate (as in ripgrep): no
    /// look-around, no back-references. It is matched line by line.
    pattern: String,
    /// The file or directory to search: relative to the workspace, absolute, or beginning with
    /// `~/`. Default: the workspace.
    path: Option<String>,
    /// Search only files whose path below `path` matches: `*.rs`, `src/**/*.{ts,tsx}`.
    glob: Option<String>,
    /// Whether upper and lower case are the same. Default: false.
    case_insensitive: Option<bool>,
    /// Lines to show before and after each match, at most 20. Default: 0.
    context: Option<u64>,
    /// What to return: `lines` that match, or `files` that hold a match. Default: `lines`.
    output: Option<Output>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Output {
    Lines,
    Files,
}

#[derive(Debug)]
struct SearchFiles {
    tool: ToolName,
    target: Target,
    matcher: RegexMatcher,
    glob: Option<PathGlob>,
    n_context: usize,
    output: Output,
}

impl Arguments for Grep {
    const NAME: &'static str = names::GREP;
    const DESCRIPTION: &'static str = "Search the contents of files for a regular expression. Each \
        line of the result is `path:number:line`; lines around a match are `path-number-line`. \
        Hidden files are searched; what .gitignore or .ignore names, .git, and binary files are \
        not. Symbolic links are not followed. Files that may not be read are left out and counted.";

    fn lower(self, tool: &ToolName, place: &Place) -> Result<Ready, BadArguments> {
        let path = self.path.as_deref().unwrap_or(".");
        let target = Target::parse(tool, "path", path, place)?;
        let glob = self
            .glob
            .map(|glob| PathGlob::parse(tool, "glob", &glob))
            .transpose()?;
        let context = self.context.unwrap_or(0);
        if context > CONTEXT_MAX {
            let problem = format!("`context` is at most {CONTEXT_MAX}, not {context}");
            return Err(BadArguments::new(tool, problem));
        }
        let matcher = RegexMatcherBuilder::new()
            .case_insensitive(self.case_insensitive.unwrap_or(false))
            // `^` and `$` are the ends of a line; `$` stands before CRLF too.
            .multi_line(true)
            .crlf(true)
            .size_limit(REGEX_BYTES_MAX)
            .build(&self.pattern)
            .map_err(|error| {
                BadArguments::new(tool, format!("`pattern` is no regular expression: {error}"))
                    .with_hint("put a backslash before ( ) [ ] { } . * + ? | ^ $ to match itself")
            })?;
        let restrictive = [names::built_in(names::READ)];
        Ok(Ready {
            lowered: lowered(target.operations(tool, &restrictive)),
            invocation: Box::new(SearchFiles {
                tool: tool.clone(),
                target,
                matcher,
                glob,
                n_context: usize::try_from(context).unwrap_or(0),
                output: self.output.unwrap_or(Output::Lines),
            }),
        })
    }
}

#[async_trait]
impl Invocation for SearchFiles {
    fn precheck(&self, ctx: &RunContext, meanwhile: Meanwhile) -> Option<Precheck> {
        let target = self.target.clone();
        let look = move |ctx: &RunContext| Ok(ctx.scope.metadata(target.absolute()).map(drop)?);
        precheck::on_file(ctx, &self.target, Access::Read, meanwhile, look)
    }

    async fn run(self: Box<Self>, _permit: Permit, ctx: &RunContext) -> ToolOutput {
        let ctx = files::judged(ctx);
        blocking(move || match self.search(&ctx) {
            Ok(found) => ToolOutput::success(found),
            Err(error) => ToolOutput::failure(error.to_string()),
        })
        .await
    }
}

impl SearchFiles {
    fn search(&self, ctx: &RunContext) -> Result<String, FileError> {
        let mut search = Search::new(&self.matcher, self.n_context, self.output, &ctx.limits);
        let mut left_out = LeftOut::default();
        let metadata = ctx.scope.metadata(self.target.absolute())?;
        let ended = if metadata.kind == Kind::Directory {
            self.search_tree(ctx, &mut search, &mut left_out)?
        } else {
            // The one file that the call names was judged with the call.
            let file = files::open(&ctx.scope, &self.target)?;
            match search.file(&self.target.shown(), file) {
                Ok(Searched::Text(Room::Left)) => Ended::Whole,
                Ok(Searched::Text(Room::Full)) => Ended::Stopped,
                Ok(Searched::Binary) => return Err(self.refused("is a binary file")),
                Ok(Searched::TooLarge) => return Err(self.refused("is too large to search")),
                Err(error) => return Err(FileError::read(&self.target.shown(), &error)),
            }
        };
        if ended == Ended::Cancelled {
            return Err(FileError::new(CANCELLED));
        }
        let mut result = search.finish(ended);
        left_out.remark(&mut result);
        Ok(result)
    }

    fn search_tree(
        &self,
        ctx: &RunContext,
        search: &mut Search<'_>,
        left_out: &mut LeftOut,
    ) -> Result<Ended, FileError> {
        let tree = Tree::new(&self.target, &ctx.place);
        let root = self.target.absolute();
        let ancestors = tree.ancestors();
        let walked = walk(&ctx.scope, root, &ancestors, &ctx.cancel, |found| {
            let is_wanted = found.kind == Kind::File
                && self
                    .glob
                    .as_ref()
                    .is_none_or(|glob| glob.is_match(found.below));
            if !is_wanted {
                return ControlFlow::Continue(());
            }
            let target = tree.target(found.below);
            if !files::may_show(&ctx.policies, &self.tool, &target) {
                left_out.not_allowed += 1;
                return ControlFlow::Continue(());
            }
            let Ok(file) = files::open(&ctx.scope, &target) else {
                left_out.unreadable += 1;
                return ControlFlow::Continue(());
            };
            match search.file(&target.shown(), file) {
                Ok(Searched::Text(Room::Full)) => return ControlFlow::Break(()),
                Ok(Searched::Text(Room::Left) | Searched::Binary) => {}
                Ok(Searched::TooLarge) => left_out.too_large += 1,
                Err(_) => left_out.unreadable += 1,
            }
            ControlFlow::Continue(())
        })?;
        left_out.unreadable += walked.n_unreadable;
        Ok(walked.ended)
    }

    fn refused(&self, why: &str) -> FileError {
        FileError::new(format!("`{}` {why}", self.target.shown()))
    }
}
