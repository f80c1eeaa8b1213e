//! Whether it is certain that a rule never decides: of no operation of any call, whatever its forms
//! and holes are.
//!
//! Beyond what is equal in the texts as they are written, this minds that an allow sees fewer forms
//! than a deny and has to match what runs where it lies (D3.4), that a rule for everything is not applied everywhere (D1.6), that what is
//! below a directory is met by what a pattern names (D2.2), and that the matcher may leave open
//! whether a text with holes matches: it never does for a pattern of characters and `*` alone.

use super::view::View;
use super::{Effort, LayerAnalysis, may_be_of_a_server};
use crate::action::Action;
use crate::compile::{Domain, domain_of};
use crate::operation::{Lowered, Operation, Subject};
use crate::pattern::Token;
use crate::pattern::language::{Found, Guard, Language, Question, find};
use crate::rule::Rule;
use crate::rule::path::Anchor;
use crate::tool::ToolOrigin;
use crate::verdict::RuleIdx;
use crate::work::Work;

/// A rule with its texts.
type Seen<'s> = (&'s Rule, &'s View);

impl LayerAnalysis<'_> {
    /// Whether the rule never decides what its layer says of any operation, calls that are over a
    /// limit of the judge aside (D3.7). False where that is not certain.
    ///
    /// `literal` is what a pattern without wildcards is as a command line: an allow that is the text
    /// of a whole call covers all of it (D3.3).
    #[must_use]
    pub fn never_decides(
        &self,
        idx: RuleIdx,
        literal: Option<&Lowered>,
        effort: &mut Effort,
    ) -> bool {
        let Some(late) = self.at(idx) else {
            return false;
        };
        let tools = self.tools(idx);
        let server = tools
            .iter()
            .find(|tool| matches!(tool.origin(), ToolOrigin::Mcp { .. }));
        if may_be_of_a_server(late.0, server) && !self.never_for_servers(idx, late, effort) {
            return false;
        }
        tools.iter().all(|tool| {
            let is_of_a_server = matches!(tool.origin(), ToolOrigin::Mcp { .. });
            if is_of_a_server && late.0.tool().is_glob() {
                return true;
            }
            let early: Vec<Seen<'_>> = self
                .before(idx, tool)
                .map(|(_, rule, view)| (rule, view))
                .collect();
            let case = Case {
                late,
                early: &early,
            };
            match domain_of(tool) {
                Some(Domain::Plain) => case.plain(effort),
                Some(Domain::Command) => case.command(literal, effort),
                Some(Domain::Path) => case.path(effort),
                Some(Domain::Url) => case.url(effort),
                None => false,
            }
        })
    }

    /// The same for all tools of servers that the glob of a rule may mean.
    fn never_for_servers(&self, idx: RuleIdx, late: Seen<'_>, effort: &mut Effort) -> bool {
        let mut work = Work::new();
        let rules = self.policy.rules.iter().zip(&self.rules).take(idx.0);
        let early: Vec<Seen<'_>> = rules
            .filter(|(rule, _)| {
                let late = late.0;
                rule.tool()
                    .covers(rule.action, late.tool(), late.action, &mut work)
            })
            .collect();
        Case {
            late,
            early: &early,
        }
        .plain(effort)
    }
}

/// A rule and those before it that are about the same tool.
struct Case<'s> {
    late: Seen<'s>,
    early: &'s [Seen<'s>],
}

impl<'s> Case<'s> {
    fn plain(&self, effort: &mut Effort) -> bool {
        let outside = self.early.iter().map(|(_, view)| &view.plain).collect();
        covered(&self.late.1.plain, outside, effort)
    }

    fn restrictive(&self) -> impl Iterator<Item = Seen<'s>> + '_ {
        let early = self.early.iter().copied();
        early.filter(|(rule, _)| rule.is_restrictive() && !rule.is_catch_all)
    }

    /// Whether a rule for everything comes first wherever this one for everything is applied.
    fn is_second_for_everything(&self) -> bool {
        let (late, _) = self.late;
        self.early
            .iter()
            .any(|(rule, _)| rule.is_catch_all && (!rule.tool().is_glob() || late.tool().is_glob()))
    }

