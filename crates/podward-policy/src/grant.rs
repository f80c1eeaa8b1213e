//! A remembered approval: turns ask into allow, and nothing else (D5.3).

use std::sync::Arc;

use crate::action::Action;
use crate::asking::{Asker, Asking};
use crate::compile::{Domain, domain};
use crate::operation::{CommandSubject, Directories, Lowered, Need, Operation, Subject};
use crate::pattern::{Hit, Problem, Quoting, Token, covers};
use crate::rule::tools::ToolPattern;
use crate::rule::{Operand, Origin, Rule, RuleSource};
use crate::source::{ByteSpan, Location};
use crate::text::written_words;
use crate::tool::ToolName;
use crate::work::Work;

/// Steps that one comparison may cost; what is not found by then is not covered.
const LIMIT: u64 = 1 << 20;

/// One rule of a remembered approval: a pattern for the operations of one tool, and the askers that
/// it answers.
///
/// ```
/// use podward_policy::{Action, GrantRule, KnownTools, Lowered, Operation, Policies, Policy, PolicySpec, ToolName};
///
/// let deploy = ToolName::new("deploy")?;
/// let known = KnownTools::with([deploy.clone()]);
/// let spec = PolicySpec::new(Action::Ask).rule("deploy", "prod-*", Action::Ask);
/// let policies = Policies::from(Policy::compile(&spec, &known).map_err(|_| "a rule is wrong")?.policy);
///
/// let call = Lowered::from(Operation::plain(&deploy, "staging"));
/// let asking = policies.asking(&call);
/// let grant = GrantRule::compile(&deploy, "*g", vec![asking[0].asker.clone()])?;
/// assert!(grant.covers(&asking[0], &call));
///
/// // Another rule asks about this one, and nobody has answered that.
/// let call = Lowered::from(Operation::plain(&deploy, "prod-big"));
/// assert!(!grant.covers(&policies.asking(&call)[0], &call));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct GrantRule {
    tool: ToolName,
    askers: Vec<Asker>,
    /// The pattern, compiled as that of an allow rule.
    rule: Rule,
    /// A word of a command's pattern says something and leaves the rest open.
    has_open_word: bool,
    /// Where a pattern for no more than one command holds.
    directories: Directories,
}

/// Why a pattern can be no remembered approval.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PatternProblem {
    /// Bytes of the pattern that are meant; `None`: all of it.
    pub part: Option<ByteSpan>,
    /// What is wrong: lower case, no full stop, user text in backticks.
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
}

/// Two are equal if they say the same.
impl PartialEq for GrantRule {
    fn eq(&self, other: &Self) -> bool {
        self.tool == other.tool
            && self.rule.pattern == other.rule.pattern
            && self.askers == other.askers
            && self.directories == other.directories
    }
}

impl Eq for GrantRule {}

impl GrantRule {
    /// Compiles a rule that answers these askers.
    ///
    /// # Errors
    /// The pattern does not compile (D4), or says nothing of what it is about: everything, any
    /// program, any host.
    pub fn compile(
        tool: &ToolName,
        pattern: &str,
        askers: Vec<Asker>,
    ) -> Result<Self, PatternProblem> {
        let rule = Rule::new(RuleSource {
            origin: Arc::new(Origin::new(
                ToolPattern::Exact(tool.clone()),
                tool.as_str(),
                "".into(),
            )),
            action: Action::Allow,
            pattern,
            message: None,
            grantable: false,
            ask_timeout: None,
            location: &Location {
                file: "".into(),
                line: 0,
                column: 0,
            },
        })
        .map_err(first_problem)?;
        if let Some((message, help)) = too_open(&rule) {
            return Err(PatternProblem {
                part: None,
                message: message.to_owned(),
                help: Some(help.to_owned()),
            });
        }
        Ok(Self {
            tool: tool.clone(),
            askers,
            has_open_word: has_open_word(&rule.command().tokens()),
            rule,
            directories: Directories::Own,
        })
    }

