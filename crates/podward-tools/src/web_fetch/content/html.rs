//! HTML to readable text.
//!
//! The page is read twice: a tokenizer writes it anew with the few elements that text needs, well
//! nested and not deep, and a library lays that out. What makes an HTML parser slow or exhausts a
//! stack (nesting without end, formatting that is never closed, wide tables) is gone before a tree is
//! built.

mod elements;

use std::borrow::Cow;

use html5gum::emitters::default::DefaultEmitter;
use html5gum::{StartTag, Token, Tokenizer};
use url::Url;

use self::elements::{Content, Element, element};

/// Columns to which text is wrapped.
const WIDTH: usize = 100;

/// Elements that may be open at the same time; the tags of more are dropped, not their text.
const DEPTH_MAX: usize = 64;

/// Lists and quotes that may be open at the same time: each moves its text to the right.
const INDENTS_MAX: usize = 8;

/// Elements of one page; the tags of more are dropped, not their text.
const ELEMENTS_MAX: usize = 100_000;

/// Bytes of a link that is shown.
const LINK_MAX: usize = 1000;

/// Bytes of a title that is shown.
const TITLE_MAX: usize = 300;

/// A page as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) title: Option<String>,
    pub(crate) text: String,
}

impl Page {
    /// Reads a page that came from `base`; `None` if the library fails on it.
    pub(crate) fn read(html: &str, base: &Url) -> Option<Self> {
        let written = rewritten(html, base);
        let text = html2text::config::plain()
            .link_footnotes(true)
            .no_link_wrapping()
            .allow_width_overflow()
            .string_from_read(written.out.as_bytes(), WIDTH)
            .ok()?;
        let title = written.title.split_whitespace().collect::<Vec<_>>();
        let title = title.join(" ");
        Some(Self {
            title: (!title.is_empty()).then_some(title),
            text,
        })
    }
}

/// A page written anew.
#[derive(Default)]
struct Written {
    out: String,
    title: String,
    open: Vec<&'static Element>,
    n_indents: usize,
    n_elements: usize,
    /// What characters belong to now.
    state: State,
    /// A row has a cell already.
    has_cell: bool,
}

#[derive(Default, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    Title,
    /// A script, a style: until its end tag.
    Skipped,
}

fn rewritten(html: &str, base: &Url) -> Written {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let mut written = Written::default();
    // INVARIANT: a text in memory is read without errors.
    for token in Tokenizer::new_with_emitter(html, emitter).flatten() {
        match token {
            Token::StartTag(tag) => written.start(&tag, base),
            Token::EndTag(tag) => written.end(&utf8(&tag.name)),
            Token::String(text) => written.text(&utf8(&text)),
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
    }
    written.close_above(0);
    written
}

fn utf8(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

impl Written {
    fn start(&mut self, tag: &StartTag<()>, base: &Url) {
        let Some(element) = element(&utf8(&tag.name)) else {
            return;
        };
        match element.content {
            Content::Skipped => self.state = State::Skipped,
            Content::Title => self.state = State::Title,
            Content::Blank => self.out.push(' '),
            Content::Cell => self.cell(),
            Content::Void => self.void(element, tag),
            Content::Open => self.open(element, tag, base),
        }
    }

    fn end(&mut self, name: &str) {
        if self.state != State::Text {
            // Inside, only the end tag of the element itself is one.
            self.state = State::Text;
            return;
        }
        let is_it = |open: &&&Element| open.tag == name;
        if let Some(idx) = self.open.iter().rposition(|open| is_it(&open)) {
            self.close_above(idx);
        }
    }

    fn text(&mut self, text: &str) {
        match self.state {
            State::Text => escape(text, &mut self.out),
            State::Title => {
                let room = TITLE_MAX.saturating_sub(self.title.len());
                let end = text.floor_char_boundary(room.min(text.len()));
                self.title.push_str(text.get(..end).unwrap_or_default());
            }
            State::Skipped => {}
        }
    }

    /// A cell is the next part of its row.
    fn cell(&mut self) {
        if self.has_cell {
            self.out.push_str(" | ");
        }
        self.has_cell = true;
    }

    fn void(&mut self, element: &Element, tag: &StartTag<()>) {
        if self.n_elements == ELEMENTS_MAX {
            self.out.push(' ');
            return;
        }
        self.n_elements += 1;
        self.out.push('<');
        self.out.push_str(element.written);
        if let Some(alt) = attribute(tag, "alt") {
            self.attribute("alt", &alt);
            // Without one, an image is not shown.
            self.attribute("src", "image");
        }
        self.out.push('>');
    }

    fn open(&mut self, element: &'static Element, tag: &StartTag<()>, base: &Url) {
        self.close_implied(element);
        self.has_cell &= element.tag != "tr";
        let has_room = self.open.len() < DEPTH_MAX
            && self.n_elements < ELEMENTS_MAX
            && (!element.indents || self.n_indents < INDENTS_MAX);
        if !has_room {
            self.out.push(' ');
            return;
        }
        self.n_elements += 1;
        self.n_indents += usize::from(element.indents);
        self.open.push(element);
        self.out.push('<');
        self.out.push_str(element.written);
        if element.tag == "a"
            && let Some(link) = attribute(tag, "href").and_then(|href| link(&href, base))
        {
            self.attribute("href", &link);
        }
        self.out.push('>');
    }

    /// Closes what an element may not be inside of: another `li` of the same list, a `p`.
    fn close_implied(&mut self, element: &Element) {
        let found = self.open.iter().enumerate().rev();
        let mut until = found.take_while(|(_, open)| !element.stays_in.contains(&open.tag));
        let closed = until.find(|(_, open)| element.closes.contains(&open.tag));
        if let Some((idx, _)) = closed {
            self.close_above(idx);
        }
    }

    /// Closes all open elements from a place on.
    fn close_above(&mut self, idx: usize) {
        while self.open.len() > idx
            && let Some(element) = self.open.pop()
        {
            self.n_indents -= usize::from(element.indents);
            self.out.push_str("</");
            self.out.push_str(element.written);
            self.out.push('>');
        }
    }

    fn attribute(&mut self, name: &str, value: &str) {
        self.out.push(' ');
        self.out.push_str(name);
        self.out.push_str("=\"");
        escape(value, &mut self.out);
        self.out.push('"');
    }
}

fn attribute<'t>(tag: &'t StartTag<()>, name: &str) -> Option<Cow<'t, str>> {
    let value = tag.attributes.get(name.as_bytes())?;
    Some(utf8(value))
}

/// Where a link leads, if that is another page.
fn link(href: &str, base: &Url) -> Option<String> {
    if href.len() > LINK_MAX || href.starts_with('#') {
        return None;
    }
    let url = base.join(href).ok()?;
    let is_page = matches!(url.scheme(), "http" | "https") && url.as_str().len() <= LINK_MAX;
    is_page.then(|| url.to_string())
}

fn escape(text: &str, out: &mut String) {
    for char in text.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            char => out.push(char),
        }
    }
}

#[cfg(test)]
mod tests;
