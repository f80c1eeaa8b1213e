use std::fs;
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use tempfile::TempDir;

use super::{Replaced, Scope};
use crate::decl::{Access, Protected, Root, ScopeDecl};
use crate::error::{Kind, ScopeError};

/// A workspace `w` and a directory `outside`, with a file or two in each.
struct World {
    dir: TempDir,
}

impl World {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        for name in ["w/sub", "outside", "temp"] {
            fs::create_dir_all(dir.path().join(name)).unwrap();
        }
        fs::write(dir.path().join("w/in.txt"), "inside").unwrap();
        fs::write(dir.path().join("w/sub/deep.txt"), "deep").unwrap();
        fs::write(dir.path().join("outside/out.txt"), "outside").unwrap();
        Self { dir }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    fn scope(&self, decl: &ScopeDecl, protected: &[Protected]) -> Scope {
        Scope::open(decl, &self.at("w"), &self.at("temp"), protected).unwrap()
    }

    /// Only the workspace may be touched.
    fn strict(&self) -> Scope {
        self.scope(
            &ScopeDecl {
                allow: vec![Root::write(".")],
                ..ScopeDecl::default()
            },
            &[],
        )
    }
}

fn read(scope: &Scope, path: impl AsRef<Path>) -> Result<String, String> {
    let mut text = String::new();
    scope
        .read_file(path.as_ref())
        .map_err(|error| name(&error))?
        .read_to_string(&mut text)
        .unwrap();
    Ok(text)
}

fn write(scope: &Scope, path: impl AsRef<Path>) -> Result<Replaced, String> {
    scope
        .replace_file(path.as_ref(), b"new")
        .map_err(|error| name(&error))
}

fn name(error: &ScopeError) -> String {
    let debug = format!("{error:?}");
    debug
        .split([' ', '{', '('])
        .next()
        .unwrap_or_default()
        .to_owned()
}

fn refused<T>(what: &str) -> Result<T, String> {
    Err(what.to_owned())
}

#[test]
fn with_no_declaration_everything_is_read_and_the_workspace_written() {
    let world = World::new();
    let scope = world.scope(&ScopeDecl::default(), &[]);
    assert_eq!(read(&scope, "in.txt"), Ok("inside".to_owned()));
    assert_eq!(
        read(&scope, "./sub/../sub//deep.txt"),
        Ok("deep".to_owned())
    );
    assert_eq!(
        read(&scope, world.at("outside/out.txt")),
        Ok("outside".to_owned())
    );
    assert_eq!(write(&scope, "in.txt"), Ok(Replaced::Replaced));
    assert_eq!(write(&scope, "fresh.txt"), Ok(Replaced::Created));
    assert_eq!(write(&scope, world.at("temp/x")), Ok(Replaced::Created));
    assert_eq!(write(&scope, world.at("outside/x")), refused("Outside"));
    assert_eq!(write(&scope, "../outside/x"), refused("Outside"));
    assert_eq!(write(&scope, "no/such/x"), refused("Missing"));
    assert_eq!(fs::read(world.at("w/fresh.txt")).unwrap(), b"new");
}

#[test]
fn outside_the_allowed_roots_not_even_existence_is_known() {
    let world = World::new();
    let scope = world.strict();
    for path in [
        "outside/out.txt",
        "outside/none",
        "none",
        "outside/out.txt/x",
    ] {
        assert_eq!(read(&scope, world.at(path)), refused("Outside"), "{path}");
    }
    assert_eq!(read(&scope, "none"), refused("Missing"));
}