    /// The same, given for a command that may run in these directories.
    #[must_use]
    pub fn given_in(self, directories: Directories) -> Self {
        Self {
            directories,
            ..self
        }
    }

    /// Where a pattern for commands holds: one that leaves open what follows in every directory,
    /// another one in these.
    #[must_use]
    pub fn directories(&self) -> Option<&Directories> {
        let is_command = domain(&self.rule) == Some(Domain::Command);
        (is_command && !self.rule.pattern.ends_with(" *")).then_some(&self.directories)
    }

    /// The tool whose operations it is about.
    #[must_use]
    pub const fn tool(&self) -> &ToolName {
        &self.tool
    }

    /// The pattern, as written.
    #[must_use]
    pub fn pattern(&self) -> &str {
        &self.rule.pattern
    }

    /// Whether the pattern has no wildcard: it matches one text only.
    #[must_use]
    pub fn is_literal(&self) -> bool {
        self.rule.literal().is_some()
    }

    /// Of a pattern for commands, the words before the first one with a wildcard, without quotes.
    #[must_use]
    pub fn fixed_words(&self) -> Vec<String> {
        let command = self.rule.command();
        let tokens = command.tokens();
        let literal: String = tokens.iter().map_while(Token::literal).collect();
        let mut words: Vec<String> = written_words(&literal)
            .into_iter()
            .map(|word| word.word)
            .collect();
        if literal.chars().count() < tokens.len() {
            // The wildcard belongs to the last of them.
            words.pop();
        }
        words
    }

    /// What it answers.
    #[must_use]
    pub fn askers(&self) -> &[Asker] {
        &self.askers
    }

    /// Whether it answers what asks about an operation of a call: it may be answered so, the asker
    /// is one of its own, and the pattern must match, however the holes are filled.
    #[must_use]
    pub fn covers(&self, asking: &Asking, call: &Lowered) -> bool {
        let Lowered::Operations(operations) = call else {
            return false;
        };
        asking.grantable
            && self.askers.contains(&asking.asker)
            && operations
                .get(asking.operation)
                .is_some_and(|operation| self.matches(operation))
    }

    /// Whether the pattern must match an operation, as an allow rule would: every form of a path,
    /// a command as it is written. It never does where nobody knows what would run. A pattern for
    /// commands with a word such as `src/*` or `--file=*` matches none that climbs by `..`, or may,
    /// and one that does not end in ` *` holds in the directories in which it was given.
    #[must_use]
    pub fn matches(&self, operation: &Operation) -> bool {
        if operation.tool != self.tool {
            return false;
        }
        let may_match = match &operation.subject {
            Subject::Unknown(_) => false,
            Subject::Command(command) => {
                let holds_there = |directories| command.directories().are_among(directories);
                !(self.has_open_word && may_climb(command))
                    && self.directories().is_none_or(holds_there)
            }
            Subject::Path(_) | Subject::Tree(_) | Subject::Url(_) | Subject::Plain(_) => true,
        };
        let is_named = match operation.need {
            Need::Named => self.rule.may_name(&operation.subject),
            Need::Full
            | Need::Restrictive
            | Need::Free
            | Need::DerivedFrom(_)
            | Need::RunBy { .. } => true,
        };
        let hit = |subject: &Subject| {
            let mut work = Work::with_limit(LIMIT);
            self.rule.hit(subject, Operand::Possible, &mut work) == Hit::Must
        };
        may_match
            && is_named
            && match &operation.subject {
                // The same words in the same directory run the same.
                Subject::Command(command) if self.is_literal() && command.place.is_some() => {
                    hit(&Subject::Command(CommandSubject {
                        place: None,
                        ..command.clone()
                    }))
                }
                subject => hit(subject),
            }
    }

