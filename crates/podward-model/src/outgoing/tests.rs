use proptest::prelude::*;
use serde_json::json;

use super::*;

fn message(role: Role, content: Vec<Block>) -> Message {
    Message { role, content }
}

fn text(text: &str) -> Block {
    Block::Text { text: text.into() }
}

#[test]
fn nothing_empty_is_said_and_speakers_take_turns() {
    let call = Block::ToolUse {
        id: "a".into(),
        name: "t".into(),
        input: json!({}),
    };
    let thought = Block::Thinking {
        text: "hm".into(),
        seal: None,
    };
    let result = Block::ToolResult {
        tool_use_id: "a".into(),
        content: " ".into(),
        is_error: true,
    };
    let messages = [
        Message::user(""),
        message(Role::Assistant, vec![thought.clone()]),
        Message::user("hi"),
        message(
            Role::Assistant,
            vec![text(" "), thought.clone(), call.clone()],
        ),
        message(Role::User, vec![result]),
        Message::user("and now?"),
        message(Role::Assistant, vec![text("well")]),
    ];
    let user = |texts: &[&'static str]| Part::User {
        results: Vec::new(),
        texts: texts.to_vec(),
    };
    let said = text("well");
    assert_eq!(
        parts(&messages),
        [
            user(&["hi"]),
            Part::Model(vec![&thought, &call]),
            Part::User {
                results: vec![ToolResult {
                    id: "a",
                    content: "(no output)",
                    is_error: true,
                }],
                texts: vec!["and now?"],
            },
            Part::Model(vec![&said]),
            user(&["Go on."]),
        ]
    );
    assert_eq!(parts(&[]), [user(&["(no text)"])]);
    assert_eq!(parts(&[Message::user("\n")]), [user(&["(no text)"])]);
}

proptest! {
    #[test]
    fn each_word_has_a_fit_one_of_its_own(
        words in prop::collection::vec("[ab_.ä2]{0,6}|x{60,70}", 0..12),
        longest in 8..64usize,
    ) {
        let mut ids = FitWords::ids(longest);
        let out: Vec<_> = words.iter().map(|word| ids.out(word)).collect();
        for (word, fit) in words.iter().zip(&out) {
            prop_assert!(fit.len() <= longest && !fit.is_empty());
            prop_assert!(fit.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b)));
            prop_assert_eq!(&ids.back(fit), word);
            prop_assert_eq!(&ids.out(word), fit);
        }
    }

    #[test]
    fn a_fit_name_of_an_offered_tool_stays_as_it_is(name in "[a-z]{1,6}", odd in "[a-z.]{1,6}") {
        let tool = |name: &str| ToolSpec {
            name: name.into(),
            description: String::new(),
            schema: json!({}),
        };
        let mut names = FitWords::names(&[tool(&odd), tool(&name)]);
        prop_assert_eq!(names.out(&name), name);
    }
}
