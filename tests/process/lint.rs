//! `podward lint`: each kind of finding as it is printed, and the witnesses judged again.
//!
//! `PODWARD_UPDATE_LINT=1 cargo test -p podward --test process lint` writes what is printed now.

use std::collections::BTreeSet;
use std::path::PathBuf;

use podward_lint::{Code, Severity};
use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox, repository};

fn folder() -> PathBuf {
    repository().join("tests/lint")
}

/// The manifests, by name.
fn samples() -> Vec<(String, String)> {
    let mut samples: Vec<(String, String)> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read_to_string(&path).unwrap())
        })
        .collect();
    samples.sort();
    assert!(samples.len() > 10, "{samples:?}");
    samples
}

fn lint(sandbox: &Sandbox, name: &str, format: &str) -> Ran {
    let file = format!("{name}.toml");
    sandbox.run(&["lint", "--isolated", "--format", format, &file])
}

#[track_caller]
fn check(found: &str, file: &str) {
    let path = folder().join(file);
    if std::env::var_os("PODWARD_UPDATE_LINT").is_some() {
        std::fs::write(&path, found).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(found, expected, "{file}");
}

fn in_sandbox(samples: &[(String, String)]) -> Sandbox {
    let sandbox = Sandbox::new();
    for (name, text) in samples {
        sandbox.write(&format!("work/{name}.toml"), text);
    }
    sandbox
}

#[test]
fn each_kind_of_finding_is_printed_as_checked_in() {
    let samples = samples();
    let sandbox = in_sandbox(&samples);
    let mut missing: BTreeSet<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    for (name, _) in &samples {
        let ran = lint(&sandbox, name, "text");
        for code in Code::ALL {
            if ran.stdout.contains(&format!("[{code}]")) {
                missing.remove(code.as_str());
            }
        }
        let exit = ran.code.unwrap();
        let printed = format!("{}{}exit: {exit}\n", ran.stdout, ran.stderr);
        check(&printed, &format!("{name}.txt"));
    }
    assert_eq!(missing, BTreeSet::new(), "kinds without a sample");
}

#[test]
fn the_formats_for_programs_are_as_checked_in() {
    let samples = samples();
    let sandbox = in_sandbox(&samples);
    for (format, ending) in [("json", "jsonl"), ("sarif", "sarif"), ("github", "github")] {
        let ran = lint(&sandbox, "deny-after-allow", format).exits(1);
        check(&ran.stdout, &format!("deny-after-allow.{ending}"));
        let ran = lint(&sandbox, "does-not-load", format).exits(78);
        check(&ran.stdout, &format!("does-not-load.{ending}"));
    }
}

#[test]
fn check_confirms_every_witness() {
    let samples = samples();
    let sandbox = in_sandbox(&samples);
    let mut n_witnesses = 0;
    for (name, _) in &samples {
        if name == "does-not-load" {
            continue;
        }
        let file = format!("{name}.toml");
        for finding in lint(&sandbox, name, "json").json_lines() {
            let witnesses = finding["witnesses"].as_array().unwrap();
            let needs_none = finding["code"] == "unknown-tool" || finding["code"] == "undecided";
            assert!(needs_none || !witnesses.is_empty(), "{finding}");
            for witness in witnesses {
                let input = witness["input"].to_string();
                let tool = witness["tool"].as_str().unwrap();
                let arguments = [
                    "check",
                    "--isolated",
                    "--manifest",
                    &file,
                    "--tool",
                    tool,
                    "--input",
                    &input,
                    "--format",
                    "json",
                ];
                let judged: Value = sandbox.run(&arguments).json_lines().remove(0);
                assert_eq!(judged["verdict"], witness["verdict"], "{finding}\n{judged}");
                assert_eq!(
                    judged["cause"]["kind"], witness["cause"],
                    "{finding}\n{judged}"
                );
                n_witnesses += 1;
            }
        }
    }
    assert!(n_witnesses > 20, "{n_witnesses}");
}

#[test]
fn exit_codes_tell_what_was_found() {
    let samples = samples();
    let sandbox = in_sandbox(&samples);
    lint(&sandbox, "clean", "text").exits(0);
    // Notes leave it as it is.
    lint(&sandbox, "reaches-arguments", "text").exits(0);
    lint(&sandbox, "flag-order", "text").exits(1);
    lint(&sandbox, "does-not-load", "text").exits(78);
    lint(&sandbox, "no-such-file", "text").exits(78);
    sandbox.run(&["lint"]).exits(64);
    sandbox
        .run(&["lint", "--allow", "all", "clean.toml"])
        .exits(64);
    let allowed = [
        "lint",
        "--isolated",
        "--allow",
        "flag-order",
        "flag-order.toml",
    ];
    let ran = sandbox.run(&allowed).exits(0);
    assert_eq!(ran.stdout, "");
    // One bad manifest does not hide what is found in the others.
    let both = [
        "lint",
        "--isolated",
        "does-not-load.toml",
        "flag-order.toml",
    ];
    let ran = sandbox.run(&both).exits(78);
    assert!(ran.stdout.contains("[flag-order]"), "{ran:#?}");
}

#[test]
fn layers_are_those_of_a_run_and_each_rule_is_told_of_once() {
    let sandbox = Sandbox::new();
    let rules = "[permissions]\ndefault_action = \"allow\"\n[[permissions.rule]]\n\
                 tool = \"bash\"\npattern = \"rm -rf *\"\naction = \"deny\"\n";
    sandbox.write("config/podward/pod.toml", rules);
    for name in ["a", "b"] {
        let clean = "[permissions]\ndefault_action = \"allow\"\n";
        sandbox.write(&format!("work/{name}.toml"), clean);
    }
    let ran = sandbox
        .run(&["lint", "--format", "json", "a.toml", "b.toml"])
        .exits(1);
    let lines = ran.json_lines();
    assert_eq!(lines.len(), 1, "{lines:#?}");
    assert_eq!(lines[0]["layer"], "user");
    assert_eq!(lines[0]["place"]["line"], 5);
    sandbox
        .run(&["lint", "--isolated", "a.toml", "b.toml"])
        .exits(0);
}

/// What SARIF 2.1.0 requires of what is written, and the words that it knows.
fn sarif_shape() -> Value {
    let text = json!({ "type": "object", "required": ["text"], "additionalProperties": false,
        "properties": { "text": { "type": "string", "minLength": 1 } } });
    let location = json!({ "type": "object", "required": ["physicalLocation"],
        "additionalProperties": false, "properties": { "message": text, "physicalLocation": {
            "type": "object", "required": ["artifactLocation"], "additionalProperties": false,
            "properties": {
                "artifactLocation": { "type": "object", "required": ["uri"],
                    "additionalProperties": false,
                    "properties": { "uri": { "type": "string", "pattern": "^[A-Za-z0-9._~/%:-]+$" } } },
                "region": { "type": "object", "additionalProperties": false,
                    "required": ["startLine", "startColumn", "endColumn"], "properties": {
                        "startLine": { "type": "integer", "minimum": 1 },
                        "startColumn": { "type": "integer", "minimum": 1 },
                        "endColumn": { "type": "integer", "minimum": 1 } } },
            } } } });
    let level = json!({ "enum": ["none", "note", "warning", "error"] });
    let rule = json!({ "type": "object", "required": ["id"], "additionalProperties": false,
        "properties": { "id": { "type": "string" }, "shortDescription": text,
            "defaultConfiguration": { "type": "object", "additionalProperties": false,
                "properties": { "level": level } } } });
    let result = json!({ "type": "object", "required": ["ruleId", "ruleIndex", "level", "message", "locations"],
        "additionalProperties": false, "properties": {
            "ruleId": { "type": "string" }, "ruleIndex": { "type": "integer", "minimum": 0 },
            "level": level, "message": text, "properties": { "type": "object" },
            "locations": { "type": "array", "items": location },
            "relatedLocations": { "type": "array", "items": location, "minItems": 1 } } });
    let run = json!({ "type": "object", "required": ["tool", "results"],
        "additionalProperties": false, "properties": {
            "tool": { "type": "object", "required": ["driver"], "additionalProperties": false,
                "properties": { "driver": { "type": "object", "required": ["name"],
                    "additionalProperties": false, "properties": {
                        "name": { "type": "string" }, "version": { "type": "string" },
                        "rules": { "type": "array", "items": rule, "uniqueItems": true } } } } },
            "columnKind": { "enum": ["utf16CodeUnits", "unicodeCodePoints"] },
            "results": { "type": "array", "items": result } } });
    json!({ "type": "object", "required": ["version", "runs"], "additionalProperties": false,
        "properties": {
            "$schema": { "const": "https://json.schemastore.org/sarif-2.1.0.json" },
            "version": { "const": "2.1.0" },
            "runs": { "type": "array", "minItems": 1, "items": run } } })
}

#[test]
fn sarif_has_the_shape_of_2_1_0() {
    let samples = samples();
    let sandbox = in_sandbox(&samples);
    let shape = jsonschema::validator_for(&sarif_shape()).unwrap();
    for (name, _) in &samples {
        let log: Value = serde_json::from_str(&lint(&sandbox, name, "sarif").stdout).unwrap();
        let errors: Vec<String> = shape
            .iter_errors(&log)
            .map(|error| error.to_string())
            .collect();
        assert_eq!(errors, [""; 0], "{name}");
        let run = &log["runs"][0];
        let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
        for result in run["results"].as_array().unwrap() {
            let idx = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            assert_eq!(rules[idx]["id"], result["ruleId"]);
            assert_eq!(rules[idx]["defaultConfiguration"]["level"], result["level"]);
        }
    }
}

#[test]
fn our_own_samples_are_clean() {
    let sandbox = Sandbox::new();
    let mut arguments: Vec<String> = ["lint", "--isolated", "--format", "json"]
        .iter()
        .map(|argument| (*argument).to_owned())
        .collect();
    let folder = repository().join("manifests");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "toml") {
            arguments.push(path.to_str().unwrap().to_owned());
        }
    }
    let ran = sandbox.run(&arguments).exits(0);
    for finding in ran.json_lines() {
        assert_eq!(finding["severity"], Severity::Note.as_str(), "{finding}");
    }
}

