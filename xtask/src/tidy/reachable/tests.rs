use super::{check, check_test_binaries};
use crate::tidy::{expect, rust_source};
use crate::tree::Tree;

#[track_caller]
fn found(files: &[(&str, &str)], expected: &[&str]) {
    let sources = rust_source::parse(&Tree::of(files));
    expect(&check(&sources.files), expected);
}

#[test]
fn a_module_that_is_named_is_fine() {
    found(
        &[
            ("crates/a/src/lib.rs", "mod b;"),
            ("crates/a/src/b.rs", "mod c;\n#[cfg(test)]\nmod tests;"),
            ("crates/a/src/b/c.rs", ""),
            ("crates/a/src/b/tests.rs", ""),
            ("tests/process/main.rs", "mod run;"),
            ("tests/process/run.rs", ""),
        ],
        &[],
    );
}

#[test]
fn a_forgotten_file_is_found() {
    found(
        &[
            ("crates/a/src/lib.rs", "mod b;"),
            ("crates/a/src/b.rs", ""),
            ("crates/a/src/b/tests.rs", ""),
            ("tests/process/main.rs", ""),
            ("tests/process/run.rs", ""),
        ],
        &[
            "crates/a/src/b/tests.rs: [reachable] no `mod tests;` in crates/a/src/b.rs or crates/a/src/b/main.rs or crates/a/src/b/mod.rs",
            "tests/process/run.rs: [reachable] no `mod run;` in tests/process.rs or tests/process/main.rs or tests/process/mod.rs",
        ],
    );
}

#[test]
fn a_forgotten_test_binary_is_found() {
    let tree = Tree::of(&[
        (
            "crates/podward/Cargo.toml",
            "[[test]]\nname = \"a\"\npath = \"../../tests/a/main.rs\"\n",
        ),
        ("tests/a/main.rs", ""),
        ("tests/b/main.rs", ""),
    ]);
    expect(
        &check_test_binaries(&tree),
        &["tests/b/main.rs: [reachable] no [[test]] of crates/podward/Cargo.toml has this path"],
    );
}
