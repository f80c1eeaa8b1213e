//! A `*` that reaches further than it looks.

use podward_policy::{Action, Effort, RuleIdx, WordRest};
use podward_shell::{program_names, subcommand_names};

use crate::call::{Call, quoted};
use crate::code::Code;
use crate::command::{allowed, restricted};
use crate::engine::Engine;
use crate::finding::{Finding, Part};
use crate::reach::told;

/// An allow whose `*` goes on with the program's name or a subcommand's: `ls*` allows `lsof`.
pub(crate) fn glued(engine: &Engine<'_>, idx: RuleIdx) -> Option<Finding> {
    let commands = allowed(engine, idx)?;
    let at = commands
        .words
        .iter()
        .position(|word| word.rest != WordRest::Nothing)?;
    let word = commands.words.get(at)?;
    let front = &word.front;
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let is_word =
        front.starts_with(|c: char| c.is_ascii_alphanumeric()) && front.chars().all(is_name);
    if word.rest != WordRest::Star || !is_word {
        return None;
    }
    let fixed = commands.fixed();
    let longer = |name: &&str| name.len() > front.len() && name.starts_with(front.as_str());
    let (mut names, what): (Vec<String>, _) = match fixed.first() {
        None => {
            let known = program_names()
                .into_iter()
                .filter(longer)
                .map(str::to_owned);
            (known.chain([format!("{front}x")]).collect(), "program")
        }
        Some(program) if at == 1 => {
            let known = subcommand_names(program).into_iter().filter(longer);
            (known.map(str::to_owned).collect(), "subcommand")
        }
        Some(_) => return None,
    };
    // `npm run test*` says which tasks it means; a name that goes on with `-` or `:` is much the same.
    names.sort_by_key(|name| {
        name.get(front.len()..)
            .is_some_and(|rest| rest.starts_with('-'))
    });
    let calls = names.iter().filter_map(|name| {
        let words = fixed.iter().copied().chain([name.as_str()]);
        let line: Vec<String> = words.map(quoted).collect();
        Call::bash(&line.join(" "))
    });
    let witness = calls
        .filter_map(|call| engine.judge(call))
        .map(|judged| judged.witness)
        .find(|witness| witness.action == Action::Allow && witness.rule == Some(idx))?;
    let shorter = fixed.iter().copied().chain([front.as_str()]);
    let shorter: Vec<&str> = shorter.collect();
    Some(Finding {
        code: Code::GluedStar,
        layer_idx: engine.layer_idx,
        part: Part::Pattern(idx),
        message: format!(
            "{} allows every {what} whose name begins with `{front}`: its `*` goes on with the word",
            told(idx, commands.rule)
        ),
        help: format!(
            "write `{} *`: that matches the command with any arguments, and without",
            shorter.join(" ")
        ),
        witnesses: vec![witness],
        related: Vec::new(),
    })
}

/// A restrictive pattern that begins with `*`: it meets quoted text, which is no command (D6), and it
/// does not meet a quoted value that is not known (D3.2).
pub(crate) fn leading(engine: &Engine<'_>, idx: RuleIdx, effort: &mut Effort) -> Option<Finding> {
    let commands = restricted(engine, idx)?;
    let first = commands.words.first()?;
    if !first.front.is_empty() || first.rest == WordRest::Nothing {
        return None;
    }
    let tools = engine.layer.tools(idx);
    let bash = tools.iter().find(|tool| tool.as_str() == "bash")?;
    let mut texts = engine.layer.texts(idx, bash, effort);
    texts.sort_by_key(String::len);
    let calls = texts.iter().filter_map(|text| {
        let inner = text.trim_matches(' ');
        Call::bash(&format!("echo {}", quoted(inner)))
    });
    let witness = engine.decided_by(idx, calls)?;
    Some(Finding {
        code: Code::ReachesArguments,
        layer_idx: engine.layer_idx,
        part: Part::Pattern(idx),
        message: format!(
            "{} begins with `*`: it meets text in arguments as well, which nothing runs, and not a \
             quoted value that is unknown",
            told(idx, commands.rule)
        ),
        help:
            "name the program in front if only a command is meant: programs are also found inside \
               of wrappers and with a directory in front"
                .to_owned(),
        witnesses: vec![witness],
        related: Vec::new(),
    })
}
