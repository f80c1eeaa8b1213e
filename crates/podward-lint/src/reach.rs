//! What a rule decides: a call that shows it, or that there is none, or that nobody knows.

use podward_policy::{Action, AsWritten, Effort, RuleIdx, ToolName, WrittenRule};

use crate::call::{Call, quoted};
use crate::code::Code;
use crate::engine::{Engine, Witness};
use crate::finding::{Finding, Part};

/// What a rule decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// This call, and maybe more.
    Decides(Witness),
    /// No operation of any call that can be lowered, calls over a limit of the judge aside.
    Never,
    /// Nothing of what its pattern matches as it is written. What is left to it are other spellings,
    /// parts that are not known, or what a rule for everything is not applied to: this call, if one
    /// was found.
    Hardly(Option<Witness>),
    /// Its pattern matches no text of its tools.
    Nothing,
    /// No tool is one that it is about.
    NoTool,
    /// It was not found out, and why.
    Undecided(Why),
}

/// Why nothing is known of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// The search for a text reached its bounds.
    Bounds,
    /// No text that was tried is one that the rule decides.
    Tried,
}

impl Why {
    const fn told(self) -> &'static str {
        match self {
            Self::Bounds => "the search for a text that is left to it ended at its bounds",
            Self::Tried => "no call that was tried is left to it by the rules before it",
        }
    }
}

/// Looks for what a rule decides.
pub(crate) fn reach(engine: &Engine<'_>, idx: RuleIdx, effort: &mut Effort) -> Reach {
    let Some(rule) = engine.rule(idx) else {
        return Reach::NoTool;
    };
    let tools = engine.layer.tools(idx);
    if tools.is_empty() {
        return Reach::NoTool;
    }
    let mut found: Vec<(ToolName, AsWritten)> = Vec::new();
    for tool in tools {
        let left = engine.layer.as_written(idx, &tool, effort);
        if let AsWritten::Open(texts) = &left
            && let Some(witness) = decided(engine, idx, calls(&tool, rule, texts))
        {
            return Reach::Decides(witness);
        }
        found.push((tool, left));
    }
    let is = |kind: fn(&AsWritten) -> bool| found.iter().all(|(_, left)| kind(left));
    let is_left_nothing = is(|left| matches!(left, AsWritten::Covered | AsWritten::Empty));
    let literal = rule.is_literal.then(|| engine.lowered_line(rule.pattern));
    let literal = literal.flatten();
    if is_left_nothing && !is(|left| *left == AsWritten::Empty) {
        if engine.layer.never_decides(idx, literal.as_ref(), effort) {
            return Reach::Never;
        }
        return Reach::Hardly(left_over(engine, idx, rule, &found, effort));
    }
    if let Some(witness) = left_over(engine, idx, rule, &found, effort) {
        return Reach::Decides(witness);
    }
    if is_left_nothing {
        return Reach::Nothing;
    }
    match is(|left| *left != AsWritten::Undecided) {
        true => Reach::Undecided(Why::Tried),
        false => Reach::Undecided(Why::Bounds),
    }
}

/// The first call that a rule decides, or a part of which it decides.
fn decided(
    engine: &Engine<'_>,
    idx: RuleIdx,
    calls: impl IntoIterator<Item = Call>,
) -> Option<Witness> {
    let mut in_part = None;
    for call in calls {
        let Some(judged) = engine.judge(call) else {
            continue;
        };
        if judged.witness.rule == Some(idx) {
            return Some(judged.witness);
        }
        if in_part.is_none() && judged.is_decided_in_part(engine, idx) {
            in_part = Some(judged.witness);
        }
    }
    in_part
}

/// The calls of texts of a tool.
fn calls<'t>(
    tool: &'t ToolName,
    rule: WrittenRule<'t>,
    texts: &'t [String],
) -> impl Iterator<Item = Call> + 't {
    let is_line = tool.as_str() == "bash" && rule.has_operator;
    texts.iter().filter_map(move |text| match is_line {
        true => Call::bash(text),
        false => Call::of_text(tool, text),
    })
}

/// A call that is left to a rule of which earlier ones decide all that is written.
fn left_over(
    engine: &Engine<'_>,
    idx: RuleIdx,
    rule: WrittenRule<'_>,
    found: &[(ToolName, AsWritten)],
    effort: &mut Effort,
) -> Option<Witness> {
    for (tool, _) in found {
        let texts = engine.layer.texts(idx, tool, effort);
        let calls = texts
            .iter()
            .take(4)
            .flat_map(|text| variants(tool, rule, text));
        if let Some(witness) = decided(engine, idx, calls) {
            return Some(witness);
        }
    }
    None
}

