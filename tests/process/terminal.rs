//! `run` at a terminal asks in place, and only a line that says so is a yes.

use crate::sandbox::{ALLOW_ALL, Ran, Sandbox};
use crate::session_files::{Ending, decisions, exchanges};
use crate::typist::Typist;

/// Asks about all of bash but the waiting for a file.
const ASK: &str = "[permissions]\ndefault_action = \"allow\"\n\
    rule = [{ tool = \"bash\", pattern = \"until *\", action = \"allow\" },\n\
    { tool = \"bash\", pattern = \"[[] -e *\", action = \"allow\" },\n\
    { tool = \"bash\", pattern = \"*\", action = \"ask\" }]\n";

/// A message with calls of bash.
fn step(commands: &[&str]) -> String {
    let mut step = "[[step]]\n".to_owned();
    for command in commands {
        step.push_str(&format!(
            "[[step.call]]\ntool = \"bash\"\ninput = {{ command = '''{command}''' }}\n"
        ));
    }
    step
}

fn run(sandbox: &Sandbox, script: &str, arguments: &[&str]) -> Typist {
    let pod = sandbox.pod(script, ASK);
    let mut all = vec!["run", pod.to_str().unwrap(), "go"];
    all.extend(arguments);
    Typist::start(sandbox.at_terminal(&all), None)
}

fn has(sandbox: &Sandbox, name: &str) -> bool {
    sandbox.work().join(name).exists()
}

const PROMPT: &str = "? = help: ";

#[test]
fn a_yes_runs_the_call_and_nothing_else_does() {
    let sandbox = Sandbox::new();
    let mut typist = run(&sandbox, &step(&["touch made"]), &[]);
    let question = typist.sees(PROMPT);
    assert!(question.contains("\u{7}"), "the bell: {question}");
    assert!(
        question.contains("may #1 bash run?\n  > touch made\n"),
        "{question}"
    );
    for line in ["", " ", "ok", "yy"] {
        typist.types(line);
        typist.sees(PROMPT);
        assert!(!has(&sandbox, "made"), "{line:?}");
    }
    typist.types("y");
    let (code, shown) = typist.ends();
    assert_eq!(code, Some(0), "{shown}");
    assert!(has(&sandbox, "made"));
    let last = decisions(&sandbox.session()).pop().unwrap();
    assert_eq!(last["by"]["kind"], "client", "{last}");
}

#[test]
fn a_no_reaches_the_model_word_for_word_and_the_end_of_input_is_a_no() {
    let sandbox = Sandbox::new();
    let script = step(&["touch a"])
        + &step(&["touch b"]).replacen(
            "[[step]]\n",
            "[[step]]\ntext = \"{{result.1 | find better}}\"\n",
            1,
        );
    let mut typist = run(&sandbox, &script, &[]);
    typist.sees(PROMPT);
    typist.types("n  better \"a\"  than b");
    // Its echo, the result, and what the model says of it.
    for _ in 0..4 {
        typist.sees("better \"a\"  than b");
    }
    typist.sees("may #2 bash run?");
    typist.sees(PROMPT);
    typist.presses("\u{4}");
    let (code, shown) = typist.ends();
    assert_eq!(code, Some(10), "{shown}");
    assert!(!has(&sandbox, "a") && !has(&sandbox, "b"));
    let results = exchanges(&sandbox.session(), Ending::Written);
    assert!(
        results[0].content.contains("better \"a\"  than b"),
        "{results:#?}"
    );
    assert!(results.iter().all(|result| result.is_error), "{results:#?}");
}

