//! Patterns for paths (D3.4, D4.3).

use crate::action::Action;
use crate::operation::{PathForm, PathSubject};
use crate::pattern::{Glob, Hit, Shape, Token};
use crate::rule::{Operand, has_expansion};
use crate::text::Text;
use crate::work::{Exhausted, Work};

/// A pattern for paths.
#[derive(Debug, Clone)]
pub(crate) struct PathPattern {
    pub(crate) glob: Glob,
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

impl PathPattern {
    pub(crate) fn new(tokens: &[Token], action: Action) -> Self {
        let anchor = match tokens {
            [Token::Char('/'), ..] => Anchor::Root,
            [Token::Char('~')] | [Token::Char('~'), Token::Char('/'), ..] => Anchor::Home,
            _ => Anchor::Workspace,
        };
        let n_optional = match action {
            Action::Allow => 0,
            Action::Ask | Action::Deny => n_below(tokens),
        };
        Self {
            glob: Glob::with_optional_end(tokens.to_vec(), n_optional),
            anchor,
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
                    self.glob.hit(&Shape::path_from_root(text), work)?
                }
            };
            least = least.min(hit);
        }
        Ok(least)
    }

    /// A deny or an ask matches any spelling, in any case.
    pub(crate) fn hit_any_spelling(
        &self,
        path: &PathSubject,
        operand: Operand,
        work: &mut Work,
    ) -> Result<Hit, Exhausted> {
        let forms = std::iter::once(&path.lexical)
            .chain(&path.resolved)
            .chain(&path.further);
        let mut best = Hit::No;
        for form in forms {
            for text in [Some(&form.short), Some(&form.absolute), form.home.as_ref()] {
                let Some(text) = text else { continue };
                let fold = 0..text.known_part().len();
                let hit = operand.count(self.glob.hit_text(text, &fold, work), text);
                if hit == Hit::Must {
                    return Ok(hit);
                }
                best = best.max(hit);
            }
        }
        Ok(best)
    }
}

impl Anchor {
    fn text_of(self, form: &PathForm) -> Option<&Text> {
        match self {
            Self::Workspace => Some(&form.short),
            Self::Root => Some(&form.absolute),
            Self::Home => form.home.as_ref(),
        }
    }
}

/// Whether nothing of an operand is known: it tightens nothing (D2.4).
pub(crate) fn tightens_nothing(path: &PathSubject) -> bool {
    let text = &path.lexical.short;
    text.known_part().is_empty() && has_expansion(text)
}

/// Tokens at the end that stand for what is below a directory, from the `/` on.
fn n_below(tokens: &[Token]) -> usize {
    let n_stars = tokens
        .iter()
        .rev()
        .take_while(|token| matches!(token, Token::Star | Token::Directories))
        .count();
    let before = tokens.len() - n_stars;
    match tokens.get(..before) {
        Some([.., Token::Char('/')]) if n_stars > 0 => n_stars + 1,
        _ => 0,
    }
}
