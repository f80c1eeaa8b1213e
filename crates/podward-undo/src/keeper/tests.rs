//! What is kept, what is not, and how long.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::time::Duration;

use super::{Deed, Keeper, Reach, Settings};
use crate::history::Undone;
use crate::record::DeedName;
use crate::testing::{SESSION, World};

fn settings(max_size: u64, max_file: u64) -> Settings {
    Settings {
        max_size,
        max_file,
        ..Settings::default()
    }
}

/// Whether the undo of a call brings back what a file held.
fn is_brought_back(world: &World, call: &str) -> bool {
    let Undone::Done { plan, .. } = world.undo(call) else {
        panic!("nothing stands against it");
    };
    plan.left.is_empty()
}

#[test]
fn what_git_does_not_ignore_is_kept_first_and_what_is_named_before_all() {
    // Ten bytes each, and thirteen of patterns; ignored directories get a quarter of the room.
    let world = World::with(settings(53, 32));
    world.write(".gitignore", "target/\n.env\n");
    let all = ["a", ".env", ".git/HEAD", "target/b", "target/c"];
    for (n, name) in all.iter().enumerate() {
        world.write(name, format!("123456789{n}"));
    }
    world.run("all", || {
        for name in all {
            fs::remove_file(world.path(name)).unwrap();
        }
    });
    let Undone::Done { plan, .. } = world.undo("all") else {
        panic!("nothing stands against it");
    };
    let left: Vec<_> = plan.left.iter().map(|left| left.path.to_string()).collect();
    // One of the ignored directory fits into its share.
    assert_eq!(left, ["target/c"], "{plan:#?}");
    assert!(!plan.left[0].why.is_loss());
}

#[test]
fn what_a_command_names_is_kept_before_what_it_does_not() {
    let world = World::with(settings(10, 10));
    for name in ["a", "b", "z"] {
        world.write(name, format!("123456789{name}"));
    }
    let named = vec![world.path("z")];
    let running = world.before("one", Reach::Workspace(named)).unwrap();
    fs::remove_file(world.path("z")).unwrap();
    running.after();
    assert!(is_brought_back(&world, "one"));
    assert_eq!(world.text("z"), "123456789z");
}

#[test]
fn the_store_never_grows_beyond_its_size() {
    let world = World::with(settings(1000, 500));
    for n in 0..30_u8 {
        let call = format!("call-{n}");
        world.run(&call, || world.write("f", [n; 300]));
        assert!(world.n_bytes() <= 1000, "{} after {n}", world.n_bytes());
    }
    let list = world.history().list();
    // The newest are there, the oldest are not.
    assert!((1..=3).contains(&list.len()), "{}", list.len());
    assert_eq!(list.last().unwrap().id, "call-29");
    assert!(is_brought_back(&world, "call-29"));
    assert_eq!(fs::read(world.path("f")).unwrap(), [28; 300]);
    assert!(world.undo_error(Some("call-0")).contains("too long ago"));
}

#[test]
fn what_is_too_old_is_forgotten_when_a_pod_begins() {
    let mut world = World::with(Settings {
        max_age: Duration::from_secs(10),
        ..Settings::default()
    });
    let at = |world: &World, call: &str, time: i64, content: &str| {
        let name = DeedName {
            call: call.to_owned(),
            tool: "bash".to_owned(),
            summary: String::new(),
        };
        let reach = Reach::Workspace(Vec::new());
        let running = world.keeper.before(Deed { name, reach, time }).unwrap();
        world.write("f", content);
        running.after();
    };
    at(&world, "one", 0, "1");
    at(&world, "two", 5_000, "2");
    world.restart();
    at(&world, "three", 12_000, "3");
    let ids: Vec<_> = world
        .history()
        .list()
        .into_iter()
        .map(|one| one.id)
        .collect();
    assert_eq!(ids, ["two", "three"]);
    // "1", which "two" overwrote, "2" and "3".
    assert_eq!(world.n_objects(), 3);
}

#[test]
fn calls_that_run_at_the_same_time_are_one_deed() {
    let world = World::new();
    world.write("f", "0");
    let one = world.command("one");
    world.write("f", "1");
    let two = world.command("two");
    world.write("g", "2");
    world.write_file("three", "h", "3");
    one.after();
    world.write("i", "4");
    two.after();
    let list = world.history().list();
    assert_eq!(list.len(), 1);
    let calls: Vec<_> = list[0]
        .calls
        .iter()
        .map(|deed| deed.call.as_str())
        .collect();
    assert_eq!(calls, ["one", "two", "three"]);
    assert!(is_brought_back(&world, "three"));
    assert_eq!(world.text("f"), "0");
    for name in ["g", "h", "i"] {
        assert!(!world.path(name).exists());
    }
}

