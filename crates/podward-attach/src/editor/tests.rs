use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use proptest::prelude::*;

use super::Editor;

fn key(editor: &mut Editor, code: KeyCode, modifiers: KeyModifiers) {
    assert!(editor.key(&KeyEvent::new(code, modifiers)), "{code:?}");
}

#[test]
fn a_cut_text_can_be_put_back() {
    let mut editor = Editor::new("one two\nthree");
    key(&mut editor, KeyCode::Up, KeyModifiers::NONE);
    key(&mut editor, KeyCode::Char('w'), KeyModifiers::CONTROL);
    assert_eq!(editor.around(), ("one ", "wo\nthree"));
    key(&mut editor, KeyCode::End, KeyModifiers::NONE);
    key(&mut editor, KeyCode::Char('y'), KeyModifiers::CONTROL);
    assert_eq!(editor.text(), "one wot\nthree");
}

#[test]
fn what_comes_back_stands_in_front_of_what_was_typed_since() {
    let mut editor = Editor::new("first");
    let taken = editor.take();
    editor.put_back(&taken);
    assert_eq!(editor.around(), ("first", ""));
    let taken = editor.take();
    editor.insert("second");
    editor.put_back(&taken);
    assert_eq!(editor.around(), ("first\nsecond", ""));
}

proptest! {
    /// The cursor stands between characters whatever is pressed.
    #[test]
    fn no_key_breaks_a_text(
        text in "[a\u{e9}\u{754c}\u{200d} \n./-]{0,20}",
        keys in proptest::collection::vec((0_usize..16, any::<bool>(), any::<bool>()), 0..40),
    ) {
        let codes = [
            KeyCode::Left, KeyCode::Right, KeyCode::Up, KeyCode::Down, KeyCode::Home, KeyCode::End,
            KeyCode::Backspace, KeyCode::Delete, KeyCode::Enter, KeyCode::Char('w'), KeyCode::Char('u'),
            KeyCode::Char('k'), KeyCode::Char('y'), KeyCode::Char('b'), KeyCode::Char('f'),
            KeyCode::Char('\u{754c}'),
        ];
        let mut editor = Editor::new(&text);
        for (code, control, alt) in keys {
            let mut modifiers = KeyModifiers::NONE;
            modifiers.set(KeyModifiers::CONTROL, control);
            modifiers.set(KeyModifiers::ALT, alt);
            editor.key(&KeyEvent::new(codes[code], modifiers));
            let (before, behind) = editor.around();
            prop_assert_eq!(format!("{before}{behind}"), editor.text());
        }
    }
}
