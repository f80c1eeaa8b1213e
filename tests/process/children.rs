//! Child pods: what holds for them, what becomes of their work, and that they end with who started them.

use serde_json::Value;

use crate::sandbox::{ALLOW_ALL, Ran, Sandbox};
use crate::session_files::{Ending, Exchange, decisions, exchanges};
use crate::trees::{ASKS, Holding, calls, child, pipe, spawns};

impl Sandbox {
    fn file(&self, name: &str, text: &str) {
        let path = self.work().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// What the model of the first child called.
    #[track_caller]
    fn of_child(&self) -> Vec<Exchange> {
        let sessions = self.sessions();
        assert_eq!(sessions.len(), 2, "{sessions:?}");
        exchanges(&sessions[1], Ending::Written)
    }
}

/// Runs a pod, and says what its last word was: what came of its first child.
#[track_caller]
fn go(sandbox: &Sandbox, code: i32) -> Ran {
    let pod = sandbox.path("pod.toml");
    sandbox
        .run(&["run", pod.to_str().unwrap(), "go"])
        .exits(code)
}

const TRIES: &[(&str, &str)] = &[
    ("read", "{ path = \"secret.txt\" }"),
    ("read", "{ path = \"own.txt\" }"),
    ("read", "{ path = \"open.txt\" }"),
    ("grep", "{ pattern = \"line\", path = \"secret.txt\" }"),
    ("grep", "{ pattern = \"line\" }"),
    ("glob", "{ pattern = \"*.txt\" }"),
    ("list", "{}"),
    ("bash", "{ command = \"cat secret.txt\" }"),
    ("bash", "{ command = \"cat own.txt\" }"),
    ("bash", "{ command = \"cat open.txt\" }"),
    ("file_write", "{ path = \"locked/a\", content = \"x\" }"),
    ("bash", "{ command = \"echo x > locked/b\" }"),
];

const ABOVE: &str = "[permissions]\ndefault_action = \"allow\"\nrule = [\n\
    { tool = \"read\", pattern = \"secret.txt\", action = \"deny\" },\n\
    { tool = \"file_*\", pattern = \"locked/*\", action = \"deny\" }]\n";

const OWN: &str = "[permissions]\ndefault_action = \"allow\"\nrule = [\n\
    { tool = \"read\", pattern = \"own.txt\", action = \"deny\" }]\n";

/// Which of [`TRIES`] a child was refused.
fn tried(mode: &str) -> (Sandbox, Vec<Exchange>) {
    let sandbox = Sandbox::new();
    for name in ["secret", "own", "open"] {
        sandbox.file(&format!("{name}.txt"), &format!("{name} line\n"));
    }
    sandbox.file("locked/there", "");
    sandbox.child("worker", &calls(TRIES), OWN);
    let worker = child("worker", &format!("mode = \"{mode}\""));
    sandbox.pod(&spawns(&["worker"]), &format!("{worker}{ABOVE}"));
    let ran = go(&sandbox, 10);
    assert!(ran.stdout.starts_with("All is tried."), "{ran:#?}");
    let of_child = sandbox.of_child();
    (sandbox, of_child)
}

#[test]
fn a_child_is_held_by_the_rules_of_the_pod_above_and_by_its_own() {
    let (sandbox, of_child) = tried("ceiling");
    let refused: Vec<bool> = of_child.iter().map(|call| call.is_error).collect();
    let expected = [
        true, true, false, true, false, false, false, true, true, false, true, true,
    ];
    assert_eq!(refused, expected, "{of_child:#?}");
    let found = &of_child[4].content;
    assert!(found.contains("open line"), "{found}");
    assert!(
        !found.contains("secret line") && !found.contains("own line"),
        "{found}"
    );
    assert!(!sandbox.work().join("locked/a").exists());
    let refused = &of_child[0].content;
    let whose = "Rule 1 of a pod above (`secret.txt`, `pod.toml` line ";
    assert!(refused.contains(whose), "{refused}");
    let refused = &of_child[1].content;
    assert!(
        refused.contains("A permission rule (`own.txt`)"),
        "{refused}"
    );
    // The log says whose rule it was, and where that stands.
    let log = decisions(&sandbox.sessions()[1]);
    let cause = |idx: usize| {
        let cause = &log[idx]["verdict"]["cause"];
        (cause["layer"].clone(), cause["at"]["file"].clone())
    };
    let file = |name: &str| Value::from(sandbox.path(name).to_str().unwrap());
    assert_eq!(
        cause(0),
        ("parent".into(), file("pod.toml")),
        "{:#}",
        log[0]
    );
    assert_eq!(
        cause(1),
        ("manifest".into(), file("worker.toml")),
        "{:#}",
        log[1]
    );
}

#[test]
fn an_independent_child_is_held_by_its_own_rules() {
    let (sandbox, of_child) = tried("independent");
    let refused: Vec<bool> = of_child.iter().map(|call| call.is_error).collect();
    let expected = [
        false, true, false, false, false, false, false, false, true, false, false, false,
    ];
    assert_eq!(refused, expected, "{of_child:#?}");
    assert!(sandbox.work().join("locked/a").exists());
}

#[test]
fn the_machines_and_the_users_layer_hold_an_independent_child() {
    let sandbox = Sandbox::new();
    sandbox.file("secret.txt", "secret line\n");
    let user = ABOVE.to_owned();
    sandbox.write("config/podward/pod.toml", &user);
    sandbox.child("worker", &calls(&TRIES[..1]), ALLOW_ALL);
    let worker = child("worker", "mode = \"independent\"");
    sandbox.pod(&spawns(&["worker"]), &format!("{worker}{ALLOW_ALL}"));
    let ran = go(&sandbox, 10);
    assert!(
        ran.stdout.contains("[refused calls of `worker`: 1 of 1]"),
        "{ran:#?}"
    );
    let log = decisions(&sandbox.sessions()[1]);
    assert_eq!(log[0]["verdict"]["cause"]["layer"], "user", "{:#}", log[0]);
}

#[test]
fn a_coordinator_that_writes_nothing_delegates_writing_to_an_independent_child_only() {
    let rules = "[permissions]\ndefault_action = \"deny\"\nrule = [\n\
        { tool = \"spawn\", pattern = \"*\", action = \"allow\" }]\n";
    for (mode, is_written) in [("ceiling", false), ("independent", true)] {
        let sandbox = Sandbox::new();
        let write = ("file_write", "{ path = \"made\", content = \"x\" }");
        sandbox.child("worker", &calls(&[write]), ALLOW_ALL);
        let worker = child("worker", &format!("mode = \"{mode}\""));
        sandbox.pod(&spawns(&["worker"]), &format!("{worker}{rules}"));
        let ran = go(&sandbox, if is_written { 0 } else { 10 });
        assert_eq!(
            sandbox.work().join("made").exists(),
            is_written,
            "{mode} {ran:#?}"
        );
    }
}

#[test]
fn a_child_is_started_only_where_a_rule_lets_it() {
    let sandbox = Sandbox::new();
    sandbox.child("worker", &calls(&[]), ALLOW_ALL);
    let rules = "[permissions]\ndefault_action = \"allow\"\nrule = [\n\
        { tool = \"spawn\", pattern = \"work*\", action = \"deny\" }]\n";
    let worker = child("worker", "");
    sandbox.pod(&spawns(&["worker"]), &format!("{worker}{rules}"));
    let ran = go(&sandbox, 10);
    assert!(ran.stdout.starts_with("Refused:"), "{ran:#?}");
    assert_eq!(sandbox.sessions().len(), 1);
}

#[test]
fn a_child_reaches_nothing_that_the_pod_above_does_not() {
    for mode in ["ceiling", "independent"] {
        let sandbox = Sandbox::new();
        for name in ["vault/in", "src/in", "other/in"] {
            sandbox.file(name, "text\n");
        }
        let pod_file = sandbox.path("pod.toml");
        let to_pod = format!("{{ path = '{}', content = \"x\" }}", pod_file.display());
        let tries = [
            ("read", "{ path = \"vault/in\" }"),
            ("bash", "{ command = \"cat vault/in\" }"),
            ("file_write", "{ path = \"src/made\", content = \"x\" }"),
            ("file_write", "{ path = \"other/made\", content = \"x\" }"),
            ("bash", "{ command = \"echo x > other/made\" }"),
            ("file_write", to_pod.as_str()),
            ("bash", "{ command = \"test -z \\\"$EXTRA\\\"\" }"),
        ];
        let own = format!(
            "[scope]\nallow = [{{ path = \".\", access = \"write\" }}, {{ path = \"/\", access = \"read\" }}, \
             {{ path = '{}', access = \"write\" }}]\n\
             [environment]\npass = [\"EXTRA\"]\n{ALLOW_ALL}",
            sandbox.path("").display()
        );
        sandbox.child("worker", &calls(&tries), &own);
        let worker = child("worker", &format!("mode = \"{mode}\""));
        let scope = "[scope]\nallow = [{ path = \"src\", access = \"write\" }, { path = \"/\", access = \"read\" }]\n\
            deny = [{ path = \"vault\", access = \"read\" }]\n";
        sandbox.pod(&spawns(&["worker"]), &format!("{worker}{scope}{ALLOW_ALL}"));
        let pod = pod_file.to_str().unwrap();
        let ran: Ran = sandbox
            .podward(&["run", pod, "go"])
            .env("EXTRA", "value")
            .output()
            .unwrap()
            .into();
        let ran = ran.exits(0);
        let of_child = sandbox.of_child();
        let refused: Vec<bool> = of_child.iter().map(|call| call.is_error).collect();
        let expected = [true, true, false, true, true, true, false];
        assert_eq!(refused, expected, "{mode} {ran:#?} {of_child:#?}");
        assert!(
            std::fs::read_to_string(&pod_file)
                .unwrap()
                .contains("[pod]")
        );
    }
}

#[test]
fn a_skill_that_is_active_above_holds_a_child() {
    for mode in ["ceiling", "independent"] {
        let sandbox = Sandbox::new();
        sandbox.write(
            "skills/look/SKILL.md",
            "---\nname: look\ndescription: Looks.\nallowed-tools: Read Task\n---\nLook.\n",
        );
        let tries = [("list", "{}"), ("read", "{ path = \"open.txt\" }")];
        sandbox.file("open.txt", "open line\n");
        sandbox.child("worker", &calls(&tries), ALLOW_ALL);
        let worker = child("worker", &format!("mode = \"{mode}\""));
        let skills = "[skills]\ndirectories = [\"skills\"]\n";
        let script = format!(
            "[[step]]\n[[step.call]]\ntool = \"skill\"\ninput = {{ name = \"look\" }}\n{}",
            spawns(&["worker"])
        );
        sandbox.pod(&script, &format!("{worker}{skills}{ALLOW_ALL}"));
        let ran = go(&sandbox, 10);
        let of_child = sandbox.of_child();
        let refused: Vec<bool> = of_child.iter().map(|call| call.is_error).collect();
        assert_eq!(refused, [true, false], "{mode} {ran:#?} {of_child:#?}");
        assert!(of_child[0].content.contains("`look`"), "{of_child:#?}");
    }
}

/// What becomes of a child is a result, and the turn of the pod above goes on.
#[test]
fn whatever_becomes_of_a_child_is_a_result() {
    let asks = "[permissions]\ndefault_action = \"ask\"\n";
    let endless = "[[step]]\nlabel = \"a\"\n[[step.call]]\ntool = \"list\"\ninput = {}\n\
        [[step.next]]\ngoto = \"a\"\n";
    let sleeps = calls(&[("bash", "{ command = \"sleep 1000\" }")]);
    let lists = calls(&[("list", "{}")]);
    for (script, rest, more, says) in [
        (
            lists.as_str(),
            "[permissions]\ndefault = 3\n",
            "",
            "unknown key",
        ),
        (&lists, asks, "", "[refused calls of `worker`: 1 of 1]"),
        (
            endless,
            ALLOW_ALL,
            "limits = { max_steps = 3 }",
            "`max_steps`",
        ),
        (
            &sleeps,
            ALLOW_ALL,
            "limits = { turn_timeout = \"300ms\" }",
            "`turn_timeout`",
        ),
        ("no script", ALLOW_ALL, "", "worker-script.toml"),
        (
            &lists,
            "[pod]\nworkspace_mode = \"copy\"\n[permissions]\ndefault_action = \"allow\"\n",
            "",
            "no copy of its own",
        ),
    ] {
        let sandbox = Sandbox::new();
        sandbox.child("worker", script, rest);
        let worker = child("worker", more);
        sandbox.pod(&spawns(&["worker"]), &format!("{worker}{ALLOW_ALL}"));
        // The same call is asked about when it comes for the third time.
        let is_refused = rest == asks || script == endless;
        let ran = go(&sandbox, if is_refused { 10 } else { 0 });
        assert!(ran.stdout.contains(says), "{says}: {ran:#?}");
    }
}

#[test]
fn a_child_that_is_not_declared_or_has_no_manifest_is_not_started() {
    let sandbox = Sandbox::new();
    sandbox.child("worker", &calls(&[]), ALLOW_ALL);
    let worker = child("worker", "");
    sandbox.pod(&spawns(&["wroker"]), &format!("{worker}{ALLOW_ALL}"));
    let ran = go(&sandbox, 0);
    assert!(ran.stdout.contains("there are worker"), "{ran:#?}");
    std::fs::remove_file(sandbox.path("worker.toml")).unwrap();
    let ran = go(&sandbox, 78);
    assert!(ran.stderr.contains("worker.toml"), "{ran:#?}");
}

#[test]
fn a_tree_has_no_more_generations_than_its_limit() {
    let sandbox = Sandbox::new();
    // It starts itself, without end.
    let again = child("worker", "");
    sandbox.child(
        "worker",
        &spawns(&["worker"]),
        &format!("{again}{ALLOW_ALL}"),
    );
    sandbox.pod(&spawns(&["worker"]), &format!("{again}{ALLOW_ALL}"));
    let ran = go(&sandbox, 0);
    assert!(
        ran.stdout.contains("`limits.child_depth` is reached"),
        "{ran:#?}"
    );
    assert_eq!(
        sandbox.sessions().len(),
        4,
        "three generations below the first"
    );
}

#[test]
fn children_of_one_message_work_at_the_same_time() {
    let sandbox = Sandbox::new();
    pipe(&sandbox, "one");
    pipe(&sandbox, "two");
    // Each waits for the other.
    let first = "{ command = \"echo x > one && cat two\" }";
    let second = "{ command = \"cat one && echo y > two\" }";
    sandbox.child("first", &calls(&[("bash", first)]), ALLOW_ALL);
    sandbox.child("second", &calls(&[("bash", second)]), ALLOW_ALL);
    let both = format!("{}{}", child("first", ""), child("second", ""));
    let script = spawns(&["first", "second"]);
    sandbox.pod(&script, &format!("{both}{ALLOW_ALL}"));
    let ran = go(&sandbox, 0);
    assert!(ran.stdout.contains("All is tried."), "{ran:#?}");
}

#[test]
fn no_more_children_run_at_a_time_than_their_limit() {
    let sandbox = Sandbox::new();
    pipe(&sandbox, "one");
    let held = "{ command = \"cat one\" }";
    sandbox.child("worker", &calls(&[("bash", held)]), ALLOW_ALL);
    let limit = "[limits]\nchildren = 1\n";
    // Whichever is first is let go by the third call.
    let script = spawns(&["worker", "worker"])
        .replacen(
            "[[step]]\ntext",
            "[[step.call]]\ntool = \"bash\"\ninput = { command = \"echo x > one\" }\n[[step]]\ntext",
            1,
        )
        .replace("{{result.1}}", "{{result.1}} {{result.2}}");
    let worker = child("worker", "");
    sandbox.pod(&script, &format!("{worker}{limit}{ALLOW_ALL}"));
    let ran = go(&sandbox, 0);
    assert_eq!(
        ran.stdout.matches("`limits.children`").count(),
        1,
        "{ran:#?}"
    );
    assert_eq!(ran.stdout.matches("All is tried.").count(), 1, "{ran:#?}");
}

/// A chain of pods, each of which starts the next; the outermost and the one below it allow so many.
#[test]
fn the_limit_of_a_pod_counts_all_that_run_below_it() {
    for (top, below, n_pods, says) in [
        (3, 8, 4, "I begin."),
        (2, 8, 3, "2 run below the pod `test`"),
        (8, 1, 3, "1 run below the pod `a`"),
    ] {
        let sandbox = Sandbox::new();
        let limit = |most: u32| format!("[limits]\nchildren = {most}\n");
        sandbox.child("c", &calls(&[]), ALLOW_ALL);
        let starts_c = format!("{}{ALLOW_ALL}", child("c", ""));
        sandbox.child("b", &spawns(&["c"]), &starts_c);
        let starts_b = format!("{}{}{ALLOW_ALL}", child("b", ""), limit(below));
        sandbox.child("a", &spawns(&["b"]), &starts_b);
        // One after the other, each of them has what the last one had.
        let twice = spawns(&["a"]).replace("[[step]]\ntext", "{again}[[step]]\ntext");
        let again = "[[step]]\n[[step.call]]\ntool = \"spawn\"\n\
            input = { child = \"a\", prompt = \"again\" }\n";
        let twice = twice.replace("{again}", again);
        let starts_a = format!("{}{}{ALLOW_ALL}", child("a", ""), limit(top));
        sandbox.pod(&twice, &starts_a);
        let ran = go(&sandbox, 0);
        assert!(ran.stdout.contains(says), "{says}: {ran:#?}");
        assert_eq!(sandbox.sessions().len(), 1 + 2 * (n_pods - 1), "{ran:#?}");
    }
}

#[test]
fn a_child_that_is_killed_is_a_result_and_what_it_had_started_ends() {
    for (place, says) in [
        (
            1,
            "the child `worker` did not do it: its process ended before its work",
        ),
        (
            2,
            "the child `inner` did not do it: its process ended before its work",
        ),
    ] {
        let mut holding = Holding::start();
        holding.kill(place);
        holding.let_go();
        let ran = Ran::from(holding.running.wait_with_output().unwrap()).exits(0);
        assert!(ran.stdout.contains(says), "{ran:#?}");
        drop(holding.sandbox);
    }
}

#[test]
fn nothing_of_a_tree_outlives_a_pod_that_is_killed() {
    let mut holding = Holding::start();
    holding.kill(0);
    holding.let_go();
    holding.running.wait().unwrap();
    assert_eq!(holding.sandbox.sessions().len(), 3);
}

#[test]
fn nobody_but_a_pod_starts_a_child() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["child"]).exits(1);
    assert!(ran.stderr.contains("for pods to start"), "{ran:#?}");
    assert!(sandbox.sessions().is_empty());
}