#[test]
fn two_pods_share_a_workspace() {
    let world = World::new();
    world.write("f", "0");
    let other = Keeper::new(world.base(), world.root(), "T", world.settings, Vec::new());
    for n in 1..5 {
        world.run(&format!("ours-{n}"), || world.write("f", n.to_string()));
        let name = DeedName {
            call: format!("theirs-{n}"),
            tool: "bash".to_owned(),
            summary: String::new(),
        };
        let reach = Reach::Workspace(Vec::new());
        let running = other
            .before(Deed {
                name,
                reach,
                time: 0,
            })
            .unwrap();
        world.write("g", n.to_string());
        running.after();
    }
    let ids: Vec<_> = world
        .history()
        .list()
        .into_iter()
        .map(|one| one.id)
        .collect();
    assert_eq!(ids, ["ours-1", "ours-2", "ours-3", "ours-4"]);
    drop(other);
    assert!(is_brought_back(&world, "ours-4"));
    assert_eq!((world.text("f"), world.text("g")), ("3".into(), "4".into()));
}

#[test]
fn a_change_that_leaves_size_and_time_alone_is_seen() {
    let world = World::new();
    world.write("f", "0");
    let as_before = fs::metadata(world.path("f")).unwrap().modified().unwrap();
    world.run("one", || {
        fs::write(world.path("f"), "1").unwrap();
        fs::File::options()
            .write(true)
            .open(world.path("f"))
            .unwrap()
            .set_modified(as_before)
            .unwrap();
    });
    assert!(is_brought_back(&world, "one"));
    assert_eq!(world.text("f"), "0");
}

#[test]
fn the_store_and_what_is_left_out_are_no_part_of_the_workspace() {
    let dir = tempfile::TempDir::new().unwrap();
    fs::create_dir(dir.path().join("state")).unwrap();
    fs::write(dir.path().join("state/log"), "0").unwrap();
    fs::write(dir.path().join("f"), "0").unwrap();
    let keeper = Keeper::new(
        dir.path().join("state/undo"),
        dir.path(),
        SESSION,
        Settings::default(),
        vec![dir.path().join("state")],
    );
    let name = DeedName {
        call: "one".to_owned(),
        tool: "bash".to_owned(),
        summary: String::new(),
    };
    let reach = Reach::Workspace(Vec::new());
    let running = keeper
        .before(Deed {
            name,
            reach,
            time: 0,
        })
        .unwrap();
    fs::write(dir.path().join("state/log"), "1").unwrap();
    fs::write(dir.path().join("f"), "1").unwrap();
    running.after();
    let history = crate::History::read(&dir.path().join("state/undo"), SESSION).unwrap();
    let list = history.list();
    assert_eq!(list[0].changes.len(), 1, "{list:#?}");
}

