use super::*;

#[test]
fn the_schema_has_every_key_of_the_reader_and_no_other() {
    let mut described: Vec<String> = KEYS.iter().map(|(path, ..)| (*path).to_owned()).collect();
    described.sort();
    assert_eq!(described, keys_of_the_reader());
    for (path, _, about) in KEYS {
        assert!(about.ends_with('.') && about.len() > 10, "{path}: {about}");
    }
}
