use std::os::unix::net::UnixListener;

use serde_json::json;

use super::*;

const FIRST: &str = "01JD0000000000000000000001";
const SECOND: &str = "01JD0000000000000000000002";
const THIRD: &str = "01JD0000000000000000000003";

fn entry(session: &str) -> serde_json::Value {
    json!({
        "format": 1, "pod": "demo", "session": session, "pid": 7, "workspace": "/w",
        "started_at": "2026-01-02T03:04:05.678Z", "protocol": 2, "later": {},
    })
}

fn write(directory: &Path, session: &str, text: &str) {
    std::fs::write(directory.join(format!("{session}.json")), text).unwrap();
}

/// A directory as pods make it.
fn own_directory() -> tempfile::TempDir {
    use std::os::unix::fs::PermissionsExt as _;

    let directory = tempfile::tempdir().unwrap();
    let mode = std::fs::Permissions::from_mode(0o700);
    std::fs::set_permissions(directory.path(), mode).unwrap();
    directory
}

#[test]
fn a_pod_that_listens_is_told_from_one_that_was_killed() {
    let directory = own_directory();
    let path = directory.path();
    for session in [THIRD, SECOND, FIRST] {
        write(path, session, &entry(session).to_string());
    }
    let socket = |session: &str| path.join(format!("{session}.sock"));
    let _second = UnixListener::bind(socket(SECOND)).unwrap();
    let _third = UnixListener::bind(socket(THIRD)).unwrap();
    // A socket file stays when the process dies.
    drop(UnixListener::bind(socket(FIRST)).unwrap());
    assert!(socket(FIRST).exists());
    let found = |session: &str| Found {
        entry: serde_json::from_value(entry(session)).unwrap(),
        socket: socket(session),
    };
    let seen = look(path).unwrap();
    assert_eq!(seen.running, [found(SECOND), found(THIRD)]);
    assert_eq!(seen.left_over, [found(FIRST)]);
    assert!(seen.unreadable.is_empty());
    assert_eq!(pods(path).unwrap(), seen.running);
    std::fs::remove_file(socket(FIRST)).unwrap();
    assert_eq!(look(path).unwrap().left_over, [found(FIRST)]);
}

#[test]
fn a_pod_that_accepts_nobody_still_listens() {
    let directory = own_directory();
    let path = directory.path();
    write(path, FIRST, &entry(FIRST).to_string());
    let socket = path.join(format!("{FIRST}.sock"));
    let listener = UnixListener::bind(&socket).unwrap();
    // More than may wait to be accepted.
    rustix::net::listen(&listener, 0).unwrap();
    for _ in 0..4 {
        assert_eq!(pods(path).unwrap().len(), 1);
    }
}

#[test]
fn what_is_no_entry_hides_no_other() {
    let directory = own_directory();
    let path = directory.path();
    let mut later = entry(SECOND);
    later["format"] = json!(2);
    write(path, FIRST, "{");
    write(path, SECOND, &later.to_string());
    write(path, THIRD, &entry(FIRST).to_string());
    write(path, "01JD0000000000000000000004", &" ".repeat(70_000));
    std::os::unix::fs::symlink(
        path.join(format!("{THIRD}.json")),
        path.join("01JD0000000000000000000005.json"),
    )
    .unwrap();
    std::fs::create_dir(path.join("01JD0000000000000000000006.json")).unwrap();
    // No session, no entry.
    std::fs::write(path.join("notes.json"), "{}").unwrap();
    std::fs::write(path.join("lock"), "").unwrap();
    let seen = look(path).unwrap();
    assert_eq!((seen.running, seen.left_over), (vec![], vec![]));
    let said: Vec<_> = seen.unreadable.iter().map(ToString::to_string).collect();
    let front = format!("`{}/", path.display());
    let said: Vec<_> = said.iter().map(|said| said.replace(&front, "`")).collect();
    assert_eq!(
        said,
        [
            format!("`{FIRST}.json` is no entry of a pod: EOF while parsing an object at line 1 column 1"),
            format!(
                "`{SECOND}.json` is no entry of a pod: it is of the format 2, and this version of podward reads 1"
            ),
            format!("`{THIRD}.json` is no entry of a pod: it names the session {FIRST}"),
            "`01JD0000000000000000000004.json` is no entry of a pod: it has more than 65536 bytes"
                .to_owned(),
            "`01JD0000000000000000000005.json` is no entry of a pod: Too many levels of symbolic links (os error 40)"
                .to_owned(),
            "`01JD0000000000000000000006.json` is no entry of a pod: it is no file".to_owned(),
        ]
    );
}

#[test]
fn a_directory_that_is_not_there_is_empty() {
    let directory = own_directory();
    assert_eq!(pods(&directory.path().join("none")).unwrap(), []);
    let file = directory.path().join("file");
    std::fs::write(&file, "").unwrap();
    let error = pods(&file).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "cannot use `{}`, where pods say where they listen",
            file.display()
        )
    );
}

/// Others could say there what they like.
#[test]
fn a_directory_that_is_not_the_users_alone_is_not_read() {
    use std::os::unix::fs::PermissionsExt as _;

    let why = |directory: &Path| {
        let error = look(directory).unwrap_err();
        std::error::Error::source(&error).unwrap().to_string()
    };
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("run");
    std::fs::create_dir(&path).unwrap();
    write(&path, FIRST, &entry(FIRST).to_string());
    for mode in [0o755, 0o710, 0o701] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(
            why(&path),
            format!("it is open to others (mode {mode:04o})")
        );
    }
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(look(&path).unwrap().left_over.len(), 1);
    let link = root.path().join("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    assert_eq!(why(&link), "it is no directory");
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(&path, Some(65534), None).unwrap();
        assert_eq!(why(&path), "it belongs to another user (uid 65534)");
    }
}
