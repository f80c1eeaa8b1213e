//! What the `bash` tool does, shown with real processes.
//!
//! This binary is its own helper, as podward is: `main` begins with `confine_main`.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "all of this is a test, though without the harness that clippy knows"
)]

use std::ffi::OsString;
use std::fs;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use libtest_mimic::{Arguments, Trial};
use podward_gate::{Call, CallFacts, CallId, Gate, Permit, Settled, Submitted};
use podward_policy::{Lowered, Policies, ToolName};
use podward_scope::{Helper, Protected, Scope, ScopeDecl, confine_main};
use podward_tools::{
    NoChildren, NoSkills, Place, Registry, RunContext, ToolLimits, ToolOutput, Unjudged, find_bash,
};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

fn main() -> ExitCode {
    if let Some(code) = confine_main(std::env::args_os()) {
        return code;
    }
    let trials = TRIALS
        .iter()
        .map(|(name, trial)| {
            Trial::test(*name, || {
                trial();
                Ok(())
            })
        })
        .collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

macro_rules! named {
    ($($trial:ident),* $(,)?) => { [$((stringify!($trial), $trial as fn())),*] };
}

const TRIALS: &[(&str, fn())] = &named![
    the_output_and_the_exit_code_are_the_result,
    output_and_errors_come_in_order,
    standard_input_is_empty,
    long_output_is_cut_in_the_middle,
    broken_text_is_shown,
    the_environment_is_what_is_listed,
    nothing_is_kept_from_call_to_call,
    the_boundary_holds_for_every_program,
    background_processes_do_not_hold_the_call,
    a_call_that_takes_too_long_is_killed,
    a_cancelled_call_is_killed,
    a_dropped_call_is_killed,
    what_cannot_start_is_an_error,
    calls_run_side_by_side,
];

struct World {
    dir: TempDir,
    limits: ToolLimits,
    cancel: CancellationToken,
}

impl World {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        for name in ["w/.podward", "outside", "temp"] {
            fs::create_dir_all(dir.path().join(name)).unwrap();
        }
        fs::write(dir.path().join("w/.podward/grants"), "grants").unwrap();
        Self {
            dir,
            limits: ToolLimits::default(),
            cancel: CancellationToken::new(),
        }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(path)
    }

    fn context(&self) -> RunContext {
        let (workspace, temp) = (self.at("w"), self.at("temp"));
        let protected = [Protected::read_only(".podward")];
        let scope = Scope::open(&ScopeDecl::default(), &workspace, &temp, &protected)
            .unwrap()
            .confine(&Helper::this_program())
            .unwrap();
        let environment = [
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("HOME", "/nowhere"),
            ("BASH_ENV", "/etc/profile"),
            ("BASH_FUNC_ls%%", "() { echo hijacked; }"),
            ("TMPDIR", temp.to_str().unwrap()),
        ];
        RunContext {
            scope: Arc::new(scope),
            place: Place::new(workspace, None),
            limits: self.limits.clone(),
            policies: Policies::default(),
            environment: environment
                .map(|(name, value)| (OsString::from(name), OsString::from(value)))
                .to_vec(),
            keep: None,
            judge: Arc::new(Unjudged),
            skills: Arc::new(NoSkills),
            children: Arc::new(NoChildren),
            session: None,
            cancel: self.cancel.clone(),
        }
    }

    fn call(&self, arguments: Value) -> ToolOutput {
        run(async {
            let ctx = self.context();
            invoke(&ctx, arguments).await
        })
    }

    fn bash(&self, command: &str) -> ToolOutput {
        self.call(json!({ "command": command }))
    }

    /// A pipe of the workspace; what a command writes into it, `read_line` returns.
    fn pipe(&self) -> PathBuf {
        let path = self.at("w/pipe");
        mknodat(CWD, &path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        path
    }
}

async fn invoke(ctx: &RunContext, arguments: Value) -> ToolOutput {
    let proposal = Registry::built_in()
        .propose("bash", arguments, &ctx.place)
        .unwrap();
    proposal.invocation.run(permit(), ctx).await
}

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(work)
}

