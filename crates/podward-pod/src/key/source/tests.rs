use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use podward_manifest::VariableName;
use podward_policy::Location;
use podward_scope::ScopeDecl;
use tempfile::TempDir;

use super::*;

struct World {
    directory: TempDir,
    places: Places,
}

impl World {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let places = Places::below(directory.path());
        Self { directory, places }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>, mode: u32) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        path
    }

    /// The key, or the error without the directory of this test.
    fn fetch(&self, source: KeySource, timeout: Duration) -> Result<String, String> {
        let key = Key {
            source,
            location: here(),
        };
        let variables: Vec<_> = std::env::vars_os().collect();
        let ground = Ground {
            places: &self.places,
            variables: &variables,
            writable: self.writable(),
            under: None,
            timeout,
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let here = self.directory.path().to_str().unwrap();
        runtime
            .block_on(fetch(&key, &ground, None))
            .map(|key| key.reveal().to_owned())
            .map_err(|error| error.to_string().replace(here, "HERE"))
    }

    /// Tools can write in `work`.
    fn writable(&self) -> Writable {
        Writable::of(&ScopeDecl::default(), &self.path("work"), &[])
    }

    fn file(&self, path: PathBuf) -> Result<String, String> {
        self.fetch(KeySource::File(path), COMMAND_TIMEOUT)
    }

    fn command(&self, argv: &[&str]) -> Result<String, String> {
        let command = KeyCommand {
            argv: argv.iter().map(|word| (*word).to_owned()).collect(),
            directory: self.directory.path().to_owned(),
            location: here(),
        };
        self.fetch(KeySource::Command(command), COMMAND_TIMEOUT)
    }
}

fn here() -> Location {
    Location {
        file: "pod.toml".into(),
        line: 4,
        column: 1,
    }
}

fn err(text: &str) -> Result<String, String> {
    Err(text.to_owned())
}

#[test]
fn a_file_that_is_private_holds_a_key() {
    let world = World::new();
    for mode in [0o600, 0o400, 0o700] {
        let path = world.write("key", "  sk-0123456789\n", mode);
        assert_eq!(world.file(path), Ok("sk-0123456789".to_owned()), "{mode:o}");
    }
}

#[test]
fn a_file_that_others_could_read_holds_none() {
    let world = World::new();
    for mode in [0o640, 0o604, 0o644, 0o610] {
        let path = world.write("key", "sk-0123456789", mode);
        let expected = format!("`HERE/key` can be read by others (mode {mode:04o})");
        assert_eq!(world.file(path), Err(expected));
    }
    let path = world.write("key", "sk-0123456789", 0o666);
    assert_eq!(
        world.file(path),
        err("`HERE/key` can be written by others (mode 0666)")
    );
    assert_eq!(
        world.file(world.path("absent")),
        err("the file `HERE/absent`, in which the model's key should be, does not exist")
    );
    assert_eq!(
        world.file(world.directory.path().into()),
        err("`HERE` is a directory")
    );
}

#[test]
fn a_file_with_two_names_holds_none_since_tools_could_read_it_by_the_other() {
    let world = World::new();
    let path = world.write("key", "sk-0123456789", 0o600);
    fs::hard_link(&path, world.path("other")).unwrap();
    assert_eq!(
        world.file(path.clone()),
        err("`HERE/key` has more than one name (hard links)")
    );
    fs::remove_file(world.path("other")).unwrap();
    assert_eq!(world.file(path), Ok("sk-0123456789".to_owned()));
}

#[test]
fn what_is_no_key_is_refused() {
    let world = World::new();
    for (text, state) in [
        (&b""[..], "empty"),
        (b" \n", "empty"),
        (b"\xff\xff", "not UTF-8"),
        (b"one\ntwo\n", "more than one line"),
        (b"two words", "no key: it has a character that no key has"),
        (
            "schlüssel".as_bytes(),
            "no key: it has a character that no key has",
        ),
        (&[b'x'; 70_000], "too long"),
    ] {
        let path = world.write("key", text, 0o600);
        let expected = format!("the key in the file `HERE/key` is {state}");
        assert_eq!(world.file(path), Err(expected));
    }
}

#[test]
fn a_command_prints_a_key() {
    let world = World::new();
    let ok = Ok("sk-0123456789".to_owned());
    assert_eq!(world.command(&["echo", "sk-0123456789"]), ok);
    // It starts in the layer's directory, with an empty standard input.
    world.write("key", "sk-0123456789", 0o600);
    assert_eq!(world.command(&["cat", "key", "-"]), ok);
    world.write("script", "#!/bin/sh\necho sk-$1\n", 0o700);
    let script = world.path("script");
    assert_eq!(world.command(&[script.to_str().unwrap(), "0123456789"]), ok);
}

#[test]
fn what_a_command_leaves_running_is_not_waited_for() {
    let world = World::new();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, world.path("fifo"), mode).unwrap();
    let line = "(read end < fifo) & echo sk-0123456789";
    assert_eq!(
        world.command(&["sh", "-c", line]),
        Ok("sk-0123456789".to_owned())
    );
    // It ends now.
    fs::write(world.path("fifo"), "\n").unwrap();
}

#[test]
fn a_command_that_fails_says_why() {
    let world = World::new();
    assert_eq!(
        world.command(&[
            "sh",
            "-c",
            "echo sk-0123456789; echo \"no such item\u{1b}[2J\" >&2; exit 3"
        ]),
        err(
            "the command that prints the model's key, `sh`, ended with exit code 3 and said:\nno such item\\u{1b}[2J"
        )
    );
    assert_eq!(
        world.command(&["sh", "-c", "kill -9 $$"]),
        err("the command that prints the model's key, `sh`, was killed")
    );
    assert_eq!(
        world.command(&["no-such-program-at-all"]),
        err(
            "the command that prints the model's key, `no-such-program-at-all` (pod.toml:4:1), cannot be used: \
             there is no program `no-such-program-at-all` along the `PATH`"
        )
    );
    assert_eq!(
        world.command(&["true"]),
        err("the key in the output of `true` is empty")
    );
}

#[test]
fn a_command_has_bounds() {
    let world = World::new();
    assert_eq!(
        world.command(&[
            "sh",
            "-c",
            "yes x | head -c 3000000; yes y | head -c 3000000 >&2"
        ]),
        err("the key in the output of `sh` is too long")
    );
    let command = KeyCommand {
        argv: ["sleep", "1000"].map(str::to_owned).to_vec(),
        directory: world.directory.path().to_owned(),
        location: here(),
    };
    assert_eq!(
        world.fetch(KeySource::Command(command), Duration::from_millis(1)),
        err("the command that prints the model's key, `sleep`, did not end within 1ms")
    );
}

#[test]
fn a_variable_that_is_not_set_holds_no_key() {
    let world = World::new();
    let variable = VariableName::new("SOME_KEY").unwrap();
    assert_eq!(
        world.fetch(KeySource::Variable(variable), COMMAND_TIMEOUT),
        err("the variable `SOME_KEY`, in which the model's key should be, is not set")
    );
}
