//! Properties of verdicts, over random tables and calls.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngSeed};

use crate::action::Action;
use crate::operation::{CommandSubject, Lowered, Need, Operation, OperationIdx, Subject};
use crate::policy::{Policies, Policy};
use crate::spec::PolicySpec;
use crate::testing::{
    call, command, n_cases, operation, path, policies, table, text, unknown, url, whole_call,
};
use crate::text::{HoleKind, TextBuilder, written_word};
use crate::tool::KnownTools;
use crate::verdict::{Cause, LayerKind, LayerName};

mod grants;
mod holes;
mod skill_files;

use self::holes::*;

fn config() -> Config {
    Config {
        cases: u32::try_from(n_cases(1_000_000) / 200).unwrap(),
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..Config::default()
    }
}

fn actions() -> impl Strategy<Value = &'static str> {
    select(&["allow", "ask", "deny"][..])
}

const PATTERNS: &[&str] = &[
    "*",
    "rm *",
    "rm",
    "git *",
    "git push *",
    "*rm*",
    "ls*",
    "* -f*",
    "x/*",
    "*.env",
    "/w/x/*",
    "~/*",
    "https://a.b/*",
    "https://*.b/*",
    "* | *",
    "r?",
    "[rl]*",
    "git 'a b' *",
    "'*'",
    "rm > x",
    "sudo rm *",
    "sudo *",
    "**/x",
    "a",
];

const TOOLS: &[&str] = &[
    "bash",
    "bash",
    "bash",
    "read",
    "file_write",
    "*",
    "web_fetch",
    "external_directory",
    "mcp__a__*",
    "*r*",
];

fn a_table() -> impl Strategy<Value = String> {
    let rule = (select(TOOLS), select(PATTERNS), actions());
    (actions(), select(&["", "ask", "deny"][..]), vec(rule, 0..6)).prop_map(
        |(default, unresolved, rules)| {
            let mut table = default.to_owned();
            if !unresolved.is_empty() {
                table.push_str("\nunresolved | ");
                table.push_str(unresolved);
            }
            for (tool, pattern, action) in rules {
                table.push_str(&format!("\n{tool} | {pattern} | {action}"));
            }
            table
        },
    )
}

fn an_operation() -> impl Strategy<Value = Operation> {
    let commands = [
        "rm",
        "rm x",
        "git push",
        "git push -f",
        "ls",
        "ls ‹q›",
        "git ‹u›",
        "‹q› x",
        "‹u›",
        "sudo rm x",
        "git 'a b' c",
        "rm ‹g›",
        "echo rm",
        "git ‹a›",
    ];
    let paths = [
        "x",
        "x/a",
        ".env",
        "/etc/x",
        "/h/a",
        "‹q›",
        "x/‹q›",
        "‹g›",
        "x/‹g›.env",
    ];
    let urls = [
        "https://a.b/",
        "@https://a.b/c",
        "https://c.b/‹q›",
        "file:///etc/x",
    ];
    let needs = [
        Need::Full,
        Need::Restrictive,
        Need::Named,
        Need::Free,
        Need::DerivedFrom(OperationIdx(0)),
        Need::RunBy {
            wrapper: OperationIdx(0),
            reach: 7,
        },
        // What no lowering makes must not break anything either.
        Need::DerivedFrom(OperationIdx(9)),
        Need::RunBy {
            wrapper: OperationIdx(1),
            reach: usize::MAX,
        },
    ];
    let subject = prop_oneof![
        4 => select(commands.to_vec()).prop_map(|written| ("bash", command(written, &[]))),
        2 => select(commands.to_vec()).prop_map(|form| ("bash", command("/bin/rm x", &[form]))),
        2 => select(paths.to_vec()).prop_map(|short| ("read", path(short, None))),
        2 => select(paths.to_vec()).prop_map(|short| ("file_write", path("x/l", Some(short)))),
        1 => select(paths.to_vec()).prop_map(|short| ("external_directory", path(short, None))),
        1 => select(urls.to_vec()).prop_map(|canonical| ("web_fetch", url(canonical))),
        1 => Just(("bash", unknown().subject)),
        1 => Just(("mcp__a__b", Subject::Plain(text("{\"a\":1}")))),
    ];
    (subject, select(needs.to_vec()))
        .prop_map(|((tool, subject), need)| operation(tool, subject, need))
}

