//! Pictures of the checked-in screens of the full-screen client.

use std::path::Path;

use crate::chores::Outcome;

/// Where the screens are; a test of the crate makes them.
const SCREENS: &str = "crates/podward-attach/screens";

/// Those that docs/attach.md shows.
const SHOWN: &[&str] = &[
    "always-wide",
    "blank-lines",
    "compound-80x24",
    "conversation",
    "file-edit",
    "long-not-yet",
];

/// Width and height of a character, and the margin around all of them, in pixels.
const CELL: (usize, usize) = (8, 18);
const MARGIN: usize = 12;

/// Colours for a light and a dark background.
const STYLE: &str = "\
rect{fill:#fbfbf9;stroke:#c8c8c2}\
text{font:13px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;fill:#22221f;white-space:pre}\
.strong{font-weight:bold}.faint{fill:#77776f}.asks{fill:#8a1c7c;font-weight:bold}\
.added{fill:#1a6b2d}.removed{fill:#a32020}\
@media(prefers-color-scheme:dark){rect{fill:#1b1b1e;stroke:#3a3a40}text{fill:#e3e3dc}.faint{fill:#8d8d86}\
.asks{fill:#e58fd8}.added{fill:#7fd08f}.removed{fill:#ef8a8a}}";

/// The pictures: their paths and what is in them.
///
/// # Errors
/// A screen cannot be read.
pub(super) fn pictures(root: &Path) -> Outcome<Vec<(String, String)>> {
    let mut pictures = Vec::new();
    for name in SHOWN {
        let path = root.join(SCREENS).join(format!("{name}.txt"));
        let screen = std::fs::read_to_string(&path)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        pictures.push((format!("docs/screens/{name}.svg"), svg(&screen)));
    }
    Ok(pictures)
}

fn svg(screen: &str) -> String {
    let rows: Vec<&str> = screen.lines().collect();
    let n_columns = rows.iter().map(|row| row.chars().count()).max();
    let width = n_columns.unwrap_or(0) * CELL.0 + 2 * MARGIN;
    let height = rows.len() * CELL.1 + 2 * MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\"><style>{STYLE}</style>\
         <rect x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{}\" rx=\"6\"/>\n",
        width - 1,
        height - 1
    );
    for (at, row) in rows.iter().enumerate().filter(|(_, row)| !row.is_empty()) {
        let class = class(row, at, rows.len());
        let y = MARGIN + at * CELL.1 + 13;
        let length = row.chars().count() * CELL.0;
        let text = row
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;");
        svg.push_str(&format!(
            "<text class=\"{class}\" x=\"{MARGIN}\" y=\"{y}\" textLength=\"{length}\" \
             xml:space=\"preserve\">{text}</text>\n"
        ));
    }
    svg.push_str("</svg>\n");
    svg
}

/// What a row is like.
fn class(row: &str, at: usize, n_rows: usize) -> &'static str {
    let is_mark = !row.trim().is_empty() && row.trim().chars().all(|c| c == '^');
    match row {
        _ if is_mark || row.starts_with("  > ") => "asks",
        _ if row.starts_with("  | +") => "added",
        _ if row.starts_with("  | -") => "removed",
        _ if at == 0 || row.starts_with("may ") || row.starts_with("what would") => "strong",
        _ if row.starts_with('\u{2500}') || at + 1 == n_rows => "faint",
        _ => "plain",
    }
}

#[cfg(test)]
mod tests {
    use super::svg;

    #[test]
    fn a_picture_has_every_row_of_its_screen_and_no_markup_of_its_own() {
        let picture = svg("[demo]\n  > a <b> && c\n       ^^^\n");
        assert!(picture.contains("&gt; a &lt;b&gt; &amp;&amp; c</text>"));
        assert_eq!(picture.matches("<text").count(), 3);
        assert_eq!(picture.matches("class=\"asks\"").count(), 2);
    }
}
