use podward_protocol::{GrantId, GrantRule as WireRule, Time};
use proptest::prelude::*;

use super::*;
use crate::grants::tests::new_grant;

fn grant() -> Grant {
    let new = new_grant("git push *", GrantFor::Project);
    Grant {
        id: GrantId::new("01M8MVW7500000000000000000"),
        rules: new.rules.iter().map(convert::wire_rule).collect(),
        lasts: new.lasts,
        by: new.by,
        at: "2026-01-02T12:00:00.000Z".parse().unwrap(),
        why: new.why,
        expires_at: None,
        uses_left: None,
    }
}

fn record(grant: Grant) -> Record {
    let session = SessionId::new("01M8MVW7500000000000000000").unwrap();
    Record::new("/work".to_owned(), session, grant)
}

fn read_again(grant: Grant) -> LineContent {
    let line = record(grant).line().unwrap();
    read(line.as_bytes(), |project| project == "/work")
}

fn broken(grant: Grant) -> String {
    match read_again(grant) {
        LineContent::Broken { why } => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_form_is_this() {
    let line = record(grant()).line().unwrap();
    let expected = concat!(
        r#"{"format":1,"project":"/work","session":"01M8MVW7500000000000000000","#,
        r#""id":"01M8MVW7500000000000000000","rules":[{"tool":"bash","pattern":"git push *","#,
        r#""askers":[{"layer":"manifest","by":{"kind":"rule","tool":"bash","pattern":"git *"}}]}],"#,
        r#""for":{"kind":"project"},"by":"a terminal","at":"2026-01-02T12:00:00.000Z","#,
        r#""why":"bash: git push *","#,
    );
    let (body, digest) = line.split_once("\"digest\":").unwrap();
    assert_eq!(body, expected);
    assert_eq!(digest.len(), 2 + "sha256:".len() + 64 + 1);
    assert!(matches!(read_again(grant()), LineContent::Grant(read) if read.grant == grant()));
}

#[test]
fn what_does_not_fit_together_is_broken() {
    let time: Time = "2026-01-02T12:00:00.000Z".parse().unwrap();
    let rule = |tool: &str, pattern: &str| {
        let mut grant = grant();
        grant.rules[0].tool = tool.to_owned();
        grant.rules[0].pattern = pattern.to_owned();
        grant
    };
    let askers = |change: fn(&mut WireRule)| {
        let mut grant = grant();
        change(&mut grant.rules[0]);
        grant
    };
    let cases = [
        (
            Grant {
                uses_left: Some(1),
                ..grant()
            },
            "its end",
        ),
        (
            Grant {
                expires_at: Some(time),
                ..grant()
            },
            "its end",
        ),
        (
            Grant {
                lasts: GrantFor::Until { time },
                ..grant()
            },
            "its end",
        ),
        (
            Grant {
                lasts: GrantFor::Uses { n: 1 },
                uses_left: Some(2),
                ..grant()
            },
            "its end",
        ),
        (
            Grant {
                lasts: GrantFor::Uses { n: 1 },
                ..grant()
            },
            "its end",
        ),
        (
            Grant {
                rules: Vec::new(),
                ..grant()
            },
            "1 to 256 rules",
        ),
        (
            Grant {
                id: GrantId::new(""),
                ..grant()
            },
            "not a grant's id",
        ),
        (
            Grant {
                id: GrantId::new("a b"),
                ..grant()
            },
            "not a grant's id",
        ),
        (rule("bash", "*"), "never covers everything"),
        (rule("bash", "* push"), "names the program"),
        (rule("bash", "rm -rf **"), ""),
        (rule("bash", "bash -c *"), "runs whatever follows"),
        (rule("bash", "sudo *"), "runs whatever follows"),
        (rule("ba sh", "git push"), ""),
        (askers(|rule| rule.askers.clear()), "answers nothing"),
        (
            askers(|rule| rule.askers[0].layer = "root".to_owned()),
            "no layer `root`",
        ),
        (
            askers(|rule| rule.askers[0].by = podward_protocol::AskedBy::Unresolved),
            "never remembered",
        ),
    ];
    for (grant, expected) in cases {
        let why = broken(grant.clone());
        assert!(why.contains(expected), "{grant:?}: {why}");
    }
}

#[test]
fn a_grant_of_another_workspace_is_broken() {
    let line = record(grant()).line().unwrap();
    let content = read(line.as_bytes(), |project| project == "/other");
    assert!(matches!(content, LineContent::Broken { .. }));
}

#[test]
fn a_line_has_an_end() {
    let mut long = grant();
    long.why = "x".repeat(MAX_LINE);
    assert!(record(long).line().unwrap_err().contains("bytes"));
    let line = " ".repeat(MAX_LINE + 1);
    assert!(matches!(
        read(line.as_bytes(), |_| true),
        LineContent::Broken { .. }
    ));
}

proptest! {
    /// No byte of a line can be changed, left out or doubled.
    #[test]
    fn any_change_of_a_line_shows(at in any::<prop::sample::Index>(), byte in any::<u8>(), kind in 0..3) {
        let line = record(grant()).line().unwrap().into_bytes();
        let mut changed = line.clone();
        let at = at.index(line.len());
        match kind {
            0 => changed[at] = byte,
            1 => { changed.remove(at); }
            _ => changed.insert(at, byte),
        }
        prop_assume!(changed != line);
        let content = read(&changed, |_| true);
        prop_assert!(!matches!(content, LineContent::Grant(_)), "{content:?}");
    }

    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let content = read(&bytes, |_| true);
        prop_assert!(!matches!(content, LineContent::Grant(_)));
    }
}
