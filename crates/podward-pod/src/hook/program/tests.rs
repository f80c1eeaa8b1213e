use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use podward_manifest::{LayerKind, LayerSource, Surroundings as Known, Trust, resolve};
use podward_scope::ScopeDecl;
use tempfile::TempDir;

use super::*;

/// A directory `m` with the manifest, the workspace `w`, and `bin` along the `PATH`.
struct World {
    _directory: TempDir,
    root: PathBuf,
}

impl World {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        for name in ["m", "w", "bin"] {
            fs::create_dir(root.join(name)).unwrap();
        }
        let world = Self {
            _directory: directory,
            root,
        };
        world.file("bin/guard", 0o755);
        world.file("bin/python3.11", 0o755);
        world
    }

    fn file(&self, name: &str, mode: u32) -> PathBuf {
        let path = self.root.join(name);
        fs::write(&path, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    fn find(&self, command: &[&str]) -> Result<Program, String> {
        let layer = LayerSource {
            kind: LayerKind::Manifest,
            file: "pod.toml".into(),
            directory: self.root.join("m"),
            text: format!("[[hook]]\nevent = \"turn_end\"\ncommand = {command:?}\n"),
            trust: Trust::Trusted,
        };
        let resolved = resolve(&[layer], &Known::default()).unwrap_or_else(|e| panic!("{e}"));
        let bin = self.root.join("bin");
        let surroundings = Surroundings {
            directory: &self.root.join("w"),
            path: bin.as_os_str(),
            accounts: &Accounts::default(),
            writable: &Writable::of(&ScopeDecl::default(), &self.root.join("w"), &[]),
        };
        find(&resolved.hooks[0], surroundings).map_err(|problem| {
            let text = match problem.help() {
                Some(help) => format!("{problem} ({help})"),
                None => problem.to_string(),
            };
            text.replace(self.root.to_str().unwrap(), "")
        })
    }

    /// The files that would be protected.
    fn files(&self, command: &[&str]) -> Vec<String> {
        let found = self.find(command).unwrap_or_else(|error| panic!("{error}"));
        let files = found.files.iter();
        files
            .map(|file| file.strip_prefix(&self.root).unwrap().display().to_string())
            .collect()
    }
}

#[test]
fn a_name_is_looked_for_along_the_path_and_a_path_at_the_manifest() {
    let world = World::new();
    world.file("m/check", 0o755);
    world.file("w/check", 0o755);
    assert_eq!(world.files(&["guard"]), ["bin/guard"]);
    assert_eq!(world.files(&["./check"]), ["m/check"]);
    assert_eq!(world.files(&["../w/check"])[1], "w/check");
    let absolute = world.root.join("w/check");
    assert_eq!(world.files(&[absolute.to_str().unwrap()]), ["w/check"]);
}

#[test]
fn files_among_the_arguments_are_found() {
    let world = World::new();
    world.file("m/a.py", 0o644);
    world.file("w/b.py", 0o644);
    world.file("w/c", 0o644);
    fs::create_dir(world.root.join("w/d")).unwrap();
    assert_eq!(
        world.files(&["guard", "./a.py", "c", "d", "-x", "none", "./none"]),
        ["bin/guard", "m/a.py", "w/c"]
    );
    assert_eq!(
        world.files(&["python3.11", "-u", "b.py"]),
        ["bin/python3.11", "w/b.py"]
    );
}

#[test]
fn both_names_of_a_link_are_kept() {
    let world = World::new();
    let real = world.file("bin/real", 0o755);
    std::os::unix::fs::symlink(&real, world.root.join("m/link")).unwrap();
    assert_eq!(world.files(&["./link"]), ["m/link", "bin/real"]);
}

#[test]
fn what_is_not_there_is_told_at_the_start() {
    let world = World::new();
    world.file("m/plain", 0o644);
    let cases: &[(&[&str], &str)] = &[
        (
            &["gaurd"],
            "the hook `gaurd` (pod.toml:1:1) cannot be used: there is no program `gaurd` along \
             the `PATH` (install it, or write its path: one that begins with `./` starts at the \
             directory of the file that names it. Directories in which tools can write are left \
             out of the `PATH`)",
        ),
        (
            &["./plain"],
            "the hook `plain` (pod.toml:1:1) cannot be used: `/m/plain` is not executable \
             (`chmod +x /m/plain`)",
        ),
        (
            &["python3.11", "b.py"],
            "the hook `python3.11` (pod.toml:1:1) cannot be used: there is no file `/w/b.py` (a \
             script in an argument of a hook starts at the workspace, unless it is written with `./`, \
             `../`, `~/` or `/` in front; one of a `key_command`, at the directory of the file that names it)",
        ),
        (
            &["../m"],
            "the hook `m` (pod.toml:1:1) cannot be used: `/m` is a directory",
        ),
    ];
    for (command, said) in cases {
        assert_eq!(&world.find(command).unwrap_err(), said);
    }
    let said = world.find(&["./missing"]).unwrap_err();
    assert!(said.contains("no file `/m/missing` (a program"), "{said}");
    // What follows an option that takes a value cannot be told from code.
    for command in [["python3.11", "-c", "x"], ["python3.11", "--check", "x"]] {
        assert!(world.find(&command).is_ok(), "{command:?}");
    }
}

#[test]
fn a_link_that_tools_could_replace_is_not_followed() {
    let world = World::new();
    let link = |target: &str, name: &str| {
        std::os::unix::fs::symlink(world.root.join(target), world.root.join(name)).unwrap();
    };
    fs::create_dir(world.root.join("w/.venv")).unwrap();
    link("bin/guard", "w/.venv/python");
    link("bin", "w/hooks");
    link("w/hooks", "m/hooks");
    for command in [
        &["../w/.venv/python"][..],
        &["../w/hooks/guard"],
        &["./hooks/guard"],
        &["guard", "hooks/guard"],
    ] {
        let said = world.find(command).unwrap_err();
        assert!(said.contains("tools could make the symlink `/w/"), "{said}");
        assert!(
            said.contains("name the file itself, `/bin/guard`"),
            "{said}"
        );
    }
}

#[test]
fn a_script_that_is_not_there_yet_starts_no_pod() {
    let world = World::new();
    for command in [
        &["python3.11", "-W", "error", "none"][..],
        &["guard", "none.py"],
        &["guard", "--with", "../w/none.sh"],
    ] {
        let said = world.find(command).unwrap_err();
        assert!(said.contains("there is no file `/"), "{said}");
    }
    // Where tools cannot write, and what no script is called.
    assert!(world.find(&["guard", "./none.py", "none.log"]).is_ok());
}

#[test]
fn what_others_could_have_written_is_not_used() {
    let world = World::new();
    world.file("m/open", 0o757);
    world.file("w/script.sh", 0o666);
    assert_eq!(
        world.find(&["./open"]).unwrap_err(),
        "the hook `open` (pod.toml:1:1) cannot be used: `/m/open` can be written by others (mode \
         0757) (what may be done to it decides what an agent may do: `chmod go-w /m/open`)"
    );
    let said = world.find(&["guard", "script.sh"]).unwrap_err();
    assert!(
        said.contains("`/w/script.sh` can be written by others"),
        "{said}"
    );
    fs::create_dir(world.root.join("m/shared")).unwrap();
    world.file("m/shared/x", 0o755);
    let mode = fs::Permissions::from_mode(0o777);
    fs::set_permissions(world.root.join("m/shared"), mode).unwrap();
    let said = world.find(&["./shared/x"]).unwrap_err();
    assert!(
        said.contains("`/m/shared` can be written by others"),
        "{said}"
    );
}
