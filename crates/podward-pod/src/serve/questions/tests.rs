use podward_gate::CallId;
use podward_policy::{Lowered, ToolName};

use super::*;

fn asker(cwd: &str, policy_digest: &str) -> Asker {
    Asker {
        pod: "test".into(),
        cwd: cwd.into(),
        policy_digest: policy_digest.into(),
        programs: AddedPrograms::default(),
        timeout: None,
    }
}

fn facts(tool: &str, arguments: &str) -> CallFacts {
    let id = CallId::new("c").unwrap();
    CallFacts::new(
        id,
        ToolName::new(tool).unwrap(),
        arguments,
        Lowered::NothingToRun,
    )
}

#[test]
fn a_digest_is_of_arguments_directory_policy_and_tool() {
    let digest = asker("/w", "sha256:1").digest(&facts("bash", r#"{"command":"ls"}"#));
    let text =
        r#"{"arguments":{"command":"ls"},"cwd":"/w","policy_digest":"sha256:1","tool":"bash"}"#;
    assert_eq!(digest, crate::digest::digest(text.as_bytes()));
    let others = [
        asker("/v", "sha256:1").digest(&facts("bash", r#"{"command":"ls"}"#)),
        asker("/w", "sha256:2").digest(&facts("bash", r#"{"command":"ls"}"#)),
        asker("/w", "sha256:1").digest(&facts("read", r#"{"command":"ls"}"#)),
        asker("/w", "sha256:1").digest(&facts("bash", r#"{"command":"ls "}"#)),
    ];
    assert!(!others.contains(&digest));
}

#[test]
fn the_shortest_time_counts() {
    let mut asker = asker("/w", "");
    assert_eq!(asker.timeout(&[]), None);
    asker.timeout = Some(Duration::from_secs(60));
    assert_eq!(asker.timeout(&[]), Some(Duration::from_secs(60)));
}
