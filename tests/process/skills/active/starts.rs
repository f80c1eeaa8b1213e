//! Which skills start: for a person, for the model, and of which layers.

use serde_json::{Value, json};

use super::{WRITE, calls, events, pod, run};
use crate::sandbox::{ALLOW_ALL, Sandbox};
use crate::serving::{Client, Pod, WAITS};
use crate::session_files::{Ending, exchanges};
use crate::skills::skill;

#[test]
fn a_skill_that_does_not_start_begins_no_turn() {
    let sandbox = Sandbox::new();
    skill(&sandbox, "good", "");
    skill(&sandbox, "broken", "allowed-tools: Bash (git:*)\n");
    let pod = pod(&sandbox, &calls(&[WRITE]), ALLOW_ALL);
    for (arguments, code, said) in [
        (
            &["/goood it"][..],
            64,
            "there is no skill `goood`; the skills are good",
        ),
        (&["--skill", "none", "x"], 64, "there is no skill `none`"),
        (
            &["/broken it"],
            1,
            "skills/broken/SKILL.md:4:21: there is no tool's name",
        ),
        (
            &["--skill", "good", "/good"],
            64,
            "a skill is given beside it",
        ),
    ] {
        let mut all = vec!["run", &*pod];
        all.extend(arguments);
        let ran = sandbox.run(&all).exits(code);
        assert!(ran.stderr.contains(said), "{said}: {}", ran.stderr);
    }
    assert!(!sandbox.work().join("new.txt").exists());
    for session in sandbox.sessions() {
        assert_eq!(exchanges(&session, Ending::Written), []);
    }
    // A path at the beginning of a prompt is none of a skill.
    run(&sandbox, &[&pod, "/etc/hosts is odd"]).exits(0);
}

#[test]
fn rules_judge_what_the_model_starts() {
    let sandbox = Sandbox::new();
    skill(&sandbox, "open", "");
    skill(&sandbox, "closed", "");
    skill(&sandbox, "manual", "disable-model-invocation: true\n");
    skill(&sandbox, "broken", "allowed-tools: Bash (git:*)\n");
    let script = calls(&[
        ("skill", "name = \"open\""),
        ("skill", "name = \"closed\""),
        ("skill", "name = \"manual\""),
        ("skill", "name = \"broken\""),
        ("skill", "name = \"absent\""),
        ("skill", "name = \"open\""),
    ]);
    let rules = format!(
        "{ALLOW_ALL}rule = [{{ tool = \"skill\", pattern = \"closed\", action = \"deny\" }}]\n"
    );
    let pod = pod(&sandbox, &script, &rules);
    let ran = run(&sandbox, &[&pod, "go"]).exits(10);
    let names: Vec<Value> = events(&ran, "skill_started")
        .iter()
        .map(|started| started["name"].clone())
        .collect();
    assert_eq!(names, ["open"]);
    let exchanged = exchanges(&sandbox.session(), Ending::Written);
    for (exchange, said) in exchanged.iter().skip(1).zip([
        "`closed`",
        "by a person only",
        "does not load",
        "there is no skill `absent`",
    ]) {
        assert!(exchange.content.contains(said), "{said}: {exchange:#?}");
    }
    // The calls of a message run at the same time: one of the two that are equal starts it.
    for said in ["Do it.", "already"] {
        let both = [&exchanged[0], &exchanged[5]];
        let saying = both
            .iter()
            .filter(|exchange| exchange.content.contains(said));
        assert_eq!(saying.count(), 1, "{said}: {both:#?}");
    }
    // A person may start what the rules keep from the model.
    let ran = run(&sandbox, &[&pod, "/closed"]);
    assert_eq!(events(&ran, "skill_started")[0]["name"], "closed");
}

