//! Hooks from the manifest, through the real program; the examples of docs/pod.md run as written.

use std::io::Read as _;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::sandbox::{ALLOW_ALL, Ran, Sandbox, repository};
use crate::session_files::{Ending, decisions, exchanges};

fn hook(event: &str, command: &str) -> String {
    format!("[[hook]]\nname = \"mine\"\nevent = \"{event}\"\ncommand = {command}\n")
}

/// A hook that is a line for a shell.
fn line(event: &str, line: &str) -> String {
    hook(event, &format!("{:?}", ["sh", "-c", line]))
}

fn step(calls: &[(&str, Value)]) -> String {
    let mut step = "[[step]]\n".to_owned();
    for (tool, input) in calls {
        let input: Vec<String> = input
            .as_object()
            .unwrap()
            .iter()
            .map(|(key, value)| format!("{key} = {value}"))
            .collect();
        let input = input.join(", ");
        step.push_str(&format!(
            "[[step.call]]\ntool = \"{tool}\"\ninput = {{ {input} }}\n"
        ));
    }
    step
}

fn write(path: &str, content: &str) -> (&'static str, Value) {
    ("file_write", json!({ "path": path, "content": content }))
}

/// Runs one message of calls under some hooks and rules.
fn run(sandbox: &Sandbox, hooks: &str, calls: &[(&str, Value)]) -> Ran {
    let script = step(calls) + "[[step]]\ntext = \"Went on.\\n\"\n";
    let pod = sandbox.pod(&script, &format!("{hooks}{ALLOW_ALL}"));
    sandbox.run(&["run", pod.to_str().unwrap(), "go"])
}

/// The blocks of a language in the section about hooks.
fn blocks(language: &str) -> Vec<String> {
    let page = std::fs::read_to_string(repository().join("docs/pod.md")).unwrap();
    let section = page.split("\n## Hooks\n").nth(1).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let fence = format!("```{language}\n");
    section
        .split(fence.as_str())
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap().to_owned())
        .collect()
}

#[test]
fn the_examples_of_the_page_do_what_it_says() {
    let [declared, parses] = &blocks("toml")[..] else {
        panic!("two manifests")
    };
    let sandbox = Sandbox::new();
    sandbox.write("no-verify.sh", &blocks("sh")[0]);
    sandbox.write("parses.py", &blocks("python")[0]);
    let bash = |command: &str| ("bash", json!({ "command": command }));
    let calls = [
        bash("echo fine"),
        bash("cd . && timeout 5 git commit --no-verify -m x"),
        bash("git commit -qnm x"),
        bash("echo git commit; git commit -m 'not --no-verify'"),
        write("good.py", "x = 1\n"),
        write("bad.py", "x = (\n"),
        write("bad.txt", "x = (\n"),
    ];
    let ran = run(&sandbox, &format!("{declared}{parses}"), &calls).exits(10);
    assert_eq!(ran.stdout, "Went on.\n");
    let contents: Vec<String> = exchanges(&sandbox.session(), Ending::Written)
        .into_iter()
        .map(|exchange| exchange.content)
        .collect();
    let refused: Vec<bool> = contents
        .iter()
        .map(|content| content.starts_with("Refused: "))
        .collect();
    assert_eq!(
        refused,
        [false, true, true, false, false, true, false],
        "{contents:#?}"
    );
    assert!(
        contents[1].contains(
            "The check `no-verify` refuses it: commit without --no-verify: the checks of this \
             project are to run."
        ),
        "{}",
        contents[1]
    );
    assert!(
        contents[5].contains("The check `parses.py` refuses it: line 1 does not parse: "),
        "{}",
        contents[5]
    );
    assert!(sandbox.path("work/good.py").exists());
    assert!(!sandbox.path("work/bad.py").exists());
}

