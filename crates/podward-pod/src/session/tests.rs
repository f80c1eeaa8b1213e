use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use podward_model::{Block, check_pairing};
use podward_protocol::Time;
use podward_worker::{History, RuledOutcome};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::test_user::as_ordinary_user;

struct Fixed;

impl Clock for Fixed {
    fn now(&self) -> Time {
        "2026-01-02T03:04:05.678Z".parse().unwrap()
    }
}

fn clock() -> Arc<dyn Clock> {
    Arc::new(Fixed)
}

fn run() -> Opened {
    Opened {
        podward: "0.1.0".into(),
        pod: "demo".into(),
        model: "scripted".into(),
        workspace: "/work".into(),
        temp: "/tmp/podward-x".into(),
        policy_digest: "sha256:00".into(),
        layers: Vec::new(),
        confinement: "not enforced".into(),
    }
}

fn call(id: &str) -> Block {
    Block::ToolUse {
        id: id.into(),
        name: "read".into(),
        input: json!({"path": "a"}),
    }
}

fn finished(id: &str) -> Entry {
    Entry::Finished {
        call: id.into(),
        content: "text\n".into(),
        is_error: false,
    }
}

fn ruled(id: &str) -> Entry {
    Entry::Ruled {
        part_of: None,
        call: id.into(),
        outcome: RuledOutcome::Run,
        cause: "policy".into(),
    }
}

fn started(id: &str) -> Entry {
    Entry::Started {
        call: id.into(),
        in_session: None,
    }
}

/// Two turns, the first with two calls in one message.
fn entries() -> Vec<Entry> {
    let ended = Entry::TurnEnded {
        reason: "done".into(),
    };
    let said = |text: &str| Entry::Assistant {
        content: vec![Block::Text { text: text.into() }],
    };
    vec![
        Entry::Prompt {
            text: "please".into(),
        },
        Entry::Assistant {
            content: vec![call("a"), call("b")],
        },
        ruled("a"),
        ruled("b"),
        started("a"),
        started("b"),
        finished("b"),
        finished("a"),
        said("done"),
        ended.clone(),
        Entry::Prompt {
            text: "again".into(),
        },
        said("no"),
        ended,
    ]
}

struct Fixture {
    _root: tempfile::TempDir,
    places: Places,
}

fn fixture() -> Fixture {
    let root = tempfile::tempdir().unwrap();
    Fixture {
        places: Places::below(root.path()),
        _root: root,
    }
}

/// A session of two runs; its id and its file.
fn written(fixture: &Fixture) -> (SessionId, PathBuf) {
    let mut session = Session::create(&fixture.places, new_id(clock().as_ref()), clock()).unwrap();
    session.begin_run(run()).unwrap();
    let entries = entries();
    session.append_entries(&entries[..3]).unwrap();
    let id = session.id().clone();
    drop(session);
    let mut reopened = Session::reopen(&fixture.places, id.clone(), clock()).unwrap();
    reopened.session.begin_run(run()).unwrap();
    reopened.session.append_entries(&entries[3..]).unwrap();
    (id, reopened.session.directory().join(SESSION_FILE))
}

#[test]
fn a_session_reads_back_as_written_over_several_runs() {
    let fixture = fixture();
    let (id, _) = written(&fixture);
    let reopened = Session::reopen(&fixture.places, id.clone(), clock()).unwrap();
    assert_eq!(reopened.entries, entries());
    assert_eq!(reopened.last, Some(run()));
    let created = Created {
        format: SESSION_FORMAT,
        session: id,
        pod: "demo".into(),
        workspace: "/work".into(),
    };
    assert_eq!(reopened.created, Some(created));
}

#[test]
fn the_files_of_a_session_are_private() {
    let fixture = fixture();
    let (id, file) = written(&fixture);
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o7777;
    let directory = fixture.places.sessions_dir().join(id.as_str());
    assert_eq!(mode(fixture.places.state_dir()), 0o700);
    assert_eq!(mode(&fixture.places.sessions_dir()), 0o700);
    assert_eq!(mode(&directory), 0o700);
    assert_eq!(mode(&file), 0o600);
    assert_eq!(mode(&directory.join("decisions.jsonl")), 0o600);
}