/// Calls that mean much the same as one whose text a rule's pattern matches.
fn variants(tool: &ToolName, rule: WrittenRule<'_>, text: &str) -> Vec<Call> {
    let mut lines: Vec<String> = Vec::new();
    let mut calls = Vec::new();
    match tool.as_str() {
        "bash" => {
            let command = crate::call::command_line(text);
            let (program, rest) = command.split_once(' ').unwrap_or((&command, ""));
            lines.push(command.clone());
            lines.push(text.to_owned());
            lines.push(format!("/usr/bin/{command}"));
            lines.push(format!("{} {rest}", program.to_uppercase()));
            lines.push(format!("A=b {command}"));
            lines.push(format!("ssh host {command}"));
            if let Some((front, _)) = rule.pattern.split_once('*') {
                let front = front.trim_end();
                lines.push(format!("{front} \"$x\""));
                lines.push(format!("{front} $x"));
                lines.push(format!("{front} $x y"));
            }
        }
        "web_fetch" => {
            lines.push(format!("curl {}", quoted(text)));
            let with_user = text.replacen("://", "://user@", 1);
            calls.extend(Call::of_text(tool, &with_user));
        }
        "external_directory" => lines.push(format!("cat {}", quoted(text))),
        _ => {
            let file = quoted(text);
            calls.extend(Call::of_text(tool, text));
            calls.extend(Call::of_text(tool, &text.to_uppercase()));
            lines.push(format!("cat {file}"));
            lines.push(format!("ls {file}"));
            lines.push(format!("touch {file}"));
            lines.push(format!("echo x > {file}"));
            // What lies below a directory.
            let parents = text.match_indices('/').filter(|(at, _)| *at > 0);
            let parents = parents.filter_map(|(at, _)| text.get(..at)).rev();
            for directory in parents.chain(["."]) {
                lines.push(format!("rm -rf {}", quoted(directory)));
                lines.push(format!("mv {} other", quoted(directory)));
            }
        }
    }
    calls.extend(lines.iter().filter_map(|line| Call::bash(line)));
    calls
}

/// What is said of a rule that hardly decides anything.
pub(crate) fn findings(
    engine: &Engine<'_>,
    idx: RuleIdx,
    reach: &Reach,
    effort: &mut Effort,
) -> Vec<Finding> {
    let Some(rule) = engine.rule(idx) else {
        return Vec::new();
    };
    let finding = |code, part, message: String, help: String, witnesses, related| Finding {
        code,
        layer_idx: engine.layer_idx,
        part,
        message,
        help,
        witnesses,
        related,
    };
    match reach {
        Reach::Decides(_) => Vec::new(),
        Reach::NoTool => vec![finding(
            Code::UnknownTool,
            Part::Tool(idx),
            format!(
                "`{}` fits no known tool: the rule decides nothing",
                rule.tool
            ),
            unknown_tool_help(rule),
            Vec::new(),
            Vec::new(),
        )],
        Reach::Nothing => vec![nothing(engine, idx, rule)],
        Reach::Undecided(why) => {
            let (witnesses, related) = deciding(engine, idx, effort);
            vec![finding(
                Code::Undecided,
                Part::Pattern(idx),
                format!(
                    "it is undecided whether {} ever decides: {}",
                    told(idx, rule),
                    why.told()
                ),
                "write the rule, or those before it, with fewer wildcards; try what it is meant for \
                 with `podward check`"
                    .to_owned(),
                witnesses,
                related,
            )]
        }
        Reach::Never | Reach::Hardly(_) => {
            let (mut witnesses, related) = deciding(engine, idx, effort);
            let (code, message) = shadowed(engine, told(idx, rule), &related, reach);
            if let Reach::Hardly(left) = reach {
                witnesses.extend(left.clone());
            }
            let help = move_or_remove(engine, rule, &related, reach);
            vec![finding(
                code,
                Part::Pattern(idx),
                message,
                help,
                witnesses,
                related,
            )]
        }
    }
}

/// The code and the message of a rule whose calls are decided by the rules before it.
fn shadowed(
    engine: &Engine<'_>,
    told: String,
    related: &[RuleIdx],
    reach: &Reach,
) -> (Code, String) {
    let by = by(engine, related);
    match reach {
        Reach::Hardly(_) => (
            Code::HardlyDecides,
            format!(
                "{told} decides nothing as it is written: {by}; left to it are other spellings, \
                 unknown parts, or what a rule for everything is not applied to"
            ),
        ),
        _ => (Code::NeverDecides, format!("{told} never decides: {by}")),
    }
}

fn unknown_tool_help(rule: WrittenRule<'_>) -> String {
    match (rule.tool.starts_with("mcp__"), rule.action) {
        (true, _) => format!("for all tools of these servers write `{}__*`", rule.tool),
        (false, Action::Allow) => {
            "an allow whose tool does not begin with `mcp__` is about built-in tools only: name \
             one of them, see `podward tools`"
                .to_owned()
        }
        (false, Action::Ask | Action::Deny) => {
            "name a tool, see `podward tools`, or `mcp__<server>__<tool>`".to_owned()
        }
    }
}

