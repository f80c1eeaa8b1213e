//! A question, and what can be done about it.

use podward_view::{Lines, Look, Row, one_line, visible};

use super::{Screen, offers, typed};
use crate::app::{App, PAUSE};
use crate::asked::{Asked, Stage};
use crate::keys::{Action, Keys};

/// Characters of a question's id that are shown.
const MAX_ID: usize = 40;

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
    // Its number is this client's; others know it by this name, and `podward reply` takes it.
    let id = one_line(asked.id().as_str(), MAX_ID);
    title.push_str(&format!(" \u{b7} {id}"));
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
    let is_typing = app.guard.is_up(app.now) && app.typing.is_some();
    let typing = is_typing.then(|| "typing goes into the prompt until then".to_owned());
    let both = [Some(position(app, asked)), said, typing]
        .into_iter()
        .flatten();
    let both: Vec<String> = both.filter(|text| !text.is_empty()).collect();
    both.join(" \u{b7} ")
}

/// What of it is not on the screen.
fn position(app: &App, asked: &Asked) -> String {
    let go_on = app.keys.name(Action::GoOn);
    match (asked.page.n_above(), asked.page.n_below()) {
        (0, 0) => String::new(),
        (n_above, 0) => format!("{n_above} rows above"),
        (0, n_below) => format!("{n_below} more rows below: {go_on} goes on"),
        (n_above, n_below) => format!("{n_above} rows above, {n_below} below: {go_on} goes on"),
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
        && let Some(others) = without_answers(&app.keys, &asked.stage)
    {
        let text = format!("no answer counts: {why}   {others}");
        return Row::new(Look::Warning, &text);
    }
    let waits = !app.guard.may_approve(app.now);
    Row::new(Look::Faint, &usual(&app.keys, asked, waits))
}

/// What can be done.
fn usual(keys: &Keys, asked: &Asked, waits: bool) -> String {
    let offers = |all: &[(Action, &str)]| offers(keys, all);
    let name = |action| keys.name(action);
    let moves = || {
        let which = format!("{}, {}: which", name(Action::Up), name(Action::Down));
        let long = format!("{}, {}: how long", name(Action::Left), name(Action::Right));
        format!("{which}   {long}   {}: edit", name(Action::Edit))
    };
    // A yes counts only after a pause.
    let yes = |what: &str| match waits {
        true if what == "yes" => format!("{}: wait", name(Action::Yes)),
        true => format!("{}: wait, {what}", name(Action::Yes)),
        false => format!("{}: {what}", name(Action::Yes)),
    };
    let (no, because) = ((Action::No, "no"), (Action::Because, "no, because"));
    let (next, help) = ((Action::Next, "next"), (Action::Keys, "help"));
    let (edit, aside) = ((Action::Edit, "edit"), (Action::Aside, "look aside"));
    match &asked.stage {
        Stage::Asked if !asked.page.is_seen_with_this() => {
            offers(&[(Action::GoOn, "go on"), no, because, aside, help])
        }
        Stage::Asked if asked.request().choices.is_empty() => {
            let others = offers(&[no, because, edit, next, aside, help]);
            format!("{}   {others}", yes("yes"))
        }
        Stage::Asked => {
            let always = (Action::Always, "always");
            let others = offers(&[no, because, always, edit, next, help]);
            format!("{}   {others}", yes("yes"))
        }
        Stage::Always(form) if form.typed_at.is_some() => "Enter: done with the pattern".to_owned(),
        Stage::Always(form) if form.can_be_saved().is_err() => format!("{}   {BACK}", moves()),
        Stage::Always(_) => {
            let always = offers(&[(Action::Always, "go on")]);
            format!("{}   {always}   {BACK}", moves())
        }
        stage @ (Stage::Saved(..) | Stage::Changed(_)) if stage.can_run().is_err() => {
            BACK.to_owned()
        }
        Stage::Saved(..) => format!("{}   {BACK}", yes("save it and run the call")),
        Stage::Changed(_) => format!("{}   {BACK}", yes("run this")),
        Stage::Feedback(_) => format!("Enter: no, and say this   Alt-Enter: new line   {BACK}"),
        Stage::Arguments(_) => format!("{}   {BACK}", offers(&[(Action::Done, "done")])),
        Stage::Replying(_) => {
            let next = offers(&[next]);
            format!("the answer is on its way: what you type is for the prompt   {next}")
        }
    }
}

const BACK: &str = "Esc: back";

/// The keys that are left where nothing can be answered; `None`: all.
fn without_answers(keys: &Keys, stage: &Stage) -> Option<String> {
    let left = [
        (Action::Aside, "look aside"),
        (Action::Next, "next"),
        (Action::Keys, "help"),
    ];
    match stage {
        Stage::Asked => Some(offers(keys, &left)),
        Stage::Always(_)
        | Stage::Saved(..)
        | Stage::Changed(_)
        | Stage::Feedback(_)
        | Stage::Arguments(_) => Some(BACK.to_owned()),
        Stage::Replying(_) => None,
    }
}
