use serde_json::{Value, json};

use crate::sandbox::Sandbox;

fn case(id: &str, input: Value, expect: &[&str]) -> String {
    let manifest = "[permissions]\ndefault_action = \"allow\"\n[[permissions.rule]]\n\
                    tool = \"read\"\npattern = \"*.env\"\naction = \"deny\"\n";
    json!({
        "id": id, "manifest": manifest, "tool": "read", "input": input, "expect": expect,
        "why": "secrets", "source": "own",
    })
    .to_string()
}

#[test]
fn cases_end_with_their_counts() {
    let sandbox = Sandbox::new();
    let good = [
        case("a", json!({"path": "x/.env"}), &["deny"]),
        case("a-ok-1", json!({"path": "x/env"}), &["allow"]),
        String::new(),
    ]
    .join("\n");
    let good = sandbox.write("good.jsonl", &good);
    let ran = sandbox
        .run(&["check", "--cases", good.to_str().unwrap()])
        .exits(0);
    assert_eq!(ran.stdout, "2 passed, 0 failed\n");
    assert_eq!(
        ran.stderr,
        "rates: attacks stopped 1/1 (100.0 %), harmless calls allowed 1/1 (100.0 %)\n"
    );
}

#[test]
fn a_failed_case_is_named_with_its_cause() {
    let sandbox = Sandbox::new();
    let bad = [
        case("b", json!({"path": "x/env"}), &["deny", "ask"]),
        "{\"id\":".to_owned(),
    ]
    .join("\n");
    let bad = sandbox.write("bad.jsonl", &bad);
    let file = bad.to_str().unwrap();
    let ran = sandbox.run(&["check", "--cases", file]).exits(1);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert!(
        lines[0].starts_with("b: allow, expected ask or deny: ")
            || lines[0].starts_with("b: allow, expected deny or ask: "),
        "{ran:#?}"
    );
    assert!(
        lines[1].starts_with(&format!("{file}:2: not judged")),
        "{ran:#?}"
    );
    assert_eq!(lines[2], "0 passed, 2 failed");
    let ran = sandbox
        .run(&["check", "--cases", "none.jsonl", "--format", "json"])
        .exits(1);
    assert_eq!(
        ran.stdout,
        "{\"id\":\"none.jsonl\",\"verdict\":null,\"expect\":[],\"pass\":false,\
         \"note\":\"cannot be read: No such file or directory (os error 2)\"}\n"
    );
}

#[test]
fn cases_print_one_line_of_json_each() {
    let sandbox = Sandbox::new();
    let cases = [
        case("a", json!({"path": "x/.env"}), &["deny"]),
        case("b", json!({"path": "x/env"}), &["deny"]),
    ]
    .join("\n");
    let cases = sandbox.write("cases.jsonl", &cases);
    let ran = sandbox
        .run(&[
            "check",
            "--format",
            "json",
            "--cases",
            cases.to_str().unwrap(),
        ])
        .exits(1);
    let note = format!(
        "{}:2: default of manifest (a:2:1); secrets",
        cases.display()
    );
    assert_eq!(
        ran.stdout,
        format!(
            "{{\"id\":\"a\",\"verdict\":\"deny\",\"expect\":[\"deny\"],\"pass\":true}}\n\
             {{\"id\":\"b\",\"verdict\":\"allow\",\"expect\":[\"deny\"],\"pass\":false,\
             \"note\":\"{note}\"}}\n"
        )
    );
    assert!(ran.stderr.contains("1 passed, 1 failed\n"), "{ran:#?}");
}