/// How a rule is named in messages.
pub(crate) fn told(idx: RuleIdx, rule: WrittenRule<'_>) -> String {
    format!("rule {} ({} `{}`)", idx.0 + 1, rule.action, rule.pattern)
}

/// The rules that decide what a rule matches, each with a call.
fn deciding(
    engine: &Engine<'_>,
    idx: RuleIdx,
    effort: &mut Effort,
) -> (Vec<Witness>, Vec<RuleIdx>) {
    let mut witnesses = Vec::new();
    let mut related = Vec::new();
    for tool in engine.layer.tools(idx) {
        for (early, text) in engine.layer.deciding_before(idx, &tool, effort) {
            if related.contains(&early) {
                continue;
            }
            let call = Call::of_text(&tool, &text);
            if let Some(witness) = engine.decided_by(early, call) {
                witnesses.push(witness);
                related.push(early);
            }
        }
        if related.len() >= MOST_RELATED {
            break;
        }
    }
    if related.is_empty() {
        // By another form of the same text.
        for tool in engine.layer.tools(idx) {
            let texts = engine.layer.texts(idx, &tool, effort);
            let calls = texts.iter().filter_map(|text| Call::of_text(&tool, text));
            let mut judged = calls.filter_map(|call| engine.judge(call));
            let other = judged.find_map(|judged| Some((judged.witness.rule?, judged.witness)));
            if let Some((early, witness)) = other.filter(|(early, _)| *early != idx) {
                related.push(early);
                witnesses.push(witness);
                break;
            }
        }
    }
    (witnesses, related)
}

/// As many other rules as are named in one finding.
const MOST_RELATED: usize = 4;

fn by(engine: &Engine<'_>, related: &[RuleIdx]) -> String {
    let named = related
        .iter()
        .filter_map(|idx| Some(told(*idx, engine.rule(*idx)?)));
    let named: Vec<String> = named.collect();
    match &*named {
        [] => "rules before it decide all that it matches".to_owned(),
        [one] => format!("{one} stands before it and decides all that it matches"),
        [all @ .., last] => {
            format!(
                "{} and {last} stand before it and together decide all that it matches",
                all.join(", ")
            )
        }
    }
}

fn move_or_remove(
    engine: &Engine<'_>,
    rule: WrittenRule<'_>,
    related: &[RuleIdx],
    reach: &Reach,
) -> String {
    let is_same = |idx: &RuleIdx| {
        engine
            .rule(*idx)
            .is_some_and(|early| early.action == rule.action)
    };
    match (related.iter().all(is_same), reach, related.iter().min()) {
        (true, Reach::Never, _) => "remove it: the rules before it say the same".to_owned(),
        (false, _, Some(first)) => format!(
            "the first rule that matches decides: move it before rule {}, or remove it",
            first.0 + 1
        ),
        _ => "remove it if what is left to it does not matter".to_owned(),
    }
}

/// A pattern that matches nothing, with the call that is probably meant.
fn nothing(engine: &Engine<'_>, idx: RuleIdx, rule: WrittenRule<'_>) -> Finding {
    let has_quotes = rule.pattern.contains(['\'', '"']);
    let meant = rule.pattern.replace(['\'', '"'], "");
    let meant = meant.replace(['*', '?'], "x");
    let tools = engine.layer.tools(idx);
    let calls = tools.iter().flat_map(|tool| {
        let url = format!("https://{}", meant.trim());
        let texts = [meant.trim(), &url, "{}"];
        texts.map(|text| Call::of_text(tool, text))
    });
    let witness = calls
        .flatten()
        .filter_map(|call| engine.judge(call))
        .map(|judged| judged.witness)
        .find(|witness| witness.rule != Some(idx));
    let (code, why, help) = match has_quotes {
        true => (
            Code::Quotes,
            "no command is written with quotes like these",
            "commands are compared after quote removal: write the words without quotes, or close \
             the quote to match exactly one word",
        ),
        false => (
            Code::MatchesNothing,
            "no text of its tool is like this",
            "commands have one blank between two words; paths are relative inside the workspace, \
             without `./`, `..` and `//`; URLs begin with a scheme and a lower-case host; arguments \
             of MCP tools are JSON objects",
        ),
    };
    Finding {
        code,
        layer_idx: engine.layer_idx,
        part: Part::Pattern(idx),
        message: format!("{} matches nothing: {why}", told(idx, rule)),
        help: help.to_owned(),
        witnesses: witness.into_iter().collect(),
        related: Vec::new(),
    }
}
