//! Skills in real pods: what is refused while one is active, until when, and that nothing helps.

mod ends;
mod files;
mod starts;

use std::path::Path;

use serde_json::{Value, json};

use crate::sandbox::{ALLOW_ALL, Ran, Sandbox};
use crate::serving::{Client, Pod, WAITS, says};
use crate::session_files::{Ending, Exchange, decisions, exchanges};
use crate::skills::skill;

/// A message of the model with these calls; each is a tool and its arguments as TOML.
fn calls(calls: &[(&str, &str)]) -> String {
    let call = |(tool, input): &(&str, &str)| {
        format!("[[step.call]]\ntool = \"{tool}\"\ninput = {{ {input} }}\n")
    };
    let calls: String = calls.iter().map(call).collect();
    format!("[[step]]\n{calls}")
}

/// A manifest with the skills of `skills/`.
fn pod(sandbox: &Sandbox, script: &str, rules: &str) -> String {
    let settings = format!("[skills]\ndirectories = [\"skills\"]\n{rules}");
    let path = sandbox.pod(script, &settings);
    path.to_str().unwrap().to_owned()
}

fn run(sandbox: &Sandbox, arguments: &[&str]) -> Ran {
    let mut all = vec!["run", "--format", "json"];
    all.extend(arguments);
    sandbox.run(&all)
}

/// The data of the events of this name.
fn events(ran: &Ran, name: &str) -> Vec<Value> {
    let lines = ran.json_lines().into_iter();
    lines
        .filter(|line| line["event"] == name)
        .map(|mut line| line["data"].take())
        .collect()
}

fn id(session: &Path) -> String {
    session.file_name().unwrap().to_str().unwrap().to_owned()
}

/// Whether the model read that this skill refuses the call.
#[track_caller]
fn refused_by(exchange: &Exchange, skill: &str) {
    let named = exchange
        .content
        .contains(&format!("The skill `{skill}` is active"));
    assert!(exchange.is_error && named, "{exchange:#?}");
}

const WRITE: (&str, &str) = ("file_write", "path = \"new.txt\", content = \"x\"");
const READ: (&str, &str) = ("read", "path = \"a.txt\"");

#[test]
fn a_read_only_skill_refuses_everything_else_and_says_why() {
    let sandbox = Sandbox::new();
    sandbox.write("work/a.txt", "text\n");
    skill(&sandbox, "look", "allowed-tools: Read Grep\n");
    skill(&sandbox, "other", "");
    let script = calls(&[
        READ,
        WRITE,
        ("bash", "command = \"touch made\""),
        ("skill", "name = \"other\""),
        ("skill", "name = \"look\""),
        ("skill_end", "name = \"look\""),
        ("bash", "command = \"podward skills end test look\""),
    ]) + &says("Looked.")
        + &calls(&[WRITE, ("bash", "command = \"touch made\"")])
        + &says("Written.");
    let pod = pod(&sandbox, &script, ALLOW_ALL);
    let ran = run(&sandbox, &[&pod, "/look around"]).exits(10);

    let started = events(&ran, "skill_started");
    assert_eq!(started.len(), 1, "{started:?}");
    let digest = started[0]["digest"].as_str().unwrap();
    assert!(digest.starts_with("sha256:"), "{digest}");
    assert_eq!(
        started[0],
        json!({
            "name": "look", "digest": digest, "n_tools": 2, "allowed_tools": ["Read", "Grep"],
            "by": {"kind": "prompt"},
        })
    );
    let ended = events(&ran, "skill_ended");
    assert_eq!(ended, [json!({"name": "look", "why": {"kind": "turn"}})]);

    let session = sandbox.session();
    let exchanged = exchanges(&session, Ending::Written);
    assert!(!exchanged[0].is_error, "{exchanged:#?}");
    for exchange in &exchanged[1..] {
        match &*exchange.tool {
            // There is no such tool, and whatever is called so would be none of the skill's.
            "skill_end" => assert!(exchange.is_error, "{exchange:#?}"),
            _ => refused_by(exchange, "look"),
        }
    }
    for name in ["new.txt", "made"] {
        assert!(!sandbox.work().join(name).exists(), "{name}");
    }
    let causes: Vec<Value> = decisions(&session)
        .iter()
        .map(|line| line["verdict"]["cause"].clone())
        .filter(|cause| cause["kind"] == "skill")
        .collect();
    assert_eq!(causes.len(), 5, "{causes:#?}");
    for cause in &causes {
        assert_eq!(
            (&cause["name"], &cause["digest"]),
            (&json!("look"), &json!(digest))
        );
        assert_eq!(
            cause["says"],
            json!({"kind": "not_listed", "list": "Read Grep"})
        );
    }
    let told = events(&ran, "tool_call_verdict");
    let told = told
        .iter()
        .filter(|told| told["ruling"]["cause"]["kind"] == "skill");
    assert_eq!(told.count(), 5);

    // The turn is done: it is as if there were no skill.
    let ran = run(&sandbox, &["--resume", &id(&session), &pod, "write"]).exits(0);
    assert_eq!(events(&ran, "skill_started"), [] as [Value; 0]);
    for name in ["new.txt", "made"] {
        assert!(sandbox.work().join(name).exists(), "{name}");
    }
}

