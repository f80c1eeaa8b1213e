//! A compiled glob: the text that was written, where that is enough, else its tokens.

use std::borrow::Cow;

use super::automaton::Automaton;
use super::segments::Segments;
use super::{Bounds, Fold, Hit, Shape, Token, fold, written};
use crate::text::Text;
use crate::work::{Exhausted, Work};

/// A compiled glob.
#[derive(Debug, Clone)]
pub(crate) struct Glob<'a>(Source<'a>);

#[derive(Debug, Clone)]
enum Source<'a> {
    /// Read as it is written.
    Written {
        text: &'a str,
        /// Bytes of it without the end that may be missing.
        n_needed: usize,
    },
    Borrowed(&'a Tokens),
    Owned(Box<Tokens>),
}

/// A glob in tokens, ready to match known texts.
#[derive(Debug, Clone)]
pub(crate) struct Tokens {
    tokens: Box<[Token]>,
    /// `None`: a quoted word with wildcards needs the automaton for known texts too.
    segments: Option<Segments>,
    /// Tokens at the end that may be missing altogether (D4.2, D4.3).
    n_optional: usize,
    /// The pattern without them.
    shorter: Option<Segments>,
}

/// A glob that owns what it is made of, in as few bytes as it can.
#[derive(Debug, Clone)]
pub(crate) enum Kept {
    Written(Box<str>),
    Tokens(Box<Tokens>),
}

impl Kept {
    /// A glob without an end that may be missing.
    pub(crate) fn new(tokens: Vec<Token>) -> Self {
        match text_of(&tokens) {
            Some(text) => Self::Written(text.into_boxed_str()),
            None => Self::Tokens(Box::new(Tokens::new(tokens, 0))),
        }
    }

    pub(crate) fn glob(&self) -> Glob<'_> {
        match self {
            Self::Written(text) => Glob::written(text),
            Self::Tokens(tokens) => tokens.glob(),
        }
    }
}

/// Tokens as a pattern that is read as it is written; `None` if it would not be read as these.
fn text_of(tokens: &[Token]) -> Option<String> {
    let mut text = String::with_capacity(tokens.len());
    for token in tokens {
        text.push(match token {
            Token::Char('*' | '?' | '[') => return None,
            Token::Char(c) => *c,
            Token::Any => '?',
            Token::Star if text.ends_with('*') => return None,
            Token::Star => '*',
            Token::Directories | Token::Class(_) | Token::Word(_) => return None,
        });
    }
    Some(text)
}

impl Tokens {
    pub(crate) fn new(tokens: Vec<Token>, n_optional: usize) -> Self {
        let n_optional = n_optional.min(tokens.len());
        let needed = tokens.get(..tokens.len() - n_optional);
        Self {
            segments: Segments::new(&tokens),
            shorter: needed.filter(|_| n_optional > 0).and_then(Segments::new),
            n_optional,
            tokens: tokens.into_boxed_slice(),
        }
    }

    pub(crate) const fn glob(&self) -> Glob<'_> {
        Glob(Source::Borrowed(self))
    }

    pub(crate) fn into_glob(self) -> Glob<'static> {
        Glob(Source::Owned(Box::new(self)))
    }
}

impl Glob<'static> {
    pub(crate) fn new(tokens: Vec<Token>) -> Self {
        Self::with_optional_end(tokens, 0)
    }

    /// The same pattern, where the last `n_optional` tokens may also be missing.
    pub(crate) fn with_optional_end(tokens: Vec<Token>, n_optional: usize) -> Self {
        Self(Source::Owned(Box::new(Tokens::new(tokens, n_optional))))
    }
}

impl<'a> Glob<'a> {
    /// A pattern that is read as it is written.
    pub(crate) const fn written(text: &'a str) -> Self {
        Self::written_with_optional_end(text, text.len())
    }

    /// The same, where all but the first `n_needed` bytes may also be missing: wildcards and ASCII
    /// characters only.
    pub(crate) const fn written_with_optional_end(text: &'a str, n_needed: usize) -> Self {
        Self(Source::Written { text, n_needed })
    }

