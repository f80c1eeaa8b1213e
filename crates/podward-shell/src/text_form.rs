//! The text of a simple command, and its further forms.

use std::collections::BTreeSet;

use podward_policy::{
    Circumstances, CommandPlace, CommandSubject, ExpandedWord, Text, TextBuilder,
};

use crate::arg::Arg;
use crate::limits;
use crate::whereabouts::{LocatedWord, Way, Whereabouts};
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

/// The words that are more for the shell than their characters.
fn expanded(assignments: &[Arg], args: &[Arg]) -> Vec<ExpandedWord> {
    let assigned = assignments.iter().map(|arg| {
        let n_front = arg.prefix().find('=').map_or(0, |at| at + 1);
        let front = arg.prefix().get(..n_front).unwrap_or_default();
        Some((front, arg.without_prefix(n_front)))
    });
    let words = args
        .iter()
        .map(|arg| arg.is_expanded().then(|| ("", arg.clone())));
    let words = assigned.chain(words).enumerate();
    words
        .filter_map(|(idx, word)| {
            let (front, arg) = word?;
            let spelled = arg.spelled().map(|rest| format!("{front}{rest}").into());
            Some(ExpandedWord { idx, spelled })
        })
        .collect()
}

/// What its words do not say.
fn place(
    assignments: &[Arg],
    args: &[Arg],
    whereabouts: &Whereabouts,
) -> Option<Box<CommandPlace>> {
    let words = &whereabouts.words;
    let circumstances = Circumstances {
        directories: whereabouts.directories.clone(),
        expanded: expanded(assignments, args),
        input: whereabouts.input.clone(),
    };
    let is_plain = words.iter().all(|word| word.groups.is_empty()) && !are_too_many(words);
    if is_plain && circumstances == Circumstances::default() {
        return None;
    }
    let all: Vec<(usize, &Arg)> = args.iter().enumerate().collect();
    let spelled = |names: &Names<'_>| joined(assignments, names, &all, true);
    let groups = groups(words).map(|group| match group {
        Some(group) => group.iter().map(spelled).collect(),
        None => vec![Text::anything()],
    });
    let too_many = are_too_many(words).then(|| vec![Text::anything()]);
    Some(Box::new(CommandPlace {
        circumstances,
        located: groups.chain(too_many).collect(),
    }))
}

/// Other words, each for the one in its place.
type Names<'a> = Vec<(usize, &'a Arg)>;

/// For each way to read the words, what they name together; `None` if that is too much.
fn groups(words: &[LocatedWord]) -> impl Iterator<Item = Option<Vec<Names<'_>>>> {
    let ways = words
        .iter()
        .flat_map(|word| word.groups.iter().map(|(way, _)| *way));
    let ways: BTreeSet<Way> = ways.collect();
    ways.into_iter().map(move |way| {
        let mut names = vec![Vec::new()];
        for word in words {
            let mut group = word.groups.iter().filter(|(other, _)| *other == way);
            match group.next() {
                Some((_, group)) => names = each_with(&names, word.idx, group.iter()),
                // It lies where it lies, whatever the directory is.
                None if word.groups.is_empty() => {
                    let others = each_with(&names, word.idx, word.spellings.iter());
                    names.extend(others);
                }
                None => {}
            }
            if names.len() > limits::SPELLINGS {
                return None;
            }
        }
        Some(names)
    })
}

/// Each of the names with each of the words in one more place.
fn each_with<'a>(
    names: &[Names<'a>],
    idx: usize,
    words: impl Iterator<Item = &'a Arg> + Clone,
) -> Vec<Names<'a>> {
    let with = |names: &Names<'a>| {
        let names = names.clone();
        words.clone().map(move |word| {
            let mut names = names.clone();
            names.push((idx, word));
            names
        })
    };
    names.iter().flat_map(with).collect()
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
    let names = names(base.as_ref(), located);
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

/// Other names of what is run: one word, or each with each of the others.
fn names<'a>(base: Option<&'a Arg>, words: &'a [LocatedWord]) -> Vec<Names<'a>> {
    let mut all: Vec<Names<'a>> = vec![Vec::new()];
    let mut program = base.into_iter().chain(spellings_of_program(words));
    let too_many = are_too_many(words);
    all.extend(program.by_ref().map(|name| vec![(0, name)]));
    for word in words.iter().filter(|word| word.idx > 0) {
        let fronts = if too_many { all.get(..1) } else { all.get(..) };
        let others = each_with(fronts.unwrap_or_default(), word.idx, word.spellings.iter());
        all.extend(others);
    }
    all
}

fn spellings_of_program(words: &[LocatedWord]) -> impl Iterator<Item = &Arg> {
    let program = words.iter().filter(|word| word.idx == 0);
    program.flat_map(|word| &word.spellings)
}

/// Whether there are too many ways to spell all words together: then an allow counts nowhere, and a
/// deny everywhere.
fn are_too_many(words: &[LocatedWord]) -> bool {
    let n_ways = |word: &LocatedWord| 2 + word.spellings.len();
    words.iter().map(n_ways).product::<usize>() > limits::SPELLINGS
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
