use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;

fn lines(path: &Path) -> Vec<String> {
    let opened = LineFile::open(path).unwrap();
    let text = |line: &Vec<u8>| String::from_utf8(line.clone()).unwrap();
    opened.lines.iter().map(text).collect()
}

#[test]
fn lines_read_back_in_order_and_nobody_else_can_read_them() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log.jsonl");
    let mut opened = LineFile::open(&path).unwrap();
    assert_eq!(opened.lines, Vec::<Vec<u8>>::new());
    opened.file.append(["one", ""]).unwrap();
    opened.file.append([]).unwrap();
    opened.file.append(["three"]).unwrap();
    drop(opened);
    assert_eq!(lines(&path), ["one", "", "three"]);
    assert_eq!(
        path.metadata().unwrap().permissions().mode() & 0o7777,
        0o600
    );
}

#[test]
fn a_torn_last_line_is_cut_off_and_the_next_line_is_whole() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log.jsonl");
    let check = |content: &[u8], kept: &[&str]| {
        fs::write(&path, content).unwrap();
        assert_eq!(lines(&path), kept);
        LineFile::open(&path)
            .unwrap()
            .file
            .append(["next"])
            .unwrap();
        assert_eq!(lines(&path), [kept, &["next"]].concat());
    };
    check(b"", &[]);
    check(b"to", &[]);
    check(b"one\n", &["one"]);
    check(b"one\ntw", &["one"]);
    check(b"one\n\0\0\0\0", &["one"]);
    check(b"one\ntwo\n\xff", &["one", "two"]);
}

#[test]
fn a_file_is_open_in_one_place_at_a_time() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log.jsonl");
    let first = LineFile::open(&path).unwrap();
    let error = LineFile::open(&path).unwrap_err();
    assert!(
        error.to_string().ends_with("is in use by another process"),
        "{error}"
    );
    drop(first);
    assert!(LineFile::open(&path).is_ok());
}

#[test]
fn a_symlink_is_not_followed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log.jsonl");
    symlink("elsewhere", &path).unwrap();
    assert!(LineFile::open(&path).is_err());
    assert!(!directory.path().join("elsewhere").exists());
}

#[test]
fn a_pipe_in_its_place_is_an_error_and_waits_for_nobody() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log.jsonl");
    let (fifo, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR);
    rustix::fs::mknodat(rustix::fs::CWD, &path, fifo, mode, 0).unwrap();
    let error = LineFile::open(&path).unwrap_err();
    assert!(error.to_string().contains("cannot open"), "{error}");
}

#[test]
fn a_full_disk_is_an_error_and_nothing_is_written_after_it() {
    let path = Path::new("/dev/full");
    let file = OpenOptions::new().append(true).open(path).unwrap();
    let mut file = LineFile::on(file, path);
    let error = file.append(["one"]).unwrap_err();
    assert_eq!(error.to_string(), "cannot write `/dev/full`");
    assert!(error.help().unwrap().contains("make room"));
    assert!(
        file.append(["two"])
            .unwrap_err()
            .to_string()
            .contains("before")
    );
}

#[test]
fn what_is_written_to_a_file_that_was_removed_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log.jsonl");
    let mut file = LineFile::open(&path).unwrap().file;
    file.append(["one"]).unwrap();
    fs::remove_file(&path).unwrap();
    let error = file.append(["two"]).unwrap_err();
    let error = crate::error::with_causes(&error);
    assert!(error.contains("it was removed"), "{error}");
    assert!(file.append(["three"]).is_err());
}
