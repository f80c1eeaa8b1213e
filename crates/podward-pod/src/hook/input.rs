//! What a hook's program reads.

#[cfg(test)]
mod tests;

use podward_gate::{CallFacts, Question};
use podward_protocol::hook::{
    HOOK_VERSION, HookEvent, HookInput, HookResult, HookStage, PostTool, PreToolCall, PromptSubmit,
    TurnEnd,
};
use podward_protocol::{CallId, json_line};
use podward_tools::ToolOutput;
use podward_worker::PreToolStage;
use serde_json::Value;

use super::HookContext;
use crate::wire;

/// The most of a result that a hook reads, in bytes.
const MAX_RESULT_BYTES: usize = 256 * 1024;

/// One line for an event.
pub(super) fn line(
    context: &HookContext,
    hook: &str,
    event: HookEvent,
) -> serde_json::Result<Vec<u8>> {
    let directory = context.workspace.to_string_lossy();
    let input = HookInput {
        version: HOOK_VERSION,
        hook: hook.to_owned(),
        session: context.session.clone(),
        pod: context.pod.clone(),
        workspace: directory.clone().into_owned(),
        cwd: directory.into_owned(),
        event,
    };
    let mut line = json_line(&input)?.into_bytes();
    line.push(b'\n');
    Ok(line)
}

/// A call that will run or be asked about; `None`: it will not.
pub(super) fn pre_tool_call(facts: &CallFacts, stage: PreToolStage<'_>) -> Option<HookEvent> {
    let (ruling, stage) = match stage {
        PreToolStage::Permitted(ruling) => (wire::ruling(ruling), HookStage::Permitted),
        PreToolStage::Asked(question) => (asked(question), HookStage::Asked),
        PreToolStage::Proposed | PreToolStage::Refused(_) => return None,
    };
    Some(HookEvent::PreToolCall(PreToolCall {
        call: CallId::new(facts.id().as_str()),
        tool: facts.tool().to_string(),
        arguments: arguments(facts),
        operations: wire::operations(facts.lowered()),
        ruling,
        stage,
    }))
}

pub(super) fn prompt_submit(prompt: &str) -> HookEvent {
    HookEvent::PromptSubmit(PromptSubmit {
        prompt: prompt.to_owned(),
    })
}

pub(super) fn post_tool(facts: &CallFacts, output: &ToolOutput) -> HookEvent {
    let cut = output.content.floor_char_boundary(MAX_RESULT_BYTES);
    let content = output.content.get(..cut).unwrap_or(&output.content);
    HookEvent::PostTool(PostTool {
        call: CallId::new(facts.id().as_str()),
        tool: facts.tool().to_string(),
        arguments: arguments(facts),
        operations: wire::operations(facts.lowered()),
        result: HookResult {
            content: content.to_owned(),
            is_error: output.is_error,
            is_cut: content.len() < output.content.len(),
        },
    })
}

pub(super) fn turn_end(end: &podward_worker::TurnEnd) -> HookEvent {
    HookEvent::TurnEnd(TurnEnd {
        reason: wire::end_reason(&end.reason),
        n_steps: end.n_steps,
        n_refused: end.n_refused,
        input_tokens: end.usage.input_tokens,
        output_tokens: end.usage.output_tokens,
    })
}

fn asked(question: &Question) -> podward_protocol::Ruling {
    wire::asked_ruling(question.ruling(), Some(question.reason()))
}

fn arguments(facts: &CallFacts) -> Value {
    let text = facts.arguments();
    // INVARIANT: a call with facts has canonical JSON arguments.
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}
