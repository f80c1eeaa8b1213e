//! Whole pods: real manifests, tools, commands, sessions and logs; only the model is a script.
//!
//! This program is its own helper, as podward is, and for one test its own subject.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "all of this is a test, though without the harness that clippy knows"
)]

#[path = "pod/bench.rs"]
mod bench;
#[path = "pod/hooks.rs"]
mod hooks;
#[path = "pod/lines.rs"]
mod lines;
#[path = "pod/memory.rs"]
mod memory;
#[path = "pod/serve.rs"]
mod serve;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Trial};
use podward_model::check_pairing;
use podward_pod::{SessionChoice, start, verify};
use podward_protocol::{Event, RefusalCause, Status, ToolOutcome, TurnEndReason};
use podward_scope::confine_main;
use podward_worker::{EndReason, Entry, History};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::bench::{Bench, Ran, call, script, text};
use crate::hooks::{
    a_hook_ends_the_turn, a_hook_refuses_in_its_own_words,
    a_hook_that_others_could_write_starts_no_pod, a_program_that_is_gone_refuses,
    a_prompt_can_be_refused, a_refusal_by_a_hook_is_not_asked_about,
    cancelling_kills_a_hook_and_the_call_is_refused, every_failure_of_a_hook_refuses,
    hooks_have_the_users_environment_and_never_the_key,
    hooks_run_layer_by_layer_and_those_in_code_last, hooks_see_what_is_permitted_or_asked,
    hooks_that_look_on_see_results_and_their_failures_are_told, large_arguments_reach_a_hook_whole,
    what_a_hook_runs_cannot_be_written_by_tools,
};
use crate::lines::{
    a_page_of_questions_fits_a_line, a_question_that_fits_no_line_is_refused_by_the_pod,
    what_auto_does_not_answer_says_so,
};
use crate::memory::{
    a_question_that_waits_costs_a_pod_no_more_than_a_kilobyte,
    ten_times_the_questions_are_ten_times_the_work,
};
use crate::serve::{
    a_call_that_is_asked_about_runs_once_somebody_says_so,
    a_question_outlives_the_pod_and_keeps_its_id, a_rejection_reaches_the_model_word_for_word,
    a_slow_client_is_cut_off_and_the_pod_goes_on,
    always_settles_what_it_covers_and_is_not_asked_again,
    an_answer_after_the_end_of_a_question_is_too_late, an_approver_that_answers_no_ping_is_gone,
    an_edit_is_judged_again_and_what_is_denied_stays_open, another_user_is_not_let_in,
    stopping_and_cancelling_settle_what_is_open, talk_as_another, talk_from_below,
    the_first_answer_counts_and_others_hear_who_was_first,
    what_is_asked_ends_with_whoever_could_have_answered, what_is_no_request_gets_a_typed_error,
    what_the_pod_has_started_cannot_answer_it,
};

