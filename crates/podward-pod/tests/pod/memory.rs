//! What a question costs a whole pod while it waits, in bytes that are allocated.

use allocation_counter::{AllocationInfo, measure};
use podward_model::{Block, Message, Role};
use podward_pod::{Attended, Auto, LocalClient, Places, ServeRequest, Server, Socket};
use podward_policy::{CommandSubject, Lowered, Need, Operation, Subject, Text, ToolName};
use podward_protocol::{Event, Method, PermissionRejectAll};
use serde_json::{Value, json};
use tokio::runtime::Builder;

use crate::bench::{Bench, call, script};
use crate::serve::run;

const WAITS: &str = r#"
[permissions]
default_action = "deny"
on_ask = "wait"
ask_timeout = "1h"
rule = [{ tool = "bash", pattern = "date *", action = "ask" }]
[limits]
message_calls = 10000
"#;

fn input(number: usize) -> Value {
    json!({ "command": format!("date +%s%N-{number:08}") })
}

/// What a pod allocates for a message of so many calls until all of them wait for an answer, and to say no
/// to all of them.
fn asked_and_rejected(n_questions: usize) -> [AllocationInfo; 2] {
    let bench = Bench::new(WAITS);
    let calls: Vec<_> = (0..n_questions)
        .map(|number| call("bash", input(number)))
        .collect();
    let request = ServeRequest {
        pod: bench.request(&script(&[&calls])),
        socket: Socket::Required,
        attended: Attended::Yes,
        auto: Auto::Off,
    };
    // One thread, for each counts for itself.
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let _entered = runtime.enter();
    let places = Places::below(bench.root());
    let (server, LocalClient { mut events, caller }) = Server::start(&places, request).unwrap();
    let mut serving = Box::pin(server.run());
    let mut until = async |done: &mut dyn FnMut(Event) -> bool, method: Method| {
        let doing = async {
            caller.call(method).await.unwrap();
        };
        let reading = async {
            while let Some(envelope) = events.recv().await {
                if done(envelope.event) {
                    break;
                }
            }
        };
        tokio::select! {
            _ = async { tokio::join!(doing, reading) } => {}
            _ = &mut serving => panic!("the pod has ended"),
        }
    };
    let (mut n_asked, mut n_settled) = (0, 0);
    let mut are_asked = |event| {
        n_asked += usize::from(matches!(event, Event::PermissionRequest(_)));
        n_asked == n_questions
    };
    let mut are_settled = |event| {
        n_settled += usize::from(matches!(event, Event::PermissionSettled(_)));
        n_settled == n_questions
    };
    let asked = measure(|| runtime.block_on(until(&mut are_asked, run("go"))));
    let no = Method::PermissionRejectAll(PermissionRejectAll { feedback: None });
    let rejected = measure(|| runtime.block_on(until(&mut are_settled, no)));
    [asked, rejected]
}

/// The bytes that a pod holds for so many questions while they wait, and for the message that made them.
/// What is on its way when it is counted is no part of that: the least of several counts has none.
fn held(n_questions: usize) -> i64 {
    let counts = (0..3).map(|_| {
        let [asked, _] = asked_and_rejected(n_questions);
        asked.bytes_current
    });
    counts.min().unwrap_or_default()
}

/// The same for the message alone, as a history keeps it.
fn message(n_calls: usize) -> i64 {
    let mut message = None;
    let held = measure(|| {
        let calls = (0..n_calls).map(|number| Block::ToolUse {
            id: format!("call_{number}"),
            name: "bash".to_owned(),
            input: input(number),
        });
        message = Some(Message {
            role: Role::Assistant,
            content: calls.collect(),
        });
    });
    drop(message);
    held.bytes_current
}

/// The same for the arguments as the rules see them: their canonical text, and one operation.
fn arguments(n_calls: usize) -> i64 {
    let mut all = Vec::with_capacity(n_calls);
    let tool = ToolName::new("bash").unwrap();
    let held = measure(|| {
        for number in 0..n_calls {
            let input = input(number);
            let written = Text::known(input["command"].as_str().unwrap());
            let operation = Operation {
                tool: tool.clone(),
                subject: Subject::Command(CommandSubject {
                    written,
                    name_start: 0,
                    name_end: 4,
                    further: Vec::new(),
                    place: None,
                }),
                need: Need::Full,
                span: None,
                partial: Vec::new(),
            };
            all.push((Lowered::from(operation), input.to_string().into_boxed_str()));
        }
    });
    drop(all);
    held.bytes_current
}

pub(crate) fn a_question_that_waits_costs_a_pod_no_more_than_a_kilobyte() {
    let (few, many) = (1_000, 2_000);
    // What is there once is in both.
    let each = |bytes: fn(usize) -> i64| (bytes(many) - bytes(few)) / 1_000;
    // The first pod of a process loads what all share.
    held(1);
    let (all, message, arguments) = (each(held), each(message), each(arguments));
    assert!(
        all - message - arguments <= 1_024,
        "{all} - {message} - {arguments}"
    );
}

/// A question that is one of many is not more work than one of few, neither to ask nor to settle.
pub(crate) fn ten_times_the_questions_are_ten_times_the_work() {
    let (few, many) = (300, 3_000);
    asked_and_rejected(1);
    let [few, many] = [few, many].map(asked_and_rejected);
    for (few, many) in few.iter().zip(&many) {
        for (few, many) in [
            (few.count_total, many.count_total),
            (few.bytes_total, many.bytes_total),
        ] {
            assert!(2 * many < 21 * few, "{few} {many}");
        }
    }
}
