//! What "always" may save about a call that is asked about, and what it may not.

mod advice;
mod check;
mod command;
mod pattern;
mod place;

use std::fmt;

use podward_policy::{
    AskedBy, Asker, Asking, Circumstances, GrantRule, Input, Lowered, Operation, OperationIdx,
    PatternProblem, Subject, ToolName, ToolOrigin,
};
use podward_shell::AddedPrograms;

pub use advice::{AllowingRule, Stands, allowing_rules, rules_to_allow};
pub use check::check_pattern;
use pattern::escaped;

/// What may be saved about one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choices {
    /// One part for each operation that asks, in their order; never empty.
    Parts(Vec<ChoicePart>),
    /// Nothing, and why: for people, lower case, no full stop.
    None(Box<str>),
}

/// What may be saved about one operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChoicePart {
    /// The operation.
    pub operation: OperationIdx,
    /// From the narrowest to the widest; never empty.
    pub choices: Vec<Choice>,
}

/// One pattern that may be saved. It matches the operation that it is offered for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The tool whose operations it is about.
    pub tool: ToolName,
    /// The pattern (D4).
    pub pattern: Box<str>,
    /// What it covers.
    pub width: Width,
    /// The operation that it is offered for.
    pub operation: OperationIdx,
    /// Whose ask it answers.
    pub askers: Vec<Asker>,
    /// Of a pattern for commands: what has to be the same beside the words.
    pub given: Circumstances,
}

/// What a pattern covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Width {
    /// The same command.
    Exact,
    /// The same command with other numbers, or words that begin like one, and other paths below `/tmp`.
    Similar,
    /// A program with a subcommand, a task or a script, whatever follows.
    Subcommand,
    /// A program, whatever follows.
    Program,
    /// One file or directory.
    File,
    /// All below a directory.
    Directory,
    /// One URL.
    Url,
    /// All URLs of a host that begin alike.
    Host,
    /// A tool with the same arguments.
    SameArguments,
    /// A tool of an MCP server, whatever its arguments.
    Tool,
}

/// A pattern that may not be saved for an operation, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the pattern for part {} of the call is refused: {problem}", operation.0 + 1)]
pub struct PatternRefused {
    /// The operation.
    pub operation: OperationIdx,
    /// What is wrong.
    pub problem: PatternProblem,
}

/// What may be saved about a call, given what asks about it
/// ([`Policies::asking`](podward_policy::Policies::asking)).
///
/// A compound command has a part for each command and each file that asks; one approval has to
/// answer all of them. If one of them can only be answered by a person, nothing can be saved.
#[must_use]
pub fn choices(call: &Lowered, asking: &[Asking], programs: &AddedPrograms) -> Choices {
    let Lowered::Operations(operations) = call else {
        return Choices::None("nothing would run".into());
    };
    if asking.is_empty() {
        return Choices::None("it is not the rules that ask".into());
    }
    let never = asking.iter().filter(|asking| !asking.grantable);
    if let Some(never) = never.min_by_key(|asking| asking.operation)
        && let Some(operation) = operations.get(never.operation)
    {
        return Choices::None(why_never(operation, &never.asker));
    }
    let mut parts: Vec<ChoicePart> = Vec::new();
    for (idx, operation) in operations.iter().enumerate() {
        let idx = OperationIdx(idx);
        let of_it = asking.iter().filter(|asking| asking.operation == idx);
        let askers: Vec<Asker> = of_it.map(|asking| asking.asker.clone()).collect();
        if askers.is_empty() {
            continue;
        }
        let choices = of_operation(operation, idx, &askers, programs);
        if choices.is_empty() {
            return Choices::None(why_nothing(operation));
        }
        parts.push(ChoicePart {
            operation: idx,
            choices,
        });
    }
    match parts.is_empty() {
        true => Choices::None("it is not the rules that ask".into()),
        false => Choices::Parts(parts),
    }
}

