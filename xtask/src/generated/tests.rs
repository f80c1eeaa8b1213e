use std::collections::BTreeMap;

use super::differences;

fn files(of: &[(&str, &str)]) -> BTreeMap<String, String> {
    of.iter()
        .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
        .collect()
}

#[test]
fn a_missing_a_stale_and_a_left_over_file_are_found() {
    let wanted = files(&[("a", "1"), ("b", "2"), ("c", "3")]);
    let found = files(&[("a", "1"), ("b", "0"), ("d", "4")]);
    assert_eq!(
        differences(&wanted, &found),
        ["b is stale", "c is missing", "d is no longer generated"]
    );
    assert!(differences(&wanted, &wanted).is_empty());
}
