//! What confined children can and cannot do, shown with real processes.
//!
//! This binary is its own helper, as podward is: `main` begins with `confine_main`. As root, all
//! tests run a second time as an ordinary user, and everywhere once more without namespaces.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "all of this is a test, though without the harness that clippy knows"
)]

use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use libtest_mimic::{Arguments, Trial};
use podward_scope::{
    Ending, Enforce, Helper, Launch, Level, Protected, Report, Root, Scope, ScopeDecl, ScopeError,
    Subtraction, confine_main, harden_process,
};
use tempfile::TempDir;

/// How this binary was started again: `ordinary` or `without_namespaces`.
const AGAIN: &str = "PODWARD_TEST_AGAIN";

fn main() -> ExitCode {
    if let Some(code) = confine_main(std::env::args_os()) {
        return code;
    }
    let words: Vec<_> = std::env::args().collect();
    match words
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .as_slice()
    {
        [_, "hold"] => return hold(),
        [_, "bound", dir] => return bound(Path::new(dir)),
        [_, "services", dir] => return services(Path::new(dir)),
        [_, "full", dir] => return full(Path::new(dir)),
        _ => {}
    }
    let agains = match std::env::var_os(AGAIN) {
        None => AGAINS,
        Some(_) => &[],
    };
    let trials = TRIALS
        .iter()
        .chain(agains)
        .map(|(name, trial)| {
            Trial::test(*name, || {
                trial();
                Ok(())
            })
        })
        .collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

type Named = (&'static str, fn());

macro_rules! named {
    ($($trial:ident),* $(,)?) => { [$((stringify!($trial), $trial as fn())),*] };
}

const TRIALS: &[Named] = &named![
    the_level_says_what_is_enforced,
    writes_succeed_only_in_granted_roots,
    what_is_podwards_own_cannot_be_written_moved_or_replaced,
    a_directory_on_the_way_to_a_protected_one_cannot_be_moved,
    what_is_missing_but_protected_is_made,
    what_is_denied_cannot_be_read,
    what_cannot_be_looked_at_can_still_be_denied,
    where_reading_is_restricted_programs_still_run,
    modes_and_times_outside_stay,
    the_parents_memory_and_environment_are_closed,
    processes_outside_cannot_be_signalled,
    the_limits_of_processes_outside_stay,
    shared_memory_of_processes_outside_stays,
    nothing_inherited_reaches_a_child,
    devices_and_shared_memory_work,
    terminals_outside_cannot_be_opened_and_own_ones_can_be_had,
    a_child_gains_no_privileges,
    how_a_child_ended_is_reported,
    what_is_left_may_finish_what_it_says,
    nothing_outlives_a_call,
    what_ignores_sigterm_is_killed,
    closing_the_control_ends_everything,
    when_podward_is_killed_its_children_end,
    a_root_that_became_a_link_starts_nothing,
    a_hidden_socket_cannot_be_connected_to,
    a_child_that_cannot_start_is_an_error,
    where_nothing_is_restricted_a_child_runs_and_ends_all_the_same,
    required_refuses_what_is_not_complete,
    a_link_by_which_podward_goes_is_a_gap_wherever_it_leads,
];

const AGAINS: &[Named] = &named![
    all_of_it_as_an_ordinary_user,
    all_of_it_without_namespaces,
    a_bind_mount_is_no_way_round,
    a_full_disk_leaves_the_old_file,
    services_that_would_act_outside_are_hidden,
];

/// A workspace `w` with a protected `.podward`, a hidden `state`, and a directory `outside`.
struct World {
    dir: PathBuf,
    _kept: Option<TempDir>,
}

impl World {
    fn new() -> Self {
        let kept = TempDir::new().unwrap();
        let dir = kept.path().to_owned();
        for name in [
            "w/.podward",
            "w/sub",
            "w/state",
            "outside",
            "temp",
            "hidden",
        ] {
            fs::create_dir_all(dir.join(name)).unwrap();
        }
        for (name, text) in [
            ("w/in.txt", "inside"),
            ("w/pod.toml", "manifest"),
            ("w/.podward/grants", "grants"),
            ("w/state/log", "secret"),
            ("hidden/key", "secret"),
            ("outside/out.txt", "outside"),
        ] {
            fs::write(dir.join(name), text).unwrap();
        }
        Self {
            dir,
            _kept: Some(kept),
        }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.dir.join(path)
    }

    fn protected(&self) -> Vec<Protected> {
        vec![
            Protected::read_only(".podward"),
            Protected::read_only("pod.toml"),
            Protected::hidden("state"),
            Protected::hidden(self.at("hidden")),
        ]
    }

    fn open(&self, decl: &ScopeDecl, protected: &[Protected]) -> Scope {
        Scope::open(decl, &self.at("w"), &self.at("temp"), protected)
            .unwrap()
            .confine(&Helper::this_program())
            .unwrap()
    }

    fn scope(&self) -> Scope {
        self.open(&ScopeDecl::default(), &self.protected())
    }

    fn run(&self, scope: &Scope, text: &str) -> Done {
        Running::start(self, scope, text).finish()
    }

    /// Fails the test unless `text` fails.
    fn refused(&self, scope: &Scope, text: &str) {
        let done = self.run(scope, text);
        assert_ne!(done.ending, Ending::Exit(0), "{text}: {}", done.output);
    }

    fn succeeds(&self, scope: &Scope, text: &str) -> String {
        let done = self.run(scope, text);
        assert_eq!(done.ending, Ending::Exit(0), "{text}: {}", done.output);
        done.output
    }
}

struct Done {
    ending: Ending,
    ended: u32,
    output: String,
}

/// A child that runs, with one pipe for both its outputs.
struct Running {
    helper: std::process::Child,
    reports: BufReader<std::os::unix::net::UnixStream>,
    output: std::io::PipeReader,
}

impl Running {
    fn start(world: &World, scope: &Scope, text: &str) -> Self {
        let mut confined = scope
            .command(Launch {
                program: Path::new("/bin/bash"),
                arguments: ["--noprofile", "--norc", "-c", text]
                    .map(OsString::from)
                    .to_vec(),
                directory: &world.at("w"),
                grace: Duration::from_millis(100),
            })
            .unwrap();
        let (output, writer) = std::io::pipe().unwrap();
        let helper = confined
            .command
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("LC_ALL", "C.UTF-8")
            .env("TMPDIR", world.at("temp"))
            .stdout(writer.try_clone().unwrap())
            .stderr(writer)
            .spawn()
            .unwrap();
        Self {
            helper,
            reports: BufReader::new(confined.control),
            output,
        }
    }

    fn report(&mut self) -> Report {
        let mut line = String::new();
        self.reports.read_line(&mut line).unwrap();
        Report::parse(&line).unwrap_or_else(|| panic!("no report: {line:?}"))
    }

    fn close(&self) {
        self.reports
            .get_ref()
            .shutdown(std::net::Shutdown::Write)
            .unwrap();
    }

    fn finish(mut self) -> Done {
        let mut output = Vec::new();
        self.output.read_to_end(&mut output).unwrap();
        let output = String::from_utf8_lossy(&output).into_owned();
        loop {
            match self.report() {
                Report::Ready { .. } | Report::Started { .. } => {}
                Report::Ended { ending, ended } => {
                    self.helper.wait().unwrap();
                    return Done {
                        ending,
                        ended,
                        output,
                    };
                }
                report => panic!("{report}"),
            }
        }
    }
}

/// The means by which the level was reached.
fn subtraction(scope: &Scope) -> Subtraction {
    match scope.level() {
        Some(Level::Kernel { means, .. } | Level::Partial { means, .. }) => means.subtraction,
        level => panic!("these tests need a kernel with Landlock: {level:?}"),
    }
}

/// Every way at hand to write a file: bash always, and the interpreters that are installed.
fn ways_to_write(path: &str) -> Vec<String> {
    let mut ways = vec![
        format!("echo x > '{path}'"),
        format!("echo x >> '{path}'"),
        format!(": > '{path}'"),
    ];
    if Path::new("/usr/bin/python3").exists() {
        ways.push(format!("/usr/bin/python3 -c \"open('{path}','w')\""));
    }
    if Path::new("/usr/bin/perl").exists() {
        ways.push(format!(
            "/usr/bin/perl -e 'open(F, \">\", \"{path}\") or die'"
        ));
    }
    ways
}

fn the_level_says_what_is_enforced() {
    let world = World::new();
    let scope = world.scope();
    let level = scope.level().unwrap().to_string();
    match subtraction(&scope) {
        Subtraction::Mounts => {
            assert!(scope.level().unwrap().is_complete(), "{level}");
            assert!(
                level.starts_with("enforced by the kernel (Landlock "),
                "{level}"
            );
        }
        Subtraction::Entries => {
            let expected = format!(
                "entries directly in `{}` cannot be made, renamed or removed",
                world.at("w").display()
            );
            assert!(level.contains(&expected), "{level}");
        }
        Subtraction::NotNeeded => panic!("{level}"),
    }
    if std::env::var(AGAIN).as_deref() == Ok("without_namespaces") {
        assert_eq!(subtraction(&scope), Subtraction::Entries);
    }
}

fn writes_succeed_only_in_granted_roots() {
    let world = World::new();
    let scope = world.scope();
    for path in ["sub/new", "in.txt", "$TMPDIR/new"] {
        world.succeeds(&scope, &format!("echo x > \"{path}\""));
    }
    world.succeeds(
        &scope,
        "cd sub && echo x > a && mv a b && rm b && mkdir d && rmdir d",
    );
    let outside = world.at("outside");
    let outside = outside.display();
    for name in ["out.txt", "new"] {
        for way in ways_to_write(&format!("{outside}/{name}")) {
            world.refused(&scope, &way);
        }
    }
    symlink("../outside", world.at("w/sub/link")).unwrap();
    for text in [
        format!("rm {outside}/out.txt"),
        format!("mkdir {outside}/d"),
        format!("ln -s x {outside}/l"),
        format!("mv {outside}/out.txt sub/"),
        format!("mv in.txt {outside}/"),
        format!("ln {outside}/out.txt sub/hard && echo x > sub/hard"),
        "echo x > sub/link/new".to_owned(),
        "echo x > /proc/self/comm".to_owned(),
    ] {
        world.refused(&scope, &text);
    }
    let names: Vec<_> = fs::read_dir(world.at("outside")).unwrap().collect();
    assert_eq!(names.len(), 1);
    assert_eq!(fs::read(world.at("outside/out.txt")).unwrap(), b"outside");
}

fn what_is_podwards_own_cannot_be_written_moved_or_replaced() {
    let world = World::new();
    let scope = world.scope();
    for path in [".podward/grants", ".podward/new", "pod.toml"] {
        for way in ways_to_write(path) {
            world.refused(&scope, &way);
        }
    }
    for text in [
        "mv .podward moved",
        "mv pod.toml moved",
        "echo x > sub/pod.toml; mv sub/pod.toml pod.toml",
        "rm pod.toml",
        "rm -r .podward",
        "rm .podward/grants",
        "mkdir .podward/new",
        "ln -s x .podward/new",
        "ln .podward/grants sub/hard && echo x > sub/hard",
        "mv state moved",
        "rmdir state",
        "cat state/log",
        "umount .podward",
        "mount -t tmpfs none .podward",
        "unshare -Urm sh -c 'umount .podward && echo x > .podward/grants'",
        "unshare -m sh -c 'umount .podward && echo x > .podward/grants'",
        "echo x > /proc/1/cwd/.podward/grants",
        "echo x > /proc/$PPID/cwd/x",
    ] {
        world.refused(&scope, text);
    }
    assert_eq!(fs::read(world.at("w/.podward/grants")).unwrap(), b"grants");
    assert_eq!(fs::read_dir(world.at("w/.podward")).unwrap().count(), 1);
    assert_eq!(fs::read(world.at("w/pod.toml")).unwrap(), b"manifest");
    assert_eq!(fs::read(world.at("w/state/log")).unwrap(), b"secret");
    assert_eq!(
        world.succeeds(&scope, "cat .podward/grants pod.toml"),
        "grantsmanifest"
    );
}

fn a_directory_on_the_way_to_a_protected_one_cannot_be_moved() {
    let world = World::new();
    fs::create_dir_all(world.at("w/a/b/keep")).unwrap();
    let scope = world.open(&ScopeDecl::default(), &[Protected::read_only("a/b/keep")]);
    for text in [
        "mv a moved && mkdir -p a/b/keep && echo x > a/b/keep/new",
        "mv a/b a/moved && mkdir -p a/b/keep && echo x > a/b/keep/new",
        "cd a/b && echo x > keep/new",
        "rm -r a",
    ] {
        world.refused(&scope, text);
    }
    assert_eq!(fs::read_dir(world.at("w/a/b/keep")).unwrap().count(), 0);
    if subtraction(&scope) == Subtraction::Mounts {
        world.succeeds(
            &scope,
            "echo x > a/new && echo x > a/b/new && mv a/b/new a/b/newer",
        );
    }
}

fn what_is_missing_but_protected_is_made() {
    let world = World::new();
    let scope = world.open(
        &ScopeDecl::default(),
        &[Protected::read_only("later/.podward")],
    );
    for way in ways_to_write("later/.podward/new") {
        world.refused(&scope, &way);
    }
    world.refused(&scope, "mv later moved");
    assert_eq!(
        fs::read_dir(world.at("w/later/.podward")).unwrap().count(),
        0
    );
    // A manifest's own entry that is missing is not made: the level says so.
    let decl = ScopeDecl {
        deny: vec![Root::write("none")],
        ..ScopeDecl::default()
    };
    let scope = world.open(&decl, &[]);
    let level = scope.level().unwrap();
    assert!(!level.is_complete());
    let text = format!(
        "`{}` can be made: it does not exist yet",
        world.at("w/none").display()
    );
    assert!(level.to_string().contains(&text), "{level}");
}

fn what_is_denied_cannot_be_read() {
    let world = World::new();
    fs::write(world.at("w/.env"), "secret").unwrap();
    let decl = ScopeDecl {
        deny: vec![
            Root::read(".env"),
            Root::read(world.at("outside")),
            Root::write("sub"),
        ],
        ..ScopeDecl::default()
    };
    let scope = world.open(&decl, &world.protected());
    let outside = world.at("outside/out.txt");
    for text in [
        "cat .env".to_owned(),
        "echo x > .env".to_owned(),
        "mv .env moved; cat moved".to_owned(),
        format!("cat {}", outside.display()),
        format!("cat {}", world.at("hidden/key").display()),
        "cat state/log".to_owned(),
        "echo x > sub/new".to_owned(),
    ] {
        let done = world.run(&scope, &text);
        assert_ne!(done.ending, Ending::Exit(0), "{text}");
        assert!(!done.output.contains("secret"), "{text}: {}", done.output);
    }
    assert_eq!(fs::read(world.at("w/.env")).unwrap(), b"secret");
    assert_eq!(world.succeeds(&scope, "cat in.txt"), "inside");
}

fn what_cannot_be_looked_at_can_still_be_denied() {
    let world = World::new();
    fs::create_dir_all(world.at("outside/locked/inner")).unwrap();
    fs::create_dir_all(world.at("w/sub/locked/inner")).unwrap();
    let lock = |mode: u32| {
        for path in ["outside/locked", "w/sub/locked"] {
            fs::set_permissions(world.at(path), fs::Permissions::from_mode(mode)).unwrap();
        }
    };
    lock(0);
    let deny = |path: PathBuf| ScopeDecl {
        deny: vec![Root::read(path)],
        ..ScopeDecl::default()
    };
    let scope = world.open(&deny(world.at("outside/locked/inner")), &[]);
    let expected = subtraction(&world.scope()) == Subtraction::Mounts;
    assert_eq!(scope.level().unwrap().is_complete(), expected);
    // In a root, its owner could unlock it.
    let scope = world.open(&deny(world.at("w/sub/locked/inner")), &[]);
    world.refused(
        &scope,
        "chmod 700 sub/locked && echo x > sub/locked/inner/x",
    );
    lock(0o700);
    assert_eq!(
        fs::read_dir(world.at("w/sub/locked/inner"))
            .unwrap()
            .count(),
        0
    );
}

fn where_reading_is_restricted_programs_still_run() {
    let world = World::new();
    let decl = ScopeDecl {
        allow: vec![Root::write(".")],
        ..ScopeDecl::default()
    };
    let scope = world.open(&decl, &world.protected());
    assert_eq!(world.succeeds(&scope, "cat in.txt | tr a-z A-Z"), "INSIDE");
    world.succeeds(&scope, "echo x > $TMPDIR/x && ls / > /dev/null || true");
    world.refused(
        &scope,
        &format!("cat {}", world.at("outside/out.txt").display()),
    );
    world.refused(&scope, &format!("ls {}", world.at("outside").display()));
}

fn modes_and_times_outside_stay() {
    let world = World::new();
    let scope = world.scope();
    if subtraction(&scope) != Subtraction::Mounts {
        let level = scope.level().unwrap().to_string();
        assert!(level.contains("modes, owners and times"), "{level}");
        return;
    }
    let path = world.at("outside/out.txt");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    world.refused(&scope, &format!("chmod 666 {}", path.display()));
    world.refused(&scope, &format!("touch -d 2001-01-01 {}", path.display()));
    world.refused(&scope, "chmod 777 .podward");
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o640
    );
    world.succeeds(&scope, "chmod 600 in.txt && touch -d 2001-01-01 in.txt");
}

fn the_parents_memory_and_environment_are_closed() {
    let world = World::new();
    let scope = world.scope();
    let pid = std::process::id();
    for parent in [pid.to_string(), "$PPID".to_owned()] {
        for file in ["environ", "mem", "maps", "fd/0", "root/etc/passwd"] {
            world.refused(&scope, &format!("head -c 1 /proc/{parent}/{file} && echo"));
        }
        world.refused(&scope, &format!("ls /proc/{parent}/cwd/"));
    }
    let environment = world.succeeds(&scope, "env | cut -d= -f1 | sort | tr '\\n' ' '");
    assert_eq!(environment, "LC_ALL PATH PWD SHLVL TMPDIR _ ");
}

fn processes_outside_cannot_be_signalled() {
    let world = World::new();
    let scope = world.scope();
    if scope
        .level()
        .unwrap()
        .to_string()
        .contains("can be signalled")
    {
        return;
    }
    for text in [
        format!("kill -0 {}", std::process::id()),
        "kill -0 $PPID".to_owned(),
        "kill -KILL $PPID".to_owned(),
    ] {
        world.refused(&scope, &text);
    }
    world.succeeds(&scope, "sleep 1000 & kill $! && kill -0 $$");
}

/// A limit of processor time or file size ends a process as a signal does.
fn the_limits_of_processes_outside_stay() {
    let world = World::new();
    let scope = world.scope();
    let pid = std::process::id();
    for text in [
        format!("prlimit --pid {pid} --core=0:0"),
        "prlimit --pid $PPID --cpu=0:0".to_owned(),
    ] {
        world.refused(&scope, &text);
    }
    world.succeeds(&scope, &format!("prlimit --pid {pid} --cpu"));
    let own = world.succeeds(
        &scope,
        "ulimit -c 0 && prlimit --nofile=64:64 bash -c \"ulimit -n\"",
    );
    assert_eq!(own, "64\n");
}

fn shared_memory_of_processes_outside_stays() {
    let world = World::new();
    let scope = world.scope();
    if subtraction(&scope) != Subtraction::Mounts {
        let level = scope.level().unwrap().to_string();
        assert!(level.contains("memory that processes share"), "{level}");
        return;
    }
    let made = Command::new("ipcmk").args(["-M", "16"]).output().unwrap();
    let made = String::from_utf8(made.stdout).unwrap();
    let id = made.split_whitespace().next_back().unwrap();
    let done = world.run(&scope, &format!("ipcrm -m {id}"));
    let removed = Command::new("ipcrm").args(["-m", id]).output().unwrap();
    assert_ne!(done.ending, Ending::Exit(0), "{}", done.output);
    assert!(removed.status.success(), "{removed:?}");
}

fn nothing_inherited_reaches_a_child() {
    let world = World::new();
    let scope = world.scope();
    let file = fs::File::create(world.at("outside/leak")).unwrap();
    let leaked = rustix::io::fcntl_dupfd_cloexec(&file, 57).unwrap();
    rustix::io::fcntl_setfd(&leaked, rustix::io::FdFlags::empty()).unwrap();
    world.refused(&scope, "echo x >&57");
    let open = world.succeeds(&scope, "echo /proc/$$/fd/*");
    assert_eq!(
        open.matches("/fd/").count(),
        4,
        "0, 1, 2 and the listing: {open}"
    );
    drop(leaked);
    assert_eq!(fs::read(world.at("outside/leak")).unwrap(), b"");
}

fn devices_and_shared_memory_work() {
    let world = World::new();
    let scope = world.scope();
    world.succeeds(
        &scope,
        "echo x > /dev/null && head -c 4 /dev/urandom | wc -c",
    );
    world.succeeds(&scope, "! echo x > /dev/full");
    world.refused(&scope, "echo x > /dev/tty");
    if subtraction(&scope) == Subtraction::Mounts {
        world.succeeds(&scope, "echo x > /dev/shm/podward-test");
        assert!(!Path::new("/dev/shm/podward-test").exists());
    }
}

fn terminals_outside_cannot_be_opened_and_own_ones_can_be_had() {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    let world = World::new();
    let scope = world.scope();
    let pty = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&pty).unwrap();
    unlockpt(&pty).unwrap();
    let name = ptsname(&pty, Vec::new()).unwrap();
    let name = name.to_str().unwrap();
    let outside = fs::OpenOptions::new().read(true).write(true).open(name);
    assert!(outside.is_ok(), "this user can open it");
    for way in ["exec 3<", "exec 3>", "exec 3<>"] {
        world.refused(&scope, &format!("{way} '{name}'"));
    }
    let opened = "for terminal in /dev/tty?* /dev/vcs* /dev/console; do \
         for mode in '<' '>'; do \
         if test -c $terminal && eval \"(exec 3$mode$terminal)\" 2> /dev/null; \
         then echo $mode$terminal; fi; done; done";
    assert_eq!(world.succeeds(&scope, opened), "");
    if subtraction(&scope) == Subtraction::Mounts && Path::new("/usr/bin/script").exists() {
        let said = world.succeeds(&scope, "script -qec 'test -t 0 && tty' /dev/null");
        assert!(said.trim().starts_with("/dev/pts/"), "{said}");
    }
}

