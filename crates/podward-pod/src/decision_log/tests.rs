use std::fs;

use podward_gate::{Call, CallFacts, Gate, REPEATS_ASKED, Refusal, Submitted};
use podward_policy::{
    Action, Cause, Coverage, KnownTools, LayerKind, LayerName, Location, Lowered, Need, Operation,
    OperationIdx, Operations, Policy, PolicySpec, RuleIdx, Ruling, Subject, Text, ToolName,
};
use podward_worker::DecidedBy;
use proptest::prelude::*;
use serde_json::json;

use super::*;

const SESSION: &str = "01JDXW8Z4M9V7Q3T5R6S8N0PAB";

fn session() -> SessionId {
    SessionId::new(SESSION).unwrap()
}

fn context() -> LogContext {
    let mut secrets = Secrets::default();
    secrets.add("model-key", "hunter2hunter2");
    LogContext {
        pod: "demo".into(),
        session: session(),
        workspace: "/work".into(),
        cwd: "/work".into(),
        policy_digest: "sha256:00".into(),
        secrets,
    }
}

fn facts(call: &str, command: &str) -> std::sync::Arc<CallFacts> {
    let operation = Operation {
        tool: ToolName::new("mcp__shop__buy").unwrap(),
        subject: Subject::Plain(Text::known(command)),
        need: Need::Full,
        span: None,
        partial: Vec::new(),
    };
    std::sync::Arc::new(CallFacts::new(
        podward_gate::CallId::new(call).unwrap(),
        ToolName::new("mcp__shop__buy").unwrap(),
        json!({ "command": command }).to_string(),
        Lowered::Operations(Operations::new(operation, Vec::new())),
    ))
}

fn ruling(action: Action) -> Ruling {
    Ruling {
        action,
        cause: Cause::Rule {
            layer: LayerName {
                kind: LayerKind::Manifest,
            },
            rule: RuleIdx(2),
            location: Location {
                file: "pod.toml".into(),
                line: 7,
                column: 1,
            },
            pattern: "*".into(),
            message: None,
        },
        operation: Some(OperationIdx(0)),
        coverage: Coverage::Full,
    }
}

fn run(call: &str, command: &str) -> Decision {
    Decision::Run {
        facts: facts(call, command),
        ruling: ruling(Action::Allow),
        by: DecidedBy::Policy,
    }
}

fn now() -> Time {
    "2026-01-02T03:04:05.678Z".parse().unwrap()
}

/// The lines of a log of these decisions.
fn logged(decisions: &[Decision]) -> Vec<Vec<u8>> {
    let directory = tempfile::tempdir().unwrap();
    let mut log = DecisionLog::open(directory.path(), &session(), &[]).unwrap();
    for decision in decisions {
        log.append([decision], &context(), now()).unwrap();
    }
    read_lines(directory.path())
}

fn read_lines(directory: &Path) -> Vec<Vec<u8>> {
    let text = fs::read_to_string(directory.join(DECISIONS_FILE)).unwrap();
    text.lines().map(|line| line.as_bytes().to_vec()).collect()
}

fn only_line(decision: Decision) -> Value {
    let lines = logged(&[decision]);
    assert_eq!(lines.len(), 1);
    serde_json::from_slice(&lines[0]).unwrap()
}

#[test]
fn a_line_says_who_what_why_and_by_which_rules() {
    assert_eq!(
        only_line(run("call-1", "milk")),
        json!({
            "format": 1,
            "number": 0,
            "time": "2026-01-02T03:04:05.678Z",
            "pod": "demo",
            "session": SESSION,
            "call": "call-1",
            "workspace": "/work",
            "cwd": "/work",
            "tool": "mcp__shop__buy",
            "arguments": {"command": "milk"},
            "replayable": true,
            "operations": [{
                "tool": "mcp__shop__buy",
                "subject": "plain",
                "text": "milk",
                "known": true,
                "need": "full",
            }],
            "outcome": "run",
            "verdict": {
                "verdict": "allow",
                "cause": {
                    "kind": "rule",
                    "layer": "manifest",
                    "rule": 3,
                    "at": {"file": "pod.toml", "line": 7, "column": 1},
                    "pattern": "*",
                },
                "operation": 0,
                "coverage": {"kind": "full"},
            },
            "by": {"kind": "policy"},
            "policy_digest": "sha256:00",
            "previous": genesis(&session()),
        })
    );
}

