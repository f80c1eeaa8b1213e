//! D5.5: what is appended to a line never weakens its verdict, and a deny on top never makes an
//! allow. Over lines of public projects, generated lines and hostile ones, under tables made by
//! chance from their own words. `PODWARD_CASES` sets the number of lines.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]

mod lexical;
mod units;

#[path = "oracle/generate.rs"]
mod generate;

use std::collections::BTreeSet;

use generate::Generator;
use podward_policy::{
    Action, KnownTools, LayerKind, LayerName, Location, Lowered, Need, Operation, Policies, Policy,
    PolicySpec, RuleSpec, Subject,
};

/// Lines in the test run; a soak sets more.
const DEFAULT_CASES: usize = 3000;

/// Simple commands that are appended; some set variables of the lines, or may set any.
const APPENDED: &[&str] = &[
    "ls",
    "rm -rf x",
    "pa",
    "pb x y",
    "cat .env",
    "git push origin main",
    "true",
    ":",
    "cd /etc",
    "sudo id",
    "echo \"$x\"",
    "sh",
    "cp a b > c",
    "xargs rm",
    "env A=b pc",
    "sed -i s/a/b/ f",
    "x=1",
    "read x y",
    "unset x",
    "printf -v x a",
    "eval \"$y\"",
    ". ./f",
    "export x=2 HOME=/",
    ": ${x:=1}",
    ": $((x = 1))",
    "set -- a",
    "$unknown y",
    "x=$(pa)",
    "x=eval",
    "x=abc y=a",
    "x[1]=2",
    "x+=a",
    "(( x = 1 ))",
    "for x in a b; do :; done",
    "f() { x=2; cd /; }",
    "pwd() { :; }",
    "f",
    "let x=1",
    "shift",
    "mapfile x",
    "declare -n y=x",
    "readonly x=3",
    "export x y f",
    "set -a",
    "trap 'x=1' EXIT",
    "PWD=/ HOME=/",
    "exec > f",
];

/// Parts of lines in which values count, for every way in which a part may look at them.
const PARTS: &[&str] = &[
    "x=.env",
    "x=a",
    "y=printf x=b",
    "x=(a .env)",
    "export x=.env",
    "readonly x=c",
    "cat $x",
    "cat \"$x\" > \"${x:-d}\"",
    "[[ $x == .env ]]",
    "(( x > 1 ))",
    ": $((x + 1))",
    "{ ls .env; } > $x",
    "{ [[ a ]]; } < $x",
    "f() { cat $x; }",
    "f() { [[ $x ]]; $1 y; g() { cat $x; }; g; }",
    "f a .env",
    "$x y",
    "$y -v x a",
    "${y:-ls} $x",
    "for x in a .env; do cat $x; done",
    "for y in a b; do cat $x; (( x )); done",
    "while [[ $x ]]; do (( x )); done",
    "until cat $x; do x=b; done",
    "if [ $x ]; then cat $x; else y=$x; fi",
    "case $x in a) cat $x ;; esac",
    "cd $x",
    "cd sub && cat $x",
    "cat $(pwd)/.env",
    "cat $PWD/.env ~/.env $HOME/.env",
    "ls .env",
    "find . -name .env",
    "set -- a .env",
    "cat $1 \"$@\"",
    "$1 y",
    "sh -c 'cat $x'",
    "eval \"cat $x\"",
    "trap \"cat $x\" EXIT",
    "trap 'cd sub; cat .env' INT",
    "trap f EXIT",
    "bash -c 'f; cat .env'",
    "set -P; cd sub/..",
    "echo \"$x\" | xargs cat",
    "cat <<< $x",
    "( x=b; cat $x )",
    "PATH=/bin",
    "HOME=/root",
    "sudo cat $x",
    "cat ${x%a} ${x[1]} ${x[@]}",
    "time cat $x",
    "! cat $x",
    "exec < $x",
];

const CONNECTORS: &[&str] = &[
    "; ", " && ", " || ", " | ", "\n", ";", "&&", "|", " |& ", " & ",
];

const TOOLS: &[&str] = &[
    "bash",
    "bash",
    "bash",
    "file_write",
    "read",
    "list",
    "*",
    "external_directory",
];

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) % (n as u64)) as usize
    }

    fn action(&mut self) -> Action {
        [Action::Allow, Action::Ask, Action::Deny][self.below(3)]
    }
}

/// Lines of every kind: one of them by chance.
struct Lines {
    real: Vec<String>,
    generator: Generator,
}

impl Lines {
    fn new() -> Self {
        let real = include_str!("real/commands.jsonl")
            .lines()
            .map(|line| {
                let line: serde_json::Value = serde_json::from_str(line).unwrap();
                line["command"].as_str().unwrap().to_owned()
            })
            .collect();
        Self {
            real,
            generator: Generator::new(4 + seed()),
        }
    }