#[test]
fn only_its_owner_can_look_into_the_store() {
    let world = World::new();
    world.write("f", "0");
    world.run("one", || world.write("f", "1"));
    let mut ahead = vec![world.base()];
    let mut n_files = 0;
    while let Some(path) = ahead.pop() {
        let metadata = path.symlink_metadata().unwrap();
        let expected = if metadata.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(metadata.mode() & 0o7777, expected, "{}", path.display());
        if metadata.is_dir() {
            ahead.extend(
                fs::read_dir(path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        } else {
            n_files += 1;
        }
    }
    assert!(n_files > 4);
}

#[test]
fn a_store_that_cannot_be_written_is_an_error_before_the_deed() {
    let world = World::new();
    fs::write(world.base(), "no directory").unwrap();
    for reach in [Reach::Workspace(Vec::new()), Reach::File(world.path("f"))] {
        let Err(error) = world.before("one", reach) else {
            panic!("nothing can be kept");
        };
        assert!(error.to_string().contains("cannot make"), "{error}");
    }
}

#[test]
fn a_tree_deeper_than_any_path_is_kept() {
    let world = World::new();
    let shell = |script: &str| {
        let output = std::process::Command::new("bash")
            .args(["-c", script])
            .current_dir(world.root())
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let down = "for n in {1..300}; do cd 'some directory' || exit; done; cat f";
    shell("for n in {1..300}; do mkdir 'some directory' && cd 'some directory'; done; echo 0 > f");
    world.run("one", || drop(shell("rm -r 'some directory'")));
    assert!(!world.path("some directory").exists());
    assert!(is_brought_back(&world, "one"));
    assert_eq!(shell(down), "0\n");
}

#[test]
fn special_files_are_left_alone() {
    let world = World::new();
    let fifo = |name: &str| {
        let made = std::process::Command::new("mkfifo")
            .arg(world.path(name))
            .status();
        assert!(made.unwrap().success());
    };
    fs::create_dir(world.path("d")).unwrap();
    fifo("d/old");
    world.run("one", || {
        fs::remove_dir_all(world.path("d")).unwrap();
        fifo("new");
        world.write("f", "1");
    });
    let Undone::Done { plan, .. } = world.undo("one") else {
        panic!("nothing stands against it");
    };
    let left: Vec<_> = plan.left.iter().map(|left| left.path.to_string()).collect();
    assert_eq!(left, ["d/old", "new"]);
    assert!(world.path("d").is_dir() && world.path("new").exists());
    assert!(!world.path("f").exists());
}

#[test]
fn what_cannot_be_read_is_no_error() {
    // Where rights say nothing, it is kept like any other.
    let world = World::new();
    world.write("closed/f", "0");
    world.write("g", "0");
    let set = |name: &str, mode| {
        fs::set_permissions(world.path(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    set("closed/f", 0o000);
    world.run("one", || world.write("g", "1"));
    assert!(is_brought_back(&world, "one"));
    assert_eq!(world.text("g"), "0");
}

/// Set in the child: the directory that it works in.
const INNER: &str = "PODWARD_UNDO_TEST_DIR";

/// Runs a test again as a user to whom rights mean something; says whether this is that run.
fn as_ordinary_user(test: &str, check: impl FnOnce(World)) {
    if let Some(dir) = std::env::var_os(INNER) {
        let dir = tempfile::TempDir::new_in(dir).unwrap();
        return check(World::inside(dir, Settings::default()));
    }
    if !rustix::process::geteuid().is_root() {
        return check(World::new());
    }
    let outer = tempfile::TempDir::new().unwrap();
    fs::set_permissions(outer.path(), fs::Permissions::from_mode(0o777)).unwrap();
    // Another user may not reach the directory that this program was built in.
    let program = outer.path().join("test");
    // Copied by another process: a descriptor open for writing would go on to what other tests
    // start at this moment, and a program that is open for writing cannot be run.
    let copied = std::process::Command::new("install")
        .args([&std::env::current_exe().unwrap(), &program])
        .status();
    assert!(copied.unwrap().success());
    let output = std::process::Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(&program)
        .args(["--exact", test, "--test-threads=1"])
        .env(INNER, outer.path())
        .output()
        .unwrap();
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && out.contains("1 passed"), "{out}");
}

#[test]
fn an_ordinary_user_gets_back_what_was_in_closed_directories() {
    let test = "keeper::tests::an_ordinary_user_gets_back_what_was_in_closed_directories";
    as_ordinary_user(test, |world| {
        for name in ["d/e/f", "d/g", "h"] {
            world.write(name, "0");
        }
        let set = |name: &str, mode| {
            fs::set_permissions(world.path(name), fs::Permissions::from_mode(mode)).unwrap();
        };
        set("d/e", 0o555);
        set("d", 0o555);
        let before = world.tree();
        world.run("one", || {
            set("d", 0o755);
            set("d/e", 0o755);
            fs::remove_dir_all(world.path("d/e")).unwrap();
            world.write("d/g", "1");
            set("d", 0o555);
        });
        let after = world.tree();
        assert!(is_brought_back(&world, "one"));
        assert_eq!(world.tree(), before);
        assert!(is_brought_back(&world, "undo:2"));
        assert_eq!(world.tree(), after);
        // So that the directory can be removed.
        set("d", 0o755);
    });
}

#[test]
fn what_an_ordinary_user_cannot_read_is_named_when_it_is_gone() {
    let test = "keeper::tests::what_an_ordinary_user_cannot_read_is_named_when_it_is_gone";
    as_ordinary_user(test, |world| {
        world.write("closed/f", "0");
        world.write("secret", "0");
        world.write("g", "0");
        let set = |name: &str, mode| {
            fs::set_permissions(world.path(name), fs::Permissions::from_mode(mode)).unwrap();
        };
        set("secret", 0o000);
        set("closed", 0o000);
        world.run("one", || {
            fs::remove_file(world.path("secret")).unwrap();
            world.write("g", "1");
        });
        let notices = world.keeper.take_notices();
        assert!(
            notices[0].contains("`closed`, `secret` (it cannot be read)"),
            "{notices:#?}"
        );
        let Undone::Done { plan, .. } = world.undo("one") else {
            panic!("nothing stands against it");
        };
        let left: Vec<_> = plan.left.iter().map(|left| left.path.to_string()).collect();
        assert_eq!(left, ["secret"]);
        assert_eq!(world.text("g"), "0");
        set("closed", 0o755);
    });
}
