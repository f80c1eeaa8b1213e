//! A remembered approval: turns ask into allow, and nothing else (D5.3).

use std::sync::Arc;

use crate::action::Action;
use crate::asking::{Asker, Asking};
use crate::circumstances::{Circumstances, are_among};
use crate::compile::{Domain, domain};
use crate::operation::{CommandSubject, Lowered, Need, Operation, Subject};
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
    /// How far what was given of a command has to be the same.
    reach: Reach,
    /// What it was given for, beside the words of a command.
    given: Circumstances,
}

/// How far a command has to be the same as the one that a pattern was given for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// All of it: the pattern says each of its words.
    All,
    /// In so many words: they are literal, and anything may follow.
    Front(usize),
    /// The shell expands no further word of it: the pattern leaves open words in between.
    Words,
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
            && self.given == other.given
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
            reach: reach(&rule),
            rule,
            given: Circumstances::default(),
        })
    }

    /// The same, given for a command in these circumstances.
    ///
    /// A pattern that leaves open what follows holds in every directory and whatever is read.
    #[must_use]
    pub fn given_in(self, given: &Circumstances) -> Self {
        Self {
            given: self.what_counts(given),
            ..self
        }
    }

    /// What has to be the same beside the words of a command.
    #[must_use]
    pub const fn given(&self) -> &Circumstances {
        &self.given
    }

    /// Of the circumstances of a command, those that its words do not leave open.
    fn what_counts(&self, of: &Circumstances) -> Circumstances {
        if domain(&self.rule) != Some(Domain::Command) {
            return Circumstances::default();
        }
        let expanded = match self.reach {
            Reach::Front(n_words) => {
                let n = of.expanded.partition_point(|word| word.idx < n_words);
                of.expanded.get(..n).unwrap_or_default().to_vec()
            }
            Reach::All | Reach::Words => of.expanded.clone(),
        };
        match self.rule.pattern.ends_with(" *") {
            true => Circumstances {
                expanded,
                ..Circumstances::default()
            },
            false => of.clone(),
        }
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
    /// and one that does not end in ` *` holds in the directories and for the input for which it was
    /// given. A word that the shell expands is another one than its characters.
    #[must_use]
    pub fn matches(&self, operation: &Operation) -> bool {
        if operation.tool != self.tool {
            return false;
        }
        let may_match = match &operation.subject {
            Subject::Unknown(_) => false,
            Subject::Command(command) => {
                !(self.has_open_word && may_climb(command)) && self.holds_for(command)
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

    /// Whether a command is in circumstances for which it was given.
    fn holds_for(&self, command: &CommandSubject) -> bool {
        let mut now = self.what_counts(command.circumstances());
        if self.reach == Reach::Words && are_among(&now.expanded, &self.given.expanded) {
            now.expanded.clone_from(&self.given.expanded);
        }
        now.are_among(&self.given)
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

/// How far a command has to be the same, by the pattern.
fn reach(rule: &Rule) -> Reach {
    let command = rule.command();
    let tokens: &[Token] = &command.tokens();
    let is_open = |token: &Token| token.is_wildcard() && !matches!(token, Token::Word(_));
    let is_literal = |tokens: &[Token]| tokens.iter().all(|token| token.literal().is_some());
    match tokens {
        [front @ .., Token::Char(' '), Token::Star] if is_literal(front) => {
            let literal: String = front.iter().filter_map(Token::literal).collect();
            Reach::Front(written_words(&literal).len())
        }
        tokens if tokens.iter().any(is_open) => Reach::Words,
        _ => Reach::All,
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