    fn one(&mut self, random: &mut Random) -> String {
        match random.below(10) {
            0..3 => self.real[random.below(self.real.len())].clone(),
            3 => units::UNITS[random.below(units::UNITS.len())].repeat(1 + random.below(3)),
            4 | 5 => parts(random),
            _ => self.generator.text(),
        }
    }
}

/// Each part behind each of the others, with all that may be appended.
#[test]
fn no_appended_command_changes_a_part() {
    let mut changed = Vec::new();
    let plain = || PARTS.iter().filter(|part| !has_function(part));
    for line in plain().flat_map(|a| plain().map(move |b| format!("{a}; {b}"))) {
        let lowered = lower(&line);
        for (n, appended) in APPENDED.iter().enumerate() {
            // All connectors are tried on each part, if not with each command.
            let connector = CONNECTORS[(n + line.len()) % CONNECTORS.len()];
            let longer = lower(&format!("{line}{connector}{appended}"));
            if !lost(&lowered, &longer).is_empty() {
                changed.push(format!("{line:?} by {connector:?} {appended:?}"));
            }
        }
    }
    assert_eq!(changed, Vec::<String>::new());
}

/// Whether a line defines a function.
fn has_function(line: &str) -> bool {
    line.contains("()") || line.contains("function")
}

/// A few of the parts, one after the other; some of them inside of others.
fn parts(random: &mut Random) -> String {
    let mut line = PARTS[random.below(PARTS.len())].to_owned();
    for _ in 0..random.below(6) {
        let part = PARTS[random.below(PARTS.len())];
        let connector = ["; ", " && ", " || ", " | ", "\n", " & "][random.below(6)];
        line = match random.below(8) {
            0 => format!("{{ {line}; }}{connector}{part}"),
            1 => format!("for n in 1 2; do {line}; done{connector}{part}"),
            2 => format!("f() {{ {line}; }}{connector}{part}"),
            _ => format!("{line}{connector}{part}"),
        };
    }
    line
}

/// A table made from the words of a line, so that its rules matter.
fn table(random: &mut Random, line: &str) -> PolicySpec {
    let words: Vec<&str> = line.split([' ', '\n', '"', '\'']).collect();
    let rules = (0..random.below(5)).map(|_| rule(random, &words)).collect();
    PolicySpec {
        default_action: random.action(),
        default_location: location(),
        unresolved: None,
        rules,
    }
}

fn rule(random: &mut Random, words: &[&str]) -> RuleSpec {
    let word = |at: usize| -> String {
        let plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
        words[at].chars().filter(plain).collect()
    };
    let plain = word(random.below(words.len()));
    let pattern = match random.below(7) {
        // A pattern with an operator sees the whole text.
        6 => {
            let operator = ["|", ";", "&", "<", ">", "$("][random.below(6)];
            let last = word(random.below(words.len()));
            format!("{plain}*{operator}*{last}")
        }
        0 => "*".to_owned(),
        1 if !plain.is_empty() => format!("*{plain}*"),
        2 if !plain.is_empty() => plain,
        3 if !plain.is_empty() => format!("{plain}*"),
        _ if !plain.is_empty() => format!("{plain} *"),
        _ => "rm *".to_owned(),
    };
    RuleSpec {
        tool: TOOLS[random.below(TOOLS.len())].to_owned(),
        pattern,
        action: random.action(),
        message: None,
        grantable: true,
        ask_timeout: None,
        location: location(),
    }
}

fn location() -> Location {
    Location {
        file: "test".into(),
        line: 1,
        column: 1,
    }
}

/// The policy, if the table loads: `external_directory` takes no relative pattern, for one.
fn policies(spec: &PolicySpec) -> Option<Policies> {
    let compiled = Policy::compile(spec, &KnownTools::built_in()).ok()?;
    let layer = LayerName {
        kind: LayerKind::Manifest,
    };
    Some(Policies::new(vec![(layer, compiled.policy)]))
}

fn lower(line: &str) -> Lowered {
    podward_shell::lower(line, &lexical::place())
}

/// Whether a line was read to its end.
fn parses(lowered: &Lowered) -> bool {
    match lowered {
        Lowered::NothingToRun => true,
        Lowered::Operations(operations) => !operations.iter().any(|operation| {
            matches!(&operation.subject, Subject::Unknown(why) if why.as_str().contains("not read from here on"))
        }),
    }
}

fn allows_all(spec: &PolicySpec) -> bool {
    let is_star = |rule: &RuleSpec| rule.action == Action::Allow && rule.pattern == "*";
    spec.default_action == Action::Allow || spec.rules.iter().any(is_star)
}

