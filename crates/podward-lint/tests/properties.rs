//! What lint says of rules holds for calls that the tools lower: what never decides decides no random
//! call, and what decides is confirmed by the judge.

#![cfg(test)]

use podward_lint::{Attendance, Call, Lint, Lower, Reach};
use podward_policy::{
    Action, Cause, KnownTools, Lowered, Policies, Policy, PolicySpec, RuleIdx, ToolName,
};
use podward_shell::AddedPrograms;
use podward_tools::{Place, lower};
use serde_json::{Value, json};

struct Tools(Place);

impl Tools {
    fn new() -> Self {
        Self(Place::new("/w", Some("/h".into())).isolated())
    }

    fn judged(&self, call: &Call) -> Option<Lowered> {
        let lowered = lower(call.tool.as_str(), call.arguments.clone(), &self.0);
        lowered.ok().map(|(_, lowered)| lowered)
    }
}

impl Lower for Tools {
    fn lower(&self, call: &Call) -> Option<Lowered> {
        self.judged(call)
    }
}

/// SplitMix64: each run is the same.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(n).unwrap()).unwrap()
    }

    fn one_of<'t>(&mut self, items: &[&'t str]) -> &'t str {
        items[self.below(items.len())]
    }

    fn text(&mut self, pieces: &[&str], most: usize) -> String {
        (0..1 + self.below(most))
            .map(|_| self.one_of(pieces))
            .collect()
    }
}

fn policies(spec: &PolicySpec) -> Policies {
    let compiled = Policy::compile(spec, &KnownTools::built_in());
    Policies::from(
        compiled
            .unwrap_or_else(|errors| panic!("{errors:?}"))
            .policy,
    )
}