/// The end of the pipe is the same terminal.
#[test]
fn what_the_model_says_into_a_pipe_moves_no_question() {
    let sandbox = Sandbox::new();
    let said = "text = \"harmless\\u001b[8m\\u001b[2J\\u009b1;3rmay #1 bash run?\"";
    let script = step(&["touch made"]).replacen("[[step]]", &format!("[[step]]\n{said}"), 1);
    let pod = sandbox.pod(&script, ASK);
    let arguments = ["run", pod.to_str().unwrap(), "go"];
    let command = sandbox.at_terminal_by("\"$@\" | cat", &arguments);
    let mut typist = Typist::start(command, None);
    typist.sees(PROMPT);
    typist.types("n");
    let (_, shown) = typist.ends();
    assert!(!shown.contains(['\u{1b}', '\u{9b}']), "{shown:?}");
    assert!(
        shown.contains("harmless\\u{1b}[8m\\u{1b}[2J\\u{9b}1;3rmay"),
        "{shown:?}"
    );
}

#[test]
fn what_is_typed_before_a_question_does_not_answer_it() {
    let sandbox = Sandbox::new();
    let script = step(&["until [ -e go ]; do :; done"]) + &step(&["touch made"]);
    let mut typist = run(&sandbox, &script, &[]);
    typist.sees("#1   allow");
    typist.presses("y\ny\ny");
    // It is in the terminal when it is echoed.
    typist.sees("y\ny\ny");
    sandbox.write("work/go", "");
    typist.sees(PROMPT);
    typist.types("n");
    let (code, shown) = typist.ends();
    assert_eq!(code, Some(10), "{shown}");
    assert!(!has(&sandbox, "made"), "{shown}");
}

#[test]
fn always_asks_back_and_is_not_asked_again() {
    let sandbox = Sandbox::new();
    let script = step(&["touch made"]) + &step(&["touch made; echo again"]);
    let mut typist = run(&sandbox, &script, &[]);
    typist.sees(PROMPT);
    typist.types("a");
    let choices = typist.sees("Enter to go back: ");
    assert!(
        choices.contains("1  bash  `touch made`  (only this, in this directory)"),
        "{choices}"
    );
    typist.types("1");
    let asked_back = typist.sees("Enter to go back: ");
    assert!(asked_back.contains("bash  `touch made`"), "{asked_back}");
    assert!(!has(&sandbox, "made"));
    typist.types("s");
    // The other part of the second call still asks.
    let second = typist.sees(PROMPT);
    assert!(
        second.contains("  | touch made; echo again\n                ^^^^^^^^^^\n"),
        "{second}"
    );
    typist.types("n");
    let (code, _) = typist.ends();
    assert_eq!(code, Some(10));
    assert!(has(&sandbox, "made"));
}

#[test]
fn other_arguments_run_instead() {
    let sandbox = Sandbox::new();
    let mut typist = run(&sandbox, &step(&["touch a"]), &[]);
    typist.sees(PROMPT);
    typist.types("e");
    typist.sees("Enter to go back: ");
    typist.types("touch b");
    typist.sees("run this instead? y = yes, Enter to go back: ");
    typist.types("y");
    let (code, shown) = typist.ends();
    assert_eq!(code, Some(0), "{shown}");
    assert!(has(&sandbox, "b") && !has(&sandbox, "a"), "{shown}");
}

#[test]
fn a_parked_call_holds_back_no_other_and_questions_come_one_by_one() {
    let sandbox = Sandbox::new();
    let script = step(&["touch a", "until [ -e go ]; do :; done", "touch b"]);
    let mut typist = run(&sandbox, &script, &[]);
    typist.sees(PROMPT);
    sandbox.write("work/go", "");
    typist.sees("#2   done");
    typist.sees(PROMPT);
    typist.types("y");
    typist.sees("may #3 bash run?");
    typist.sees(PROMPT);
    typist.types("y");
    let (code, shown) = typist.ends();
    assert_eq!(code, Some(0), "{shown}");
    assert!(has(&sandbox, "a") && has(&sandbox, "b"), "{shown}");
}

/// A command line that removes `src` and says something on each of 30 further lines.
fn long_command() -> String {
    let mut command = "rm -r src".to_owned();
    for part in 1..=30 {
        command.push_str(&format!("\necho building part {part}"));
    }
    command
}

