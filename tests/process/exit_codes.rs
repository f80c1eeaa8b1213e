use crate::sandbox::{ALLOW_ALL, Sandbox};

const TALK: &str = "[[step]]\ntext = \"Hello.\\n\"\n";

#[test]
fn help_and_version_are_data() {
    let sandbox = Sandbox::new();
    for arguments in [
        vec!["--help"],
        vec!["-h"],
        vec!["--version"],
        vec!["run", "--help"],
        vec!["check", "--help"],
        vec!["tools", "-h"],
        vec!["manifest", "-h"],
        vec!["trust", "--help"],
    ] {
        let ran = sandbox.run(&arguments).exits(0);
        assert!(
            !ran.stdout.is_empty() && ran.stderr.is_empty(),
            "{arguments:?}"
        );
    }
}

#[test]
fn a_command_line_that_makes_no_sense_is_64() {
    let sandbox = Sandbox::new();
    let pod = sandbox.pod(TALK, ALLOW_ALL);
    let pod = pod.to_str().unwrap();
    for arguments in [
        vec![],
        vec!["rnu"],
        vec!["run"],
        vec!["run", pod, "a", "b"],
        vec!["run", pod, "a", "--format", "xml"],
        vec!["run", pod, "a", "--log", "=="],
        vec!["run", pod, "a", "--resume", "no id"],
        vec!["run", pod, "a", "--resume", "01JD"],
        // Standard input is empty.
        vec!["run", pod],
        vec!["run", pod, " \n"],
        vec!["check", "--manifest", pod, "--tool", "bash", "--input", "{"],
        vec!["check", "--manifest", pod],
        // Judging by one manifest alone and by one more layer exclude each other.
        vec![
            "check",
            "--manifest",
            pod,
            "--tool",
            "list",
            "--input",
            "{}",
            "--isolated",
            "--permissions",
            pod,
        ],
        vec!["man", "podward-nothing"],
    ] {
        let ran = sandbox.run(&arguments).exits(64);
        assert!(
            ran.stdout.is_empty() && !ran.stderr.is_empty(),
            "{arguments:?}: {ran:#?}"
        );
    }
    assert!(sandbox.sessions().is_empty());
}

#[test]
fn done_is_0_and_done_with_refusals_is_10() {
    let sandbox = Sandbox::new();
    let pod = sandbox.pod(TALK, ALLOW_ALL);
    let pod = pod.to_str().unwrap();
    let ran = sandbox.run(&["run", pod, "hello"]).exits(0);
    assert_eq!(ran.stdout, "Hello.\n");

    let script = "[[step]]\n[[step.call]]\ntool = \"list\"\ninput = {}\n\
                  [[step]]\ntext = \"Then not.\"\n";
    let pod = sandbox.pod(
        script,
        "[permissions]\ndefault_action = \"deny\"\n[[permissions.rule]]\n\
        tool = \"list\"\npattern = \"src\"\naction = \"allow\"\n",
    );
    let ran = sandbox
        .run(&["run", pod.to_str().unwrap(), "look"])
        .exits(10);
    assert_eq!(ran.stdout, "Then not.\n", "a last line that is complete");
}

#[test]
fn a_call_that_is_none_is_a_refusal_like_any_other() {
    let sandbox = Sandbox::new();
    for call in [
        "tool = \"shell\"\ninput = {}",
        "tool = \"list\"\ninput = { pth = \".\" }",
        "tool = \"list\"\nraw = \"{\"",
    ] {
        let script = format!("[[step]]\n[[step.call]]\n{call}\n[[step]]\ntext = \"Then not.\"\n");
        let pod = sandbox.pod(&script, ALLOW_ALL);
        let ran = sandbox.run(&["run", pod.to_str().unwrap(), "go"]).exits(10);
        assert!(ran.stderr.contains("1 call, 1 refused"), "{ran:#?}");
        assert!(ran.stderr.contains("  refused #1: bad call, "), "{ran:#?}");
    }
}

