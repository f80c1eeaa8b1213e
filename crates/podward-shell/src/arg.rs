//! A word after expansion: what is known of one argument.

use std::borrow::Cow;

use podward_policy::{HoleKind, Text, TextBuilder, literal_word, written_word};

use crate::syntax::Span;

/// One argument, as far as it is known before the run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Arg {
    parts: Vec<Part>,
    pub(crate) span: Span,
    /// Quotes behind a `[` that may begin a class: what they mean in it is not read.
    pub(crate) has_quoted_class: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    Known(String),
    /// A character of a file name pattern.
    Glob(char),
    /// `~` and what names its user.
    Tilde(String),
    Hole(HoleKind, Source),
}

/// Where the value of a hole comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// Nothing is known of it.
    Value,
    /// Digits, perhaps with a sign.
    Number,
    /// `$PWD`.
    WorkingDirectory,
    /// `<(…)`: a file that a command writes.
    Process,
}

/// The directories that a path may name without naming them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Directories<'a> {
    pub(crate) home: Option<&'a str>,
    pub(crate) working: Option<&'a str>,
}

impl Arg {
    pub(crate) fn known_text(text: &str, span: Span) -> Self {
        Self {
            parts: vec![Part::Known(text.to_owned())],
            ..Self::empty(span)
        }
    }

    pub(crate) fn hole(kind: HoleKind, span: Span) -> Self {
        Self {
            parts: vec![Part::Hole(kind, Source::Value)],
            ..Self::empty(span)
        }
    }

    pub(crate) const fn empty(span: Span) -> Self {
        Self {
            parts: Vec::new(),
            span,
            has_quoted_class: false,
        }
    }

