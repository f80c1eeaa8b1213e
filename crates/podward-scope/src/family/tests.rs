use std::io::Read as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Child, Command, Stdio};

use rustix::process::{WaitId, WaitIdOptions};

use super::*;

fn pid(number: u32) -> Pid {
    Pid::from_raw(i32::try_from(number).unwrap()).unwrap()
}

/// Waits for the end of a child without reaping it.
fn wait_for_end(child: Pid) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    rustix::process::waitid(WaitId::Pid(child), options).unwrap();
}

#[test]
fn what_was_inherited_is_reaped_and_own_children_are_left_alone() {
    adopt_orphans().unwrap();
    let start = || Command::new("true").spawn();
    let mut own = start_own(start, |child| Some(Child::id(child))).unwrap();
    // The shell's child is an orphan as soon as the shell has ended.
    let mut shell = Command::new("sh")
        .args(["-c", "exec 3<&0; cat <&3 >/dev/null & echo $!"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let input = shell.stdin.take();
    let mut said = String::new();
    shell
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    shell.wait().unwrap();
    let orphan = pid(said.trim().parse().unwrap());
    drop(input);
    wait_for_end(orphan);
    wait_for_end(pid(own.id()));
    let mut adopted = Adopted::new();
    assert_eq!(adopted.reap(), 0, "somebody may still wait for it");
    assert!(adopted.reap() >= 1);
    assert!(stat_of(orphan.as_raw_pid()).is_err());
    assert!(own.wait().unwrap().success());
}

#[test]
fn who_connects_is_placed_by_its_process() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let _own = UnixStream::connect(&path).unwrap();
    let (accepted, _) = listener.accept().unwrap();
    assert_eq!(peer_kinship(&accepted, now()).unwrap(), Kinship::Same);
}

#[test]
fn the_first_process_is_apart_and_a_child_is_below() {
    let held = |pid: Pid| Held {
        fd: rustix::process::pidfd_open(pid, PidfdFlags::empty()).unwrap(),
        born_before: None,
    };
    let first = Pid::from_raw(1).unwrap();
    assert_eq!(kinship_of(first, &held(first)).unwrap(), Kinship::Apart);
    let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    let below = pid(child.id());
    let hold = held(below);
    assert_eq!(kinship_of(below, &hold).unwrap(), Kinship::Below);
    let late = Held {
        fd: rustix::process::pidfd_open(below, PidfdFlags::empty()).unwrap(),
        born_before: Some(Moment(0)),
    };
    assert!(kinship_of(below, &late).is_err(), "a later process");
    drop(child.stdin.take());
    child.wait().unwrap();
    assert!(kinship_of(below, &hold).is_err(), "nothing is known of it");
}

/// Lines of parents, the process itself first; a marked one is below zero.
fn line(pids: &[i32]) -> Vec<Ancestor> {
    let one = |pid: &i32| Ancestor {
        pid: pid.abs(),
        stat: ProcessStat {
            is_marked: *pid < 0,
            parent: 0,
            start: 1,
        },
    };
    pids.iter().map(one).collect()
}

#[test]
fn what_the_pods_above_a_child_have_started_is_not_apart_from_it() {
    // A child of 8, which 9 has started; 3 is a pod below which all of them were started by chance.
    let own = line(&[-7, -8, -9, 4, -3, 1]);
    for (peer, expected) in [
        (&[5, 4, -3, 1][..], Kinship::Apart),
        (&[5, -3, 1], Kinship::Apart),
        (&[5, -8, -9, 4, -3, 1], Kinship::BelowAnother),
        (&[5, -9, 4, -3, 1], Kinship::BelowAnother),
        (&[-6, -9, 4, -3, 1], Kinship::BelowAnother),
        (&[-8, -9, 4, -3, 1], Kinship::BelowAnother),
        (&[-9, 4, -3, 1], Kinship::BelowAnother),
        (&[5, -7, -8, -9, 4, -3, 1], Kinship::Below),
    ] {
        assert_eq!(kinship(&line(peer), &own, 2), expected, "{peer:?}");
    }
}

#[test]
fn a_pod_above_the_one_that_connects_counts_unless_it_is_above_this_one_too() {
    for (peer, own, expected) in [
        (&[5, 4, 1][..], &[-7, 4, 1][..], Kinship::Apart),
        (&[-7, 4, 1], &[-7, 4, 1], Kinship::Same),
        (&[5, -7, 4, 1], &[-7, 4, 1], Kinship::Below),
        // Another pod, and what it started.
        (&[-8, 4, 1], &[-7, 4, 1], Kinship::Apart),
        (&[5, -8, 4, 1], &[-7, 4, 1], Kinship::BelowAnother),
        (&[5, 6, -8, 1], &[-7, 4, 1], Kinship::BelowAnother),
        // This pod was itself started below one: what else that one started is of one kind with it.
        (&[5, 6, -8, 1], &[-7, 9, -8, 1], Kinship::Apart),
        (&[5, -6, -8, 1], &[-7, 9, -8, 1], Kinship::BelowAnother),
        (&[5, 1], &[-7, 9, -8, 1], Kinship::Apart),
        (&[9, -8, 1], &[-7, 9, -8, 1], Kinship::Apart),
    ] {
        assert_eq!(kinship(&line(peer), &line(own), 0), expected, "{peer:?}");
    }
    // A number that is used again is another process.
    let mut later = line(&[5, -8, 1]);
    later[1].stat.start = 2;
    assert_eq!(
        kinship(&later, &line(&[-7, 9, -8, 1]), 0),
        Kinship::BelowAnother
    );
}

#[test]
fn who_adopts_orphans_is_known_by_it() {
    adopt_orphans().unwrap();
    let own = stat_of(rustix::process::getpid().as_raw_pid()).unwrap();
    assert!(own.is_marked);
}

/// Where a child of the tests connects.
const CONNECT_TO: &str = "PODWARD_TEST_CONNECT_TO";

/// A kernel without `SO_PEERPIDFD`: the number, and when its process began, say who it is; where they
/// do not, nothing is certain.
#[test]
fn without_a_pidfd_of_the_connection_a_later_process_is_never_taken_for_the_one_that_connected() {
    use nix::errno::Errno;

    if let Some(path) = std::env::var_os(CONNECT_TO) {
        let mut stream = UnixStream::connect(path).unwrap();
        // Until the other end is closed.
        let _ = stream.read(&mut [0]);
        return;
    }
    let absent = || Err(Errno::ENOPROTOOPT);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let _own = UnixStream::connect(&path).unwrap();
    let (accepted, _) = listener.accept().unwrap();
    assert_eq!(
        peer_kinship_by(&accepted, now(), absent()).unwrap(),
        Kinship::Same
    );

    let before = Moment(
        stat_of(rustix::process::getpid().as_raw_pid())
            .unwrap()
            .start
            - 1,
    );
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--test-threads=1"])
        .arg("family::tests::without_a_pidfd_of_the_connection_a_later_process_is_never_taken_for_the_one_that_connected")
        .env(CONNECT_TO, &path)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let (accepted, _) = listener.accept().unwrap();
    let kinship = |connected, pidfd| peer_kinship_by(&accepted, connected, pidfd);
    assert_eq!(kinship(now(), absent()).unwrap(), Kinship::Below);
    let later = kinship(before, absent()).unwrap_err();
    assert_eq!(later.to_string(), "the process that connected is gone");
    // What else the kernel says is no reason to look another way.
    for errno in [Errno::EINVAL, Errno::ESRCH, Errno::ENOSYS, Errno::EPERM] {
        assert_eq!(
            kinship(now(), Err(errno)).unwrap_err().raw_os_error(),
            Some(errno as i32)
        );
    }
    accepted.shutdown(std::net::Shutdown::Both).unwrap();
    wait_for_end(pid(child.id()));
    assert!(kinship(now(), absent()).is_err(), "it has ended");
    child.wait().unwrap();
    assert!(kinship(now(), absent()).is_err(), "it is gone");
}