    fn kept(&self) -> Result<&Tokens, (&'a str, usize)> {
        match &self.0 {
            Source::Written { text, n_needed } => Err((text, *n_needed)),
            Source::Borrowed(tokens) => Ok(tokens),
            Source::Owned(tokens) => Ok(tokens),
        }
    }

    pub(crate) fn tokens(&self) -> Cow<'_, [Token]> {
        match self.kept() {
            Ok(kept) => Cow::Borrowed(&kept.tokens),
            Err((text, _)) => Cow::Owned(written::tokens(text)),
        }
    }

    /// How many tokens at the end may be missing.
    pub(crate) fn n_optional(&self) -> usize {
        match self.kept() {
            Ok(kept) => kept.n_optional,
            Err((text, n_needed)) if n_needed == text.len() => 0,
            Err((text, n_needed)) => {
                let needed = text.get(..n_needed).unwrap_or_default();
                written::tokens(text).len() - written::tokens(needed).len()
            }
        }
    }

    /// The characters before the first wildcard, as far as each text has them.
    pub(crate) fn needed_prefix(&self) -> Cow<'_, str> {
        match self.kept() {
            Ok(kept) => {
                let n_needed = kept.tokens.len() - kept.n_optional;
                let needed = kept.tokens.iter().take(n_needed);
                Cow::Owned(needed.map_while(Token::literal).collect())
            }
            Err((text, n_needed)) => {
                let needed = text.get(..n_needed).unwrap_or_default();
                let end = needed.find(['*', '?']).unwrap_or(needed.len());
                Cow::Borrowed(needed.get(..end).unwrap_or_default())
            }
        }
    }

    /// The pattern, and what of it must be there, if it is read as it is written.
    pub(crate) fn as_written(&self) -> Option<(&str, &str)> {
        match self.kept() {
            Ok(_) => None,
            Err((text, n_needed)) => Some((text, text.get(..n_needed)?)),
        }
    }

    /// Bytes of known text before the first wildcard.
    pub(crate) fn n_literal_prefix(&self) -> usize {
        match self.kept() {
            Ok(kept) => {
                let literals = kept.tokens.iter().map_while(Token::literal);
                literals.map(char::len_utf8).sum()
            }
            Err((text, _)) => text.find(['*', '?']).unwrap_or(text.len()),
        }
    }

    /// Whether no text that begins like this can match, whatever the case of its letters.
    pub(crate) fn differs_at_start(&self, start: &str, work: &mut Work) -> Result<bool, Exhausted> {
        let same = |p: char, c: char| fold::Case::Ignored.same(p, c);
        match self.kept() {
            Ok(kept) => {
                for (token, c) in kept.tokens.iter().zip(start.chars()) {
                    work.spend(1)?;
                    match token {
                        Token::Char(p) if same(*p, c) => {}
                        Token::Char(_) => return Ok(true),
                        Token::Any | Token::Class(_) => {}
                        Token::Star | Token::Directories | Token::Word(_) => return Ok(false),
                    }
                }
            }
            Err((text, _)) => {
                for (p, c) in text.chars().zip(start.chars()) {
                    work.spend(1)?;
                    match p {
                        '*' => return Ok(false),
                        '?' => {}
                        p if same(p, c) => {}
                        _ => return Ok(true),
                    }
                }
            }
        }
        Ok(false)
    }

    /// The first two tokens; of a `**` no more than that it is a wildcard.
    pub(crate) fn first_two(&self) -> [Option<Token>; 2] {
        match self.kept() {
            Ok(kept) => [0, 1].map(|idx| kept.tokens.get(idx).cloned()),
            Err((text, _)) => {
                let mut chars = text.chars().map(|c| match c {
                    '*' => Token::Star,
                    '?' => Token::Any,
                    c => Token::Char(c),
                });
                [chars.next(), chars.next()]
            }
        }
    }

    /// Whether the pattern begins with a run of any characters.
    pub(crate) fn is_floating(&self) -> bool {
        match self.kept() {
            Ok(kept) => matches!(kept.tokens.first(), Some(Token::Star | Token::Directories)),
            Err((text, _)) => text.starts_with('*'),
        }
    }

    /// Matches a text that is known to the last character.
    pub(crate) fn matches(
        &self,
        text: &str,
        fold: &Fold,
        work: &mut Work,
    ) -> Result<bool, Exhausted> {
        match self.kept() {
            Ok(kept) => match &kept.segments {
                Some(segments) => Ok(segments.matches(text, fold, work)?
                    || match &kept.shorter {
                        Some(shorter) => shorter.matches(text, fold, work)?,
                        None => false,
                    }),
                None => self.automaton().matches(text, fold, work),
            },
            Err((pattern, n_needed)) => {
                if written::matches(pattern, text, fold, work)? {
                    return Ok(true);
                }
                match pattern.get(..n_needed) {
                    Some(shorter) if n_needed < pattern.len() => {
                        written::matches(shorter, text, fold, work)
                    }
                    _ => Ok(false),
                }
            }
        }
    }

    /// Matches a known text up to one of these bytes.
    pub(crate) fn matches_head(
        &self,
        text: &str,
        heads: &[usize],
        work: &mut Work,
    ) -> Result<bool, Exhausted> {
        match heads {
            [] => Ok(false),
            heads => self.automaton().matches_head(text, heads, work),
        }
    }

    /// Matches a shape: a text with holes, in all the ways in which it may be written.
    pub(crate) fn hit(
        &self,
        shape: &Shape,
        bounds: Bounds,
        work: &mut Work,
    ) -> Result<Hit, Exhausted> {
        let automaton = self.automaton_for(work)?;
        if bounds.most == Hit::Must && automaton.must_match(shape, work)? {
            return Ok(Hit::Must);
        }
        let may_match = bounds.least == Hit::May || automaton.may_match(shape, work)?;
        Ok(match may_match {
            true => Hit::May,
            false => Hit::No,
        })
    }

    /// As [`Glob::hit`], but a hole that [`Shape`] exempts does not by itself count as a possible
    /// match (the exception of D3.2).
    pub(crate) fn hit_beyond_exempt(
        &self,
        shape: &Shape,
        bounds: Bounds,
        work: &mut Work,
    ) -> Result<Hit, Exhausted> {
        let automaton = self.automaton_for(work)?;
        if bounds.most == Hit::Must && automaton.must_match(shape, work)? {
            return Ok(Hit::Must);
        }
        let may_match =
            bounds.least == Hit::May || automaton.may_match_beyond_exempt(shape, work)?;
        Ok(match may_match {
            true => Hit::May,
            false => Hit::No,
        })
    }

    /// Matches a text whose words have no meaning: anything may stand in its holes, except in
    /// those of a file name pattern.
    pub(crate) fn hit_text(&self, text: &Text, fold: &Fold, work: &mut Work) -> Hit {
        let found = match text.as_known() {
            Some(known) => self.matches(known, fold, work).map(Hit::certain),
            None => self.hit_holes(text, fold, work),
        };
        Hit::or_may(found)
    }

    /// The same of a text with holes.
    pub(crate) fn hit_holes(
        &self,
        text: &Text,
        fold: &Fold,
        work: &mut Work,
    ) -> Result<Hit, Exhausted> {
        if self.differs_at_start(text.known_start(), work)? {
            return Ok(Hit::No);
        }
        work.spend(text.known_part().len())?;
        let bounds = self.bounds(text, |_| true, work)?;
        match bounds.settled() {
            Some(hit) => Ok(hit),
            None => self.hit(&Shape::plain(text, fold), bounds, work),
        }
    }

    /// The automaton, at the price of making it.
    fn automaton_for(&self, work: &mut Work) -> Result<Automaton, Exhausted> {
        let tokens = self.tokens();
        work.spend(tokens.len())?;
        Ok(Automaton::new(&tokens, self.n_optional()))
    }

    pub(crate) fn automaton(&self) -> Automaton {
        Automaton::new(&self.tokens(), self.n_optional())
    }
}
