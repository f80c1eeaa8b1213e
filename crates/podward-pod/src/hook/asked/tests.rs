use std::path::{Path, PathBuf};
use std::time::Duration;

use podward_manifest::HookEvent as Declared;
use podward_policy::{KnownTools, ToolGlob};
use podward_protocol::{AskReason, CallId, RequestId, SessionId, Time};
use serde_json::{Value, json};

use super::*;
use crate::hook::HookContext;

fn hook(directory: &Path, tool: Option<&str>, script: &str) -> Arc<CommandHook> {
    let context = HookContext {
        session: SessionId::from_bits(7),
        pod: "demo".to_owned(),
        workspace: directory.to_owned(),
        environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
    };
    Arc::new(CommandHook {
        name: "bell".into(),
        tools: tool.map(|tool| ToolGlob::new(tool, &KnownTools::default()).unwrap()),
        program: PathBuf::from("/bin/sh"),
        arguments: vec!["-c".into(), script.into()],
        timeout: Duration::from_secs(30),
        context: Arc::new(context),
    })
}

fn request(id: &str, tool: &str) -> PermissionRequest {
    let ruling = json!({
        "verdict": "ask",
        "cause": { "kind": "default", "layer": "manifest", "at": { "file": "pod.toml", "line": 2, "column": 1 } },
        "coverage": { "kind": "full" },
    });
    PermissionRequest {
        id: RequestId::new(id),
        pod: "demo".to_owned(),
        path: Vec::new(),
        call: CallId::new(id),
        part_of: None,
        redirected_from: Vec::new(),
        tool: tool.to_owned(),
        arguments: json!({ "command": "git push" }),
        skill: None,
        cwd: "/work".to_owned(),
        operations: Vec::new(),
        ruling: serde_json::from_value(ruling).unwrap(),
        reason: AskReason::Policy,
        asking: Vec::new(),
        choices: Vec::new(),
        no_always: None,
        unasked: false,
        always_in: None,
        digest: "sha256:00".to_owned(),
        asked_at: Time::UNIX_EPOCH,
        expires_at: None,
    }
}

/// Tells hooks of requests, ends well, and returns what people hear.
async fn told(hooks: Vec<Arc<CommandHook>>, requests: &[PermissionRequest]) -> Vec<String> {
    let (notices, mut heard) = mpsc::channel(8);
    let asked = AskedHooks(hooks).start(notices).unwrap();
    for request in requests {
        asked.tell(request);
    }
    let Asked {
        questions, task, ..
    } = asked;
    // What waits is still told.
    drop(questions);
    task.await.unwrap();
    let mut messages = Vec::new();
    while let Ok(notice) = heard.try_recv() {
        messages.push(notice.message);
    }
    messages
}

#[tokio::test]
async fn a_hook_reads_the_question_and_has_no_say() {
    let directory = tempfile::tempdir().unwrap();
    // It says no, in words that count elsewhere.
    let script =
        "cat >> asked; echo \"$PODWARD_HOOK_EVENT\" >> asked; echo '{\"decision\":\"abort\"}'";
    let hook = hook(directory.path(), None, script);
    let heard = told(vec![hook], &[request("c1", "bash"), request("c2", "read")]).await;
    assert_eq!(heard, Vec::<String>::new());
    let asked = std::fs::read_to_string(directory.path().join("asked")).unwrap();
    let lines: Vec<&str> = asked.lines().collect();
    assert_eq!([lines[1], lines[3]], ["permission_asked"; 2]);
    let first: Value = serde_json::from_str(lines[0]).unwrap();
    assert_eq!(first["event"], "permission_asked");
    assert_eq!(first["request"]["id"], "c1");
    assert_eq!(first["request"]["digest"], "sha256:00");
    let second: Value = serde_json::from_str(lines[2]).unwrap();
    assert_eq!(second["request"]["id"], "c2");
}

#[tokio::test]
async fn a_hook_that_fails_is_told_of_and_the_next_runs() {
    let directory = tempfile::tempdir().unwrap();
    let hooks = vec![
        hook(directory.path(), None, "echo gone >&2; exit 3"),
        hook(directory.path(), None, "echo ran > ran"),
    ];
    let heard = told(hooks, &[request("c1", "bash")]).await;
    assert_eq!(
        heard,
        ["the hook `bell` failed: it exited with code 3: gone"]
    );
    assert!(directory.path().join("ran").exists());
}

#[tokio::test]
async fn a_hook_of_other_tools_is_not_told() {
    let directory = tempfile::tempdir().unwrap();
    let hook = hook(directory.path(), Some("file_*"), "cat >> asked");
    let heard = told(
        vec![hook],
        &[request("c1", "bash"), request("c2", "file_write")],
    )
    .await;
    assert_eq!(heard, Vec::<String>::new());
    let asked = std::fs::read_to_string(directory.path().join("asked")).unwrap();
    assert_eq!(asked.lines().count(), 1);
    assert!(asked.contains("\"c2\""));
}

/// A hook that never ends holds up nobody: the pod goes on, and its end kills it.
#[tokio::test]
async fn a_hook_that_hangs_holds_up_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let pipe = directory.path().join("started");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        0o600.into(),
        0,
    )
    .unwrap();
    let script = "echo started > started; exec sleep 1000000";
    let (notices, mut heard) = mpsc::channel(8);
    let hooks = AskedHooks(vec![hook(directory.path(), None, script)]);
    let asked = hooks.start(notices).unwrap();
    asked.tell(&request("c1", "bash"));
    let read = tokio::task::spawn_blocking(move || std::fs::read_to_string(pipe));
    assert_eq!(read.await.unwrap().unwrap(), "started\n");
    for n in 0..=N_WAITING {
        asked.tell(&request(&format!("d{n}"), "bash"));
    }
    asked.stop().await;
    let expected = format!("no hook is told of the request `d{N_WAITING}`: too many wait");
    assert_eq!(heard.try_recv().unwrap().message, expected);
    assert!(heard.try_recv().is_err());
}

#[test]
fn without_such_hooks_nothing_is_started() {
    let (notices, _heard) = mpsc::channel(1);
    assert!(AskedHooks(Vec::new()).start(notices).is_none());
    assert_eq!(Declared::PermissionAsked.as_str(), "permission_asked");
}
