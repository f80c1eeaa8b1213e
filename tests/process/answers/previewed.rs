//! What an "always" would let run, asked before it is given.

use serde_json::{Value, json};

use super::{reject, until_the_end};
use crate::sandbox::Sandbox;
use crate::serving::{Client, Pod, step};

/// A pod that asks about everything, and about a call.
fn asked(sandbox: &Sandbox, script: &str) -> (Pod, Client, Value) {
    let manifest = sandbox.pod(script, "[permissions]\ndefault_action = \"ask\"\n");
    let pod = Pod::serve(sandbox, &manifest);
    let mut client = Client::approver(&pod, "tester");
    client.run("go");
    let request = client.request();
    (pod, client, request)
}

const PUSH: &str = "git push origin main";

/// A preview of a question with one pattern for its only part.
fn preview(request: &Value, pattern: &str) -> Value {
    json!({
        "id": request["id"],
        "digest": request["digest"],
        "patterns": [{"operation": request["asking"][0]["operation"], "pattern": pattern}],
    })
}

#[test]
fn the_judge_says_what_a_pattern_would_cover() {
    let sandbox = Sandbox::new();
    let (_pod, mut client, request) = asked(&sandbox, &step(&[PUSH]));
    let mut examples = |pattern: &str| {
        let told = client.call("permission_preview", preview(&request, pattern));
        let part = told.unwrap()["parts"][0].clone();
        (part["covers"].clone(), part["covers_not"].clone())
    };
    assert_eq!(
        examples("git push origin main"),
        (
            json!([]),
            json!([
                "git push origin other",
                "git push origin main more",
                "git push origin main --force"
            ])
        )
    );
    assert_eq!(
        examples("git push *"),
        (
            json!([
                "git push origin other",
                "git push origin main more",
                "git push origin main --force"
            ]),
            json!(["git other", "git", "sudo git push origin main"])
        )
    );
}

#[test]
fn a_search_has_examples_of_its_own() {
    let script = |tool: &str| {
        format!(
            "[[step]]\n[[step.call]]\ntool = \"{tool}\"\ninput = {{ pattern = \"x\", path = \"src\" }}\n"
        )
    };
    for tool in ["grep", "glob"] {
        let sandbox = Sandbox::new();
        std::fs::create_dir(sandbox.work().join("src")).unwrap();
        let (_pod, mut client, request) = asked(&sandbox, &script(tool));
        let told = client.call("permission_preview", preview(&request, "src"));
        let part = told.unwrap()["parts"][0].clone();
        let expected = json!(["other", "below/src", "src/file"]);
        assert_eq!(part["covers_not"], expected, "{tool}");
    }
}

/// What is refused is refused as an answer would be, and nothing is decided by it.
#[test]
fn a_pattern_that_could_not_be_saved_is_refused_beforehand() {
    let sandbox = Sandbox::new();
    let (_pod, mut client, request) = asked(&sandbox, &step(&[PUSH]));
    for (pattern, code) in [
        ("*", "pattern_refused"),
        ("ls", "pattern_refused"),
        ("g* push *", "pattern_refused"),
    ] {
        let refused = client.call("permission_preview", preview(&request, pattern));
        let code_told = refused.unwrap_err()["code"].clone();
        assert_eq!(code_told, code, "{pattern}");
    }
    let mut other = preview(&request, "git push *");
    other["digest"] = json!("of something else");
    let refused = client.call("permission_preview", other).unwrap_err();
    assert_eq!(refused["code"], "digest_mismatch");
    assert_eq!(
        sandbox.run(&["grants", "list", "--format", "json"]).stdout,
        ""
    );
    client.reply(&request, reject()).unwrap();
    until_the_end(&mut client);
}