#[test]
fn a_limit_and_a_broken_model_are_1() {
    let sandbox = Sandbox::new();
    let endless = "[[step]]\nlabel = \"a\"\n[[step.call]]\ntool = \"list\"\ninput = {}\n\
                   [[step.next]]\ngoto = \"a\"\n";
    let limits = format!("[limits]\nmax_steps = 5\n{ALLOW_ALL}");
    let pod = sandbox.pod(endless, &limits);
    let ran = sandbox.run(&["run", pod.to_str().unwrap(), "go"]).exits(1);
    assert!(ran.stderr.contains("the limit `max_steps`"), "{ran:#?}");

    let cut =
        "[[step]]\ntext = \"Hel\"\nend = \"cut\"\n[[step.call]]\ntool = \"list\"\ninput = {}\n";
    let pod = sandbox.pod(cut, ALLOW_ALL);
    let ran = sandbox.run(&["run", pod.to_str().unwrap(), "go"]).exits(1);
    assert!(ran.stderr.contains("error:"), "{ran:#?}");
}

#[test]
fn a_manifest_that_cannot_be_used_is_78_and_starts_nothing() {
    let sandbox = Sandbox::new();
    for text in [
        "",
        "[permissions",
        "[permissions]\n",
        "[permissions]\ndefault_action = \"alow\"\n",
        "[model]\nprovider = \"scripted\"\nscript = \"./none.toml\"\n",
        "[model]\nprovider = \"scripted\"\nscript = \"unheard-of\"\n",
    ] {
        let pod = sandbox.write("bad.toml", text);
        let ran = sandbox.run(&["run", pod.to_str().unwrap(), "go"]).exits(78);
        assert!(
            ran.stdout.is_empty() && ran.stderr.contains("error"),
            "{text}: {ran:#?}"
        );
    }
    let ran = sandbox.run(&["run", "no-such-file.toml", "go"]).exits(78);
    assert!(ran.stderr.contains("no-such-file.toml"), "{ran:#?}");
    let check = [
        "check",
        "--manifest",
        "no-such-file.toml",
        "--tool",
        "list",
        "--input",
        "{}",
    ];
    for more in [&["--isolated"][..], &[]] {
        let ran = sandbox.run(&[&check[..], more].concat()).exits(78);
        assert!(ran.stderr.contains("no-such-file.toml"), "{ran:#?}");
    }
    assert!(sandbox.sessions().is_empty());
}

#[test]
fn check_says_its_verdict_by_its_exit_code() {
    let sandbox = Sandbox::new();
    let rules = "[permissions]\ndefault_action = \"ask\"\n\
        rule = [{ tool = \"bash\", pattern = \"rm *\", action = \"deny\", message = \"no\" },\n\
        { tool = \"bash\", pattern = \"ls *\", action = \"allow\" }]\n";
    let pod = sandbox.write("rules.toml", rules);
    for (command, code, word) in [
        ("ls -l", 0, "allow"),
        ("rm -rf x", 2, "deny"),
        ("make", 3, "ask"),
    ] {
        let input = serde_json::json!({ "command": command }).to_string();
        for more in [&["--isolated"][..], &[]] {
            let mut arguments = vec!["check", "--manifest", pod.to_str().unwrap()];
            arguments.extend(["--tool", "bash", "--input", &input]);
            arguments.extend(more);
            let ran = sandbox.run(&arguments).exits(code);
            assert!(
                ran.stdout.starts_with(&format!("verdict: {word}\n")),
                "{ran:#?}"
            );
        }
    }
    for (tool, input) in [("bash", "{\"cmd\":1}"), ("shell", "{}"), ("read", "[]")] {
        let arguments = ["check", "--manifest", pod.to_str().unwrap(), "--tool", tool];
        let mut arguments = arguments.to_vec();
        arguments.extend(["--input", input, "--format", "json"]);
        let ran = sandbox.run(&arguments).exits(2);
        let line = &ran.json_lines()[0];
        assert_eq!(line["verdict"], "deny");
        assert_eq!(line["cause"]["kind"], "bad_call", "{line}");
    }
}
