use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use podward_protocol::Time;

use super::*;

fn places(root: &Path) -> Places {
    Places::below(root)
}

fn entry(number: u128, manifest: &str) -> PodEntry {
    PodEntry {
        format: POD_ENTRY_FORMAT,
        pod: "test".into(),
        session: SessionId::from_bits(number),
        pid: std::process::id(),
        started_at: Time::UNIX_EPOCH,
        workspace: "/w".into(),
        manifest: Some(manifest.into()),
        protocol: 2,
    }
}

fn names(path: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "lock")
        .collect();
    names.sort();
    names
}

fn mode(path: &Path) -> u32 {
    path.symlink_metadata().unwrap().mode() & 0o7777
}

#[test]
fn only_the_user_can_open_the_directory_and_what_is_in_it() {
    let root = tempfile::tempdir().unwrap();
    let run_dir = RunDir::open(&places(root.path())).unwrap();
    let (claim, _listener) = run_dir.claim(&entry(1, "/m")).unwrap();
    assert_eq!(mode(&run_dir.path), 0o700);
    assert_eq!(mode(&claim.socket()), 0o600);
    assert_eq!(mode(&claim.socket().with_extension("json")), 0o600);
    drop(claim);
    assert_eq!(names(&run_dir.path), Vec::<String>::new());
}

#[test]
fn a_directory_that_others_can_open_is_not_used() {
    let check = |prepare: &dyn Fn(&Path), expected: &str| {
        let root = tempfile::tempdir().unwrap();
        let path = places(root.path()).run_dir().to_owned();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        prepare(&path);
        let error = RunDir::open(&places(root.path())).unwrap_err().to_string();
        let shown = format!("`{}`", path.display());
        assert_eq!(error.replace(&shown, "DIR"), expected);
    };
    check(
        &|path| {
            fs::create_dir(path).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o750)).unwrap();
        },
        "DIR is open to others (mode 0750)",
    );
    check(
        &|path| {
            fs::create_dir(path.with_extension("other")).unwrap();
            symlink(path.with_extension("other"), path).unwrap();
        },
        "DIR is a symlink",
    );
    check(&|path| fs::write(path, "").unwrap(), "DIR is no directory");
}

/// Whoever can rename what is in the directory above could put their own in its place.
#[test]
fn a_directory_in_one_that_others_can_write_is_not_used() {
    let root = tempfile::tempdir().unwrap();
    let above = places(root.path()).run_dir().parent().unwrap().to_owned();
    fs::create_dir_all(&above).unwrap();
    let open = |mode| {
        fs::set_permissions(&above, fs::Permissions::from_mode(mode)).unwrap();
        RunDir::open(&places(root.path())).map(drop)
    };
    for mode in [0o777, 0o770, 0o702] {
        let error = open(mode).unwrap_err();
        let expected = format!(
            "`{}` can be written by others (mode {mode:04o})",
            above.display()
        );
        assert_eq!(error.to_string(), expected);
        assert!(error.help().unwrap().contains("XDG_RUNTIME_DIR"));
    }
    open(0o1777).unwrap();
    open(0o755).unwrap();
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(&above, Some(crate::test_user::OTHER_ID), None).unwrap();
        let error = open(0o755).unwrap_err().to_string();
        assert!(
            error.ends_with("belongs to another user (uid 65534)"),
            "{error}"
        );
    }
}

/// What was checked is what is used, whatever has its name by now.
#[test]
fn a_directory_that_is_put_in_its_place_is_not_written_to() {
    let root = tempfile::tempdir().unwrap();
    let run_dir = RunDir::open(&places(root.path())).unwrap();
    let moved = run_dir.path.with_extension("moved");
    fs::rename(&run_dir.path, &moved).unwrap();
    fs::create_dir(&run_dir.path).unwrap();
    let (claim, _listener) = run_dir.claim(&entry(1, "/m")).unwrap();
    let name = |extension| format!("{}.{extension}", SessionId::from_bits(1));
    assert_eq!(names(&moved), [name("json"), name("sock")]);
    assert_eq!(names(&run_dir.path), Vec::<String>::new());
    drop(claim);
    assert_eq!(names(&moved), Vec::<String>::new());
}

#[test]
fn a_path_that_is_too_long_for_a_socket_is_said() {
    let root = tempfile::tempdir().unwrap();
    let long = root.path().join("x".repeat(90));
    let run_dir = RunDir::open(&places(&long)).unwrap();
    let error = run_dir.claim(&entry(1, "/m")).unwrap_err();
    assert!(
        error.to_string().contains("the kernel takes 107"),
        "{error}"
    );
    assert!(error.help().unwrap().contains("XDG_RUNTIME_DIR"));
}

#[test]
fn what_dead_pods_left_is_removed_and_what_lives_stays() {
    let root = tempfile::tempdir().unwrap();
    let run_dir = RunDir::open(&places(root.path())).unwrap();
    let (alive, _listener) = run_dir.claim(&entry(1, "/m")).unwrap();
    for (number, manifest) in [(2, "/m"), (3, "/other"), (4, "/m")] {
        let (claim, listener) = run_dir.claim(&entry(number, manifest)).unwrap();
        // As if it was killed.
        std::mem::forget(claim);
        drop(listener);
    }
    fs::write(run_dir.entry(&SessionId::from_bits(4)), "torn").unwrap();
    let stale = run_dir.remove_stale("/m").unwrap();
    assert_eq!(stale, [entry(2, "/m")]);
    let name = |number, extension| format!("{}.{extension}", SessionId::from_bits(number));
    let mut left = vec![
        name(1, "json"),
        name(1, "sock"),
        name(3, "json"),
        name(3, "sock"),
    ];
    left.sort();
    assert_eq!(names(&run_dir.path), left);
    drop(alive);
}

#[test]
fn a_pod_takes_the_place_of_a_dead_one_and_removes_only_its_own() {
    let root = tempfile::tempdir().unwrap();
    let run_dir = RunDir::open(&places(root.path())).unwrap();
    let (first, listener) = run_dir.claim(&entry(1, "/m")).unwrap();
    drop(listener);
    let (second, _listener) = run_dir.claim(&entry(1, "/m")).unwrap();
    drop(first);
    assert!(is_alive(&second.socket()));
}
