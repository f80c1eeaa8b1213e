use podward_client::Found;
use podward_protocol::PodEntry;
use serde_json::json;

use super::{Line, is_called, table};

fn entry(pod: &str, session: &str) -> PodEntry {
    serde_json::from_value(json!({
        "format": 1, "pod": pod, "session": session, "pid": 7,
        "started_at": "2026-01-02T03:04:05.678Z", "workspace": "/w\n", "protocol": 2,
    }))
    .unwrap()
}

#[test]
fn a_pod_is_called_by_its_name_or_the_front_of_its_session() {
    let found = Found {
        entry: entry("review", "01JDAAAAAAAAAAAAAAAAAAAAAA"),
        socket: "/run/x.sock".into(),
    };
    for name in ["review", "01JD", "01jda", "01JDAAAAAAAAAAAAAAAAAAAAAA"] {
        assert!(is_called(&found, name), "{name}");
    }
    for name in ["", "rev", "Review", "1JD", "01JDAAAAAAAAAAAAAAAAAAAAAAA"] {
        assert!(!is_called(&found, name), "{name}");
    }
}

#[test]
fn pods_are_a_table_in_which_nothing_is_invisible() {
    let line = |pod: &str, state, n_pending| Line {
        entry: entry(pod, "01JDAAAAAAAAAAAAAAAAAAAAAA"),
        socket: "/run/x.sock".into(),
        state,
        n_pending,
    };
    let lines = [
        line("a", Some("waiting"), Some(12)),
        line("longer", None, None),
    ];
    assert_eq!(
        table(&lines),
        "POD     SESSION                     STATE    PENDING  PID  WORKSPACE
a       01JDAAAAAAAAAAAAAAAAAAAAAA  waiting  12       7    /w\\n
longer  01JDAAAAAAAAAAAAAAAAAAAAAA  silent   ?        7    /w\\n
"
    );
}