#[test]
fn a_session_is_open_in_one_process_at_a_time() {
    let fixture = fixture();
    let session = Session::create(&fixture.places, new_id(clock().as_ref()), clock()).unwrap();
    let error = Session::reopen(&fixture.places, session.id().clone(), clock());
    let error = error.err().unwrap();
    assert!(
        error.to_string().ends_with("is in use by another process"),
        "{error}"
    );
}

#[test]
fn a_session_is_found_by_the_front_of_its_id() {
    let fixture = fixture();
    let find = |prefix: &str| find_session(&fixture.places, prefix);
    assert!(matches!(find("01"), Err(SessionNotFound::None { .. })));
    for name in [
        "01JD0000000000000000000000",
        "01JE0000000000000000000000",
        "notes",
    ] {
        fs::create_dir_all(fixture.places.sessions_dir().join(name)).unwrap();
    }
    let id = |text: &str| SessionId::new(text).unwrap();
    assert_eq!(find("01JD").unwrap(), id("01JD0000000000000000000000"));
    assert_eq!(find("01je").unwrap(), id("01JE0000000000000000000000"));
    let whole = "01JE0000000000000000000000";
    assert_eq!(find(whole).unwrap(), id(whole));
    for prefix in ["", "02", "notes", "../", "01JE0000000000000000000000X"] {
        assert!(
            matches!(find(prefix), Err(SessionNotFound::None { .. })),
            "{prefix}"
        );
    }
    match find("02") {
        Err(SessionNotFound::None { newest, .. }) => assert_eq!(newest, Some(id(whole))),
        other => panic!("{other:?}"),
    }
    match find("01J") {
        Err(SessionNotFound::Several { candidates, .. }) => assert_eq!(candidates.len(), 2),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_newest_session_is_that_of_the_same_pod_in_the_same_workspace() {
    let fixture = fixture();
    let newest = |pod: &str, workspace: &str| {
        newest_session(&fixture.places, pod, Path::new(workspace)).ok()
    };
    assert_eq!(newest("demo", "/work"), None);
    let (id, _) = written(&fixture);
    for (name, line) in [
        ("7ZD0000000000000000000000A", "{\"number\":0"),
        ("7ZD0000000000000000000000B", ""),
    ] {
        let directory = fixture.places.sessions_dir().join(name);
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join(SESSION_FILE), line).unwrap();
    }
    assert_eq!(newest("demo", "/work"), Some(id));
    assert_eq!(newest("demo", "/other"), None);
    assert_eq!(newest("other", "/work"), None);
}

#[test]
fn a_line_that_is_damaged_missing_or_moved_is_named() {
    let fixture = fixture();
    let (id, file) = written(&fixture);
    let whole = fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let check = |lines: &[&str], message: &str| {
        fs::write(&file, lines.join("\n") + "\n").unwrap();
        let error = Session::reopen(&fixture.places, id.clone(), clock())
            .err()
            .unwrap();
        assert!(error.to_string().contains(message), "{error}");
        assert!(error.help().unwrap().contains("changed by something other"));
    };
    check(
        &[&lines[..2], &["{"], &lines[3..]].concat(),
        "line 3: no line of a session",
    );
    check(
        &[&lines[..2], &lines[3..]].concat(),
        "line 3: it is numbered 3",
    );
    check(
        &[&lines[..1], &lines[..1]].concat(),
        "line 2: it is numbered 0",
    );
    check(&lines[1..], "line 1: it is numbered 1");
    let second = lines[0].replace("\"number\":0", "\"number\":1");
    check(&[lines[0], &second], "line 2: a second beginning");
    let other = lines[0].replace(id.as_str(), "01JE0000000000000000000000");
    check(&[&other], "line 1: it is the session 01JE");
    let later = lines[0].replace("\"format\":1", "\"format\":9");
    check(
        &[&later],
        "line 1: a session of format 9, this podward reads 1",
    );
    let entry = lines[2].replace("\"number\":2", "\"number\":0");
    check(&[&entry], "line 1: no beginning of a session");
}

#[test]
fn a_state_directory_that_is_not_safe_or_not_writable_is_an_error() {
    let fixture = fixture();
    let state = fixture.places.state_dir();
    fs::create_dir_all(state).unwrap();
    fs::set_permissions(state, fs::Permissions::from_mode(0o777)).unwrap();
    let error = Session::create(&fixture.places, new_id(clock().as_ref()), clock())
        .err()
        .unwrap();
    assert!(
        error
            .to_string()
            .ends_with("can be written by others (mode 0777)"),
        "{error}"
    );
    fs::remove_dir(state).unwrap();
    fs::write(state, "a file").unwrap();
    let error = Session::create(&fixture.places, new_id(clock().as_ref()), clock())
        .err()
        .unwrap();
    assert!(
        error.to_string().starts_with("cannot make the directory"),
        "{error}"
    );
}

#[test]
fn a_state_directory_that_cannot_be_made_is_an_error_that_says_what_to_do() {
    let name =
        "session::tests::a_state_directory_that_cannot_be_made_is_an_error_that_says_what_to_do";
    if as_ordinary_user(name) {
        return;
    }
    let fixture = fixture();
    let above = fixture.places.state_dir().parent().unwrap();
    fs::create_dir(above).unwrap();
    fs::set_permissions(above, fs::Permissions::from_mode(0o555)).unwrap();
    let error = Session::create(&fixture.places, new_id(clock().as_ref()), clock())
        .err()
        .unwrap();
    assert!(
        error.to_string().starts_with("cannot make the directory"),
        "{error}"
    );
    assert!(
        error.help().unwrap().contains("XDG_STATE_HOME"),
        "{error:?}"
    );
}

#[test]
fn ids_are_ordered_by_the_clock() {
    let bits = |id: &SessionId| id.as_str().chars().take(10).collect::<String>();
    let (first, second) = (new_id(&Fixed), new_id(&Fixed));
    assert_eq!(bits(&first), bits(&second));
    assert_ne!(first, second);
}

/// Reopens a session whose file was cut at a byte; what is then in it makes a valid history.
fn check_cut(at: usize, whole: &[u8], fixture: &Fixture, id: &SessionId, file: &Path) {
    fs::write(file, &whole[..at]).unwrap();
    let mut reopened = Session::reopen(&fixture.places, id.clone(), clock()).unwrap();
    let n_whole = whole[..at].iter().filter(|byte| **byte == b'\n').count();
    assert_eq!(reopened.session.n_lines, n_whole as u64);
    assert_eq!(reopened.created.is_some(), n_whole > 0);
    assert!(entries().starts_with(&reopened.entries));
    let replayed = History::replay(&reopened.entries).unwrap();
    check_pairing(replayed.history.messages()).unwrap();
    // The run that follows is read back in its turn.
    reopened.session.begin_run(run()).unwrap();
    reopened.session.append_entries(&replayed.repairs).unwrap();
    drop(reopened);
    let again = Session::reopen(&fixture.places, id.clone(), clock()).unwrap();
    let twice = History::replay(&again.entries).unwrap();
    assert_eq!(twice.repairs, []);
    assert_eq!(twice.history, replayed.history);
}

#[test]
fn a_session_cut_at_any_line_goes_on() {
    let fixture = fixture();
    let (id, file) = written(&fixture);
    let whole = fs::read(&file).unwrap();
    let ends = whole.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    for (end, _) in ends {
        for at in [end, end + 1] {
            check_cut(at, &whole, &fixture, &id, &file);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_session_cut_at_any_byte_goes_on(at: prop::sample::Index) {
        let fixture = fixture();
        let (id, file) = written(&fixture);
        let whole = fs::read(&file).unwrap();
        check_cut(at.index(whole.len()), &whole, &fixture, &id, &file);
    }

    #[test]
    fn no_file_makes_the_reader_panic(content in proptest::collection::vec(any::<u8>(), 0..200)) {
        let fixture = fixture();
        let (id, file) = written(&fixture);
        fs::write(&file, content).unwrap();
        let _ = Session::reopen(&fixture.places, id, clock());
    }
}
