//! Rules that name flags in one spelling, where there are others.

use podward_policy::{Action, Effort, RuleIdx, WordRest};

use crate::call::{Call, quoted};
use crate::code::Code;
use crate::command::{base, restricted};
use crate::engine::Engine;
use crate::finding::{Finding, Part};
use crate::reach::told;

/// Programs whose options are words of their own behind one dash.
const LONG_WITH_ONE_DASH: &[&str] = &[
    "cc",
    "clang",
    "clang++",
    "c++",
    "convert",
    "ffmpeg",
    "find",
    "g++",
    "gcc",
    "go",
    "java",
    "javac",
    "magick",
    "openssl",
    "tar",
    "terraform",
];

/// Programs that take options behind their operands as well.
const PERMUTE: &[&str] = &[
    "apt",
    "apt-get",
    "cargo",
    "chgrp",
    "chmod",
    "chown",
    "cp",
    "curl",
    "gh",
    "git",
    "helm",
    "kubectl",
    "ln",
    "ls",
    "mkdir",
    "mv",
    "npm",
    "pip",
    "pnpm",
    "rm",
    "rmdir",
    "rsync",
    "shred",
    "systemctl",
    "wget",
    "yarn",
];

/// Other spellings of one flag: the words in front, and the spellings.
const ALIKE: &[(&[&str], &[&str])] = &[
    (&["rm"], &["-f", "--force"]),
    (&["rm"], &["-r", "-R", "--recursive"]),
    (&["cp"], &["-r", "-R", "-a", "--recursive"]),
    (&["chmod"], &["-R", "--recursive"]),
    (&["chown"], &["-R", "--recursive"]),
    (&["git", "push"], &["-f", "--force", "--force-with-lease"]),
    (&["git", "push"], &["-d", "--delete"]),
    (&["git", "clean"], &["-f", "--force"]),
    (&["git", "commit"], &["-n", "--no-verify"]),
    (&["git", "commit"], &["-a", "--all"]),
    (&["git", "branch"], &["-D", "-df", "--delete --force"]),
    (&["git", "checkout"], &["-f", "--force"]),
    (&["curl"], &["-k", "--insecure"]),
    (&["docker", "rm"], &["-f", "--force"]),
    (
        &["npm", "install"],
        &["-g", "--global", "--location=global"],
    ),
];

/// A deny or an ask that names flags, and the same command in a spelling that gets through.
pub(crate) fn finding(engine: &Engine<'_>, idx: RuleIdx, effort: &mut Effort) -> Option<Finding> {
    let commands = restricted(engine, idx)?;
    let fixed = commands.fixed();
    let program = base(fixed.first()?);
    if !fixed.iter().any(|word| is_flag(word)) || fixed.first().is_some_and(|word| is_flag(word)) {
        return None;
    }
    let tools = engine.layer.tools(idx);
    let bash = tools.iter().find(|tool| tool.as_str() == "bash")?;
    let ends_open = commands
        .words
        .last()
        .is_some_and(|word| word.rest != WordRest::Nothing);
    let mut rest: Vec<String> = Vec::new();
    if ends_open || commands.words.len() > fixed.len() {
        // The rest of a text of the pattern, word by word.
        let text = engine.layer.texts(idx, bash, effort).into_iter().next()?;
        let words = podward_policy::written_words(&text);
        rest = words
            .into_iter()
            .skip(fixed.len())
            .map(|word| word.word)
            .collect();
    }
    let words: Vec<String> = fixed.iter().map(|word| (*word).to_owned()).collect();
    let witness = spellings(program, &words, &rest)
        .into_iter()
        .filter_map(|words| {
            let line: Vec<String> = words.iter().map(|word| quoted(word)).collect();
            engine.judge(Call::bash(&line.join(" "))?)
        })
        .map(|judged| judged.witness)
        .find(|witness| witness.action < commands.rule.action && witness.rule != Some(idx))?;
    let help = match commands.rule.action {
        Action::Deny => "write a rule for each spelling, or ask about the program as a whole",
        Action::Ask | Action::Allow => {
            "write a rule for each spelling, or one for the program as a whole"
        }
    };
    Some(Finding {
        code: Code::FlagOrder,
        layer_idx: engine.layer_idx,
        part: Part::Pattern(idx),
        message: format!(
            "{} names its flags in one spelling of several: another one gets through",
            told(idx, commands.rule)
        ),
        help: help.to_owned(),
        witnesses: vec![witness],
        related: Vec::new(),
    })
}

fn is_flag(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-') && word != "--"
}

