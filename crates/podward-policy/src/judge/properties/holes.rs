//! Commands with holes, the ways to fill them, and tables that may match them.

use super::*;

pub(super) fn words() -> impl Strategy<Value = Vec<Vec<Part>>> {
    let part = prop_oneof![
        3 => select(&["rm", "a", "ls", "x y", "-f", "r", "m"][..]).prop_map(Part::Known),
        1 => Just(Part::Quoted),
        1 => Just(Part::Unquoted),
    ];
    let first = prop_oneof![
        3 => select(&["rm", "ls", "a"][..]).prop_map(|known| vec![Part::Known(known)]),
        1 => vec(part.clone(), 1..3),
    ];
    (first, vec(vec(part, 1..4), 0..3)).prop_map(|(first, mut rest)| {
        rest.insert(0, first);
        rest
    })
}

/// What an expansion stands for: a quoted one for the first word alone.
pub(super) fn values() -> impl Strategy<Value = Vec<Vec<&'static str>>> {
    let value = select(&["", "rm", "a", "x y", "it's", "-f", "m -f", "'"][..]);
    vec(vec(value, 0..3), 6)
}

/// The operation of a command as it is before it runs.
pub(super) fn with_holes(words: &[Vec<Part>]) -> Operation {
    let mut written = TextBuilder::new();
    let mut plain = TextBuilder::new();
    let mut ends = None;
    for (idx, word) in words.iter().enumerate() {
        if idx > 0 {
            written = written.known(" ");
            plain = plain.known(" ");
        }
        let is_quoted = word
            .iter()
            .any(|part| matches!(part, Part::Known(known) if known.contains(' ')));
        let quote = if is_quoted { "'" } else { "" };
        written = written.known(quote);
        for part in word {
            let add = |text: TextBuilder| match part {
                Part::Known(known) => text.known(known),
                Part::Quoted => text.hole(HoleKind::Quoted),
                Part::Unquoted => text.hole(HoleKind::Unquoted),
            };
            written = add(written);
            plain = add(plain);
        }
        written = written.known(quote);
        ends = ends.or(Some(written.clone().build().known_part().len()));
    }
    let command = CommandSubject {
        written: written.build(),
        name_start: 0,
        name_end: ends.unwrap(),
        further: vec![plain.build()],
        place: None,
    };
    operation("bash", Subject::Command(command), Need::Full)
}

/// The operation of the same command with values in its holes; `None` if nothing is left to run.
pub(super) fn filled(words: &[Vec<Part>], values: &[Vec<&str>]) -> Option<Operation> {
    let mut values = values.iter().cycle();
    let mut done: Vec<String> = Vec::new();
    for word in words {
        let mut open: Option<String> = None;
        for part in word {
            match part {
                Part::Known(known) => open.get_or_insert_default().push_str(known),
                Part::Quoted => {
                    let value = values.next().unwrap().first().unwrap_or(&"");
                    open.get_or_insert_default().push_str(value);
                }
                Part::Unquoted => {
                    for (idx, value) in values.next().unwrap().iter().enumerate() {
                        if idx > 0 {
                            done.extend(open.take());
                        }
                        open.get_or_insert_default().push_str(value);
                    }
                }
            }
        }
        done.extend(open);
    }
    let written: Vec<_> = done.iter().map(|word| written_word(word)).collect();
    let name_end = written.first()?.len();
    let command = CommandSubject {
        written: text(&written.join(" ")),
        name_start: 0,
        name_end,
        further: vec![text(&done.join(" "))],
        place: None,
    };
    Some(operation("bash", Subject::Command(command), Need::Full))
}

pub(super) fn recipes() -> impl Strategy<Value = Vec<Recipe>> {
    let end = select(&["", "", "*", " *"][..]);
    vec((vec(0_usize..8, 4), 0_usize..5, end, actions()), 1..4)
}

/// A table of rules that nearly match a command: without the exception of D3.2, no restrictive
/// pattern begins with `*`.
pub(super) fn table_for(default: &str, recipes: &[Recipe], words: &[Vec<Part>]) -> String {
    let mut table = default.to_owned();
    for (hows, n_words, end, action) in recipes {
        let words = words.iter().take(*n_words).zip(hows.iter().cycle());
        let patterns: Vec<String> = words
            .map(|(word, how)| {
                let with = |hole: &str| -> String {
                    let parts = word.iter().map(|part| match part {
                        Part::Known(known) => known,
                        Part::Quoted | Part::Unquoted => hole,
                    });
                    parts.collect()
                };
                match how {
                    0 | 1 => with("*"),
                    2 => with("?*"),
                    3 => format!("'{}'", with("*")),
                    4 => with("").chars().take(1).chain(['*']).collect(),
                    5 => "*".to_owned(),
                    6 => "'*'".to_owned(),
                    _ => with(""),
                }
            })
            .collect();
        let mut pattern = (patterns.join(" ") + end)
            .replace("**", "*")
            .replace("**", "*");
        if pattern.trim_matches('*').is_empty() || (*action != "allow" && pattern.starts_with('*'))
        {
            pattern.insert(0, 'r');
        }
        table.push_str(&format!("\nbash | {pattern} | {action}"));
    }
    table
}
