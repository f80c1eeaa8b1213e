use podward_protocol::{Always, Answer, Chosen, GrantFor, Outcome, RequestId, Status};
use podward_view::Question;
use podward_view::sample::push;
use serde_json::{Value, json};

use super::{Answering, Prompts, Replied, Size, Step};
use crate::screen::Stream;
use crate::terminal::Typed;

const STREAM: Stream = Stream {
    is_terminal: true,
    is_colored: false,
};

const SIZE: Size = Size {
    columns: 80,
    rows: 24,
};

/// What happens at a terminal, one entry a line.
#[derive(Debug, Clone)]
enum Act {
    Asked(&'static str),
    Typed(&'static str),
    End,
    Replied(Replied),
    SettledBy(&'static str, Outcome),
}

/// A person who types nothing while they shall not.
struct Person(Answering);

impl Person {
    fn new(size: Size, prompts: Prompts) -> Self {
        Self(Answering::new(STREAM, size, prompts))
    }

    fn asked(&mut self, name: String, question: Question) -> Vec<Step> {
        let steps = self.0.asked(name, question);
        self.pause(steps)
    }

    fn typed(&mut self, typed: Typed) -> Vec<Step> {
        let steps = self.0.typed(typed);
        self.pause(steps)
    }

    fn replied(&mut self, replied: Replied) -> Vec<Step> {
        let steps = self.0.replied(replied);
        self.pause(steps)
    }

    fn settled(&mut self, id: &str, outcome: &Outcome) -> Vec<Step> {
        let steps = self.0.settled(&RequestId::new(id), outcome, "phone");
        self.pause(steps)
    }

    fn pause(&mut self, mut steps: Vec<Step>) -> Vec<Step> {
        if steps.contains(&Step::Pause) {
            steps.extend(self.0.after_pause());
        }
        steps
    }
}

/// The answers that are given, in order.
fn answers(acts: &[Act]) -> Vec<(String, Answer)> {
    run(acts).1
}

/// What is said, with `<bell>` and `<pause>`, and the answers.
fn run(acts: &[Act]) -> (String, Vec<(String, Answer)>) {
    let mut answering = Person::new(SIZE, Prompts::NotTaken);
    let (mut said, mut given) = (String::new(), Vec::new());
    for act in acts.iter().cloned() {
        let steps = match act {
            Act::Asked(id) => answering.asked(format!("#1 bash {id}"), push(id)),
            Act::Typed(line) => answering.typed(Typed::Line(line.to_owned())),
            Act::End => answering.typed(Typed::End),
            Act::Replied(replied) => answering.replied(replied),
            Act::SettledBy(id, outcome) => answering.settled(id, &outcome),
        };
        for step in steps {
            match step {
                Step::Say(text) => said.push_str(&text),
                Step::Bell => said.push_str("<bell>"),
                Step::Pause => said.push_str("<pause>"),
                Step::Run(_) | Step::Leave => panic!("no prompts are taken"),
                Step::Reply { id, digest, answer } => {
                    assert_eq!(digest, format!("digest of {id}"));
                    given.push((id.as_str().to_owned(), answer));
                }
            }
        }
    }
    (said, given)
}

fn said(steps: &[Step]) -> String {
    let texts = steps.iter().map(|step| match step {
        Step::Say(text) => text.as_str(),
        Step::Bell | Step::Pause | Step::Run(_) | Step::Leave | Step::Reply { .. } => "",
    });
    texts.collect()
}

fn line(line: &str) -> Typed {
    Typed::Line(line.to_owned())
}

fn is_once(steps: &[Step]) -> bool {
    matches!(
        steps,
        [Step::Reply {
            answer: Answer::Once,
            ..
        }]
    )
}

/// A question of this many lines, all of which ask.
fn of_lines(n_lines: usize) -> Question {
    let mut question = push("a");
    question.request.arguments = json!({ "command": "echo x\n".repeat(n_lines) + "rm -rf src" });
    question.request.operations.clear();
    question.request.asking.clear();
    question
}

fn at(id: &str, answer: Answer) -> Vec<(String, Answer)> {
    vec![(id.to_owned(), answer)]
}

fn no(feedback: Option<&str>) -> Answer {
    Answer::Reject {
        feedback: feedback.map(str::to_owned),
    }
}

#[test]
fn only_a_word_that_says_so_is_a_yes() {
    for line in ["y", "Y", "yes", " y "] {
        let acts = [Act::Asked("a"), Act::Typed(line)];
        assert_eq!(answers(&acts), at("a", Answer::Once), "{line:?}");
    }
    for line in [
        "",
        " ",
        "\t",
        "ok",
        "ye",
        "yy",
        "y n",
        "1",
        "j",
        "y\u{200b}",
        "ＹＥＳ",
        "a",
        "e",
        "?",
        "\r",
    ] {
        let acts = [Act::Asked("a"), Act::Typed(line)];
        assert_eq!(answers(&acts), [], "{line:?}");
    }
}

#[test]
fn a_no_can_say_something_to_the_model() {
    for (line, feedback) in [
        ("n", None),
        ("no", None),
        ("N", None),
        (
            "n push to a branch: \"x\"  first",
            Some("push to a branch: \"x\"  first"),
        ),
    ] {
        let acts = [Act::Asked("a"), Act::Typed(line)];
        assert_eq!(answers(&acts), at("a", no(feedback)), "{line:?}");
    }
}

#[test]
fn the_end_of_the_input_is_a_no_wherever_it_comes() {
    for lines in [
        &[][..],
        &["a"],
        &["a", "2"],
        &["e"],
        &["e", "true"],
        &["?"],
        &["x"],
    ] {
        let mut acts = vec![Act::Asked("a")];
        acts.extend(lines.iter().map(|line| Act::Typed(line)));
        acts.push(Act::End);
        assert_eq!(answers(&acts), at("a", no(None)), "{lines:?}");
    }
    assert_eq!(answers(&[Act::End]), [], "nothing was asked");
}

#[test]
fn always_shows_what_it_would_save_and_asks_back() {
    let always = |width, lasts| {
        Answer::Always(Always {
            what: Chosen::Width(width),
            lasts,
        })
    };
    for (lines, answer) in [
        (&["a", "1", "s"][..], Some(always(0, GrantFor::Session))),
        (&["always", "2", "p"], Some(always(1, GrantFor::Project))),
        (
            &["a", "3", "0", "x", "2", "y", "s"],
            Some(always(1, GrantFor::Session)),
        ),
        (&["a", "", "y"], Some(Answer::Once)),
        (&["a", "1", "", "n"], Some(no(None))),
        (&["a", "y", "s"], None),
        (&["a", "1", "y"], None),
        (&["a", "1"], None),
    ] {
        let mut acts = vec![Act::Asked("a")];
        acts.extend(lines.iter().map(|line| Act::Typed(line)));
        let expected = answer.map(|answer| at("a", answer)).unwrap_or_default();
        assert_eq!(answers(&acts), expected, "{lines:?}");
    }
    let (said, _) = run(&[Act::Asked("a"), Act::Typed("a"), Act::Typed("2")]);
    let (_, asked_back) = said.split_once("without a question from now on:").unwrap();
    assert!(asked_back.contains("bash  `git push *`"), "{said}");
    assert!(!asked_back.contains("origin"), "{said}");
}

#[test]
fn other_arguments_are_shown_before_they_run() {
    let edited = |command: &str| {
        let arguments = json!({"command": command, "timeout_ms": 5});
        match arguments {
            Value::Object(arguments) => Answer::Edit { arguments },
            _ => panic!("it is an object"),
        }
    };
    let acts = |lines: &[&'static str]| {
        let mut acts = vec![Act::Asked("a")];
        acts.extend(lines.iter().map(|line| Act::Typed(line)));
        acts
    };
    let changed = acts(&["e", "git push --dry-run", "y"]);
    assert_eq!(answers(&changed), at("a", edited("git push --dry-run")));
    assert_eq!(answers(&acts(&["e", "git push --dry-run", ""])), []);
    assert_eq!(answers(&acts(&["e", "", "y"])), at("a", Answer::Once));
    let (said, _) = run(&acts(&["e", "echo \u{202e}x"]));
    assert!(said.contains("  | echo \\u{202e}x\n"), "{said}");
}

#[test]
fn what_was_settled_by_somebody_else_takes_no_answer_and_the_next_one_not_by_surprise() {
    let settled = Act::SettledBy("a", Outcome::ApprovedOnce);
    let mut acts = vec![Act::Asked("a"), Act::Asked("b"), settled, Act::Typed("y")];
    let (said, given) = run(&acts);
    assert_eq!(
        given,
        [],
        "the line was meant for the question that is gone"
    );
    assert!(said.contains("it is settled: yes, once (phone)"), "{said}");
    acts.push(Act::Typed("y"));
    assert_eq!(answers(&acts), at("b", Answer::Once));
    // Also when the next one comes later.
    let settled = Act::SettledBy("a", Outcome::Cancelled);
    let mut acts = vec![Act::Asked("a"), settled, Act::Typed("y"), Act::Asked("b")];
    acts.push(Act::Typed("y"));
    assert_eq!(answers(&acts), []);
    acts.push(Act::Typed("n"));
    assert_eq!(answers(&acts), at("b", no(None)));
}

#[test]
fn what_ends_with_its_turn_is_not_put_up_any_more() {
    let cancelled = |id| Act::SettledBy(id, Outcome::Cancelled);
    let mut acts = vec![Act::Asked("a"), Act::Asked("b"), Act::Asked("c")];
    acts.extend(["a", "b", "c"].map(cancelled));
    let (said, _) = run(&acts);
    assert_eq!(said.matches("it is settled").count(), 1, "{said}");
    assert!(!said.contains("bash b run?"), "{said}");
    // The next turn's is.
    acts.extend([Act::Asked("d"), Act::Typed(""), Act::Typed("y")]);
    assert_eq!(answers(&acts), at("d", Answer::Once));
}

#[test]
fn questions_are_answered_one_after_the_other() {
    let settled = Act::Replied(Replied::Settled);
    let acts = [
        Act::Asked("a"),
        Act::Asked("b"),
        Act::Asked("c"),
        Act::Asked("b"),
        Act::Typed("y"),
        // Nothing is asked while an answer is on its way.
        Act::Typed("y"),
        Act::SettledBy("a", Outcome::ApprovedOnce),
        settled.clone(),
        // Answered elsewhere before it was shown.
        Act::SettledBy("c", Outcome::Rejected),
        Act::Typed("n"),
        settled,
        Act::Typed("y"),
    ];
    let expected = [("a".to_owned(), Answer::Once), ("b".to_owned(), no(None))];
    assert_eq!(answers(&acts), expected);
}

#[test]
fn an_answer_that_does_not_count_is_said() {
    let open = Act::Replied(Replied::StillOpen("the rules deny \u{1b}[2J".to_owned()));
    let (said, given) = run(&[Act::Asked("a"), Act::Typed("y"), open, Act::Typed("n")]);
    assert!(
        said.contains("it does not count: the rules deny \\u{1b}[2J\n"),
        "{said}"
    );
    assert_eq!(given.len(), 2);
    let gone = Act::Replied(Replied::Gone("phone was faster".to_owned()));
    let (said, given) = run(&[Act::Asked("a"), Act::Typed("y"), gone, Act::Typed("n")]);
    assert!(
        said.ends_with("it does not count: phone was faster\n"),
        "{said}"
    );
    assert_eq!(given.len(), 1);
}

#[test]
fn what_was_typed_before_a_question_is_forgotten_after_it_is_shown() {
    let (said, _) = run(&[Act::Asked("a")]);
    let (shown, prompt) = said.split_once("<pause>").unwrap();
    assert!(shown.contains("git push origin main"), "{said}");
    assert!(shown.starts_with("<bell>"), "{said}");
    assert_eq!(
        prompt,
        "#1 bash a: y = yes, n = no, a = always, e = edit, ? = help: "
    );
}

#[test]
fn a_yes_needs_all_of_the_call_to_be_shown() {
    let mut question = push("a");
    let long = "echo\n".repeat(1000) + "rm -rf /";
    question.request.arguments = json!({ "command": long });
    question.request.choices.clear();
    question.request.no_always = Some("unknown code".to_owned());
    let mut answering = Person::new(SIZE, Prompts::NotTaken);
    let shown = answering.asked("#1 bash".to_owned(), question);
    assert!(
        said(&shown).ends_with("987 more lines: ? = go on, ?? = all at once, n = no: "),
        "{shown:?}"
    );
    assert_eq!(said(&shown).lines().count(), 24);
    let yes = || Typed::Line("y".to_owned());
    let refused = answering.typed(yes());
    assert!(
        format!("{refused:?}").contains("not all of it is shown"),
        "{refused:?}"
    );
    let more = answering.typed(Typed::Line("?".to_owned()));
    assert_eq!(said(&more).lines().count(), 24);
    assert!(format!("{:?}", answering.typed(yes())).contains("not all of it is shown"));
    let all = answering.typed(Typed::Line("??".to_owned()));
    assert!(said(&all).contains("rm -rf /"), "{all:?}");
    let always = answering.typed(Typed::Line("a".to_owned()));
    assert!(
        format!("{always:?}").contains("no `always` here: unknown code"),
        "{always:?}"
    );
    assert!(matches!(
        answering.typed(yes()).as_slice(),
        [Step::Reply { .. }]
    ));
}

#[test]
fn a_line_that_a_terminal_may_have_cut_is_not_taken() {
    let mut answering = Person::new(SIZE, Prompts::NotTaken);
    answering.asked("#1 bash".to_owned(), push("a"));
    let steps = answering.typed(Typed::TooLong);
    assert!(format!("{steps:?}").contains("not taken"), "{steps:?}");
}

/// Whatever the size of the screen is, a yes counts after each row was on it, and no screen held more
/// rows than it has.
#[test]
fn no_screen_shows_more_than_it_has_room_for() {
    for (columns, n_rows) in [(80, 24), (80, 5), (40, 10), (20, 12), (200, 60), (33, 7)] {
        let size = Size {
            columns,
            rows: n_rows,
        };
        let mut answering = Person::new(size, Prompts::NotTaken);
        let mut shown = said(&answering.asked("#1 bash".to_owned(), of_lines(100)));
        let mut all = String::new();
        loop {
            assert!(size.height_of(&shown) <= n_rows, "{size:?}: {shown}");
            all.push_str(&shown);
            if !shown.contains(" more line") {
                break;
            }
            assert!(!is_once(&answering.typed(line("y"))), "{size:?}");
            shown = said(&answering.typed(line("?")));
        }
        assert_eq!(all.matches("echo x").count(), 100, "{size:?}");
        assert!(all.contains("rm -rf src"), "{size:?}");
        assert!(is_once(&answering.typed(line("y"))), "{size:?}");
    }
}

#[test]
fn a_screen_that_became_smaller_shows_the_question_again_before_a_yes() {
    let small = Size {
        columns: 80,
        rows: 10,
    };
    let mut answering = Person::new(SIZE, Prompts::NotTaken);
    answering.asked("#1 bash".to_owned(), of_lines(12));
    answering.0.resized(small);
    let again = answering.typed(line("y"));
    assert!(
        said(&again).starts_with("the screen has become smaller"),
        "{again:?}"
    );
    assert!(said(&again).contains(" more lines: "), "{again:?}");
    answering.typed(line("?"));
    assert!(is_once(&answering.typed(line("y"))));
    // A no needs no look; nor does a yes where all of it still fits, or on a larger one.
    for (size, answer, n_lines) in [(small, "n", 12), (small, "y", 1)] {
        let mut answering = Person::new(SIZE, Prompts::NotTaken);
        answering.asked("#1 bash".to_owned(), of_lines(n_lines));
        answering.0.resized(size);
        let steps = answering.typed(line(answer));
        assert!(
            matches!(steps.as_slice(), [Step::Reply { .. }]),
            "{steps:?}"
        );
    }
    let mut answering = Person::new(small, Prompts::NotTaken);
    answering.asked("#1 bash".to_owned(), of_lines(1));
    answering.0.resized(SIZE);
    assert!(is_once(&answering.typed(line("y"))));
}

#[test]
fn a_question_that_other_lines_pushed_off_the_screen_is_shown_again() {
    let mut answering = Person::new(SIZE, Prompts::NotTaken);
    answering.asked("#1 bash".to_owned(), of_lines(3));
    let mut interrupted = |n_rows: usize| {
        answering.0.wrote(&"x\n".repeat(n_rows));
        said(&answering.0.interrupted()).contains("rm -rf src")
    };
    assert!(!interrupted(2));
    assert!(interrupted(20));
    assert!(!interrupted(1));
}

#[test]
fn what_always_would_save_is_shown_on_screens_as_well() {
    let mut question = of_lines(3);
    let choice = question.request.choices[0].clone();
    let parts = (0..40).map(|n| {
        let mut part = choice.parts[0].clone();
        part.pattern = format!("echo {n}");
        part
    });
    question.request.choices[0].parts = parts.collect();
    question.request.choices[1].parts = vec![question.request.choices[1].parts[0].clone(); 40];
    let mut answering = Person::new(SIZE, Prompts::NotTaken);
    answering.asked("#1 bash".to_owned(), question);
    let first = said(&answering.typed(line("a")));
    assert!(first.ends_with("? = go on, ?? = all at once, Enter to go back: "));
    assert_eq!(SIZE.height_of(&first), 24, "{first}");
    let refused = said(&answering.typed(line("1")));
    assert!(refused.starts_with("not all of it is shown"), "{refused}");
    let rest = said(&answering.typed(line("??")));
    assert!(
        rest.contains("  2  bash  `git push *`  (this subcommand, whatever follows)  (40 times)\n"),
        "{rest}"
    );
    let chosen = said(&answering.typed(line("1")));
    assert!(chosen.contains("`echo 0`"), "{chosen}");
    let refused = said(&answering.typed(line("s")));
    assert!(refused.starts_with("not all of it is shown"), "{refused}");
    answering.typed(line("??"));
    let steps = answering.typed(line("s"));
    assert!(
        matches!(steps.as_slice(), [Step::Reply { .. }]),
        "{steps:?}"
    );
}

/// Where prompts are taken, a line is one while the pod is idle and nothing is asked.
#[test]
fn a_line_is_a_prompt_where_nothing_is_asked_and_no_answer_is_one() {
    let mut answering = Person::new(SIZE, Prompts::Taken);
    let line = |line: &str| Typed::Line(line.to_owned());
    assert!(!answering.0.wants_line(), "what it does is not known");
    answering.0.does(&Status::Idle);
    assert!(answering.0.wants_line());
    let said = |text: &str| Step::Say(text.to_owned());
    assert_eq!(answering.0.after_pause(), [said("prompt: ")]);
    assert_eq!(answering.typed(line("")), [said("prompt: ")]);
    for answer in ["y", "n", "n because", "a", "e", "?"] {
        let not_sent = "no question is open: that line was not sent to the pod\n";
        assert_eq!(
            answering.typed(line(answer)),
            [said(not_sent), said("prompt: ")]
        );
    }
    assert_eq!(
        answering.typed(line("yes please")),
        [Step::Run("yes please".to_owned())]
    );
    assert!(!answering.0.wants_line());
    let steps = answering.0.not_taken("yes please", "busy");
    let not_sent = said("not sent: yes please\nbusy\n");
    assert_eq!(steps, [not_sent, said("prompt: ")]);
    answering.0.does(&Status::Waiting);
    answering.asked("#1 bash a".to_owned(), push("a"));
    answering.0.does(&Status::Idle);
    // It is settled elsewhere while they type: what was for it is forgotten.
    let steps = answering.settled("a", &Outcome::Rejected);
    assert_eq!(steps.get(1..), Some(&[Step::Pause, said("prompt: ")][..]));
    // It is idle before it is known what became of an answer.
    answering.asked("#2 bash b".to_owned(), push("b"));
    answering.typed(line(""));
    answering.typed(line("n"));
    answering.0.does(&Status::Idle);
    assert_eq!(answering.0.interrupted(), []);
    assert_eq!(answering.replied(Replied::Settled), [said("prompt: ")]);
    assert_eq!(
        answering.typed(line("go on")),
        [Step::Run("go on".to_owned())]
    );
    answering.0.does(&Status::Idle);
    assert_eq!(answering.typed(Typed::End), [said("\n"), Step::Leave]);
}