#[test]
fn a_link_counts_as_where_it_leads() {
    let world = World::new();
    for (target, link) in [
        ("in.txt".to_owned(), "w/near"),
        ("sub".to_owned(), "w/dir"),
        (world.at("w/in.txt").display().to_string(), "w/absolute"),
        ("../outside/out.txt".to_owned(), "w/escape"),
        (world.at("outside").display().to_string(), "w/escape_dir"),
        ("loop".to_owned(), "w/loop"),
        ("new.txt".to_owned(), "w/dangling"),
        ("../outside/new.txt".to_owned(), "w/dangling_out"),
        ("../w/in.txt".to_owned(), "outside/into"),
        ("/proc/self/root".to_owned(), "w/magic"),
    ] {
        symlink(target, world.at(link)).unwrap();
    }
    let scope = world.strict();
    for path in ["near", "absolute", "dir/../in.txt"] {
        assert_eq!(read(&scope, path), Ok("inside".to_owned()), "{path}");
    }
    assert_eq!(read(&scope, "dir/deep.txt"), Ok("deep".to_owned()));
    assert_eq!(
        read(&scope, world.at("outside/into")),
        Ok("inside".to_owned())
    );
    for path in ["escape", "escape_dir/out.txt", "magic/etc/passwd"] {
        assert_eq!(read(&scope, path), refused("Outside"), "{path}");
        assert_eq!(write(&scope, path), refused("Outside"), "{path}");
    }
    assert_eq!(read(&scope, "loop"), refused("TooManyLinks"));
    assert_eq!(write(&scope, "dangling"), Ok(Replaced::Created));
    assert_eq!(write(&scope, "dangling_out"), refused("Outside"));
    assert_eq!(write(&scope, "near"), Ok(Replaced::Replaced));
    assert!(world.at("w/near").is_symlink());
    assert!(world.at("w/new.txt").is_file());
    assert_eq!(fs::read(world.at("outside/out.txt")).unwrap(), b"outside");
}

#[test]
fn a_denied_root_wins_under_every_name() {
    let world = World::new();
    fs::create_dir(world.at("w/keep")).unwrap();
    fs::write(world.at("w/keep/k"), "kept").unwrap();
    fs::write(world.at("w/secret"), "secret").unwrap();
    fs::hard_link(world.at("w/secret"), world.at("w/other_name")).unwrap();
    symlink("keep", world.at("w/link")).unwrap();
    let scope = world.scope(
        &ScopeDecl {
            allow: vec![Root::write("."), Root::write("keep")],
            deny: vec![
                Root::write("keep").declared_at("pod.toml:7"),
                Root::read("secret"),
                Root::read("later/deep"),
            ],
            ..ScopeDecl::default()
        },
        &[],
    );
    assert_eq!(read(&scope, "keep/k"), Ok("kept".to_owned()));
    for path in ["keep/k", "keep/new", "link/k", "sub/../link/new"] {
        assert_eq!(write(&scope, path), refused("Denied"), "{path}");
    }
    for path in ["secret", "other_name", "secret/x"] {
        assert_eq!(read(&scope, path), refused("Denied"), "{path}");
        assert_eq!(write(&scope, path), refused("Denied"), "{path}");
    }
    // Moved away, it is still itself; what takes its place is denied as well.
    fs::rename(world.at("w/keep"), world.at("w/moved")).unwrap();
    fs::create_dir(world.at("w/keep")).unwrap();
    assert_eq!(write(&scope, "moved/k"), refused("Denied"));
    assert_eq!(write(&scope, "keep/k"), refused("Denied"));
    // What does not exist yet is denied when it does.
    assert!(scope.create_parents(Path::new("later/x")).is_ok());
    assert_eq!(
        name(&scope.create_parents(Path::new("later/deep/x")).unwrap_err()),
        "Denied"
    );
    let error = scope.replace_file(Path::new("keep/x"), b"").unwrap_err();
    let path = world.at("w/keep");
    assert_eq!(
        error.to_string(),
        format!(
            "`keep/x` may not be written: the scope denies `{}` (pod.toml:7)",
            path.display()
        )
    );
}

