//! A question, and what can be done about it.

use podward_view::{Lines, Look, Row, visible};

use super::{Screen, typed};
use crate::app::{App, PAUSE};
use crate::asked::{Asked, Stage};

pub(super) fn draw(app: &App, screen: &mut Screen<'_, '_>) {
    let (Some(asked), Some((at, id))) = (app.asked(), &app.shown) else {
        return;
    };
    let queue = app.queue();
    let place = queue
        .iter()
        .position(|(_, it)| it == id)
        .unwrap_or_default()
        + 1;
    let pod = app.pods.get(*at).map(|pod| pod_name(pod, asked));
    let mut title = format!("{} asks", pod.unwrap_or_default());
    if queue.len() > 1 {
        title.push_str(&format!(", {place} of {}", queue.len()));
    }
    if let Some(left) = time_left(app, asked) {
        title.push_str(&format!(", {left} left"));
    }
    screen.rule(&title);
    for row in asked.page.window() {
        screen.row(row);
    }
    let n_typed = asked
        .stage
        .typed()
        .map_or(0, |typed| app.typed_height(typed) + 1);
    screen.skip_to(2 + n_typed);
    screen.rule(&below(app, asked));
    if let Some(editor) = asked.stage.typed() {
        let what = match asked.stage {
            Stage::Feedback(_) => "why not? the model reads it word for word",
            _ => "the new arguments", // the only other text
        };
        screen.row(&Row::new(Look::Strong, what));
        typed::draw(editor, n_typed - 1, screen);
    }
    screen.row(&last(app, asked));
}

/// The pod of a question behind those above it.
fn pod_name(pod: &crate::pod::Pod, asked: &Asked) -> String {
    let request = asked.request();
    if request.path.is_empty() {
        return pod.name();
    }
    let mut names = request.path.clone();
    names.push(request.pod.clone());
    visible(&names.join("/"), Lines::Escape)
}

/// How long it can be answered.
fn time_left(app: &App, asked: &Asked) -> Option<String> {
    let end = asked.request().expires_at?.unix_milliseconds();
    let n_seconds = end.saturating_sub(app.now.wall).max(0) / 1000;
    Some(
        match (n_seconds / 3600, n_seconds / 60 % 60, n_seconds % 60) {
            (0, minutes, seconds) => format!("{minutes}:{seconds:02}"),
            (hours, minutes, seconds) => format!("{hours}:{minutes:02}:{seconds:02}"),
        },
    )
}

/// What of it is not on the screen, and what has just become of another one.
fn below(app: &App, asked: &Asked) -> String {
    let said = app
        .said
        .as_ref()
        .map(|(said, _)| visible(said, Lines::Escape));
    let is_typing = app.guard.is_up(app.now) && app.typed_for.is_some();
    let typing = is_typing.then(|| "typing goes into the prompt until then".to_owned());
    let both = [Some(position(asked)), typing, said].into_iter().flatten();
    let both: Vec<String> = both.filter(|text| !text.is_empty()).collect();
    both.join(" \u{b7} ")
}

/// What of it is not on the screen.
fn position(asked: &Asked) -> String {
    match (asked.page.n_above(), asked.page.n_below()) {
        (0, 0) => String::new(),
        (n_above, 0) => format!("{n_above} rows above"),
        (0, n_below) => format!("{n_below} more rows below: space goes on"),
        (n_above, n_below) => format!("{n_above} rows above, {n_below} below: space goes on"),
    }
}

fn last(app: &App, asked: &Asked) -> Row {
    if app.guard.is_up(app.now) {
        let text = match app.pause() {
            PAUSE => "keys do not count yet: half a second without one",
            _ => "keys do not count yet: two seconds without one",
        };
        return Row::new(Look::Warning, text);
    }
    if let Some(said) = &asked.said {
        return Row::new(Look::Warning, &visible(said, Lines::Escape));
    }
    if let Err(why) = app.can_answer()
        && let Some(others) = without_answers(&asked.stage)
    {
        let text = format!("no answer counts: {why}   {others}");
        return Row::new(Look::Warning, &text);
    }
    let is_seen = asked.page.is_seen_with_this();
    let has_always = !asked.request().choices.is_empty();
    let usual = match &asked.stage {
        Stage::Asked if !is_seen => {
            "space: go on   n: no   r: no, because   o: look aside   ?: help"
        }
        Stage::Asked if !has_always => {
            "y: yes   n: no   r: no, because   e: edit   Tab: next   o: look aside   ?: help"
        }
        Stage::Asked => {
            "y: yes   n: no   r: no, because   a: always   e: edit   Tab: next   ?: help"
        }
        Stage::Always(form) if form.typed_at.is_some() => "Enter: done with the pattern",
        Stage::Always(form) if form.can_be_saved().is_err() => {
            "up, down: which   left, right: how long   e: edit   Esc: back"
        }
        Stage::Always(_) => {
            "up, down: which   left, right: how long   e: edit   a: go on   Esc: back"
        }
        Stage::Saved(form, _) if form.can_be_saved().is_err() => "Esc: back",
        Stage::Saved(..) => "y: save it and run the call   Esc: back",
        Stage::Feedback(_) => "Enter: no, and say this   Alt-Enter: new line   Esc: back",
        Stage::Arguments(_) => "Ctrl-S: done   Esc: back",
        Stage::Changed(..) => "y: run this   Esc: back",
        Stage::Replying(_) => "the answer is on its way   Tab: next   o: look aside",
    };
    match usual.strip_prefix("y: ") {
        Some(rest) if app.may_approve().is_err() => {
            let rest = rest.strip_prefix("yes").unwrap_or(rest);
            let between = if rest.starts_with(' ') { "" } else { ", " };
            Row::new(Look::Faint, &format!("y: wait{between}{rest}"))
        }
        _ => Row::new(Look::Faint, usual), // `y` counts, or is not offered
    }
}

/// The keys that are left where nothing can be answered; `None`: all.
const fn without_answers(stage: &Stage) -> Option<&'static str> {
    match stage {
        Stage::Asked => Some("o: look aside   Tab: next   ?: help"),
        Stage::Always(_)
        | Stage::Saved(..)
        | Stage::Changed(..)
        | Stage::Feedback(_)
        | Stage::Arguments(_) => Some("Esc: back"),
        Stage::Replying(_) => None,
    }
}
