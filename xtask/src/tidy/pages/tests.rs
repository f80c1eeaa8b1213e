use super::check;
use crate::tidy::expect;
use crate::tidy::layering::LAYERS;
use crate::tree::Tree;

fn map() -> String {
    LAYERS
        .iter()
        .map(|layer| format!("{}\n", layer.name))
        .collect()
}

#[test]
fn short_pages_and_a_complete_map_are_fine() {
    let tree = Tree::of(&[("README.md", "Hello.\n"), ("docs/ARCHITECTURE.md", &map())]);
    expect(&check(&tree), &[]);
}

#[test]
fn a_long_a_missing_and_an_untidy_page_are_found() {
    let tree = Tree::of(&[
        ("README.md", &"line\n".repeat(121)),
        ("docs/a.md", "one \ntwo"),
    ]);
    expect(
        &check(&tree),
        &[
            "README.md: [pages] 121 lines, at most 120",
            "docs/ARCHITECTURE.md: [pages] is missing",
            "docs/a.md: [pages] no newline at the end",
            "docs/a.md:1: [pages] a blank at the end of the line",
        ],
    );
}

#[test]
fn a_crate_that_the_map_does_not_name_is_found() {
    let map = map().replace("podward-gate\n", "");
    let tree = Tree::of(&[("README.md", "Hello.\n"), ("docs/ARCHITECTURE.md", &map)]);
    expect(
        &check(&tree),
        &["docs/ARCHITECTURE.md: [pages] the map does not name `podward-gate`"],
    );
}
