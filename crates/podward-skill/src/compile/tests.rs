use podward_policy::{
    Action, Cause, KnownTools, LayerKind, LayerName, Lowered, Operation, Policies, Policy,
    PolicySpec, ToolName,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngSeed};

use super::ListPlace;
use crate::problem::{Gravity, Problem};
use crate::read::read;
use crate::tool_lists::ToolLists;

fn lists(allowed: Option<&str>, disallowed: &str) -> ToolLists {
    let mut text = "---\nname: x\ndescription: x\n".to_owned();
    if let Some(allowed) = allowed {
        text.push_str(&format!(
            "allowed-tools: '{}'\n",
            allowed.replace('\'', "''")
        ));
    }
    if !disallowed.is_empty() {
        text.push_str(&format!("disallowed-tools: '{disallowed}'\n"));
    }
    text.push_str("---\n");
    read("x", text.as_bytes()).skill.unwrap().tools
}

fn layer(lists: &ToolLists) -> Option<Policy> {
    let known = KnownTools::built_in();
    lists.compile(&ListPlace::new("SKILL.md", &known)).layer
}

/// A call of a tool as a worker would lower it.
fn call(tool: &str, arguments: serde_json::Value) -> Lowered {
    let place = podward_tools::Place::new("/work", Some("/home/me".into())).isolated();
    podward_tools::lower(tool, arguments, &place).unwrap().1
}

fn bash(command: &str) -> Lowered {
    call("bash", serde_json::json!({ "command": command }))
}

fn named(policy: Policy, kind: LayerKind) -> (LayerName, Policy) {
    (LayerName { kind }, policy)
}

/// The verdict over a command, under a list alone.
#[track_caller]
fn check(allowed: &str, cases: &[(&str, Action)]) {
    let policies = Policies::from(layer(&lists(Some(allowed), "")).unwrap());
    for (command, expected) in cases {
        let ruling = policies.judge(&bash(command));
        assert_eq!(ruling.action, *expected, "`{allowed}`: {command}");
    }
}

#[test]
fn a_prefix_allows_its_commands_and_nothing_beside_them() {
    use Action::{Allow, Deny};
    check(
        "Bash(git:*)",
        &[
            ("git", Allow),
            ("git status", Allow),
            ("git status && git diff", Allow),
            ("cd src && git log | git shortlog", Allow),
            ("gitk", Deny),
            ("git status; rm x", Deny),
            ("git log > x", Deny),
            ("git log | cat", Deny),
            ("/usr/bin/git status", Deny),
            ("sudo git status", Deny),
            ("git -c core.pager=sh log", Deny),
            ("$(git log)", Deny),
            ("echo $(git log)", Deny),
        ],
    );
    check(
        "Bash(npm run test:*)",
        &[("npm run test", Allow), ("npm run tests", Deny)],
    );
    check(
        "Bash(git log*)",
        &[("git logs", Allow), ("git status", Deny)],
    );
    check(
        "Bash(cat x | sh)",
        &[("cat x | sh", Allow), ("cat y | sh", Deny)],
    );
    check(
        "Bash",
        &[
            ("rm -rf x > y", Allow),
            ("curl x | sh", Allow),
            ("eval $x", Allow),
        ],
    );
    check("Read Grep", &[("ls", Deny), ("cat x", Deny)]);
}

#[test]
fn what_only_some_fillings_would_allow_is_denied() {
    use Action::{Allow, Deny};
    check(
        "Bash(git add src:*) Bash(git push origin:*) Bash(echo:*)",
        &[
            ("echo $x", Allow),
            ("git add src $x", Allow),
            ("git add $x", Deny),
            // It may be an option that runs a program.
            ("git push origin $x", Deny),
            ("git $x", Deny),
            ("$x", Deny),
        ],
    );
    let policies = Policies::from(layer(&lists(Some("Bash(git add src:*)"), "")).unwrap());
    let ruling = policies.judge(&bash("git add \"$x\""));
    assert!(
        matches!(ruling.cause, Cause::Unresolved { .. }),
        "{ruling:?}"
    );
}

#[test]
fn what_is_disallowed_is_denied_whatever_is_allowed() {
    let tools = lists(Some("Bash Read"), "Bash(rm:*) Read(.env) WebFetch");
    let policies = Policies::from(layer(&tools).unwrap());
    let judge = |command| policies.judge(&bash(command)).action;
    assert_eq!(judge("ls"), Action::Allow);
    assert_eq!(judge("rm x"), Action::Deny);
    assert_eq!(judge("/bin/rm x"), Action::Deny);
    assert_eq!(judge("ls; sudo rm x"), Action::Deny);
    assert_eq!(judge("cat .env"), Action::Deny);
    assert_eq!(judge("cat sub/.env"), Action::Deny);
    assert_eq!(judge("curl https://example.com"), Action::Deny);
}

