//! `run` with nobody to ask: never a prompt, never a hang, and a list of what would have helped.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox};
use crate::session_files::decisions;

const ASK: &str = "[permissions]\ndefault_action = \"ask\"\n\
    [[permissions.rule]]\ntool = \"list\"\npattern = \"*\"\naction = \"allow\"\n\
    [[permissions.rule]]\ntool = \"bash\"\npattern = \"rm *\"\naction = \"deny\"\n\
    [[permissions.rule]]\ntool = \"bash\"\npattern = \"git *\"\naction = \"ask\"\n";

/// A message with a call of each of these.
fn step(calls: &[(&str, &str)]) -> String {
    let mut step = "[[step]]\n".to_owned();
    for (tool, input) in calls {
        step.push_str(&format!(
            "[[step.call]]\ntool = \"{tool}\"\ninput = {input}\n"
        ));
    }
    step
}

fn bash(command: &str) -> (&'static str, String) {
    ("bash", format!("{{ command = '''{command}''' }}"))
}

fn script(calls: &[(&'static str, String)]) -> String {
    let calls: Vec<(&str, &str)> = calls
        .iter()
        .map(|(tool, input)| (*tool, input.as_str()))
        .collect();
    step(&calls)
}

/// The rules that standard error lists, as TOML.
pub(crate) fn rules(ran: &Ran) -> String {
    let (_, list) = ran.stderr.split_once("nobody answered; ").unwrap();
    list.lines()
        .filter_map(|line| line.strip_prefix("   "))
        .map(|line| format!("{line}\n"))
        .collect()
}

#[test]
fn the_rules_that_are_listed_allow_what_was_refused() {
    let sandbox = Sandbox::new();
    let calls = [
        bash("touch 'a b' \"it's\""),
        bash("echo '*' '[x]' '?' && git --version > out"),
        bash("git status --short | head -n 3"),
        bash("eval \"$(printf 'touch evaluated')\""),
        (
            "file_write",
            "{ path = \"new.txt\", content = \"x\" }".to_owned(),
        ),
        ("read", "{ path = \"out\" }".to_owned()),
        bash("printf '%s\\n' \"ä\u{202e}\\\\\""),
    ];
    let script = script(&calls);
    let pod = sandbox.pod(&script, ASK);
    let arguments = ["run", pod.to_str().unwrap(), "go"];
    let ran = sandbox.run(&arguments).exits(10);
    let listed = rules(&ran);
    assert!(
        listed.matches("[[permissions.rule]]").count() >= calls.len(),
        "{ran:#?}"
    );
    // Each in front of all others: none of those that are there denies one of the calls.
    let allowed = ASK.replacen(
        "[[permissions.rule]]",
        &format!("{listed}[[permissions.rule]]"),
        1,
    );
    sandbox.pod(&script, &allowed);
    let ran = sandbox.run(&arguments).exits(0);
    assert!(!ran.stderr.contains("nobody answered"), "{ran:#?}");
    let has = |name: &str| sandbox.work().join(name).exists();
    assert!(has("a b") && has("evaluated") && has("new.txt"), "{ran:#?}");
}

#[test]
fn a_call_that_no_rule_would_allow_alone_says_why() {
    let sandbox = Sandbox::new();
    let call = ("list", "{}".to_owned());
    let pod = sandbox.pod(&script(&[call.clone(), call.clone(), call]), ASK);
    let ran = sandbox.run(&["run", pod.to_str().unwrap(), "go"]).exits(10);
    assert!(
        ran.stderr
            .contains("# no rule for this call alone: it is not the rules that ask"),
        "{ran:#?}"
    );
}

#[test]
fn what_the_rules_deny_is_not_in_the_list() {
    let sandbox = Sandbox::new();
    let pod = sandbox.pod(&script(&[bash("rm -rf x")]), ASK);
    let ran = sandbox.run(&["run", pod.to_str().unwrap(), "go"]).exits(10);
    assert!(!ran.stderr.contains("nobody answered"), "{ran:#?}");
}

#[test]
fn events_are_valid_lines_and_the_list_goes_to_standard_error() {
    let sandbox = Sandbox::new();
    let pod = sandbox.pod(&script(&[bash("touch a"), bash("touch b")]), ASK);
    let arguments = ["run", pod.to_str().unwrap(), "go", "--format", "json"];
    let ran = sandbox.run(&arguments).exits(10);
    let of = |name: &str| -> Vec<Value> {
        let mut lines = ran.json_lines();
        lines.retain(|line| line["event"] == name);
        lines
    };
    assert_eq!(of("permission_settled").len(), 2, "{ran:#?}");
    for line in of("permission_settled") {
        assert_eq!(line["data"]["outcome"]["kind"], "no_client", "{line}");
    }
    for line in of("permission_request") {
        assert_eq!(line["data"]["unasked"], true, "{line}");
    }
    // Nobody answered: the verdict that refuses says what would have allowed the call.
    let told: Vec<Value> = of("tool_call_verdict")
        .into_iter()
        .filter(|line| line["data"]["refusal"].is_object())
        .map(|line| line["data"]["allowed_by"].clone())
        .collect();
    let rule = |command: &str| {
        json!({"kind": "rules", "rules": [{
            "layer": "manifest", "stands": {"kind": "anywhere"}, "tool": "bash", "pattern": command,
            "toml": format!(
                "[[permissions.rule]]\ntool = \"bash\"\npattern = \"{command}\"\naction = \"allow\""
            ),
        }]})
    };
    assert_eq!(told, [rule("touch a"), rule("touch b")], "{ran:#?}");
    assert_eq!(rules(&ran).matches("action").count(), 2, "{ran:#?}");
}

#[test]
fn an_open_input_is_never_read_for_an_answer() {
    let sandbox = Sandbox::new();
    let pod = sandbox.pod(&script(&[bash("touch a")]), ASK);
    let (reader, writer) = std::io::pipe().unwrap();
    let mut command = sandbox.podward(&["run", pod.to_str().unwrap(), "go"]);
    let output = command.stdin(Stdio::from(reader)).output().unwrap();
    Ran::from(output).exits(10);
    // It was open all the time.
    drop(writer);
}

#[test]
fn auto_answers_once_each_and_never_a_deny_nor_unknown_code() {
    let sandbox = Sandbox::new();
    let calls = [
        bash("touch a"),
        bash("rm a"),
        bash("eval \"$(echo touch b)\""),
    ];
    let pod = sandbox.pod(&script(&calls), ASK);
    let has = |name: &str| sandbox.work().join(name).exists();
    let ran = sandbox
        .run(&["run", "--auto", pod.to_str().unwrap(), "go"])
        .exits(10);
    assert!(
        ran.stderr
            .starts_with("auto: every question is answered with yes"),
        "{ran:#?}"
    );
    assert!(has("a") && !has("b"), "{ran:#?}");
    let by: Vec<Value> = decisions(&sandbox.session())
        .into_iter()
        .map(|line| line["by"]["kind"].clone())
        .collect();
    assert!(by.contains(&"auto".into()), "{by:?}");
    std::fs::remove_file(sandbox.work().join("a")).unwrap();
    let ran = sandbox
        .run(&["run", "--auto=all", pod.to_str().unwrap(), "go"])
        .exits(10);
    assert!(has("a") && has("b"), "the deny stays: {ran:#?}");
}

/// Neither what a deny rule might match, nor a word without a known value, whatever asks about it.
#[test]
fn auto_leaves_what_is_not_known_and_answers_the_rest() {
    let rules = "[permissions]\ndefault_action = \"ask\"\nrule = [\n\
        { tool = \"bash\", pattern = \"rm -rf *\", action = \"deny\" },\n\
        { tool = \"file_*\", pattern = \"*.env\", action = \"deny\" },\n\
        { tool = \"bash\", pattern = \"printf *\", action = \"allow\" },\n]\n";
    let left = [
        "f=$(echo -rf); rm \"$f\" victim",
        "f=$(echo precious.env); rm -- \"$f\"",
        "rm -- *.e*",
        "touch \"$(echo made)\"",
    ];
    let answered = [
        "touch plain",
        "rm *.o",
        "printf '%s' \"$HOSTNAME\"; touch beside",
    ];
    for (auto, commands, code) in [
        ("--auto", &left[..], 10),
        ("--auto", &answered[..], 0),
        ("--auto=all", &left[..1], 0),
    ] {
        let sandbox = Sandbox::new();
        for name in ["victim", "precious.env", "a.o"] {
            sandbox.write(&format!("work/{name}"), "");
        }
        let has = |name: &str| sandbox.work().join(name).exists();
        let calls: Vec<_> = commands.iter().map(|command| bash(command)).collect();
        let pod = sandbox.pod(&script(&calls), rules);
        let ran = sandbox
            .run(&["run", auto, pod.to_str().unwrap(), "go"])
            .exits(code);
        let n_left = ran
            .stderr
            .matches("refused (--auto does not answer")
            .count();
        let n_answered = ran.stderr.matches("yes, by --auto").count();
        let is_left = code == 10;
        assert_eq!(n_left, if is_left { left.len() } else { 0 }, "{ran:#?}");
        assert_eq!(
            n_answered,
            if is_left { 0 } else { commands.len() },
            "{ran:#?}"
        );
        assert_eq!(has("victim"), auto == "--auto", "{ran:#?}");
        assert!(has("precious.env") && !has("made"), "{ran:#?}");
        let is_answered = commands == answered;
        assert_eq!(has("plain") && has("beside") && !has("a.o"), is_answered);
    }
}

#[test]
fn a_question_that_is_settled_at_once_is_not_said_to_wait() {
    let sandbox = Sandbox::new();
    let waits = "[permissions]\non_ask = \"wait\"\nask_timeout = \"1h\"\n";
    let rules = ASK.replace("[permissions]\n", waits);
    let pod = sandbox.pod(&script(&[bash("touch a")]), &rules);
    let ran = sandbox
        .run(&["run", "--auto", pod.to_str().unwrap(), "go"])
        .exits(0);
    assert!(ran.stderr.contains("by --auto"), "{ran:#?}");
    assert!(!ran.stderr.contains("waits for an answer"), "{ran:#?}");
}

#[test]
fn a_layer_can_forbid_auto() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "config/podward/pod.toml",
        "[permissions]\ndefault_action = \"allow\"\nauto = \"forbid\"\n",
    );
    let pod = sandbox.pod(&script(&[bash("touch a")]), ASK);
    for auto in ["--auto", "--auto=all"] {
        let ran = sandbox
            .run(&["run", auto, pod.to_str().unwrap(), "go"])
            .exits(78);
        assert!(ran.stderr.contains("auto"), "{ran:#?}");
    }
    assert!(!sandbox.work().join("a").exists());
}

