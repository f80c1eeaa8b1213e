//! What may be saved about a command: itself, itself with other values, its subcommand, its program.

use podward_policy::{CommandSubject, WrittenWord, written_words};
use podward_shell::{AddedPrograms, Head, head};

use super::Width;
use super::pattern::escaped;

/// Programs whose numbers say what they do.
const NUMBERS_MATTER: &[&str] = &[
    "chmod", "chown", "chgrp", "umask", "mknod", "iptables", "kill",
];

/// The directory in which names are made up for one run.
const TEMPORARY: &str = "/tmp/";

/// Patterns for a command, from the narrowest on.
pub(super) fn candidates(
    command: &CommandSubject,
    programs: &AddedPrograms,
) -> Vec<(Width, String)> {
    let text = command.written.known_part();
    let expanded = &command.circumstances().expanded;
    let words: Vec<Word> = written_words(text)
        .into_iter()
        .enumerate()
        .map(|(idx, written)| Word {
            is_expanded: expanded.iter().any(|word| word.idx == idx),
            has_hole: command
                .written
                .holes()
                .iter()
                .any(|hole| (written.span.start..=written.span.end).contains(&hole.at)),
            written,
        })
        .collect();
    let known: Vec<&str> = words
        .iter()
        .take_while(|word| !word.has_hole)
        .map(|word| word.written.word.as_str())
        .collect();
    let head = head(&known, programs);
    let open_behind = |n_words: usize| {
        let end = words.get(n_words.checked_sub(1)?)?.written.span.end;
        Some(format!("{} *", escaped(text.get(..end)?)))
    };
    let exact = command.written.as_known().map(escaped);
    let subcommand = head.subcommand.and_then(open_behind);
    let program = head.program.and_then(open_behind);
    // What is not known before it runs may be anything, an option as well: no pattern says what it is not
    // and still matches it, so that the narrowest for such a command is one that says "whatever follows".
    let with_values = (exact.is_some() && subcommand.is_none())
        .then(|| similar(text, &words, head))
        .flatten();
    [
        (Width::Exact, exact),
        (Width::Similar, with_values),
        (Width::Subcommand, subcommand),
        (Width::Program, program),
    ]
    .into_iter()
    .filter_map(|(width, pattern)| Some((width, pattern?)))
    .collect()
}

/// A word of a command.
struct Word {
    written: WrittenWord,
    has_hole: bool,
    is_expanded: bool,
}

/// The command with each number and each path below `/tmp` left open, each in a word of its own; `None`
/// if there is none.
fn similar(text: &str, words: &[Word], head: Head) -> Option<String> {
    let n_fixed = head.subcommand.or(head.name)?;
    let program = words.get(head.name?.checked_sub(1)?)?;
    let base = program.written.word.rsplit('/').next()?;
    let keeps_numbers = NUMBERS_MATTER.contains(&base);
    let mut pattern = String::new();
    let mut is_changed = false;
    for (idx, word) in words.iter().enumerate() {
        if idx > 0 {
            pattern.push(' ');
        }
        let open = (idx >= n_fixed && !word.is_expanded)
            .then(|| left_open(&word.written.word, keeps_numbers))
            .flatten();
        match open {
            Some(open) => {
                is_changed = true;
                pattern.push('\'');
                pattern.push_str(&open);
                pattern.push('\'');
            }
            None => pattern.push_str(&escaped(text.get(word.written.span.range())?)),
        }
    }
    is_changed.then_some(pattern)
}

/// A pattern for what a word may be another time; `None` if it is not known to change.
///
/// What is left open begins with a digit or below `/tmp`, so that it can be no option.
fn left_open(word: &str, keeps_numbers: bool) -> Option<String> {
    if word.contains(['\'', '"', '\\']) {
        return None;
    }
    if word.starts_with(TEMPORARY) {
        return Some(format!("{TEMPORARY}*"));
    }
    let (front, value) = match word.split_once('=') {
        Some((option, value)) if option.starts_with('-') => (format!("{option}="), value),
        Some(_) => return None,
        None => {
            let n_front = word.len() - word.trim_start_matches('-').len();
            let rest = word.get(n_front..)?;
            let n_letter =
                usize::from(n_front == 1 && rest.starts_with(|c: char| c.is_ascii_alphabetic()));
            let (front, value) = word.split_at_checked(n_front + n_letter)?;
            (front.to_owned(), value)
        }
    };
    (is_number(value) && !keeps_numbers).then(|| format!("{}[0-9]*", escaped(&front)))
}

/// A number, with a unit perhaps: `20`, `10M`, `5s`.
fn is_number(text: &str) -> bool {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let n_unit = text.len() - digits.len();
    (1..=12).contains(&digits.len())
        && n_unit <= 2
        && digits.bytes().all(|byte| byte.is_ascii_digit())
}
