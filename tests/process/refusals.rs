//! A refusal is a result, never an end.

use serde_json::{Value, json};

use crate::sandbox::{ALLOW_ALL, Ran, Sandbox};
use crate::session_files::{Ending, decisions, exchanges};

/// Allows `list` and `file_write`, denies `bash`, asks about `read`.
const MIXED: &str = "[permissions]\ndefault_action = \"deny\"\n\
    rule = [{ tool = \"list\", pattern = \"*\", action = \"allow\" },\n\
    { tool = \"file_write\", pattern = \"*\", action = \"allow\" },\n\
    { tool = \"file_edit\", pattern = \"*\", action = \"allow\" },\n\
    { tool = \"bash\", pattern = \"true\", action = \"allow\" },\n\
    { tool = \"bash\", pattern = \"*\", action = \"deny\", message = \"use `list`\" },\n\
    { tool = \"read\", pattern = \"*\", action = \"ask\" }]\n";

fn step(calls: &[(&str, &str)]) -> String {
    let mut step = "[[step]]\n".to_owned();
    for (tool, input) in calls {
        step.push_str(&format!("[[step.call]]\ntool = \"{tool}\"\n{input}\n"));
    }
    step
}

fn verdict_events(ran: &Ran) -> Vec<Value> {
    let mut lines = ran.json_lines();
    lines.retain(|line| line["event"] == "tool_call_verdict");
    lines
}

#[test]
fn every_kind_of_refusal_is_a_result_and_the_turn_goes_on() {
    let sandbox = Sandbox::new();
    let script = [
        step(&[
            ("bash", "input = { command = \"rm -rf .\" }"),
            (
                "file_write",
                "input = { path = \"a.txt\", content = \"a\" }",
            ),
            ("read", "input = { path = \"a.txt\" }"),
            ("shell", "input = { command = \"ls\" }"),
            ("list", "input = { pth = \".\" }"),
            ("list", "raw = \"{\\\"path\\\": \""),
            ("list", "raw = \"[1, 2]\""),
            ("list", "input = {}"),
        ]),
        "[[step]]\ntext = \"Went on: {{result.1 | find list}}\\n\"\n".to_owned(),
    ]
    .concat();
    let pod = sandbox.pod(&script, MIXED);
    let ran = sandbox.run(&["run", pod.to_str().unwrap(), "go"]).exits(10);
    assert!(ran.stdout.starts_with("Went on: "), "{ran:#?}");
    assert!(
        ran.stdout.contains("use `list`"),
        "the model read the rule's message: {ran:#?}"
    );

    let session = sandbox.session();
    let found: Vec<(String, bool)> = exchanges(&session, Ending::Written)
        .into_iter()
        .map(|exchange| (exchange.tool, exchange.is_error))
        .collect();
    let expected = [
        ("bash", true),
        ("file_write", false),
        ("read", true),
        ("shell", true),
        ("list", true),
        ("list", true),
        ("list", true),
        ("list", false),
    ];
    assert_eq!(
        found,
        expected.map(|(tool, error)| (tool.to_owned(), error))
    );
    assert_eq!(
        std::fs::read_to_string(sandbox.path("work/a.txt")).unwrap(),
        "a"
    );
}

#[test]
fn what_would_be_asked_about_is_refused_for_want_of_a_client() {
    let sandbox = Sandbox::new();
    sandbox.write("work/a.txt", "a");
    let script =
        step(&[("read", "input = { path = \"a.txt\" }")]) + "[[step]]\ntext = \"So be it.\"\n";
    let pod = sandbox.pod(&script, MIXED);
    let ran = sandbox
        .run(&["run", "--format", "json", pod.to_str().unwrap(), "go"])
        .exits(10);
    let verdicts = verdict_events(&ran);
    let verdict = verdicts.last().unwrap();
    assert_eq!(verdict["data"]["ruling"]["verdict"], "ask");
    assert_eq!(verdict["data"]["refusal"]["kind"], "no_client");
    let last = decisions(&sandbox.session()).pop().unwrap();
    assert_eq!(
        (&last["tool"], &last["refusal"]["kind"]),
        (&json!("read"), &json!("no_client"))
    );
}

#[test]
fn a_call_made_for_the_third_time_is_refused_as_repeated() {
    let sandbox = Sandbox::new();
    let call = step(&[("list", "input = {}")]);
    let script = format!("{call}{call}{call}[[step]]\ntext = \"Enough.\"\n");
    let pod = sandbox.pod(&script, ALLOW_ALL);
    let ran = sandbox
        .run(&["run", "--format", "json", pod.to_str().unwrap(), "go"])
        .exits(10);
    let mut causes: Vec<String> = verdict_events(&ran)
        .iter()
        .map(|line| line["data"]["ruling"]["cause"]["kind"].to_string())
        .collect();
    // Asked about, then refused.
    causes.dedup();
    assert_eq!(causes, ["\"default\"", "\"repeated\""]);
    let finished = ran.json_lines();
    let outcomes: Vec<&Value> = finished
        .iter()
        .filter(|line| line["event"] == "tool_call_finished")
        .map(|line| &line["data"]["outcome"]["kind"])
        .collect();
    assert_eq!(outcomes, ["done", "done", "refused"]);
}

#[test]
fn calls_that_run_at_the_same_time_keep_their_order() {
    let sandbox = Sandbox::new();
    // The first waits for a file that the last one writes.
    let script = step(&[
        (
            "bash",
            "input = { command = \"until [ -e go ]; do :; done; echo first\" }",
        ),
        ("bash", "input = { command = \"exit 3\" }"),
        ("file_write", "input = { path = \"go\", content = \"\" }"),
    ]) + "[[step]]\ntext = \"{{result.1 | find first}} and {{result.3 | line 1}}\"\n";
    let pod = sandbox.pod(&script, ALLOW_ALL);
    sandbox.run(&["run", pod.to_str().unwrap(), "go"]).exits(0);
    let results = exchanges(&sandbox.session(), Ending::Written);
    assert!(results[0].content.contains("first"), "{results:#?}");
    assert!(results[1].is_error, "{results:#?}");
}