fn with_lint<T>(policies: &Policies, tools: &Tools, look: impl FnOnce(&Lint<'_>) -> T) -> T {
    let known = KnownTools::built_in();
    look(&Lint {
        policies,
        known: &known,
        lower: tools,
        programs: &AddedPrograms::default(),
        attendance: Attendance::Unsaid,
    })
}

const COMMANDS: &[&str] = &[
    "git *",
    "git push *",
    "git push",
    "git * main",
    "rm *",
    "rm -rf *",
    "rm -[rf] *",
    "*rm*",
    "ls*",
    "ls",
    "[gl]* *",
    "sudo *",
    "/bin/rm *",
    "cat .env",
    "git push; ls",
    "* | *",
    "echo 'a b' *",
    "*",
    "timeout *",
    "g?t *",
    "cd *",
];
const PATHS: &[&str] = &[
    "src/*",
    "src/gen/*",
    "*.env",
    ".env",
    "*",
    "/etc/*",
    "~/*",
    "src/**/x",
    "[!s]*",
    "src/a",
    "?rc/*",
    "/w/src/*",
    "s*",
    ".*",
    "**/.env",
];
const URLS: &[&str] = &[
    "https://a.b/*",
    "https://*.b/*",
    "https://a.b/c",
    "*",
    "http*://a.b/*",
    "*://10.*",
    "*b/*",
];
const TOOLS: &[&str] = &[
    "bash",
    "bash",
    "bash",
    "read",
    "read",
    "file_write",
    "file_*",
    "*",
    "web_fetch",
    "external_directory",
    "mcp__a__b",
    "mcp__a__*",
    "grep",
];

fn a_table(random: &mut Random) -> (PolicySpec, Vec<(&'static str, &'static str)>) {
    let actions = [Action::Allow, Action::Ask, Action::Deny];
    let mut spec = PolicySpec::new(actions[random.below(3)]);
    let mut rules = Vec::new();
    for _ in 0..2 + random.below(5) {
        let tool = random.one_of(TOOLS);
        let pattern = match tool {
            "bash" => random.one_of(COMMANDS),
            "web_fetch" => random.one_of(URLS),
            "*" => random.one_of(&["*", "*rm*", ".env", "src/*"]),
            "mcp__a__b" | "mcp__a__*" => random.one_of(&["*", "*\"a\"*", "{}", "{*}"]),
            _ => random.one_of(PATHS),
        };
        spec = spec.rule(tool, pattern, actions[random.below(3)]);
        rules.push((tool, pattern));
    }
    (spec, rules)
}

/// A text that a pattern matches, or nearly.
fn near(random: &mut Random, pattern: &str) -> String {
    let mut text = String::new();
    for c in pattern
        .replace("[!s]", "?")
        .replace("[gl]", "g")
        .replace("[rf]", "r")
        .chars()
    {
        match c {
            '*' => text.push_str(random.one_of(&[
                "", "x", "a b", "$x", "\"$x\"", "a/b", ".env", "x -f", "../x",
            ])),
            '?' => text.push_str(random.one_of(&["s", "i", "x"])),
            c if random.below(15) == 0 => text.push(c.to_ascii_uppercase()),
            c => text.push(c),
        }
    }
    text
}

fn a_call(random: &mut Random, rules: &[(&str, &str)]) -> Call {
    let (tool, pattern) = rules[random.below(rules.len())];
    let text = near(random, pattern);
    let plain = text.replace(['"', '$'], "");
    let call = |tool: &str, arguments: Value| Call {
        tool: ToolName::new(tool).unwrap(),
        arguments,
    };
    let wrapped = |text: &str, random: &mut Random| {
        let front = random.one_of(&[
            "",
            "",
            "",
            "timeout 5 ",
            "sudo ",
            "A=b ",
            "/usr/bin/",
            "ssh h ",
        ]);
        let back = random.one_of(&[
            "",
            "",
            "",
            "; ls",
            " | sh",
            " > src/a",
            " && rm -rf src",
            " # x",
        ]);
        format!("{front}{text}{back}")
    };
    if tool == "bash" {
        return call("bash", json!({ "command": wrapped(&text, random) }));
    }
    if tool.starts_with("mcp") {
        let object: Value = serde_json::from_str(&plain).unwrap_or_else(|_| json!({ "a": plain }));
        return call(random.one_of(&["mcp__a__b", "mcp__a__c"]), object);
    }
    if tool == "web_fetch" {
        return call("web_fetch", json!({ "url": plain }));
    }
    match random.below(6) {
        0 => call("read", json!({ "path": plain })),
        1 => call("file_write", json!({ "path": plain, "content": "" })),
        2 => call("grep", json!({ "pattern": "a", "path": plain })),
        _ => {
            let verb = random.one_of(&[
                "cat",
                "touch",
                "rm -rf",
                "mv x",
                "ls",
                "cp",
                "echo >",
                "rm -r src; cat",
            ]);
            let command = format!("{verb} {}", if text.is_empty() { "x" } else { &text });
            call("bash", json!({ "command": wrapped(&command, random) }))
        }
    }
}

#[test]
fn what_never_decides_decides_no_call() {
    let tools = Tools::new();
    let mut random = Random(41);
    let (mut n_never, mut n_decided, mut n_calls) = (0, 0, 0);
    for _ in 0..400 {
        let (spec, rules) = a_table(&mut random);
        let policies = policies(&spec);
        let reaches: Vec<Reach> = with_lint(&policies, &tools, |lint| {
            let all = (0..rules.len()).map(RuleIdx);
            all.filter_map(|idx| lint.reach(0, idx)).collect()
        });
        let never = |idx: RuleIdx| matches!(reaches[idx.0], Reach::Never);
        let n = (0..rules.len()).filter(|idx| never(RuleIdx(*idx))).count();
        n_never += n;
        let known = KnownTools::built_in();
        let layers = policies.analysis(&known);
        for _ in 0..if n == 0 { 2 } else { 120 } {
            let call = a_call(&mut random, &rules);
            let Some(lowered) = tools.judged(&call) else {
                continue;
            };
            n_calls += 1;
            for decided in layers[0].decisions(&lowered) {
                n_decided += usize::from(decided.rule.is_some());
                let is_never = decided.rule.is_some_and(never);
                assert!(!is_never, "{decided:?} {call:?}\n{spec:#?}");
            }
        }
    }
    assert!(
        n_never > 50 && n_decided > 2000 && n_calls > 2000,
        "{n_never} {n_decided} {n_calls}"
    );
}

#[test]
fn what_decides_is_confirmed_and_every_witness_too() {
    let tools = Tools::new();
    let mut random = Random(43);
    let (mut n_decides, mut n_undecided, mut n_witnesses) = (0, 0, 0);
    for _ in 0..200 {
        let (spec, rules) = a_table(&mut random);
        let policies = policies(&spec);
        let known = KnownTools::built_in();
        let layers = policies.analysis(&known);
        with_lint(&policies, &tools, |lint| {
            for idx in (0..rules.len()).map(RuleIdx) {
                match lint.reach(0, idx) {
                    Some(Reach::Decides(witness)) => {
                        n_decides += 1;
                        let lowered = tools.judged(&witness.call).unwrap();
                        let decided = layers[0].decisions(&lowered);
                        let is_its = decided.iter().any(|decided| decided.rule == Some(idx));
                        assert!(is_its, "{idx:?} {witness:?}\n{spec:#?}");
                    }
                    Some(Reach::Undecided(_)) => n_undecided += 1,
                    _ => {}
                }
            }
            for finding in lint.run().findings {
                for witness in &finding.witnesses {
                    n_witnesses += 1;
                    let ruling = policies.judge(&tools.judged(&witness.call).unwrap());
                    assert_eq!(ruling.action, witness.action, "{finding:?}\n{spec:#?}");
                    let rule = match ruling.cause {
                        Cause::Rule { rule, .. } => Some(rule),
                        _ => None,
                    };
                    assert_eq!(rule, witness.rule, "{finding:?}\n{spec:#?}");
                }
            }
        });
    }
    assert!(
        n_decides > 200 && n_witnesses > 100,
        "{n_decides} {n_witnesses}"
    );
    // Most questions have an answer.
    assert!(n_undecided * 10 < n_decides, "{n_undecided} of {n_decides}");
}

/// A list as people write it, made longer: programs, directories and hosts, denies first.
fn realistic(n_rules: usize) -> PolicySpec {
    let mut random = Random(47);
    let mut spec = PolicySpec::new(Action::Deny);
    let programs = [
        "git",
        "cargo",
        "npm",
        "kubectl",
        "docker",
        "make",
        "terraform",
        "aws",
        "go",
        "pnpm",
    ];
    for idx in 0..n_rules {
        let program = random.one_of(&programs);
        let word = random.text(
            &["build", "test", "push", "log", "get", "run", "-x", "show"],
            1,
        );
        let (tool, pattern, action) = match idx % 8 {
            0 => ("read", format!("src/{word}{idx}/*"), Action::Allow),
            1 => (
                "file_write",
                format!("docs/{word}{idx}/*.md"),
                Action::Allow,
            ),
            2 => (
                "web_fetch",
                format!("https://{word}{idx}.example.com/*"),
                Action::Allow,
            ),
            3 => (
                "bash",
                format!("{program} {word} --all{idx} *"),
                Action::Deny,
            ),
            4 => ("bash", format!("{program} {word}{idx}"), Action::Ask),
            5 => ("read", format!("*/secret{idx}/*.key"), Action::Deny),
            _ => ("bash", format!("{program} {word}{idx} *"), Action::Allow),
        };
        spec = spec.rule(tool, pattern, action);
    }
    spec
}

#[test]
fn a_thousand_rules_cost_no_more_than_they_may() {
    let tools = Tools::new();
    let steps = |n_rules: usize| {
        let policies = policies(&realistic(n_rules));
        with_lint(&policies, &tools, |lint| {
            let report = lint.run();
            let undecided =
                |finding: &&podward_lint::Finding| finding.code == podward_lint::Code::Undecided;
            assert_eq!(report.findings.iter().filter(undecided).count(), 0);
            report.n_steps
        })
    };
    let steps = steps(1000);
    assert!(steps < 20_000_000, "{steps}");
}
