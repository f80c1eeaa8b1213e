//! What a conversation becomes before a provider reads it: ids and names that it takes, no empty
//! texts, and speakers who take turns.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use crate::message::{Block, Message, Role};
use crate::model::{ModelRequest, ToolSpec};

/// The longest name of a tool that every provider takes.
const NAME_LENGTH: usize = 64;

/// Stands where the user said nothing: providers take no empty text.
const NO_TEXT: &str = "(no text)";
/// Stands where a tool said nothing.
const NO_OUTPUT: &str = "(no output)";
/// What the user says if the model has the last word: providers answer the user only.
const GO_ON: &str = "Go on.";

/// How a format without a flag for errors tells one: the result begins with it.
const ERROR_MARK: &str = "[error] ";

/// Words that a provider takes, one for each of ours, and back.
#[derive(Debug, Clone)]
pub(crate) struct FitWords {
    longest: usize,
    out: BTreeMap<String, String>,
    back: BTreeMap<String, String>,
}

/// What one speaker says until the other does.
#[derive(Debug, PartialEq)]
pub(crate) enum Part<'a> {
    /// Results of tools first, then texts; one of them at least.
    User {
        results: Vec<ToolResult<'a>>,
        texts: Vec<&'a str>,
    },
    /// No empty text among it.
    Model(Vec<&'a Block>),
}

/// A result of a tool.
#[derive(Debug, PartialEq)]
pub(crate) struct ToolResult<'a> {
    pub(crate) id: &'a str,
    /// Not empty.
    pub(crate) content: &'a str,
    pub(crate) is_error: bool,
}

impl FitWords {
    /// Ids, of a longest length.
    pub(crate) const fn ids(longest: usize) -> Self {
        Self {
            longest,
            out: BTreeMap::new(),
            back: BTreeMap::new(),
        }
    }

    /// Names of tools: those that are offered get theirs first.
    pub(crate) fn names(tools: &[ToolSpec]) -> Self {
        let mut names = Self::ids(NAME_LENGTH);
        let is_fit = |tool: &&ToolSpec| fit(&tool.name, NAME_LENGTH) == tool.name;
        for tool in tools.iter().filter(is_fit) {
            names.out(&tool.name);
        }
        for tool in tools {
            names.out(&tool.name);
        }
        names
    }

    /// The word for the provider.
    pub(crate) fn out(&mut self, word: &str) -> String {
        if let Some(found) = self.out.get(word) {
            return found.clone();
        }
        let wanted = fit(word, self.longest);
        let mut found = wanted.clone();
        // One of so many words is free: not more are taken.
        for number in 2..self.back.len().saturating_add(3) {
            if !self.back.contains_key(&found) {
                break;
            }
            let ending = format!("_{number}");
            found = fit(&wanted, self.longest.saturating_sub(ending.len())) + &ending;
        }
        self.out.insert(word.to_owned(), found.clone());
        self.back.insert(found.clone(), word.to_owned());
        found
    }

    /// Our word for one of the provider's; its own if it is none of ours.
    pub(crate) fn back(&self, word: &str) -> String {
        self.back.get(word).map_or(word, String::as_str).to_owned()
    }
}

/// The nearest word of letters, digits, `_` and `-`.
fn fit(word: &str, longest: usize) -> String {
    let is_fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let fit: String = word
        .chars()
        .take(longest)
        .map(|c| if is_fit(c) { c } else { '_' })
        .collect();
    if fit.is_empty() { "_".to_owned() } else { fit }
}

