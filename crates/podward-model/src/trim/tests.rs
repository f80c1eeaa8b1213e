use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::check_pairing;

/// A conversation in short: `u` a prompt, `s` a step with a call and its result, `a` a last word of
/// the model; each has 100 bytes of text and a number.
fn conversation(short: &str) -> Arc<Vec<Message>> {
    let mut messages = Vec::new();
    for (number, c) in short.chars().enumerate() {
        let text = format!("{number:0100}");
        let id = format!("{number}");
        match c {
            'u' => messages.push(Message::user(text)),
            'a' => messages.push(Message {
                role: Role::Assistant,
                content: vec![Block::Text { text }],
            }),
            _ => messages.extend([
                Message {
                    role: Role::Assistant,
                    content: vec![Block::ToolUse {
                        id: id.clone(),
                        name: "t".into(),
                        input: json!({}),
                    }],
                },
                Message {
                    role: Role::User,
                    content: vec![Block::ToolResult {
                        tool_use_id: id,
                        content: text,
                        is_error: false,
                    }],
                },
            ]),
        }
    }
    Arc::new(messages)
}

/// The numbers of what is left, `!` behind the message that has the note.
fn numbers(messages: &[Message]) -> String {
    let mut numbers = Vec::new();
    for message in messages {
        let has_note = message.content.last() == Some(&Block::Text { text: NOTE.into() });
        let note = if has_note { "!" } else { "" };
        for block in &message.content {
            match block {
                Block::Text { text } if text != NOTE => {
                    numbers.push(format!("{}{note}", text.parse::<usize>().unwrap()));
                }
                Block::ToolResult { tool_use_id, .. } => numbers.push(tool_use_id.clone()),
                _ => {}
            }
        }
    }
    numbers.join(" ")
}

#[track_caller]
fn check(short: &str, max_bytes: usize, expected: &str) {
    let messages = conversation(short);
    let trimmed = trim(&messages, max_bytes);
    check_pairing(&trimmed).unwrap();
    assert_eq!(numbers(&trimmed), expected, "{short} {max_bytes}");
}

#[test]
fn whole_turns_are_left_out_before_steps_are() {
    check("", 0, "");
    check("usaua", 100_000, "0 1 2 3 4");
    // Each of `u` and `a` counts 132 bytes, `s` 170 or so.
    check("uauaua", 700, "2! 3 4 5");
    check("uauaua", 400, "4! 5");
    check("usssua", 700, "4! 5");
    check("uaussss", 700, "2! 5 6");
    check("uaussss", 400, "2! 6");
    check("uaussss", 0, "2! 6");
    check("ussss", 500, "0! 4");
    check("us", 0, "0 1");
    check("ua", 0, "0 1");
    check("u", 0, "0");
    check("uu", 0, "1!");
}

#[test]
fn a_conversation_that_was_cut_before_has_one_note() {
    let once = trim(&conversation("ussssss"), 800);
    let twice = trim(&once, 500);
    assert_eq!(numbers(&once), "0! 4 5 6");
    assert_eq!(numbers(&twice), "0! 6");
    assert_eq!(twice[0].content.len(), 2);
}

#[test]
fn the_cut_stays_where_it_is_for_a_while() {
    let mut cuts = Vec::new();
    for n_steps in 1..60 {
        let trimmed = trim(&conversation(&format!("u{}", "s".repeat(n_steps))), 2000);
        cuts.push(trimmed[1].tool_use_ids().next().unwrap().to_owned());
    }
    cuts.dedup();
    assert!(cuts.len() <= 60 / 3 + 4, "{cuts:?}");
}

proptest! {
    #[test]
    fn what_is_left_is_a_valid_end_of_the_conversation(
        short in "u(s{0,4}a?u){0,6}s{0,3}",
        max_bytes in 0..4000usize,
    ) {
        let messages = conversation(&short);
        let trimmed = trim(&messages, max_bytes);
        prop_assert!(check_pairing(&trimmed).is_ok());
        let total = conversation_bytes(&messages);
        if total <= max_bytes {
            prop_assert_eq!(&trimmed, &messages);
        }
        if trimmed != messages {
            // A prompt with a note, then an end of the conversation as it was.
            let rest = &trimmed[1..];
            prop_assert!(messages.ends_with(rest));
            prop_assert_eq!(trimmed[0].role, Role::User);
            prop_assert!(numbers(&trimmed[..1]).ends_with('!'));
            prop_assert!(conversation_bytes(&trimmed) < total + NOTE.len() + BLOCK_BYTES);
        }
        // It is short enough, or one prompt and one step.
        let size = conversation_bytes(&trimmed);
        let is_short = size <= max_bytes + NOTE.len() + BLOCK_BYTES;
        prop_assert!(is_short || trimmed.len() <= 3, "{} {:?}", size, numbers(&trimmed));
    }
}

#[test]
fn what_has_to_stay_stays_with_its_call() {
    let messages = conversation("usausaussss");
    let stays = |block: &Block| match block {
        Block::Text { text } => *text == format!("{:0100}", 3),
        Block::ToolResult { tool_use_id, .. } => tool_use_id == "1",
        _ => false,
    };
    for max_bytes in [1, 300, 600, 900, 1200, 1500] {
        let trimmed = trim_keeping(&messages, max_bytes, &stays);
        check_pairing(&trimmed).unwrap();
        let found = trimmed
            .iter()
            .flat_map(|m| &m.content)
            .filter(|block| stays(block));
        assert_eq!(found.count(), 2, "{max_bytes}");
        assert_eq!(trimmed.first().map(|first| first.role), Some(Role::User));
        let n_bytes = conversation_bytes(&trimmed);
        assert!(
            n_bytes < conversation_bytes(&messages),
            "{max_bytes}: {n_bytes}"
        );
    }
}