fn with_src(sandbox: &Sandbox) -> Vec<String> {
    sandbox.write("work/src/a", "");
    let pod = sandbox.pod(&step(&[&long_command()]), ASK);
    ["run", pod.to_str().unwrap(), "go"]
        .map(str::to_owned)
        .into()
}

#[test]
fn a_yes_waits_until_each_row_of_the_question_was_on_the_screen() {
    let sandbox = Sandbox::new();
    let arguments = with_src(&sandbox);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut typist = Typist::start_sized(sandbox.at_terminal(&arguments), 80, 24);
    let first = typist.sees("n = no: ");
    let (_, first) = first.split_once("may #1 bash run?").unwrap();
    assert!(first.contains("  > rm -r src\n"), "{first}");
    assert!(first.lines().count() < 24, "{first}");
    assert!(first.contains(" more lines: ? = go on"), "{first}");
    for line in ["y", "a", "e", ""] {
        typist.types(line);
        typist.sees("n = no: ");
        assert!(has(&sandbox, "src"), "{line:?}");
    }
    typist.types("?");
    let rest = typist.sees(PROMPT);
    assert!(rest.lines().count() <= 24, "{rest}");
    assert!(rest.contains("  > echo building part 30\n"), "{rest}");
    assert!(
        rest.contains("also    30 more commands, by the same rule\n"),
        "{rest}"
    );
    typist.types("y");
    let (code, shown) = typist.ends();
    assert_eq!(code, Some(0), "{shown}");
    assert_eq!(
        shown.matches("> echo building part 17\n").count(),
        1,
        "{shown}"
    );
    assert!(!has(&sandbox, "src"));
}

#[test]
fn a_window_that_was_made_smaller_shows_the_question_again_before_a_yes() {
    let sandbox = Sandbox::new();
    let arguments = with_src(&sandbox);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut typist = Typist::start(sandbox.at_terminal(&arguments), None);
    let whole = typist.sees(PROMPT);
    assert!(whole.contains("  > rm -r src\n"), "{whole}");
    typist.resizes(40, 20);
    typist.types("y");
    typist.sees("the screen has become smaller than what was shown on it");
    typist.sees("n = no: ");
    assert!(has(&sandbox, "src"));
    typist.types("y");
    typist.sees("n = no: ");
    assert!(has(&sandbox, "src"));
    typist.types("??");
    typist.sees(PROMPT);
    typist.types("y");
    let (code, shown) = typist.ends();
    assert_eq!(code, Some(0), "{shown}");
    assert!(!has(&sandbox, "src"));
}

#[test]
fn what_is_not_known_before_it_runs_is_offered_by_what_it_says() {
    let sandbox = Sandbox::new();
    let mut typist = run(&sandbox, &step(&["cat \"$UNKNOWN_FILE\""]), &[]);
    let question = typist.sees(PROMPT);
    assert!(
        question.contains("seen    not all that it would do: "),
        "{question}"
    );
    typist.types("a");
    let choices = typist.sees("Enter to go back: ");
    let (_, choices) = choices.split_once("without a question?\n").unwrap();
    assert!(
        choices.starts_with(
            "  1  bash  `cat *`  (this program, whatever follows; nothing narrower: a part of it is \
             not known before it runs)\nits number"
        ),
        "{choices}"
    );
    typist.presses("\u{4}");
    let (code, _) = typist.ends();
    assert_eq!(code, Some(10));
}

#[test]
fn ctrl_c_at_a_question_ends_the_turn_and_runs_nothing() {
    let sandbox = Sandbox::new();
    let mut typist = run(&sandbox, &step(&["touch made"]), &[]);
    typist.sees(PROMPT);
    typist.presses("\u{3}");
    let (code, shown) = typist.ends();
    assert_eq!(code, Some(130), "{shown}");
    assert!(!has(&sandbox, "made"));
    let results = exchanges(&sandbox.session(), Ending::Written);
    assert!(results[0].is_error, "{results:#?}");
}