#[test]
fn nothing_is_given_beyond_the_roots_of_a_pod_above() {
    let world = World::new();
    fs::create_dir_all(world.at("w/in/deep")).unwrap();
    fs::create_dir_all(world.at("w/beside")).unwrap();
    for name in ["w/in/f", "w/in/deep/f", "w/beside/f", "w/f"] {
        fs::write(world.at(name), "text").unwrap();
    }
    let open = |own: Vec<Root>, above: Vec<Root>| {
        let decl = |allow| ScopeDecl {
            allow,
            ..ScopeDecl::default()
        };
        let (workspace, temp) = (world.at("w"), world.at("temp"));
        fs::create_dir_all(&temp).unwrap();
        let above = Scope::open(&decl(above), &workspace, &temp, &[]).unwrap();
        Scope::open_within(&decl(own), &above.granted(), &workspace, &temp, &[]).unwrap()
    };
    // What is declared, what is declared above, and what becomes of `w/in/deep/f`, `w/beside/f` and `w/f`.
    let (read, write) = (Root::read, Root::write);
    for (own, above, expected) in [
        (vec![], vec![], "www"),
        (vec![], vec![write("in")], "w--"),
        (vec![write("in")], vec![], "w--"),
        (vec![write("in/deep")], vec![read("in")], "r--"),
        (vec![read("in")], vec![write("in/deep")], "r--"),
        (vec![write(".")], vec![read("."), write("in")], "wrr"),
        (vec![write("in")], vec![write("beside")], "---"),
        (vec![write("/")], vec![write("in"), read("beside")], "wr-"),
    ] {
        let scope = open(own.clone(), above.clone());
        let right = |path: &str| match (self::read(&scope, path), self::write(&scope, path)) {
            (Ok(_), Ok(_)) => 'w',
            (Ok(_), Err(_)) => 'r',
            (Err(_), _) => '-',
        };
        let got: String = ["in/deep/f", "beside/f", "f"].map(right).iter().collect();
        assert_eq!(got, expected, "{own:?} within {above:?}");
    }
}

#[test]
fn what_is_podwards_own_is_protected_from_every_declaration() {
    let world = World::new();
    fs::create_dir_all(world.at("w/.podward")).unwrap();
    fs::create_dir_all(world.at("w/state")).unwrap();
    fs::write(world.at("w/.podward/grants"), "g").unwrap();
    fs::write(world.at("w/state/log"), "l").unwrap();
    let protected = [
        Protected::read_only(".podward"),
        Protected::hidden(world.at("w/state")),
    ];
    let decl = ScopeDecl {
        allow: vec![Root::write("."), Root::write(".podward"), Root::write("/")],
        ..ScopeDecl::default()
    };
    let scope = world.scope(&decl, &protected);
    assert_eq!(read(&scope, ".podward/grants"), Ok("g".to_owned()));
    assert_eq!(write(&scope, ".podward/grants"), refused("Denied"));
    assert_eq!(write(&scope, ".podward/new"), refused("Denied"));
    assert_eq!(read(&scope, "state/log"), refused("Denied"));
    assert_eq!(read(&scope, "state/../in.txt"), refused("Denied"));
}

#[test]
fn only_regular_files_are_opened_and_nothing_blocks() {
    let world = World::new();
    let fifo = world.at("w/fifo");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &fifo,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o666),
        0,
    )
    .unwrap();
    let scope = world.scope(&ScopeDecl::default(), &[]);
    for path in [fifo.as_path(), Path::new("/dev/zero"), Path::new("sub")] {
        assert_eq!(read(&scope, path), refused("WrongKind"), "{path:?}");
    }
    assert_eq!(write(&scope, &fifo), refused("WrongKind"));
    assert_eq!(write(&scope, "sub"), refused("WrongKind"));
    assert_eq!(read(&scope, "in.txt/x"), refused("WrongKind"));
    assert_eq!(read(&scope, ""), refused("NotAPath"));
    assert_eq!(read(&scope, "a\0b"), refused("NotAPath"));
    assert_eq!(read(&scope, "n".repeat(300)), refused("Io"));
}

#[test]
fn a_replaced_file_keeps_its_mode_and_leaves_nothing_beside_it() {
    let world = World::new();
    let scope = world.strict();
    let path = world.at("w/in.txt");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o4751)).unwrap();
    assert_eq!(write(&scope, "in.txt"), Ok(Replaced::Replaced));
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o751);
    let names: Vec<_> = scope
        .read_dir(Path::new("."))
        .unwrap()
        .into_iter()
        .map(|entry| (entry.name.into_string().unwrap(), entry.kind))
        .collect();
    assert_eq!(
        names,
        [
            ("in.txt".to_owned(), Kind::File),
            ("sub".to_owned(), Kind::Directory)
        ]
    );
}

#[test]
fn missing_directories_are_made_only_where_writing_is_granted() {
    let world = World::new();
    symlink("../outside", world.at("w/escape")).unwrap();
    let scope = world.strict();
    scope.create_parents(Path::new("a/b/../c/file")).unwrap();
    assert!(world.at("w/a/b").is_dir() && world.at("w/a/c").is_dir());
    for path in ["escape/a/file", "../a/file", "/nowhere/a/file"] {
        let error = scope.create_parents(Path::new(path)).unwrap_err();
        assert_eq!(name(&error), "Outside", "{path}");
    }
    let error = scope
        .create_parents(Path::new("in.txt/a/file"))
        .unwrap_err();
    assert_eq!(name(&error), "WrongKind");
    assert!(!world.at("outside/a").exists());
}

