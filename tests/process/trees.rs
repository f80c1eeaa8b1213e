//! Trees of pods that tests run.

use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::sandbox::{ALLOW_ALL, Sandbox};

/// A message with a call that starts each of these children, and one that repeats what came of the first.
pub(crate) fn spawns(children: &[&str]) -> String {
    let calls = children.iter().map(|child| {
        format!(
            "[[step.call]]\ntool = \"spawn\"\ninput = {{ child = \"{child}\", prompt = \"go\" }}\n"
        )
    });
    format!(
        "[[step]]\n{}[[step]]\ntext = \"{{{{result.1}}}}\"\n",
        calls.collect::<String>()
    )
}

/// A message with these calls, and a last word.
pub(crate) fn calls(calls: &[(&str, &str)]) -> String {
    let calls = calls
        .iter()
        .map(|(tool, input)| format!("[[step.call]]\ntool = \"{tool}\"\ninput = {input}\n"));
    format!(
        "[[step]]\ntext = \"I begin.\"\n{}[[step]]\ntext = \"All is tried.\"\n",
        calls.collect::<String>()
    )
}

/// A table of `[children]` whose manifest is `NAME.toml` beside that of the pod.
pub(crate) fn child(name: &str, more: &str) -> String {
    format!("[children.{name}]\nmanifest = \"{name}.toml\"\n{more}\n")
}

/// Rules that ask about one command.
pub(crate) const ASKS: &str = "[permissions]\ndefault_action = \"allow\"\nrule = [\n\
    { tool = \"bash\", pattern = \"touch *\", action = \"ask\" }]\n";

/// A pod whose child `worker` starts a child `inner`, which makes these calls under these rules.
pub(crate) fn tree(sandbox: &Sandbox, tries: &[(&str, &str)], rules: &str) -> PathBuf {
    sandbox.child("inner", &calls(tries), rules);
    let inner = child("inner", "");
    sandbox.child(
        "worker",
        &spawns(&["inner"]),
        &format!("{inner}{ALLOW_ALL}"),
    );
    let worker = child("worker", "");
    sandbox.pod(&spawns(&["worker"]), &format!("{worker}{ALLOW_ALL}"))
}

impl Sandbox {
    /// The manifest of a child, with a script of its own.
    pub(crate) fn child(&self, name: &str, script: &str, rest: &str) -> PathBuf {
        self.write(&format!("{name}-script.toml"), script);
        self.write(
            &format!("{name}.toml"),
            &format!("[model]\nprovider = \"scripted\"\nscript = \"./{name}-script.toml\"\n{rest}"),
        )
    }
}

/// A pipe in the workspace: who reads it waits for who writes it.
pub(crate) fn pipe(sandbox: &Sandbox, name: &str) -> PathBuf {
    let path = sandbox.work().join(name);
    assert!(
        Command::new("mkfifo")
            .arg(&path)
            .status()
            .unwrap()
            .success()
    );
    path
}

/// A tree that works, and the pipe that a command of the innermost pod holds open.
pub(crate) struct Holding {
    pub(crate) sandbox: Sandbox,
    pub(crate) running: Child,
    held: File,
}

impl Holding {
    /// Waits until the innermost command runs.
    pub(crate) fn start() -> Self {
        let sandbox = Sandbox::new();
        let held = pipe(&sandbox, "held");
        let holds = "{ command = \"exec 3> held; echo begun >&3; exec sleep 100000\" }";
        let pod = tree(&sandbox, &[("bash", holds)], ALLOW_ALL);
        let running = sandbox
            .podward(&["run", pod.to_str().unwrap(), "go"])
            .args(["--format", "json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut held = File::open(held).unwrap();
        let mut begun = [0; 6];
        held.read_exact(&mut begun).unwrap();
        Self {
            sandbox,
            running,
            held,
        }
    }

    /// Kills the pod of a session, the outermost being the first.
    pub(crate) fn kill(&self, place: usize) {
        let session = &self.sandbox.sessions()[place];
        let id = session.file_name().unwrap().to_str().unwrap();
        let entry = self.sandbox.path(&format!("state/podward/run/{id}.json"));
        let entry: Value = serde_json::from_str(&std::fs::read_to_string(entry).unwrap()).unwrap();
        let pid = entry["pid"].as_i64().unwrap().try_into().unwrap();
        kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
    }

    /// Waits until nobody holds the pipe: what it was held by has ended.
    pub(crate) fn let_go(&mut self) {
        let mut rest = Vec::new();
        self.held.read_to_end(&mut rest).unwrap();
    }
}
