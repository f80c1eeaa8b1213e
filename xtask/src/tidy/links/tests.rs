use super::check;
use crate::tidy::expect;
use crate::tree::Tree;

#[test]
fn a_link_to_a_file_a_folder_or_a_heading_is_fine() {
    let tree = Tree::of(&[
        (
            "README.md",
            "[a](docs/a.md) [b](docs) [c](docs/a.md#what-it-is) [d](https://x.example)\n",
        ),
        (
            "docs/a.md",
            "# What `it` is?\n[up](../README.md) [self](#what-it-is)\n",
        ),
    ]);
    // `?` and the backquotes are dropped from an anchor.
    expect(&check(&tree), &[]);
}

#[test]
fn a_link_that_leads_nowhere_is_found() {
    let tree = Tree::of(&[(
        "docs/a.md",
        "# A\n\n[x](b.md)\n[y](#b)\n`[z](c.md)`\n```\n[z](c.md)\n```\n",
    )]);
    expect(
        &check(&tree),
        &[
            "docs/a.md:3: [links] `b.md` leads nowhere: no `docs/b.md`",
            "docs/a.md:4: [links] `#b` leads nowhere: no heading `#b` in `docs/a.md`",
        ],
    );
}
