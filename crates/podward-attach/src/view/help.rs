//! All keys on one screen.

use podward_view::{Look, Row};

use super::Screen;
use crate::app::App;

const QUESTION: &[(&str, &str)] = &[
    ("y", "yes, once; after all of it was on the screen"),
    ("n, Esc", "no"),
    ("r", "no, and say why to the model"),
    ("a", "always: what, for how long; asks back"),
    ("e", "run it with other arguments"),
    ("space, j, k", "go on, a row down, a row up"),
    ("Tab", "the next question"),
    ("o", "look at the conversation; Esc comes back"),
];

const CONVERSATION: &[(&str, &str)] = &[
    ("Enter", "send; Alt-Enter begins a new line"),
    ("Ctrl-C twice", "cancel the turn, or leave"),
    ("Ctrl-Q twice", "leave; pods go on"),
    ("PageUp, PageDown", "look back, and forward"),
    ("Ctrl-F", "search"),
    ("Ctrl-N, Ctrl-P", "the next pod, the one before"),
    ("F3", "attach one more pod"),
    ("Ctrl-Z", "suspend; Ctrl-L draws anew"),
];

pub(super) fn draw(_: &App, screen: &mut Screen<'_, '_>) {
    let room = screen.left().saturating_sub(1);
    let mut rows = vec![Row::new(Look::Strong, "a question")];
    rows.extend(QUESTION.iter().map(line));
    rows.push(Row::new(Look::Strong, "the conversation"));
    rows.extend(CONVERSATION.iter().map(line));
    let is_cut = rows.len() > room;
    for row in rows.iter().take(room) {
        screen.row(row);
    }
    screen.skip_to(1);
    let text = if is_cut {
        "the window is too small for all keys; any key goes back"
    } else {
        "any key goes back"
    };
    screen.row(&Row::new(Look::Faint, text));
}

fn line((key, what): &(&str, &str)) -> Row {
    let mut row = Row::new(Look::Plain, &format!("  {key:<17} "));
    row.push(Look::Faint, what);
    row
}
