//! Tests beside rules: a layer with one that fails does not load.

use serde_json::json;

use crate::sandbox::Sandbox;

fn manifest(expect: &str) -> String {
    format!(
        "[permissions]\ndefault_action = \"ask\"\n\
         [[permissions.rule]]\ntool = \"bash\"\npattern = \"rm *\"\naction = \"deny\"\n\
         examples = {{ deny = [\"rm -r <x>\"], {expect} = [\"git push\"] }}\n"
    )
}

#[test]
fn a_layer_with_a_test_that_fails_starts_no_pod() {
    let sandbox = Sandbox::new();
    let script = "[[step]]\ntext = \"done\"\n";
    let pod = sandbox.pod(script, &manifest("allow"));
    let run = || sandbox.run(&["run", pod.to_str().unwrap(), "go"]);
    let ran = run().exits(78);
    assert!(
        ran.stderr
            .contains("error: `bash git push` gets ask, and allow is expected"),
        "{ran:#?}"
    );
    assert!(ran.stderr.contains("pod.toml:13:45"), "{ran:#?}");
    assert!(sandbox.sessions().is_empty());
    let check = |more: &[&str]| {
        let manifest = ["check", "--manifest", pod.to_str().unwrap()];
        let call = ["--tool", "bash", "--input", "{\"command\":\"ls\"}"];
        sandbox.run(&[&manifest[..], &call[..], more].concat())
    };
    check(&[]).exits(78);
    check(&["--isolated"]).exits(78);

    sandbox.pod(script, &manifest("ask"));
    run().exits(0);
    check(&[]).exits(3);
    // So does the layer of a project that nobody trusts.
    sandbox.write("work/.podward/pod.toml", &manifest("allow"));
    let ran = run().exits(78);
    assert!(ran.stderr.contains(".podward/pod.toml:7:45"), "{ran:#?}");
    sandbox.write("work/.podward/pod.toml", &manifest("ask"));
    run().exits(0);
}

#[test]
fn tests_are_run_and_reported() {
    let sandbox = Sandbox::new();
    sandbox.write("work/good.toml", &manifest("ask"));
    sandbox.write("work/bad.toml", &manifest("allow"));
    sandbox.write("work/broken.toml", "[permissions]\n");
    let case = json!({
        "id": "a case", "manifest": "[permissions]\ndefault_action = \"deny\"\n",
        "tool": "bash", "input": {"command": "ls"}, "expect": ["deny"],
    });
    sandbox.write("work/cases.jsonl", &case.to_string());
    let test = |arguments: &[&str]| {
        let mut command = sandbox.podward(&[&["test"][..], arguments].concat());
        command.current_dir(sandbox.work());
        crate::sandbox::Ran::from(command.output().unwrap())
    };
    let ran = test(&["good.toml", "cases.jsonl"]).exits(0);
    assert_eq!(ran.stdout, "3 passed, 0 failed\n");
    let ran = test(&["good.toml", "bad.toml"]).exits(1);
    assert_eq!(
        ran.stdout,
        "bad.toml:7:45: bash git push: ask, expected allow: `default_action` (bad.toml:2:1)\n\
         3 passed, 1 failed\n"
    );
    let ran = test(&["bad.toml", "--format", "json"]).exits(1);
    let lines = ran.json_lines();
    assert_eq!(lines.len(), 2);
    assert_eq!(
        lines[0],
        json!({
            "id": "bad.toml:7:45: bash git push", "verdict": "ask", "expect": ["allow"],
            "pass": false, "note": "`default_action` (bad.toml:2:1)",
        })
    );
    let ran = test(&["bad.toml", "--format", "junit"]).exits(1);
    assert_eq!(
        ran.stdout,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  \
         <testsuite name=\"bad.toml\" tests=\"2\" failures=\"1\">\n    \
         <testcase classname=\"bad.toml\" name=\"bad.toml:7:45: bash git push\">\n      \
         <failure message=\"ask, expected allow\">`default_action` (bad.toml:2:1)</failure>\n    \
         </testcase>\n    \
         <testcase classname=\"bad.toml\" name=\"bad.toml:7:22: bash rm -r &lt;x&gt;\"/>\n  \
         </testsuite>\n</testsuites>\n"
    );
    // A layer that does not load is no test that passed, and hides no other.
    let ran = test(&["broken.toml", "good.toml"]).exits(78);
    assert_eq!(ran.stdout, "2 passed, 0 failed\n");
    assert!(ran.stderr.contains("`[permissions]` is empty"), "{ran:#?}");
    // Nor for those who read a report alone.
    let ran = test(&["broken.toml", "good.toml", "--format", "junit"]).exits(78);
    let error = "<testsuite name=\"broken.toml\" tests=\"1\" failures=\"0\" errors=\"1\">";
    assert!(ran.stdout.contains(error), "{}", ran.stdout);
    let ran = test(&["broken.toml", "good.toml", "--format", "json"]).exits(78);
    let lines = ran.json_lines();
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[0]["id"], "broken.toml");
    assert_eq!(lines[0]["pass"], false);
    let note = lines[0]["note"].as_str().unwrap();
    assert!(note.contains("`[permissions]` is empty"), "{note}");
    test(&["none.toml"]).exits(78);
    test(&["none.jsonl"]).exits(1);
    test(&[]).exits(64);
}

