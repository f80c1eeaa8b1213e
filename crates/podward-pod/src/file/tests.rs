use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};

use super::*;
use crate::test_user::{OTHER_ID, as_ordinary_user};

/// `ada` (uid 65534, her private group 65534), and a group 4000 of many.
fn accounts() -> Accounts {
    Accounts::parse(
        "ada:x:65534:65534:::\n",
        "ada:x:65534:\ndev:x:4000:ada,bob\n",
    )
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// A directory of one's own with a file `pod.toml` in it.
fn directory() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("pod.toml"), "text").unwrap();
    chmod(&directory.path().join("pod.toml"), 0o644);
    directory
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, String> {
    read_guarded(path, &accounts()).map_err(|error| {
        let name = error.path().file_name().unwrap_or_default();
        format!("{}: {}", name.display(), error.kind)
    })
}

#[test]
fn a_file_of_ones_own_is_read() {
    let directory = directory();
    assert_eq!(
        read(&directory.path().join("pod.toml")),
        Ok(Some(b"text".to_vec()))
    );
}

#[test]
fn only_a_file_that_is_not_there_is_absent() {
    let directory = directory();
    let at = |name: &str| directory.path().join(name);
    symlink("nowhere", at("dangling")).unwrap();
    symlink("nowhere", at("dangling-dir")).unwrap();
    symlink(".", at("here")).unwrap();
    symlink("loop-b", at("loop-a")).unwrap();
    symlink("loop-a", at("loop-b")).unwrap();
    fs::create_dir(at("dir")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, at("fifo"), Mode::from_raw_mode(0o600)).unwrap();
    let check = |name: &str, result: Result<Option<Vec<u8>>, &str>| {
        assert_eq!(read(&at(name)), result.map_err(str::to_owned), "{name}");
    };
    check("absent.toml", Ok(None));
    check("absent/pod.toml", Ok(None));
    check("here/absent.toml", Ok(None));
    check("here/pod.toml", Ok(Some(b"text".to_vec())));
    check("dir/../pod.toml", Ok(Some(b"text".to_vec())));
    check("dangling", Err("dangling: is a symlink that leads nowhere"));
    check(
        "dangling-dir/pod.toml",
        Err("dangling-dir: is a symlink that leads nowhere"),
    );
    check("loop-a", Err("loop-a: is part of a loop of symlinks"));
    check("dir", Err("dir: is a directory"));
    check("fifo", Err("fifo: is a named pipe"));
    check("pod.toml/pod.toml", Err("pod.toml: cannot be read"));
    assert_eq!(
        read(Path::new("/dev/zero")),
        Err("zero: is no regular file".into())
    );
}

#[test]
fn a_file_over_the_limit_is_refused_and_one_at_the_limit_is_not() {
    let directory = directory();
    let path = directory.path().join("pod.toml");
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(MAX_FILE_BYTES).unwrap();
    assert!(read(&path).is_ok());
    file.set_len(MAX_FILE_BYTES + 1).unwrap();
    assert_eq!(read(&path), Err("pod.toml: is too large".into()));
}

#[test]
fn what_others_can_write_is_refused() {
    let directory = directory();
    let path = directory.path().join("pod.toml");
    for (mode, allowed) in [
        (0o600, true),
        (0o644, true),
        (0o400, true),
        (0o606, false),
        (0o646, false),
        (0o666, false),
        (0o602, false),
        (0o777, false),
    ] {
        chmod(&path, mode);
        assert_eq!(read(&path).is_ok(), allowed, "{mode:o}");
    }
    let error = read_guarded(&path, &accounts()).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("can be written by others (mode 0777)"),
        "{error}"
    );
    assert!(error.help().unwrap().contains("`chmod go-w "));
}

#[test]
fn a_directory_that_others_can_write_is_refused_unless_it_is_sticky() {
    let directory = directory();
    let path = directory.path().join("pod.toml");
    for (mode, allowed) in [
        (0o700, true),
        (0o755, true),
        (0o777, false),
        (0o757, false),
        (0o1777, true),
    ] {
        chmod(directory.path(), mode);
        assert_eq!(read(&path).is_ok(), allowed, "{mode:o}");
    }
}