/// The choices of one operation: only what compiles, may be saved, and matches it.
fn of_operation(
    operation: &Operation,
    idx: OperationIdx,
    askers: &[Asker],
    programs: &AddedPrograms,
) -> Vec<Choice> {
    let candidates = match &operation.subject {
        Subject::Command(command) => command::candidates(command, programs),
        Subject::Path(path) => place::path_candidates(path),
        Subject::Tree(path) => place::tree_candidates(path),
        Subject::Url(url) => place::url_candidates(url),
        Subject::Plain(text) => {
            let exact = text
                .as_known()
                .map(|known| (Width::SameArguments, escaped(known)));
            let all = matches!(operation.tool.origin(), ToolOrigin::Mcp { .. })
                .then(|| (Width::Tool, EVERY_OBJECT.to_owned()));
            exact.into_iter().chain(all).collect()
        }
        Subject::Unknown(_) => Vec::new(),
    };
    let given = circumstances(operation);
    let mut choices: Vec<Choice> = Vec::new();
    for (width, pattern) in candidates {
        let is_there = choices.iter().any(|choice| *choice.pattern == *pattern);
        let rule = || {
            check_pattern(&operation.tool, &pattern, programs).ok()?;
            let rule = GrantRule::compile(&operation.tool, &pattern, Vec::new()).ok()?;
            Some(rule.given_in(given)).filter(|rule| rule.matches(operation))
        };
        if !is_there && let Some(rule) = rule() {
            choices.push(Choice {
                tool: operation.tool.clone(),
                pattern: pattern.into(),
                width,
                operation: idx,
                askers: askers.to_vec(),
                given: rule.given().clone(),
            });
        }
    }
    choices
}

/// What has to be the same for a command to do the same, beside its words.
fn circumstances(operation: &Operation) -> &Circumstances {
    match &operation.subject {
        Subject::Command(command) => command.circumstances(),
        Subject::Path(_)
        | Subject::Tree(_)
        | Subject::Url(_)
        | Subject::Plain(_)
        | Subject::Unknown(_) => Circumstances::none(),
    }
}

/// The arguments of every call of an MCP tool: a JSON object.
const EVERY_OBJECT: &str = "{*}";

fn why_never(operation: &Operation, asker: &Asker) -> Box<str> {
    match (&operation.subject, &asker.by) {
        (Subject::Unknown(reason), _) => format!(
            "nobody knows what would run ({}), so each call is a question of its own",
            reason.as_str()
        )
        .into(),
        (_, AskedBy::Unresolved) => {
            "a part of it is not known before it runs, and a rule may deny it".into()
        }
        (_, AskedBy::Rule { pattern, .. }) if is_known(operation) => format!(
            "the rule `{}` of the {} layer wants an answer each time",
            shown(pattern),
            asker.layer.as_str()
        )
        .into(),
        (_, AskedBy::Rule { .. } | AskedBy::Default | AskedBy::Unnamed) => {
            "the program is not known before it runs, so each call is a question of its own".into()
        }
    }
}

/// Whether the program of a command is known.
fn is_known(operation: &Operation) -> bool {
    match &operation.subject {
        Subject::Command(command) => {
            let program = command.name_start..=command.name_end;
            let mut holes = command.written.holes().iter();
            !holes.any(|hole| program.contains(&hole.at))
        }
        Subject::Path(_) | Subject::Tree(_) | Subject::Url(_) | Subject::Plain(_) => true,
        Subject::Unknown(_) => false,
    }
}

fn why_nothing(operation: &Operation) -> Box<str> {
    match &operation.subject {
        Subject::Url(url) if url.has_user_info => {
            "a URL with a user name in it is a question of its own each time".into()
        }
        Subject::Path(path) if path.resolved.is_some() => format!(
            "`{}` leads elsewhere by a symbolic link",
            shown(&path.lexical.short.to_string())
        )
        .into(),
        Subject::Command(command) if command.circumstances().input == Input::Unknown => {
            "what it reads is not known before it runs, and it may do what that says".into()
        }
        Subject::Command(_)
        | Subject::Path(_)
        | Subject::Tree(_)
        | Subject::Url(_)
        | Subject::Plain(_)
        | Subject::Unknown(_) => {
            "no pattern is narrow enough to cover this call and nothing else".into()
        }
    }
}

/// Text of a call or a rule, control and invisible characters escaped.
fn shown(text: &str) -> String {
    text.chars()
        .flat_map(|c| match c {
            '\'' | '"' | '\\' => c.to_string().chars().collect::<Vec<_>>(),
            c => c.escape_debug().collect(),
        })
        .collect()
}

impl Choices {
    /// How many widths there are: an approval names one of `0..n_levels()`.
    #[must_use]
    pub fn n_levels(&self) -> usize {
        let parts = self.parts().iter();
        parts.map(|part| part.choices.len()).max().unwrap_or(0)
    }

    /// The parts; empty if nothing can be saved.
    #[must_use]
    pub fn parts(&self) -> &[ChoicePart] {
        match self {
            Self::Parts(parts) => parts,
            Self::None(_) => &[],
        }
    }

    /// Why nothing can be saved.
    #[must_use]
    pub const fn why_none(&self) -> Option<&str> {
        match self {
            Self::Parts(_) => None,
            Self::None(why) => Some(why),
        }
    }

