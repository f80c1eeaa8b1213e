//! Pictures of screens that were captured of the real program in a terminal.

use std::num::NonZeroU16;
use std::path::Path;

use vt100::{Cell, Color, Parser};

use crate::chores::Outcome;

/// Where the captured screens are; the tests with a real terminal keep them.
const CAPTURES: &str = "docs/captures";

/// The page that shows the pictures.
const PAGE: &str = "docs/attach.md";

/// Width and height of a character, and the margin around all of them, in pixels.
const CELL: (usize, usize) = (8, 18);
const MARGIN: usize = 12;

/// Colours for a light and a dark background.
const STYLE: &str = "\
rect{fill:#fbfbf9;stroke:#c8c8c2}\
text{font:13px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;fill:#22221f;white-space:pre}\
.b{font-weight:bold}.d{fill:#77776f}.red{fill:#a32020}.green{fill:#1a6b2d}.magenta{fill:#8a1c7c}\
.back{fill:#22221f;stroke:none}.inverse{fill:#fbfbf9}\
@media(prefers-color-scheme:dark){rect{fill:#1b1b1e;stroke:#3a3a40}text{fill:#e3e3dc}.d{fill:#8d8d86}\
.red{fill:#ef8a8a}.green{fill:#7fd08f}.magenta{fill:#e58fd8}.back{fill:#e3e3dc}.inverse{fill:#1b1b1e}}";

/// The pictures that the page shows: their paths and what is in them.
///
/// # Errors
/// The page or a screen cannot be read, or a screen's name does not end with its size.
pub(super) fn pictures(root: &Path) -> Outcome<Vec<(String, String)>> {
    let page = std::fs::read_to_string(root.join(PAGE))?;
    let mut pictures = Vec::new();
    for name in shown(&page) {
        let path = root.join(CAPTURES).join(format!("{name}.txt"));
        let screen = std::fs::read_to_string(&path)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        let size = size(name).ok_or_else(|| format!("`{name}` does not end with its size"))?;
        pictures.push((format!("docs/screens/{name}.svg"), svg(&screen, size)));
    }
    Ok(pictures)
}

/// The names of the pictures that a page shows.
fn shown(page: &str) -> Vec<&str> {
    let links = page.split("(screens/").skip(1);
    let mut names: Vec<&str> = links
        .filter_map(|rest| rest.split_once(".svg)"))
        .map(|(name, _)| name)
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Columns and rows, with which a name ends: `question-80x24`.
fn size(name: &str) -> Option<(NonZeroU16, NonZeroU16)> {
    let (_, size) = name.rsplit_once('-')?;
    let (columns, rows) = size.split_once('x')?;
    Some((columns.parse().ok()?, rows.parse().ok()?))
}

fn svg(screen: &str, (columns, rows): (NonZeroU16, NonZeroU16)) -> String {
    let mut parser = Parser::new(rows, columns, 0);
    parser.process(
        screen
            .trim_end_matches('\n')
            .replace('\n', "\r\n")
            .as_bytes(),
    );
    let width = usize::from(columns.get()) * CELL.0 + 2 * MARGIN;
    let height = usize::from(rows.get()) * CELL.1 + 2 * MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\"><style>{STYLE}</style>\
         <rect x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{}\" rx=\"6\"/>\n",
        width - 1,
        height - 1
    );
    for row in 0..rows.get() {
        for run in runs(parser.screen(), row, columns.get()) {
            svg.push_str(&run.svg(row.into()));
        }
    }
    svg.push_str("</svg>\n");
    svg
}

/// Characters of a row that look the same.
struct Run {
    column: usize,
    n_columns: usize,
    text: String,
    look: Look,
}

/// What a character looks like.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Look {
    color: Color,
    is_bold: bool,
    is_dim: bool,
    is_inverse: bool,
}

fn runs(screen: &vt100::Screen, row: u16, columns: u16) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for column in 0..columns {
        let Some(cell) = screen
            .cell(row, column)
            .filter(|cell| !cell.is_wide_continuation())
        else {
            continue;
        };
        let text = if cell.has_contents() {
            cell.contents()
        } else {
            " "
        };
        let n_columns = if cell.is_wide() { 2 } else { 1 };
        let look = look(cell);
        match runs.last_mut() {
            Some(run) if run.look == look => {
                run.text.push_str(text);
                run.n_columns += n_columns;
            }
            Some(_) | None => runs.push(Run {
                column: column.into(),
                n_columns,
                text: text.to_owned(),
                look,
            }),
        }
    }
    runs
}

fn look(cell: &Cell) -> Look {
    Look {
        color: cell.fgcolor(),
        is_bold: cell.bold(),
        is_dim: cell.dim(),
        is_inverse: cell.inverse(),
    }
}

impl Run {
    fn svg(&self, row: usize) -> String {
        let is_blank = self.text.trim().is_empty();
        if is_blank && !self.look.is_inverse {
            return String::new();
        }
        let (x, y) = (MARGIN + self.column * CELL.0, MARGIN + row * CELL.1);
        let width = self.n_columns * CELL.0;
        let mut svg = String::new();
        if self.look.is_inverse {
            let height = CELL.1;
            svg = format!(
                "<rect class=\"back\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>"
            );
        }
        let text = self
            .text
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;");
        let y = y + 13;
        svg.push_str(&format!(
            "<text class=\"{}\" x=\"{x}\" y=\"{y}\" textLength=\"{width}\" \
             xml:space=\"preserve\">{text}</text>\n",
            self.look.classes()
        ));
        svg
    }
}

impl Look {
    fn classes(self) -> String {
        let color = match self.color {
            Color::Idx(1) => "red",
            Color::Idx(2) => "green",
            Color::Idx(5) => "magenta",
            // The client uses no other.
            Color::Default | Color::Idx(_) | Color::Rgb(..) => "",
        };
        let classes = [
            (self.is_bold, "b"),
            (self.is_dim, "d"),
            (!color.is_empty(), color),
            (self.is_inverse, "inverse"),
        ];
        let classes = classes.iter().filter(|(is_there, _)| *is_there);
        let classes: Vec<&str> = classes.map(|(_, class)| *class).collect();
        classes.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::{shown, size, svg};

    #[test]
    fn a_picture_has_every_row_of_its_screen_and_no_markup_of_its_own() {
        let size = size("demo-20x4").unwrap();
        let screen =
            "\u{1b}[1m[demo\u{1b}[0m]\n  | a <b> && \u{1b}[1;7mc\u{1b}[0m\n       \u{1b}[35m^^^\n";
        let picture = svg(screen, size);
        assert!(
            picture.contains("  | a &lt;b&gt; &amp;&amp; </text>"),
            "{picture}"
        );
        assert!(picture.contains("class=\"b\" x=\"12\""), "{picture}");
        assert!(picture.contains("class=\"b inverse\""), "{picture}");
        assert!(picture.contains("class=\"magenta\""), "{picture}");
        assert_eq!(picture.matches("class=\"back\"").count(), 1);
    }

    #[test]
    fn the_page_says_which_pictures_there_are() {
        let page = "![b](screens/b-80x24.svg) ![a](screens/a-80x24.svg)\n![b](screens/b-80x24.svg)";
        assert_eq!(shown(page), ["a-80x24", "b-80x24"]);
        assert_eq!(size("a"), None);
        assert_eq!(size("a-80"), None);
    }
}