fn n_cases() -> usize {
    std::env::var("PODWARD_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok())
        .unwrap_or(DEFAULT_CASES)
}

/// Where the numbers of the tests begin; a soak sets others.
fn seed() -> u64 {
    std::env::var("PODWARD_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok())
        .unwrap_or(1)
}

/// What a line does that it no longer does once something is appended: the same thing with the
/// same need.
fn lost(line: &Lowered, longer: &Lowered) -> Vec<String> {
    let one = |operation: &Operation| {
        // The place of the operation that another one comes from moves.
        let need = match &operation.need {
            Need::DerivedFrom(_) => "derived".to_owned(),
            Need::RunBy { reach, .. } => format!("run by, to {reach}"),
            need => format!("{need:?}"),
        };
        format!("{} {:?} {need}", operation.tool, operation.subject)
    };
    let all = |lowered: &Lowered| -> BTreeSet<String> {
        match lowered {
            Lowered::NothingToRun => BTreeSet::new(),
            Lowered::Operations(operations) => operations.iter().map(one).collect(),
        }
    };
    all(line).difference(&all(longer)).cloned().collect()
}

/// An appended command leaves all that the line does as it was; a verdict that only grows stricter
/// with its operations follows.
///
/// The body of a function is left out: it is read as it runs right behind its definition, which stays,
/// and as it may run at last, of which less is known where more stands behind it.
#[test]
fn what_is_appended_changes_nothing_before_it() {
    let mut random = Random(seed() + 2);
    let mut lines = Lines::new();
    let mut changed = Vec::new();
    let mut n_compared = 0;
    for _ in 0..n_cases() {
        let line = lines.one(&mut random);
        let lowered = lower(&line);
        if !parses(&lowered) || has_function(&line) {
            continue;
        }
        let connector = CONNECTORS[random.below(CONNECTORS.len())];
        let appended = APPENDED[random.below(APPENDED.len())];
        let longer = lower(&format!("{line}{connector}{appended}"));
        if !parses(&longer) {
            continue;
        }
        n_compared += 1;
        let lost = lost(&lowered, &longer);
        if !lost.is_empty() {
            changed.push(format!(
                "{line:?} loses by {connector:?} {appended:?}: {lost:#?}"
            ));
        }
    }
    assert!(changed.is_empty(), "{}", changed.join("\n"));
    assert!(n_compared > n_cases() / 4, "only {n_compared} comparisons");
}

#[test]
fn what_is_appended_never_weakens_a_verdict() {
    let mut random = Random(seed());
    let mut lines = Lines::new();
    let mut weaker = Vec::new();
    let mut n_compared = 0;
    for _ in 0..n_cases() {
        let line = lines.one(&mut random);
        let lowered = lower(&line);
        if !parses(&lowered) {
            continue;
        }
        let connector = CONNECTORS[random.below(CONNECTORS.len())];
        let longer = format!(
            "{line}{connector}{}",
            APPENDED[random.below(APPENDED.len())]
        );
        let longer_lowered = lower(&longer);
        let is_read = parses(&longer_lowered);
        for _ in 0..8 {
            let spec = table(&mut random, &longer);
            let Some(policies) = policies(&spec) else {
                continue;
            };
            n_compared += 1;
            let before = policies.judge(&lowered).action;
            let after = policies.judge(&longer_lowered).action;
            // A line that ends in `;` takes no second operator. What does not parse is unknown:
            // only a rule or a default that allows everything may cover it.
            let is_weaker = if is_read {
                after < before
            } else {
                after == Action::Allow && before != Action::Allow && !allows_all(&spec)
            };
            if is_weaker {
                weaker.push(format!(
                    "{before} to {after}: {longer:?} under {}",
                    shown(&spec)
                ));
            }
        }
    }
    assert!(n_compared > n_cases(), "only {n_compared} comparisons");
    assert_eq!(weaker, Vec::<String>::new());
}

#[test]
fn a_deny_on_top_never_makes_an_allow() {
    let mut random = Random(seed() + 1);
    let mut lines = Lines::new();
    let mut weaker = Vec::new();
    for _ in 0..n_cases() {
        let line = lines.one(&mut random);
        let lowered = lower(&line);
        for _ in 0..8 {
            let spec = table(&mut random, &line);
            let words: Vec<&str> = line.split([' ', '\n', '"', '\'']).collect();
            let mut stricter = spec.clone();
            let mut deny = rule(&mut random, &words);
            deny.action = Action::Deny;
            stricter.rules.insert(0, deny);
            let (Some(before), Some(after)) = (policies(&spec), policies(&stricter)) else {
                continue;
            };
            let (before, after) = (before.judge(&lowered).action, after.judge(&lowered).action);
            if after == Action::Allow && before != Action::Allow {
                weaker.push(format!(
                    "{before} to {after}: {line:?} under {}",
                    shown(&stricter)
                ));
            }
        }
    }
    assert_eq!(weaker, Vec::<String>::new());
}

fn shown(spec: &PolicySpec) -> String {
    let mut text = format!("default {}", spec.default_action);
    for rule in &spec.rules {
        text.push_str(&format!(
            "; {} {} {:?}",
            rule.action, rule.tool, rule.pattern
        ));
    }
    text
}