fn permit() -> Permit {
    let facts = CallFacts::new(
        CallId::new("call").unwrap(),
        ToolName::new("bash").unwrap(),
        "{}",
        Lowered::NothingToRun,
    );
    match Gate::new(Policies::default()).submit(Call::new(facts, ())) {
        Submitted::Settled(Settled::Run(permitted)) => permitted.release().0,
        _ => panic!("a gate without policies runs every call"),
    }
}

#[track_caller]
fn check(output: &ToolOutput, content: &str, is_error: bool) {
    let expected = ToolOutput {
        content: content.to_owned(),
        is_error,
    };
    assert_eq!(*output, expected);
}

fn the_output_and_the_exit_code_are_the_result() {
    let world = World::new();
    for (command, content, is_error) in [
        ("echo hello", "hello\n", false),
        ("printf hello", "hello", false),
        ("true", "[no output]\n", false),
        ("# nothing", "[no output]\n", false),
        ("printf hello; exit 3", "hello\n[exit code 3]\n", true),
        ("false", "[exit code 1]\n", true),
        ("kill -KILL $$", "[ended by signal 9 (SIGKILL)]\n", true),
        ("pwd -P | tail -c 3", "/w\n", false),
    ] {
        check(&world.bash(command), content, is_error);
    }
    let full = world.bash("echo x > /dev/full");
    assert!(
        full.is_error && full.content.contains("No space left"),
        "{}",
        full.content
    );
    let syntax = world.bash("if then");
    assert!(syntax.is_error && syntax.content.contains("syntax error"));
}

fn output_and_errors_come_in_order() {
    let world = World::new();
    let output = world.bash("for i in 1 2 3; do echo out $i; echo err $i >&2; done");
    check(&output, "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n", false);
}

fn standard_input_is_empty() {
    let world = World::new();
    check(&world.bash("cat; read x; echo $?"), "1\n", false);
}

fn long_output_is_cut_in_the_middle() {
    let mut world = World::new();
    world.limits.output_bytes = 20;
    let output = world.bash("for i in $(seq 100000); do echo $i; done");
    check(
        &output,
        "1\n2\n3\n4\n5\n[... 588875 bytes cut ...]\n99\n100000\n",
        false,
    );
}

fn broken_text_is_shown() {
    let world = World::new();
    check(&world.bash(r"printf 'a\xffb\0c'"), "a\u{fffd}b\0c", false);
}

fn the_environment_is_what_is_listed() {
    let world = World::new();
    let (temp, workspace) = (world.at("temp"), world.at("w"));
    let expected = format!(
        "HOME=/nowhere\nLC_ALL=C.UTF-8\nPATH=/usr/local/bin:/usr/bin:/bin\nPWD={}\n\
         TERM=dumb\nTMPDIR={}\n",
        workspace.display(),
        temp.display()
    );
    let output = world.bash("env | grep -v -e ^SHLVL= -e ^_= | sort");
    check(&output, &expected, false);
    check(&world.bash("type -t ls"), "file\n", false);
}

fn nothing_is_kept_from_call_to_call() {
    let world = World::new();
    world.bash("cd /; export X=1; alias ls=false; f() { :; }");
    check(
        &world.bash("echo \"$X\"; type -t f; pwd -P | tail -c 3"),
        "\n/w\n",
        false,
    );
}

fn the_boundary_holds_for_every_program() {
    let world = World::new();
    let outside = world.at("outside/new").display().to_string();
    for path in [".podward/grants", &outside] {
        let mut ways = vec![format!("echo x > {path}"), format!("cp /etc/passwd {path}")];
        if Path::new("/usr/bin/python3").exists() {
            ways.push(format!("/usr/bin/python3 -c \"open('{path}','w')\""));
        }
        for way in ways {
            let output = world.bash(&way);
            assert!(output.is_error, "{way}: {}", output.content);
        }
    }
    assert_eq!(fs::read(world.at("w/.podward/grants")).unwrap(), b"grants");
    assert!(!world.at("outside/new").exists());
    check(
        &world.bash("echo x > new && cat new && mktemp -u | grep -c temp"),
        "x\n1\n",
        false,
    );
}

