//! What may be saved about a command: itself, itself with other values, its subcommand, its program.

use podward_policy::{CommandSubject, WrittenWord, written_words};
use podward_shell::{AddedPrograms, Head, head};

use super::Width;
use super::pattern::escaped;

/// Options whose value is a message for people.
const MESSAGES: &[&str] = &[
    "-m",
    "-am",
    "-cm",
    "--message",
    "--title",
    "--body",
    "--notes",
    "--description",
    "--subject",
];

/// Programs whose numbers say what they do.
const NUMBERS_MATTER: &[&str] = &[
    "chmod", "chown", "chgrp", "umask", "mknod", "iptables", "kill",
];

/// Directories in which names are made up for one run.
const TEMPORARY: &[&str] = &["/tmp/", "/var/tmp/"];

/// Patterns for a command, from the narrowest on.
pub(super) fn candidates(
    command: &CommandSubject,
    programs: &AddedPrograms,
) -> Vec<(Width, String)> {
    let text = command.written.known_part();
    let words: Vec<Word> = written_words(text)
        .into_iter()
        .map(|written| Word {
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
    let with_values = (exact.is_none() || subcommand.is_none())
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
}

/// The command with each value that changes from call to call left open, each in a word of its
/// own; `None` if there is none.
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
        let before = idx.checked_sub(1).and_then(|before| words.get(before));
        let open = (idx >= n_fixed)
            .then(|| match word.has_hole {
                // Whatever is known of it, it stays inside its word or the pattern is not offered.
                true => word.written.word.is_empty().then(|| "*".to_owned()),
                false => left_open(&word.written.word, before, keeps_numbers),
            })
            .flatten();
        match open {
            Some(open) => {
                is_changed = true;
                pattern.push('\'');
                pattern.push_str(&open);
                pattern.push('\'');
            }
            None if word.has_hole => return None,
            None => pattern.push_str(&escaped(text.get(word.written.span.range())?)),
        }
    }
    is_changed.then_some(pattern)
}

/// A pattern for what a word may be another time; `None` if it is not known to change.
fn left_open(word: &str, before: Option<&Word>, keeps_numbers: bool) -> Option<String> {
    if word.contains(['\'', '"', '\\']) && !is_message(before) {
        return None;
    }
    if is_message(before) {
        return Some("*".to_owned());
    }
    if let Some((option, _)) = word.split_once('=')
        && MESSAGES.contains(&option)
    {
        return Some(format!("{option}=*"));
    }
    if let Some(directory) = TEMPORARY
        .iter()
        .find(|directory| word.starts_with(*directory))
    {
        return Some(format!("{directory}*"));
    }
    if is_hash(word) {
        return Some("[0-9a-f]*".to_owned());
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

/// Whether a word is the value of an option for messages.
fn is_message(before: Option<&Word>) -> bool {
    before.is_some_and(|before| !before.has_hole && MESSAGES.contains(&&*before.written.word))
}

/// A number, with a unit perhaps: `20`, `10M`, `5s`.
fn is_number(text: &str) -> bool {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let n_unit = text.len() - digits.len();
    (1..=12).contains(&digits.len())
        && n_unit <= 2
        && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// A hash or a UUID in lower case.
fn is_hash(text: &str) -> bool {
    let is_hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    let is_uuid = text.len() == 36 && text.chars().all(|c| is_hex(c) || c == '-');
    let has_both = text.contains(|c: char| c.is_ascii_digit())
        && text.contains(|c: char| c.is_ascii_lowercase());
    (7..=64).contains(&text.len()) && has_both && (text.chars().all(is_hex) || is_uuid)
}
