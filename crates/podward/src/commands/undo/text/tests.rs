use podward_undo::{Change, Conflict, DeedName, Listed, Node, Reason, Rights, State, TreePath};

use super::{conflict, list, others};

fn path(text: &str) -> TreePath {
    TreePath::new(text.as_bytes()).unwrap()
}

fn directory() -> Node {
    Node::Directory {
        rights: Rights {
            mode: 0o755,
            uid: 0,
            gid: 0,
        },
    }
}

#[test]
fn a_list_shows_what_a_terminal_would_obey() {
    let listed = Listed {
        id: "call-1".to_owned(),
        time: 0,
        calls: vec![DeedName {
            call: "call-1".to_owned(),
            tool: "bash".to_owned(),
            summary: "rm -rf \u{1b}[2J\nd".to_owned(),
        }],
        undid: None,
        workspace: "/w".into(),
        changes: vec![Change {
            path: path("d\u{1b}[1m\nx"),
            before: Some(directory()),
            after: None,
        }],
        state: State::Undone("undo:2".to_owned()),
    };
    assert_eq!(
        list(&[listed]),
        "call-1  1970-01-01T00:00:00.000Z  [undone by undo:2]\n  \
         bash rm -rf \\u{1b}[2J\\nd\n  \
         removed  d\\u{1b}[1m\\nx (directory)\n"
    );
}

#[test]
fn a_conflict_names_later_calls() {
    let of = |reason, later: &[&str]| {
        let later = later.iter().map(ToString::to_string).collect();
        conflict(&Conflict {
            path: path("a/b"),
            reason,
            later,
        })
    };
    assert_eq!(
        of(Reason::Changed, &["`c3`", "`c2`"]),
        "`a/b` is not as the call left it; changed later by `c3`, `c2`"
    );
    assert_eq!(
        of(Reason::Holds(path("a/b/c")), &[]),
        "`a/b` holds `a/b/c`, which the call did not make"
    );
}

#[test]
fn other_calls_are_all_named() {
    let check = |calls: &[&str], expected: &str| {
        let calls: Vec<String> = calls.iter().map(|&call| call.to_owned()).collect();
        assert_eq!(others(&calls), expected);
    };
    check(&[], "");
    check(&["a"], " together with `a`, which ran at the same time");
    check(
        &["a", "b", "c"],
        " together with `a`, `b` and `c`, which ran at the same time",
    );
}