    /// The choices of one width: of each part the one at that level, or its widest.
    #[must_use]
    pub fn at(&self, level: usize) -> Vec<&Choice> {
        self.parts()
            .iter()
            .filter_map(|part| part.choices.get(level).or_else(|| part.choices.last()))
            .collect()
    }

    /// The rules of a remembered approval of one width; `None` if there is no such level.
    #[must_use]
    pub fn rules(&self, level: usize) -> Option<Vec<GrantRule>> {
        if level >= self.n_levels() {
            return None;
        }
        let compiled = self.at(level).into_iter().map(|choice| choice.rule().ok());
        compiled.collect()
    }

    /// The rules of a remembered approval whose patterns a person wrote: one for each part.
    ///
    /// # Errors
    /// A part has no pattern; or one does not compile, may not be saved ([`check_pattern`]), does
    /// not match its part of the call, or covers more than the widest choice that was offered.
    pub fn rules_of(
        &self,
        call: &Lowered,
        patterns: &[(OperationIdx, &str)],
        programs: &AddedPrograms,
    ) -> Result<Vec<GrantRule>, PatternRefused> {
        let refused = |operation, message: &str, help: Option<String>| PatternRefused {
            operation,
            problem: PatternProblem {
                part: None,
                message: message.to_owned(),
                help,
            },
        };
        for (operation, _) in patterns {
            let is_part = |part: &ChoicePart| part.operation == *operation;
            if !self.parts().iter().any(is_part) {
                let why = "this part of the call is not asked about";
                return Err(refused(*operation, why, None));
            }
        }
        let written = |part: &ChoicePart| {
            let mut of_it = patterns.iter().filter(|(idx, _)| *idx == part.operation);
            match (of_it.next(), of_it.next()) {
                (Some((_, pattern)), None) => Ok(*pattern),
                (None, _) => Err("there is no pattern for this part of the call"),
                (Some(_), Some(_)) => Err("there are two patterns for this part of the call"),
            }
        };
        let rules = self.parts().iter().map(|part| {
            let pattern = written(part).map_err(|why| refused(part.operation, why, None))?;
            part.rule_of(call, pattern, programs)
                .map_err(|problem| PatternRefused {
                    operation: part.operation,
                    problem,
                })
        });
        rules.collect()
    }
}

impl ChoicePart {
    fn rule_of(
        &self,
        call: &Lowered,
        pattern: &str,
        programs: &AddedPrograms,
    ) -> Result<GrantRule, PatternProblem> {
        let problem = |message: String, help: Option<String>| PatternProblem {
            part: None,
            message,
            help,
        };
        let (Some(widest), Lowered::Operations(operations)) = (self.choices.last(), call) else {
            return Err(problem(
                "nothing of this call can be saved".to_owned(),
                None,
            ));
        };
        check_pattern(&widest.tool, pattern, programs)?;
        let operation = operations.get(self.operation);
        let mut rule = GrantRule::compile(&widest.tool, pattern, widest.askers.clone())?;
        if let Some(operation) = operation {
            rule = rule.given_in(circumstances(operation));
        }
        let is_match = operation.is_some_and(|operation| rule.matches(operation));
        if !is_match {
            let help = self.choices.first().map(|narrowest| {
                format!("what it has to match is `{}`", shown(&narrowest.pattern))
            });
            let message = "the pattern does not match this call".to_owned();
            return Err(problem(message, help));
        }
        let is_offered = self.choices.iter().any(|c| *c.pattern == *pattern);
        if !is_offered && !rule.is_within(&widest.rule()?) {
            let widest = shown(&widest.pattern);
            return Err(problem(
                format!("the pattern covers more than the widest one offered, `{widest}`"),
                Some("write a rule in the manifest for more than that".to_owned()),
            ));
        }
        Ok(rule)
    }
}

impl Choice {
    /// The rule of a remembered approval that saves it.
    ///
    /// # Errors
    /// The pattern does not compile; one that [`choices`] made does.
    pub fn rule(&self) -> Result<GrantRule, PatternProblem> {
        let rule = GrantRule::compile(&self.tool, &self.pattern, self.askers.clone())?;
        Ok(rule.given_in(&self.given))
    }
}

impl Width {
    /// The word used on the wire, in files and in output.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Similar => "similar",
            Self::Subcommand => "subcommand",
            Self::Program => "program",
            Self::File => "file",
            Self::Directory => "directory",
            Self::Url => "url",
            Self::Host => "host",
            Self::SameArguments => "same_arguments",
            Self::Tool => "tool",
        }
    }
}

impl fmt::Display for Width {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod properties;