    pub(crate) fn parts(&self) -> &[Part] {
        &self.parts
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    pub(crate) fn push(&mut self, part: Part) {
        match (self.parts.last_mut(), part) {
            (Some(Part::Known(last)), Part::Known(text)) => last.push_str(&text),
            // Quotes around nothing only matter where nothing else makes the word.
            (Some(Part::Known(last)), part) if last.is_empty() => {
                self.parts.pop();
                self.parts.push(part);
            }
            (Some(_), Part::Known(text)) if text.is_empty() => {}
            (_, part) => self.parts.push(part),
        }
    }

    pub(crate) fn append(&mut self, other: Self) {
        self.has_quoted_class |= other.has_quoted_class;
        for part in other.parts {
            self.push(part);
        }
    }

    /// The whole argument, if all of it is known.
    pub(crate) fn known(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Known(text)] => Some(text),
            _ => None,
        }
    }

    /// The known characters that it ends with.
    pub(crate) fn last_known(&self) -> &str {
        match self.parts.last() {
            Some(Part::Known(text)) => text,
            _ => "",
        }
    }

    /// The known characters that it begins with.
    pub(crate) fn prefix(&self) -> &str {
        match self.parts.first() {
            Some(Part::Known(text)) => text,
            _ => "",
        }
    }

    /// The argument without its first `n` known bytes.
    pub(crate) fn without_prefix(&self, n: usize) -> Self {
        let mut rest = self.clone();
        if let Some(Part::Known(text)) = rest.parts.first_mut() {
            *text = text.get(n..).unwrap_or_default().to_owned();
            if text.is_empty() && rest.parts.len() > 1 {
                rest.parts.remove(0);
            }
        }
        rest
    }

    /// Whether the shell may make other words of it: none, several, or ones that nobody wrote.
    pub(crate) fn may_split(&self) -> bool {
        self.parts
            .iter()
            .any(|part| matches!(part, Part::Hole(HoleKind::Unquoted | HoleKind::Anything, _)))
    }

    /// Whether nothing is known of how it begins: quotes keep it one word, and that may begin with `-`.
    pub(crate) fn begins_unknown(&self) -> bool {
        matches!(
            self.parts.first(),
            Some(Part::Hole(_, Source::Value | Source::Number))
        )
    }

    /// Whether it names the standard input.
    pub(crate) fn is_input(&self) -> bool {
        matches!(
            self.known(),
            Some("-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0")
        )
    }

    /// Whether it is a file that a command writes.
    pub(crate) fn is_process(&self) -> bool {
        self.parts
            .iter()
            .any(|part| matches!(part, Part::Hole(_, Source::Process)))
    }

    pub(crate) fn has_hole(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Hole(..)))
    }

    /// The whole argument with `0` in place of each number that is not known.
    pub(crate) fn known_but_for_numbers(&self) -> Option<String> {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Known(known) => text.push_str(known),
                Part::Glob(c) => text.push(*c),
                Part::Hole(_, Source::Number) => text.push('0'),
                Part::Tilde(_) | Part::Hole(..) => return None,
            }
        }
        (!self.parts.is_empty()).then_some(text)
    }

    /// The last component of the path that it names, if its beginning is known.
    pub(crate) fn last_component(&self) -> Option<Self> {
        let mut whole = self.clone();
        while let Some(Part::Known(text)) = whole.parts.last_mut() {
            let trimmed = text.trim_end_matches('/').len();
            if trimmed > 0 {
                text.truncate(trimmed);
                break;
            }
            whole.parts.pop();
        }
        let slash = whole
            .parts
            .iter()
            .enumerate()
            .rev()
            .find_map(|(n, part)| match part {
                Part::Known(text) => text.rfind('/').map(|at| (n, at)),
                _ => None,
            });
        let Some((n, at)) = slash else {
            // A value that is not known may hold a slash of its own.
            let begins_known = matches!(whole.parts.first(), Some(Part::Known(_) | Part::Glob(_)));
            return begins_known.then_some(whole);
        };
        let mut rest = Self::empty(self.span);
        if let Some(Part::Known(text)) = whole.parts.get(n) {
            rest.push(Part::Known(
                text.get(at + 1..).unwrap_or_default().to_owned(),
            ));
        }
        for part in whole.parts.iter().skip(n + 1) {
            rest.push(part.clone());
        }
        (!matches!(rest.known(), Some("" | "." | ".."))).then_some(rest)
    }

    /// The program that it names as a command word, if that is known before the run: as far as its name
    /// goes, if not its place.
    pub(crate) fn program(&self) -> Option<Cow<'_, str>> {
        if let Some(name) = self.known() {
            return (!name.is_empty()).then_some(Cow::Borrowed(name));
        }
        let mut name = String::new();
        let mut is_place = false;
        let mut opened = false;
        for part in &self.parts {
            match part {
                Part::Known(text) => {
                    if opened && text.contains(']') {
                        return None;
                    }
                    name.push_str(text);
                }
                Part::Glob('[') => {
                    opened = true;
                    name.push('[');
                }
                // Only its last part tells which program it is.
                Part::Tilde(user) => {
                    name.push('~');
                    name.push_str(user);
                }
                Part::Hole(HoleKind::Quoted, Source::WorkingDirectory) => {
                    name.push_str("$PWD");
                    is_place = true;
                }
                Part::Glob(_) | Part::Hole(..) => return None,
            }
        }
        let is_known = !is_place || self.last_known().contains('/');
        (is_known && !name.is_empty()).then_some(Cow::Owned(name))
    }

    /// Adds the text that rules for commands see: patterns and `~` as they are written.
    pub(crate) fn write(&self, text: TextBuilder) -> TextBuilder {
        if let [Part::Known(word)] = self.parts.as_slice() {
            return text.known(&written_word(word));
        }
        if !self.needs_quotes() {
            return self.write_bare(text);
        }
        if !self.has_hole() {
            let all: String = self.parts.iter().map(Part::shown).collect();
            return text.known(&written_word(&all));
        }
        let mut text = text.known("'");
        for part in &self.parts {
            text = match part {
                Part::Hole(kind, _) => text.hole(*kind),
                part => text.known(&part.shown().replace('\'', "'\\''")),
            };
        }
        text.known("'")
    }

    /// Whether the shell makes something else of it than its characters, as far as it is known.
    pub(crate) fn is_expanded(&self) -> bool {
        let mut parts = self.parts.iter();
        parts.any(|part| matches!(part, Part::Glob(_) | Part::Tilde(_)))
    }

    /// As a shell has to be given it; `None`: that is not known.
    pub(crate) fn spelled(&self) -> Option<String> {
        if self.has_quoted_class {
            return None;
        }
        let mut spelled = String::new();
        let mut is_class = false;
        for part in &self.parts {
            is_class |= *part == Part::Glob('[');
            match part {
                Part::Known(text) if text.is_empty() || is_class => spelled.push_str(text),
                Part::Known(text) => spelled.push_str(&literal_word(text)),
                Part::Glob(_) | Part::Tilde(_) => spelled.push_str(&part.shown()),
                Part::Hole(..) => return None,
            }
        }
        Some(spelled)
    }

    /// About how long its text is.
    pub(crate) fn len(&self) -> usize {
        let len = |part: &Part| match part {
            Part::Known(text) => text.len(),
            Part::Glob(_) => 1,
            Part::Tilde(user) => 1 + user.len(),
            Part::Hole(..) => 0,
        };
        self.parts.iter().map(len).sum()
    }

    /// Whether [`Arg::write`] puts quotes around it.
    pub(crate) fn needs_quotes(&self) -> bool {
        if matches!(self.parts.as_slice(), [Part::Hole(..)]) {
            return false;
        }
        let mut is_empty = true;
        for part in &self.parts {
            let shown = match part {
                Part::Known(text) | Part::Tilde(text) => text,
                Part::Glob(_) => "*",
                Part::Hole(..) => "",
            };
            if shown.contains([' ', '\t', '\n', '\'', '"']) {
                return true;
            }
            is_empty &= shown.is_empty() && !matches!(part, Part::Tilde(_));
        }
        is_empty
    }

    /// The same without quotes.
    pub(crate) fn write_bare(&self, mut text: TextBuilder) -> TextBuilder {
        for part in &self.parts {
            text = match part {
                Part::Hole(kind, _) => text.hole(*kind),
                Part::Known(known) => text.known(known),
                Part::Glob(c) => text.known(c.encode_utf8(&mut [0; 4])),
                Part::Tilde(user) => text.known("~").known(user),
            };
        }
        text
    }

    /// The path that it names; nothing if no character of it is known.
    pub(crate) fn path(&self, directories: Directories<'_>) -> Option<Text> {
        if let [Part::Known(known)] = self.parts.as_slice()
            && !known.is_empty()
            && !known.starts_with('~')
        {
            return Some(Text::known(known.as_str()));
        }
        let mut text = TextBuilder::new();
        let mut is_known = false;
        let mut parts = self.parts.iter();
        // A `~` that was quoted is a name, not a home.
        if self.prefix().starts_with('~') {
            text = text.known("./");
        }
        while let Some(part) = parts.next() {
            match part {
                Part::Known(known) => {
                    is_known |= !known.is_empty();
                    text = text.known(known);
                }
                Part::Glob('[') if closes(parts.as_slice()) => {
                    is_known = true;
                    text = text.hole(HoleKind::FileGlob);
                    text = text.known(&skip_class(&mut parts));
                }
                Part::Glob('[') => text = text.known("["),
                Part::Glob(_) => {
                    is_known = true;
                    text = text.hole(HoleKind::FileGlob);
                }
                Part::Tilde(user) => match (user.as_str(), directories) {
                    (
                        "",
                        Directories {
                            home: Some(dir), ..
                        },
                    )
                    | (
                        "+",
                        Directories {
                            working: Some(dir), ..
                        },
                    ) => {
                        is_known = true;
                        text = text.known(dir);
                    }
                    _ => text = text.hole(HoleKind::Quoted),
                },
                Part::Hole(kind, source) => match (source, directories.working) {
                    (Source::WorkingDirectory, Some(dir)) => {
                        is_known = true;
                        text = text.known(dir);
                    }
                    _ => text = text.hole(*kind),
                },
            }
        }
        is_known.then(|| text.build())
    }
}

impl Part {
    fn shown(&self) -> String {
        match self {
            Self::Known(text) => text.clone(),
            Self::Glob(c) => c.to_string(),
            Self::Tilde(user) => format!("~{user}"),
            Self::Hole(..) => String::new(),
        }
    }
}

/// Whether a character class that opened is closed in the same path component.
fn closes(rest: &[Part]) -> bool {
    for part in rest {
        match part {
            Part::Known(text) => {
                if let Some(at) = text.find([']', '/']) {
                    return text.get(at..).is_some_and(|t| t.starts_with(']'));
                }
            }
            Part::Glob(_) => {}
            Part::Tilde(_) | Part::Hole(..) => return false,
        }
    }
    false
}

/// Skips a character class; what follows it in its part.
fn skip_class(parts: &mut std::slice::Iter<'_, Part>) -> String {
    for part in parts.by_ref() {
        if let Part::Known(text) = part
            && let Some((_, after)) = text.split_once(']')
        {
            return after.to_owned();
        }
    }
    String::new()
}
