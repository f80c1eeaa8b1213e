//! Commands that change nothing: nothing is kept before them.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use podward_policy::{CommandSubject, Lowered, Subject};

use super::is_write;
use crate::tool::RunContext;

/// Programs that change no file, whatever their operands: sorted.
const READERS: [&str; 46] = [
    ":",
    "[",
    "b2sum",
    "basename",
    "cat",
    "cd",
    "cksum",
    "cmp",
    "comm",
    "cut",
    "df",
    "dirname",
    "du",
    "echo",
    "egrep",
    "expand",
    "exit",
    "false",
    "fgrep",
    "fold",
    "grep",
    "head",
    "id",
    "join",
    "ls",
    "md5sum",
    "nl",
    "nproc",
    "od",
    "paste",
    "printf",
    "pwd",
    "readlink",
    "realpath",
    "rev",
    "seq",
    "sha1sum",
    "sha256sum",
    "stat",
    "tac",
    "tail",
    "test",
    "tr",
    "true",
    "uname",
    "wc",
];

/// What makes `find` more than a reader: it runs programs, deletes, writes.
const FIND_ACTIONS: [&str; 6] = ["-delete", "-exec", "-fls", "-fprint", "-ok", "-files0-from"];

/// Whether a command is known to change nothing. Where that is not certain, it is not.
pub(super) fn only_reads(lowered: &Lowered, ctx: &RunContext) -> bool {
    let Lowered::Operations(operations) = lowered else {
        return true;
    };
    !programs_may_be_of_the_workspace(ctx)
        && operations.iter().all(|operation| {
            operation.partial.is_empty()
                && !is_write(operation)
                && match &operation.subject {
                    Subject::Command(command) => is_reader(command),
                    Subject::Path(_) | Subject::Url(_) => true,
                    Subject::Tree(_) | Subject::Plain(_) | Subject::Unknown(_) => false,
                }
        })
}

/// Whether a bare name may be that of a program that the agent itself wrote.
fn programs_may_be_of_the_workspace(ctx: &RunContext) -> bool {
    let path = ctx.environment.iter().rfind(|(name, _)| name == "PATH");
    path.is_some_and(|(_, path)| {
        path.as_bytes()
            .split(|byte| *byte == b':')
            .map(|entry| Path::new(std::ffi::OsStr::from_bytes(entry)))
            .any(|entry| entry.starts_with(&ctx.place.workspace))
    })
}

fn is_reader(command: &CommandSubject) -> bool {
    let (Some(text), 0) = (command.written.as_known(), command.name_start) else {
        return false;
    };
    let Some((name, operands)) = text.split_at_checked(command.name_end) else {
        return false;
    };
    match name {
        "find" => !FIND_ACTIONS.iter().any(|action| operands.contains(action)),
        // `-o FILE`, `-T DIR`, `--compress-program`.
        "sort" => operands.split(' ').all(|word| {
            !word.contains("--") && (!word.starts_with('-') || !word.contains(['o', 'T', 'S']))
        }),
        // A second operand is written.
        "uniq" => operands
            .split(' ')
            .all(|word| word.is_empty() || word.starts_with('-')),
        name => READERS.contains(&name),
    }
}
