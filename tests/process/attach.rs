//! `podward attach` in a real terminal: tmux, at two sizes.

use std::process::Stdio;

use crate::children_asked;
use crate::sandbox::Sandbox;
use crate::serving::{Client, Pod, step};
use crate::tmux::Window;
use crate::typist::Typist;

/// The two sizes that everything has to work at.
const SIZES: [(u16, u16); 2] = [(80, 24), (200, 50)];

/// Asks about everything, and waits for whoever answers.
const ASK: &str =
    "[permissions]\ndefault_action = \"ask\"\non_ask = \"wait\"\nask_timeout = \"1h\"\n";

/// The last row of a question that can be answered.
const READY: &str = "y: yes   n: no";

/// A pod that is told to go on, and makes these calls.
fn asking(sandbox: &Sandbox, script: &str) -> (Pod, Client) {
    let manifest = sandbox.pod(script, ASK);
    let pod = Pod::serve(sandbox, &manifest);
    let mut client = Client::onlooker(&pod, "starter");
    client.run("go");
    client.request();
    (pod, client)
}

fn attach(sandbox: &Sandbox, (columns, rows): (u16, u16)) -> Window {
    let program = sandbox.podward(&["attach", "test"]);
    Window::start(sandbox.path(""), &program, columns, rows)
}

fn has(sandbox: &Sandbox, name: &str) -> bool {
    sandbox.work().join(name).exists()
}

#[test]
fn keys_that_were_typed_ahead_answer_nothing_and_y_does() {
    for size in SIZES {
        let sandbox = Sandbox::new();
        let (_pod, mut client) = asking(&sandbox, &step(&["touch made"]));
        let mut window = attach(&sandbox, size);
        window.types("yyyy  ");
        window.presses(&["Enter", "Enter"]);
        let screen = window.sees(READY);
        assert!(screen.contains("> touch made"), "{screen}");
        assert!(screen.contains("asks    default of manifest"), "{screen}");
        window.presses(&["Space", "Enter"]);
        window.sees("Enter answers nothing");
        window.keeps("typed-ahead");
        assert!(!has(&sandbox, "made"));
        window.types("j");
        window.sees(READY);
        window.types("y");
        client.event("turn_ended");
        assert!(has(&sandbox, "made"), "{size:?}");
        let screen = window.sees("done \u{b7} 1 call");
        assert!(
            screen.contains("yes, once  (\"podward attach\")"),
            "{screen}"
        );
    }
}

#[test]
fn a_window_may_change_its_size_at_any_time() {
    let sandbox = Sandbox::new();
    let command = format!("touch made; echo {}", "word ".repeat(200));
    let (_pod, mut client) = asking(&sandbox, &step(&[&command]));
    let mut window = attach(&sandbox, (200, 50));
    window.sees(READY);
    window.resizes(40, 10);
    window.sees("space: go on");
    window.keeps("resized");
    window.types("y");
    window.sees("rows were not on the screen yet");
    assert!(!has(&sandbox, "made"));
    window.resizes(5, 3);
    window.sees_no_more("podward");
    window.resizes(200, 50);
    window.sees(READY);
    window.types("y");
    client.event("turn_ended");
    assert!(has(&sandbox, "made"));
}

/// Goes on until all of a question was on the screen; a burst of blanks turns one page.
fn turn_all(window: &mut Window) {
    let mut screen = window.screen();
    while !screen.contains("y: wait") && !screen.contains(READY) {
        window.types("   ");
        screen = window.sees_other_than(&screen);
    }
}

/// What is dangerous stands at the end of a long text, or below many blank lines.
#[test]
fn nothing_is_approved_before_its_end_was_there() {
    let long = format!("touch made; echo {}; rm -rf src", "abcdefghi ".repeat(400));
    let blank = format!("touch made{}rm -rf src", "\n".repeat(61));
    for size in SIZES {
        for (command, is_long) in [(&long, size.0 == 80), (&blank, false)] {
            let sandbox = Sandbox::new();
            let (_pod, mut client) = asking(&sandbox, &step(&[command]));
            let mut window = attach(&sandbox, size);
            if is_long {
                window.sees("space: go on");
                window.types("y");
                window.sees("were not on the screen yet");
                window.keeps("long-not-yet");
                assert!(!has(&sandbox, "made"));
                turn_all(&mut window);
            }
            let screen = window.sees(READY);
            assert!(screen.contains("rm -rf src"), "{screen}");
            if command.contains('\n') {
                assert!(screen.contains("~ 60 blank rows"), "{screen}");
                window.keeps("blank-lines");
            } else {
                window.keeps("long-end");
            }
            window.types("y");
            client.event("turn_ended");
            assert!(has(&sandbox, "made"), "{size:?}");
        }
    }
}

