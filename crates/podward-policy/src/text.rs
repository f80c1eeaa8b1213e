//! Text of which some parts are not known before the call runs.

use std::borrow::Cow;
use std::fmt;

use crate::source::ByteSpan;

/// What may stand in a hole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HoleKind {
    /// The value of a quoted expansion: it stays inside its word, whatever it holds.
    Quoted,
    /// The value of an unquoted expansion: zero or more words.
    Unquoted,
    /// A file name pattern: text without `/`, and without a leading dot where a name begins.
    FileGlob,
    /// Anything at all: code that is not known before it runs.
    Anything,
}

impl HoleKind {
    /// Whether the value of an expansion or of code stands there, and not a file's name.
    #[must_use]
    pub const fn is_expansion(self) -> bool {
        match self {
            Self::Quoted | Self::Unquoted | Self::Anything => true,
            Self::FileGlob => false,
        }
    }
}

/// A hole and its place: before the byte `at` of the known text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hole {
    /// Byte offset into [`Text::known`]; a char boundary.
    pub at: usize,
    /// What may stand there.
    pub kind: HoleKind,
}

/// Text with holes: the known characters, and the places where something unknown stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Text {
    known: Box<str>,
    holes: Box<[Hole]>,
}

impl Text {
    /// Text that is known to the last character.
    #[must_use]
    pub fn known(text: impl Into<Box<str>>) -> Self {
        Self {
            known: text.into(),
            holes: Box::default(),
        }
    }

    /// Text that is a single hole: anything.
    #[must_use]
    pub fn anything() -> Self {
        TextBuilder::new().hole(HoleKind::Anything).build()
    }

    /// The known characters, holes left out.
    #[must_use]
    pub fn known_part(&self) -> &str {
        &self.known
    }

    /// The known characters before the first hole.
    pub(crate) fn known_start(&self) -> &str {
        let end = self.holes.first().map_or(self.known.len(), |hole| hole.at);
        self.known.get(..end).unwrap_or_default()
    }

    /// One way to fill the holes, with what hardly any pattern has: what all ways match, this matches.
    pub(crate) fn filled(&self) -> String {
        // No file's name, no blank and no quote.
        const ODD: char = '\u{1}';
        let mut filled = String::with_capacity(self.known.len() + self.holes.len());
        let mut done = 0;
        for hole in &self.holes {
            filled.push_str(self.known.get(done..hole.at).unwrap_or_default());
            filled.push(ODD);
            done = hole.at;
        }
        filled.push_str(self.known.get(done..).unwrap_or_default());
        filled
    }

    /// The known characters between the holes.
    pub(crate) fn known_parts(&self) -> impl Iterator<Item = &str> {
        let ends = self.holes.iter().map(|hole| hole.at);
        let mut done = 0;
        ends.chain([self.known.len()]).map(move |end| {
            let part = self.known.get(done..end).unwrap_or_default();
            done = end;
            part
        })
    }

    /// The holes in order of their place.
    #[must_use]
    pub fn holes(&self) -> &[Hole] {
        &self.holes
    }

    /// The whole text, if nothing in it is unknown.
    #[must_use]
    pub fn as_known(&self) -> Option<&str> {
        self.holes.is_empty().then_some(&*self.known)
    }
}

/// For people: each hole is shown as `…`.
impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = &*self.known;
        let mut done = 0;
        for hole in &self.holes {
            let (before, after) = rest.split_at_checked(hole.at - done).unwrap_or((rest, ""));
            f.write_str(before)?;
            f.write_str("…")?;
            done = hole.at;
            rest = after;
        }
        f.write_str(rest)
    }
}

/// Builds a [`Text`] from left to right.
#[derive(Debug, Clone, Default)]
pub struct TextBuilder {
    known: String,
    holes: Vec<Hole>,
}

impl TextBuilder {
    /// An empty text.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty text with room for this many bytes of known characters.
    #[must_use]
    pub fn with_capacity(n_bytes: usize) -> Self {
        Self {
            known: String::with_capacity(n_bytes),
            holes: Vec::new(),
        }
    }

    /// Appends known characters.
    #[must_use]
    pub fn known(mut self, text: &str) -> Self {
        self.known.push_str(text);
        self
    }

    /// Appends a hole.
    #[must_use]
    pub fn hole(mut self, kind: HoleKind) -> Self {
        self.holes.push(Hole {
            at: self.known.len(),
            kind,
        });
        self
    }

    /// Appends another text, holes included.
    #[must_use]
    pub fn text(mut self, text: &Text) -> Self {
        let base = self.known.len();
        self.known.push_str(&text.known);
        self.holes.extend(text.holes.iter().map(|hole| Hole {
            at: base + hole.at,
            ..*hole
        }));
        self
    }

    /// Bytes of the known characters so far.
    #[must_use]
    pub const fn known_len(&self) -> usize {
        self.known.len()
    }

    /// The text.
    #[must_use]
    pub fn build(self) -> Text {
        Text {
            known: self.known.into_boxed_str(),
            holes: self.holes.into_boxed_slice(),
        }
    }
}

/// A word of a command as rules see it: itself, or in single quotes if it is empty or holds a
/// blank, a tab, a newline or a quote. A single quote inside is written `'\''`, as for a shell, so
/// that no two lists of words have the same text.
#[must_use]
pub fn written_word(word: &str) -> Cow<'_, str> {
    if !word.is_empty() && word.chars().all(is_bare) {
        return Cow::Borrowed(word);
    }
    let mut written = String::with_capacity(word.len() + 2);
    written.push('\'');
    for c in word.chars() {
        match c {
            '\'' => written.push_str("'\\''"),
            c => written.push(c),
        }
    }
    written.push('\'');
    Cow::Owned(written)
}

/// One word of a command's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenWord {
    /// Its bytes in the text, quotes included.
    pub span: ByteSpan,
    /// The word itself, without the quotes.
    pub word: String,
}

/// The words of a command's text as rules see it: what [`written_word`] wrote, read back. Blanks
/// inside single quotes do not separate; an empty word without quotes stands where a text with
/// holes has nothing but a hole.
#[must_use]
pub fn written_words(text: &str) -> Vec<WrittenWord> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut start = 0;
    let mut in_quotes = false;
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\'' if in_quotes && chars.as_str().starts_with("\\''") => {
                word.push('\'');
                chars.nth(2);
            }
            '\'' if in_quotes || at == start => in_quotes = !in_quotes,
            ' ' if !in_quotes => {
                words.push(WrittenWord {
                    span: ByteSpan::new(start..at),
                    word: std::mem::take(&mut word),
                });
                start = at + 1;
            }
            c => word.push(c),
        }
    }
    words.push(WrittenWord {
        span: ByteSpan::new(start..text.len()),
        word,
    });
    words
}

/// Whether a character may stand in a word that is written without quotes.
pub(crate) const fn is_bare(c: char) -> bool {
    !matches!(c, ' ' | '\t' | '\n' | '\'' | '"')
}

#[cfg(test)]
mod tests;
