//! From lists of tools to a layer of rules.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use podward_policy::{Action, KnownTools, Location, Policy, PolicySpec, RuleField, RuleSpec};

use crate::broad;
use crate::pattern::{Directories, EVERYTHING, foreign_word, patterns};
use crate::problem::{Gravity, Problem};
use crate::suggestion::nearest;
use crate::target::{Target, action, target};
use crate::tool_lists::{Allowed, ListKind, ToolEntry, ToolLists};

/// Where lists stand, and what their names may mean.
#[derive(Debug, Clone)]
pub struct ListPlace<'a> {
    file: Arc<str>,
    known: &'a KnownTools,
    directories: Directories<'a>,
}

impl<'a> ListPlace<'a> {
    /// A file by the name that people see, and the tools that there are.
    #[must_use]
    pub fn new(file: impl Into<Arc<str>>, known: &'a KnownTools) -> Self {
        Self {
            file: file.into(),
            known,
            directories: Directories::default(),
        }
    }

    /// The same with what `${CLAUDE_SKILL_DIR}` and `{baseDir}` stand for: the skill's directory,
    /// absolute.
    #[must_use]
    pub const fn in_skill(mut self, directory: &'a str) -> Self {
        self.directories.skill = Some(directory);
        self
    }

    /// The same with what `${CLAUDE_PROJECT_DIR}` stands for: the workspace, absolute.
    #[must_use]
    pub const fn in_workspace(mut self, directory: &'a str) -> Self {
        self.directories.workspace = Some(directory);
        self
    }

    /// What no entry says.
    pub(crate) fn whole(&self) -> Location {
        Location {
            file: Arc::clone(&self.file),
            line: 1,
            column: 1,
        }
    }

    fn location(&self, entry: &ToolEntry) -> Location {
        Location {
            file: Arc::clone(&self.file),
            line: entry.line,
            column: entry.column,
        }
    }
}

/// Lists as a layer.
#[derive(Debug)]
pub struct CompiledLists {
    /// The layer; `None`: nothing is restricted.
    ///
    /// Its default denies where `allowed-tools` is there, and a text that only some ways to fill its
    /// holes would allow is denied too.
    pub layer: Option<Policy>,
    /// What each entry came to, in the order of the rules: what is not allowed first.
    pub entries: Vec<CompiledEntry>,
    /// What is wrong with the entries, in the order of the rules. A pattern that is none is left out of
    /// what is allowed; one of `disallowed-tools` leaves nothing allowed. A skill that was read has
    /// neither.
    pub problems: Vec<Problem>,
}

/// One entry as rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompiledEntry {
    /// The list that it stands in.
    pub list: ListKind,
    /// Its place in that list, from 0.
    pub place: usize,
    /// The tools, by name or by a glob over names, and the pattern of each rule that it came to.
    /// None: it names no tool that there is.
    pub rules: Vec<(Box<str>, Box<str>)>,
}

impl ToolLists {
    /// Compiles the lists to a layer of its own.
    #[must_use]
    pub fn compile(&self, place: &ListPlace<'_>) -> CompiledLists {
        let mut compiling = Compiling {
            place,
            rules: Vec::new(),
            entries: Vec::new(),
            problems: Vec::new(),
        };
        for list in [ListKind::Disallowed, ListKind::Allowed] {
            for (idx, entry) in self.entries(list).iter().enumerate() {
                compiling.add(list, idx, entry);
            }
        }
        compiling.problems.extend(broad::hints(self, place.known));
        compiling.finish(self)
    }
}

/// A rule and the entry that it is made of.
#[derive(Debug)]
struct EntryRule<'l> {
    list: ListKind,
    entry: &'l ToolEntry,
    spec: RuleSpec,
}

struct Compiling<'a, 'l> {
    place: &'a ListPlace<'a>,
    rules: Vec<EntryRule<'l>>,
    entries: Vec<CompiledEntry>,
    problems: Vec<Problem>,
}

