//! What was said and done, above what is typed.

use podward_protocol::Status;
use podward_view::{Look, Row};

use super::{Screen, bottom, offers, typed};
use crate::app::App;
use crate::keys::Action;
use crate::pod::Link;

pub(super) fn draw(app: &App, screen: &mut Screen<'_, '_>) {
    let Some(pod) = app.pods.get(app.focus) else {
        return;
    };
    let n_typed = app.typed_height(app.search.as_ref().unwrap_or(&pod.composer));
    let room = screen.left().saturating_sub(n_typed + 2);
    let window = pod.conversation.window(pod.n_below, room);
    let n_rows = pod.conversation.n_rows();
    let is_top = pod.n_below + window.len() >= n_rows;
    if is_top && pod.conversation.n_dropped() > 0 && !window.is_empty() {
        screen.row(&Row::new(
            Look::Faint,
            "  what was before is in the session on disk",
        ));
        for row in window.into_iter().skip(1) {
            screen.row(row);
        }
    } else {
        for row in window {
            screen.row(row);
        }
    }
    screen.skip_to(n_typed + 2);
    let rule = match (&app.search, pod.n_below, &pod.link) {
        (Some(_), ..) => "search".to_owned(),
        (None, 0, Link::There) if app.is_aside && app.shown.is_some() => {
            let back = app.keys.name(Action::Return);
            format!("a question waits: {back} goes back to it")
        }
        (None, 0, _) => String::new(),
        (None, n_below, _) => format!("{n_below} rows below"),
    };
    screen.rule(&rule);
    let editor = app.search.as_ref().unwrap_or(&pod.composer);
    typed::draw(editor, n_typed, screen);
    let keys = &app.keys;
    let looks = offers(
        keys,
        &[
            (Action::PageUp, "back"),
            (Action::Search, "search"),
            (Action::Help, "help"),
        ],
    );
    let usual = match (&app.search, &pod.status) {
        (Some(_), _) => "Enter: further up   Esc: done".to_owned(),
        (None, None | Some(Status::Idle)) => {
            let send = keys.name(Action::Send);
            format!("{send}: send   Alt-Enter: new line   {looks}")
        }
        (None, Some(_)) => format!("{} twice: cancel   {looks}", keys.name(Action::Cancel)),
    };
    screen.row(&bottom(app, &usual));
}