#[test]
fn what_hooks_read_fits_the_schema() {
    let sandbox = Sandbox::new();
    let hooks: String = ["prompt_submit", "pre_tool_call", "post_tool", "turn_end"]
        .map(|event| line(event, "cat >> ../noted"))
        .concat();
    run(&sandbox, &hooks, &[write("a.txt", "one \u{202e}")]).exits(0);
    let schema = sandbox.run(&["schema", "hook-input"]).exits(0).stdout;
    let schema = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    let noted = std::fs::read_to_string(sandbox.path("noted")).unwrap();
    assert!(!noted.contains('\u{202e}'), "it is escaped");
    let mut events = Vec::new();
    for line in noted.lines() {
        let input: Value = serde_json::from_str(line).unwrap();
        let errors: Vec<String> = schema.iter_errors(&input).map(|e| e.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new(), "{input}");
        events.push(input["event"].as_str().unwrap().to_owned());
    }
    assert_eq!(
        events,
        ["prompt_submit", "pre_tool_call", "post_tool", "turn_end"]
    );
    let schema = sandbox.run(&["schema", "hook-output"]).exits(0).stdout;
    let schema = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    for (output, fits) in [
        (json!({"decision": "none"}), true),
        (json!({"decision": "refuse", "message": "x"}), true),
        (json!({"decision": "allow"}), false),
        (json!({"decision": "none", "more": 1}), false),
        (json!(["none"]), false),
    ] {
        assert_eq!(schema.is_valid(&output), fits, "{output}");
    }
}

#[test]
fn each_decision_has_its_end() {
    let cases = [
        ("echo '{\"decision\":\"none\"}'", 0, true),
        ("", 0, true),
        (
            "echo '{\"decision\":\"refuse\",\"message\":\"not \\u001b[31mnow\"}'",
            10,
            false,
        ),
        (
            "echo '{\"decision\":\"abort\",\"message\":\"not \\u001b[31mnow\"}'",
            1,
            false,
        ),
        ("echo not now >&2; exit 2", 10, false),
        (
            "echo '{\"decision\":\"allow\"}'; echo not now >&2",
            10,
            false,
        ),
    ];
    for (body, code, is_written) in cases {
        let sandbox = Sandbox::new();
        let ran = run(
            &sandbox,
            &line("pre_tool_call", body),
            &[write("a.txt", "x")],
        )
        .exits(code);
        assert_eq!(sandbox.path("work/a.txt").exists(), is_written, "{ran:#?}");
        assert!(!ran.stderr.contains('\u{1b}'), "{ran:#?}");
        if !is_written {
            assert!(ran.stderr.contains("mine"), "{ran:#?}");
            assert!(ran.stderr.contains("now"), "{ran:#?}");
            let session = sandbox.session();
            assert!(exchanges(&session, Ending::Written)[0].is_error);
            assert_eq!(
                decisions(&session)[0]["by"],
                json!({"kind": "hook", "name": "mine"})
            );
        }
    }
}

#[test]
fn hooks_run_before_it_turns_out_that_nobody_can_be_asked() {
    let sandbox = Sandbox::new();
    let script = step(&[write("a.txt", "x")]) + "[[step]]\ntext = \"So be it.\"\n";
    let hooks = line("pre_tool_call", "cat > ../noted");
    let rules = "[permissions]\ndefault_action = \"ask\"\n";
    let pod = sandbox.pod(&script, &format!("{hooks}{rules}"));
    sandbox.run(&["run", pod.to_str().unwrap(), "go"]).exits(10);
    let noted = std::fs::read_to_string(sandbox.path("noted")).unwrap();
    let noted: Value = serde_json::from_str(&noted).unwrap();
    assert_eq!(noted["stage"], "asked");
    let last = decisions(&sandbox.session()).pop().unwrap();
    assert_eq!(last["refusal"]["kind"], "no_client");
}

#[test]
fn hooks_on_which_nothing_hangs_warn() {
    let sandbox = Sandbox::new();
    let hooks = line("post_tool", "exit 7") + &line("turn_end", "exit 8");
    let ran = run(&sandbox, &hooks, &[write("a.txt", "x")]).exits(0);
    for warning in [
        "warning: the hook `mine` failed: it exited with code 7",
        "warning: the hook `mine` failed: it exited with code 8",
    ] {
        assert!(ran.stderr.contains(warning), "{ran:#?}");
    }
}

#[test]
fn a_prompt_that_a_hook_refuses_is_not_kept() {
    let sandbox = Sandbox::new();
    let body = "echo '{\"decision\":\"refuse\",\"message\":\"not today\"}'";
    let ran = run(
        &sandbox,
        &line("prompt_submit", body),
        &[write("a.txt", "x")],
    )
    .exits(1);
    assert!(ran.stderr.contains("mine: not today"), "{ran:#?}");
    assert_eq!(ran.stdout, "");
    assert!(!sandbox.path("work/a.txt").exists());
}