/// A cluster of flags of one letter: `-rf`.
fn cluster(word: &str) -> Option<&str> {
    let letters = word.strip_prefix('-')?;
    let is_one = !letters.is_empty()
        && letters.len() <= 4
        && letters.chars().all(|c| c.is_ascii_alphabetic());
    is_one.then_some(letters)
}

/// Ways to write a command that mean the same, those that change least first.
fn spellings(program: &str, fixed: &[String], rest: &[String]) -> Vec<Vec<String>> {
    let mut ways: Vec<Vec<String>> = Vec::new();
    let with = |fixed: Vec<String>| [fixed, rest.to_vec()].concat();
    let replaced = |at: usize, by: &[String]| {
        let (front, back) = fixed.split_at_checked(at).unwrap_or((fixed, &[]));
        with([front, by, back.get(1..).unwrap_or_default()].concat())
    };
    let flags: Vec<(usize, &String)> = fixed
        .iter()
        .enumerate()
        .filter(|(_, word)| is_flag(word))
        .collect();
    let is_short = !LONG_WITH_ONE_DASH.contains(&program);
    for (at, flag) in &flags {
        let Some(letters) = cluster(flag).filter(|letters| is_short && letters.len() > 1) else {
            continue;
        };
        let back: String = letters.chars().rev().collect();
        ways.push(replaced(*at, &[format!("-{back}")]));
        let each: Vec<String> = letters.chars().map(|letter| format!("-{letter}")).collect();
        ways.push(replaced(*at, &each));
    }
    // Two flags in a row: in the other order, and in one word.
    for pair in flags.windows(2) {
        let [(first_at, first), (second_at, second)] = pair else {
            continue;
        };
        if *second_at != first_at + 1 {
            continue;
        }
        let (front, back) = fixed.split_at_checked(*first_at).unwrap_or((fixed, &[]));
        let behind = back.get(2..).unwrap_or_default();
        let turned = [(*second).clone(), (*first).clone()];
        ways.push(with([front, &turned, behind].concat()));
        if let (Some(a), Some(b), true) = (cluster(first), cluster(second), is_short) {
            ways.push(with([front, &[format!("-{a}{b}")], behind].concat()));
        }
    }
    ways.extend(alike(fixed, &flags, &replaced));
    // Behind the operands.
    if PERMUTE.contains(&program) && !rest.is_empty() {
        let (named, others): (Vec<String>, Vec<String>) =
            fixed.iter().cloned().partition(|word| is_flag(word));
        ways.push([others, rest.to_vec(), named].concat());
    }
    ways
}

/// The long and the other short names of flags.
fn alike(
    fixed: &[String],
    flags: &[(usize, &String)],
    replaced: &dyn Fn(usize, &[String]) -> Vec<String>,
) -> Vec<Vec<String>> {
    let mut ways = Vec::new();
    let words: Vec<&str> = fixed
        .iter()
        .map(String::as_str)
        .filter(|word| !is_flag(word))
        .collect();
    let of_these = ALIKE.iter().filter(|(front, _)| words.starts_with(front));
    for (_, spellings) in of_these {
        for (at, flag) in flags {
            if spellings.contains(&flag.as_str()) {
                let others = spellings.iter().filter(|other| **other != flag.as_str());
                ways.extend(others.map(|other| {
                    let words: Vec<String> = other.split(' ').map(str::to_owned).collect();
                    replaced(*at, &words)
                }));
            }
        }
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::spellings;

    #[test]
    fn the_same_flags_are_written_in_other_ways() {
        let of = |fixed: &str, rest: &str| -> Vec<String> {
            let words = |text: &str| -> Vec<String> {
                text.split_whitespace().map(str::to_owned).collect()
            };
            let fixed = words(fixed);
            let ways = spellings(&fixed[0], &fixed, &words(rest));
            ways.iter().map(|words| words.join(" ")).collect()
        };
        assert_eq!(of("rm -rf", "x"), ["rm -fr x", "rm -r -f x", "rm x -rf"]);
        assert_eq!(
            of("rm -r -f", ""),
            [
                "rm -f -r",
                "rm -rf",
                "rm -r --force",
                "rm -R -f",
                "rm --recursive -f"
            ]
        );
        assert_eq!(
            of("git push --force", "x"),
            [
                "git push -f x",
                "git push --force-with-lease x",
                "git push x --force"
            ]
        );
        assert_eq!(of("find . -delete", "x"), [""; 0]);
        assert_eq!(
            of("docker run -it", "x"),
            ["docker run -ti x", "docker run -i -t x"]
        );
    }
}
