//! The hooks that a manifest declares: real programs.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use async_trait::async_trait;
use podward_pod::SessionChoice;
use podward_protocol::{RefusalCause, ToolOutcome};
use podward_worker::{
    EndReason, Entry, Hook, HookError, Hooks, PreToolAction, PreToolCall, SyntheticResult,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::bench::{Bench, Ran, call, script, text};

const ALLOW: &str = "[permissions]\ndefault_action = \"allow\"\n";

/// A hook that runs a shell script below the bench's directory.
fn hook(event: &str, file: &str, more: &str) -> String {
    format!(
        "[[hook]]\nname = \"{}\"\nevent = \"{event}\"\ncommand = [\"sh\", \"./{file}\"]\n{more}\n",
        file.trim_end_matches(".sh")
    )
}

fn write_script(bench: &Bench, file: &str, body: &str) {
    fs::write(bench.path(file), body).unwrap();
    fs::set_permissions(bench.path(file), fs::Permissions::from_mode(0o644)).unwrap();
}

fn bench(hooks: &[(&str, &str, &str)], rules: &str) -> Bench {
    let declared: String = hooks
        .iter()
        .map(|(event, file, _)| hook(event, file, ""))
        .collect();
    let bench = Bench::new(&format!("{declared}{rules}"));
    for (_, file, body) in hooks {
        write_script(&bench, file, body);
    }
    bench
}

fn write(path: &str, content: &str) -> Value {
    call("file_write", json!({"path": path, "content": content}))
}

fn bash(command: &str) -> Value {
    call("bash", json!({"command": command}))
}

fn refusals(ran: &Ran) -> Vec<RefusalCause> {
    ran.verdicts()
        .filter_map(|verdict| verdict.refusal.clone())
        .collect()
}

/// What hooks have noted, a JSON value a line.
fn noted(bench: &Bench, file: &str) -> Vec<Value> {
    let text = bench.read(file).unwrap_or_default();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

pub(crate) fn a_hook_refuses_in_its_own_words() {
    let body = "grep -q '\"content\":\"secret' || exit 0\n\
                printf '{\"decision\":\"refuse\",\"message\":\"not \\\\u001b[31mthis\\\\nfile\"}'\n";
    let bench = bench(&[("pre_tool_call", "guard.sh", body)], ALLOW);
    let model = script(&[
        &[write("a.txt", "secret 1"), write("b.txt", "two")],
        &[text("done")],
    ]);
    let ran = bench.run(&model, "do it");
    assert_eq!(ran.end.reason, EndReason::Done);
    assert_eq!(ran.end.n_refused, 1);
    assert_eq!(bench.read("project/a.txt"), None);
    assert_eq!(bench.read("project/b.txt").unwrap(), "two");
    let results = bench.results(&ran);
    assert_eq!(
        results[0].1,
        "Refused: this call of `file_write` was not run. The check `guard` refuses it: not \
         \u{1b}[31mthis\nfile. Retrying will not help unless these words say so."
    );
    let decision = &bench.decisions(&ran)[0];
    assert_eq!(decision["outcome"], "refuse");
    assert_eq!(decision["by"], json!({"kind": "hook", "name": "guard"}));
    assert_eq!(decision["verdict"]["verdict"], "allow");
    assert_eq!(decision["refusal"]["text"], "not \u{1b}[31mthis\nfile");
}

pub(crate) fn every_failure_of_a_hook_refuses() {
    let cases = [
        ("exit 1", "it exited with code 1"),
        (
            "echo 'no, really' >&2; exit 2",
            "it exited with code 2: no, really",
        ),
        (
            "echo '{\"decision\":\"none\"}'; exit 1",
            "it exited with code 1",
        ),
        ("kill -9 $$", "it was ended by signal 9"),
        ("echo ok", "its output is no JSON object"),
        ("echo '{\"decision\":\"none\"'", "its output is no answer"),
        ("echo '{\"decision\":\"allow\"}'", "unknown variant `allow`"),
        (
            "echo '{\"decision\":\"approve\"}'",
            "unknown variant `approve`",
        ),
        (
            "echo '{}'; echo oops >&2",
            "missing field `decision` at line 1 column 2; standard error: oops",
        ),
        (
            "echo '{\"decision\":\"none\",\"permissionDecision\":\"allow\"}'",
            "unknown field `permissionDecision`",
        ),
        ("printf '\\377'", "its output is not UTF-8"),
        (
            "yes '{\"decision\":\"none\"}'",
            "it wrote more than 65536 bytes",
        ),
        ("sleep 1000", "it did not end within 200ms and was killed"),
        (
            "sleep 1000 & exec 1>&-; wait",
            "it did not end within 200ms and was killed",
        ),
        ("sleep 1000 & exit 3", "it exited with code 3"),
    ];
    for (body, why) in cases {
        let timeout = match why.contains("200ms") {
            true => "timeout = \"200ms\"",
            false => "timeout = \"2m\"",
        };
        let bench = Bench::new(&format!(
            "{}{ALLOW}",
            hook("pre_tool_call", "guard.sh", timeout)
        ));
        write_script(&bench, "guard.sh", body);
        let ran = bench.run(&script(&[&[write("a.txt", "x")], &[text("done")]]), "do it");
        assert_eq!(ran.end.reason, EndReason::Done, "{body}");
        assert_eq!(bench.read("project/a.txt"), None, "{body}");
        let [RefusalCause::HookFailed { name, why: told }] = &refusals(&ran)[..] else {
            panic!("{body}: {:?}", refusals(&ran));
        };
        assert_eq!(name, "guard");
        assert!(told.contains(why), "{body}: {told}");
        let result = &bench.results(&ran)[0].1;
        assert!(
            result.contains("the check `guard`, which has to pass before it, failed: it"),
            "{body}: {result}"
        );
        assert!(result.contains(told.as_str()), "{body}: {result}");
    }
}

pub(crate) fn a_program_that_is_gone_refuses() {
    let rules = format!(
        "{}[[hook]]\nevent = \"pre_tool_call\"\ncommand = [\"./guard\"]\n{ALLOW}",
        hook("prompt_submit", "first.sh", "")
    );
    for (body, why) in [
        ("rm ../guard", "it cannot be started: No such file"),
        (
            "chmod -x ../guard",
            "it cannot be started: Permission denied",
        ),
    ] {
        let bench = Bench::new(&rules);
        write_script(&bench, "first.sh", body);
        write_script(&bench, "guard", "#!/bin/sh\n");
        fs::set_permissions(bench.path("guard"), fs::Permissions::from_mode(0o755)).unwrap();
        let ran = bench.run(&script(&[&[write("a.txt", "x")], &[text("done")]]), "do it");
        let [RefusalCause::HookFailed { why: told, .. }] = &refusals(&ran)[..] else {
            panic!("{:?}", refusals(&ran));
        };
        assert!(told.contains(why), "{told}");
        assert_eq!(bench.read("project/a.txt"), None);
    }
}

pub(crate) fn a_hook_ends_the_turn() {
    let body = "grep -q b.txt && echo '{\"decision\":\"abort\",\"message\":\"enough\"}'; exit 0";
    let bench = bench(&[("pre_tool_call", "guard.sh", body)], ALLOW);
    let calls = [
        write("a.txt", "x"),
        write("b.txt", "x"),
        write("c.txt", "x"),
    ];
    let ran = bench.run(&script(&[&calls, &[text("never")]]), "do it");
    let expected = EndReason::Aborted {
        hook: "guard".into(),
        reason: "enough".into(),
    };
    assert_eq!(ran.end.reason, expected);
    for file in ["project/a.txt", "project/b.txt", "project/c.txt"] {
        assert_eq!(bench.read(file), None, "nothing of the message runs");
    }
    assert_eq!(bench.results(&ran).len(), 3);
}

/// Hooks see what the rules do not refuse, before anybody would be asked.
pub(crate) fn hooks_see_what_is_permitted_or_asked() {
    let rules = "[permissions]\ndefault_action = \"allow\"\n\
        [[permissions.rule]]\ntool = \"file_write\"\npattern = \"ask*\"\naction = \"ask\"\n\
        [[permissions.rule]]\ntool = \"file_write\"\npattern = \"deny*\"\naction = \"deny\"\n";
    let bench = bench(&[("pre_tool_call", "note.sh", "cat >> ../noted\n")], rules);
    let calls = [
        write("deny.txt", "1"),
        write("ask.txt", "2"),
        write("fine.txt", "3"),
    ];
    let ran = bench.run(&script(&[&calls, &[text("done")]]), "do it");
    let noted = noted(&bench, "noted");
    let seen: Vec<_> = noted
        .iter()
        .map(|input| (input["arguments"]["path"].clone(), input["stage"].clone()))
        .collect();
    assert_eq!(
        seen,
        [
            (json!("ask.txt"), json!("asked")),
            (json!("fine.txt"), json!("permitted")),
        ]
    );
    let asked = &noted[0];
    let project = bench.path("project");
    for (key, value) in [
        ("version", json!(1)),
        ("event", json!("pre_tool_call")),
        ("hook", json!("note")),
        ("session", json!(ran.session)),
        ("pod", json!("bench")),
        ("workspace", json!(project)),
        ("cwd", json!(project)),
        ("call", json!(bench.calls(&ran)[1])),
        ("tool", json!("file_write")),
    ] {
        assert_eq!(asked[key], value, "{key}");
    }
    assert_eq!(asked["operations"][0]["text"], "ask.txt");
    assert_eq!(asked["ruling"]["verdict"], "ask");
    let at = &asked["ruling"]["cause"]["at"];
    assert_eq!(at["line"], bench.line("ask*"));
    assert!(at["file"].as_str().unwrap().ends_with("pod.toml"));
    assert!(refusals(&ran).contains(&RefusalCause::NoClient));
    assert_eq!(bench.read("project/ask.txt"), None);
    assert_eq!(bench.read("project/fine.txt").unwrap(), "3");
}

pub(crate) fn a_refusal_by_a_hook_is_not_asked_about() {
    let rules = "[permissions]\ndefault_action = \"ask\"\n";
    let body = "echo '{\"decision\":\"refuse\"}'";
    let bench = bench(&[("pre_tool_call", "guard.sh", body)], rules);
    let ran = bench.run(&script(&[&[write("a", "x")], &[text("done")]]), "do it");
    let expected = RefusalCause::Hook {
        name: "guard".into(),
        text: "it gives no reason".into(),
    };
    assert_eq!(refusals(&ran), [expected]);
}

pub(crate) fn large_arguments_reach_a_hook_whole() {
    let body = "wc -c >&2; exit 1";
    let bench = bench(
        &[
            ("pre_tool_call", "a.sh", ""),
            ("pre_tool_call", "b.sh", body),
        ],
        ALLOW,
    );
    let content = "x".repeat(1024 * 1024);
    let ran = bench.run(
        &script(&[&[write("a.txt", &content)], &[text("done")]]),
        "do it",
    );
    let [RefusalCause::HookFailed { why, .. }] = &refusals(&ran)[..] else {
        panic!("{:?}", refusals(&ran));
    };
    let n_bytes: usize = why.rsplit(' ').next().unwrap().parse().unwrap();
    assert!(n_bytes > content.len(), "{why}");
}

pub(crate) fn hooks_have_the_users_environment_and_never_the_key() {
    let hooks = hook("turn_end", "note.sh", "");
    let bench = Bench::new(&format!(
        "[model]\nprovider = \"scripted\"\nscript = \"demo\"\nkey_env = \"TEST_KEY\"\n{hooks}{ALLOW}"
    ));
    write_script(&bench, "note.sh", "printenv > ../noted; pwd >> ../noted");
    let ran = bench.run_with(&script(&[&[text("done")]]), |request| {
        let variables = [
            ("MINE", "1"),
            ("SOME_TOKEN", "of mine"),
            ("TEST_KEY", "3"),
            ("PODWARD_PERMISSIONS", "x"),
            ("PATH", "rel:/usr/bin::/bin"),
        ];
        request.variables = variables
            .iter()
            .map(|(n, v)| ((*n).into(), (*v).into()))
            .collect();
    });
    let project = bench.path("project");
    let mut noted: Vec<_> = bench
        .read("noted")
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect();
    assert_eq!(noted.pop().unwrap(), project.display().to_string());
    noted.retain(|line| {
        !["_=", "PWD=", "OLDPWD=", "SHLVL="]
            .iter()
            .any(|own| line.starts_with(own))
    });
    noted.sort();
    assert_eq!(
        noted,
        [
            "MINE=1".to_owned(),
            "PATH=/usr/bin:/bin".to_owned(),
            "PODWARD_HOOK=note".to_owned(),
            "PODWARD_HOOK_EVENT=turn_end".to_owned(),
            "PODWARD_POD=bench".to_owned(),
            format!("PODWARD_SESSION={}", ran.session),
            format!("PODWARD_WORKSPACE={}", project.display()),
            "SOME_TOKEN=of mine".to_owned(),
        ]
    );
}

pub(crate) fn hooks_that_look_on_see_results_and_their_failures_are_told() {
    let bench = bench(
        &[
            ("post_tool", "note.sh", "cat >> ../noted"),
            ("post_tool", "fails.sh", "echo broken >&2; exit 1"),
            (
                "turn_end",
                "late.sh",
                "echo '{\"decision\":\"abort\",\"message\":\"too late\"}'",
            ),
            ("turn_end", "note2.sh", "cat >> ../noted"),
        ],
        ALLOW,
    );
    let ran = bench.run(
        &script(&[&[bash("echo out; exit 3")], &[text("done")]]),
        "do it",
    );
    assert_eq!(ran.end.reason, EndReason::Done);
    let noted = noted(&bench, "noted");
    assert_eq!(noted[0]["event"], "post_tool");
    assert_eq!(noted[0]["result"]["is_error"], true);
    assert_eq!(noted[0]["result"]["is_cut"], false);
    let content = noted[0]["result"]["content"].as_str().unwrap();
    assert!(content.starts_with("out\n"), "{content}");
    assert_eq!(
        noted[1]["reason"],
        json!({"kind": "done"}),
        "{:?}",
        noted[1]
    );
    assert_eq!(
        (&noted[1]["n_steps"], &noted[1]["n_refused"]),
        (&json!(2), &json!(0))
    );
    let told: Vec<_> = ran.notices().collect();
    assert_eq!(
        told,
        [
            "the hook `fails` failed: it exited with code 1: broken",
            "the hook `late` failed: it wants to stop what has already happened: too late",
        ]
    );
}

pub(crate) fn a_prompt_can_be_refused() {
    for (body, reason) in [
        ("echo '{\"decision\":\"refuse\",\"message\":\"no\"}'", "no"),
        ("echo '{\"decision\":\"abort\",\"message\":\"no\"}'", "no"),
        ("exit 4", "it failed: it exited with code 4"),
        (
            "grep -q '\"prompt\":\"do it\"' || exit 0; echo '{\"decision\":\"abort\"}'",
            "it gives no reason",
        ),
    ] {
        let bench = bench(&[("prompt_submit", "guard.sh", body)], ALLOW);
        let ran = bench.run(&script(&[&[write("a", "x")], &[text("done")]]), "do it");
        let expected = EndReason::Aborted {
            hook: "guard".into(),
            reason: reason.into(),
        };
        assert_eq!(ran.end.reason, expected, "{body}");
        assert_eq!(bench.read("project/a"), None);
        let entries = crate::entries(&ran);
        assert!(
            !entries
                .iter()
                .any(|entry| matches!(entry, Entry::Prompt { .. })),
            "{entries:?}"
        );
    }
}

struct InCode;

#[async_trait]
impl Hook<PreToolCall> for InCode {
    fn name(&self) -> &str {
        "in-code"
    }

    async fn on(&self, _event: &mut PreToolCall) -> Result<PreToolAction, HookError> {
        Ok(PreToolAction::Result(SyntheticResult::refuse("by code")))
    }
}

pub(crate) fn hooks_run_layer_by_layer_and_those_in_code_last() {
    let note = |name: &str| {
        format!(
            "[[hook]]\nevent = \"pre_tool_call\"\ntool = \"file_*\"\ncommand = [\"sh\", \"-c\", \
             \"echo {name} >> ../noted\"]\n"
        )
    };
    let bench = Bench::new(&format!(
        "{}{}{ALLOW}",
        note("manifest-1"),
        note("manifest-2")
    ));
    for (layer, name) in [
        ("config/podward", "user"),
        ("project/.podward", "project"),
        ("etc/podward", "machine"),
    ] {
        fs::create_dir_all(bench.path(layer)).unwrap();
        fs::write(bench.path(layer).join("pod.toml"), note(name)).unwrap();
    }
    bench.trust();
    let model = script(&[&[write("a", "x"), bash("true")], &[text("done")]]);
    let ran = bench.run_with(&model, |request| {
        request.hooks = Hooks::new().pre_tool_call(Arc::new(InCode));
    });
    assert_eq!(
        bench.read("noted").unwrap(),
        "machine\nuser\nproject\nmanifest-1\nmanifest-2\n",
        "once: `bash` is no `file_*`"
    );
    assert!(bench.results(&ran)[0].1.contains("by code"));
}

pub(crate) fn what_a_hook_runs_cannot_be_written_by_tools() {
    let bench = Bench::new(&format!(
        "[[hook]]\nname = \"guard\"\nevent = \"pre_tool_call\"\ncommand = [\"sh\", \"tools/guard.sh\"]\n{ALLOW}"
    ));
    fs::create_dir(bench.path("project/tools")).unwrap();
    write_script(&bench, "project/tools/guard.sh", "exit 0\n");
    let model = script(&[
        &[
            write("tools/guard.sh", "exit 1"),
            bash("echo exit 1 > tools/guard.sh"),
            bash("rm tools/guard.sh"),
            bash("mv tools old"),
            write("tools/other.sh", "x"),
        ],
        &[text("done")],
    ]);
    let ran = bench.run(&model, "do it");
    let outcomes: Vec<_> = ran.finished().map(|f| f.outcome.clone()).collect();
    let n_failed = outcomes
        .iter()
        .filter(|outcome| **outcome == ToolOutcome::Failed)
        .count();
    assert_eq!(n_failed, 4, "{:?}", bench.results(&ran));
    assert_eq!(bench.read("project/tools/guard.sh").unwrap(), "exit 0\n");
    assert_eq!(bench.read("project/tools/other.sh").unwrap(), "x");
    let notice = ran.notices().next().unwrap();
    assert!(
        notice.starts_with("the hook `guard` runs `")
            && notice.ends_with("which lies where tools can write"),
        "{notice}"
    );
}

pub(crate) fn a_hook_that_others_could_write_starts_no_pod() {
    let bench = bench(
        &[
            ("turn_end", "a.sh", ""),
            ("turn_end", "b.sh", ""),
            ("turn_end", "c.sh", ""),
        ],
        ALLOW,
    );
    fs::set_permissions(bench.path("a.sh"), fs::Permissions::from_mode(0o666)).unwrap();
    fs::remove_file(bench.path("b.sh")).unwrap();
    let said = bench.start_error(&script(&[]), SessionChoice::New);
    let lines: Vec<_> = said.lines().collect();
    assert_eq!(lines.len(), 2, "all at once: {said}");
    assert!(
        lines[0].contains("a.sh` can be written by others (mode 0666)"),
        "{said}"
    );
    assert!(
        lines[1].contains("the hook `b` (") && lines[1].contains("b.sh`"),
        "{said}"
    );
}

pub(crate) fn cancelling_kills_a_hook_and_the_call_is_refused() {
    let bench = bench(
        &[(
            "pre_tool_call",
            "slow.sh",
            "exec 3> ../pipe; echo running >&3; sleep 1000 & wait",
        )],
        ALLOW,
    );
    let pipe = bench.path("pipe");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, mode).unwrap();
    let cancel = CancellationToken::new();
    let canceller = cancel.clone();
    let watcher = std::thread::spawn(move || {
        let mut file = fs::File::open(&pipe).unwrap();
        let mut line = [0; 8];
        file.read_exact(&mut line).unwrap();
        canceller.cancel();
        // Ends when the last process that has the pipe open has ended.
        let mut rest = String::new();
        file.read_to_string(&mut rest).unwrap();
        rest
    });
    let model = script(&[&[write("a", "x"), write("b", "x")], &[text("never")]]);
    let ran = bench.run_cancelled(&model, "do it", cancel);
    assert_eq!(watcher.join().unwrap(), "");
    assert_eq!(ran.end.reason, EndReason::Cancelled);
    assert_eq!(
        refusals(&ran),
        [RefusalCause::Cancelled, RefusalCause::Cancelled]
    );
    assert_eq!(bench.read("project/a"), None);
    assert_eq!(bench.results(&ran).len(), 2);
}
