//! Patterns for paths (D3.4, D4.3).

use crate::action::Action;
use crate::operation::{PathForm, PathSubject};
use crate::pattern::{Bounds, Glob, Hit, Shape, Token};
use crate::rule::{Operand, has_expansion};
use crate::text::{HoleKind, Text, TextBuilder};
use crate::work::{Exhausted, Work};

/// A pattern for paths.
#[derive(Debug, Clone)]
pub(crate) struct PathPattern<'a> {
    pub(crate) glob: Glob<'a>,
    pub(crate) anchor: Anchor,
}

/// Which form of a path a pattern is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    /// Relative inside the workspace, absolute outside.
    Workspace,
    /// Absolute: the pattern begins with `/`.
    Root,
    /// From the home directory: the pattern begins with `~/`.
    Home,
}

impl<'a> PathPattern<'a> {
    pub(crate) fn new(glob: Glob<'a>) -> Self {
        Self {
            anchor: Anchor::of(&glob),
            glob,
        }
    }

    /// An allow must match the form it is compared with, lexical and resolved.
    pub(crate) fn hit_every_form(
        &self,
        path: &PathSubject,
        work: &mut Work,
    ) -> Result<Hit, Exhausted> {
        let mut least = Hit::Must;
        for form in std::iter::once(&path.lexical).chain(&path.resolved) {
            let Some(text) = self.anchor.text_of(form) else {
                return Ok(Hit::No);
            };
            let hit = match text.as_known() {
                Some(known) => match self.glob.matches(known, &(0..0), work)? {
                    true => Hit::Must,
                    false => Hit::No,
                },
                None => {
                    work.spend(text.known_part().len())?;
                    let bounds = self.glob.bounds(text, |_| true, work)?;
                    match bounds.settled() {
                        Some(hit) => hit,
                        None => self.glob.hit(&Shape::path_from_root(text), bounds, work)?,
                    }
                }
            };
            least = least.min(hit);
        }
        Ok(least)
    }

    /// An allow covers a tree if it matches every path below it, lexical and resolved.
    pub(crate) fn hit_all_below(
        &self,
        tree: &PathSubject,
        work: &mut Work,
    ) -> Result<Hit, Exhausted> {
        let mut least = Hit::Must;
        for form in std::iter::once(&tree.lexical).chain(&tree.resolved) {
            let Some(text) = self.anchor.text_of(form) else {
                return Ok(Hit::No);
            };
            work.spend(text.known_part().len())?;
            least = least.min(self.glob.hit_holes(&below(text), &(0..0), work)?);
        }
        // What is not covered as a whole is decided by what comes later.
        Ok(match least {
            Hit::Must => Hit::Must,
            Hit::May | Hit::No => Hit::No,
        })
    }

    /// A deny or an ask meets a tree if what it names begins below the directory; a pattern that
    /// begins with a wildcard names nothing there in particular.
    pub(crate) fn hit_below(&self, tree: &PathSubject, work: &mut Work) -> Result<Hit, Exhausted> {
        if self.glob.is_floating() {
            return Ok(Hit::No);
        }
        let named: String = self
            .glob
            .tokens()
            .iter()
            .map_while(Token::literal)
            .collect();
        if named.is_empty() {
            return Ok(Hit::No);
        }
        let n_named = named.chars().count();
        let is_relative = self.anchor == Anchor::Workspace;
        let mut best = Hit::No;
        for text in tree.forms().flat_map(PathForm::texts) {
            let hit = match text.as_known() {
                Some(HERE) if is_relative => Hit::Must,
                Some(directory) => {
                    let is_inside = directory.chars().count() <= n_named
                        && !self.glob.differs_at_start(directory, work)?;
                    Hit::certain(is_inside)
                }
                None if has_expansion(text) => Hit::No,
                None => begins_below_some(text, &named, work)?,
            };
            if hit == Hit::Must {
                return Ok(hit);
            }
            best = best.max(hit);
        }
        Ok(best)
    }

