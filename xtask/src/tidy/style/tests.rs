use super::check;
use crate::tidy::{expect, rust_source};
use crate::tree::Tree;

#[track_caller]
fn found(path: &str, text: &str, expected: &[&str]) {
    let sources = rust_source::parse(&Tree::of(&[(path, text)]));
    expect(&sources.unparsed, &[]);
    expect(&check(&sources.files), expected);
}

#[test]
fn a_module_of_more_than_500_lines_is_found() {
    let text = "const A: u8 = 0;\n".repeat(501);
    found(
        "crates/a/src/b.rs",
        &text,
        &["crates/a/src/b.rs: [size] 501 lines without tests, at most 500: split by noun"],
    );
    found("crates/a/src/b.rs", &"const A: u8 = 0;\n".repeat(500), &[]);
}

#[test]
fn the_tests_of_a_module_do_not_count() {
    let tests = format!(
        "#[cfg(test)]\nmod tests {{\n{}}}\n",
        "const A: u8 = 0;\n".repeat(600)
    );
    found("crates/a/src/b.rs", &tests, &[]);
    found(
        "crates/a/src/b/tests.rs",
        &"const A: u8 = 0;\n".repeat(600),
        &[],
    );
}

#[test]
fn a_function_of_more_than_70_lines_is_found() {
    let function = |n: usize| {
        format!(
            "struct A;\nimpl A {{\nfn f() {{\n{}}}\n}}\n",
            "f();\n".repeat(n)
        )
    };
    found(
        "crates/a/src/b.rs",
        &function(69),
        &["crates/a/src/b.rs:3: [size] `f` has 71 lines, at most 70"],
    );
    found("crates/a/src/b.rs", &function(68), &[]);
}

#[test]
fn unfinished_code_is_found() {
    found(
        "crates/a/src/b.rs",
        "fn f() {\n    todo!()\n}\nfn g() { unimplemented!(\"later\") }\n",
        &[
            "crates/a/src/b.rs:2: [unfinished] `todo!`",
            "crates/a/src/b.rs:4: [unfinished] `unimplemented!`",
        ],
    );
}

#[test]
fn an_ignored_test_is_found() {
    found(
        "crates/a/src/b/tests.rs",
        "#[test]\n#[ignore = \"slow\"]\nfn f() {}\n",
        &["crates/a/src/b/tests.rs:2: [test] `#[ignore]`: a test runs or goes"],
    );
}

#[test]
fn a_silenced_lint_without_a_reason_is_found() {
    found(
        "crates/a/src/b.rs",
        "#[allow(dead_code)]\nfn f() {}\n#[expect(dead_code)]\nfn g() {}\n",
        &[
            "crates/a/src/b.rs:1: [lint] `#[allow]`: use `#[expect(…, reason = \"…\")]`",
            "crates/a/src/b.rs:3: [lint] `#[expect]` without a reason",
        ],
    );
    found(
        "crates/a/src/b.rs",
        "#[expect(dead_code, reason = \"shown in docs\")]\nfn g() {}\n",
        &[],
    );
}

#[test]
fn a_test_that_sleeps_is_found() {
    let sleeping = "fn f() {\n    std::thread::sleep(D);\n}\n";
    found(
        "tests/process/run.rs",
        sleeping,
        &["tests/process/run.rs:2: [test] a test that sleeps: wait for what it waits for"],
    );
    found("crates/a/src/b.rs", sleeping, &[]);
    let paused = format!("#[tokio::test(start_paused = true)]\nasync {sleeping}");
    found("tests/process/run.rs", &paused, &[]);
}
