//! `read`: the lines of a text file, numbered.

mod lines;

use std::fmt::Write as _;
use std::fs::File;
use std::num::NonZeroU64;

use async_trait::async_trait;
use podward_gate::Permit;
use podward_policy::ToolName;
use podward_scope::Access;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::blocking::{CANCELLED, blocking};
use crate::built_in::{Arguments, Ready};
use crate::error::BadArguments;
use crate::files::{self, FileError};
use crate::lower::path::Target;
use crate::lower::{lowered, names};
use crate::precheck;
use crate::read::lines::{Line, Lines};
use crate::tool::{Invocation, Meanwhile, Place, Precheck, RunContext, ToolLimits, ToolOutput};

/// The arguments of `read`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Read {
    /// The file: relative to the workspace, absolute, or beginning with `~/`.
    path: String,
    /// The first line to return, from 1. Default: 1.
    offset: Option<NonZeroU64>,
    /// How many lines to return. Default, and the most: as many as fit into one result.
    limit: Option<NonZeroU64>,
}

#[derive(Debug)]
pub(crate) struct ReadFile {
    target: Target,
    first_line: u64,
    n_lines: Option<u64>,
}

impl Arguments for Read {
    const NAME: &'static str = names::READ;
    const DESCRIPTION: &'static str = "Read a text file. Each line of the result is the line's \
        number, a tab, and the line; the number and the tab are not part of the file. Remarks \
        about the file stand in [brackets] after the lines. A long file is cut, and the remark \
        says with which `offset` to go on. Directories and binary files cannot be read.";

    fn lower(self, tool: &ToolName, place: &Place) -> Result<Ready, BadArguments> {
        let target = Target::parse(tool, "path", &self.path, place)?;
        Ok(Ready {
            lowered: lowered(target.operations(tool, &[])),
            invocation: Box::new(ReadFile {
                target,
                first_line: self.offset.map_or(1, NonZeroU64::get),
                n_lines: self.limit.map(NonZeroU64::get),
            }),
        })
    }
}

#[async_trait]
impl Invocation for ReadFile {
    fn precheck(&self, ctx: &RunContext, meanwhile: Meanwhile) -> Option<Precheck> {
        let target = self.target.clone();
        let look = move |ctx: &RunContext| files::open(&ctx.scope, &target).map(drop);
        precheck::on_file(ctx, &self.target, Access::Read, meanwhile, look)
    }

    async fn run(self: Box<Self>, _permit: Permit, ctx: &RunContext) -> ToolOutput {
        let ctx = files::judged(ctx);
        blocking(move || match files::open(&ctx.scope, &self.target) {
            Ok(file) => self.read(file, &ctx.limits, &ctx.cancel),
            Err(error) => ToolOutput::failure(error.to_string()),
        })
        .await
    }
}

impl ReadFile {
    /// A file from its first line on.
    pub(crate) const fn whole(target: Target) -> Self {
        Self {
            target,
            first_line: 1,
            n_lines: None,
        }
    }

    fn read(&self, file: File, limits: &ToolLimits, cancel: &CancellationToken) -> ToolOutput {
        let size = file.metadata().map_or(0, |metadata| metadata.len());
        let shown = self.target.shown();
        let mut lines = match Lines::of(file, limits.line_bytes) {
            Ok(lines) => lines,
            Err(error) => return ToolOutput::failure(FileError::read(&shown, &error).to_string()),
        };
        if lines.is_binary() {
            return ToolOutput::failure(format!("`{shown}` is a binary file ({size} bytes)"));
        }
        match self.numbered(&mut lines, limits, cancel) {
            Ok(Page { text, end }) => self.finish(text, &end, &lines, size),
            Err(Failure::Io(error)) => {
                ToolOutput::failure(FileError::read(&shown, &error).to_string())
            }
            Err(Failure::Cancelled) => ToolOutput::failure(CANCELLED),
        }
    }

    fn numbered(
        &self,
        lines: &mut Lines<File>,
        limits: &ToolLimits,
        cancel: &CancellationToken,
    ) -> Result<Page, Failure> {
        let most = u64::try_from(limits.read_lines).unwrap_or(u64::MAX);
        let n_lines = self.n_lines.unwrap_or(most).min(most);
        let after = self.first_line.saturating_add(n_lines);
        let bytes_max = limits.read_bytes.min(limits.output_bytes);
        let mut text = String::new();
        let mut number = 0;
        loop {
            if number % 1024 == 0 && cancel.is_cancelled() {
                return Err(Failure::Cancelled);
            }
            number += 1;
            let line = if number < self.first_line {
                lines.skip()
            } else {
                lines.next()
            };
            let Some(line) = line.map_err(Failure::Io)? else {
                let end = End::OfFile {
                    n_lines: number - 1,
                };
                return Ok(Page { text, end });
            };
            if number < self.first_line {
                continue;
            }
            let n_before = text.len();
            if number < after {
                push_line(&mut text, number, &line);
            }
            // One line at least, so that a reader gets on.
            if number == after || (text.len() > bytes_max && n_before > 0) {
                text.truncate(n_before);
                let end = End::Cut { next: number };
                return Ok(Page { text, end });
            }
        }
    }

    fn finish(&self, mut text: String, end: &End, lines: &Lines<File>, size: u64) -> ToolOutput {
        match *end {
            End::OfFile { n_lines: 0 } => {
                text.push_str("[the file is empty]\n");
            }
            End::OfFile { n_lines } if n_lines < self.first_line => {
                return ToolOutput::failure(format!(
                    "`{}` ends before line {}: it has {n_lines} {}",
                    self.target.shown(),
                    self.first_line,
                    if n_lines == 1 { "line" } else { "lines" },
                ));
            }
            End::OfFile { .. } => {}
            End::Cut { next } => {
                let _ = writeln!(
                    text,
                    "[cut: the file goes on ({size} bytes in all); continue with offset {next}]"
                );
            }
        }
        for remark in lines.remarks() {
            let _ = writeln!(text, "[{remark}]");
        }
        ToolOutput::success(text)
    }
}

/// The lines of one result, and why it ends.
struct Page {
    text: String,
    end: End,
}

enum End {
    OfFile { n_lines: u64 },
    Cut { next: u64 },
}

enum Failure {
    Io(std::io::Error),
    Cancelled,
}

fn push_line(text: &mut String, number: u64, line: &Line) {
    let _ = write!(text, "{number:>6}\t{}", line.text);
    if line.n_cut > 0 {
        let _ = write!(text, " [line cut: {} bytes more]", line.n_cut);
    }
    text.push('\n');
}

#[cfg(test)]
mod tests;