#[test]
fn fifty_questions_are_one_queue() {
    for size in SIZES {
        let sandbox = Sandbox::new();
        let commands: Vec<String> = (0..50).map(|n| format!("touch made{n}")).collect();
        let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
        let (_pod, mut client) = asking(&sandbox, &step(&commands));
        let mut window = attach(&sandbox, size);
        window.sees("test asks, 1 of 50");
        window.sees(READY);
        window.keeps("fifty");
        window.types("yyyyyyyy");
        window.sees("y counts after half a second");
        assert!(!has(&sandbox, "made0"));
        window.types("j");
        window.sees(READY);
        window.types("y");
        window.sees("test asks, 1 of 49");
        window.sees(READY);
        window.presses(&["Tab"]);
        window.sees("test asks, 2 of 49");
        window.sees(READY);
        window.types("n");
        window.sees("of 48");
        sandbox.run(&["reply", "test", "all", "reject"]).exits(0);
        client.event("turn_ended");
        window.sees("50 calls");
        let n_made = (0..50).filter(|n| has(&sandbox, &format!("made{n}")));
        assert_eq!(n_made.count(), 1);
    }
}

#[test]
fn a_pod_that_was_killed_and_started_anew_is_answered_in_the_same_window() {
    for size in SIZES {
        let sandbox = Sandbox::new();
        let manifest = sandbox.pod(&step(&["touch made"]), ASK);
        let (pod, client) = asking(&sandbox, &step(&["touch made"]));
        let mut window = attach(&sandbox, size);
        window.sees(READY);
        drop(client);
        pod.kill();
        window.sees("trying again");
        window.keeps("lost");
        window.types("y");
        window.sees("no answer counts");
        let session = sandbox.session();
        let pod = Pod::go_on(&sandbox, &manifest, &session);
        let mut client = Client::onlooker(&pod, "starter");
        window.sees(READY);
        window.keeps("started-anew");
        window.types("y");
        client.event("turn_ended");
        assert!(has(&sandbox, "made"));
    }
}

/// What a question shows, what *always* would save, what an edit would run, and what is said of it.
#[test]
fn a_question_is_answered_from_what_it_shows() {
    let rules = format!(
        "{ASK}rule = [{{ tool = \"bash\", pattern = \"git fetch*\", action = \"allow\" }},\n\
         {{ tool = \"bash\", pattern = \"git push*\", action = \"ask\" }}]\n"
    );
    for size in SIZES {
        let sandbox = Sandbox::new();
        let script = step(&["git fetch && git push origin main"]);
        let script = script.replacen(
            "[[step]]",
            "[[step]]\ntext = \"I publish what is done.\"",
            1,
        );
        let pod = Pod::serve(&sandbox, &sandbox.pod(&script, &rules));
        let mut client = Client::onlooker(&pod, "starter");
        client.run("publish the branch");
        client.request();
        let mut window = attach(&sandbox, size);
        window.sees(READY);
        window.keeps("question");
        window.types("a");
        window.sees("would not run");
        window.types("2");
        window.sees("> 2 bash");
        window.keeps("always");
        window.presses(&["Escape"]);
        window.sees(READY);
        window.types("e --dry-run");
        window.sees("--dry-run");
        window.presses(&["C-s"]);
        window.sees("y: run this");
        window.keeps("edited");
        window.presses(&["Escape"]);
        window.sees("Ctrl-S: done");
        window.presses(&["Escape"]);
        window.sees(READY);
        window.types("ruse a branch of your own");
        window.sees("branch of your own");
        window.keeps("reason");
        window.presses(&["Enter"]);
        client.event("turn_ended");
        window.sees("done \u{b7} 1 call");
        window.types("and then the docs");
        window.sees("the docs");
        window.keeps("conversation");
        window.presses(&["F1"]);
        window.sees("any key goes back");
        window.keeps("keys");
    }
}

