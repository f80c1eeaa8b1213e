//! All keys on one screen: those in force.

use podward_view::{Look, Row};

use super::Screen;
use crate::app::App;
use crate::keys::{Action, Keys};

/// Actions that one row tells of, and what they do.
type Line = (&'static [Action], &'static str);

const QUESTION: &[Line] = &[
    (
        &[Action::Yes],
        "yes, once; after all of it was on the screen",
    ),
    (
        &[Action::No],
        "no; so is Esc, which is one step back in a form",
    ),
    (&[Action::Because], "no, and say why to the model"),
    (&[Action::Always], "always: what, for how long; asks back"),
    (
        &[Action::Edit, Action::Done],
        "run it with other arguments; these are done",
    ),
    (
        &[Action::GoOn, Action::GoBack],
        "a screen on, a screen back",
    ),
    (
        &[Action::Down, Action::Up],
        "a row down, a row up; in a form, what is chosen",
    ),
    (
        &[Action::Right, Action::Left],
        "in the form of always: for how long",
    ),
    (
        &[Action::Next, Action::Previous],
        "the next question, the one before",
    ),
    (
        &[Action::Aside, Action::Return],
        "look at the conversation, and come back",
    ),
];

const CONVERSATION: &[Line] = &[
    (&[Action::Send], "send; Alt-Enter begins a new line"),
    (&[Action::Cancel], "twice: cancel the turn, or leave"),
    (&[Action::Leave], "twice: leave; pods go on"),
    (
        &[Action::PageUp, Action::PageDown],
        "look back, and forward",
    ),
    (&[Action::Search], "search"),
    (
        &[Action::NextPod, Action::PreviousPod],
        "the next pod, the one before",
    ),
    (&[Action::Attach], "attach one more pod"),
    (&[Action::Suspend, Action::Redraw], "suspend, draw anew"),
];

pub(super) fn draw(app: &App, screen: &mut Screen<'_, '_>) {
    let room = screen.left().saturating_sub(1);
    let mut rows = vec![Row::new(Look::Strong, "a question")];
    rows.extend(QUESTION.iter().map(|it| line(&app.keys, it)));
    rows.push(Row::new(Look::Strong, "the conversation"));
    rows.extend(CONVERSATION.iter().map(|it| line(&app.keys, it)));
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

fn line(keys: &Keys, (actions, what): &Line) -> Row {
    let names: Vec<String> = match actions {
        [action] => vec![keys.names(*action)],
        actions => actions.iter().map(|action| keys.name(*action)).collect(),
    };
    let mut row = Row::new(Look::Plain, &format!("  {:<17} ", names.join(", ")));
    row.push(Look::Faint, what);
    row
}