#[test]
fn an_unusable_root_refuses_to_open() {
    let world = World::new();
    symlink("nowhere", world.at("w/dangling")).unwrap();
    for (allow, deny) in [
        (vec![Root::write("none")], vec![]),
        (vec![Root::read("in.txt").declared_at("pod.toml:3")], vec![]),
        (vec![], vec![Root::read("dangling")]),
        (vec![], vec![Root::read("none/../x")]),
        (vec![], vec![Root::write("../temp")]),
    ] {
        let decl = ScopeDecl {
            allow,
            deny,
            ..ScopeDecl::default()
        };
        let error = Scope::open(&decl, &world.at("w"), &world.at("temp"), &[]).unwrap_err();
        assert_eq!(name(&error), "UnusableRoot", "{decl:?}");
    }
}

/// Runs `flip` again and again on another thread while `check` runs many times.
fn race(flip: impl Fn() + Sync, mut check: impl FnMut()) {
    let stop = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                flip();
            }
        });
        // Stops the other thread also when a check fails.
        let _stopper = Stopper(&stop);
        for _ in 0..3000 {
            check();
        }
    });
}

struct Stopper<'a>(&'a AtomicBool);

impl Drop for Stopper<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Exchanges two names, in one step.
fn exchange(one: &Path, other: &Path) {
    let flags = rustix::fs::RenameFlags::EXCHANGE;
    let cwd = rustix::fs::CWD;
    rustix::fs::renameat_with(cwd, one, cwd, other, flags).unwrap();
}

#[test]
fn a_link_that_flips_while_it_is_opened_never_leads_out() {
    let world = World::new();
    fs::write(world.at("w/sub/out.txt"), "inside").unwrap();
    symlink("sub", world.at("w/flip")).unwrap();
    symlink("../outside", world.at("w/flop")).unwrap();
    let scope = world.strict();
    let (one, other) = (world.at("w/flip"), world.at("w/flop"));
    race(
        || exchange(&one, &other),
        || {
            match read(&scope, "flip/out.txt") {
                Ok(text) => assert!(text == "inside" || text == "new", "{text}"),
                Err(error) => assert_eq!(error, "Outside"),
            }
            match write(&scope, "flip/out.txt") {
                Ok(done) => assert_eq!(done, Replaced::Replaced),
                Err(error) => assert_eq!(error, "Outside"),
            }
        },
    );
    assert_eq!(fs::read(world.at("outside/out.txt")).unwrap(), b"outside");
}

#[test]
fn a_directory_that_becomes_a_link_while_it_is_opened_never_leads_out() {
    let world = World::new();
    fs::write(world.at("w/sub/out.txt"), "inside").unwrap();
    symlink("../outside", world.at("w/flop")).unwrap();
    let scope = world.strict();
    let (one, other) = (world.at("w/sub"), world.at("w/flop"));
    race(
        || exchange(&one, &other),
        || {
            match read(&scope, "sub/out.txt") {
                Ok(text) => assert!(text == "inside" || text == "new", "{text}"),
                Err(error) => assert_eq!(error, "Outside"),
            }
            let _ = write(&scope, "sub/out.txt");
            let _ = scope.create_parents(Path::new("sub/made/x"));
        },
    );
    assert_eq!(fs::read(world.at("outside/out.txt")).unwrap(), b"outside");
    assert!(!world.at("outside/made").exists());
}

