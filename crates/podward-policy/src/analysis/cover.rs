//! What earlier rules leave to a rule, of the texts as they are written.

use super::sample::samples;
use super::view::{View, guard};
use super::{AsWritten, Effort, LayerAnalysis, Overlap};
use crate::action::Action;
use crate::compile::{Domain, domain_of};
use crate::pattern::language::{Found, Guard, Language, Question, find};
use crate::rule::Rule;
use crate::tool::{ToolName, ToolOrigin};
use crate::verdict::RuleIdx;

/// As many texts as are shown of a rule.
const MOST_TEXTS: usize = 8;

impl LayerAnalysis<'_> {
    /// What earlier rules leave to a rule of the texts of a tool. Of an allow for URLs a text may
    /// be one that it does not cover after all (D4.4).
    #[must_use]
    pub fn as_written(&self, idx: RuleIdx, tool: &ToolName, effort: &mut Effort) -> AsWritten {
        let (Some((rule, view)), Some(domain)) = (self.at(idx), domain_of(tool)) else {
            return AsWritten::Undecided;
        };
        if domain == Domain::Command && sees_lines(rule) {
            // Whole lines: no rule for their parts decides them.
            return AsWritten::Open(samples(&view.plain, domain));
        }
        let before = self.languages_before(idx, tool, domain);
        let inside = view.of(domain);
        let outside: Vec<&Language> = before
            .into_iter()
            .filter(|early| !early.is_apart_from(inside))
            .collect();
        let question = Question {
            inside: &[inside],
            outside: &outside,
            guard: guard_of(tool, domain),
        };
        let texts = those_of(&question, samples(inside, domain));
        if !texts.is_empty() {
            return AsWritten::Open(texts);
        }
        match find(&question, effort) {
            Found::Text(text) => AsWritten::Open(vec![text]),
            Found::Open => AsWritten::Undecided,
            Found::None if outside.is_empty() => AsWritten::Empty,
            Found::None => {
                let question = Question {
                    outside: &[],
                    ..question
                };
                match find(&question, effort) {
                    Found::None => AsWritten::Empty,
                    Found::Text(_) => AsWritten::Covered,
                    Found::Open => AsWritten::Undecided,
                }
            }
        }
    }

    /// Rules before one that decide texts which it matches, each with such a text.
    #[must_use]
    pub fn deciding_before(
        &self,
        idx: RuleIdx,
        tool: &ToolName,
        effort: &mut Effort,
    ) -> Vec<(RuleIdx, String)> {
        let (Some((_, view)), Some(domain)) = (self.at(idx), domain_of(tool)) else {
            return Vec::new();
        };
        let inside = view.of(domain);
        let mut found: Vec<(RuleIdx, String)> = Vec::new();
        let mut outside: Vec<&Language> = Vec::new();
        for (early_idx, early_rule, early) in self.before(idx, tool) {
            let Some(language) = compared(early_rule, early, self.at(idx), domain) else {
                continue;
            };
            if language.is_apart_from(inside) {
                continue;
            }
            let question = Question {
                inside: &[inside, language],
                outside: &outside,
                guard: guard_of(tool, domain),
            };
            if let Found::Text(text) = one_of(&question, samples(inside, domain), effort) {
                found.push((early_idx, text));
            }
            outside.push(language);
            if found.len() == MOST_TEXTS {
                break;
            }
        }
        found
    }

    /// What a rule and an earlier one are both about, of the texts of a tool.
    #[must_use]
    pub fn overlap(
        &self,
        idx: RuleIdx,
        early_idx: RuleIdx,
        tool: &ToolName,
        effort: &mut Effort,
    ) -> Overlap {
        let (Some((_, view)), Some((early_rule, early)), Some(domain)) =
            (self.at(idx), self.at(early_idx), domain_of(tool))
        else {
            return Overlap::Undecided;
        };
        let is_about = early_rule.tool().matches(tool, early_rule.action);
        let language = compared(early_rule, early, self.at(idx), domain);
        let (true, Some(language)) = (is_about, language) else {
            return Overlap::None;
        };
        let inside = view.of(domain);
        if language.is_apart_from(inside) {
            return Overlap::None;
        }
        let guard = guard_of(tool, domain);
        let before = self.languages_before(early_idx, tool, domain);
        let both = [inside, language];
        let outside: Vec<&Language> = before
            .into_iter()
            .filter(|other| both.iter().all(|one| !other.is_apart_from(one)))
            .collect();
        let mut texts = samples(inside, domain);
        texts.extend(samples(language, domain));
        let question = Question {
            inside: &both,
            outside: &outside,
            guard,
        };
        let text = match one_of(&question, texts, effort) {
            Found::Text(text) => text,
            Found::None => return Overlap::None,
            Found::Open => return Overlap::Undecided,
        };
        let question = Question {
            inside: &[language],
            outside: &[inside],
            guard,
        };
        match find(&question, effort) {
            Found::None => Overlap::Within(text),
            Found::Text(_) => Overlap::Partly(text),
            Found::Open => Overlap::Undecided,
        }
    }

    /// Texts that a rule's pattern matches, as people would write them, and at least one if there
    /// is any.
    #[must_use]
    pub fn texts(&self, idx: RuleIdx, tool: &ToolName, effort: &mut Effort) -> Vec<String> {
        let (Some((rule, view)), Some(domain)) = (self.at(idx), domain_of(tool)) else {
            return Vec::new();
        };
        let inside = view.of(domain);
        if domain == Domain::Command && sees_lines(rule) {
            return samples(&view.plain, domain);
        }
        let question = Question {
            inside: &[inside],
            outside: &[],
            guard: guard_of(tool, domain),
        };
        let texts = those_of(&question, samples(inside, domain));
        if !texts.is_empty() {
            return texts;
        }
        match find(&question, effort) {
            Found::Text(text) => vec![text],
            Found::None | Found::Open => Vec::new(),
        }
    }

    /// The texts that each rule before one decides for a tool.
    fn languages_before<'s>(
        &'s self,
        idx: RuleIdx,
        tool: &'s ToolName,
        domain: Domain,
    ) -> Vec<&'s Language> {
        let late = self.at(idx);
        self.before(idx, tool)
            .filter_map(|(_, rule, view)| compared(rule, view, late, domain))
            .collect()
    }
}

