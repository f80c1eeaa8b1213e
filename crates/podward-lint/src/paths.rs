//! Patterns for paths in rules for commands.

use podward_policy::{Action, Effort, RuleIdx};

use crate::call::{Call, quoted};
use crate::code::Code;
use crate::command::commands;
use crate::engine::Engine;
use crate::finding::{Finding, Part};
use crate::reach::told;

/// A pattern of one word that looks like a path: commands are compared with it, not what they open.
pub(crate) fn finding(engine: &Engine<'_>, idx: RuleIdx, effort: &mut Effort) -> Option<Finding> {
    let commands = commands(engine, idx)?;
    let rule = commands.rule;
    let [_] = &*commands.words else {
        return None;
    };
    let looks_like_one = rule.tool == "bash" && looks_like_a_path(rule.pattern);
    if !looks_like_one {
        return None;
    }
    let tools = engine.layer.tools(idx);
    let bash = tools.iter().find(|tool| tool.as_str() == "bash")?;
    let texts = engine.layer.texts(idx, bash, effort);
    let paths: Vec<String> = texts
        .iter()
        .filter(|text| !text.contains(' '))
        .cloned()
        .collect();
    let (witness, what) = match rule.action {
        Action::Allow => {
            let calls = paths.iter().filter_map(|path| Call::of_text(bash, path));
            let witness = engine.decided_by(idx, calls)?;
            (
                witness,
                "it allows to run programs there, and to open nothing",
            )
        }
        Action::Ask | Action::Deny => {
            let opened = paths.iter().flat_map(|path| {
                let path = quoted(path);
                [
                    format!("cat {path}"),
                    format!("cp {path} x"),
                    format!("cat {path} x"),
                ]
            });
            let witness = opened
                .filter_map(|line| engine.judge(Call::bash(&line)?))
                .map(|judged| judged.witness)
                .find(|witness| witness.action < rule.action && witness.rule != Some(idx))?;
            (witness, "commands that open such a file get through")
        }
    };
    Some(Finding {
        code: Code::PathForBash,
        layer_idx: engine.layer_idx,
        part: Part::Pattern(idx),
        message: format!(
            "{} names a path, but commands are compared with it: {what}",
            told(idx, rule)
        ),
        help: "write the rule for `read`, `file_write` or `file_edit`: what a command reads and \
               writes is judged by these as well"
            .to_owned(),
        witnesses: vec![witness],
        related: Vec::new(),
    })
}

fn looks_like_a_path(pattern: &str) -> bool {
    let has_wildcard = pattern.contains(['*', '?']);
    let is_below = pattern.starts_with("~/") || pattern.contains('/');
    let has_ending = pattern.rsplit_once('.').is_some_and(|(front, ending)| {
        let is_ending = !ending.is_empty() && ending.chars().all(|c| c.is_ascii_alphanumeric());
        is_ending && (front.ends_with('*') || front.is_empty() || front.ends_with('/'))
    });
    (has_wildcard && is_below) || has_ending
}