/// A question of a pod below is put under its path, and answered like one of the pod's own.
#[test]
fn a_question_of_a_child_stands_under_its_path() {
    for size in SIZES {
        let sandbox = Sandbox::new();
        let pod = Pod::serve(&sandbox, &children_asked::asking(&sandbox));
        let mut window = attach(&sandbox, size);
        window.sees("[test idle]");
        let mut client = Client::onlooker(&pod, "starter");
        client.run("go");
        window.sees(READY);
        let screen = window.sees("test/worker/inner asks");
        assert!(screen.contains("> touch made"), "{screen}");
        window.keeps("child");
        window.types("y");
        client.event("turn_ended");
        assert!(has(&sandbox, "made"));
    }
}

/// The lines of the file that change, with their numbers there.
#[test]
fn an_edit_is_shown_as_the_lines_of_its_file() {
    for size in SIZES {
        let sandbox = Sandbox::new();
        let lines: String = (1..=40)
            .map(|n| format!("line {n} of the notes\n"))
            .collect();
        sandbox.write("work/notes.md", &lines);
        let script = "[[step]]\n[[step.call]]\ntool = \"file_edit\"\ninput = { path = \"notes.md\", \
                      old_string = \"line 21 of\", new_string = \"the most important line of\" }\n";
        let (_pod, mut client) = asking(&sandbox, script);
        let mut window = attach(&sandbox, size);
        let screen = window.sees(READY);
        assert!(screen.contains("@@ line 18"), "{screen}");
        assert!(screen.contains("-line 21 of the notes"), "{screen}");
        window.keeps("file-edit");
        window.types("y");
        client.event("turn_ended");
        let text = std::fs::read_to_string(sandbox.path("work/notes.md")).unwrap();
        assert!(text.contains("the most important line of the notes"));
    }
}

/// The person's file moves keys; one that would loosen something starts nothing.
#[test]
fn keys_are_those_of_the_persons_file() {
    let sandbox = Sandbox::new();
    let (_pod, mut client) = asking(&sandbox, &step(&["touch made"]));
    let file = "config/podward/attach.toml";
    sandbox.write(file, "[question]\nyes = [\"Enter\"]\nnext = [\"n\"]\n");
    // Nothing is shown before the file is read.
    let ran = Typist::start(sandbox.at_terminal(&["attach", "test"]), None);
    let (code, shown) = ran.ends();
    assert_eq!(code, Some(64), "{shown}");
    assert!(
        shown.contains("line 2, column 8: `Enter` cannot be for `yes`"),
        "{shown}"
    );
    assert!(
        shown.contains("`n` is for `no` in [question] and for `next`"),
        "{shown}"
    );
    sandbox.write(file, "[question]\nyes = [\"p\"]\n");
    let mut window = attach(&sandbox, (80, 24));
    window.sees("p: yes   n: no");
    window.types("y");
    window.types("?");
    window.sees("  p                 yes, once");
    window.types(" ");
    window.sees("p: yes   n: no");
    assert!(!has(&sandbox, "made"));
    window.types("p");
    client.event("turn_ended");
    assert!(has(&sandbox, "made"));
}

