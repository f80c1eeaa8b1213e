//! What a question costs a whole pod while it waits, in bytes that are allocated.

use allocation_counter::measure;
use podward_model::{Block, Message, Role};
use podward_pod::{Attended, Auto, LocalClient, Places, ServeRequest, Server, Socket};
use podward_policy::{CommandSubject, Lowered, Need, Operation, Subject, Text, ToolName};
use podward_protocol::Event;
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

/// The bytes that a pod allocates for a message of so many calls and holds when all of them wait for an
/// answer.
fn held(n_questions: usize) -> i64 {
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
    let held = measure(|| {
        runtime.block_on(async {
            let asking = async {
                caller.call(run("go")).await.unwrap();
                let mut n_asked = 0;
                while n_asked < n_questions {
                    let envelope = events.recv().await.unwrap();
                    n_asked += usize::from(matches!(envelope.event, Event::PermissionRequest(_)));
                }
            };
            tokio::select! {
                () = asking => {}
                _ = &mut serving => panic!("the pod has ended"),
            }
        });
    });
    held.bytes_current
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
