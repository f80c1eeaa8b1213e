//! The rules that are named allow the call, over random calls and tables.

use std::cell::Cell;

use podward_policy::{Action, LayerKind, Lowered};
use podward_shell::AddedPrograms;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestRunner;
use serde_json::json;

use super::tests::{compiled, layer, with};
use super::{allowing_rules, rules_to_allow};
use crate::choices::properties::{a_line, config};
use crate::fixture::text_place;
use crate::registry::{arguments_of_text, lower};

const PATHS: &[&str] = &[
    "src/a.rs",
    ".env",
    "a/.env.local",
    "../other/x",
    "/etc/passwd",
    "~/.ssh/id",
    "[x]",
    "a b",
    ".",
    "src",
    "é*?",
];

const URLS: &[&str] = &[
    "https://docs.rs/serde",
    "http://10.0.0.5/",
    "https://me@docs.rs/",
    "file:///etc/passwd",
    "https://x.example/a?b=[c]",
];

const PATTERNS: &[(&str, &str)] = &[
    ("bash", "*"),
    ("bash", "git *"),
    ("bash", "git push*"),
    ("bash", "rm *"),
    ("bash", "ls*"),
    ("bash", "cat *"),
    ("bash", "* -m *"),
    ("bash", "sudo *"),
    ("bash", "*$*"),
    ("bash", "* | *"),
    ("bash", "npm *"),
    ("bash", "./x.sh *"),
    ("read", "*"),
    ("read", "src/*"),
    ("read", "*.env*"),
    ("file_write", "*"),
    ("file_write", "out"),
    ("file_edit", "src/*"),
    ("file_*", "?*"),
    ("list", "*"),
    ("external_directory", "*"),
    ("web_fetch", "*"),
    ("web_fetch", "https://docs.rs/*"),
    ("mcp__s__t", "*"),
    ("*", "*"),
    ("*", "?*"),
];

const ACTIONS: &[Action] = &[Action::Allow, Action::Ask, Action::Deny];

fn a_call() -> impl Strategy<Value = (&'static str, String)> {
    let path = || select(PATHS).prop_map(str::to_owned);
    let files = select(&["read", "file_write", "file_edit", "grep", "list", "glob"][..]);
    prop_oneof![
        6 => a_line().prop_map(|line| ("bash", line)),
        2 => (files, path()),
        1 => select(URLS).prop_map(|url| ("web_fetch", url.to_owned())),
        1 => Just(("mcp__s__t", "{\"a\":\"[b]\"}".to_owned())),
    ]
}

type Table = (
    Action,
    Vec<((&'static str, &'static str), Action)>,
    Option<Action>,
);

fn a_table() -> impl Strategy<Value = Table> {
    let rule = (select(PATTERNS), select(ACTIONS));
    let unresolved = option::of(select(&[Action::Ask, Action::Deny][..]));
    (select(ACTIONS), vec(rule, 0..6), unresolved)
}

#[test]
fn the_rules_that_are_named_allow_the_call() {
    let strategy = (a_call(), a_table(), option::of(a_table()));
    let none = AddedPrograms::default();
    let (n_told, n_asked, n_refused) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let ran = TestRunner::new(config()).run(&strategy, |((tool, text), manifest, user)| {
        let arguments = arguments_of_text(tool, &text).unwrap_or_else(|| json!({}));
        let Ok((_, call)) = lower(tool, arguments, &text_place()) else {
            return Ok(());
        };
        let of = |kind, (default, rules, unresolved): Table| {
            let rules: Vec<(&str, &str, Action)> = rules
                .into_iter()
                .map(|((tool, pattern), action)| (tool, pattern, action))
                .collect();
            let (kind, mut spec) = layer(kind, default, &rules);
            spec.unresolved = unresolved;
            (kind, spec)
        };
        let user = user.map(|user| of(LayerKind::User, user));
        let layers: Vec<_> = user
            .into_iter()
            .chain([of(LayerKind::Manifest, manifest)])
            .collect();
        let policies = compiled(&layers);
        let explanation = policies.explain(&call);
        let before = explanation.ruling.clone();
        if before.action == Action::Allow {
            return Ok(());
        }
        match rules_to_allow(&call, &explanation, &none) {
            Ok(rules) => {
                let after = compiled(&with(&layers, &rules)).judge(&call);
                prop_assert_eq!(
                    after.action,
                    Action::Allow,
                    "{} {}: {:?}, then {:?}: {:#?}",
                    tool,
                    text,
                    before,
                    after.cause,
                    rules
                );
                n_told.set(n_told.get() + 1);
            }
            Err(why) => {
                prop_assert!(!why.is_empty());
                n_refused.set(n_refused.get() + 1);
            }
        }
        if before.action == Action::Ask {
            let asking = policies.asking(&call);
            if let Ok(rules) = allowing_rules(&call, &asking, &policies, &none) {
                let after = compiled(&with(&layers, &rules)).judge(&call);
                prop_assert_eq!(
                    after.action,
                    Action::Allow,
                    "{} {}: {:#?}",
                    tool,
                    text,
                    rules
                );
                n_asked.set(n_asked.get() + 1);
            }
        }
        Ok(())
    });
    if let Err(error) = ran {
        panic!("{error}");
    }
    let (n_told, n_asked, n_refused) = (n_told.get(), n_asked.get(), n_refused.get());
    assert!(
        n_told > 10 * n_refused && n_asked > n_told / 10,
        "{n_told} told, {n_asked} of what asks, {n_refused} without a rule"
    );
}

/// The rules that are named for a call open no other one: they are written without a wildcard.
#[test]
fn no_rule_that_is_named_has_a_wildcard() {
    let none = AddedPrograms::default();
    let ran = TestRunner::new(config()).run(&a_call(), |(tool, text)| {
        let arguments = arguments_of_text(tool, &text).unwrap_or_else(|| json!({}));
        let Ok((_, call)) = lower(tool, arguments, &text_place()) else {
            return Ok(());
        };
        if matches!(call, Lowered::NothingToRun) {
            return Ok(());
        }
        let policies = compiled(&[layer(LayerKind::Manifest, Action::Deny, &[])]);
        let explanation = policies.explain(&call);
        for rule in rules_to_allow(&call, &explanation, &none).unwrap_or_default() {
            let bare = rule
                .pattern
                .replace("[*]", "")
                .replace("[?]", "")
                .replace("[[]", "");
            let bare = bare.replace("[]]", "");
            prop_assert!(
                !bare.contains(['*', '?', '[']),
                "{} {}: {:?}",
                tool,
                text,
                rule
            );
        }
        Ok(())
    });
    if let Err(error) = ran {
        panic!("{error}");
    }
}
