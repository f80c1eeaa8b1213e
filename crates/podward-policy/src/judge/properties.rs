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

fn words() -> impl Strategy<Value = Vec<Vec<Part>>> {
    let part = prop_oneof![
        3 => select(&["rm", "a", "ls", "x y", "-f", "r", "m"][..]).prop_map(Part::Known),
        1 => Just(Part::Quoted),
        1 => Just(Part::Unquoted),
    ];
    let first = prop_oneof![
        3 => select(&["rm", "ls", "a"][..]).prop_map(|known| vec![Part::Known(known)]),
        1 => vec(part.clone(), 1..3),
    ];
    (first, vec(vec(part, 1..4), 0..3)).prop_map(|(first, mut rest)| {
        rest.insert(0, first);
        rest
    })
}

/// What an expansion stands for: a quoted one for the first word alone.
fn values() -> impl Strategy<Value = Vec<Vec<&'static str>>> {
    let value = select(&["", "rm", "a", "x y", "it's", "-f", "m -f", "'"][..]);
    vec(vec(value, 0..3), 6)
}

/// The operation of a command as it is before it runs.
fn with_holes(words: &[Vec<Part>]) -> Operation {
    let mut written = TextBuilder::new();
    let mut plain = TextBuilder::new();
    let mut ends = None;
    for (idx, word) in words.iter().enumerate() {
        if idx > 0 {
            written = written.known(" ");
            plain = plain.known(" ");
        }
        let is_quoted = word
            .iter()
            .any(|part| matches!(part, Part::Known(known) if known.contains(' ')));
        let quote = if is_quoted { "'" } else { "" };
        written = written.known(quote);
        for part in word {
            let add = |text: TextBuilder| match part {
                Part::Known(known) => text.known(known),
                Part::Quoted => text.hole(HoleKind::Quoted),
                Part::Unquoted => text.hole(HoleKind::Unquoted),
            };
            written = add(written);
            plain = add(plain);
        }
        written = written.known(quote);
        ends = ends.or(Some(written.clone().build().known_part().len()));
    }
    let command = CommandSubject {
        written: written.build(),
        name_start: 0,
        name_end: ends.unwrap(),
        further: vec![plain.build()],
    };
    operation("bash", Subject::Command(command), Need::Full)
}

/// The operation of the same command with values in its holes; `None` if nothing is left to run.
fn filled(words: &[Vec<Part>], values: &[Vec<&str>]) -> Option<Operation> {
    let mut values = values.iter().cycle();
    let mut done: Vec<String> = Vec::new();
    for word in words {
        let mut open: Option<String> = None;
        for part in word {
            match part {
                Part::Known(known) => open.get_or_insert_default().push_str(known),
                Part::Quoted => {
                    let value = values.next().unwrap().first().unwrap_or(&"");
                    open.get_or_insert_default().push_str(value);
                }
                Part::Unquoted => {
                    for (idx, value) in values.next().unwrap().iter().enumerate() {
                        if idx > 0 {
                            done.extend(open.take());
                        }
                        open.get_or_insert_default().push_str(value);
                    }
                }
            }
        }
        done.extend(open);
    }
    let written: Vec<_> = done.iter().map(|word| written_word(word)).collect();
    let name_end = written.first()?.len();
    let command = CommandSubject {
        written: text(&written.join(" ")),
        name_start: 0,
        name_end,
        further: vec![text(&done.join(" "))],
    };
    Some(operation("bash", Subject::Command(command), Need::Full))
}

/// How a pattern is made from a command: for each word how, how many words, and the end.
type Recipe = (Vec<usize>, usize, &'static str, &'static str);

fn recipes() -> impl Strategy<Value = Vec<Recipe>> {
    let end = select(&["", "", "*", " *"][..]);
    vec((vec(0_usize..8, 4), 0_usize..5, end, actions()), 1..4)
}

/// A table of rules that nearly match a command: without the exception of D3.2, no restrictive
/// pattern begins with `*`.
fn table_for(default: &str, recipes: &[Recipe], words: &[Vec<Part>]) -> String {
    let mut table = default.to_owned();
    for (hows, n_words, end, action) in recipes {
        let words = words.iter().take(*n_words).zip(hows.iter().cycle());
        let patterns: Vec<String> = words
            .map(|(word, how)| {
                let with = |hole: &str| -> String {
                    let parts = word.iter().map(|part| match part {
                        Part::Known(known) => known,
                        Part::Quoted | Part::Unquoted => hole,
                    });
                    parts.collect()
                };
                match how {
                    0 | 1 => with("*"),
                    2 => with("?*"),
                    3 => format!("'{}'", with("*")),
                    4 => with("").chars().take(1).chain(['*']).collect(),
                    5 => "*".to_owned(),
                    6 => "'*'".to_owned(),
                    _ => with(""),
                }
            })
            .collect();
        let mut pattern = (patterns.join(" ") + end)
            .replace("**", "*")
            .replace("**", "*");
        if pattern.trim_matches('*').is_empty() || (*action != "allow" && pattern.starts_with('*'))
        {
            pattern.insert(0, 'r');
        }
        table.push_str(&format!("\nbash | {pattern} | {action}"));
    }
    table
}

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
                Cause::NoPolicy | Cause::NothingToRun | Cause::Skill { .. } => prop_assert!(false, "{said:?}"),
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