#[test]
fn a_directory_further_up_or_behind_a_symlink_counts_too() {
    let directory = directory();
    let at = |name: &str| directory.path().join(name);
    fs::create_dir_all(at("open/below")).unwrap();
    fs::write(at("open/below/pod.toml"), "text").unwrap();
    chmod(&at("open/below/pod.toml"), 0o600);
    symlink("open/below/pod.toml", at("link")).unwrap();
    assert!(read(&at("link")).is_ok());
    chmod(&at("open"), 0o777);
    assert_eq!(
        read(&at("link")),
        Err("open: can be written by others (mode 0777)".into())
    );
    symlink("../pod.toml", at("open/back")).unwrap();
    assert_eq!(
        read(&at("open/back")),
        Err("open: can be written by others (mode 0777)".into())
    );
}

#[test]
fn a_group_may_write_only_if_it_is_the_owners_private_one() {
    if as_ordinary_user("file::tests::a_group_may_write_only_if_it_is_the_owners_private_one") {
        return;
    }
    let directory = directory();
    let path = directory.path().join("pod.toml");
    chmod(&path, 0o664);
    let mine = (
        rustix::process::getuid().as_raw(),
        rustix::process::getgid().as_raw(),
    );
    let (uid, gid) = mine;
    let read = |passwd: &str, group: &str| {
        read_guarded(&path, &Accounts::parse(passwd, group)).map_err(|error| error.to_string())
    };
    let passwd = format!("me:x:{uid}:{gid}:::\n");
    assert!(read(&passwd, &format!("me:x:{gid}:\n")).is_ok());
    assert!(read(&passwd, &format!("me:x:{gid}:me,eve\n")).is_err());
    assert!(read(&passwd, &format!("staff:x:{gid}:\n")).is_err());
    assert!(read("", "").is_err());
}

#[test]
fn a_file_that_cannot_be_opened_is_an_error() {
    if as_ordinary_user("file::tests::a_file_that_cannot_be_opened_is_an_error") {
        return;
    }
    let directory = directory();
    let path = directory.path().join("pod.toml");
    chmod(&path, 0o000);
    assert_eq!(read(&path), Err("pod.toml: cannot be read".into()));
    fs::create_dir(directory.path().join("shut")).unwrap();
    chmod(&directory.path().join("shut"), 0o000);
    let hidden = directory.path().join("shut/pod.toml");
    assert_eq!(read(&hidden), Err("pod.toml: cannot be read".into()));
    let error = read_guarded(&path, &accounts()).unwrap_err();
    let source = std::error::Error::source(&error).unwrap();
    assert!(source.to_string().contains("denied"));
    chmod(&directory.path().join("shut"), 0o700);
}

#[test]
fn what_belongs_to_another_user_is_refused() {
    // Only root can give a file away.
    if !rustix::process::geteuid().is_root() {
        let guard = Guard {
            user: 1000,
            accounts: &accounts(),
        };
        assert!(guard.check_owner(Path::new("/x"), 1001).is_err());
        assert!(guard.check_owner(Path::new("/x"), 1000).is_ok());
        assert!(guard.check_owner(Path::new("/x"), 0).is_ok());
        return;
    }
    let directory = directory();
    let at = |name: &str| directory.path().join(name);
    chown(at("pod.toml"), Some(OTHER_ID), None).unwrap();
    let foreign = |name: &str| Err(format!("{name}: belongs to another user (uid {OTHER_ID})"));
    assert_eq!(read(&at("pod.toml")), foreign("pod.toml"));
    chown(at("pod.toml"), Some(0), None).unwrap();
    assert!(read(&at("pod.toml")).is_ok());

    symlink("pod.toml", at("link")).unwrap();
    assert!(read(&at("link")).is_ok());
    std::os::unix::fs::lchown(at("link"), Some(OTHER_ID), None).unwrap();
    assert_eq!(read(&at("link")), foreign("link"));

    fs::create_dir(at("dir")).unwrap();
    fs::write(at("dir/pod.toml"), "text").unwrap();
    chmod(&at("dir/pod.toml"), 0o600);
    chown(at("dir"), Some(OTHER_ID), None).unwrap();
    assert_eq!(read(&at("dir/pod.toml")), foreign("dir"));
}

#[test]
fn a_path_is_shown_without_control_characters() {
    assert_eq!(shown(Path::new("/a\u{1b}[31m b\n")), "/a\\u{1b}[31m b\\n");
    let turned = Path::new("/a/\u{202e}b\u{200b}é");
    assert_eq!(shown(turned), "/a/\\u{202e}b\\u{200b}é");
}