#[test]
fn a_list_of_denies_alone_leaves_the_rest() {
    let policies = Policies::from(layer(&lists(None, "Bash(rm:*)")).unwrap());
    let judge = |command| policies.judge(&bash(command)).action;
    assert_eq!(judge("ls > x"), Action::Allow);
    assert_eq!(judge("rm x"), Action::Deny);
    assert_eq!(judge("$x y"), Action::Deny);
}

#[test]
fn an_absent_list_is_no_layer_and_an_empty_one_allows_nothing() {
    assert!(layer(&lists(None, "")).is_none());
    for empty in [lists(Some(""), ""), ToolLists::nothing()] {
        let policies = Policies::from(layer(&empty).unwrap());
        for tool in KnownTools::built_in().iter() {
            assert!(!policies.may_ever_run(tool), "{tool}");
        }
    }
}

#[test]
fn tools_beside_bash_are_held_to_the_list() {
    let policies = Policies::from(layer(&lists(Some("Read(src/*) Edit Grep"), "")).unwrap());
    let judge = |tool: &str, arguments| policies.judge(&call(tool, arguments)).action;
    use serde_json::json;
    assert_eq!(judge("read", json!({ "path": "src/a" })), Action::Allow);
    assert_eq!(judge("read", json!({ "path": "a" })), Action::Deny);
    assert_eq!(judge("read", json!({ "path": "src/../a" })), Action::Deny);
    let edit = json!({ "path": "a", "old_string": "x", "new_string": "y" });
    assert_eq!(judge("file_edit", edit), Action::Allow);
    assert_eq!(
        judge("file_write", json!({ "path": "a", "content": "x" })),
        Action::Deny
    );
    assert_eq!(judge("grep", json!({ "pattern": "x" })), Action::Allow);
    assert_eq!(judge("glob", json!({ "pattern": "x" })), Action::Deny);
}

#[test]
fn tools_outside_the_list_are_not_offered() {
    let policies = Policies::from(layer(&lists(Some("Read Bash(git:*) mcp__a__*"), "")).unwrap());
    let may = |name: &str| policies.may_ever_run(&ToolName::new(name).unwrap());
    assert!(may("read") && may("bash") && may("mcp__a__b"));
    assert!(!may("file_write") && !may("skill") && !may("mcp__b__c"));
}

#[test]
fn a_deny_that_is_no_pattern_leaves_nothing_allowed() {
    let known = KnownTools::built_in();
    let mut tools = lists(Some("Read Bash"), "Read(a)");
    // Reading refuses it; whoever makes lists in another way is not to get less.
    tools.disallowed[0].argument = Some("[a".into());
    let compiled = tools.compile(&ListPlace::new("x", &known));
    let is_error = |problem: &Problem| problem.gravity == Gravity::Error;
    assert!(compiled.problems.iter().any(is_error));
    let policies = Policies::from(compiled.layer.unwrap());
    assert_eq!(policies.judge(&bash("ls")).action, Action::Deny);
}

#[test]
fn a_word_for_a_directory_stands_for_that_directory_alone() {
    let known = KnownTools::built_in();
    let tools = lists(
        Some("Bash({baseDir}/run.sh:*) Bash(${CLAUDE_PLUGIN_ROOT}/x.sh:*)"),
        "Bash({baseDir}/danger.sh:*)",
    );
    let place = ListPlace::new("x", &known).in_skill("/skills/a[1]*");
    let policies = Policies::from(tools.compile(&place).layer.unwrap());
    let judge = |command| policies.judge(&bash(command)).action;
    assert_eq!(judge("'/skills/a[1]*/run.sh' x"), Action::Allow);
    assert_eq!(judge("/skills/a1/run.sh x"), Action::Deny);
    assert_eq!(judge("'/skills/a[1]*/b/run.sh' x"), Action::Deny);
    assert_eq!(judge("/x.sh"), Action::Deny);
    let widest = Policies::from(
        lists(Some("Bash"), "Bash({baseDir}/danger.sh:*)")
            .compile(&place)
            .layer
            .unwrap(),
    );
    assert_eq!(widest.judge(&bash("../a/danger.sh x")).action, Action::Deny);
}

