//! Reads a bash command text into the operations that rules judge.
//!
//! It must never know a rule, run anything, or look at a disk: text and place in, values out.

// What tests of this crate share with its test binaries names it from outside.
#[cfg(test)]
extern crate self as podward_shell;
#[cfg(test)]
#[path = "../tests/lexical/mod.rs"]
mod lexical;

mod arg;
mod builtins;
mod calls;
mod environment;
mod evaluated;
mod expand;
mod expression;
mod head;
mod limits;
mod operations;
mod options;
mod place;
mod plain;
mod programs;
mod reader;
mod scripts;
mod second_look;
mod syntax;
mod text_form;
mod values;
mod walk;
mod whereabouts;
mod work;

use podward_policy::{ByteSpan, Lowered, Operations, WholeText};

pub use head::{Head, head};
pub use place::{Forms, PathFound, ShellPlace, UrlFound};
pub use programs::{AddedPrograms, ProgramProblem, program_names, subcommand_names};

/// What is said of a command that holds code of an interpreter.
pub const UNREAD_CODE: &str = "the code of an interpreter is not read";

use operations::{Bases, Sink};
use reader::Origin;
use syntax::Script;
use walk::Context;

/// Reads a command text, as one fixed `bash --noprofile --norc -c TEXT` would.
///
/// Every simple command that may run is an operation, with what it reads and writes; what cannot
/// be known before the run is an operation of its own. Each operation has the bytes of `command`
/// that it came from.
#[must_use]
pub fn lower(command: &str, place: &ShellPlace<'_>) -> Lowered {
    plain::lower(command, place).unwrap_or_else(|| read(command, place))
}

/// The same for every text, through the reader.
fn read(command: &str, place: &ShellPlace<'_>) -> Lowered {
    let mut sink = Sink::new(*place);
    let bases = Bases::known(place.cwd);
    let (script, _) = walk::text(
        &mut sink,
        command,
        Origin::Verbatim(0),
        bases,
        Context::top(),
    );
    if sink.len() == 0 {
        if script.list.is_empty() && script.stop.is_none() {
            return Lowered::NothingToRun;
        }
        sink.unknown(
            "nothing in the text is understood",
            Some(ByteSpan::new(0..command.len())),
        );
    }
    lowered(sink, whole(command, &script)).unwrap_or(Lowered::NothingToRun)
}

/// What was found; `None` if that is nothing.
fn lowered(sink: Sink<'_>, whole: WholeText) -> Option<Lowered> {
    let operations = Operations::from_vec(sink.finish())?;
    Some(Lowered::Operations(operations.with_whole(whole)))
}

/// The text as it is, and without comments and here-document bodies.
fn whole(command: &str, script: &Script) -> WholeText {
    const BLANKS: [char; 3] = [' ', '\t', '\n'];
    let mut inert = script.inert.clone();
    inert.sort_unstable();
    let mut text = String::with_capacity(command.len());
    let mut heads = Vec::with_capacity(script.heads.len());
    let mut ends = script.heads.iter().copied().peekable();
    let mut done = 0;
    let rest = ByteSpan::new(command.len()..command.len());
    for span in inert.into_iter().chain([rest]) {
        // What ends inside of what is left out ends in front of it.
        while let Some(end) = ends.next_if(|end| *end <= span.end) {
            heads.push(text.len() + end.min(span.start).saturating_sub(done));
        }
        text.push_str(command.get(done..span.start).unwrap_or_default());
        done = done.max(span.end);
    }
    let stripped = text.trim_matches(BLANKS);
    let n_in_front = text.len() - text.trim_start_matches(BLANKS).len();
    let mut heads: Vec<usize> = heads
        .into_iter()
        .filter_map(|head| Some(text.get(n_in_front..head)?.trim_end_matches(BLANKS).len()))
        .filter(|head| *head < stripped.len())
        .collect();
    heads.dedup();
    WholeText {
        exact: command.trim_matches(BLANKS).into(),
        stripped: stripped.into(),
        heads: heads.into(),
    }
}