fn a_call() -> impl Strategy<Value = Lowered> {
    (
        vec(an_operation(), 1..4),
        select(&["", "rm > x", "ls | x"][..]),
    )
        .prop_map(|(operations, whole)| match whole {
            "" => call(&operations),
            whole => whole_call(&operations, whole),
        })
}

fn policy_of(spec: &PolicySpec) -> Policies {
    let policy = Policy::compile(spec, &KnownTools::built_in())
        .unwrap()
        .policy;
    let name = LayerName {
        kind: LayerKind::Manifest,
    };
    Policies::new(vec![(name, policy)])
}

/// One word of a command: known characters, quoted and unquoted expansions.
#[derive(Debug, Clone)]
enum Part {
    Known(&'static str),
    Quoted,
    Unquoted,
}

/// How a pattern is made from a command: for each word how, how many words, and the end.
type Recipe = (Vec<usize>, usize, &'static str, &'static str);

proptest! {
    #![proptest_config(config())]

    #[test]
    fn d3_2_what_is_allowed_with_holes_is_allowed_however_they_are_filled(
        default in actions(),
        recipes in recipes(),
        words in words(),
        values in vec(values(), 8),
    ) {
        let table = table_for(default, &recipes, &words);
        let policies = policies(&table);
        let ruling = policies.judge(&call(&[with_holes(&words)]));
        for values in values {
            let Some(filled) = filled(&words, &values) else { continue };
            let verdict = policies.judge(&call(std::slice::from_ref(&filled))).action;
            // A rule that every filling matches is no guess either.
            let expected = match (ruling.action, &ruling.cause) {
                (Action::Allow, _) => verdict == Action::Allow,
                (action, Cause::Rule { .. }) => verdict >= action,
                (_, _) => true,
            };
            prop_assert!(expected, "{table}: {:?}, filled: {filled:?}: {verdict}", ruling);
        }
    }

    #[test]
    fn d5_5_a_deny_at_the_top_never_turns_a_verdict_into_allow(
        written in a_table(),
        tool in select(TOOLS),
        pattern in select(PATTERNS),
        lowered in a_call(),
    ) {
        let spec = table(&written);
        let mut stricter = table(&format!("deny\n{tool} | {pattern} | deny"));
        stricter.rules.extend(spec.rules.iter().cloned());
        stricter.default_action = spec.default_action;
        stricter.unresolved = spec.unresolved;
        let before = policy_of(&spec).judge(&lowered);
        let after = policy_of(&stricter).judge(&lowered);
        prop_assert!(
            before.action == Action::Allow || after.action != Action::Allow,
            "{before:?}, then {after:?}"
        );
    }

    #[test]
    fn d5_2_layers_only_tighten(
        first in a_table(),
        second in a_table(),
        lowered in a_call(),
    ) {
        let layers = |tables: &[&str]| {
            let layers = tables.iter().map(|text| {
                let policy = Policy::compile(&table(text), &KnownTools::built_in());
                (LayerName { kind: LayerKind::User }, policy.unwrap().policy)
            });
            Policies::new(layers.collect()).judge(&lowered).action
        };
        prop_assert_eq!(
            layers(&[&first, &second]),
            layers(&[&first]).max(layers(&[&second]))
        );
    }

    #[test]
    fn d5_1_more_operations_never_loosen(
        written in a_table(),
        operations in vec(an_operation(), 1..4),
        more in an_operation(),
    ) {
        let policies = policies(&written);
        let before = policies.judge(&call(&operations)).action;
        let mut all = operations;
        all.push(more);
        // The first operation says what tool the call is to: it stays in its place.
        prop_assert!(policies.judge(&call(&all)).action >= before || !is_settled(&all));
    }

    #[test]
    fn item_10_a_tool_that_is_not_offered_is_always_denied(
        written in a_table(),
        tool in select(&["bash", "read", "file_write", "web_fetch", "mcp__a__b"][..]),
        lowered in a_call(),
    ) {
        let policies = policies(&written);
        if policies.may_ever_run(&crate::testing::tool(tool)) {
            return Ok(());
        }
        let Lowered::Operations(operations) = &lowered else { return Ok(()) };
        let full = operations.iter().find(|operation| {
            operation.tool.as_str() == tool && operation.need == Need::Full
        });
        if let Some(full) = full {
            let verdict = policies.judge(&call(std::slice::from_ref(full))).action;
            prop_assert_eq!(verdict, Action::Deny);
        }
    }

    #[test]
    fn an_explanation_is_the_verdict_with_every_rule_that_led_to_it(
        first in a_table(),
        second in a_table(),
        lowered in a_call(),
    ) {
        let layers = [&first, &second].into_iter().map(|text| {
            let policy = Policy::compile(&table(text), &KnownTools::built_in());
            (LayerName { kind: LayerKind::User }, policy.unwrap().policy)
        });
        let policies = Policies::new(layers.collect());
        let explanation = policies.explain(&lowered);
        prop_assert_eq!(&explanation.ruling, &policies.judge(&lowered));
        let said = || explanation.layers.iter().flat_map(|layer| &layer.operations);
        prop_assert_eq!(said().map(|said| said.action).max(), Some(explanation.ruling.action));
        for (layer, said) in explanation
            .layers
            .iter()
            .flat_map(|layer| layer.operations.iter().map(move |said| (layer, said)))
        {
            let places: Vec<usize> = said.tried.iter().map(|tried| tried.rule.0).collect();
            prop_assert_eq!(&places, &(0..places.len()).collect::<Vec<_>>());
            match &said.cause {
                Cause::Rule { rule, .. } => {
                    let decided = said.tried.get(rule.0).expect("it was tried");
                    prop_assert!(decided.counts(), "{decided:?}");
                    prop_assert_eq!(decided.action, said.action);
                }
                Cause::Unresolved { rule, .. } => {
                    prop_assert_eq!(said.action, layer.unresolved);
                    if let Some(rule) = rule {
                        prop_assert!(said.tried.get(rule.0).expect("it was tried").counts());
                    }
                }
                Cause::Default { .. } => {
                    prop_assert_eq!(places.len(), layer.n_rules);
                    prop_assert_eq!(said.action, layer.default_action);
                }
                Cause::Unrestricted => prop_assert_eq!(said.action, Action::Allow),
                Cause::Unnamed { .. } => prop_assert_eq!(said.action, Action::Ask),
                Cause::NoPolicy
                | Cause::NothingToRun
                | Cause::Skill { .. }
                | Cause::SkillFiles { .. } => prop_assert!(false, "{said:?}"),
            }
            if said.action != Action::Allow {
                let allow = said.nearest.iter().all(|near| near.action == Action::Allow);
                prop_assert!(allow);
            }
        }
    }

    #[test]
    fn no_table_and_no_text_panics(
        tool in ".{0,12}",
        pattern in "[*?\\[\\]!^a /~'\"\\\\:{},\u{e9}\u{1f600}]{0,12}|.{0,20}",
        written in "[ '\\\\a‹q›u*/\u{e9}]{0,16}|.{0,20}",
        holes in vec((0_usize..24, 0_usize..4), 0..4),
    ) {
        let mut spec = table("ask\nbash | a | deny\nbash | a | allow");
        for rule in &mut spec.rules {
            rule.pattern.clone_from(&pattern);
        }
        let mut with_tool = spec.clone();
        with_tool.rules[0].tool = tool;
        Policy::compile(&with_tool, &KnownTools::built_in()).ok();
        let Ok(compiled) = Policy::compile(&spec, &KnownTools::built_in()) else {
            return Ok(());
        };
        let name = LayerName { kind: LayerKind::Manifest };
        let policies = Policies::new(vec![(name, compiled.policy)]);
        let mut builder = TextBuilder::new();
        let mut rest = &*written;
        for (at, kind) in holes {
            let (before, after) = rest.split_at_checked(at).unwrap_or((rest, ""));
            let kinds = [
                HoleKind::Quoted,
                HoleKind::Unquoted,
                HoleKind::FileGlob,
                HoleKind::Anything,
            ];
            builder = builder.known(before).hole(kinds[kind]);
            rest = after;
        }
        let text = builder.known(rest).build();
        let command = CommandSubject {
            written: text.clone(),
            name_start: 3,
            name_end: 1,
            further: vec![text.clone()],
            place: None,
        };
        for subject in [Subject::Command(command), Subject::Plain(text)] {
            for need in [Need::Full, Need::Restrictive, Need::Free] {
                let _ = policies.judge(&call(&[operation("bash", subject.clone(), need)]));
            }
        }
    }
}

/// Whether an operation says what tool its call is to.
fn is_settled(operations: &[Operation]) -> bool {
    matches!(
        operations
            .first()
            .map(|operation| (operation.tool.as_str(), operation.need)),
        Some(("bash", Need::Full))
    )
}