#[test]
fn a_hook_that_is_not_there_starts_no_pod() {
    let sandbox = Sandbox::new();
    let hooks = hook("turn_end", "[\"./missing.sh\"]");
    let ran = run(&sandbox, &hooks, &[write("a.txt", "x")]).exits(78);
    assert!(
        ran.stderr
            .contains("pod.toml:7:1) cannot be used: there is no file `"),
        "{ran:#?}"
    );
    assert_eq!(sandbox.sessions(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn sigint_kills_a_slow_hook_and_the_call_is_refused() {
    let sandbox = Sandbox::new();
    let pipe = sandbox.path("pipe");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, mode).unwrap();
    let slow = "exec 3> ../pipe; echo running >&3; sleep 1000 & wait";
    let script = step(&[write("a.txt", "x")]) + "[[step]]\ntext = \"never\"\n";
    let pod = sandbox.pod(
        &script,
        &format!("{}{ALLOW_ALL}", line("pre_tool_call", slow)),
    );
    let mut child = sandbox
        .podward(&["run", pod.to_str().unwrap(), "go"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut file = std::fs::File::open(&pipe).unwrap();
    file.read_exact(&mut [0; 8]).unwrap();
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    // Returns when the last process that has the pipe open has ended.
    file.read_to_end(&mut Vec::new()).unwrap();
    let session = sandbox.session();
    let results = exchanges(&session, Ending::Written);
    assert!(
        results[0]
            .content
            .contains("was cancelled before it started")
    );
    assert_eq!(decisions(&session)[0]["refusal"]["kind"], "cancelled");
    assert!(!sandbox.path("work/a.txt").exists());
}

#[test]
fn a_command_cannot_put_itself_in_the_place_of_a_hook() {
    let sandbox = Sandbox::new();
    let noted = sandbox.path("noted");
    let good = sandbox.write(
        "opt/check.sh",
        &format!("#!/bin/sh\necho good > {}\n", noted.display()),
    );
    std::fs::set_permissions(&good, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    std::os::unix::fs::symlink(sandbox.path("opt"), sandbox.path("work/hooks")).unwrap();
    let calls = [(
        "bash",
        json!({"command": "rm hooks; mkdir hooks; cp /bin/false hooks/check.sh"}),
    )];
    // A link that a command could replace, also where nothing the kernel protects lies behind it.
    let ran = run(
        &sandbox,
        &hook("turn_end", "[\"./work/hooks/check.sh\"]"),
        &calls,
    )
    .exits(78);
    assert!(
        ran.stderr.contains("tools could make the symlink `"),
        "{ran:#?}"
    );
    assert!(ran.stderr.contains("/opt/check.sh`"), "{ran:#?}");
    // A script that a command could bring along.
    for command in ["[\"bash\", \"-e\", \"check\"]", "[\"env\", \"check.py\"]"] {
        let ran = run(&sandbox, &hook("turn_end", command), &calls).exits(78);
        assert!(ran.stderr.contains("there is no file `"), "{ran:#?}");
    }
    assert!(sandbox.path("work/hooks").is_symlink());
    let ran = run(&sandbox, &hook("turn_end", "[\"./opt/check.sh\"]"), &calls).exits(0);
    assert!(ran.stderr.contains("#1   done"), "{ran:#?}");
    assert_eq!(std::fs::read_to_string(&noted).unwrap(), "good\n");
}

#[test]
fn a_hook_finds_no_program_that_a_command_has_written() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("work/bin")).unwrap();
    let planted = "printf '#!/bin/sh\\necho planted\\n' > bin/cat; chmod 700 bin/cat";
    let script = step(&[("bash", json!({ "command": planted }))]) + "[[step]]\ntext = \"x\"\n";
    let hooks = line("turn_end", "echo real | cat > ../noted");
    let pod = sandbox.pod(&script, &format!("{hooks}{ALLOW_ALL}"));
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", sandbox.path("work/bin").display());
    let mut podward = sandbox.podward(&["run", pod.to_str().unwrap(), "go"]);
    let ran: Ran = podward.env("PATH", path).output().unwrap().into();
    let ran = ran.exits(0);
    assert!(sandbox.path("work/bin/cat").is_file(), "{ran:#?}");
    let noted = std::fs::read_to_string(sandbox.path("noted")).unwrap();
    assert_eq!(noted, "real\n", "{ran:#?}");
}