fn a_child_gains_no_privileges() {
    let world = World::new();
    let scope = world.scope();
    let status = world.succeeds(
        &scope,
        "grep -E '^(NoNewPrivs|CapEff|CapAmb)' /proc/self/status",
    );
    assert!(status.contains("NoNewPrivs:\t1"), "{status}");
    // CAP_SYS_ADMIN is bit 21.
    let effective = status
        .lines()
        .find_map(|line| line.strip_prefix("CapEff:\t"))
        .and_then(|digits| u64::from_str_radix(digits, 16).ok())
        .unwrap();
    assert_eq!(effective & (1 << 21), 0, "{status}");
}

fn how_a_child_ended_is_reported() {
    let world = World::new();
    let scope = world.scope();
    for (text, ending) in [
        ("true", Ending::Exit(0)),
        ("exit 3", Ending::Exit(3)),
        ("kill -KILL $$", Ending::Signal(9)),
        ("no-such-program", Ending::Exit(127)),
    ] {
        let done = world.run(&scope, text);
        assert_eq!((done.ending, done.ended), (ending, 0), "{text}");
    }
    let done = world.run(&scope, "echo one; echo two >&2; echo three");
    assert_eq!(done.output, "one\ntwo\nthree\n");
}

fn what_is_left_may_finish_what_it_says() {
    let world = World::new();
    let scope = world.scope();
    let done = world.run(&scope, "exec > >(cat; echo last); echo first");
    assert_eq!((done.ending, done.ended), (Ending::Exit(0), 0));
    assert_eq!(done.output, "first\nlast\n");
}