#[test]
fn a_secret_is_a_marker_wherever_it_stands_and_the_call_cannot_be_replayed() {
    let line = only_line(run("call-1", "login hunter2hunter2"));
    assert_eq!(
        line["arguments"],
        json!({"command": "login [secret:model-key]"})
    );
    assert_eq!(line["operations"][0]["text"], "login [secret:model-key]");
    assert_eq!(line["replayable"], false);
    assert!(!line.to_string().contains("hunter2"));
}

#[test]
fn refusals_name_their_cause_and_who_refused() {
    let check = |cause: podward_gate::RefusalCause, verdict: Value, refusal: &str, by: Value| {
        let id = podward_gate::CallId::new("call-1").unwrap();
        let refusal_of = match cause {
            podward_gate::RefusalCause::BadCall { .. }
            | podward_gate::RefusalCause::UnknownTool => Refusal::raw(id, "bash", "{oops", cause),
            _ => Refusal::judged(facts("call-1", "x"), ruling(Action::Ask), cause),
        };
        let line = only_line(Decision::Refuse(refusal_of));
        assert_eq!(line["outcome"], "refuse");
        assert_eq!(line["verdict"]["verdict"], verdict);
        assert_eq!(line["refusal"]["kind"], refusal);
        assert_eq!(line["by"], by);
        line
    };
    let pod = json!({"kind": "pod"});
    let line = check(
        podward_gate::RefusalCause::BadCall {
            why: "`command` is missing".into(),
        },
        json!("deny"),
        "bad_call",
        pod.clone(),
    );
    assert_eq!(line["arguments"], "{oops");
    assert_eq!(line["replayable"], false);
    assert_eq!(line["verdict"]["cause"]["kind"], "bad_call");
    check(
        podward_gate::RefusalCause::NoClient {
            asked: podward_gate::AskReason::Policy,
        },
        json!("ask"),
        "no_client",
        pod,
    );
    check(
        podward_gate::RefusalCause::Hook {
            name: "night".into(),
            text: "closed".into(),
        },
        json!("ask"),
        "hook",
        json!({"kind": "hook", "name": "night"}),
    );
}

#[test]
fn a_call_that_is_asked_about_for_its_repetition_says_so() {
    let rules = PolicySpec::new(Action::Allow);
    let compiled = Policy::compile(&rules, &KnownTools::built_in()).unwrap();
    let mut gate = Gate::new(compiled.policy.into());
    let question = (1..=REPEATS_ASKED)
        .find_map(|number| {
            let id = podward_gate::CallId::new(&format!("call-{number}")).unwrap();
            let lowered = facts("x", "milk").lowered().clone();
            let facts = CallFacts::new(id, ToolName::new("mcp__shop__buy").unwrap(), "{}", lowered);
            match gate.submit(Call::new(facts, ())) {
                Submitted::Ask(question) => Some(question),
                Submitted::Settled(_) => None,
            }
        })
        .unwrap();
    let cause = podward_gate::RefusalCause::NoClient {
        asked: question.reason(),
    };
    let line = only_line(Decision::Refuse(Refusal::asked(&question, cause)));
    assert_eq!(line["verdict"]["verdict"], "ask");
    assert_eq!(line["verdict"]["cause"], json!({"kind": "repeated"}));
    assert_eq!(line["refusal"], json!({"kind": "no_client"}));
}

