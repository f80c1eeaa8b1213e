//! What a command does beside what its words say: a remembered approval of all of a command holds
//! only where these are the same.

use std::borrow::Cow;

use crate::operation::{CommandSubject, Directories};
use crate::text::written_words;

/// What the text of a command does not say, and what it does hangs on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Circumstances {
    /// The directories in which it may run.
    pub directories: Directories,
    /// Its words that the shell expands, in their order.
    pub expanded: Vec<ExpandedWord>,
    /// What it reads as its standard input.
    pub input: Input,
}

/// A word that is more for the shell than its characters: it holds a file name pattern or a `~` that
/// was not quoted, or is an assignment in front of a program.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ExpandedWord {
    /// Its place among the words of the text.
    pub idx: usize,
    /// As a shell has to be given it: what is literal stands in quotes where it would be more without.
    /// `None`: that is not known.
    pub spelled: Option<Box<str>>,
}

/// What a command reads as its standard input.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum Input {
    /// Nothing, or what is nothing but data to it.
    #[default]
    Nothing,
    /// This text.
    Text(Box<str>),
    /// The file of this name, as rules write paths.
    File(Box<str>),
    /// Not known before it runs.
    Unknown,
}

impl Circumstances {
    /// Those of a command in the directory of the call, of literal words and without input.
    #[must_use]
    pub fn none() -> &'static Self {
        static NONE: Circumstances = Circumstances {
            directories: Directories::Own,
            expanded: Vec::new(),
            input: Input::Nothing,
        };
        &NONE
    }

    /// Whether a command does the same as one with the same words in others of these: it runs where
    /// that one may run, the shell makes the same of its words, and it reads the same.
    #[must_use]
    pub fn are_among(&self, others: &Self) -> bool {
        self.directories.are_among(&others.directories)
            && self.input.is(&others.input)
            && self.expanded.len() == others.expanded.len()
            && are_among(&self.expanded, &others.expanded)
    }
}

/// Whether each is one of the others.
pub(crate) fn are_among(words: &[ExpandedWord], others: &[ExpandedWord]) -> bool {
    let mut words = words.iter();
    words.all(|word| word.spelled.is_some() && others.contains(word))
}

impl Input {
    /// Whether it is known to be the same as another.
    fn is(&self, other: &Self) -> bool {
        *self != Self::Unknown && self == other
    }
}

impl CommandSubject {
    /// The command as a shell has to be given it, each literal word in quotes that would be more
    /// without; `None`: a part of it is not known before it runs.
    #[must_use]
    pub fn spelled(&self) -> Option<String> {
        let words = written_words(self.written.as_known()?);
        let expanded = &self.circumstances().expanded;
        let spelled = words.iter().enumerate().map(|(idx, written)| {
            let expanded = expanded.iter().find(|word| word.idx == idx);
            let word = &*written.word;
            match expanded {
                Some(expanded) => Cow::Borrowed(expanded.spelled.as_deref().unwrap_or(word)),
                // As it is, it would be an assignment.
                None if written.span.start == self.name_start && word.contains('=') => quoted(word),
                None => literal_word(word),
            }
        });
        Some(spelled.collect::<Vec<_>>().join(" "))
    }
}

/// A word as a shell has to be given it to mean the word itself.
#[must_use]
pub fn literal_word(word: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_alphanumeric() || "_-+=./,:@%^".contains(c);
    match word == "{}" || (!word.is_empty() && word.chars().all(is_plain)) {
        true => Cow::Borrowed(word),
        false => quoted(word),
    }
}

fn quoted(word: &str) -> Cow<'_, str> {
    Cow::Owned(format!("'{}'", word.replace('\'', "'\\''")))
}