#[test]
fn a_file_that_becomes_a_link_or_a_pipe_while_it_is_opened_never_leads_out_nor_blocks() {
    let world = World::new();
    symlink("../outside/out.txt", world.at("w/link")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        world.at("w/pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o666),
        0,
    )
    .unwrap();
    let scope = world.strict();
    for other in ["w/link", "w/pipe"] {
        let (one, other) = (world.at("w/in.txt"), world.at(other));
        race(
            || exchange(&one, &other),
            || {
                if let Ok(text) = read(&scope, "in.txt") {
                    assert_eq!(text, "inside");
                }
            },
        );
    }
}

#[test]
fn a_scope_that_refuses_links_reaches_the_very_path_or_nothing() {
    let world = World::new();
    let scope = world.strict().refusing_links();
    symlink("sub", world.at("w/dir_link")).unwrap();
    symlink("in.txt", world.at("w/file_link")).unwrap();
    for path in ["file_link", "dir_link/deep.txt", "dir_link/new.txt"] {
        let at = world.at("w").join(path);
        assert!(
            matches!(scope.read_file(&at), Err(ScopeError::LinkOnTheWay { .. })),
            "read {path}"
        );
        assert!(
            matches!(
                scope.replace_file(&at, b"x"),
                Err(ScopeError::LinkOnTheWay { .. })
            ),
            "write {path}"
        );
        assert!(
            matches!(
                scope.create_parents(&at.join("below/file")),
                Err(ScopeError::LinkOnTheWay { .. })
            ),
            "make {path}"
        );
    }
    assert_eq!(fs::read_to_string(world.at("w/in.txt")).unwrap(), "inside");
    assert_eq!(read(&scope, world.at("w/sub/deep.txt")).unwrap(), "deep");
}

/// Paths of a world with all that can be in the way of one.
const PATHS: [&str; 15] = [
    "w/in.txt",
    "w/none",
    "w/sub",
    "w/sub/none/deep",
    "w/in.txt/x",
    "w/locked/a",
    "w/locked/none/b",
    "w/hidden/a",
    "w/hidden/none",
    "w/../outside/out.txt",
    "outside/none/x",
    "outside/out.txt/x",
    "w/link",
    "w/own/../in.txt",
    "w/read-only.txt",
];

/// A world with a scope that gives and denies.
fn denying() -> (World, Scope) {
    let world = World::new();
    for name in ["w/locked", "w/hidden"] {
        fs::create_dir_all(world.at(name)).unwrap();
        fs::write(world.at(name).join("a"), "a").unwrap();
    }
    symlink("in.txt", world.at("w/link")).unwrap();
    fs::write(world.at("w/read-only.txt"), "r").unwrap();
    let mode = fs::Permissions::from_mode(0o400);
    fs::set_permissions(world.at("w/read-only.txt"), mode).unwrap();
    let decl = ScopeDecl {
        deny: vec![Root::write("locked"), Root::read("hidden")],
        ..ScopeDecl::default()
    };
    let own = [Protected::hidden(world.at("w/own"))];
    let scope = world.scope(&decl, &own).refusing_links();
    (world, scope)
}

/// What the text of a path decides is decided: nothing on disk changes it.
#[test]
fn what_the_roots_refuse_by_text_is_refused() {
    let (world, scope) = denying();
    let mut refused = Vec::new();
    for path in PATHS {
        let path_at = world.at(path);
        if let Err(error) = scope.check(&path_at, Access::Read) {
            refused.push(format!("read {path}: {}", name(&error)));
            assert!(read(&scope, &path_at).is_err(), "{path}");
        }
        if let Err(error) = scope.check(&path_at, Access::Write) {
            refused.push(format!("write {path}: {}", name(&error)));
            let made = scope.create_parents(&path_at).map_err(|error| name(&error));
            assert!(
                made.and_then(|()| write(&scope, &path_at)).is_err(),
                "{path}"
            );
        }
    }
    assert_eq!(
        refused,
        [
            "write w/locked/a: Denied",
            "write w/locked/none/b: Denied",
            "read w/hidden/a: Denied",
            "write w/hidden/a: Denied",
            "read w/hidden/none: Denied",
            "write w/hidden/none: Denied",
            "write w/../outside/out.txt: Outside",
            "write outside/none/x: Outside",
            "write outside/out.txt/x: Outside",
        ]
    );
}

/// In its very words, but for what cannot be known before.
#[test]
fn a_look_before_a_write_says_what_the_write_says() {
    let (world, scope) = denying();
    for path in PATHS {
        let path_at = world.at(path);
        let said = scope
            .check_replace(&path_at)
            .map_err(|error| error.to_string());
        let written = scope.replace_file(&path_at, b"new");
        let written = match written {
            Err(ScopeError::Missing { .. }) => Ok(()),
            written => written.map(drop).map_err(|error| error.to_string()),
        };
        assert_eq!(said, written, "{path}");
    }
    assert!(!world.at("w/locked/none").exists() && !world.at("outside/none").exists());
}