#[test]
fn a_log_goes_on_where_it_ended_and_a_torn_line_is_no_break() {
    let directory = tempfile::tempdir().unwrap();
    let mut log = DecisionLog::open(directory.path(), &session(), &[]).unwrap();
    let first = log
        .append(&[run("a", "1"), run("b", "2")], &context(), now())
        .unwrap();
    drop(log);
    let path = directory.path().join(DECISIONS_FILE);
    let whole = fs::read(&path).unwrap();
    fs::write(&path, [&whole, b"{\"format\":1,\"num".as_slice()].concat()).unwrap();
    let mut log = DecisionLog::open(directory.path(), &session(), &first).unwrap();
    let second = log.append(&[run("c", "3")], &context(), now()).unwrap();
    drop(log);
    let chain = verify(&read_lines(directory.path()), &session()).unwrap();
    assert_eq!(chain.n_records(), 3);
    assert_eq!(chain.digests, [first, second].concat());
}

#[test]
fn lines_of_another_session_or_format_are_refused() {
    let lines = logged(&[run("a", "1")]);
    let other = SessionId::from_bits(1);
    let error = verify(&lines, &other).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("line 1: a decision of the session {SESSION}")
    );
    let later = String::from_utf8(lines[0].clone())
        .unwrap()
        .replace("\"format\":1", "\"format\":2");
    let error = verify(&[later.into_bytes()], &session()).unwrap_err();
    assert_eq!(error.to_string(), "line 1: a decision of format 2, not 1");
}

#[test]
fn last_lines_that_are_gone_show_against_the_session() {
    let directory = tempfile::tempdir().unwrap();
    let mut log = DecisionLog::open(directory.path(), &session(), &[]).unwrap();
    let known = log
        .append(&[run("a", "1"), run("b", "2")], &context(), now())
        .unwrap();
    drop(log);
    let lines = read_lines(directory.path());
    let path = directory.path().join(DECISIONS_FILE);
    fs::write(&path, [&lines[0][..], b"\n"].concat()).unwrap();
    let error = DecisionLog::open(directory.path(), &session(), &known).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("line 2: the session knows a decision"),
        "{error}"
    );
    fs::remove_file(&path).unwrap();
    assert!(DecisionLog::open(directory.path(), &session(), &known).is_err());
}

/// What somebody does to a log.
#[derive(Debug, Clone)]
enum Tampering {
    Remove(prop::sample::Index),
    Swap(prop::sample::Index, prop::sample::Index),
    Repeat(prop::sample::Index),
    Flip(prop::sample::Index, prop::sample::Index),
}

fn tampering() -> impl Strategy<Value = Tampering> {
    use prop::sample::Index;
    prop_oneof![
        any::<Index>().prop_map(Tampering::Remove),
        any::<(Index, Index)>().prop_map(|(a, b)| Tampering::Swap(a, b)),
        any::<Index>().prop_map(Tampering::Repeat),
        any::<(Index, Index)>().prop_map(|(line, byte)| Tampering::Flip(line, byte)),
    ]
}

proptest! {
    #[test]
    fn no_tampering_goes_unseen(n_records in 2_usize..6, tampering in tampering()) {
        let decisions: Vec<_> = (0..n_records).map(|n| run(&format!("c{n}"), "x")).collect();
        let mut lines = logged(&decisions);
        let known = verify(&lines, &session()).unwrap().digests;
        let before = lines.clone();
        match tampering {
            Tampering::Remove(at) => {
                lines.remove(at.index(lines.len()));
            }
            Tampering::Swap(a, b) => {
                let (a, b) = (a.index(lines.len()), b.index(lines.len()));
                lines.swap(a, b);
            }
            Tampering::Repeat(at) => {
                let line = lines[at.index(lines.len())].clone();
                lines.push(line);
            }
            Tampering::Flip(line, byte) => {
                let line = line.index(lines.len());
                let byte = byte.index(lines[line].len());
                lines[line][byte] ^= 1;
            }
        }
        prop_assume!(lines != before);
        let seen = verify(&lines, &session()).and_then(|chain| chain.check_holds(&known));
        prop_assert!(seen.is_err());
    }
}
