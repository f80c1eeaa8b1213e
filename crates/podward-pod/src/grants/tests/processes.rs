//! Several processes at once, and processes that die: each is this test program again.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use super::*;
use crate::clock::SystemClock;

/// What the program does when it is started again, as JSON.
const ROLE: &str = "PODWARD_TEST_GRANTS_ROLE";

/// Where.
const ROOT: &str = "PODWARD_TEST_GRANTS_ROOT";

/// Begins every line that is meant for the parent.
const MARK: &str = "grants-test ";

fn store_at(root: &Path) -> GrantStore {
    let (store, problems) = GrantStore::open(
        &Places::below(root),
        &root.join("project"),
        &session('A'),
        Arc::new(SystemClock),
    )
    .unwrap();
    assert_eq!(problems, []);
    store
}

fn tell(line: &str) {
    println!("\n{MARK}{line}");
}

/// This program with a role, from a test.
fn again(test: &str, role: &str, root: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(ROLE, role)
        .env(ROOT, root)
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    command
}

/// The role of this process, if it was started by a test.
fn role() -> Option<(String, PathBuf)> {
    let role = std::env::var(ROLE).ok()?;
    Some((role, std::env::var_os(ROOT)?.into()))
}

fn told(child: Child) -> Vec<String> {
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    let lines = text.lines().filter_map(|line| line.strip_prefix(MARK));
    lines.map(str::to_owned).collect()
}

const N_PROCESSES: usize = 8;
const N_GRANTS: usize = 12;
const N_USES: u32 = 60;

#[test]
fn processes_at_once_lose_nothing_of_each_other() {
    if let Some((role, root)) = role() {
        return add_take_and_revoke(&store_at(&root), &role);
    }
    let fixture = fixture();
    let store = store_at(fixture.root.path());
    let counted = store
        .add(new_grant("git shared", GrantFor::Uses { n: N_USES }))
        .unwrap();
    let test = "grants::tests::processes::processes_at_once_lose_nothing_of_each_other";
    let children: Vec<Child> = (0..N_PROCESSES)
        .map(|n| {
            let role = format!("{n} {}", counted.id);
            again(test, &role, fixture.root.path()).spawn().unwrap()
        })
        .collect();
    let told: Vec<String> = children.into_iter().flat_map(told).collect();
    let with = |word: &str| -> Vec<String> {
        let lines = told.iter().filter_map(|line| line.strip_prefix(word));
        lines.map(str::to_owned).collect()
    };
    let n_taken = with("taken").len();
    assert_eq!(n_taken, N_USES as usize);
    let added: BTreeSet<_> = with("added ").into_iter().collect();
    let revoked: BTreeSet<_> = with("revoked ").into_iter().collect();
    assert_eq!(added.len(), N_PROCESSES * N_GRANTS);
    assert_eq!(revoked.len(), N_PROCESSES * N_GRANTS / 2);
    let left: BTreeSet<_> = store
        .list()
        .iter()
        .map(|grant| grant.id.to_string())
        .collect();
    let expected: BTreeSet<_> = added.difference(&revoked).cloned().collect();
    assert_eq!(left, expected);
    assert_eq!(fixture.open('B').1, []);
}

/// Adds grants, takes uses of one that all share as long as there are any, and takes back every
/// other of its own.
fn add_take_and_revoke(store: &GrantStore, role: &str) {
    let (n, counted) = role.split_once(' ').unwrap();
    let counted = GrantId::new(counted);
    for idx in 0..N_GRANTS {
        let new = new_grant(&format!("git p{n} {idx}"), GrantFor::Project);
        let grant = store.add(new).unwrap();
        tell(&format!("added {}", grant.id));
        if take_use(store, &counted).unwrap() {
            tell("taken");
        }
        if idx % 2 == 0 {
            assert!(store.revoke(&grant.id).unwrap());
            tell(&format!("revoked {}", grant.id));
        }
        store.look();
        assert!(store.refresh().is_some());
    }
    while take_use(store, &counted).unwrap() {
        tell("taken");
    }
}

