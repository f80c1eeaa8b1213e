use std::time::Duration;

use podward_gate::{CallFacts, Refusal};
use podward_policy::{Action, Cause, Coverage, Lowered, Ruling, ToolName};
use podward_protocol::{LimitName, TurnEndReason, decode};
use podward_tools::ToolOutput;
use podward_worker::{DecidedBy, Limit, Spent};

use super::*;

struct Fixed;

impl Clock for Fixed {
    fn now(&self) -> Time {
        "2026-01-02T03:04:05.678Z".parse().unwrap()
    }
}

fn narrator() -> Narrator {
    Narrator::new(SessionId::from_bits(7), 2, Arc::new(Fixed))
}

fn id(text: &str) -> podward_gate::CallId {
    podward_gate::CallId::new(text).unwrap()
}

fn facts(call: &str) -> Arc<CallFacts> {
    let tool = ToolName::new("bash").unwrap();
    Arc::new(CallFacts::new(id(call), tool, "{}", Lowered::NothingToRun))
}

fn ruling() -> Ruling {
    Ruling {
        action: Action::Allow,
        cause: Cause::NothingToRun,
        operation: None,
        coverage: Coverage::Full,
    }
}

fn proposed(call: &str, arguments: &str) -> WorkerEvent {
    WorkerEvent::CallProposed {
        id: id(call),
        tool: "bash".into(),
        arguments: arguments.into(),
    }
}

fn finished(call: &str, is_error: bool) -> WorkerEvent {
    let content = "text".to_owned();
    WorkerEvent::CallFinished {
        id: id(call),
        tool: "bash".into(),
        output: Arc::new(ToolOutput { content, is_error }),
    }
}

const OF_CHILDREN: CallCount = CallCount {
    n_calls: 4,
    n_refused: 3,
};

fn end(reason: EndReason) -> WorkerEvent {
    WorkerEvent::TurnEnded(Arc::new(TurnEnd {
        reason,
        n_steps: 1,
        n_refused: 1,
        n_bad_calls: 0,
        usage: podward_model::Usage {
            input_tokens: 10,
            output_tokens: 5,
        },
        of_children: podward_worker::CallCount {
            made: 4,
            refused: 3,
        },
    }))
}

fn refused(call: &str, cause: podward_gate::RefusalCause) -> WorkerEvent {
    let refusal = Refusal::judged(facts(call), ruling(), cause);
    WorkerEvent::CallDecided(Arc::new(Decision::Refuse(refusal)))
}

/// The outcome of a call that was decided so.
#[track_caller]
fn check_outcome(decided: Option<WorkerEvent>, is_error: bool, outcome: ToolOutcome) {
    let mut narrator = narrator();
    narrator.tell(proposed("c", "{}"));
    if let Some(event) = decided {
        narrator.tell(event);
    }
    let told = narrator.tell(finished("c", is_error));
    let expected = ToolCallFinished {
        call: CallId::new("c"),
        tool: "bash".into(),
        outcome,
        content: "text".into(),
    };
    assert_eq!(told, [Event::ToolCallFinished(expected)]);
}

#[test]
fn a_call_ends_as_it_was_decided() {
    use podward_gate::RefusalCause as Cause;
    let runs = || {
        let decision = Decision::Run {
            facts: facts("c"),
            ruling: ruling(),
            by: DecidedBy::Policy,
        };
        Some(WorkerEvent::CallDecided(Arc::new(decision)))
    };
    check_outcome(runs(), false, ToolOutcome::Done);
    check_outcome(runs(), true, ToolOutcome::Failed);
    let cause = RefusalCause::Policy;
    check_outcome(
        Some(refused("c", Cause::Policy)),
        true,
        ToolOutcome::Refused { cause },
    );
    let cause = RefusalCause::Cancelled;
    let cancelled = |progress| Some(refused("c", Cause::Cancelled(progress)));
    let outcome = ToolOutcome::Refused {
        cause: cause.clone(),
    };
    check_outcome(cancelled(Progress::NotStarted), true, outcome);
    let outcome = ToolOutcome::Stopped { cause };
    check_outcome(cancelled(Progress::Started), true, outcome);
}

#[test]
fn turns_are_counted_over_all_runs_and_calls_within_a_turn() {
    let mut narrator = narrator();
    let mut turn = |number| {
        let prompt = Some("do it".into());
        let told = narrator.tell(WorkerEvent::TurnStarted { prompt });
        let started = TurnStarted {
            turn: number,
            prompt: "do it".into(),
        };
        assert_eq!(
            told,
            [Event::Status(Status::Busy), Event::TurnStarted(started)]
        );
        narrator.tell(proposed("a", "{}"));
        narrator.tell(proposed("b", "{}"));
        let told = narrator.tell(end(EndReason::Done));
        let ended = TurnEnded {
            turn: number,
            reason: TurnEndReason::Done,
            n_refused: 1,
            n_calls: 2,
            n_steps: 1,
            children: OF_CHILDREN,
        };
        assert_eq!(told, [Event::TurnEnded(ended), Event::Status(Status::Idle)]);
    };
    turn(3);
    turn(4);
}

