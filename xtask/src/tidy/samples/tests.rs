use super::check;
use crate::tidy::expect;
use crate::tree::Tree;

#[test]
fn a_sample_that_no_test_judges_is_found() {
    let tree = Tree::of(&[
        ("manifests/a.toml", ""),
        ("manifests/b.toml", ""),
        ("manifests/invalid/c.toml", ""),
        (
            "tests/verdicts.txt",
            "; Calls.\ncall | a | z\nb   | A | D\n",
        ),
    ]);
    expect(
        &check(&tree),
        &["manifests/b.toml: [samples] is not judged: no column `b` in tests/verdicts.txt"],
    );
}
