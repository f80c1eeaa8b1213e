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

#[test]
fn what_a_setting_is_by_default_is_what_the_resolver_says() {
    let schema: Value = serde_json::from_str(&manifest_schema()).unwrap();
    let default = |path: &str| {
        let key = format!("/properties/{}", path.replace('.', "/properties/"));
        schema.pointer(&key).unwrap().get("default").cloned()
    };
    for key in crate::schema::keys_of("limits") {
        assert!(default(&format!("limits.{key}")).is_some(), "{key}");
    }
    assert_eq!(default("limits.bash_timeout"), Some(json!("2m")));
    assert_eq!(default("undo.keep"), Some(json!(true)));
    assert_eq!(default("permissions.on_ask"), Some(json!("refuse")));
    assert_eq!(default("permissions.unresolved"), None);
    assert_eq!(default("model.model"), None);
    assert_eq!(defaults().len(), {
        let text = manifest_schema();
        text.matches("\"default\":").count()
    });
}

#[test]
fn times_and_sizes_are_written_as_the_reader_reads_them() {
    assert_eq!(
        of_units(unit::TIME_UNITS),
        "^([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?$"
    );
    assert_eq!(
        of_units(unit::AGE_UNITS),
        "^([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?$"
    );
}