fn background_processes_do_not_hold_the_call() {
    let world = World::new();
    let output = world.bash("sleep 1000 & setsid sleep 1000 & echo started");
    check(
        &output,
        "started\n[background processes do not outlive the call: 2 ended]\n",
        false,
    );
}

fn a_call_that_takes_too_long_is_killed() {
    let mut world = World::new();
    let output = world.call(json!({ "command": "sleep 1000 & sleep 1000", "timeout_ms": 300 }));
    let text = "[timed out after 300ms; killed with everything it started]\n";
    check(&output, text, true);
    world.limits.bash_timeout = Duration::from_millis(200);
    let output = world.call(json!({ "command": "sleep 1000", "timeout_ms": 100_000 }));
    let text = "[timed out after 200ms; killed with everything it started]\n";
    check(&output, text, true);
}

/// The process whose id comes out of the pipe.
fn process_in(pipe: &Path) -> rustix::fd::OwnedFd {
    let text = fs::read_to_string(pipe).unwrap();
    let pid = Pid::from_raw(text.trim().parse().unwrap()).unwrap();
    pidfd_open(pid, PidfdFlags::empty()).unwrap()
}

fn wait_for_end(process: &rustix::fd::OwnedFd) {
    poll(&mut [PollFd::new(process, PollFlags::IN)], None).unwrap();
}

fn a_cancelled_call_is_killed() {
    for command in [
        "echo begun; sleep 1000 & echo $! > pipe; wait",
        // However much it says.
        "echo begun; yes & echo $! > pipe; wait",
    ] {
        let world = World::new();
        let pipe = world.pipe();
        let (output, process) = std::thread::scope(|threads| {
            let process = threads.spawn(|| {
                let process = process_in(&pipe);
                world.cancel.cancel();
                process
            });
            (world.bash(command), process.join().unwrap())
        });
        wait_for_end(&process);
        let ToolOutput { content, is_error } = output;
        assert!(is_error);
        assert!(content.starts_with("begun\n"), "{content}");
        let note = "\n[cancelled; killed with everything it started]\n";
        assert!(content.ends_with(note), "{content}");
        let output = world.bash("echo never");
        assert!(output.is_error && output.content.contains("before the command ran"));
    }
}

fn a_dropped_call_is_killed() {
    let world = World::new();
    let pipe = world.pipe();
    let process = run(async {
        let ctx = world.context();
        let arguments = json!({ "command": "sleep 1000 & echo $! > pipe; wait" });
        let process = tokio::task::spawn_blocking(move || process_in(&pipe));
        tokio::select! {
            output = invoke(&ctx, arguments) => panic!("{output:?}"),
            process = process => process.unwrap(),
        }
    });
    wait_for_end(&process);
}

fn what_cannot_start_is_an_error() {
    let world = World::new();
    let output = world.bash(&format!("echo {}", "x".repeat(200_000)));
    assert!(output.is_error);
    assert!(
        output.content.contains("Argument list too long"),
        "{}",
        output.content
    );
    let mut ctx = world.context();
    ctx.place.cwd = world.at("w/none");
    let output = run(async { invoke(&ctx, json!({ "command": "true" })).await });
    assert!(output.is_error);
    assert!(
        output.content.contains("cannot be entered"),
        "{}",
        output.content
    );
    assert!(find_bash(&[]).is_some());
}

fn calls_run_side_by_side() {
    let world = World::new();
    let _pipe = world.pipe();
    // Each waits for the other.
    let outputs = run(async {
        let ctx = world.context();
        tokio::join!(
            invoke(&ctx, json!({ "command": "echo hello > pipe" })),
            invoke(&ctx, json!({ "command": "cat pipe" })),
        )
    });
    check(&outputs.0, "[no output]\n", false);
    check(&outputs.1, "hello\n", false);
}
