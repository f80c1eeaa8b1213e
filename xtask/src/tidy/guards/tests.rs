use super::check;
use crate::tidy::expect;
use crate::tree::Tree;

#[test]
fn a_page_names_tests_that_exist() {
    let source = "async fn deny_keeps_the_turn_going() {}\nfn other_of_two_kinds<T>() {}\n";
    let page = "1. Never. (`deny_keeps_the_turn_going`, `no_such_test_is_there`)\n\
                2. `file_write` and `other_of_two_kinds`.\n";
    let tree = Tree::of(&[
        ("crates/a/src/tests.rs", source),
        ("docs/ARCHITECTURE.md", page),
        ("docs/pod.md", "`not_looked_at_here`\n"),
    ]);
    expect(
        &check(&tree),
        &[
            "docs/ARCHITECTURE.md:1: [guards] there is no test `no_such_test_is_there`: name the \
             one that guards this",
        ],
    );
}