#[test]
fn a_person_reads_which_skill_is_active_and_why_a_call_is_refused() {
    let sandbox = Sandbox::new();
    skill(&sandbox, "look", "allowed-tools: Read Grep\n");
    let script = calls(&[WRITE]) + &says("Done.");
    let pod = pod(&sandbox, &script, ALLOW_ALL);
    let ran = sandbox.run(&["run", &pod, "--skill", "look"]).exits(10);
    for line in [
        "skill look active: 2 tools (allowed-tools: Read Grep)\n",
        "deny  skill look is active, and its allowed-tools `Read Grep` does not list it\n",
        "skill look ended: its turn is done\n",
    ] {
        assert!(ran.stderr.contains(line), "{line}{}", ran.stderr);
    }
    assert_eq!(ran.stdout, "Done.\n");
}

#[test]
fn an_empty_list_and_names_of_servers_leave_nothing_that_is_here() {
    for (lists, prefix) in [
        ("allowed-tools: \"\"\n", "and its `allowed-tools` is empty"),
        (
            "allowed-tools: mcp__github__get_issue\n",
            "(`mcp__github__get_issue`)",
        ),
        ("allowed-tools: github:get_issue\n", "(`github:get_issue`)"),
        (
            "disallowed-tools: \"*\"\n",
            "and its `disallowed-tools` lists it (`*`)",
        ),
    ] {
        let sandbox = Sandbox::new();
        sandbox.write("work/a.txt", "text\n");
        skill(&sandbox, "none", lists);
        let bash = ("bash", "command = \"cat a.txt\"");
        let pod = pod(&sandbox, &calls(&[READ, bash, WRITE]), ALLOW_ALL);
        let ran = run(&sandbox, &[&pod, "/none"]).exits(10);
        assert_eq!(events(&ran, "skill_started")[0]["n_tools"], 0, "{lists}");
        for exchange in exchanges(&sandbox.session(), Ending::Written) {
            refused_by(&exchange, "none");
            assert!(exchange.content.contains(prefix), "{exchange:#?}");
        }
    }
}

#[test]
fn commands_are_judged_one_by_one_and_with_every_filling_of_their_holes() {
    let sandbox = Sandbox::new();
    skill(
        &sandbox,
        "git",
        "allowed-tools: Bash(git log:*) Bash(git status:*)\n",
    );
    let allowed = ["git log -3", "git status && git log", "git log \"$X\""];
    let refused = [
        "git log; rm x",
        "git status && git push",
        "git $X",
        "git log > out",
        "git log $(rm x)",
        "$X log",
        "git log | sh",
        "gitk log",
    ];
    let commands = allowed.iter().chain(&refused);
    let inputs: Vec<String> = commands
        .map(|command| format!("command = '''{command}'''"))
        .collect();
    let made: Vec<(&str, &str)> = inputs.iter().map(|input| ("bash", &**input)).collect();
    let pod = pod(&sandbox, &calls(&made), ALLOW_ALL);
    run(&sandbox, &[&pod, "/git"]).exits(10);
    for exchange in exchanges(&sandbox.session(), Ending::Written) {
        let command = exchange.input["command"].as_str().unwrap();
        if refused.contains(&command) {
            refused_by(&exchange, "git");
        } else {
            // Here is no repository, and maybe no git; but it ran.
            assert!(!exchange.content.contains("skill"), "{exchange:#?}");
        }
    }
}