fn main() -> ExitCode {
    if let Some(code) = confine_main(std::env::args_os()) {
        return code;
    }
    if std::env::args().nth(1).as_deref() == Some("full-disk") {
        return on_a_full_disk(Path::new(&std::env::args().nth(2).unwrap()));
    }
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [_, "talk-from-below", socket, out] => {
            talk_from_below(socket, out);
            return ExitCode::SUCCESS;
        }
        [_, "talk-as-another", socket] => {
            let mut stdout = std::io::stdout();
            std::io::Write::write_all(&mut stdout, talk_as_another(socket).as_bytes()).unwrap();
            return ExitCode::SUCCESS;
        }
        _ => {}
    }
    // As podward does: helpers must work for a process that nobody can look into.
    start().unwrap();
    // And from the first thread, which the tests are not.
    podward_scope::family::adopt_orphans().unwrap();
    let again: &[Named] = match std::env::var_os(AGAIN) {
        None => AGAINS,
        Some(_) => &[],
    };
    let trials = TRIALS.iter().chain(again).map(|(name, trial)| {
        Trial::test(*name, || {
            trial();
            Ok(())
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

/// Set where the tests run a second time.
const AGAIN: &str = "PODWARD_TEST_AGAIN";

type Named = (&'static str, fn());

macro_rules! named {
    ($($trial:ident),* $(,)?) => { [$((stringify!($trial), $trial as fn())),*] };
}

const TRIALS: &[Named] = &named![
    a_refused_call_keeps_the_turn_going_and_everything_is_on_record,
    nobody_is_asked_and_the_call_is_refused,
    the_third_time_is_asked_about,
    trying_again_after_a_change_is_not_asked_about,
    what_the_model_gets_wrong_is_a_result,
    a_tool_that_no_rule_lets_run_is_not_offered,
    a_tool_that_is_not_offered_by_the_manifest_does_not_exist,
    commands_see_what_the_manifest_lets_through_and_never_the_key,
    secrets_are_markers_in_the_log,
    podwards_own_files_cannot_be_written,
    a_copy_is_worked_in_and_goes_with_the_pod,
    cancelling_kills_commands_and_every_call_has_a_result,
    a_session_goes_on_where_it_was,
    a_session_that_was_cut_anywhere_goes_on,
    what_changed_between_two_runs_is_said,
    a_project_that_changed_after_it_was_trusted_is_said,
    a_damaged_log_is_not_continued,
    an_unknown_session_is_an_error,
    a_session_that_is_gone_though_decisions_were_made_is_an_error,
    a_script_is_a_regular_file,
    nothing_runs_that_cannot_be_written_down,
    a_reader_that_is_gone_stops_nothing,
    a_question_that_waits_costs_a_pod_no_more_than_a_kilobyte,
    ten_times_the_questions_are_ten_times_the_work,
    a_page_of_questions_fits_a_line,
    a_question_that_fits_no_line_is_refused_by_the_pod,
    what_auto_does_not_answer_says_so,
    a_hook_refuses_in_its_own_words,
    every_failure_of_a_hook_refuses,
    a_program_that_is_gone_refuses,
    a_hook_ends_the_turn,
    hooks_see_what_is_permitted_or_asked,
    a_refusal_by_a_hook_is_not_asked_about,
    large_arguments_reach_a_hook_whole,
    hooks_have_the_users_environment_and_never_the_key,
    hooks_that_look_on_see_results_and_their_failures_are_told,
    a_prompt_can_be_refused,
    hooks_run_layer_by_layer_and_those_in_code_last,
    what_a_hook_runs_cannot_be_written_by_tools,
    a_hook_that_others_could_write_starts_no_pod,
    cancelling_kills_a_hook_and_the_call_is_refused,
    a_call_that_is_asked_about_runs_once_somebody_says_so,
    a_rejection_reaches_the_model_word_for_word,
    an_answer_after_the_end_of_a_question_is_too_late,
    an_approver_that_answers_no_ping_is_gone,
    an_edit_is_judged_again_and_what_is_denied_stays_open,
    always_settles_what_it_covers_and_is_not_asked_again,
    the_first_answer_counts_and_others_hear_who_was_first,
    what_is_asked_ends_with_whoever_could_have_answered,
    stopping_and_cancelling_settle_what_is_open,
    what_is_no_request_gets_a_typed_error,
    a_slow_client_is_cut_off_and_the_pod_goes_on,
    a_question_outlives_the_pod_and_keeps_its_id,
    what_the_pod_has_started_cannot_answer_it,
    another_user_is_not_let_in,
];

const AGAINS: &[Named] = &named![everything_works_for_an_ordinary_user_too];

const RULES: &str = r#"
[permissions]
default_action = "deny"
[[permissions.rule]]
tool = "file_write"
pattern = "*.env"
action = "deny"
message = "secrets live there"
[[permissions.rule]]
tool = "*"
pattern = "*ask*"
action = "ask"
[[permissions.rule]]
tool = "bash"
pattern = "rm *"
action = "deny"
[[permissions.rule]]
tool = "*"
pattern = "*"
action = "allow"
"#;

fn write(path: &str, content: &str) -> Value {
    call("file_write", json!({"path": path, "content": content}))
}

fn bash(command: &str) -> Value {
    call("bash", json!({"command": command}))
}

fn a_refused_call_keeps_the_turn_going_and_everything_is_on_record() {
    let bench = Bench::new(RULES);
    fs::write(bench.path("project/there.txt"), "there").unwrap();
    let read = call("read", json!({"path": "there.txt"}));
    let model = script(&[
        &[write("a.txt", "one"), write(".env", "KEY=1"), read],
        &[write("b.txt", "two")],
        &[text("done")],
    ]);
    let ran = bench.run(&model, "do it");
    assert_eq!(ran.end.reason, EndReason::Done);
    assert_eq!(ran.end.n_refused, 1);
    assert_eq!(bench.read("project/a.txt").unwrap(), "one");
    assert_eq!(bench.read("project/b.txt").unwrap(), "two");
    assert_eq!(bench.read("project/.env"), None);

    let outcomes: Vec<_> = ran
        .finished()
        .map(|finished| finished.outcome.clone())
        .collect();
    let refused = ToolOutcome::Refused {
        cause: RefusalCause::Policy,
    };
    assert_eq!(
        outcomes
            .iter()
            .filter(|outcome| **outcome == refused)
            .count(),
        1
    );
    assert_eq!(
        outcomes
            .iter()
            .filter(|outcome| **outcome == ToolOutcome::Done)
            .count(),
        3
    );
    let names: Vec<_> = ran
        .events
        .iter()
        .map(|envelope| envelope.event.name())
        .collect();
    assert_eq!(names[0], "session_started");
    assert_eq!(names[names.len() - 2..], ["turn_ended", "status"]);
    for (seq, envelope) in ran.events.iter().enumerate() {
        assert_eq!(envelope.seq, seq as u64);
    }

    let results = bench.results(&ran);
    let ids: Vec<_> = results.iter().map(|(id, _)| id.clone()).collect();
    assert_eq!(ids, bench.calls(&ran), "results stand in call order");
    assert!(
        results[1].1.contains("secrets live there"),
        "{}",
        results[1].1
    );

    let decisions = bench.decisions(&ran);
    let verdicts: Vec<_> = decisions
        .iter()
        .map(|line| (line["call"].clone(), line["outcome"].clone()))
        .collect();
    let expected = ["run", "refuse", "run", "run"];
    assert_eq!(verdicts.len(), 4);
    for ((call, outcome), (id, expected)) in verdicts.iter().zip(ids.iter().zip(expected)) {
        assert_eq!((call, outcome), (&json!(id), &json!(expected)));
    }
    assert_eq!(
        decisions[1]["verdict"]["cause"]["at"]["line"],
        bench.line("*.env")
    );
    assert!(
        decisions[1]["verdict"]["cause"]["at"]["file"]
            .as_str()
            .unwrap()
            .ends_with("pod.toml")
    );
    assert_eq!(
        verify(&bench.decision_lines(&ran), &ran.session)
            .unwrap()
            .n_records(),
        4
    );
}

fn nobody_is_asked_and_the_call_is_refused() {
    let bench = Bench::new(RULES);
    let model = script(&[
        &[write("ask.txt", "x"), write("b.txt", "y")],
        &[text("done")],
    ]);
    let ran = bench.run(&model, "do it");
    assert_eq!(ran.end.n_refused, 1);
    assert_eq!(bench.read("project/ask.txt"), None);
    assert_eq!(bench.read("project/b.txt").unwrap(), "y");
    let refusals: Vec<_> = ran
        .verdicts()
        .filter_map(|verdict| verdict.refusal.clone())
        .collect();
    assert_eq!(refusals, [RefusalCause::NoClient]);
    let last = bench.decisions(&ran);
    let refused = last
        .iter()
        .find(|line| line["outcome"] == "refuse")
        .unwrap();
    assert_eq!(refused["verdict"]["verdict"], "ask");
    assert_eq!(refused["refusal"]["kind"], "no_client");
    assert_eq!(refused["by"]["kind"], "pod");
}

fn the_third_time_is_asked_about() {
    let bench = Bench::new(RULES);
    let again = || call("list", json!({"path": "."}));
    let model = script(&[&[again()], &[again()], &[again()], &[text("done")]]);
    let ran = bench.run(&model, "do it");
    assert_eq!(ran.end.n_refused, 1);
    let refused: Vec<_> = bench
        .decisions(&ran)
        .into_iter()
        .filter(|line| line["outcome"] == "refuse")
        .collect();
    assert_eq!(refused[0]["verdict"]["cause"], json!({"kind": "repeated"}));
}

fn trying_again_after_a_change_is_not_asked_about() {
    let bench = Bench::new(RULES);
    let again = || call("list", json!({"path": "."}));
    let model = script(&[
        &[again(), again(), write("a.txt", "x")],
        &[again(), again(), write("a.txt", "x")],
        &[again()],
        &[text("done")],
    ]);
    let ran = bench.run(&model, "do it");
    assert_eq!(ran.end.n_refused, 0);
}

fn what_the_model_gets_wrong_is_a_result() {
    let bench = Bench::new(RULES);
    let model = script(&[
        &[
            json!({"tool": "bash", "raw": "{\"command\": "}),
            call("teleport", json!({"to": "moon"})),
            call("read", json!({"paht": "a"})),
            write("a.txt", "x"),
        ],
        &[text("done")],
    ]);
    let ran = bench.run(&model, "do it");
    assert_eq!(ran.end.reason, EndReason::Done);
    assert_eq!((ran.end.n_refused, ran.end.n_bad_calls), (3, 3));
    assert_eq!(bench.results(&ran).len(), 4);
    let causes: Vec<_> = bench
        .decisions(&ran)
        .iter()
        .map(|line| {
            line["verdict"]["cause"]["kind"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(causes, ["bad_call", "unknown_tool", "bad_call", "rule"]);
}

fn a_tool_that_no_rule_lets_run_is_not_offered() {
    let rules = RULES.replacen(
        "[[permissions.rule]]",
        "[[permissions.rule]]\ntool = \"bash\"\npattern = \"*\"\naction = \"deny\"\n\
         [[permissions.rule]]",
        1,
    );
    let bench = Bench::new(&rules);
    let ran = bench.run(&script(&[&[text("hi")]]), "do it");
    let started = ran.started();
    assert_eq!(started.withheld_tools, ["bash"]);
    assert!(!started.tools.contains(&"bash".to_owned()));
    assert!(started.tools.contains(&"read".to_owned()));
}

fn a_tool_that_is_not_offered_by_the_manifest_does_not_exist() {
    let bench = Bench::new(&format!("[tools]\noffered = [\"read\"]\n{RULES}"));
    let ran = bench.run(&script(&[&[write("a.txt", "x")], &[text("done")]]), "do it");
    assert_eq!(bench.read("project/a.txt"), None);
    assert_eq!(ran.end.n_bad_calls, 1);
}

fn commands_see_what_the_manifest_lets_through_and_never_the_key() {
    let bench = Bench::new(&format!(
        "[model]\nprovider = \"scripted\"\nscript = \"demo\"\nkey_env = \"TEST_KEY\"\n\
         [environment]\npass = [\"MINE_*\"]\n{RULES}"
    ));
    let model = script(&[&[bash("printenv")], &[text("done")]]);
    let ran = bench.run_with(&model, |request| {
        let variables = [
            ("MINE_A", "1"),
            ("OTHER", "2"),
            ("TEST_KEY", "3"),
            ("PATH", "/usr/bin:/bin"),
        ];
        request.variables = variables
            .iter()
            .map(|(n, v)| ((*n).into(), (*v).into()))
            .collect();
    });
    let seen = &bench.results(&ran)[0].1;
    assert!(seen.contains("MINE_A=1"), "{seen}");
    assert!(seen.contains("TMPDIR=/"), "{seen}");
    assert!(
        !seen.contains("OTHER") && !seen.contains("TEST_KEY"),
        "{seen}"
    );
}

fn secrets_are_markers_in_the_log() {
    let bench = Bench::new(RULES);
    let model = script(&[
        &[write("a.txt", "the value hunter2hunter2 it is")],
        &[text("done")],
    ]);
    let ran = bench.run_with(&model, |request| {
        request
            .variables
            .push(("SOME_API_KEY".into(), "hunter2hunter2".into()));
    });
    assert_eq!(
        bench.read("project/a.txt").unwrap(),
        "the value hunter2hunter2 it is"
    );
    let line = &bench.decisions(&ran)[0];
    assert_eq!(
        line["arguments"]["content"],
        "the value [secret:env:SOME_API_KEY] it is"
    );
    assert_eq!(line["replayable"], false);
    let bytes = fs::read_to_string(ran.session_dir.join("decisions.jsonl")).unwrap();
    assert!(!bytes.contains("hunter2"));
}

fn podwards_own_files_cannot_be_written() {
    let bench = Bench::new(&format!(
        "[scope]\nallow = [{{ path = \"/\", access = \"write\" }}]\n{RULES}"
    ));
    fs::create_dir(bench.path("project/.podward")).unwrap();
    let manifest = bench.path("pod.toml");
    let before = fs::read_to_string(&manifest).unwrap();
    let model = script(&[
        &[
            write(manifest.to_str().unwrap(), "x"),
            write(".podward/pod.toml", "x"),
            write(
                bench.path("state/podward/trust.json").to_str().unwrap(),
                "x",
            ),
            // Of pods that were started with other variables.
            write(
                bench
                    .path("home/.config/podward/pod.toml")
                    .to_str()
                    .unwrap(),
                "x",
            ),
            write(
                bench
                    .path("home/.local/state/podward/grants/any.jsonl")
                    .to_str()
                    .unwrap(),
                "x",
            ),
            write("fine.txt", "x"),
        ],
        &[text("done")],
    ]);
    let ran = bench.run(&model, "do it");
    let failed: Vec<_> = ran
        .finished()
        .map(|f| f.outcome == ToolOutcome::Failed)
        .collect();
    assert_eq!(
        failed.iter().filter(|failed| **failed).count(),
        5,
        "{:?}",
        bench.results(&ran)
    );
    assert_eq!(fs::read_to_string(&manifest).unwrap(), before);
    assert_eq!(bench.read("project/.podward/pod.toml"), None);
    assert_eq!(bench.read("state/podward/trust.json"), None);
    assert_eq!(bench.read("home/.config/podward/pod.toml"), None);
    assert!(bench.read("project/fine.txt").is_some());
}

fn a_copy_is_worked_in_and_goes_with_the_pod() {
    let bench = Bench::with_pod("workspace_mode = \"copy\"", RULES);
    fs::write(bench.path("project/run"), "#!/bin/sh\necho it runs > out\n").unwrap();
    fs::set_permissions(bench.path("project/run"), fs::Permissions::from_mode(0o755)).unwrap();
    let model = script(&[
        &[bash("./run")],
        &[call("read", json!({"path": "out"}))],
        &[text("done")],
    ]);
    let ran = bench.run(&model, "do it");
    let results = bench.results(&ran);
    assert!(results[1].1.contains("it runs"), "{results:?}");
    assert_eq!(bench.read("project/out"), None);
    let copy = ran.started().workspace.clone();
    assert_ne!(Path::new(&copy), bench.path("project"));
    assert!(!Path::new(&copy).exists());
    assert_eq!(fs::read_dir(bench.path("tmp")).unwrap().count(), 0);
}

fn cancelling_kills_commands_and_every_call_has_a_result() {
    let bench = Bench::new("[permissions]\ndefault_action = \"allow\"\n");
    let pipe = bench.path("project/pipe");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, mode).unwrap();
    let model = script(&[
        &[
            bash("exec 3> pipe; echo running >&3; sleep 1000 & wait"),
            write("a.txt", "x"),
        ],
        &[text("never said")],
    ]);
    let cancel = CancellationToken::new();
    let canceller = cancel.clone();
    let watcher = std::thread::spawn(move || {
        let mut reader = BufReader::new(fs::File::open(&pipe).unwrap());
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        canceller.cancel();
        // Ends when the last process that has the pipe open has ended.
        reader.read_to_string(&mut line).unwrap();
        line
    });
    let ran = bench.run_cancelled(&model, "do it", cancel);
    assert_eq!(watcher.join().unwrap(), "running\n");
    assert_eq!(ran.end.reason, EndReason::Cancelled);
    let results = bench.results(&ran);
    assert_eq!(results.len(), 2);
    let ended = ran
        .events
        .iter()
        .rev()
        .find_map(|envelope| match &envelope.event {
            Event::TurnEnded(ended) => Some(ended.reason.clone()),
            _ => None,
        });
    assert_eq!(ended, Some(TurnEndReason::Cancelled));
    check_pairing(bench.history(&ran).messages()).unwrap();
}

fn a_session_goes_on_where_it_was() {
    let bench = Bench::new(RULES);
    let model = script(&[
        &[write("a.txt", "one")],
        &[text("first")],
        &[write("b.txt", "two")],
        &[text("second")],
    ]);
    let first = bench.run(&model, "do it");
    let id = first.session.as_str().to_lowercase();
    let second = bench.run_with(&model, |request| {
        request.session = SessionChoice::Resume(id[..20].to_owned());
    });
    assert_eq!(second.session, first.session);
    assert_eq!(bench.read("project/b.txt").unwrap(), "two");
    assert!(second.started().resumed);
    let turns: Vec<_> = second
        .events
        .iter()
        .filter_map(|envelope| match &envelope.event {
            Event::TurnStarted(started) => Some(started.turn),
            _ => None,
        })
        .collect();
    assert_eq!(turns, [2]);
    assert_eq!(bench.calls(&second).len(), 2);
    assert_eq!(
        verify(&bench.decision_lines(&second), &second.session)
            .unwrap()
            .n_records(),
        2
    );
}

/// The session as it is on disk at any moment, and with it the log, which is written first: from
/// there a new run always goes on, and each call has exactly one result.
fn a_session_that_was_cut_anywhere_goes_on() {
    let model = script(&[
        &[
            write("a.txt", "one"),
            write(".env", "x"),
            write("b.txt", "two"),
        ],
        &[write("c.txt", "three"), call("nope", json!({}))],
        &[text("done")],
        &[text("again")],
    ]);
    let bench = Bench::new(RULES);
    let whole = bench.run(&model, "do it");
    let file = whole.session_dir.join("session.jsonl");
    let bytes = fs::read(&file).unwrap();
    let log = fs::read(whole.session_dir.join("decisions.jsonl")).unwrap();
    let ends = bytes
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n')
        .map(|(at, _)| at);
    // The first line is on the disk before any decision is made.
    let first = bytes.iter().position(|byte| *byte == b'\n').unwrap();
    let cuts: Vec<_> = ends
        .flat_map(|end| [end.saturating_sub(7), end, end + 1])
        .filter(|at| *at > first)
        .collect();
    for at in cuts {
        fs::write(&file, &bytes[..at]).unwrap();
        fs::write(whole.session_dir.join("decisions.jsonl"), &log).unwrap();
        let ran = bench.go_on(&model, &whole.session);
        assert!(
            matches!(ran.end.reason, EndReason::Done),
            "cut at {at}: {:?}",
            ran.end
        );
        check_pairing(bench.history(&ran).messages()).unwrap();
        verify(&bench.decision_lines(&ran), &ran.session).unwrap();
        assert_eq!(bench.read("project/.env"), None);
    }
}

fn what_changed_between_two_runs_is_said() {
    let bench = Bench::new(RULES);
    let model = script(&[&[text("one")], &[write("b.txt", "x")], &[text("two")]]);
    let first = bench.run(&model, "do it");
    bench.write_manifest("", &RULES.replace("*.env", "b.txt"));
    let second = bench.run_with(&model, |request| {
        request.session = SessionChoice::Resume(first.session.to_string());
    });
    let notices: Vec<_> = second.notices().collect();
    assert_eq!(notices, ["the rules are not those of the last run"]);
    assert_eq!(bench.read("project/b.txt"), None);
    assert_ne!(
        first.started().policy_digest,
        second.started().policy_digest
    );
    let line = &bench.decisions(&second)[0];
    assert_eq!(line["policy_digest"], json!(second.started().policy_digest));
}

fn a_project_that_changed_after_it_was_trusted_is_said() {
    let bench = Bench::new(RULES);
    let layer = bench.path("project/.podward/pod.toml");
    fs::create_dir(layer.parent().unwrap()).unwrap();
    fs::write(&layer, "[permissions]\ndefault_action = \"allow\"\n").unwrap();
    fs::set_permissions(&layer, fs::Permissions::from_mode(0o644)).unwrap();
    bench.trust();
    let model = script(&[&[text("one")], &[text("two")]]);
    let first = bench.run(&model, "do it");
    assert_eq!(first.notices().count(), 0);
    fs::write(&layer, "# new\n[permissions]\ndefault_action = \"allow\"\n").unwrap();
    let second = bench.run_with(&model, |request| {
        request.session = SessionChoice::Resume(first.session.to_string());
    });
    let notices: Vec<_> = second.notices().collect();
    let expected = [
        "the project's layer was changed since it was trusted",
        "the manifest is another one than in the last run; the rules are the same",
    ];
    assert_eq!(notices, expected);
}

fn a_damaged_log_is_not_continued() {
    let bench = Bench::new(RULES);
    let model = script(&[&[write("a.txt", "x")], &[text("done")]]);
    let ran = bench.run(&model, "do it");
    let log = ran.session_dir.join("decisions.jsonl");
    let changed = fs::read_to_string(&log).unwrap().replace("a.txt", "b.txt");
    fs::write(&log, changed).unwrap();
    let error = bench.start_error(&model, SessionChoice::Resume(ran.session.to_string()));
    assert!(
        error.contains("decisions.jsonl`, line 2: the session knows a decision"),
        "{error}"
    );
}

fn a_session_that_is_gone_though_decisions_were_made_is_an_error() {
    let bench = Bench::new(RULES);
    let model = script(&[&[write("a.txt", "x")], &[text("done")]]);
    let ran = bench.run(&model, "go");
    fs::write(ran.session_dir.join("session.jsonl"), "").unwrap();
    let error = bench.start_error(&model, SessionChoice::Resume(ran.session.to_string()));
    assert!(
        error.contains("session.jsonl`, line 1: it is empty"),
        "{error}"
    );
}

/// Neither a pipe nor a device: both could keep podward waiting for ever.
fn a_script_is_a_regular_file() {
    let bench = Bench::new(RULES);
    let pipe = bench.path("pipe");
    let mode = rustix::fs::Mode::RUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    for script in [pipe.as_path(), Path::new("/dev/zero")] {
        let error = bench.script_error(script);
        assert!(error.contains("it is no regular file"), "{error}");
    }
}

fn an_unknown_session_is_an_error() {
    let bench = Bench::new(RULES);
    let error = bench.start_error(&script(&[&[text("x")]]), SessionChoice::Resume("7Z".into()));
    assert_eq!(error, "no session has an id that begins with `7Z`");
}

/// Limits the size of files, so that the session's file is full in the middle of a turn.
fn nothing_runs_that_cannot_be_written_down() {
    let bench = Bench::new(RULES);
    let output = Command::new("bash")
        .arg("-c")
        .arg("trap '' XFSZ; ulimit -f 24; exec \"$0\" full-disk \"$1\"")
        .arg(std::env::current_exe().unwrap())
        .arg(bench.root())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let session = fs::read_dir(bench.path("state/podward/sessions"))
        .unwrap()
        .next()
        .unwrap();
    let directory = session.unwrap().path();
    let text = fs::read_to_string(directory.join("session.jsonl")).unwrap();
    assert!(text.ends_with('\n'), "the torn line is gone");
    let started = text
        .lines()
        .filter(|line| line.contains("\"started\""))
        .count();
    let written = fs::read_dir(bench.path("project"))
        .unwrap()
        .filter(|entry| {
            let name = entry.as_ref().unwrap().file_name();
            name.to_string_lossy().ends_with(".txt")
        });
    let files = written.count();
    assert!(
        files > 0 && files <= started,
        "{files} files, {started} starts on record"
    );
    // With room on the disk, it goes on.
    let id = podward_protocol::SessionId::new(directory.file_name().unwrap().to_str().unwrap());
    let ran = bench.go_on(&script(&[]), &id.unwrap());
    check_pairing(bench.history(&ran).messages()).unwrap();
}

/// The subject of the test above.
fn on_a_full_disk(root: &Path) -> ExitCode {
    let bench = Bench::at(root);
    let steps: Vec<_> = (0..200)
        .map(|n| vec![write(&format!("{n}.txt"), &"x".repeat(100))])
        .collect();
    let steps: Vec<&[Value]> = steps.iter().map(Vec::as_slice).collect();
    let (error, events) = bench.run_to_error(&script(&steps), "do it");
    assert!(
        error.starts_with("the turn ended because it cannot be recorded"),
        "{error}"
    );
    assert!(error.contains("cannot write `"), "{error}");
    assert!(matches!(events.last(), Some(Event::Status(Status::Idle))));
    let raised = events.iter().any(|event| matches!(event, Event::Error(_)));
    assert!(raised, "no event says so");
    ExitCode::SUCCESS
}

fn a_reader_that_is_gone_stops_nothing() {
    let bench = Bench::new(RULES);
    let model = script(&[&[write("a.txt", "x")], &[text("done")]]);
    bench.run_unwatched(&model, "do it");
    assert_eq!(bench.read("project/a.txt").unwrap(), "x");
}

/// Root may do what others may not: so all of this runs once more as another user.
fn everything_works_for_an_ordinary_user_too() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let everyone = fs::Permissions::from_mode(0o755);
    fs::set_permissions(directory.path(), everyone.clone()).unwrap();
    let program = directory.path().join("test");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    fs::set_permissions(&program, everyone).unwrap();
    let output = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(&program)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env(AGAIN, "1")
        .current_dir("/")
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stdout}\n{stderr}");
    assert!(
        stdout.contains(&format!("{} passed", TRIALS.len())),
        "{stdout}"
    );
}

/// Every entry of a run's session.
fn entries(ran: &Ran) -> Vec<Entry> {
    let text = fs::read_to_string(ran.session_dir.join("session.jsonl")).unwrap();
    let lines = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines
        .filter(|line| line["kind"] == "entry")
        .map(|line| serde_json::from_value(line["data"]["entry"].clone()).unwrap())
        .collect()
}

/// The history of a run's session; nothing in it needs repair.
fn history(ran: &Ran) -> History {
    let replayed = History::replay(&entries(ran)).unwrap();
    assert_eq!(replayed.repairs, []);
    replayed.history
}