/// What was told of is there, and nothing is broken, wherever a process is killed.
#[test]
fn a_process_that_is_killed_leaves_a_whole_file() {
    if let Some((_, root)) = role() {
        let store = store_at(&root);
        for n in 0.. {
            let lasts = GrantFor::Uses { n: 2 };
            let grant = store.add(new_grant(&format!("git {n}"), lasts)).unwrap();
            tell(&format!("added {}", grant.id));
            assert!(take_use(&store, &grant.id).unwrap());
            tell(&format!("taken {}", grant.id));
        }
        return;
    }
    let fixture = fixture();
    let test = "grants::tests::processes::a_process_that_is_killed_leaves_a_whole_file";
    let mut n_left = 0;
    for n_lines in 1..25 {
        let mut child = again(test, "", fixture.root.path()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let told: Vec<String> = lines
            .by_ref()
            .map(Result::unwrap)
            .filter_map(|line| Some(line.strip_prefix(MARK)?.to_owned()))
            .take(n_lines)
            .collect();
        assert_eq!(told.len(), n_lines);
        child.kill().unwrap();
        child.wait().unwrap();
        // What was told between the last line read and the kill counts too.
        let rest = lines.map_while(Result::ok);
        let rest = rest.filter_map(|line| Some(line.strip_prefix(MARK)?.to_owned()));
        let told: Vec<String> = told.into_iter().chain(rest).collect();
        let store = store_at(fixture.root.path());
        let grants = store.list();
        for line in &told {
            let (what, id) = line.split_once(' ').unwrap();
            let grant = grants.iter().find(|grant| grant.id.as_str() == id).unwrap();
            if what == "taken" {
                assert_eq!(grant.uses_left, Some(1));
            }
        }
        let n_added = told.iter().filter(|line| line.starts_with("added")).count();
        let n_new = grants.len() - n_left;
        assert!(
            (n_added..=n_added + 1).contains(&n_new),
            "{n_added} {n_new}"
        );
        n_left = grants.len();
    }
    // Nobody holds the lock, and what a write left behind is in nobody's way.
    let store = store_at(fixture.root.path());
    fs::write(fixture.file().with_extension("new"), "half a fi").unwrap();
    store.add(new_grant("git last", GrantFor::Project)).unwrap();
    assert_eq!(store.list().len(), n_left + 1);
}

/// On a file system without room nothing is lost, and no use is taken that is not on it.
#[test]
fn a_full_disk_changes_nothing() {
    if let Some((_, root)) = role() {
        return fill(&root);
    }
    let fixture = fixture();
    let mut command = Command::new("unshare");
    let test = "grants::tests::processes::a_full_disk_changes_nothing";
    let child = again(test, "", fixture.root.path());
    let mount = "mkdir -p \"$1\" && mount -t tmpfs -o size=64k,mode=700 podward-test \"$1\" && shift && exec \"$@\"";
    command
        .args(["--map-root-user", "--mount", "sh", "-c", mount, "sh"])
        .arg(fixture.places.state_dir())
        .arg(child.get_program())
        .args(child.get_args())
        .env(ROLE, "")
        .env(ROOT, fixture.root.path());
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() && stderr.starts_with("unshare:") {
        // Said, not hidden: some containers forbid every mount.
        eprintln!("this machine lets nobody mount a small file system: {stderr}");
        return;
    }
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{stdout}{stderr}");
    assert!(stdout.contains(&format!("{MARK}full")), "{stdout}");
}

fn fill(root: &Path) {
    let store = store_at(root);
    let counted = store
        .add(new_grant("git shared", GrantFor::Uses { n: 9 }))
        .unwrap();
    let other = store.add(new_grant("git pull", GrantFor::Project)).unwrap();
    let places = Places::below(root);
    let filler = places.state_dir().join("filler");
    let mut file = fs::File::create(&filler).unwrap();
    // To the last byte of the last page.
    while std::io::Write::write(&mut file, &[b'x'; 512]).is_ok_and(|n| n > 0) {}
    let path = GrantFile::all(&directory(&places)).unwrap()[0]
        .path()
        .to_owned();
    let before = fs::read(&path).unwrap();
    let error = store
        .add(new_grant("git push", GrantFor::Project))
        .unwrap_err();
    assert!(error.help().unwrap().contains("make room"), "{error}");
    let id = podward_gate::GrantId::new(counted.id.as_str()).unwrap();
    assert!(store.take(std::slice::from_ref(&id)).is_err());
    store.revoke(&other.id).unwrap_err();
    assert_eq!(fs::read(&path).unwrap(), before);
    drop(file);
    fs::remove_file(&filler).unwrap();
    assert!(store.take(std::slice::from_ref(&id)).is_ok());
    assert_eq!(store.list()[0].uses_left, Some(8));
    tell("full");
}
