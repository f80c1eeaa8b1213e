//! The text of a simple command, and its further forms.

use podward_policy::{CommandSubject, Text, TextBuilder};

use crate::arg::Arg;
use crate::work;

/// Variables that change no program's meaning: an allow rule looks past them.
const HARMLESS: &[&str] = &[
    "LANG",
    "TZ",
    "TERM",
    "NO_COLOR",
    "CI",
    "NODE_ENV",
    "RUST_LOG",
    "RUST_BACKTRACE",
];

/// Whether an allow rule looks past an assignment of this variable.
pub(crate) fn is_harmless(name: &str) -> bool {
    HARMLESS.contains(&name) || name.starts_with("LC_")
}

/// The subject of a command, and where each of its arguments ends in the text as written.
///
/// `assignments` are those in front of it that are not harmless, each as `name=value`; `globals`
/// are the places of its global options in `args`.
pub(crate) fn subject(
    assignments: &[Arg],
    args: &[Arg],
    globals: &[usize],
) -> (CommandSubject, Vec<usize>) {
    let len: usize = assignments
        .iter()
        .chain(args)
        .map(|arg| arg.len() + 1)
        .sum();
    let mut text = TextBuilder::with_capacity(len.saturating_sub(1));
    for assignment in assignments {
        text = assignment.write(text).known(" ");
    }
    let name_start = text.known_len();
    let mut name_end = name_start;
    let mut ends = Vec::with_capacity(args.len());
    for (n, arg) in args.iter().enumerate() {
        if n > 0 {
            text = text.known(" ");
        }
        text = arg.write(text);
        if n == 0 {
            name_end = text.known_len();
        }
        ends.push(text.known_len());
    }
    let written = text.build();
    work::done(written.known_part().len());
    let further = further(&written, assignments, args, globals);
    (
        CommandSubject {
            written,
            name_start,
            name_end,
            further,
        },
        ends,
    )
}

fn further(written: &Text, assignments: &[Arg], args: &[Arg], globals: &[usize]) -> Vec<Text> {
    let base = args.first().and_then(basename);
    let has_quotes = args
        .iter()
        .chain(assignments)
        .chain(base.as_ref())
        .any(Arg::needs_quotes);
    if !has_quotes && assignments.is_empty() && globals.is_empty() && base.is_none() {
        return Vec::new();
    }
    let mut forms = Vec::new();
    let without_globals: Vec<&Arg> = args
        .iter()
        .enumerate()
        .filter(|(n, _)| globals.binary_search(n).is_err())
        .map(|(_, arg)| arg)
        .collect();
    let all: Vec<&Arg> = args.iter().collect();
    let fronts: &[&[Arg]] = if assignments.is_empty() {
        &[&[]]
    } else {
        &[&[], assignments]
    };
    let bodies: &[&[&Arg]] = if globals.is_empty() {
        &[&all]
    } else {
        &[&without_globals, &all]
    };
    let quotings: &[bool] = if has_quotes { &[true, false] } else { &[true] };
    for front in fronts {
        for body in bodies {
            for name in [None, base.as_ref()] {
                for is_quoted in quotings {
                    let form = joined(front, name, body, *is_quoted);
                    if form != *written && !forms.contains(&form) {
                        forms.push(form);
                    }
                }
                if base.is_none() {
                    break;
                }
            }
        }
    }
    forms
}

fn joined(front: &[Arg], name: Option<&Arg>, args: &[&Arg], is_quoted: bool) -> Text {
    let mut text = TextBuilder::new();
    let words = front.iter().chain(
        args.iter()
            .enumerate()
            .map(|(n, arg)| name.filter(|_| n == 0).unwrap_or(arg)),
    );
    for (n, word) in words.enumerate() {
        if n > 0 {
            text = text.known(" ");
        }
        text = if is_quoted {
            word.write(text)
        } else {
            word.write_bare(text)
        };
    }
    work::done(text.known_len());
    text.build()
}

/// The last part of a program's path, if it is named by one.
pub(crate) fn basename(name: &Arg) -> Option<Arg> {
    let known = name.program()?;
    let (_, base) = known.rsplit_once('/')?;
    (!base.is_empty()).then(|| Arg::known_text(base, name.span))
}