/// Whether a rule's pattern is matched against whole lines and may equal no command of one.
fn sees_lines(rule: &Rule) -> bool {
    rule.has_operator() && (rule.is_restrictive() || rule.literal().is_some())
}

/// The texts that an earlier rule decides where a later one is compared with the same form of them;
/// `None`: that hangs on more than the text.
fn compared<'v>(
    early: &Rule,
    view: &'v View,
    late: Option<(&Rule, &View)>,
    domain: Domain,
) -> Option<&'v Language> {
    let (late_rule, late) = late?;
    let counts = early.is_catch_all
        || match domain {
            Domain::Command | Domain::Plain => true,
            // A deny is compared with every form, an allow with that of its anchor.
            Domain::Path => early.is_restrictive() || view.anchor == late.anchor,
            Domain::Url => {
                let is_same = early.action == Action::Allow
                    && late_rule.action == Action::Allow
                    && view.url.is(&late.url);
                early.is_restrictive() || view.is_exact_url || is_same
            }
        };
    counts.then(|| view.of(domain))
}

pub(super) fn guard_of(tool: &ToolName, domain: Domain) -> Guard {
    guard(domain, matches!(tool.origin(), ToolOrigin::Mcp { .. }))
}

/// A text that is asked for: one of these if one of them is, else a shortest there is.
fn one_of(question: &Question<'_>, texts: Vec<String>, effort: &mut Effort) -> Found {
    match those_of(question, texts).into_iter().next() {
        Some(text) => Found::Text(text),
        None => find(question, effort),
    }
}

/// Those of some texts that are asked for.
fn those_of(question: &Question<'_>, mut texts: Vec<String>) -> Vec<String> {
    let Question {
        inside,
        outside,
        guard,
    } = question;
    texts.retain(|text| {
        guard.has(text)
            && inside.iter().all(|language| language.has(text))
            && !outside.iter().any(|language| language.has(text))
    });
    texts
}
