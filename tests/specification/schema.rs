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

/// What is wrong with these is what they mean: which layer says it, what else stands beside it, what a
/// name, a path or a pattern is.
const WRONG_BY_MEANING: &[&str] = &[
    "allow-in-manifest",
    "asks-although-error",
    "bad-models",
    "bad-pattern",
    "base-url",
    "base-url-with-password",
    "empty-environment",
    "environment",
    "fixed-in-manifest",
    "half-a-model",
    "half-a-remote-model",
    "key-for-commands",
    "key-in-key-file",
    "key-in-manifest",
    "key-in-the-clear",
    "no-key",
    "permissions-only",
    "project-adds-models",
    "project-children",
    "project-hook",
    "project-names-a-model",
    "project-wants-more",
    "tools",
    "unknown-tool",
    "waits-for-ever",
];

/// These are no TOML.
const UNREADABLE: &[&str] = &[
    "duplicate",
    "not-text",
    "not-toml",
    "not-utf8",
    "wide-characters",
];

#[test]
fn every_invalid_sample_that_is_wrong_by_shape_does_not_fit() {
    let schema = schema();
    let files = std::fs::read_dir(repository().join("manifests/invalid")).unwrap();
    let (mut fits, mut unreadable) = (Vec::new(), Vec::new());
    for path in files.map(|entry| entry.unwrap().path()) {
        if path.extension().is_none_or(|end| end != "toml") {
            continue;
        }
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = String::from_utf8(std::fs::read(&path).unwrap());
        let Some(table) = text.ok().and_then(|text| text.parse::<toml::Table>().ok()) else {
            unreadable.push(name);
            continue;
        };
        if schema.is_valid(&serde_json::to_value(table).unwrap()) {
            fits.push(name);
        }
    }
    fits.sort();
    unreadable.sort();
    assert_eq!(fits, WRONG_BY_MEANING);
    assert_eq!(unreadable, UNREADABLE);
}

#[test]
fn times_and_sizes_fit_with_their_units_only() {
    let schema = schema();
    let fits = |table: &str, key: &str, value: &str| {
        let mut document = serde_json::Map::new();
        document.insert(table.to_owned(), serde_json::json!({ key: value }));
        schema.is_valid(&Value::Object(document))
    };
    for time in ["90s", "1h30m", "500ms", "1h1m1s1ms"] {
        assert!(fits("limits", "bash_timeout", time), "{time}");
    }
    for time in ["", "90", "1m1h", "1d", "90 s", "1.5h", "s"] {
        assert!(!fits("limits", "bash_timeout", time), "{time}");
    }
    assert!(fits("undo", "max_age", "14d") && !fits("undo", "max_age", "1ms"));
    for size in ["64KiB", "1MB", "2000B", "1GiB"] {
        assert!(fits("limits", "read_size", size), "{size}");
    }
    for size in ["", "64", "64K", "1TiB", "1 MB"] {
        assert!(!fits("limits", "read_size", size), "{size}");
    }
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
