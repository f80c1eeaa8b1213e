use std::fs;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;

use tempfile::TempDir;

use super::*;
use crate::pipe::KEPT_ERROR_BYTES;

const LONG: Duration = Duration::from_secs(120);
const SHORT: Duration = Duration::from_millis(100);

struct World {
    directory: TempDir,
}

impl World {
    fn new() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.directory.path().join(name)
    }

    fn fifo(&self, name: &str) -> std::path::PathBuf {
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mkfifoat(rustix::fs::CWD, self.path(name), mode).unwrap();
        self.path(name)
    }

    async fn program(
        &self,
        program: &str,
        arguments: &[&str],
        timeout: Duration,
        input: &[u8],
    ) -> Result<Output, String> {
        let arguments: Vec<_> = arguments.iter().map(OsString::from).collect();
        let launch = Launch {
            program: Path::new(program),
            arguments: &arguments,
            directory: self.directory.path(),
            environment: vec![
                ("PATH".into(), "/usr/bin:/bin".into()),
                ("MINE".into(), "1".into()),
            ],
            timeout,
        };
        run(&launch, input).await.map_err(|error| error.to_string())
    }

    async fn shell(&self, text: &str, timeout: Duration, input: &[u8]) -> Result<Output, String> {
        self.program("/bin/sh", &["-c", text], timeout, input).await
    }

    /// What a shell that ends well writes to its standard output.
    async fn says(&self, text: &str) -> String {
        let output = self.shell(text, LONG, b"").await.unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    async fn fails(&self, text: &str) -> String {
        self.shell(text, LONG, b"").await.unwrap_err()
    }
}

/// Reads a named pipe until the last process that has it open for writing has ended.
fn read_to_the_end(fifo: &Path) -> std::thread::JoinHandle<String> {
    let fifo = fifo.to_owned();
    std::thread::spawn(move || {
        let mut text = String::new();
        fs::File::open(fifo)
            .unwrap()
            .read_to_string(&mut text)
            .unwrap();
        text
    })
}

#[tokio::test]
async fn input_goes_in_and_output_comes_out() {
    let world = World::new();
    let output = world.shell("cat; echo oops >&2", LONG, b"{}\n").await;
    let expected = Output {
        stdout: b"{}\n".to_vec(),
        stderr: "oops".into(),
    };
    assert_eq!(output, Ok(expected));
    let seen = world.says("pwd; printenv | grep -v -e _= -e PWD=").await;
    let directory = world.directory.path().canonicalize().unwrap();
    assert_eq!(
        seen,
        format!("{}\nMINE=1\nPATH=/usr/bin:/bin\n", directory.display())
    );
}

#[tokio::test]
async fn input_that_nobody_reads_is_no_failure() {
    let world = World::new();
    let input = vec![b'x'; 4 * 1024 * 1024];
    for text in [
        "exit 0",
        "exec <&-; echo",
        "head -c 1 >/dev/null",
        "true < /dev/null",
    ] {
        let output = world.shell(text, LONG, &input).await;
        assert!(output.is_ok(), "{text}: {output:?}");
    }
    let output = world.shell("wc -c", LONG, &input).await.unwrap();
    assert_eq!(output.stdout.trim_ascii(), b"4194304");
}

#[tokio::test]
async fn how_it_ended_is_told_with_what_it_wrote() {
    let world = World::new();
    assert_eq!(world.fails("exit 1").await, "it exited with code 1");
    assert_eq!(
        world
            .fails("echo ignored; echo 'no  such thing' >&2; exit 2")
            .await,
        "it exited with code 2: no  such thing"
    );
    assert_eq!(world.fails("kill -9 $$").await, "it was ended by signal 9");
    let end = world
        .fails("seq 100000 >&2; echo the end >&2; exit 3")
        .await;
    assert!(end.starts_with("it exited with code 3: …"), "{end}");
    assert!(end.ends_with("\n100000\nthe end"), "{end}");
    assert!(end.len() < KEPT_ERROR_BYTES + 100, "{}", end.len());
}

#[tokio::test]
async fn what_cannot_be_started_is_told() {
    let world = World::new();
    let missing = world.path("missing");
    let plain = world.path("plain");
    fs::write(&plain, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&plain, fs::Permissions::from_mode(0o644)).unwrap();
    for (program, why) in [(missing, "No such file"), (plain, "Permission denied")] {
        let program = program.to_str().unwrap();
        let said = world.program(program, &[], LONG, b"").await.unwrap_err();
        assert!(said.starts_with("it cannot be started: "), "{said}");
        assert!(said.contains(why), "{said}");
    }
}

#[tokio::test]
async fn endless_output_ends() {
    let world = World::new();
    let too_much = "it wrote more than 65536 bytes and was killed";
    assert_eq!(world.fails("yes").await, too_much);
    assert_eq!(world.fails("head -c 65537 /dev/zero").await, too_much);
    assert_eq!(world.says("head -c 65536 /dev/zero").await.len(), 65536);
    // Standard error is only kept in part.
    assert!(
        world
            .shell("yes | head -c 10000000 >&2", LONG, b"")
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn what_takes_too_long_is_killed_with_its_group() {
    let world = World::new();
    let ended = read_to_the_end(&world.fifo("pipe"));
    let text = "exec 3> pipe; sleep 1000 & echo why it waits >&2; trap '' TERM; sleep 1000";
    let said = world.shell(text, SHORT, b"").await.unwrap_err();
    assert!(
        said.starts_with("it did not end within 100ms and was killed"),
        "{said}"
    );
    // Returns when the last process that has the pipe open is gone.
    assert_eq!(ended.join().unwrap(), "");
}

#[tokio::test]
async fn a_child_that_holds_the_output_open_is_not_waited_for() {
    let world = World::new();
    let ended = read_to_the_end(&world.fifo("pipe"));
    assert_eq!(
        world.says("exec 3> pipe; sleep 1000 & echo done").await,
        "done\n"
    );
    assert_eq!(ended.join().unwrap(), "", "its process group is killed");
}

#[tokio::test]
async fn a_child_of_another_group_is_not_waited_for_either() {
    let world = World::new();
    let (pipe, go) = (world.fifo("pipe"), world.fifo("go"));
    world.fifo("moved");
    let ended = read_to_the_end(&pipe);
    // It has stdout and stderr of the hook, in a session of its own, and lives on.
    let text = "exec 3> pipe; setsid sh -c 'echo > moved; read x < go; echo $x >&3' & \
                read y < moved; echo done";
    assert_eq!(world.says(text).await, "done\n");
    fs::write(go, "alive\n").unwrap();
    assert_eq!(ended.join().unwrap(), "alive\n");
}

#[tokio::test]
async fn dropping_the_future_kills_the_group() {
    let world = World::new();
    let ended = read_to_the_end(&world.fifo("pipe"));
    let running = world.fifo("running");
    let said = tokio::task::spawn_blocking(move || fs::read_to_string(running));
    let text = "exec 3> pipe; sleep 1000 & echo yes > running; wait";
    tokio::select! {
        output = world.shell(text, LONG, b"") => panic!("{output:?}"),
        said = said => assert_eq!(said.unwrap().unwrap(), "yes\n"),
    }
    assert_eq!(ended.join().unwrap(), "");
}
