use podward_gate::CallId;
use podward_policy::{Lowered, ToolName};

use super::*;

fn asker(cwd: &str, policy_digest: &str) -> Asker {
    Asker {
        pod: "test".into(),
        cwd: cwd.into(),
        copy_of: None,
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
fn a_digest_is_of_what_is_shown() {
    let ls = r#"{"command":"ls"}"#;
    let digest = asker("/w", "sha256:1").digest_of(&facts("bash", ls), None);
    let text =
        r#"{"arguments":{"command":"ls"},"cwd":"/w","policy_digest":"sha256:1","tool":"bash"}"#;
    assert_eq!(digest, crate::digest::digest(text.as_bytes()));
    let of_one = asker("/w", "sha256:1").digest_of(&facts("bash", ls), Some(&[1, 2]));
    let text = r#"{"arguments":{"command":"ls"},"asking":[1,2],"cwd":"/w","policy_digest":"sha256:1","tool":"bash"}"#;
    assert_eq!(of_one, crate::digest::digest(text.as_bytes()));
    let others = [
        of_one,
        asker("/v", "sha256:1").digest_of(&facts("bash", ls), None),
        asker("/w", "sha256:2").digest_of(&facts("bash", ls), None),
        asker("/w", "sha256:1").digest_of(&facts("read", ls), None),
        asker("/w", "sha256:1").digest_of(&facts("bash", r#"{"command":"ls "}"#), None),
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
