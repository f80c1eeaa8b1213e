use super::check;
use crate::tidy::expect;
use crate::tree::Tree;

#[test]
fn mod_rs_and_empty_names_are_found() {
    let tree = Tree::of(&[
        ("crates/a/src/b/mod.rs", ""),
        ("crates/a/tests/lines/mod.rs", ""),
        ("crates/a/src/c/path_utils.rs", ""),
        ("crates/a/src/common/d.rs", ""),
        ("crates/a/src/commonmark.rs", ""),
    ]);
    const NOTHING: &str =
        "[names] the name says nothing about what is inside: name it after the noun it holds";
    expect(
        &check(&tree),
        &[
            "crates/a/src/b/mod.rs: [names] `foo.rs` beside `foo/` instead of `foo/mod.rs`",
            &format!("crates/a/src/c/path_utils.rs: {NOTHING}"),
            &format!("crates/a/src/common/d.rs: {NOTHING}"),
        ],
    );
}
