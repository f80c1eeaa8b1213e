//! What is on the screen.

mod conversation;
mod help;
mod question;
mod typed;

use podward_client::Found;
use podward_protocol::Status;
use podward_view::{Lines, Look, Row, columns_of, visible};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};

use crate::app::App;
use crate::keys::{Action, Keys};
use crate::pod::{Link, Pod};

pub(crate) use typed::typed_rows;

/// A screen that is narrower shows nothing that could be answered.
pub(crate) const MIN_COLUMNS: usize = 20;

/// So is one with fewer rows.
pub(crate) const MIN_ROWS: usize = 6;

/// Whether there is colour. What a colour says, a mark or a word says too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colors {
    /// The sixteen of the terminal, of which only those are used that can be read on light and dark.
    Sixteen,
    /// None.
    None,
}

impl Colors {
    fn style(self, look: Look) -> Style {
        let plain = Style::new();
        let (color, modifier) = match look {
            Look::Plain => return plain,
            Look::Strong => (None, Modifier::BOLD),
            Look::Faint => (None, Modifier::DIM),
            Look::Good => (Some(Color::Green), Modifier::empty()),
            Look::Warning => (Some(Color::Magenta), Modifier::BOLD),
            Look::Bad => (Some(Color::Red), Modifier::BOLD),
            Look::Asks => (None, Modifier::BOLD.union(Modifier::REVERSED)),
            Look::Added => (Some(Color::Green), Modifier::empty()),
            Look::Removed => (Some(Color::Red), Modifier::empty()),
        };
        let style = plain.add_modifier(modifier);
        match (self, color) {
            (Self::Sixteen, Some(color)) => style.fg(color),
            (Self::Sixteen | Self::None, _) => style,
        }
    }
}

/// Draws what an [`App`] has laid out.
pub fn draw(app: &App, frame: &mut Frame<'_>, colors: Colors) {
    let mut screen = Screen {
        frame,
        colors,
        at: 0,
    };
    let height = screen.height();
    if screen.width() < MIN_COLUMNS || height < MIN_ROWS {
        let text = format!("at least {MIN_COLUMNS} columns and {MIN_ROWS} rows");
        screen.row(&Row::new(Look::Warning, &text));
        return;
    }
    screen.row(&header(app));
    if app.is_help {
        help::draw(app, &mut screen);
    } else if app.asked().is_some() {
        question::draw(app, &mut screen);
    } else if let Some(listed) = &app.listed {
        list(app, listed, &mut screen);
    } else {
        conversation::draw(app, &mut screen);
    }
}

/// A screen that is filled from above.
pub(crate) struct Screen<'a, 'b> {
    frame: &'a mut Frame<'b>,
    colors: Colors,
    at: u16,
}

impl Screen<'_, '_> {
    pub(crate) fn width(&self) -> usize {
        self.frame.area().width.into()
    }

    pub(crate) fn height(&self) -> usize {
        self.frame.area().height.into()
    }

    /// Rows that are left.
    pub(crate) fn left(&self) -> usize {
        self.height().saturating_sub(self.at.into())
    }

    /// Adds a row; what does not fit it is said to be cut off.
    pub(crate) fn row(&mut self, row: &Row) {
        let area = self.frame.area();
        if self.at >= area.height {
            return;
        }
        let is_cut = row.n_columns() > area.width.into();
        let buffer = self.frame.buffer_mut();
        let mut x = 0;
        for piece in &row.pieces {
            let room = usize::from(area.width.saturating_sub(x));
            let style = self.colors.style(piece.look);
            (x, _) = buffer.set_stringn(x, self.at, &piece.text, room, style);
        }
        if is_cut {
            let style = self.colors.style(Look::Warning);
            buffer.set_string(area.width.saturating_sub(1), self.at, "\u{2026}", style);
        }
        self.at += 1;
    }

    /// Leaves rows empty until so many are left.
    pub(crate) fn skip_to(&mut self, n_left: usize) {
        let n_left = u16::try_from(n_left).unwrap_or(u16::MAX);
        self.at = self.at.max(self.frame.area().height.saturating_sub(n_left));
    }

    /// A line across the screen, with a text in it.
    pub(crate) fn rule(&mut self, text: &str) {
        let text = if text.is_empty() {
            String::new()
        } else {
            format!(" {text} ")
        };
        let width = self.width();
        let mut row = Row::new(Look::Faint, "\u{2500}\u{2500}");
        row.push(Look::Strong, &text);
        let n_rest = width.saturating_sub(row.n_columns());
        row.push(Look::Faint, &"\u{2500}".repeat(n_rest));
        self.row(&row);
    }

