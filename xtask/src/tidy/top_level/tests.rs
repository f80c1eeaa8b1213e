use super::{ENTRIES, check};
use crate::tidy::expect;
use crate::tree::Tree;

#[test]
fn a_stray_and_a_missing_entry_are_found() {
    let mut files: Vec<(&str, &str)> = ENTRIES
        .iter()
        .filter(|entry| **entry != "docs")
        .map(|entry| (*entry, ""))
        .collect();
    files.push(("notes.txt", ""));
    expect(
        &check(&Tree::of(&files)),
        &[
            "notes.txt: [top level] does not belong at the top level",
            "docs: [top level] is missing",
        ],
    );
}