/// The conversation as speakers who take turns: the user begins and has the last word.
pub(crate) fn parts(messages: &[Message]) -> Vec<Part<'_>> {
    let mut parts: Vec<Part<'_>> = Vec::new();
    if messages
        .first()
        .is_none_or(|first| first.role == Role::Assistant)
    {
        parts.push(Part::User {
            results: Vec::new(),
            texts: Vec::new(),
        });
    }
    for message in messages {
        match message.role {
            Role::User => add_user(&mut parts, message),
            Role::Assistant => add_model(&mut parts, message),
        }
    }
    if matches!(parts.last(), Some(Part::Model(_))) {
        parts.push(Part::User {
            results: Vec::new(),
            texts: vec![GO_ON],
        });
    }
    for part in &mut parts {
        if let Part::User { results, texts } = part
            && results.is_empty()
            && texts.is_empty()
        {
            texts.push(NO_TEXT);
        }
    }
    parts
}

fn add_user<'a>(parts: &mut Vec<Part<'a>>, message: &'a Message) {
    if !matches!(parts.last(), Some(Part::User { .. })) {
        parts.push(Part::User {
            results: Vec::new(),
            texts: Vec::new(),
        });
    }
    let Some(Part::User { results, texts }) = parts.last_mut() else {
        return;
    };
    for block in &message.content {
        match block {
            Block::Text { text } if !is_blank(text) => texts.push(text),
            Block::ToolResult {
                tool_use_id,
                content,
                is_error,
            } => results.push(ToolResult {
                id: tool_use_id,
                content: if is_blank(content) {
                    NO_OUTPUT
                } else {
                    content
                },
                is_error: *is_error,
            }),
            Block::Text { .. } | Block::Thinking { .. } | Block::ToolUse { .. } => {}
        }
    }
}

fn add_model<'a>(parts: &mut Vec<Part<'a>>, message: &'a Message) {
    let blocks: Vec<&Block> = message
        .content
        .iter()
        .filter(|block| match block {
            Block::Text { text } => !is_blank(text),
            Block::Thinking { .. } | Block::ToolUse { .. } => true,
            Block::ToolResult { .. } => false,
        })
        .collect();
    // Thoughts alone are nothing that was said.
    if blocks
        .iter()
        .all(|block| matches!(block, Block::Thinking { .. }))
    {
        return;
    }
    match parts.last_mut() {
        Some(Part::Model(before)) => before.extend(blocks),
        Some(Part::User { .. }) | None => parts.push(Part::Model(blocks)),
    }
}

/// A result for a format without a flag for errors.
pub(crate) fn unflagged(result: &ToolResult<'_>) -> String {
    let mark = if result.is_error { ERROR_MARK } else { "" };
    format!("{mark}{}", result.content)
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// The tools that are offered; where none is, those that were called stand there, and say that they
/// cannot be any more.
///
/// Some servers take no calls in a conversation without tools, and some no empty list of tools; a list
/// that is not empty they all take. Anthropic's API took the former back in 2025-02, but servers that
/// speak its format hold to it (<https://github.com/anthropics/anthropic-sdk-python/issues/849>), and
/// those that speak OpenAI's in front of it (<https://github.com/camel-ai/owl/issues/532>). An empty list
/// is refused by vLLM (<https://github.com/vllm-project/vllm/pull/39780>) and others.
pub(crate) fn offered_or_called(request: &ModelRequest) -> Cow<'_, [ToolSpec]> {
    if !request.tools.is_empty() {
        return Cow::Borrowed(&request.tools);
    }
    let blocks = request.messages.iter().flat_map(|message| &message.content);
    let names: BTreeSet<&str> = blocks
        .filter_map(|block| match block {
            Block::ToolUse { name, .. } => Some(name.as_str()),
            Block::Text { .. } | Block::Thinking { .. } | Block::ToolResult { .. } => None,
        })
        .collect();
    let called = names.into_iter().map(|name| ToolSpec {
        name: name.to_owned(),
        description: "Cannot be called now.".to_owned(),
        schema: json!({"type": "object"}),
    });
    called.collect()
}

/// The tools whose names differ; a second one of the same name could not be called.
pub(crate) fn distinct(tools: &[ToolSpec]) -> impl Iterator<Item = &ToolSpec> {
    let mut seen = BTreeSet::new();
    tools.iter().filter(move |tool| seen.insert(&tool.name))
}

#[cfg(test)]
mod tests;