/// How many runs are made; `cargo xtask soak` sets more.
fn n_runs() -> usize {
    std::env::var("PODWARD_CHILD_RUNS").map_or(2, |count| count.parse().unwrap())
}

/// With nobody there, three generations below the first pod.
#[test]
fn a_tree_with_nobody_to_ask_ends_each_time() {
    let sandbox = Sandbox::new();
    let tries = [
        ("bash", "{ command = \"touch made\" }"),
        ("bash", "{ command = \"echo x\" }"),
        ("list", "{}"),
    ];
    sandbox.child("c", &calls(&tries), ASKS);
    sandbox.child(
        "b",
        &spawns(&["c", "c"]),
        &format!("{}{ALLOW_ALL}", child("c", "")),
    );
    sandbox.child(
        "a",
        &spawns(&["b"]),
        &format!("{}{ALLOW_ALL}", child("b", "")),
    );
    sandbox.pod(&spawns(&["a"]), &format!("{}{ALLOW_ALL}", child("a", "")));
    for run in 1..=n_runs() {
        let ran = go(&sandbox, 10);
        assert!(ran.stdout.contains(": 1 of 3]"), "{ran:#?}");
        assert!(!sandbox.work().join("made").exists());
        assert_eq!(sandbox.sessions().len(), 5 * run);
    }
}