    /// A deny or an ask matches any spelling, in any case.
    pub(crate) fn hit_any_spelling(
        &self,
        path: &PathSubject,
        operand: Operand,
        work: &mut Work,
    ) -> Result<Hit, Exhausted> {
        let mut best = Hit::No;
        for text in path.forms().flat_map(PathForm::texts) {
            let Bounds { most, .. } = self.glob.bounds(text, |_| true, work)?;
            if operand.count(most, text) <= best {
                continue;
            }
            let fold = 0..text.known_part().len();
            let hit = operand.count(self.glob.hit_text(text, &fold, work), text);
            if hit == Hit::Must {
                return Ok(hit);
            }
            best = best.max(hit);
        }
        Ok(best)
    }
}

impl Anchor {
    /// The anchor of a pattern.
    fn of(glob: &Glob<'_>) -> Self {
        match glob.first_two() {
            [Some(Token::Char('/')), _] => Self::Root,
            [Some(Token::Char('~')), None | Some(Token::Char('/'))] => Self::Home,
            _ => Self::Workspace,
        }
    }

    fn text_of(self, form: &PathForm) -> Option<&Text> {
        match self {
            Self::Workspace => Some(&form.short),
            Self::Root => Some(&form.absolute),
            Self::Home => form.home.as_ref(),
        }
    }
}

/// Any path below the directory of a tree.
pub(crate) fn below(directory: &Text) -> Text {
    let front = match directory.as_known() {
        Some(HERE) => TextBuilder::new(),
        _ => TextBuilder::new().text(directory),
    };
    front.hole(HoleKind::Anything).build()
}

/// The workspace, as the directory of a tree.
const HERE: &str = "./";

/// Whether a name begins below a directory of which a file name pattern is a part.
fn begins_below_some(directory: &Text, named: &str, work: &mut Work) -> Result<Hit, Exhausted> {
    let fold = 0..directory.known_part().len();
    for (at, _) in named.match_indices('/').take(MOST_DIRECTORIES) {
        let front = named.get(..=at).unwrap_or_default();
        work.spend(front.len())?;
        let glob = Glob::new(front.chars().map(Token::Char).collect());
        if glob.hit_text(directory, &fold, work) != Hit::No {
            return Ok(Hit::May);
        }
    }
    Ok(Hit::No)
}

/// As many directories of a pattern as are compared with a tree that is known in part.
const MOST_DIRECTORIES: usize = 32;

/// Whether nothing of an operand is known: it tightens nothing (D2.4).
pub(crate) fn tightens_nothing(path: &PathSubject) -> bool {
    let text = &path.lexical.short;
    text.known_part().is_empty() && has_expansion(text)
}

/// Tokens at the end that stand for what is below a directory, from the `/` on, where a rule of
/// this action also matches the directory itself.
pub(crate) fn n_below_tokens(tokens: &[Token], action: Action) -> usize {
    let n_stars = tokens
        .iter()
        .rev()
        .take_while(|token| matches!(token, Token::Star | Token::Directories))
        .count();
    let before = tokens.len() - n_stars;
    match (action, tokens.get(..before)) {
        (Action::Allow, _) => 0,
        (Action::Ask | Action::Deny, Some([.., Token::Char('/')])) if n_stars > 0 => n_stars + 1,
        (Action::Ask | Action::Deny, _) => 0,
    }
}

/// The same in bytes of a pattern that is read as it is written.
pub(crate) fn n_below(pattern: &str, action: Action) -> u16 {
    let end = pattern.as_bytes();
    // `/*` and `/**` are almost all; `**/` in front of them belongs to them.
    let before = end.strip_suffix(b"/*").or_else(|| end.strip_suffix(b"/**"));
    let (Some(mut before), Action::Ask | Action::Deny) = (before, action) else {
        return 0;
    };
    while let Some(shorter) = before.strip_suffix(b"/**") {
        before = shorter;
    }
    // All stars: there is no directory that they would be below.
    match before {
        b"**" => 0,
        before => u16::try_from(end.len() - before.len()).unwrap_or(0),
    }
}