#[test]
fn an_untrusted_project_brings_no_skills() {
    let sandbox = Sandbox::new();
    skill(&sandbox, "mine", "");
    let text = "---\nname: theirs\ndescription: Does things.\n---\nDo it.\n";
    sandbox.write("work/.podward/skills/theirs/SKILL.md", text);
    sandbox.write(
        "work/.podward/pod.toml",
        "[skills]\ndirectories = [\"skills\"]\n",
    );
    let script = calls(&[]);
    let manifest = sandbox.pod(&script, ALLOW_ALL);
    let manifest = manifest.to_str().unwrap();
    let ran = run(&sandbox, &[manifest, "/theirs"]).exits(78);
    assert!(ran.stderr.contains("podward trust"), "{}", ran.stderr);
    let work = sandbox.work();
    sandbox.run(&["trust", work.to_str().unwrap()]).exits(0);
    let ran = run(&sandbox, &[manifest, "/theirs"]).exits(0);
    assert_eq!(events(&ran, "skill_started")[0]["name"], "theirs");
}

#[test]
fn the_model_is_told_of_the_skills_that_it_may_start() {
    let sandbox = Sandbox::new();
    skill(&sandbox, "open", "");
    skill(&sandbox, "manual", "disable-model-invocation: true\n");
    let offers = |settings: &str| {
        let pod = pod(&sandbox, &calls(&[]), settings);
        let ran = run(&sandbox, &[&pod, "go"]).exits(0);
        let tools = &events(&ran, "session_started")[0]["tools"];
        tools.as_array().unwrap().contains(&json!("skill"))
    };
    assert!(offers(ALLOW_ALL));
    assert!(!offers(&format!(
        "[tools]\noffered = [\"read\"]\n{ALLOW_ALL}"
    )));
    let denied = "rule = [{ tool = \"skill\", pattern = \"*\", action = \"deny\" }]\n";
    assert!(!offers(&format!("{ALLOW_ALL}{denied}")));
    std::fs::remove_dir_all(sandbox.path("skills/open")).unwrap();
    assert!(!offers(ALLOW_ALL));
}

/// Its name alone does not say what a yes is to.
#[test]
fn a_question_about_a_skill_says_where_it_lies_and_what_it_allows() {
    let sandbox = Sandbox::new();
    let lists = "allowed-tools: Read, Bash(git:*)\ndisallowed-tools: WebFetch\n";
    skill(&sandbox, "git", lists);
    let script = calls(&[
        ("skill", "name = \"git\", arguments = \"all of it\""),
        ("skill", "name = \"absent\""),
    ]);
    let rules = format!("[permissions]\ndefault_action = \"ask\"\n{WAITS}");
    let manifest = pod(&sandbox, &script, &rules);
    let pod = Pod::serve(&sandbox, manifest.as_ref());
    let mut client = Client::approver(&pod, "tester");
    client.run("go");
    let requests = [client.request(), client.request()];
    let of = |name: &str| {
        let is_it = |request: &&Value| request["arguments"]["name"] == name;
        requests.iter().find(is_it).unwrap()
    };
    let file = sandbox.path("skills/git/SKILL.md").display().to_string();
    let mut found = of("git")["skill"].clone();
    let digest = found["digest"].take();
    assert!(digest.as_str().unwrap().starts_with("sha256:"), "{digest}");
    let expected = json!({
        "kind": "found",
        "file": file,
        "digest": null,
        "description": "Does things.",
        "allowed_tools": ["Read", "Bash(git:*)"],
        "disallowed_tools": ["WebFetch"],
    });
    assert_eq!(found, expected);
    assert_eq!(of("absent")["skill"]["kind"], "fails");
    let shown = sandbox.run(&["pending", "test"]).exits(0).stdout;
    for row in [
        &*format!("  skill   {file}\n"),
        "  says    Does things.\n",
        "  tools   only Read, Bash(git:*); not WebFetch\n",
        "  skill   it would not start: there is no skill `absent`; the skills are git\n",
    ] {
        assert!(shown.contains(row), "{row}: {shown}");
    }
    // What was shown is still there to be answered.
    client.reply(of("git"), json!({"kind": "once"})).unwrap();
    client
        .reply(of("absent"), json!({"kind": "reject"}))
        .unwrap();
    assert_eq!(client.event("skill_started")["digest"], digest);
}
