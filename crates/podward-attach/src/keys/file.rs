//! The file in which a person says which key does what.

use std::collections::BTreeMap;
use std::ops::Range;

use crossterm::event::KeyCode;
use serde::Deserialize;
use toml::Spanned;

use super::{ACTIONS, Action, Key, Keys, Section};

/// What a person has settled.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settings {
    /// Which key does what.
    pub keys: Keys,
    /// Whether the mouse scrolls and chooses; without it the terminal has it for itself.
    pub mouse: Mouse,
}

/// Whether the mouse is listened to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mouse {
    /// It is the terminal's, which selects text with it.
    #[default]
    Ignored,
    /// It scrolls and chooses.
    Used,
}

/// What is wrong in the file, each with its line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.join("\n"))]
pub struct KeysError(Vec<String>);

/// An action's keys by its name.
type Table = BTreeMap<Spanned<String>, Spanned<Vec<Spanned<String>>>>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    mouse: bool,
    #[serde(default)]
    question: Table,
    #[serde(default)]
    conversation: Table,
    #[serde(default)]
    anywhere: Table,
}

impl Settings {
    /// Reads the text of the file; an action that it does not name keeps its keys.
    ///
    /// # Errors
    /// It is no TOML, has a key that is not known, gives one key to two actions, or would loosen what keeps a
    /// call from being approved by accident.
    pub fn read(text: &str) -> Result<Self, KeysError> {
        let file: File =
            toml::from_str(text).map_err(|error| KeysError(vec![error.to_string()]))?;
        let mut reading = Reading {
            text,
            keys: Keys::default(),
            wrong: Vec::new(),
        };
        reading.table(Section::Question, &file.question);
        reading.table(Section::Conversation, &file.conversation);
        reading.table(Section::Anywhere, &file.anywhere);
        reading.find_doubles();
        match reading.wrong.as_slice() {
            [] => Ok(Self {
                keys: reading.keys,
                mouse: match file.mouse {
                    true => Mouse::Used,
                    false => Mouse::Ignored,
                },
            }),
            _ => Err(KeysError(reading.wrong)),
        }
    }
}

struct Reading<'a> {
    text: &'a str,
    keys: Keys,
    wrong: Vec<String>,
}

impl Reading<'_> {
    fn table(&mut self, section: Section, table: &Table) {
        for (name, keys) in table {
            let is_it = |(_, there, word, _): &&super::Described| {
                *there == section && word == name.get_ref()
            };
            let Some((action, ..)) = ACTIONS.iter().find(is_it) else {
                let known = ACTIONS.iter().filter(|(_, there, ..)| *there == section);
                let known: Vec<&str> = known.map(|(_, _, word, _)| *word).collect();
                let what = format!(
                    "`{}` is nothing that a key does in [{}]; there is {}",
                    name.get_ref(),
                    section.name(),
                    known.join(", ")
                );
                self.is_wrong(name.span(), &what);
                continue;
            };
            if keys.get_ref().is_empty() {
                let what = format!("`{}` needs a key", name.get_ref());
                self.is_wrong(keys.span(), &what);
            }
            let mut bound = Vec::new();
            for key in keys.get_ref() {
                match read(*action, key.get_ref()) {
                    Ok(key) => bound.push(key),
                    Err(why) => self.is_wrong(key.span(), &why),
                }
            }
            if let Some((_, keys)) = self.keys.bound.iter_mut().find(|(it, _)| it == action) {
                *keys = bound;
            }
        }
    }

    fn is_wrong(&mut self, at: Range<usize>, what: &str) {
        let before = self.text.get(..at.start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before
            .rsplit('\n')
            .next()
            .unwrap_or_default()
            .chars()
            .count()
            + 1;
        self.wrong
            .push(format!("line {line}, column {column}: {what}"));
    }

    /// One key does one thing.
    fn find_doubles(&mut self) {
        let bound = self.keys.bound.iter();
        let all = bound.flat_map(|(action, keys)| keys.iter().map(|key| (*key, *action)));
        let all: Vec<(Key, Action)> = all.collect();
        for (idx, (key, action)) in all.iter().enumerate() {
            let double = all.iter().take(idx).find(|(other, there)| {
                let (one, two) = (action.section(), there.section());
                let meet = one == two || one == Section::Anywhere || two == Section::Anywhere;
                other == key && meet && there != action
            });
            if let Some((_, other)) = double {
                self.wrong.push(format!(
                    "`{}` is for `{}` in [{}] and for `{}` in [{}]: give one of them another key",
                    key.name(),
                    other.word(),
                    other.section().name(),
                    action.word(),
                    action.section().name(),
                ));
            }
        }
    }
}

/// Reads a key for an action.
///
/// # Errors
/// There is no such key, or the action cannot have it: why.
fn read(action: Action, name: &str) -> Result<Key, String> {
    let Some(key) = Key::read(name) else {
        let help = "a key is a character, `space`, `Tab`, `PageUp`, `F5` or the like, behind `Ctrl-`, `Alt-` or \
                    `Shift-` where that is held";
        return Err(format!("there is no key `{name}`; {help}"));
    };
    let cannot = |why: &str| Err(format!("`{name}` cannot be for `{}`: {why}", action.word()));
    match (action.section(), key.code) {
        (Section::Question | Section::Anywhere, KeyCode::Enter) => {
            cannot("Enter answers no question")
        }
        (Section::Question | Section::Anywhere, KeyCode::Esc) => {
            cannot("Esc is no, and one step back")
        }
        (Section::Question, KeyCode::Char(c)) if c.is_ascii_digit() && key.writes() => {
            cannot("digits choose what `always` saves")
        }
        (Section::Question, KeyCode::Char(c)) if action == Action::Yes => {
            match key.writes() && c.is_alphabetic() {
                true => Ok(key),
                false => cannot("only a letter alone approves"),
            }
        }
        (Section::Question, _) if action == Action::Yes => cannot("only a letter alone approves"),
        (Section::Question, _) if action == Action::Done && key.writes() => {
            cannot("it is a part of what is typed")
        }
        (Section::Conversation | Section::Anywhere, _) if key.writes() => {
            cannot("it is a part of what is typed")
        }
        _ => Ok(key), // it moves a key, and loosens nothing
    }
}