#[test]
fn nested_skills_leave_what_both_list() {
    let sandbox = Sandbox::new();
    sandbox.write("work/a.txt", "text\n");
    skill(
        &sandbox,
        "wide",
        "allowed-tools: Read Write Skill(narrow)\n",
    );
    skill(&sandbox, "narrow", "allowed-tools: Read Bash\n");
    let bash = ("bash", "command = \"touch made\"");
    let script = calls(&[
        bash,
        ("skill", "name = \"narrow\", arguments = \"now\""),
        WRITE,
    ]) + &calls(&[READ, bash, WRITE])
        + &says("Done.");
    let pod = pod(&sandbox, &script, ALLOW_ALL);
    let ran = run(&sandbox, &[&pod, "/wide"]).exits(10);
    let started = events(&ran, "skill_started");
    let names: Vec<&Value> = started.iter().map(|started| &started["name"]).collect();
    assert_eq!(names, ["wide", "narrow"]);
    assert_eq!(started[1]["by"]["kind"], "model");
    let ended = events(&ran, "skill_ended");
    assert_eq!(ended.len(), 2, "{ended:?}");
    let exchanged = exchanges(&sandbox.session(), Ending::Written);
    let [bash, started, written, read, bash_again, write_again] = &exchanged[..] else {
        panic!("{exchanged:#?}");
    };
    refused_by(bash, "wide");
    assert!(started.content.contains("Do it."), "{started:#?}");
    // The calls of one message are judged under the same skills.
    assert!(!written.is_error && !read.is_error, "{exchanged:#?}");
    refused_by(bash_again, "wide");
    refused_by(write_again, "narrow");
    assert!(!sandbox.work().join("made").exists());
}

/// Rules that ask about `touch`, and allow the rest.
fn asks() -> String {
    format!(
        "[permissions]\ndefault_action = \"allow\"\n{WAITS}rule = [\n\
         {{ tool = \"bash\", pattern = \"touch *\", action = \"ask\" }},\n]\n"
    )
}

#[test]
fn no_answer_and_no_grant_reaches_over_a_skill() {
    let sandbox = Sandbox::new();
    skill(&sandbox, "look", "allowed-tools: Read\n");
    skill(&sandbox, "touch", "allowed-tools: Bash(touch a*)\n");
    let touch = |name: &str| format!("command = \"touch {name}\"");
    let script = calls(&[("bash", &touch("b1"))])
        + &says("Granted.")
        + &calls(&[("bash", &touch("b1")), ("bash", &touch("b2"))])
        + &says("Refused.")
        + &calls(&[("bash", &touch("a1")), ("bash", &touch("b1"))])
        + &says("Asked.");
    let manifest = pod(&sandbox, &script, &asks());
    let pod = Pod::serve(&sandbox, Path::new(&manifest));
    let mut client = Client::approver(&pod, "tester");
    client.run("go");
    let request = client.request();
    let always = json!({"kind": "always", "patterns": [{"operation": 0, "pattern": "touch b*"}],
                        "for": {"kind": "session"}});
    client.reply(&request, always).unwrap();
    client.event("turn_ended");
    std::fs::remove_file(sandbox.work().join("b1")).unwrap();

    // What was approved for the session does not count under the skill, and nobody is asked.
    client.run("/look");
    let ended = client.event("turn_ended");
    assert_eq!(ended["n_refused"], 2, "{ended}");

    client.run("/touch");
    let request = client.request();
    // The other call was refused at once; this one is the skill's, and the rules ask about it.
    assert_eq!(request["arguments"]["command"], "touch a1");
    let edit = json!({"kind": "edit", "arguments": {"command": "touch b1"}});
    let error = client.reply(&request, edit).unwrap_err();
    assert_eq!(error["code"], "edit_denied", "{error}");
    assert_eq!(error["data"]["ruling"]["cause"]["name"], "touch", "{error}");
    client.reply(&request, json!({"kind": "once"})).unwrap();
    let ended = client.event("turn_ended");
    assert_eq!(ended["n_refused"], 1, "{ended}");
    client.call("stop", json!({})).unwrap();
    assert_eq!(pod.ends(), Some(0));
    assert!(sandbox.work().join("a1").exists());
    assert!(!sandbox.work().join("b1").exists() && !sandbox.work().join("b2").exists());
}

#[test]
fn an_answer_beforehand_does_not_reach_over_a_skill() {
    let sandbox = Sandbox::new();
    skill(&sandbox, "look", "allowed-tools: Read\n");
    let script = calls(&[("bash", "command = \"touch made\"")]);
    let pod = pod(
        &sandbox,
        &script,
        "[permissions]\ndefault_action = \"ask\"\n",
    );
    run(&sandbox, &["--auto=all", &pod, "/look"]).exits(10);
    refused_by(&exchanges(&sandbox.session(), Ending::Written)[0], "look");
    run(&sandbox, &["--auto=all", &pod, "look"]).exits(0);
    assert!(sandbox.work().join("made").exists());
}
