//! The text of a simple command, and its further forms.

use podward_policy::{CommandPlace, CommandSubject, Directories, Text, TextBuilder};

use crate::arg::Arg;
use crate::whereabouts::Whereabouts;
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
/// are the places of its global options in `args`, `whereabouts` is what the words do not say.
pub(crate) fn subject(
    assignments: &[Arg],
    args: &[Arg],
    globals: &[usize],
    whereabouts: &Whereabouts,
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
    let further = further(&written, assignments, args, globals, whereabouts);
    let place = place(assignments, args, whereabouts);
    (
        CommandSubject {
            written,
            name_start,
            name_end,
            further,
            place,
        },
        ends,
    )
}

/// Where it runs, if its words do not say it.
fn place(
    assignments: &[Arg],
    args: &[Arg],
    whereabouts: &Whereabouts,
) -> Option<Box<CommandPlace>> {
    let is_plain = whereabouts.words.iter().all(|word| word.groups.is_empty());
    if is_plain && whereabouts.directories == Directories::Own {
        return None;
    }
    let all: Vec<(usize, &Arg)> = args.iter().enumerate().collect();
    let groups = whereabouts
        .words
        .iter()
        .flat_map(|word| word.groups.iter().map(|group| (word.idx, group)));
    let spelled = |(idx, group): (usize, &Vec<Arg>)| {
        let spellings = group.iter();
        spellings
            .map(|arg| joined(assignments, &[(idx, arg)], &all, true))
            .collect()
    };
    Some(Box::new(CommandPlace {
        directories: whereabouts.directories.clone(),
        located: groups.map(spelled).collect(),
    }))
}

fn further(
    written: &Text,
    assignments: &[Arg],
    args: &[Arg],
    globals: &[usize],
    whereabouts: &Whereabouts,
) -> Vec<Text> {
    let base = args.first().and_then(basename);
    let has_quotes = args
        .iter()
        .chain(assignments)
        .chain(base.as_ref())
        .any(Arg::needs_quotes);
    let located = &whereabouts.words;
    let has_other_names = base.is_some() || !located.is_empty();
    if !has_quotes && assignments.is_empty() && globals.is_empty() && !has_other_names {
        return Vec::new();
    }
    let mut forms = Vec::new();
    let all: Vec<(usize, &Arg)> = args.iter().enumerate().collect();
    let without_globals: Vec<(usize, &Arg)> = all
        .iter()
        .filter(|(n, _)| globals.binary_search(n).is_err())
        .copied()
        .collect();
    let fronts: &[&[Arg]] = if assignments.is_empty() {
        &[&[]]
    } else {
        &[&[], assignments]
    };
    let bodies: &[&[(usize, &Arg)]] = if globals.is_empty() {
        &[&all]
    } else {
        &[&without_globals, &all]
    };
    let quotings: &[bool] = if has_quotes { &[true, false] } else { &[true] };
    let names = names(base.as_ref(), whereabouts);
    for front in fronts {
        for body in bodies {
            for names in &names {
                for is_quoted in quotings {
                    let form = joined(front, names, body, *is_quoted);
                    if form != *written && !forms.contains(&form) {
                        forms.push(form);
                    }
                }
            }
        }
    }
    forms
}

/// Other names of what is run, each with the place of the word that it stands for.
fn names<'a>(base: Option<&'a Arg>, whereabouts: &'a Whereabouts) -> Vec<Vec<(usize, &'a Arg)>> {
    let base = base.map(|base| (0, base));
    let mut names = vec![Vec::new()];
    names.extend(base.map(|base| vec![base]));
    for word in &whereabouts.words {
        for spelling in &word.spellings {
            let spelling = (word.idx, spelling);
            names.push(vec![spelling]);
            names.extend(
                base.filter(|_| word.idx > 0)
                    .map(|base| vec![base, spelling]),
            );
        }
    }
    names
}

/// A form of a command with other words in some places.
fn joined(
    front: &[Arg],
    others: &[(usize, &Arg)],
    args: &[(usize, &Arg)],
    is_quoted: bool,
) -> Text {
    let mut text = TextBuilder::new();
    let args = args.iter().map(|(idx, arg)| {
        let other = others.iter().find(|(at, _)| at == idx);
        other.map_or(*arg, |(_, other)| *other)
    });
    for (n, word) in front.iter().chain(args).enumerate() {
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
