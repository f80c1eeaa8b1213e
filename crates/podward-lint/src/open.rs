//! Allows for programs that run whatever they are given.

use podward_policy::{Action, Effort, Need, RuleIdx, Subject};
use podward_shell::{UNREAD_CODE, head};

use crate::call::{Call, quoted};
use crate::code::Code;
use crate::command::{Commands, allowed, base};
use crate::engine::{Engine, Judged};
use crate::finding::{Finding, Part};
use crate::reach::told;

/// Programs that run others as another user.
const AS_OTHERS: &[&str] = &["doas", "pkexec", "run0", "runuser", "su", "sudo"];

/// Programs of whose texts the commands are found and judged by themselves.
const READ_THROUGH: &[&str] = &["awk", "gawk", "mawk", "nawk", "sed", "gsed"];

/// What a program that runs anything may be given, the plainest first.
const GIVEN: &[&str] = &[
    "-c 'import os'",
    "-e 1",
    "-r 'exit();'",
    "rm -rf x",
    "x rm -rf y",
    "-- rm -rf x",
    "./x.sh",
    "x",
    "run x rm -rf y",
    "run x",
];

/// An allow with a wildcard of a shell, an interpreter, a wrapper or a package runner, if the judge
/// confirms that something runs by it that no rule judges.
pub(crate) fn finding(engine: &Engine<'_>, idx: RuleIdx, effort: &mut Effort) -> Option<Finding> {
    let commands = allowed(engine, idx)?;
    let fixed = commands.fixed();
    let head_of_fixed = head(&fixed, engine.programs);
    if head_of_fixed.name.is_some() || head_of_fixed.subcommand.is_some() {
        return None;
    }
    let program = fixed.first().copied()?;
    if READ_THROUGH.contains(&base(program)) {
        return None;
    }
    let mut weaker = None;
    for given in given(engine, idx, base(program), effort) {
        let line = format!("{} {given}", written(&fixed));
        let Some(judged) = Call::bash(&line).and_then(|call| engine.judge(call)) else {
            continue;
        };
        let is_allowed = judged.witness.action == Action::Allow;
        if !is_allowed || !judged.is_decided_in_part(engine, idx) {
            continue;
        }
        match kind(
            &judged,
            base(program),
            given.starts_with('-') && !given.starts_with("--"),
        ) {
            // A script that looks like one says most.
            Some(Kind::Script) if weaker.is_none() || given.ends_with(".sh") => {
                weaker = Some((Kind::Script, judged));
            }
            Some(Kind::Script) => {}
            Some(kind) => return Some(told_so(engine, idx, &commands, kind, judged)),
            None => {}
        }
    }
    let (kind, judged) = weaker?;
    Some(told_so(engine, idx, &commands, kind, judged))
}

/// What the program of an allow runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Code in its arguments.
    Code,
    /// A program that needs no rule of its own.
    Program,
    /// Programs, as another user.
    AsOther,
    /// What a file holds.
    Script,
}

fn kind(judged: &Judged, program: &str, is_option: bool) -> Option<Kind> {
    let operations = judged.operations();
    let runs_inner = operations.iter().any(|operation| {
        operation.need == Need::Restrictive && matches!(operation.subject, Subject::Command(_))
    });
    let reads = operations
        .iter()
        .any(|operation| operation.tool.as_str() == "read");
    if AS_OTHERS.contains(&program) {
        return Some(Kind::AsOther);
    }
    if is_option {
        return runs_code(judged).then_some(Kind::Code);
    }
    if runs_inner {
        return Some(Kind::Program);
    }
    reads.then_some(Kind::Script)
}

/// Whether code stands in the arguments of an interpreter.
fn runs_code(judged: &Judged) -> bool {
    judged
        .operations()
        .iter()
        .any(|operation| operation.partial.iter().any(|why| **why == *UNREAD_CODE))
}

/// What is tried behind the words of a pattern.
fn given(engine: &Engine<'_>, idx: RuleIdx, program: &str, effort: &mut Effort) -> Vec<String> {
    let mut given: Vec<String> = GIVEN.iter().map(|given| (*given).to_owned()).collect();
    if AS_OTHERS.contains(&program) {
        // What the rules allow by itself, as somebody else.
        let mut others = (0..engine.layer.n_rules()).map(RuleIdx);
        let other = others.find_map(|other| {
            let commands = (other != idx).then(|| allowed(engine, other)).flatten()?;
            let tool = engine.layer.tools(other);
            let bash = tool.iter().find(|tool| tool.as_str() == "bash")?;
            let text = engine.layer.texts(other, bash, effort).into_iter().next()?;
            let is_other = commands
                .fixed()
                .first()
                .is_some_and(|name| *name != program);
            is_other.then(|| crate::call::command_line(&text))
        });
        given = other.into_iter().chain(["-i".to_owned()]).collect();
    }
    given
}

fn written(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    words.join(" ")
}

fn told_so(
    engine: &Engine<'_>,
    idx: RuleIdx,
    commands: &Commands<'_>,
    kind: Kind,
    judged: Judged,
) -> Finding {
    let front = commands.fixed().join(" ");
    let (what, help) = match kind {
        Kind::Code => (
            "runs any code that stands in its arguments, and no rule sees what that does",
            "name the script or the module behind it, and put the wildcard behind that",
        ),
        Kind::Program => (
            "runs any program that is named behind it, and that needs no rule of its own",
            "name the program behind it, and put the wildcard behind that",
        ),
        Kind::AsOther => (
            "runs as another user whatever is allowed by itself",
            "name the whole command behind it, or ask",
        ),
        Kind::Script => (
            "runs any file, whatever is in it, and no rule sees what that does",
            "name the script behind it, and put the wildcard behind that",
        ),
    };
    Finding {
        code: Code::RunsAnything,
        layer_idx: engine.layer_idx,
        part: Part::Pattern(idx),
        message: format!(
            "{} allows all that `{front}` runs: it {what}",
            told(idx, commands.rule)
        ),
        help: help.to_owned(),
        witnesses: vec![judged.witness],
        related: Vec::new(),
    }
}
