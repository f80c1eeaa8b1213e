//! What a pod does, and what it tells of those below it.

use super::*;

/// What a pod tells of its own work.
pub(super) fn worked() -> impl Strategy<Value = Event> {
    work().prop_map(|work| match work {
        ChildWork::TextDelta(delta) => Event::TextDelta(delta),
        ChildWork::ToolCallArguments(call) => Event::ToolCallArguments(call),
        ChildWork::ToolCallVerdict(verdict) => Event::ToolCallVerdict(*verdict),
        ChildWork::ToolCallFinished(finished) => Event::ToolCallFinished(finished),
    })
}

/// The same of a pod below.
pub(super) fn child_worked() -> impl Strategy<Value = Event> {
    (call(), text(), vec(text(), 0..3), work()).prop_map(|(call, pod, path, did)| {
        Event::ChildWorked(ChildWorked {
            call,
            pod,
            path,
            did,
        })
    })
}

fn work() -> impl Strategy<Value = ChildWork> {
    prop_oneof![
        text().prop_map(|text| ChildWork::TextDelta(TextDelta { text })),
        (call(), text(), json()).prop_map(|(call, tool, arguments)| {
            ChildWork::ToolCallArguments(ToolCallArguments {
                call,
                tool,
                arguments,
            })
        }),
        verdict().prop_map(|verdict| ChildWork::ToolCallVerdict(Box::new(verdict))),
        (call(), text(), outcome(), text()).prop_map(|(call, tool, outcome, content)| {
            ChildWork::ToolCallFinished(ToolCallFinished {
                call,
                tool,
                outcome,
                content,
            })
        }),
    ]
}