    fn command(&self, literal: Option<&Lowered>, effort: &mut Effort) -> bool {
        let (late, view) = self.late;
        if late.is_catch_all {
            return self.is_second_for_everything();
        }
        if late.is_restrictive() && late.has_operator() {
            return self
                .restrictive()
                .any(|(early, _)| early.pattern == late.pattern && early.action >= late.action);
        }
        if !late.is_restrictive()
            && late.literal().is_some()
            && !literal.is_some_and(is_one_command)
        {
            return false;
        }
        let early: Vec<Seen<'_>> = match late.is_restrictive() {
            true => self.restrictive().collect(),
            false => {
                let early = self.early.iter().copied();
                early.filter(|(rule, _)| !rule.is_catch_all).collect()
            }
        };
        let late: Vec<&Language> = std::iter::once(&view.command)
            .chain(&view.loose_command)
            .collect();
        let ignores_case = self.late.0.is_restrictive();
        let has_run = late.iter().any(|language| language.has_run());
        let by_one = early.iter().any(|(_, view)| {
            let is_sound = !has_run || view.command.is_plain();
            let folds = !ignores_case || !view.command.has_foreign_class();
            let mut late = late.iter();
            is_sound && folds && late.all(|late| covered(late, vec![&view.command], effort))
        });
        if by_one || has_run {
            return by_one;
        }
        // Of several allows one may match a command as it is written and another one where it lies:
        // none of them decides then. What no `/` stands in lies where it is written.
        let names_no_path = names_no_path(view.command.tokens());
        let together: Vec<&Language> = early
            .iter()
            .filter(|(rule, _)| rule.is_restrictive() || names_no_path)
            .flat_map(|(_, view)| std::iter::once(&view.command).chain(&view.loose_command))
            .filter(|language| !ignores_case || !language.has_foreign_class())
            .collect();
        late.iter()
            .all(|late| covered(late, together.clone(), effort))
    }

    fn path(&self, effort: &mut Effort) -> bool {
        let (late, view) = self.late;
        let is_for_all = |(rule, _): &Seen<'_>| rule.is_catch_all && !rule.tool().is_glob();
        if self.early.iter().any(is_for_all) {
            return true;
        }
        if late.is_catch_all {
            return self.is_second_for_everything();
        }
        let has_run = view.path.has_run();
        let sound = |early: &View| !has_run || early.path.is_plain();
        if !late.is_restrictive() {
            let by_one_allow = self.early.iter().any(|(rule, early)| {
                rule.action == Action::Allow
                    && !rule.is_catch_all
                    && early.anchor == view.anchor
                    && sound(early)
                    && covered(&view.path, vec![&early.path], effort)
            });
            // A pattern that ends in `*` may cover directories as a whole, which a deny of what is
            // below another one does not meet.
            let may_be_tree = view
                .path
                .tokens()
                .last()
                .is_some_and(|last| !matches!(last, Token::Char(_)));
            return by_one_allow || (!may_be_tree && self.path_by_restrictive(effort));
        }
        self.trees_are_covered() && self.path_by_restrictive(effort)
    }

    fn path_by_restrictive(&self, effort: &mut Effort) -> bool {
        let (_, view) = self.late;
        let early: Vec<&Language> = self
            .restrictive()
            .map(|(_, view)| &view.path)
            .filter(|path| !path.has_foreign_class())
            .collect();
        if view.path.has_run() {
            let mut plain = early.into_iter().filter(|path| path.is_plain());
            return plain.any(|path| covered(&view.path, vec![path], effort));
        }
        covered(&view.path, early, effort)
    }

    /// Whether each directory that a restrictive pattern meets as a whole is met before it.
    fn trees_are_covered(&self) -> bool {
        let (_, view) = self.late;
        let named = &view.named_path;
        if named.is_empty() {
            return true;
        }
        let directory = named.rfind('/').and_then(|end| named.get(..=end));
        let is_met = |directory: &str| {
            self.restrictive()
                .any(|(_, early)| early.named_path.starts_with(directory))
        };
        let here_is_met = || {
            self.restrictive()
                .any(|(_, early)| early.anchor == Anchor::Workspace && !early.named_path.is_empty())
        };
        directory.is_none_or(is_met) && (view.anchor != Anchor::Workspace || here_is_met())
    }

    fn url(&self, effort: &mut Effort) -> bool {
        let (late, view) = self.late;
        if late.is_catch_all {
            // An allow never covers a URL with user info.
            let sees_as_much = |(rule, _): &Seen<'_>| {
                rule.is_catch_all
                    && (!rule.tool().is_glob() || late.tool().is_glob())
                    && (rule.is_restrictive() || !late.is_restrictive())
            };
            return self.early.iter().any(sees_as_much);
        }
        let counts = |(rule, early): &Seen<'_>| {
            let covers_as_much = !late.is_restrictive()
                && early.is_exact_url
                && (early.names_host || !view.names_host);
            !rule.is_catch_all && (rule.is_restrictive() || covers_as_much)
        };
        let early = || self.early.iter().copied().filter(counts);
        if view.url.has_run() {
            return early().any(|(_, early)| {
                early.url.is_plain() && covered(&view.url, vec![&early.url], effort)
            });
        }
        let together = early().map(|(_, early)| &early.url).collect();
        covered(&view.url, together, effort)
    }
}

/// Whether no text that is matched has a `/`.
fn names_no_path(tokens: &[Token]) -> bool {
    tokens.iter().all(|token| match token {
        Token::Char(c) => *c != '/',
        Token::Class(class) => !class.contains('/'),
        Token::Word(content) => names_no_path(content),
        Token::Any | Token::Star | Token::Directories => false,
    })
}

/// Whether a text that is matched by `late` is always matched by one of the others.
fn covered(late: &Language, early: Vec<&Language>, effort: &mut Effort) -> bool {
    let outside: Vec<&Language> = early
        .into_iter()
        .filter(|early| !early.is_apart_from(late))
        .collect();
    if outside.is_empty() {
        return false;
    }
    let question = Question {
        inside: &[late],
        outside: &outside,
        guard: Guard::Any,
    };
    find(&question, effort) == Found::None
}

/// Whether a call is one command that is known, and nothing beside it.
fn is_one_command(call: &Lowered) -> bool {
    match call {
        Lowered::NothingToRun => false,
        Lowered::Operations(operations) => {
            let mut all = operations.iter();
            let is_known = |operation: &Operation| match &operation.subject {
                Subject::Command(command) => command.written.as_known().is_some(),
                Subject::Path(_)
                | Subject::Tree(_)
                | Subject::Url(_)
                | Subject::Plain(_)
                | Subject::Unknown(_) => false,
            };
            all.next().is_some_and(is_known) && all.next().is_none()
        }
    }
}