    /// Whether another rule's pattern matches every text that this one's matches; also false where
    /// that is not found out in time.
    #[must_use]
    pub fn is_within(&self, wide: &Self) -> bool {
        if self.tool != wide.tool {
            return false;
        }
        if self.rule.pattern == wide.rule.pattern {
            return true;
        }
        let mut work = Work::with_limit(LIMIT);
        let (narrow, wide) = (&self.rule, &wide.rule);
        match domain(narrow) {
            Some(Domain::Command) => covers(&wide.command(), &narrow.command(), &mut work),
            Some(Domain::Path) => {
                wide.path().anchor == narrow.path().anchor
                    && covers(&wide.path().glob, &narrow.path().glob, &mut work)
            }
            Some(Domain::Url) => covers(&wide.url().any(), &narrow.url().any(), &mut work),
            Some(Domain::Plain) | None => covers(&wide.plain(), &narrow.plain(), &mut work),
        }
    }
}

fn first_problem(problems: Vec<Problem>) -> PatternProblem {
    let told = |problem: Problem| PatternProblem {
        part: Some(problem.part),
        message: problem.message,
        help: Some(problem.help),
    };
    let unknown = || PatternProblem {
        part: None,
        message: "this is no pattern".to_owned(),
        help: None,
    };
    problems.into_iter().next().map_or_else(unknown, told)
}

/// What no remembered approval may say: nothing of what it is about.
fn too_open(rule: &Rule) -> Option<(&'static str, &'static str)> {
    let named: String = rule
        .plain()
        .tokens()
        .iter()
        .filter_map(Token::literal)
        .collect();
    if rule.is_catch_all || named.is_empty() {
        return Some((
            "a remembered approval never covers everything",
            "write what it is about; a rule for everything belongs into a manifest",
        ));
    }
    match domain(rule) {
        Some(Domain::Path) if rule.literal().is_some() => None,
        Some(Domain::Command) => {
            if rule.words().quoting == Quoting::Open {
                return Some((
                    "a quote in this pattern is not closed",
                    "close the quote to match exactly one word",
                ));
            }
            let command = rule.command();
            let tokens = command.tokens();
            let mut program = tokens
                .iter()
                .take_while(|token| **token != Token::Char(' '));
            program.any(Token::is_wildcard).then_some((
                "a remembered approval names the program",
                "write the program's name in full, such as `git push *`",
            ))
        }
        Some(Domain::Path) => {
            let plain = rule.plain();
            let tokens = plain.tokens();
            let mut literal = tokens.iter().map_while(Token::literal);
            (!literal.any(|c| !matches!(c, '/' | '~' | '.'))).then_some((
                "a remembered approval names a file or a directory",
                "write what the path begins with, such as `src/*`",
            ))
        }
        Some(Domain::Url) => (!rule.url().names_one_host()).then_some((
            "a remembered approval names one host",
            "write scheme and host in full, such as `https://example.com/docs/*`",
        )),
        Some(Domain::Plain) | None => None,
    }
}

/// Whether a word of a command's pattern says something and leaves the rest open: `src/*`.
fn has_open_word(tokens: &[Token]) -> bool {
    let is_run = |token: &Token| matches!(token, Token::Star | Token::Directories);
    let is_open = |word: &[Token]| {
        word.iter().any(Token::is_wildcard) && word.iter().any(|token| !is_run(token))
    };
    let quoted = |token: &Token| match token {
        Token::Word(content) => is_open(content),
        Token::Char(_) | Token::Any | Token::Star | Token::Directories | Token::Class(_) => false,
    };
    let is_quoted = |token: &Token| matches!(token, Token::Word(_));
    tokens
        .split(|token| *token == Token::Char(' '))
        .any(|word| match word {
            [only] if is_quoted(only) => quoted(only),
            word => is_open(word),
        })
}

/// Whether a word of a command may hold a path with `..` in it.
fn may_climb(command: &CommandSubject) -> bool {
    !command.written.holes().is_empty()
        || command
            .written
            .known_part()
            .split(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '~' | '+')))
            .any(|name| name == "..")
}

#[cfg(test)]
mod tests;
