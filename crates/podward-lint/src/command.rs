//! Patterns for commands, word by word.

use podward_policy::{Action, PatternWord, RuleIdx, WordRest, WrittenRule};

use crate::engine::Engine;

/// A rule for commands whose pattern is no line.
pub(crate) struct Commands<'a> {
    pub(crate) rule: WrittenRule<'a>,
    pub(crate) words: Vec<PatternWord>,
}

/// A rule about commands and their words; `None`: it is about something else, about every command,
/// or about whole lines.
pub(crate) fn commands<'a>(engine: &Engine<'a>, idx: RuleIdx) -> Option<Commands<'a>> {
    let rule = engine.rule(idx)?;
    let tools = engine.layer.tools(idx);
    let is_about = tools.iter().any(|tool| tool.as_str() == "bash");
    // What a rule for all tools says of commands is hardly about commands.
    let is_special = rule.tool != "*" && !rule.is_catch_all && !rule.has_operator;
    (is_about && is_special).then(|| Commands {
        rule,
        words: engine.layer.words(idx),
    })
}

/// The same, for an allow that loosens something.
pub(crate) fn allowed<'a>(engine: &Engine<'a>, idx: RuleIdx) -> Option<Commands<'a>> {
    let commands = commands(engine, idx)?;
    let loosens = engine.layer.default_action() != Action::Allow;
    (loosens && commands.rule.action == Action::Allow && !commands.rule.is_literal)
        .then_some(commands)
}

/// The same, for a rule that stops something.
pub(crate) fn restricted<'a>(engine: &Engine<'a>, idx: RuleIdx) -> Option<Commands<'a>> {
    commands(engine, idx).filter(|commands| commands.rule.action != Action::Allow)
}

impl Commands<'_> {
    /// The words in front that are written out.
    pub(crate) fn fixed(&self) -> Vec<&str> {
        let words = self.words.iter();
        words
            .take_while(|word| word.rest == WordRest::Nothing)
            .map(|word| word.front.as_str())
            .collect()
    }
}

/// The name of a program without its directory.
pub(crate) fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}