/// Ctrl-Z, a signal and leaving give the terminal back.
#[test]
fn the_terminal_is_given_back() {
    let sandbox = Sandbox::new();
    let manifest = sandbox.pod(&step(&["true"]), ASK);
    let _pod = Pod::serve(&sandbox, &manifest);
    let mut shell = sandbox.podward::<&str>(&[]);
    let program = shell.get_program().to_owned();
    shell.env("PS1", "ready> ").env("PODWARD", program);
    let mut bash = std::process::Command::new("bash");
    bash.args(["--norc", "--noprofile", "-i"]);
    for (key, value) in shell.get_envs() {
        bash.env(key, value.unwrap_or_default());
    }
    let mut window = Window::start(sandbox.path(""), &bash, 80, 24);
    window.sees("ready>");
    window.types("\"$PODWARD\" attach test\n");
    window.sees("[test idle]");
    window.types("not sent");
    window.sees("> not sent");
    window.presses(&["C-z"]);
    window.sees("Stopped");
    window.types("echo $((40 + 2))\n");
    window.sees("42");
    window.types("fg\n");
    let screen = window.sees("[test idle]");
    assert!(screen.contains("> not sent"), "{screen}");
    window.presses(&["C-q", "C-q"]);
    window.sees("not sent: not sent");
    let pid = sandbox.path("pid");
    let command = format!("echo $$ > '{}'; exec \"$PODWARD\" attach", pid.display());
    window.types(&format!("sh -c {}\n", quoted(&command)));
    window.sees("pods that run");
    // The list is empty until it was looked for.
    window.sees("> test");
    window.presses(&["Enter"]);
    window.sees("[test idle]");
    sandbox.run(&["stop", "test"]).exits(0);
    window.sees("trying again");
    let pid: i32 = std::fs::read_to_string(pid)
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    window.sees_no_more("trying again");
    window.types("echo $((40 + 3))\n");
    window.sees("43");
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// In lines, what is typed is a prompt, an answer or nothing, and what was typed before a question is none.
#[test]
fn in_lines_prompts_are_taken_and_questions_asked_in_place() {
    let sandbox = Sandbox::new();
    let wait = "until [ -e go ]; do :; done";
    let script = step(&[wait]) + &step(&["touch made"]) + &step(&["touch also"]);
    let _pod = Pod::serve(&sandbox, &sandbox.pod(&script, &allows_waiting()));
    let attach = sandbox.at_terminal(&["attach", "--plain", "test"]);
    let mut typist = Typist::start(attach, None);
    typist.sees("prompt: ");
    typist.types("y");
    typist.sees("no question is open: that line was not sent");
    typist.sees("prompt: ");
    typist.types("go");
    // While the pod works, the beginning of a line; it is in the terminal when it is echoed.
    typist.sees("#1   allow");
    typist.presses("y\ny");
    typist.sees("y\ny");
    sandbox.write("work/go", "");
    typist.sees("may #2 bash run?");
    typist.sees("? = help: ");
    typist.types("");
    typist.sees("Enter alone answers nothing");
    assert!(!has(&sandbox, "made"));
    typist.sees("? = help: ");
    typist.types("y");
    typist.sees("may #3 bash run?");
    assert!(has(&sandbox, "made"));
    typist.sees("? = help: ");
    typist.types("n use made");
    typist.sees("prompt: ");
    assert!(!has(&sandbox, "also"));
    // The end of the input leaves; the pod goes on.
    typist.presses("\u{4}");
    let (code, shown) = typist.ends();
    assert_eq!(code, Some(0), "{shown}");
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
    sandbox.run(&["stop", "test"]).exits(0);
}

/// Asks about everything but the waiting for a file.
fn allows_waiting() -> String {
    format!(
        "{ASK}rule = [{{ tool = \"bash\", pattern = \"until *\", action = \"allow\" }},\n\
         {{ tool = \"bash\", pattern = \"[[] -e *\", action = \"allow\" }}]\n"
    )
}

/// In lines, a pod that stops says so, and one that dies is a failure.
#[test]
fn in_lines_a_connection_that_is_lost_is_no_end() {
    for (is_killed, code) in [(false, 0), (true, 1)] {
        let sandbox = Sandbox::new();
        let pod = Pod::serve(&sandbox, &sandbox.pod(&step(&["true"]), ASK));
        let mut client = Client::onlooker(&pod, "starter");
        let mut attach = sandbox.podward(&["attach", "--plain", "test"]);
        attach.stdout(Stdio::piped()).stderr(Stdio::piped());
        let attach = attach.spawn().unwrap();
        while client.event("client_joined")["name"] != "podward attach" {}
        if is_killed {
            pod.kill();
        } else {
            sandbox.run(&["stop", "test"]).exits(0);
        }
        let output = attach.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{said}");
        let is_lost = said.contains("the connection to the pod is over");
        assert_eq!(is_lost, is_killed, "{said}");
    }
}