#[test]
fn a_rule_names_the_line_of_its_entry() {
    let policies = Policies::from(layer(&lists(None, "Bash(rm:*)")).unwrap());
    let Cause::Rule { location, .. } = policies.judge(&bash("rm x")).cause else {
        panic!("a rule denies it");
    };
    assert_eq!(location.to_string(), "SKILL.md:4:20");
}

const ENTRIES: &[&str] = &[
    "Bash",
    "Bash(git:*)",
    "Bash(rm *)",
    "Bash(l*)",
    "Read",
    "Read(src/*)",
    "Write",
    "Edit",
    "Grep",
    "WebFetch(domain:a.b)",
    "Skill(x)",
    "mcp__a__*",
    "mcp_a_b_c",
    "*",
    "file_*",
    "Nothing",
    "Bash(git:* | sh)",
    "Bash(\"a b\" *)",
];

const COMMANDS: &[&str] = &[
    "git status",
    "git $x",
    "rm x",
    "rm -rf $x > y",
    "ls | sh",
    "$x",
    "eval $y",
    "sudo rm x",
    "cat src/a",
    "curl https://a.b/c",
    "a 'b c' d",
    "true",
    "cd /tmp && ls",
    "x=1 git log",
    "# nothing",
];

const TOOLS: &[&str] = &[
    "bash",
    "read",
    "file_write",
    "*",
    "web_fetch",
    "skill",
    "mcp__a__b",
];

fn a_policy() -> impl Strategy<Value = Vec<(&'static str, &'static str, Action)>> {
    let actions = select(&[Action::Allow, Action::Ask, Action::Deny][..]);
    let patterns = &["*", "git *", "rm *", "src/*", "x", "https://a.b/*", "ls*"][..];
    vec((select(TOOLS), select(patterns), actions), 0..5)
}

fn some_entries() -> impl Strategy<Value = String> {
    vec(select(ENTRIES), 0..4).prop_map(|entries| entries.join(", "))
}

proptest! {
    #![proptest_config(Config {
        cases: 1000,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..Config::default()
    })]

    #[test]
    fn an_active_list_never_weakens_a_verdict(
        rules in a_policy(),
        default in select(&[Action::Allow, Action::Ask, Action::Deny][..]),
        allowed in proptest::option::of(some_entries()),
        more in some_entries(),
        disallowed in some_entries(),
        command in select(COMMANDS),
        text in select(&["x", "src/a", "{\"a\":1}"][..]),
        tool in select(&TOOLS[4..]),
    ) {
        let spec = rules.iter().fold(PolicySpec::new(default), |spec, (tool, pattern, action)| {
            spec.rule(*tool, *pattern, *action)
        });
        let compile = || Policy::compile(&spec, &KnownTools::built_in()).unwrap().policy;
        let first = lists(allowed.as_deref(), &disallowed);
        let second = lists(Some(&more), "");
        let of = |active: &[&ToolLists]| {
            let mut layers = vec![named(compile(), LayerKind::Manifest)];
            let active = active.iter().filter_map(|lists| layer(lists));
            layers.extend(active.map(|policy| named(policy, LayerKind::CommandLine)));
            Policies::new(layers)
        };
        let calls = [
            bash(command),
            Lowered::from(Operation::plain(&ToolName::new(tool.trim_matches('*')).unwrap_or(
                ToolName::new("skill").unwrap()), text)),
        ];
        for call in &calls {
            let rules = of(&[]).judge(call).action;
            let one = of(&[&first]).judge(call).action;
            let both = of(&[&first, &second]).judge(call).action;
            prop_assert!(one >= rules, "{allowed:?} {disallowed:?}");
            // Nested lists intersect.
            prop_assert_eq!(both, one.max(of(&[&second]).judge(call).action));
            // A list never asks.
            if allowed.is_some() {
                let alone = layer(&first).map(Policies::from).unwrap().judge(call).action;
                prop_assert!(alone != Action::Ask);
            }
        }
    }

    #[test]
    fn what_a_list_disallows_is_allowed_by_no_other_entry(
        allowed in some_entries(),
        disallowed in some_entries(),
        command in select(COMMANDS),
    ) {
        let judge = |lists: &ToolLists| {
            let call = bash(command);
            layer(lists).map_or(Action::Allow, |policy| Policies::from(policy).judge(&call).action)
        };
        let alone = judge(&lists(None, &disallowed));
        let both = judge(&lists(Some(&allowed), &disallowed));
        prop_assert!(both >= alone, "{allowed} / {disallowed}: {command}");
    }
}
