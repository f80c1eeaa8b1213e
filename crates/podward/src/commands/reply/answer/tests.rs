use clap::Parser as _;
use podward_protocol::{Always, Answer, Chosen, ChosenPattern, GrantFor};
use podward_view::sample::push;
use serde_json::{Map, json};

use super::{Wanted, only_part, wanted};
use crate::arguments::{Arguments, Command, Reply};

fn reply(line: &[&str]) -> Reply {
    let mut all = vec!["podward", "reply", "pod", "call_1"];
    all.extend(line);
    match Arguments::try_parse_from(all).unwrap().command {
        Command::Reply(reply) => reply,
        other => panic!("{other:?}"),
    }
}

fn read(line: &[&str]) -> Option<Wanted> {
    wanted(&reply(line), || {
        Ok("{\"command\":\"from input\"}".to_owned())
    })
    .ok()
}

fn always(what: Chosen, lasts: GrantFor) -> Option<Wanted> {
    Some(Wanted::Answer(Answer::Always(Always { what, lasts })))
}

#[test]
fn each_answer_has_its_options() {
    let once = Some(Wanted::Answer(Answer::Once));
    assert_eq!(read(&["once"]), once);
    let no = |feedback: Option<&str>| {
        let feedback = feedback.map(str::to_owned);
        Some(Wanted::Answer(Answer::Reject { feedback }))
    };
    assert_eq!(read(&["reject"]), no(None));
    let line = ["reject", "--feedback", " as it  is\n"];
    assert_eq!(read(&line), no(Some(" as it  is\n")));
    let edited = |command: &str| {
        let arguments = Map::from_iter([("command".to_owned(), json!(command))]);
        Some(Wanted::Answer(Answer::Edit { arguments }))
    };
    let line = ["edit", "--arguments", "{\"command\":\"ls\"}"];
    assert_eq!(read(&line), edited("ls"));
    assert_eq!(read(&["edit", "--arguments", "-"]), edited("from input"));
    for line in [
        &["edit"][..],
        &["edit", "--arguments", "[]"],
        &["edit", "--arguments", "ls"],
        &["edit", "--arguments", "{}", "--feedback", "x"],
        &["once", "--feedback", "x"],
        &["once", "--for", "session"],
        &["once", "--width", "1"],
        &["reject", "--pattern", "x"],
        &["always", "--arguments", "{}"],
        &["always"],
    ] {
        assert_eq!(read(line), None, "{line:?}");
    }
}

#[test]
fn always_says_what_and_for_how_long() {
    for (span, lasts) in [
        ("session", Some(GrantFor::Session)),
        ("project", Some(GrantFor::Project)),
        ("5x", Some(GrantFor::Uses { n: 5 })),
        (
            "2026-01-31T18:00:00Z",
            Some(GrantFor::Until {
                time: "2026-01-31T18:00:00Z".parse().unwrap(),
            }),
        ),
        ("0x", None),
        ("-1x", None),
        ("x", None),
        ("forever", None),
        ("tomorrow", None),
    ] {
        let span = format!("--for={span}");
        let found = read(&["always", "--width", "2", &span]);
        let expected = lasts.and_then(|lasts| always(Chosen::Width(1), lasts));
        assert_eq!(found, expected, "{span}");
    }
    let pattern = |operation, pattern: &str| ChosenPattern {
        operation,
        pattern: pattern.to_owned(),
    };
    assert_eq!(
        read(&["always", "--pattern", "A=1 git *"]),
        Some(Wanted::PatternForTheOnlyPart {
            pattern: "A=1 git *".to_owned(),
            lasts: GrantFor::Session
        })
    );
    assert_eq!(
        read(&["always", "--pattern", "1=a=b *", "--pattern", "3=c"]),
        always(
            Chosen::Patterns(vec![pattern(0, "a=b *"), pattern(2, "c")]),
            GrantFor::Session
        )
    );
    assert_eq!(
        read(&["always", "--pattern", "a", "--pattern", "3=c"]),
        None
    );
}

#[test]
fn a_pattern_without_a_number_is_for_the_only_part_that_asks() {
    let mut request = push("a").request;
    assert_eq!(only_part(&request).unwrap(), 1);
    let mut other = request.asking[0].clone();
    other.operation = 0;
    request.asking.push(other);
    assert!(only_part(&request).is_err());
}
