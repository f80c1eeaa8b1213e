//! The part of a long conversation that is sent.

use std::sync::Arc;

use crate::message::{Block, Message, Role, ThinkingSeal};

/// Stands where the beginning was left out.
const NOTE: &str =
    "(Earlier messages of this conversation were left out: it is longer than one request may be.)";

/// Stands in the place of a result that was left out alone.
const LEFT_OUT: &str = "(left out)";

/// Bytes that a block has beside its texts, about.
const BLOCK_BYTES: usize = 32;

/// Leaves out the beginning of a conversation that is longer than `max_bytes`.
///
/// What is left begins with a prompt of the user that says that something is missing. Whole turns
/// are left out; if the newest turn alone is too long, its first steps are, and its prompt stays. A
/// call and its result are left out together or not at all, and the newest step always stays: then
/// the result is longer than asked for.
///
/// Much is left out at once and then nothing more for a while, so that a provider finds the
/// beginning of most requests in its cache: what is missing is a multiple of a quarter of `max_bytes`,
/// up to the next place where a cut is possible.
#[must_use]
pub fn trim(messages: &Arc<Vec<Message>>, max_bytes: usize) -> Arc<Vec<Message>> {
    trim_keeping(messages, max_bytes, &|_| false)
}

/// The same where some blocks stay whatever else is left out: a text of the user, or the result of a
/// call, which stays with its call. Of a message that stays for them alone, the texts of other results
/// are left out.
///
/// What stays counts as left out: where it is much, the result is longer than asked for.
#[must_use]
pub fn trim_keeping(
    messages: &Arc<Vec<Message>>,
    max_bytes: usize,
    stays: &dyn Fn(&Block) -> bool,
) -> Arc<Vec<Message>> {
    let total = conversation_bytes(messages);
    let Some(excess) = total.checked_sub(max_bytes).filter(|&excess| excess > 0) else {
        return Arc::clone(messages);
    };
    let portion = (max_bytes / 4).max(1);
    let wanted = excess.div_ceil(portion).saturating_mul(portion);
    let Some(cut) = Cut::find(messages, wanted) else {
        return Arc::clone(messages);
    };
    let staying = staying(messages, cut, stays);
    let mut kept: Vec<Message> = Vec::new();
    // The first message is one of the user, and says that something is missing.
    if cut.prompt.is_none() || staying.iter().any(|(idx, _)| Some(*idx) < cut.prompt) {
        kept.push(note());
    }
    let (before, behind): (Vec<_>, Vec<_>) = staying
        .into_iter()
        .partition(|(idx, _)| Some(*idx) < cut.prompt);
    kept.extend(before.into_iter().map(|(_, message)| message));
    kept.extend(cut.prompt.and_then(|prompt| messages.get(prompt)).cloned());
    if let Some(first) = kept.first_mut().filter(|first| !is_note(first)) {
        let note = Block::Text { text: NOTE.into() };
        if first.content.last() != Some(&note) {
            first.content.push(note);
        }
    }
    kept.extend(behind.into_iter().map(|(_, message)| message));
    kept.extend(messages.iter().skip(cut.rest).cloned());
    Arc::new(kept)
}

/// The bytes of a conversation as [`trim`] counts them: its texts, and a little for each block.
#[must_use]
pub fn conversation_bytes(messages: &[Message]) -> usize {
    messages.iter().map(message_bytes).sum()
}

/// What is kept: a prompt, and all from a place on.
#[derive(Debug, Clone, Copy)]
struct Cut {
    prompt: Option<usize>,
    rest: usize,
}

