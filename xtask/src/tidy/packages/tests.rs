use super::check;
use crate::tidy::expect;
use crate::tree::Tree;

const ROOT: &str = "[workspace.dependencies]\nserde = \"1\"\n";
const GOOD: &str = "[package]
name = \"a\"
version.workspace = true
edition.workspace = true
rust-version.workspace = true
license.workspace = true
authors.workspace = true
publish.workspace = true
[dependencies]
serde = { workspace = true }
[lints]
workspace = true
";

#[track_caller]
fn found(root: &str, package: &str, source: &str, expected: &[&str]) {
    let tree = Tree::of(&[
        ("Cargo.toml", root),
        ("crates/a/Cargo.toml", package),
        ("crates/a/src/lib.rs", source),
    ]);
    expect(&check(&tree), expected);
}

#[test]
fn a_crate_that_inherits_all_is_fine() {
    found(ROOT, GOOD, "use serde::Serialize;", &[]);
}

#[test]
fn what_is_written_again_is_found() {
    let bad = GOOD
        .replace("edition.workspace = true", "edition = \"2021\"")
        .replace("serde = { workspace = true }", "serde = \"1\"")
        .replace("[lints]\nworkspace = true\n", "")
        .replace("name = \"a\"", "name = \"b\"");
    found(
        ROOT,
        &bad,
        "use serde::Serialize;",
        &[
            "crates/a/Cargo.toml: [packages] `edition` is not inherited: `edition.workspace = true`",
            "crates/a/Cargo.toml: [packages] `[lints]` is not inherited: `workspace = true`",
            "crates/a/Cargo.toml: [packages] the crate is not named like its folder, `a`",
            "crates/a/Cargo.toml: [packages] `serde` in [dependencies] is not inherited: `serde = { workspace = true }`",
        ],
    );
}

#[test]
fn a_dependency_that_nothing_uses_is_found() {
    found(
        &format!("{ROOT}tokio = \"1\"\n"),
        GOOD,
        "/// Not serde, nor my_serde::x.\nfn f() {}",
        &[
            "crates/a/Cargo.toml: [packages] `serde` in [dependencies] is not used",
            "Cargo.toml: [packages] `tokio` in [workspace.dependencies] is used by no crate",
        ],
    );
}