#[test]
fn where_nothing_may_ask_a_rule_that_asks_starts_no_pod() {
    let sandbox = Sandbox::new();
    let rules = ASK.replace("[permissions]\n", "[permissions]\non_ask = \"error\"\n");
    let pod = sandbox.pod(&script(&[bash("touch a")]), &rules);
    let ran = sandbox.run(&["run", pod.to_str().unwrap(), "go"]).exits(78);
    assert!(ran.stderr.contains("on_ask"), "{ran:#?}");
}

/// How many runs there are; `cargo xtask soak` sets more.
fn n_runs() -> usize {
    std::env::var("PODWARD_HEADLESS_RUNS").map_or(30, |count| count.parse().unwrap())
}

#[test]
fn no_run_hangs_and_each_says_what_would_have_allowed_it() {
    let ways = [
        "",
        "client_grace = \"0s\"\n",
        "on_ask = \"wait\"\nask_timeout = \"1s\"\n",
    ];
    for number in 0..n_runs() {
        let sandbox = Sandbox::new();
        // One to four calls, some of which nobody needs to be asked about.
        let commands = (0..=number % 4).map(|place| bash(&format!("touch f{number}-{place}")));
        let calls: Vec<_> = commands.chain([("list", "{}".to_owned())]).collect();
        let n_asked = calls.len() - 1;
        // A wait takes its second.
        let more = ways[if number % 10 == 9 { 2 } else { number % 2 }];
        let rules = ASK.replacen(
            "[[permissions.rule]]",
            &format!("{more}[[permissions.rule]]"),
            1,
        );
        let pod = sandbox.pod(&script(&calls), &rules);
        let arguments = ["run", pod.to_str().unwrap(), "go", "--format", "json"];
        let ran = sandbox.run(&arguments).exits(10);
        let lines = ran.json_lines();
        let of = |name: &str| lines.iter().filter(|line| line["event"] == name).count();
        assert_eq!(of("permission_request"), n_asked, "{ran:#?}");
        assert_eq!(of("permission_settled"), n_asked, "{ran:#?}");
        for (tool, input) in calls.iter().take(n_asked) {
            let command = input.split('\'').nth(3).unwrap();
            let rule = format!(
                "   tool = \"{tool}\"\n   pattern = \"{command}\"\n   action = \"allow\"\n"
            );
            assert!(ran.stderr.contains(&rule), "{rule}\n{}", ran.stderr);
        }
        assert_eq!(
            std::fs::read_dir(sandbox.work())
                .unwrap()
                .flatten()
                .filter(|entry| entry.file_name().to_string_lossy().starts_with('f'))
                .count(),
            0
        );
    }
}