    /// Puts the cursor into a row that was drawn, so many above the next one.
    pub(crate) fn cursor(&mut self, n_above: usize, column: usize) {
        let above = u16::try_from(n_above).unwrap_or(0);
        let column = u16::try_from(column).unwrap_or(0);
        let area: Rect = self.frame.area();
        let (x, y) = (
            column.min(area.width.saturating_sub(1)),
            self.at.saturating_sub(above),
        );
        self.frame.set_cursor_position((x, y));
    }
}

/// The pods and what they do, and how many questions are open.
fn header(app: &App) -> Row {
    let mut row = Row::default();
    for (at, pod) in app.pods.iter().enumerate() {
        for piece in pod_cell(app, at, pod).pieces {
            row.push(piece.look, &piece.text);
        }
    }
    if app.pods.is_empty() {
        row.push(Look::Strong, "podward");
    }
    let n_open = app.queue().len();
    if n_open > 0 {
        let text = format!(
            " {}",
            podward_view::counted(u64::try_from(n_open).unwrap_or(0), "question")
        );
        let n_blank = app
            .columns
            .saturating_sub(row.n_columns() + columns_of(&text));
        row.push(Look::Plain, &" ".repeat(n_blank));
        row.push(Look::Warning, &text);
    }
    row
}

/// A pod and what it does.
fn pod_cell(app: &App, at: usize, pod: &Pod) -> Row {
    let (look, mark, end) = match at == app.focus {
        true => (Look::Strong, "[", "]"),
        false => (Look::Faint, " ", " "),
    };
    let mut row = Row::new(look, &format!("{mark}{}", pod.name()));
    let (look, state) = state(pod, app);
    row.push(look, &format!(" {state}"));
    row.push(Look::Strong, end);
    row
}

/// The pod whose name stands in a column of the first row.
pub(crate) fn pod_at(app: &App, column: usize) -> Option<usize> {
    let mut end = 0;
    let mut pods = app.pods.iter().enumerate();
    pods.find(|(at, pod)| {
        end += pod_cell(app, *at, pod).n_columns();
        column < end
    })
    .map(|(at, _)| at)
}

fn state(pod: &Pod, app: &App) -> (Look, String) {
    match (&pod.link, &pod.status) {
        (Link::Connecting, _) => (Look::Faint, "connecting".to_owned()),
        (Link::Lost { since, .. }, _) => {
            let n_seconds = app.now.steady.saturating_sub(*since) / 1000;
            (Look::Bad, format!("lost for {n_seconds} s, trying again"))
        }
        (Link::There, None | Some(Status::Idle)) => (Look::Good, "idle".to_owned()),
        (Link::There, Some(Status::Busy)) => (Look::Good, "busy".to_owned()),
        (Link::There, Some(Status::Waiting)) => (Look::Warning, "waiting".to_owned()),
        (Link::There, Some(Status::Retry { attempt, .. })) => {
            (Look::Warning, format!("retry {attempt}"))
        }
    }
}

/// What keys are for, as the last row offers it.
pub(crate) fn offers(keys: &Keys, offers: &[(Action, &str)]) -> String {
    let offers = offers.iter();
    let offers: Vec<String> = offers
        .map(|(action, what)| format!("{}: {what}", keys.name(*action)))
        .collect();
    offers.join("   ")
}

/// The last row: what is said, or what can be done.
pub(crate) fn bottom(app: &App, usual: &str) -> Row {
    match &app.said {
        Some((said, _)) => Row::new(Look::Warning, &visible(said, Lines::Escape)),
        None => Row::new(Look::Faint, usual),
    }
}

fn list(app: &App, listed: &[Found], screen: &mut Screen<'_, '_>) {
    screen.rule("pods that run");
    if listed.is_empty() {
        screen.row(&Row::new(
            Look::Plain,
            "  none: `podward serve MANIFEST` starts one",
        ));
    }
    let room = screen.left().saturating_sub(1);
    let first = first_listed(app);
    for (at, found) in listed.iter().enumerate().skip(first).take(room) {
        let is_chosen = at == app.listed_at;
        let look = if is_chosen { Look::Strong } else { Look::Plain };
        let mut row = Row::new(look, if is_chosen { "> " } else { "  " });
        row.push(look, &visible(&found.entry.pod, Lines::Escape));
        let rest = format!("  {}  {}", found.entry.session, found.entry.workspace);
        row.push(Look::Faint, &visible(&rest, Lines::Escape));
        screen.row(&row);
    }
    screen.skip_to(1);
    screen.row(&bottom(app, "up, down: choose   Enter: attach   Esc: back"));
}

/// The first pod of the list that is on the screen.
pub(crate) fn first_listed(app: &App) -> usize {
    // The pods, the rule and the last row take three.
    let room = app.rows.saturating_sub(3);
    app.listed_at.saturating_sub(room.saturating_sub(1))
}