#[test]
fn the_page_names_every_kind() {
    let page = std::fs::read_to_string(repository().join("docs/lint.md")).unwrap();
    for code in Code::ALL {
        let heading = format!("### {code}\n");
        assert!(page.contains(&heading), "{code}");
        let severity = code.severity().as_str();
        let row = format!("| `{code}` | {severity} |");
        assert!(page.contains(&row), "{row}");
    }
}

#[test]
fn a_manifest_of_a_child_that_does_not_load_is_told() {
    let sandbox = Sandbox::new();
    sandbox.write("work/last.toml", "[permissions]\ndefault = 3\n");
    sandbox.write(
        "work/worker.toml",
        "[permissions]\ndefault_action = \"deny\"\n[children.last]\nmanifest = \"last.toml\"\n",
    );
    let pod = "[permissions]\ndefault_action = \"deny\"\n\
        [children.worker]\nmanifest = \"worker.toml\"\n[children.last]\nmanifest = \"last.toml\"\n";
    sandbox.write("work/pod.toml", pod);
    let ran = sandbox.run(&["lint", "pod.toml", "worker.toml"]).exits(78);
    assert_eq!(
        ran.stderr.matches("unknown key `default`").count(),
        1,
        "{ran:#?}"
    );
    assert!(ran.stderr.contains("last.toml:2:1"), "{ran:#?}");
    assert!(
        ran.stderr.contains("in 2 manifests; 1 did not load"),
        "{ran:#?}"
    );
    let ran = sandbox
        .run(&["lint", "--format", "sarif", "pod.toml"])
        .exits(78);
    assert!(ran.stdout.contains("last.toml"), "{ran:#?}");
}