#[test]
fn check_reads_the_layers_that_run_would_read_unless_isolated() {
    let sandbox = Sandbox::new();
    let deny = "[permissions]\ndefault_action = \"allow\"\n[[permissions.rule]]\n\
                tool = \"bash\"\npattern = \"make *\"\naction = \"deny\"\n";
    let pod = sandbox.write("pod.toml", "[permissions]\ndefault_action = \"allow\"\n");
    let extra = sandbox.write("extra.toml", deny);
    let judge = |more: &[&str], environment: Option<&str>| {
        let mut arguments = vec![
            "check",
            "--manifest",
            pod.to_str().unwrap(),
            "--tool",
            "bash",
        ];
        arguments.extend(["--input", "{\"command\":\"make\"}", "--format", "json"]);
        arguments.extend(more);
        let mut command = sandbox.podward(&arguments);
        command.envs(environment.map(|text| ("PODWARD_PERMISSIONS", text)));
        let ran = crate::sandbox::Ran::from(command.output().unwrap());
        let line = ran.json_lines()[0].clone();
        (line["verdict"].clone(), line["cause"]["layer"].clone())
    };
    let extra = extra.to_str().unwrap();
    assert_eq!(judge(&[], None), (json!("allow"), json!("manifest")));
    assert_eq!(
        judge(&["--permissions", extra], None).1,
        json!("command-line")
    );
    assert_eq!(judge(&[], Some(deny)).1, json!("environment"));
    sandbox.write("work/.podward/pod.toml", deny);
    assert_eq!(judge(&[], None), (json!("deny"), json!("project")));
    sandbox.write("config/podward/pod.toml", deny);
    assert_eq!(judge(&[], None), (json!("deny"), json!("user")));
    assert_eq!(
        judge(&["--isolated"], Some(deny)),
        (json!("allow"), json!("manifest"))
    );
}

#[test]
fn the_part_that_decided_is_underlined_and_every_operation_has_its_bytes() {
    let sandbox = Sandbox::new();
    let manifest = sandbox.write(
        "pod.toml",
        "[permissions]\ndefault_action = \"ask\"\nrule = [\n\
         { tool = \"bash\", pattern = \"rm *\", action = \"deny\", message = \"keep it\" },\n\
         { tool = \"bash\", pattern = \"git *\", action = \"allow\" },\n]\n",
    );
    let manifest = manifest.to_str().unwrap();
    let check = |command: &str, format: &str| {
        let input = json!({ "command": command }).to_string();
        let arguments = ["--manifest", manifest, "--tool", "bash", "--input", &input];
        let more = ["check", "--isolated", "--format", format];
        sandbox.run(&[&more[..], &arguments[..]].concat())
    };
    let command = "git log --frob\necho \u{202e}漢字; sudo rm -r \\\n\tx";
    let ran = check(command, "text").exits(2);
    let shown: Vec<&str> = ran.stdout.lines().skip(3).collect();
    assert_eq!(
        shown,
        [
            "coverage: partial, the option `--frob` is not known",
            "2 | echo \\u{202e}漢字; sudo rm -r \\",
            "  |                         ^^^^^^^",
            "3 |     x",
            "  | ^^^^^",
            "operations:",
            "  bash               0..14   git log --frob",
            "                             partial: the option `--frob` is not known",
            "  bash               15..29  echo '\\u{202e}漢字'",
            "  bash               31..46  sudo rm -r x",
            "> bash               36..46  rm -r x  (run by another command)",
            "  file_write         45..46  x  (can only tighten)",
            "  file_edit          45..46  x  (can only tighten)",
            "  file_write         45..46  x/  (all below it)  (can only tighten)",
            "  file_edit          45..46  x/  (all below it)  (can only tighten)",
        ]
    );
    let ran = check(command, "json").exits(2);
    let line = &ran.json_lines()[0];
    let operations = &line["operations"];
    assert_eq!(line["operation"], json!(3));
    assert_eq!(operations[3]["span"], json!({"start": 36, "end": 46}));
    assert_eq!(operations[3]["partial"], Value::Null);
    let why = json!(["the option `--frob` is not known"]);
    assert_eq!(operations[0]["partial"], why);
    assert_eq!(line["coverage"], json!({"kind": "partial", "why": why}));
}
