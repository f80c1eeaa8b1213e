use super::{check_dependencies, check_sources};
use crate::tidy::layering::Edge;
use crate::tidy::{expect, rust_source};
use crate::tree::Tree;

#[track_caller]
fn found(path: &str, text: &str, expected: &[&str]) {
    let sources = rust_source::parse(&Tree::of(&[(path, text)]));
    expect(&check_sources(&sources.files), expected);
}

#[test]
fn a_pure_crate_may_only_use_listed_crates() {
    let edges = ["serde", "tokio", "podward-policy"].map(|to| Edge {
        from: "podward-gate".to_owned(),
        to: to.to_owned(),
    });
    expect(
        &check_dependencies(&edges),
        &["crate podward-gate: [purity] is pure and may not use `tokio`"],
    );
}

#[test]
fn the_world_is_found_in_a_pure_crate() {
    let text = "use std::{fmt, fs::File, time::{Duration, Instant}};\n\
                fn f() { let _ = std::env::var(\"A\"); }\n\
                async fn g() {}\n";
    found(
        "crates/podward-policy/src/a.rs",
        text,
        &[
            "crates/podward-policy/src/a.rs:1: [purity] a pure crate uses `std::fs`",
            "crates/podward-policy/src/a.rs:1: [purity] a pure crate uses `std::time::Instant`",
            "crates/podward-policy/src/a.rs:2: [purity] a pure crate uses `std::env`",
            "crates/podward-policy/src/a.rs:3: [purity] a pure crate has an async function, `g`",
        ],
    );
    found("crates/podward-pod/src/a.rs", text, &[]);
}

#[test]
fn tests_of_a_pure_crate_may_meet_the_world() {
    let text = "use std::env;\n";
    found("crates/podward-policy/src/a/tests.rs", text, &[]);
    found(
        "crates/podward-policy/src/a.rs",
        "#[cfg(test)]\nmod tests { use std::env; }\n",
        &[],
    );
}

#[test]
fn a_module_for_tests_alone_may_meet_the_world() {
    let sources = rust_source::parse(&Tree::of(&[
        (
            "crates/podward-policy/src/lib.rs",
            "#[cfg(test)]\nmod testing;\nmod a;",
        ),
        ("crates/podward-policy/src/testing.rs", "use std::env;"),
        ("crates/podward-policy/src/testing/b.rs", "use std::env;"),
        ("crates/podward-policy/src/a.rs", "use std::env;"),
    ]));
    expect(
        &check_sources(&sources.files),
        &["crates/podward-policy/src/a.rs:1: [purity] a pure crate uses `std::env`"],
    );
}
