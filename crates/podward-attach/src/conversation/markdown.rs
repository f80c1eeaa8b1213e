//! What a model writes, which is mostly Markdown, in rows.
//!
//! Nothing is hidden: where a link leads stands behind it, and HTML stands there as it was written.

use podward_view::{Lines, Look, Row, rows as code_rows, visible, wrapped};
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// The text in rows of at most so many columns.
pub(super) fn rows(text: &str, room: usize) -> Vec<Row> {
    let mut page = Page {
        room,
        ..Page::default()
    };
    let parser = Parser::new_ext(text, Options::ENABLE_STRIKETHROUGH);
    let definitions = parser.reference_definitions().iter();
    let mut definitions: Vec<String> = definitions
        .map(|(name, to)| format!("[{name}]: {}{}", to.dest, title(to.title.as_deref())))
        .collect();
    definitions.sort();
    for event in parser {
        page.take(event);
    }
    page.end_line();
    for definition in definitions {
        page.push(&definition);
        page.end_line();
    }
    page.rows
}

/// The title of a link, as it is written.
fn title(title: Option<&str>) -> String {
    match title {
        Some(title) if !title.is_empty() => format!(" \"{title}\""),
        Some(_) | None => String::new(),
    }
}

/// Rows that are made, and the line that comes next.
#[derive(Default)]
struct Page {
    room: usize,
    rows: Vec<Row>,
    line: Vec<(Look, String)>,
    /// How the text that comes is meant, innermost last.
    looks: Vec<Look>,
    /// Where links lead, innermost last.
    links: Vec<String>,
    /// The numbers of the lists around the text; `None`: they have none.
    lists: Vec<Option<u64>>,
    /// What stands in front of the next line.
    bullet: Option<String>,
    n_quotes: usize,
    /// The text of a block of code.
    code: Option<String>,
}

impl Page {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some(code) => code.push_str(&text),
                None => self.push(&text),
            },
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.looks.push(Look::Strong);
                self.push(&text);
                self.looks.pop();
            }
            Event::Html(text) | Event::InlineHtml(text) => {
                for line in text.split_inclusive('\n') {
                    self.push(line.trim_end_matches('\n'));
                    if line.ends_with('\n') {
                        self.end_line();
                    }
                }
            }
            Event::FootnoteReference(name) => self.push(&format!("[^{name}]")),
            Event::SoftBreak => self.push(" "),
            Event::HardBreak => self.end_line(),
            Event::Rule => {
                self.gap();
                self.rows
                    .push(Row::new(Look::Faint, "\u{2500}\u{2500}\u{2500}"));
            }
            Event::TaskListMarker(is_done) => self.push(if is_done { "[x] " } else { "[ ] " }),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph if self.bullet.is_none() && self.lists.is_empty() => self.gap(),
            Tag::Heading { level, .. } => {
                self.gap();
                self.looks.push(Look::Strong);
                let mark = "#".repeat(level as usize);
                self.push(&format!("{mark} "));
            }
            Tag::BlockQuote(_) => {
                self.end_line();
                self.n_quotes += 1;
            }
            Tag::CodeBlock(kind) => {
                self.end_line();
                if let CodeBlockKind::Fenced(language) = kind
                    && !language.is_empty()
                {
                    let name = visible(&language, Lines::Escape);
                    self.rows.push(Row::new(Look::Faint, &format!("  {name}")));
                }
                self.code = Some(String::new());
            }
            Tag::List(first) => {
                self.end_line();
                if self.lists.is_empty() {
                    self.gap();
                }
                self.lists.push(first);
            }
            Tag::Item => {
                self.end_line();
                self.bullet = Some(match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{}. ", *number - 1)
                    }
                    Some(None) | None => "- ".to_owned(),
                });
            }
            Tag::Emphasis | Tag::Strong | Tag::Strikethrough => self.looks.push(Look::Strong),
            Tag::Link {
                dest_url,
                title: it,
                ..
            }
            | Tag::Image {
                dest_url,
                title: it,
                ..
            } => self.links.push(format!("{dest_url}{}", title(Some(&it)))),
            _ => {} // its text is shown as it comes
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::Item => self.end_line(),
            TagEnd::Heading(_) => {
                self.looks.pop();
                self.end_line();
            }
            TagEnd::BlockQuote(_) => {
                self.end_line();
                self.n_quotes = self.n_quotes.saturating_sub(1);
            }
            TagEnd::CodeBlock => {
                if let Some(code) = self.code.take() {
                    let code = code.strip_suffix('\n').unwrap_or(&code);
                    self.rows.extend(code_rows(code, &[], self.room));
                }
            }
            TagEnd::List(_) => {
                self.end_line();
                self.lists.pop();
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.looks.pop();
            }
            TagEnd::Link | TagEnd::Image => {
                if let Some(link) = self.links.pop()
                    && self.line.last().is_none_or(|(_, text)| *text != link)
                {
                    self.push(&format!(" ({link})"));
                }
            }
            _ => {} // its text was shown
        }
    }

    fn push(&mut self, text: &str) {
        let look = self.looks.last().copied().unwrap_or_default();
        self.line.push((look, visible(text, Lines::Escape)));
    }

    /// A blank row between what stands there and what comes.
    fn gap(&mut self) {
        self.end_line();
        if self.rows.last().is_some_and(|row| !row.pieces.is_empty()) {
            self.rows.push(Row::default());
        }
    }

    fn end_line(&mut self) {
        if self.line.is_empty() {
            return;
        }
        let indent = "  ".repeat(self.lists.len().saturating_sub(1)) + &"> ".repeat(self.n_quotes);
        let bullet = self.bullet.take();
        let blank = if self.lists.is_empty() { "" } else { "  " };
        let mut front = indent.clone() + bullet.as_deref().unwrap_or(blank);
        let room = self.room.saturating_sub(front.len()).max(1);
        let line = std::mem::take(&mut self.line);
        let pieces: Vec<(Look, &str)> = line.iter().map(|(look, text)| (*look, &**text)).collect();
        for row in wrapped(&pieces, room) {
            let mut whole = Row::new(Look::Plain, &front);
            for piece in &row.pieces {
                whole.push(piece.look, &piece.text);
            }
            self.rows.push(whole);
            front = indent.clone() + &" ".repeat(front.len().saturating_sub(indent.len()));
        }
    }
}

#[cfg(test)]
mod tests;
