//! Patterns for commands that name a program with its directory.

use podward_policy::{Action, RuleIdx, WordRest};

use crate::call::{Call, quoted};
use crate::code::Code;
use crate::command::{Commands, base, commands};
use crate::engine::{Engine, Witness};
use crate::finding::{Finding, Part};
use crate::reach::told;

/// A program that no command is compared with by this name, or one that is also found without its
/// directory.
pub(crate) fn finding(engine: &Engine<'_>, idx: RuleIdx) -> Option<Finding> {
    let commands = commands(engine, idx)?;
    let name = named(&commands)?;
    let place = place(name);
    if place != name {
        return odd_spelling(engine, idx, &commands, name, &place);
    }
    found_without_it(engine, idx, &commands, name)
}

/// The program, if it is written out and has a directory.
fn named<'c>(commands: &'c Commands<'_>) -> Option<&'c str> {
    let first = commands.words.first()?;
    let is_named = first.rest == WordRest::Nothing && first.front.contains('/');
    is_named.then_some(first.front.as_str())
}

/// Programs are compared by where they lie (D3.4): what is written otherwise is no place.
fn odd_spelling(
    engine: &Engine<'_>,
    idx: RuleIdx,
    commands: &Commands<'_>,
    name: &str,
    place: &str,
) -> Option<Finding> {
    let rule = commands.rule;
    let (runs, what) = match rule.action {
        Action::Allow => (
            name,
            "and no program lies at a path that is spelled so: it allows nothing",
        ),
        Action::Ask | Action::Deny => (
            place,
            "and no program lies at a path that is spelled so: by another spelling it gets through",
        ),
    };
    let witness = milder_or_unnamed(engine, idx, commands, runs)?;
    Some(Finding {
        code: Code::ProgramPath,
        layer_idx: engine.layer_idx,
        part: Part::Pattern(idx),
        message: format!("{} names `{name}`, {what}", told(idx, rule)),
        help: format!("write `{place}`: a program is judged where it lies, however it is spelled"),
        witnesses: vec![witness],
        related: Vec::new(),
    })
}

/// A deny for `/usr/bin/rm *` is passed by `rm`.
fn found_without_it(
    engine: &Engine<'_>,
    idx: RuleIdx,
    commands: &Commands<'_>,
    name: &str,
) -> Option<Finding> {
    let rule = commands.rule;
    let (directory, _) = name.rsplit_once('/')?;
    let is_on_path = directory.starts_with('/') && directory.ends_with("bin");
    if rule.action == Action::Allow || !is_on_path {
        return None;
    }
    let base = base(name);
    let witness = milder_or_unnamed(engine, idx, commands, base)?;
    Some(Finding {
        code: Code::ProgramPath,
        layer_idx: engine.layer_idx,
        part: Part::Pattern(idx),
        message: format!(
            "{} names a program in `{directory}`, and the shell finds it by its name alone",
            told(idx, rule)
        ),
        help: format!("write `{base}`: a deny or ask sees a program in whatever directory it is"),
        witnesses: vec![witness],
        related: Vec::new(),
    })
}

/// The call of the rule with its program named so: one that an allow leaves to others, or of which
/// less is said than the rule says.
fn milder_or_unnamed(
    engine: &Engine<'_>,
    idx: RuleIdx,
    commands: &Commands<'_>,
    name: &str,
) -> Option<Witness> {
    let fixed = commands.fixed();
    let words = std::iter::once(name).chain(fixed.iter().skip(1).copied());
    let is_whole = fixed.len() == commands.words.len();
    let words = words.chain((!is_whole).then_some("x"));
    let line: Vec<String> = words.map(quoted).collect();
    let witness = engine.judge(Call::bash(&line.join(" "))?)?.witness;
    let is_left = match commands.rule.action {
        Action::Allow => witness.action != Action::Allow,
        action => witness.action < action,
    };
    (is_left && witness.rule != Some(idx)).then_some(witness)
}

/// Where a path leads by its text: `./` in front where it lies in the workspace itself.
fn place(path: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    let is_rooted = path.starts_with('/');
    let mut is_outside = false;
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => is_outside |= names.pop().is_none() && !is_rooted,
            name => names.push(name),
        }
    }
    let joined = names.join("/");
    let is_dotted = path.starts_with("./");
    match (is_rooted, is_dotted || names.len() == 1) {
        // What lies outside has no other name that is known here.
        _ if is_outside => path.to_owned(),
        (true, _) => format!("/{joined}"),
        (false, true) => format!("./{joined}"),
        (false, false) => joined,
    }
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn a_place_is_a_path_without_detours() {
        let check = |path: &str, expected: &str| assert_eq!(place(path), expected, "{path}");
        check("./check", "./check");
        check("lib/check", "lib/check");
        check("./lib/check", "./lib/check");
        check("././check", "./check");
        check("src/../check", "./check");
        check("lib//x/./check", "lib/x/check");
        check("/usr/bin/../bin/rm", "/usr/bin/rm");
        check("~/bin/x", "~/bin/x");
        check("../x", "../x");
    }
}