#[test]
fn a_test_says_where_its_relative_paths_start() {
    let sandbox = Sandbox::new();
    let rules = "[permissions]\ndefault_action = \"deny\"\nrule = [\n  \
                 { tool = \"read\", pattern = \"src/*\", action = \"allow\" },\n  \
                 { tool = \"external_directory\", pattern = \"*\", action = \"deny\" },\n]\n";
    let test = |cwd: &str, expect: &str| {
        format!(
            "[[permissions.test]]\ntool = \"read\"\ntext = \"a.rs\"\ncwd = \"{cwd}\"\n\
             expect = \"{expect}\"\n"
        )
    };
    let starts = [
        ("src", "allow"),
        ("/home/user/project/src", "allow"),
        ("~/project/src/deep", "allow"),
        (".", "deny"),
        ("../other", "deny"),
    ];
    let tests: String = starts.map(|(cwd, expect)| test(cwd, expect)).concat();
    sandbox.write("work/good.toml", &format!("{rules}{tests}"));
    sandbox.write("work/bad.toml", &format!("{rules}{}", test("src", "deny")));
    let case = json!({
        "id": "a case", "manifest": rules, "tool": "read", "input": {"path": "a.rs"},
        "cwd": "src", "expect": ["allow"],
    });
    let mut elsewhere = case.clone();
    elsewhere["cwd"] = json!("lib");
    elsewhere["expect"] = json!(["deny"]);
    sandbox.write("work/cases.jsonl", &format!("{case}\n{elsewhere}\n"));
    let test = |arguments: &[&str]| {
        let mut command = sandbox.podward(&[&["test"][..], arguments].concat());
        command.current_dir(sandbox.work());
        crate::sandbox::Ran::from(command.output().unwrap())
    };
    let ran = test(&["good.toml", "cases.jsonl"]).exits(0);
    assert_eq!(ran.stdout, "7 passed, 0 failed\n");
    let ran = test(&["bad.toml"]).exits(1);
    let named = "bad.toml:7:1: read a.rs (in /home/user/project/src): allow, expected deny";
    assert!(ran.stdout.starts_with(named), "{}", ran.stdout);
    // A layer with such a test that fails does not load.
    let bad = sandbox.work().join("bad.toml");
    let bad = bad.to_str().unwrap();
    let call = ["--tool", "read", "--input", "{\"path\":\"a.rs\"}"];
    let ran = sandbox.run(&[&["check", "--manifest", bad][..], &call].concat());
    let message = "`read a.rs (in /home/user/project/src)` gets allow, and deny is expected";
    assert!(ran.exits(78).stderr.contains(message));
}