impl Cut {
    /// The first cut that leaves out so many bytes, else the one that leaves out the most.
    fn find(messages: &[Message], wanted: usize) -> Option<Self> {
        let mut before = 0;
        let mut prompt = None;
        let mut turn = None;
        let mut steps: Vec<(Self, usize)> = Vec::new();
        for (idx, message) in messages.iter().enumerate() {
            if is_prompt(message) {
                let cut = Self {
                    prompt: Some(idx),
                    rest: idx + 1,
                };
                if idx > 0 {
                    if before >= wanted {
                        return Some(cut);
                    }
                    turn = Some(cut);
                }
                prompt = Some((idx, before, message_bytes(message)));
                steps.clear(); // only those of the newest turn count
            }
            if message.role == Role::Assistant {
                let (idx_of_prompt, n_left_out) = match prompt {
                    Some((prompt, n_before, n_bytes)) => {
                        let n_steps = before.saturating_sub(n_before).saturating_sub(n_bytes);
                        // Without a step left out it is the cut at the turn.
                        if n_steps == 0 {
                            before = before.saturating_add(message_bytes(message));
                            continue;
                        }
                        (Some(prompt), before.saturating_sub(n_bytes))
                    }
                    None if idx == 0 => (None, 0),
                    None => (None, before),
                };
                let cut = Self {
                    prompt: idx_of_prompt,
                    rest: idx,
                };
                if n_left_out > 0 {
                    steps.push((cut, n_left_out));
                }
            }
            before = before.saturating_add(message_bytes(message));
        }
        steps
            .iter()
            .find(|(_, n_left_out)| *n_left_out >= wanted)
            .or(steps.last())
            .map(|(cut, _)| *cut)
            .or(turn)
    }
}

/// The messages that a cut would leave out and that stay: those with a block that stays, each result
/// behind its call.
fn staying(
    messages: &[Message],
    cut: Cut,
    stays: &dyn Fn(&Block) -> bool,
) -> Vec<(usize, Message)> {
    let mut staying = Vec::new();
    for (idx, message) in messages.iter().enumerate().take(cut.rest) {
        let has_to_stay = message.content.iter().any(stays);
        if Some(idx) == cut.prompt || !has_to_stay {
            continue;
        }
        if message.tool_result_ids().next().is_none() {
            staying.push((idx, message.clone()));
            continue;
        }
        let call = idx.checked_sub(1);
        let Some((at, call)) = call.and_then(|at| Some((at, messages.get(at)?))) else {
            continue;
        };
        staying.push((at, call.clone()));
        staying.push((idx, without_other_results(message, stays)));
    }
    staying
}

fn without_other_results(message: &Message, stays: &dyn Fn(&Block) -> bool) -> Message {
    let mut message = message.clone();
    for block in &mut message.content {
        if stays(block) {
            continue;
        }
        if let Block::ToolResult { content, .. } = block
            && content.len() > LEFT_OUT.len()
        {
            *content = LEFT_OUT.to_owned();
        }
    }
    message
}

fn note() -> Message {
    Message::user(NOTE)
}

fn is_note(message: &Message) -> bool {
    *message == note()
}

/// Whether a turn begins with a message.
fn is_prompt(message: &Message) -> bool {
    message.role == Role::User && message.tool_result_ids().next().is_none()
}

fn message_bytes(message: &Message) -> usize {
    message.content.iter().map(block_bytes).sum()
}

fn block_bytes(block: &Block) -> usize {
    let texts = match block {
        Block::Text { text } => text.len(),
        Block::Thinking { text, seal } => {
            let sealed = match seal {
                None => 0,
                Some(
                    ThinkingSeal::Signature {
                        signature: sealed, ..
                    }
                    | ThinkingSeal::Redacted { data: sealed, .. }
                    | ThinkingSeal::Encrypted {
                        content: sealed, ..
                    },
                ) => sealed.len(),
            };
            text.len() + sealed
        }
        Block::ToolUse { id, name, input } => id.len() + name.len() + input.to_string().len(),
        Block::ToolResult {
            tool_use_id,
            content,
            ..
        } => tool_use_id.len() + content.len(),
    };
    texts + BLOCK_BYTES
}

#[cfg(test)]
mod tests;
