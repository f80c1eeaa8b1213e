//! The JSON Schema of manifests: it takes every sample, and no key or type that the reader refuses.

use std::path::PathBuf;

use serde_json::Value;

use crate::place::repository;

fn schema() -> jsonschema::Validator {
    let text = podward_manifest::manifest_schema();
    jsonschema::validator_for(&serde_json::from_str::<Value>(&text).unwrap()).unwrap()
}

fn document(path: PathBuf) -> Value {
    let text = std::fs::read_to_string(&path).unwrap();
    let document: toml::Table = text.parse().unwrap_or_else(|e| panic!("{path:?}: {e}"));
    // As an editor sees a date: a text.
    serde_json::to_value(document).unwrap()
}

#[test]
fn every_sample_fits_the_schema() {
    let schema = schema();
    let files = std::fs::read_dir(repository().join("manifests")).unwrap();
    let mut n_samples = 0;
    for path in files.map(|entry| entry.unwrap().path()) {
        if path.extension().is_none_or(|end| end != "toml") {
            continue;
        }
        let sample = document(path.clone());
        let errors: Vec<String> = schema.iter_errors(&sample).map(|e| e.to_string()).collect();
        assert!(errors.is_empty(), "{path:?}: {errors:#?}");
        n_samples += 1;
    }
    assert!(n_samples >= 10, "{n_samples}");
}

#[test]
fn an_unknown_key_and_a_wrong_type_do_not_fit() {
    let schema = schema();
    for name in [
        "bad-action",
        "empty-table",
        "hook-is-a-list",
        "incomplete-rule",
        "keys",
        "misplaced-key",
        "no-default-action",
        "tests",
        "unknown-key",
        "unknown-provider",
        "unknown-table",
        "wrong-type",
    ] {
        let path = repository()
            .join("manifests/invalid")
            .join(name)
            .with_extension("toml");
        assert!(!schema.is_valid(&document(path)), "{name} fits");
    }
}