impl<'l> Compiling<'_, 'l> {
    fn add(&mut self, list: ListKind, idx: usize, entry: &'l ToolEntry) {
        let mut rules = Vec::new();
        match target(&entry.name, list, self.place.known) {
            Target::Tools { names, texts } => {
                let patterns = match &entry.argument {
                    Some(argument) => patterns(argument, texts, list, self.place.directories),
                    None => vec![EVERYTHING.to_owned()],
                };
                let odd = broad::odd_argument(entry, texts, list);
                self.problems.extend(odd);
                self.problems.extend(self.foreign_word(entry, list));
                for name in &names {
                    for pattern in &patterns {
                        rules.push((name.as_str().into(), pattern.as_str().into()));
                        self.rule(list, entry, name, pattern);
                    }
                }
            }
            Target::Foreign => self.problems.push(foreign(entry, list)),
            Target::Unknown => self.problems.push(unknown(entry, list, self.place.known)),
        }
        let place = idx;
        self.entries.push(CompiledEntry { list, place, rules });
    }

    fn rule(&mut self, list: ListKind, entry: &'l ToolEntry, tool: &str, pattern: &str) {
        let spec = RuleSpec {
            tool: tool.to_owned(),
            pattern: pattern.to_owned(),
            action: action(list),
            // A refusal names the entry as its author wrote it.
            message: Some(entry.written.to_string()),
            grantable: false,
            ask_timeout: None,
            location: self.place.location(entry),
        };
        self.rules.push(EntryRule { list, entry, spec });
    }

    fn foreign_word(&self, entry: &ToolEntry, list: ListKind) -> Option<Problem> {
        let argument = entry.argument.as_deref()?;
        let word = foreign_word(argument, self.place.directories)?;
        let help = match list {
            ListKind::Allowed => {
                "the entry allows nothing; `${CLAUDE_SKILL_DIR}` is the skill's own directory"
            }
            ListKind::Disallowed => "it is taken for any text",
        };
        let message = format!("`{word}` stands for no directory here");
        Some(Problem::warning(entry.span, message, help))
    }

    /// Compiles the rules. Those that are no rules are left out and told; if one of them should
    /// have denied something, nothing is allowed.
    fn finish(mut self, lists: &ToolLists) -> CompiledLists {
        let mut denies_all = false;
        // Each pass takes out all that is wrong: the second finds nothing.
        for _ in 0..2 {
            let spec = self.spec(lists, denies_all);
            let findings = match Policy::compile(&spec, self.place.known) {
                Ok(compiled) => {
                    let is_needed = denies_all || !lists.restricts_nothing();
                    return CompiledLists {
                        layer: is_needed.then_some(compiled.policy),
                        entries: self.entries,
                        problems: self.problems,
                    };
                }
                Err(findings) => findings,
            };
            let mut wrong: Vec<usize> = Vec::new();
            for finding in findings {
                let Some(rule) = self.rules.get(finding.rule.0) else {
                    continue;
                };
                denies_all |= rule.list == ListKind::Disallowed;
                let is_told = wrong
                    .iter()
                    .filter_map(|idx| self.rules.get(*idx))
                    .any(|told| told.entry.span == rule.entry.span);
                if !wrong.contains(&finding.rule.0) {
                    wrong.push(finding.rule.0);
                }
                // One entry may be several rules, all wrong for the same reason.
                if is_told {
                    continue;
                }
                let what = match finding.field {
                    RuleField::Tool => &rule.spec.tool,
                    RuleField::Pattern => &rule.spec.pattern,
                };
                self.problems.push(Problem {
                    gravity: Gravity::Error,
                    span: rule.entry.span,
                    message: format!("`{what}` is no pattern: {}", finding.message),
                    help: finding.help,
                });
            }
            let mut idx = 0;
            self.rules.retain(|_| {
                idx += 1;
                !wrong.contains(&(idx - 1))
            });
        }
        CompiledLists {
            layer: Some(Policy::deny_all(self.place.whole())),
            entries: self.entries,
            problems: self.problems,
        }
    }

    fn spec(&self, lists: &ToolLists, denies_all: bool) -> PolicySpec {
        let default_action = match (&lists.allowed, denies_all) {
            (Allowed::NotRestricted, false) => Action::Allow,
            (Allowed::Only(_), _) | (_, true) => Action::Deny,
        };
        let rules = self
            .rules
            .iter()
            .filter(|rule| !denies_all || rule.list == ListKind::Disallowed);
        PolicySpec {
            default_action,
            default_location: self.place.whole(),
            // Mixed counts as deny (D5.2).
            unresolved: Some(Action::Deny),
            rules: rules.map(|rule| rule.spec.clone()).collect(),
        }
    }
}

/// What an entry that names no tool does.
const fn effect(list: ListKind) -> &'static str {
    match list {
        ListKind::Allowed => "it allows nothing",
        ListKind::Disallowed => "it takes nothing away",
    }
}

fn foreign(entry: &ToolEntry, list: ListKind) -> Problem {
    let name = &entry.name;
    Problem::new(
        Gravity::Fault,
        entry.span,
        format!(
            "`{name}` is a tool of other agents, and none here: {}",
            effect(list)
        ),
        "remove it, or leave it in for those agents",
    )
}

fn unknown(entry: &ToolEntry, list: ListKind, known: &KnownTools) -> Problem {
    let name = &entry.name;
    let names: Vec<&str> = known.iter().map(podward_policy::ToolName::as_str).collect();
    let help = match nearest(name, names) {
        Some(near) => format!("did you mean `{near}`?"),
        None if name.starts_with("mcp_") => {
            "a server's tool is named `mcp__<server>__<tool>`".to_owned()
        }
        None if name.contains(['*', '?', '[']) => {
            "for a server's tools write `mcp__<server>__*`".to_owned()
        }
        None => format!("if it is an MCP server, write `mcp__{name}__*` for all of its tools"),
    };
    Problem::new(
        Gravity::Fault,
        entry.span,
        format!("`{name}` names no tool: {}", effect(list)),
        help,
    )
}