/// The second Ctrl-C ends the process at once: no line is waited for then, and each key is told of.
#[test]
fn ctrl_c_twice_in_the_pause_of_a_question_leaves_the_terminal_as_it_was() {
    let sandbox = Sandbox::new();
    // It takes a while to kill what hears no SIGTERM.
    let script = step(&["trap '' TERM; sleep 1000", "touch made"]);
    let rules = "[permissions]\ndefault_action = \"allow\"\n\
        rule = [{ tool = \"bash\", pattern = \"touch *\", action = \"ask\" }]\n";
    let pod = sandbox.pod(&script, rules);
    let command = sandbox.at_terminal(&["run", pod.to_str().unwrap(), "go"]);
    let mut typist = Typist::start(command, None);
    typist.sees("may #2 bash run?");
    typist.is_heard_until(PROMPT);
    typist.presses("\u{3}");
    typist.sees("it is settled: ");
    typist.presses("\u{3}");
    let (code, shown) = typist.ends();
    assert_eq!(code, Some(130), "{shown}");
    assert!(!has(&sandbox, "made"));
}

#[test]
fn events_as_lines_stay_whole_while_a_person_answers() {
    let sandbox = Sandbox::new();
    let pod = sandbox.pod(&step(&["touch made"]), ASK);
    let arguments = ["run", pod.to_str().unwrap(), "go", "--format", "json"];
    let (reader, writer) = std::io::pipe().unwrap();
    let mut typist = Typist::start(sandbox.at_terminal(&arguments), Some(writer.into()));
    let lines = std::thread::spawn(move || std::io::read_to_string(reader).unwrap());
    typist.sees(PROMPT);
    typist.types("y");
    let (code, stderr) = typist.ends();
    let ran = Ran {
        code,
        stdout: lines.join().unwrap(),
        stderr,
    }
    .exits(0);
    let events: Vec<String> = ran
        .json_lines()
        .iter()
        .map(|line| line["event"].as_str().unwrap().to_owned())
        .collect();
    for event in ["permission_request", "permission_settled", "turn_ended"] {
        assert!(events.iter().any(|one| one == event), "{events:?}");
    }
}

#[test]
fn no_command_reaches_the_terminal_at_which_is_answered() {
    let sandbox = Sandbox::new();
    let commands = [
        "echo fake > /dev/tty",
        "read -r line < /dev/tty && echo got \"$line\"",
    ];
    let pod = sandbox.pod(&step(&commands), ALLOW_ALL);
    let arguments = ["run", pod.to_str().unwrap(), "go"];
    let (code, shown) = Typist::start(sandbox.at_terminal(&arguments), None).ends();
    assert_eq!(code, Some(0), "{shown}");
    assert!(!shown.lines().any(|line| line == "fake"), "{shown}");
    for result in exchanges(&sandbox.session(), Ending::Written) {
        assert!(result.content.contains("/dev/tty: "), "{result:#?}");
        assert!(!result.content.contains("got"), "{result:#?}");
    }
}

#[test]
fn nobody_is_asked_without_a_person_at_a_terminal() {
    let sandbox = Sandbox::new();
    let pod = sandbox.pod(&step(&["touch made"]), ASK);
    let arguments = ["run", pod.to_str().unwrap(), "go"];
    // A CI with a terminal.
    let mut command = sandbox.at_terminal(&arguments);
    command.env("CI", "true");
    let (code, shown) = Typist::start(command, None).ends();
    assert_eq!(code, Some(10), "{shown}");
    assert!(!shown.contains(PROMPT), "{shown}");
    // Standard input from elsewhere, and a terminal to write to.
    let command = sandbox.at_terminal_by("exec \"$@\" < /dev/null", &arguments);
    let (code, shown) = Typist::start(command, None).ends();
    assert_eq!(code, Some(10), "{shown}");
    assert!(!shown.contains(PROMPT), "{shown}");
    assert!(!has(&sandbox, "made"));
}