#[test]
fn a_turn_that_goes_on_keeps_its_number() {
    let mut narrator = narrator();
    let told = narrator.tell(WorkerEvent::TurnStarted { prompt: None });
    assert_eq!(told, [Event::Status(Status::Busy)]);
    let told = narrator.tell(end(EndReason::Limit(Limit::Steps)));
    let limit = LimitName("max_steps".into());
    let ended = TurnEnded {
        turn: 2,
        reason: TurnEndReason::Limit { limit },
        n_refused: 1,
        n_calls: 0,
        n_steps: 1,
        children: OF_CHILDREN,
    };
    assert_eq!(told[0], Event::TurnEnded(ended));
}

#[test]
fn tokens_add_up_over_turns() {
    let mut narrator = narrator();
    let used = |input_tokens, output_tokens| {
        let usage = podward_model::Usage {
            input_tokens,
            output_tokens,
        };
        WorkerEvent::Usage(Spent {
            steps: 1,
            usage,
            ..Spent::default()
        })
    };
    let expected = |input_tokens, output_tokens, total_input_tokens, total_output_tokens| {
        vec![Event::Usage(Usage {
            input_tokens,
            output_tokens,
            total_input_tokens,
            total_output_tokens,
            n_steps: 1,
        })]
    };
    assert_eq!(narrator.tell(used(4, 2)), expected(4, 2, 4, 2));
    assert_eq!(narrator.tell(used(10, 5)), expected(10, 5, 10, 5));
    narrator.tell(end(EndReason::Done));
    let told = narrator.tell(used(1, 1));
    assert_eq!(told, expected(1, 1, 11, 6));
}

#[test]
fn a_retry_is_a_status_until_something_else_happens() {
    let mut narrator = narrator();
    let told = narrator.tell(WorkerEvent::Retry {
        attempt: 2,
        reason: "busy".into(),
        after: Duration::from_millis(322),
    });
    let status = Status::Retry {
        attempt: 2,
        reason: "busy".into(),
        at: "2026-01-02T03:04:06Z".parse().unwrap(),
    };
    assert_eq!(told, [Event::Status(status)]);
    let told = narrator.tell(WorkerEvent::TextDelta("x".into()));
    let text = TextDelta { text: "x".into() };
    assert_eq!(told, [Event::Status(Status::Busy), Event::TextDelta(text)]);
}

#[test]
fn arguments_that_are_no_json_are_a_string() {
    let mut narrator = narrator();
    let told = narrator.tell(proposed("c", "{oops"));
    let arguments = ToolCallArguments {
        call: CallId::new("c"),
        tool: "bash".into(),
        arguments: Value::String("{oops".into()),
    };
    assert_eq!(told, [Event::ToolCallArguments(arguments)]);
}

#[test]
fn every_envelope_has_its_number_and_can_be_sent() {
    let mut narrator = narrator();
    let garbage = "\u{1}".repeat(podward_protocol::MAX_LINE_BYTES / 4);
    let told = narrator.tell(proposed("c", &garbage));
    for (seq, event) in told
        .into_iter()
        .chain([Event::Status(Status::Idle)])
        .enumerate()
    {
        let envelope = narrator.envelope(event);
        assert_eq!(envelope.seq, seq as u64);
        assert_eq!(decode(&encode(&envelope).unwrap()).unwrap(), envelope);
        if seq == 0 {
            assert!(matches!(envelope.event, Event::Error(_)));
        }
    }
}

/// What would have allowed a call may be longer than the call: the verdict is told all the same.
#[test]
fn rules_that_do_not_fit_the_line_are_left_out_of_the_verdict() {
    let mut narrator = narrator();
    let told = narrator.tell(refused("c", podward_gate::RefusalCause::NotAuto));
    let [Event::ToolCallVerdict(verdict)] = told.as_slice() else {
        panic!("{told:?}");
    };
    let with = |n_bytes: usize| {
        let rule = podward_protocol::RuleToAdd {
            layer: "manifest".to_owned(),
            stands: podward_protocol::Stands::Anywhere,
            tool: "bash".to_owned(),
            pattern: "x".repeat(n_bytes),
            toml: String::new(),
        };
        let allowed_by = Some(Change::Rules { rules: vec![rule] });
        ToolCallVerdict {
            allowed_by,
            ..verdict.clone()
        }
    };
    let short = with(10);
    let envelope = narrator.envelope(Event::ToolCallVerdict(short.clone()));
    assert_eq!(envelope.event, Event::ToolCallVerdict(short));
    let long = with(podward_protocol::MAX_LINE_BYTES);
    let envelope = narrator.envelope(Event::ToolCallVerdict(long));
    let left_out = ToolCallVerdict {
        allowed_by: Some(Change::LeftOut),
        ..verdict.clone()
    };
    assert_eq!(envelope.event, Event::ToolCallVerdict(left_out));
    assert_eq!(decode(&encode(&envelope).unwrap()).unwrap(), envelope);
}
