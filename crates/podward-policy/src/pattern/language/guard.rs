//! The texts that operations have: a search for a text stays among them.

/// Which texts there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guard {
    /// Any text.
    Any,
    /// Commands as they are written: words with one blank between two, a word in single quotes
    /// exactly where it needs them (D3.1).
    Command,
    /// Paths in their normal form (D4.3).
    Path,
    /// Canonical URLs with a host (D4.4).
    Url,
    /// What begins and ends as a JSON object does.
    Object,
}

/// Places of the guards. One list for all: each uses some.
const BEGIN: u8 = 0;
const IN_WORD: u8 = 1;
const QUOTE_OPEN: u8 = 2;
const IN_QUOTES: u8 = 3;
const QUOTES_NEEDED: u8 = 4;
const QUOTE_CLOSED: u8 = 5;
const QUOTE_ESCAPE: u8 = 6;
const QUOTE_ESCAPED: u8 = 7;
const QUOTE_MUST_GO_ON: u8 = 8;
const AFTER_BLANK: u8 = 9;
const DOT: u8 = 10;
const DOT_DOT: u8 = 11;
const ROOT: u8 = 12;
const AFTER_SLASH: u8 = 13;
const ONLY_DOT: u8 = 14;
const SCHEME: u8 = 15;
const COLON: u8 = 16;
const SLASH: u8 = 17;
const HOST_BEGIN: u8 = 18;
const HOST: u8 = 19;
const AFTER_HOST: u8 = 20;
const OBJECT: u8 = 21;
const OBJECT_END: u8 = 22;

impl Guard {
    pub(crate) const START: u8 = BEGIN;

    /// Characters that a guard tells from all others.
    pub(super) const LITERALS: &[char] = &[
        ' ', '\t', '\n', '\'', '"', '\\', '/', '.', ':', '{', '}', '~',
    ];

    /// Where what a guard tells apart begins.
    pub(super) const EDGES: &[char] = &['\0', '\u{1}', '!', '\u{7f}', '\u{80}', '\u{e000}'];

    /// What guards tell of a character that is no literal of theirs.
    pub(super) fn kind(c: char) -> [bool; 5] {
        [
            c == '\0',
            c.is_ascii_graphic(),
            is_of_host(c),
            c.is_ascii_lowercase(),
            c.is_ascii_digit(),
        ]
    }

    pub(super) fn step(self, at: u8, c: char) -> Option<u8> {
        if c == '\0' {
            return None;
        }
        match self {
            Self::Any => Some(IN_WORD),
            Self::Command => command(at, c),
            Self::Path => path(at, c),
            Self::Url => url(at, c),
            Self::Object => object(at, c),
        }
    }

    /// Whether a text is one of them.
    pub(crate) fn has(self, text: &str) -> bool {
        let mut chars = text.chars();
        let end = chars.try_fold(Self::START, |at, c| self.step(at, c));
        end.is_some_and(|at| self.accepts(at))
    }

    pub(super) const fn accepts(self, at: u8) -> bool {
        match self {
            Self::Any => at != BEGIN,
            Self::Command => matches!(at, IN_WORD | QUOTE_CLOSED),
            Self::Path => matches!(at, IN_WORD | ROOT | ONLY_DOT),
            Self::Url => at == AFTER_HOST,
            Self::Object => at == OBJECT_END,
        }
    }
}

const fn command(at: u8, c: char) -> Option<u8> {
    let needs_quotes = matches!(c, ' ' | '\t' | '\n' | '"');
    match (at, c) {
        (BEGIN | AFTER_BLANK, '\'') => Some(QUOTE_OPEN),
        (BEGIN | AFTER_BLANK | IN_WORD, _) if !needs_quotes && c != '\'' => Some(IN_WORD),
        (IN_WORD | QUOTE_CLOSED, ' ') => Some(AFTER_BLANK),
        // An empty word is written in quotes; one without need for them is not.
        (QUOTE_OPEN | QUOTES_NEEDED, '\'') => Some(QUOTE_CLOSED),
        (IN_QUOTES, '\'') => Some(QUOTE_MUST_GO_ON),
        (QUOTE_CLOSED | QUOTE_MUST_GO_ON, '\\') => Some(QUOTE_ESCAPE),
        (QUOTE_ESCAPE, '\'') => Some(QUOTE_ESCAPED),
        (QUOTE_ESCAPED, '\'') => Some(QUOTES_NEEDED),
        (QUOTE_OPEN | IN_QUOTES | QUOTES_NEEDED, _) if needs_quotes => Some(QUOTES_NEEDED),
        (QUOTE_OPEN | IN_QUOTES, _) => Some(IN_QUOTES),
        (QUOTES_NEEDED, _) => Some(QUOTES_NEEDED),
        _ => None,
    }
}

const fn path(at: u8, c: char) -> Option<u8> {
    match (at, c) {
        (BEGIN, '/') => Some(ROOT),
        (BEGIN, '.') => Some(ONLY_DOT),
        (ROOT | AFTER_SLASH, '.') => Some(DOT),
        (DOT | ONLY_DOT, '.') => Some(DOT_DOT),
        (IN_WORD, '/') => Some(AFTER_SLASH),
        (_, '/') => None,
        _ => Some(IN_WORD),
    }
}

fn url(at: u8, c: char) -> Option<u8> {
    match (at, c) {
        (BEGIN, 'a'..='z') => Some(SCHEME),
        (SCHEME, 'a'..='z' | '0'..='9' | '+' | '-' | '.') => Some(SCHEME),
        (SCHEME, ':') => Some(COLON),
        (COLON, '/') => Some(SLASH),
        (SLASH, '/') => Some(HOST_BEGIN),
        (HOST_BEGIN | HOST, _) if is_of_host(c) => Some(HOST),
        (HOST, '.' | ':') => Some(HOST),
        (HOST, '/') => Some(AFTER_HOST),
        (AFTER_HOST, _) if c.is_ascii_graphic() => Some(AFTER_HOST),
        _ => None,
    }
}

const fn object(at: u8, c: char) -> Option<u8> {
    match (at, c) {
        (BEGIN, '{') => Some(OBJECT),
        (OBJECT | OBJECT_END, '}') => Some(OBJECT_END),
        (OBJECT | OBJECT_END, _) => Some(OBJECT),
        _ => None,
    }
}

fn is_of_host(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '[' || c == ']'
}