fn alive(pids: &str) -> Vec<&str> {
    pids.split_whitespace()
        .filter(|pid| Path::new("/proc").join(pid).exists())
        .collect()
}

fn nothing_outlives_a_call() {
    let world = World::new();
    let scope = world.scope();
    // Each says its id through a pipe, so that it runs when the call ends.
    let done = world.run(
        &scope,
        "cd $TMPDIR && mkfifo said && wait_for='echo $$ > said; exec sleep 1000'
         bash -c \"$wait_for\" & cat said
         setsid bash -c \"$wait_for\" & cat said
         (setsid bash -c \"$wait_for\" &) ; cat said
         (bash -c \"(setsid bash -c '$wait_for' > /dev/null 2>&1 &)\" &) ; cat said
         bash -c \"trap '' HUP TERM; $wait_for\" & disown; cat said",
    );
    assert_eq!((done.ending, done.ended), (Ending::Exit(0), 5));
    assert_eq!(done.output.lines().count(), 5);
    assert_eq!(alive(&done.output), [] as [&str; 0]);
    // One that looks dead: its first thread has ended, another one sleeps.
    if Path::new("/usr/bin/python3").exists() {
        let done = world.run(
            &scope,
            "mkfifo $TMPDIR/said2; /usr/bin/python3 -c 'if 1:
                import ctypes, os, threading, time
                threading.Thread(target=time.sleep, args=(1000,)).start()
                open(os.environ[\"TMPDIR\"] + \"/said2\", \"w\").write(str(os.getpid()))
                ctypes.CDLL(None).pthread_exit(0)
             ' & cat $TMPDIR/said2",
        );
        assert_eq!(done.ending, Ending::Exit(0));
        assert_eq!(alive(&done.output), [] as [&str; 0], "{}", done.output);
    }
    // One that runs away faster than it can be counted.
    let done = world.run(
        &scope,
        "cd $TMPDIR && run='(( $1 )) && { setsid bash -c \"$run\" run $(( $1 - 1 )) & }; \
           (( $1 % 100 )) || { echo $$ > said; } ; exit' && export run
         bash -c \"$run\" run 200 & cat said; exit 5",
    );
    assert_eq!(done.ending, Ending::Exit(5), "{}", done.output);
    assert_eq!(alive(&done.output), [] as [&str; 0]);
}

fn what_ignores_sigterm_is_killed() {
    let world = World::new();
    let scope = world.scope();
    let done = world.run(
        &scope,
        "trap '' TERM; setsid sleep 1000 & echo $!; bash -c 'while :; do sleep 1000; done' & echo $!",
    );
    assert_eq!(done.ending, Ending::Exit(0));
    assert_eq!(alive(&done.output), [] as [&str; 0]);
}

fn closing_the_control_ends_everything() {
    let world = World::new();
    let scope = world.scope();
    let text = "trap '' TERM; sleep 1000 & echo $!; setsid sleep 1000 & echo $! $$; wait; wait";
    let mut running = Running::start(&world, &scope, text);
    let mut lines = String::new();
    let mut reader = BufReader::new(running.output.try_clone().unwrap());
    for _ in 0..2 {
        reader.read_line(&mut lines).unwrap();
    }
    assert!(matches!(running.report(), Report::Ready { .. }));
    assert!(matches!(running.report(), Report::Started { .. }));
    running.close();
    let done = running.finish();
    assert_eq!(done.ending, Ending::Signal(9));
    assert_eq!(alive(&lines), [] as [&str; 0]);
}

/// Plays podward: starts a child, says which, and waits to be killed.
fn hold() -> ExitCode {
    harden_process().unwrap();
    let world = World::new();
    let scope = world.scope();
    let running = Running::start(&world, &scope, "echo $$; sleep 1000 & echo $!; wait");
    let mut lines = BufReader::new(&running.output).lines();
    for _ in 0..2 {
        println!("{}", lines.next().unwrap().unwrap());
    }
    loop {
        std::thread::park();
    }
}

fn when_podward_is_killed_its_children_end() {
    use rustix::process::{PidfdFlags, pidfd_open};
    let mut podward = Command::new("/proc/self/exe")
        .arg("hold")
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(podward.stdout.take().unwrap()).lines();
    let children: Vec<_> = (0..2)
        .map(|_| {
            let pid = lines.next().unwrap().unwrap().parse().unwrap();
            let pid = rustix::process::Pid::from_raw(pid).unwrap();
            pidfd_open(pid, PidfdFlags::empty()).unwrap()
        })
        .collect();
    // To other processes of its user it was closed.
    if !rustix::process::geteuid().is_root() {
        for file in ["environ", "mem", "maps", "fd"] {
            let path = format!("/proc/{}/{file}", podward.id());
            assert!(fs::File::open(&path).is_err(), "{path}");
        }
    }
    podward.kill().unwrap();
    podward.wait().unwrap();
    for child in children {
        let mut ended = [rustix::event::PollFd::new(
            &child,
            rustix::event::PollFlags::IN,
        )];
        rustix::event::poll(&mut ended, None).unwrap();
    }
}

fn a_root_that_became_a_link_starts_nothing() {
    let world = World::new();
    fs::create_dir(world.at("second")).unwrap();
    let decl = ScopeDecl {
        allow: vec![Root::write("."), Root::write("../second"), Root::read("/")],
        ..ScopeDecl::default()
    };
    let scope = world.open(&decl, &[]);
    world.succeeds(&scope, "echo x > ../second/new");
    fs::remove_dir_all(world.at("second")).unwrap();
    symlink("outside", world.at("second")).unwrap();
    let mut running = Running::start(&world, &scope, "echo x > ../second/new");
    match running.report() {
        Report::Failed(_) => {}
        report => panic!("{report}"),
    }
    assert!(!world.at("outside/new").exists());
}

fn a_hidden_socket_cannot_be_connected_to() {
    let world = World::new();
    let scope = world.scope();
    let socket = world.at("hidden/socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    if !Path::new("/usr/bin/perl").exists() {
        // Bash cannot connect to a socket by its path; that it sees none must do.
        world.refused(&scope, &format!("[[ -S {} ]]", socket.display()));
        return;
    }
    let connect = format!(
        "/usr/bin/perl -MSocket -e 'socket(my $s, PF_UNIX, SOCK_STREAM, 0) or die;
         connect($s, pack_sockaddr_un(\"{}\")) or die'",
        socket.display()
    );
    if subtraction(&scope) == Subtraction::Mounts {
        world.refused(&scope, &connect);
    } else {
        let level = scope.level().unwrap().to_string();
        assert!(level.contains("sockets there connected to"), "{level}");
        world.succeeds(&scope, &connect);
    }
}

fn a_child_that_cannot_start_is_an_error() {
    let world = World::new();
    let scope = world.scope();
    for (program, directory) in [
        ("/no/such/program", world.at("w")),
        ("/bin/bash", world.at("no")),
    ] {
        let mut confined = scope
            .command(Launch {
                program: Path::new(program),
                arguments: vec![],
                directory: &directory,
                grace: Duration::ZERO,
            })
            .unwrap();
        confined.command.spawn().unwrap().wait().unwrap();
        drop(confined.command);
        let mut text = String::new();
        confined.control.read_to_string(&mut text).unwrap();
        assert!(text.starts_with("failed "), "{text}");
    }
    let files_only = Scope::open(
        &ScopeDecl::default(),
        &world.at("w"),
        &world.at("temp"),
        &[],
    );
    let launch = Launch {
        program: Path::new("/bin/bash"),
        arguments: vec![],
        directory: &world.at("w"),
        grace: Duration::ZERO,
    };
    assert!(files_only.unwrap().command(launch).is_err());
}

/// As on a kernel without Landlock.
fn where_nothing_is_restricted_a_child_runs_and_ends_all_the_same() {
    let (control, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    let mut helper = Command::new("/proc/self/exe");
    helper
        .args([
            "__confine",
            "--subtraction",
            "none",
            "--restrict",
            "nothing",
        ])
        .args([
            "--directory",
            "/",
            "--grace",
            "100",
            "--",
            "/bin/bash",
            "-c",
        ])
        .arg("sleep 1000 & exit 7")
        .stdin(std::os::fd::OwnedFd::from(theirs));
    helper.spawn().unwrap().wait().unwrap();
    drop(helper);
    let reports: Vec<_> = BufReader::new(control)
        .lines()
        .map(|line| Report::parse(&line.unwrap()).unwrap())
        .collect();
    let [Report::Ready { abi: 0 }, Report::Started { .. }, end] = reports.as_slice() else {
        panic!("{reports:?}");
    };
    let ending = Ending::Exit(7);
    assert_eq!(*end, Report::Ended { ending, ended: 1 });
}

fn required_refuses_what_is_not_complete() {
    let world = World::new();
    let decl = ScopeDecl {
        enforce: Enforce::Required,
        ..ScopeDecl::default()
    };
    let open = |decl: &ScopeDecl| {
        Scope::open(decl, &world.at("w"), &world.at("temp"), &world.protected())
            .unwrap()
            .confine(&Helper::this_program())
    };
    match (subtraction(&world.scope()), open(&decl)) {
        (Subtraction::Mounts, Ok(scope)) => assert!(scope.level().unwrap().is_complete()),
        (Subtraction::Entries, Err(ScopeError::NotEnforced { .. })) => {}
        (_, result) => panic!("{result:?}"),
    }
    let decl = ScopeDecl {
        deny: vec![Root::read("not/there")],
        ..decl
    };
    let error = open(&decl).unwrap_err();
    assert!(matches!(error, ScopeError::NotEnforced { .. }), "{error}");
    assert!(error.hint().is_some());
}

fn a_link_by_which_podward_goes_is_a_gap_wherever_it_leads() {
    let world = World::new();
    symlink(world.at("outside"), world.at("w/link")).unwrap();
    symlink(world.at("outside"), world.at("w/.podward/link")).unwrap();
    let gap = |name: &str| {
        let mut protected = world.protected();
        protected.push(Protected::read_only(world.at(name)));
        let scope = world.open(&ScopeDecl::default(), &protected);
        scope.level().unwrap().to_string().contains(&format!(
            "`{}` is a symbolic link that can be replaced",
            world.at(name).display()
        ))
    };
    assert!(gap("w/link"));
    // Nothing can be put into that directory.
    assert!(!gap("w/.podward/link"));
}

/// Runs all tests again, in another process: `wrapper` is put before the program's path.
fn again(how: &str, wrapper: &[&str]) {
    let dir = TempDir::new().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let program = dir.path().join("again");
    // Copied by another process: a descriptor open for writing would go on to what other tests
    // start at this moment, and a program that is open for writing cannot be run.
    let copied = Command::new("install")
        .args([&std::env::current_exe().unwrap(), &program])
        .status();
    assert!(copied.unwrap().success());
    let temp = dir.path().join("temp");
    fs::create_dir(&temp).unwrap();
    fs::set_permissions(&temp, fs::Permissions::from_mode(0o777)).unwrap();
    let mut words = wrapper.iter().map(OsString::from).collect::<Vec<_>>();
    words.push(program.into_os_string());
    let output = Command::new(&words[0])
        .args(&words[1..])
        .env(AGAIN, how)
        .env("TMPDIR", &temp)
        .current_dir("/")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{how}:\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// What makes an ordinary user of root; nothing for all others.
fn as_ordinary_user() -> Vec<&'static str> {
    if rustix::process::geteuid().is_root() {
        vec![
            "setpriv",
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
        ]
    } else {
        vec![]
    }
}

fn all_of_it_as_an_ordinary_user() {
    again("ordinary", &as_ordinary_user());
}

/// In a user namespace that forbids further ones, without capabilities. Where there are no user
/// namespaces at all, an ordinary user is just that.
fn all_of_it_without_namespaces() {
    let mut wrapper = as_ordinary_user();
    let script = "if unshare -r true 2> /dev/null; then \
         exec unshare -r sh -c 'echo 0 > /proc/sys/user/max_user_namespaces && \
         exec setpriv --bounding-set=-all --inh-caps=-all \"$0\"' \"$0\"; \
         else exec \"$0\"; fi";
    wrapper.extend(["sh", "-c", script]);
    again("without_namespaces", &wrapper);
}

/// Runs this binary in a mount namespace that `script` prepares, in a world's directory; `None`:
/// there are no mount namespaces here.
fn in_mounts(world: &World, script: &str, mode: &str) -> Option<String> {
    if subtraction(&world.scope()) != Subtraction::Mounts {
        return None;
    }
    let script = format!("cd \"$1\" && {script} && exec \"$0\" {mode} \"$1\"");
    let output = Command::new("unshare")
        .args(["--mount", "--map-root-user", "sh", "-c", &script])
        .args([std::env::current_exe().unwrap(), world.dir.clone()])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    Some(String::from_utf8(output.stdout).unwrap())
}

/// The workspace has a second name, and so has what is protected in it.
fn a_bind_mount_is_no_way_round() {
    let world = World::new();
    let script = "mkdir second part host && mount --bind w second && mount --bind w/state part \
                  && mount --rbind / host";
    if let Some(said) = in_mounts(&world, script, "bound") {
        assert_eq!(said, "held\n");
    }
    assert_eq!(fs::read(world.at("w/.podward/grants")).unwrap(), b"grants");
}

fn services_that_would_act_outside_are_hidden() {
    let world = World::new();
    let script = "mount -t tmpfs none /run && mkdir -p /run/user/0 /run/other && \
                  echo bus > /run/user/0/bus && echo sock > /run/docker.sock && \
                  echo sock > /run/other/sock";
    if let Some(said) = in_mounts(&world, script, "services") {
        assert_eq!(said, "hidden\n");
    }
}

fn services(dir: &Path) -> ExitCode {
    let world = World {
        dir: dir.to_owned(),
        _kept: None,
    };
    let scope = world.scope();
    world.refused(&scope, "cat /run/user/0/bus");
    world.refused(&scope, "cat /run/docker.sock");
    world.succeeds(&scope, "cat /run/other/sock");
    println!("hidden");
    ExitCode::SUCCESS
}

fn a_full_disk_leaves_the_old_file() {
    let world = World::new();
    let script = "mount -t tmpfs -o size=64k none w/sub && echo old > w/sub/file";
    if let Some(said) = in_mounts(&world, script, "full") {
        assert_eq!(said, "cannot write `sub/file`: StorageFull\n");
    }
}

fn full(dir: &Path) -> ExitCode {
    let (workspace, temp) = (dir.join("w"), dir.join("temp"));
    let scope = Scope::open(&ScopeDecl::default(), &workspace, &temp, &[]).unwrap();
    let contents = vec![b'x'; 1024 * 1024];
    match scope.replace_file(Path::new("sub/file"), &contents) {
        Err(ScopeError::Io {
            path,
            doing,
            source,
        }) => println!("cannot {doing} `{}`: {:?}", path.display(), source.kind()),
        result => println!("{result:?}"),
    }
    assert_eq!(fs::read(workspace.join("sub/file")).unwrap(), b"old\n");
    assert_eq!(fs::read_dir(workspace.join("sub")).unwrap().count(), 1);
    ExitCode::SUCCESS
}

fn bound(dir: &Path) -> ExitCode {
    let world = World {
        dir: dir.to_owned(),
        _kept: None,
    };
    let only = world.scope();
    let decl = ScopeDecl {
        allow: vec![Root::write("."), Root::write("../second"), Root::read("/")],
        ..ScopeDecl::default()
    };
    let both = world.open(&decl, &world.protected());
    let host = format!("../host/{}", dir.display());
    for scope in [&only, &both] {
        assert!(scope.level().unwrap().is_complete());
        for text in [
            "echo x > ../second/.podward/grants",
            "mv ../second/.podward ../second/moved",
            "cat ../second/state/log",
            "cat ../part/log",
            &format!("cat {host}/w/state/log"),
            &format!("cat {host}/second/state/log"),
            &format!("echo x > {host}/w/.podward/grants"),
            &format!("echo x > {host}/second/.podward/grants"),
            &format!("cat {host}/hidden/key"),
        ] {
            world.refused(scope, text);
        }
    }
    world.succeeds(&both, "echo x > ../second/in.txt");
    println!("held");
    ExitCode::SUCCESS
}
