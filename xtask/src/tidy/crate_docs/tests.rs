use super::check;
use crate::tidy::expect;
use crate::tree::Tree;

#[test]
fn a_crate_says_what_it_is_and_what_it_must_never_know() {
    let tree = Tree::of(&[
        (
            "crates/a/src/lib.rs",
            "//! Is a.\n//!\n//! It must never know b.\n",
        ),
        ("crates/b/src/lib.rs", "//! Is b.\n"),
        ("crates/c/src/main.rs", "fn main() {}\n"),
    ]);
    expect(
        &check(&tree),
        &[
            "crates/b/src/lib.rs: [crate docs] a crate's docs say what it must never know",
            "crates/c/src/main.rs: [crate docs] a crate begins with `//!`: what it is",
        ],
    );
}
