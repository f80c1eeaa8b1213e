//! How a verdict came about: golden transcripts, and calls of sessions.
//!
//! `tests/explain/NAME.toml` is a manifest whose first line is a call; `NAME.txt` and `NAME.json` are
//! what `podward explain` prints. `PODWARD_UPDATE_EXPLAIN=1 cargo test -p podward --test process
//! explain` writes them anew.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox, repository};
use crate::serving::{Client, Pod};

fn folder() -> PathBuf {
    repository().join("tests/explain")
}

fn names() -> Vec<String> {
    let files = std::fs::read_dir(folder()).unwrap();
    let paths = files.map(|entry| entry.unwrap().path());
    let mut names: Vec<String> = paths
        .filter(|path| path.extension().is_some_and(|end| end == "toml"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    assert!(!names.is_empty());
    names
}

/// What `command` says of the call of a manifest.
fn says(command: &str, name: &str, format: &str) -> Ran {
    let sandbox = Sandbox::new();
    let manifest = std::fs::read_to_string(folder().join(name).with_extension("toml")).unwrap();
    sandbox.write("work/pod.toml", &manifest);
    let call = manifest.lines().next().unwrap().strip_prefix("# ").unwrap();
    let (tool, input) = call.split_once(' ').unwrap();
    let layer: String = manifest
        .lines()
        .filter_map(|line| line.strip_prefix("# layer "))
        .map(|line| format!("{line}\n"))
        .collect();
    let mut arguments = vec![command, "--manifest", "pod.toml", "--tool", tool];
    arguments.extend(["--input", input, "--format", format]);
    if layer.is_empty() {
        arguments.extend(["--isolated", "--workspace", "/home/user/project"]);
    } else {
        sandbox.write("work/layer.toml", &layer);
        arguments.extend(["--permissions", "layer.toml"]);
    }
    let mut command = sandbox.podward(&arguments);
    command.current_dir(sandbox.work());
    if layer.is_empty() {
        command.env("HOME", "/home/user");
    }
    Ran::from(command.output().unwrap())
}

fn explained(name: &str) -> (String, Value) {
    let text = says("explain", name, "text").exits(0).stdout;
    let json = says("explain", name, "json")
        .exits(0)
        .json_lines()
        .remove(0);
    (text, json)
}

fn golden(path: &Path, found: &str) {
    if std::env::var_os("PODWARD_UPDATE_EXPLAIN").is_some() {
        std::fs::write(path, found).unwrap();
    }
    let expected = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(found, expected, "{}", path.display());
}

/// Whether a value is what its schema says.
fn fits(schema: &str, value: &Value) {
    let path = repository().join("docs/schemas").join(schema);
    let text = std::fs::read_to_string(path.with_extension("json")).unwrap();
    let schema = jsonschema::validator_for(&serde_json::from_str(&text).unwrap()).unwrap();
    let errors: Vec<String> = schema
        .iter_errors(value)
        .map(|error| error.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:#?}: {value}");
}

#[test]
fn explanations_are_those_checked_in() {
    for name in names() {
        let (text, json) = explained(&name);
        fits("explanation", &json);
        let path = folder().join(&name);
        golden(&path.with_extension("txt"), &text);
        let json = serde_json::to_string_pretty(&json).unwrap() + "\n";
        golden(&path.with_extension("json"), &json);
    }
}

#[test]
fn an_explanation_has_the_verdict_of_check() {
    for name in names() {
        let (_, explained) = explained(&name);
        let checked = says("check", &name, "json").json_lines().remove(0);
        for field in ["verdict", "cause", "operation", "coverage"] {
            assert_eq!(explained[field], checked[field], "{name}: {field}");
        }
    }
}

/// Every result of a rule, every cause of a verdict; but for those that only a running pod has.
#[test]
fn every_cause_and_every_result_of_a_rule_is_shown() {
    let (mut causes, mut results) = (BTreeSet::new(), BTreeSet::new());
    for name in names() {
        let (_, explained) = explained(&name);
        causes.insert(explained["cause"]["kind"].as_str().unwrap().to_owned());
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        for operation in list(&explained["operations"]) {
            for layer in list(&operation["layers"]) {
                for rule in list(&layer["tried"]) {
                    results.insert(rule["result"].as_str().unwrap().to_owned());
                }
            }
        }
    }
    let wanted = [
        "bad_call",
        "default",
        "no_policy",
        "nothing_to_run",
        "rule",
        "unresolved",
        "unrestricted",
    ];
    assert_eq!(causes, wanted.map(str::to_owned).into());
    // An address that has to be named is found by a fetch that runs.
    let wanted = [
        "covers_what_it_runs",
        "differs",
        "equals_call",
        "hides_user",
        "known_in_part",
        "matches",
        "may_match",
        "not_applied",
        "other_form",
        "other_tool",
        "reached_by_code",
    ];
    assert_eq!(results, wanted.map(str::to_owned).into());
}

/// The narrowest rules, written where the explanation says, allow the call.
#[test]
fn the_rules_that_are_named_allow_the_call() {
    let mut n_changed = 0;
    for name in names() {
        let (_, explained) = explained(&name);
        let change = &explained["change"];
        let Some(rules) = change["rules"].as_array() else {
            continue;
        };
        if rules.iter().any(|rule| rule["layer"] != json!("manifest")) {
            continue;
        }
        let path = folder().join(&name).with_extension("toml");
        let mut lines: Vec<String> = std::fs::read_to_string(path)
            .unwrap()
            .lines()
            .map(str::to_owned)
            .collect();
        let first = lines
            .iter()
            .position(|line| line.starts_with("[[permissions.rule]]"));
        // From the last line on, so that those in front keep their numbers.
        let mut places: Vec<(usize, &str)> = rules
            .iter()
            .map(|rule| {
                let at = match rule["stands"]["kind"].as_str().unwrap() {
                    "before" => {
                        let line = rule["stands"]["at"]["line"].as_u64().unwrap();
                        usize::try_from(line).unwrap() - 1
                    }
                    "first" => first.unwrap(),
                    _ => lines.len(),
                };
                (at, rule["toml"].as_str().unwrap())
            })
            .collect();
        places.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        for (at, toml) in places {
            lines.insert(at, toml.to_owned());
        }
        let sandbox = Sandbox::new();
        sandbox.write("work/pod.toml", &lines.join("\n"));
        let call = lines[0].strip_prefix("# ").unwrap();
        let (tool, input) = call.split_once(' ').unwrap();
        let arguments = [
            "check",
            "--manifest",
            "pod.toml",
            "--tool",
            tool,
            "--input",
            input,
            "--isolated",
            "--workspace",
            "/home/user/project",
        ];
        let mut command = sandbox.podward(&arguments);
        command
            .current_dir(sandbox.work())
            .env("HOME", "/home/user");
        Ran::from(command.output().unwrap()).exits(0);
        n_changed += 1;
    }
    assert!(n_changed >= 6, "{n_changed}");
}

const SCRIPT: &str = "[[step]]\n\
    [[step.call]]\ntool = \"bash\"\nid = \"toolu_a1\"\ninput = { command = \"rm -r build\" }\n\
    [[step.call]]\ntool = \"bash\"\nid = \"toolu_b2\"\ninput = { command = \"true\" }\n\
    [[step]]\ntext = \"done\"\n";

const DENY: &str = "[permissions]\ndefault_action = \"allow\"\n\
    rule = [{ tool = \"bash\", pattern = \"rm *\", action = \"deny\" }]\n";

#[test]
fn a_call_of_a_session_is_shown_as_it_was_decided() {
    let sandbox = Sandbox::new();
    let pod = sandbox.pod(SCRIPT, DENY);
    sandbox.run(&["run", pod.to_str().unwrap(), "go"]).exits(10);
    let explain = |more: &[&str]| {
        let arguments = [&["explain", "toolu_a"][..], more].concat();
        sandbox.run(&arguments)
    };
    let json = |more: &[&str]| {
        let arguments = [&["--format", "json"][..], more].concat();
        explain(&arguments).exits(0).json_lines().remove(0)
    };
    let told = json(&[]);
    fits("explained-call", &told);
    assert_eq!(told["call"], json!("toolu_a1"));
    assert_eq!(told["arguments"], json!({"command": "rm -r build"}));
    assert_eq!(told["then"]["verdict"], json!("deny"));
    assert_eq!(told["then"]["cause"]["rule"], json!(1));
    assert_eq!(told["decisions"][0]["outcome"], json!("refuse"));
    assert_eq!(told["decisions"][0]["refusal"], json!({"kind": "policy"}));
    // While the rules are the same, they tell the rest.
    assert_eq!(told["policy_digest_now"], told["policy_digest"]);
    assert_eq!(told["now"]["cause"], told["then"]["cause"]);
    let layers = &told["now"]["operations"][0]["layers"];
    assert_eq!(layers[0]["tried"][0]["result"], json!("matches"));
    let text = explain(&[]).exits(0).stdout;
    assert!(
        text.contains("how it came about, by the same rules:"),
        "{text}"
    );
    assert!(text.contains("refuse, by the rules (policy)"), "{text}");

    // What was decided stays what was decided.
    sandbox.pod(SCRIPT, "[permissions]\ndefault_action = \"ask\"\n");
    let told = json(&[]);
    assert_eq!(told["then"]["verdict"], json!("deny"));
    assert_ne!(told["policy_digest_now"], told["policy_digest"]);
    assert_eq!(told["now"]["verdict"], json!("ask"));
    let text = explain(&[]).exits(0).stdout;
    assert!(text.contains("now, by other rules, sha256:"), "{text}");

    std::fs::remove_file(&pod).unwrap();
    let told = json(&[]);
    assert_eq!(told["then"]["verdict"], json!("deny"));
    assert_eq!(told.get("now"), None);
    assert!(told["why_not_now"].is_string());
    explain(&["--manifest", pod.to_str().unwrap()]).exits(78);
}

#[test]
fn a_call_that_is_not_meant_is_no_call() {
    let sandbox = Sandbox::new();
    let pod = sandbox.pod(SCRIPT, DENY);
    sandbox.run(&["run", pod.to_str().unwrap(), "go"]).exits(10);
    let ran = sandbox.run(&["explain", "toolu_"]).exits(64);
    assert!(ran.stderr.contains("toolu_a1, toolu_b2"), "{ran:#?}");
    let ran = sandbox.run(&["explain", "call-9"]).exits(64);
    assert!(
        ran.stderr
            .contains("no call has an id that begins with `call-9`"),
        "{ran:#?}"
    );
    sandbox
        .run(&["explain", "toolu_a", "--session", "0"])
        .exits(0);
    sandbox
        .run(&["explain", "toolu_a", "--session", "Z"])
        .exits(64);
    sandbox.run(&["explain"]).exits(64);
    // A log that was changed says so.
    let log = sandbox.session().join("decisions.jsonl");
    let changed = std::fs::read_to_string(&log)
        .unwrap()
        .replace("rm -r build", "rm -r built");
    std::fs::write(&log, changed).unwrap();
    let ran = sandbox.run(&["explain", "toolu_a"]).exits(0);
    assert!(
        ran.stderr
            .contains("the decision log is not as it was written"),
        "{ran:#?}"
    );
}

const ASK: &str = "[permissions]\ndefault_action = \"allow\"\non_ask = \"wait\"\n\
    ask_timeout = \"1h\"\nrule = [\n\
    { tool = \"bash\", pattern = \"git *\", action = \"allow\" },\n\
    { tool = \"bash\", pattern = \"rm *\", action = \"ask\" },\n]\n";

/// Clients show what `podward explain` prints: one object, from one place.
#[test]
fn a_client_and_the_command_line_show_the_same_explanation() {
    let sandbox = Sandbox::new();
    let manifest = sandbox.pod(SCRIPT, ASK);
    let mut served = Pod::serve(&sandbox, &manifest);
    sandbox.run(&["send", "test", "go"]).exits(0);
    let question = served.tells("permission_request");
    assert_eq!(question["id"], json!("toolu_a1"));
    // It may look, and it need not be somebody who can answer.
    let mut client = Client::onlooker(&served, "viewer");

    let made_up = json!({"tool": "bash", "arguments": {"command": "git log && rm x"}});
    let told = client.call("explain", made_up).unwrap();
    fits("explanation", &told);
    let input = "{\"command\":\"git log && rm x\"}";
    let printed = sandbox
        .run(&[
            "explain",
            "--manifest",
            manifest.to_str().unwrap(),
            "--tool",
            "bash",
            "--input",
            input,
            "--format",
            "json",
        ])
        .exits(0)
        .json_lines()
        .remove(0);
    assert_eq!(told, printed);
    assert_eq!(
        told["operations"][1]["layers"][0]["tried"][0]["result"],
        json!("differs")
    );
    let no_call = json!({"tool": "bash", "arguments": {"cmd": "ls"}});
    let no_call = client.call("explain", no_call).unwrap();
    assert_eq!(no_call["cause"]["kind"], json!("bad_call"));

    // What is asked about at the moment; `podward pending` says how.
    let pending = sandbox.run(&["pending", "test"]).exits(0).stdout;
    let session = served.session.file_name().unwrap().to_str().unwrap();
    let named = format!("podward explain toolu_a1 --session {session}");
    assert!(pending.contains(&named), "{pending}");
    let told = client
        .call("explain_call", json!({"call": "toolu_a1"}))
        .unwrap();
    fits("explained-call", &told);
    assert_eq!(told["arguments"], json!({"command": "rm -r build"}));
    assert_eq!(told["then"]["cause"], question["ruling"]["cause"]);
    assert_eq!(told["decisions"][0]["outcome"], json!("ask"));
    assert_eq!(told["now"]["cause"]["rule"], json!(2));
    assert_eq!(told["now"]["change"]["kind"], json!("rules"));
    let explain = |more: &[&str]| {
        let arguments = [&["explain", "toolu_a1"][..], more].concat();
        sandbox.run(&arguments).exits(0)
    };
    assert_eq!(
        explain(&["--format", "json"]).json_lines(),
        std::slice::from_ref(&told)
    );
    let text = explain(&[]).stdout;
    assert!(
        text.contains("how it came about, by the same rules:"),
        "{text}"
    );

    // Its rules are those that it started with, until other ones are asked for.
    sandbox.pod(SCRIPT, DENY);
    assert_eq!(explain(&["--format", "json"]).json_lines(), [told]);
    let manifest = ["--manifest", manifest.to_str().unwrap(), "--format", "json"];
    let other = explain(&manifest).json_lines().remove(0);
    assert_eq!(other["now"]["verdict"], json!("deny"));

    let unknown = client
        .call("explain_call", json!({"call": "toolu_"}))
        .unwrap_err();
    assert_eq!(unknown["code"], json!("unknown_call"));
    let extra = client.call("explain_call", json!({"call": "toolu_a1", "deep": true}));
    assert_eq!(extra.unwrap_err()["code"], json!("invalid_params"));
    // Nothing was decided by any of that.
    assert_eq!(
        client.call("permission_list", json!({})).unwrap()["requests"][0]["id"],
        "toolu_a1"
    );
    sandbox.run(&["reply", "test", "all", "reject"]).exits(0);
    served.tells("turn_ended");
    let told = client
        .call("explain_call", json!({"call": "toolu_a1"}))
        .unwrap();
    assert_eq!(told["decisions"][1]["refusal"]["kind"], json!("rejected"));
    assert_eq!(told["now"]["verdict"], json!("ask"));
    sandbox.run(&["stop", "test"]).exits(0);
    assert_eq!(served.ends(), Some(0));
}
