//! The elements of a page that make a difference to its text.

/// What becomes of an element. The tags of one that is not known are dropped, its text is kept.
pub(super) struct Element {
    pub(super) tag: &'static str,
    /// The tag that is written for it.
    pub(super) written: &'static str,
    pub(super) content: Content,
    /// Its text stands further to the right.
    pub(super) indents: bool,
    /// What its start tag ends…
    pub(super) closes: &'static [&'static str],
    /// …unless it is outside of one of these.
    pub(super) stays_in: &'static [&'static str],
}

pub(super) enum Content {
    Open,
    /// It has no end tag.
    Void,
    /// A cell of a table: its row is one line.
    Cell,
    /// A blank stands for it, so that the words around it stay two.
    Blank,
    Title,
    /// Nobody reads what it holds.
    Skipped,
}

const LISTS: &[&str] = &["ul", "ol", "menu", "dl"];
const BOUNDS: &[&str] = &[
    "table",
    "ul",
    "ol",
    "menu",
    "dl",
    "li",
    "dd",
    "blockquote",
    "div",
];

const fn new(tag: &'static str, written: &'static str, content: Content) -> Element {
    Element {
        tag,
        written,
        content,
        indents: false,
        closes: &[],
        stays_in: &[],
    }
}

/// Text inside a line.
const fn inline(tag: &'static str, written: &'static str) -> Element {
    new(tag, written, Content::Open)
}

/// Text in lines of its own.
const fn block(tag: &'static str, written: &'static str) -> Element {
    Element {
        closes: &["p", "h1", "h2", "h3", "h4", "h5", "h6"],
        stays_in: BOUNDS,
        ..new(tag, written, Content::Open)
    }
}

const fn indented(tag: &'static str) -> Element {
    Element {
        indents: true,
        ..block(tag, tag)
    }
}

const fn item(tag: &'static str, closes: &'static [&'static str]) -> Element {
    Element {
        closes,
        stays_in: LISTS,
        ..inline(tag, tag)
    }
}

const fn skipped(tag: &'static str) -> Element {
    new(tag, "", Content::Skipped)
}

static ELEMENTS: &[Element] = &[
    Element {
        closes: &["a"],
        ..inline("a", "a")
    },
    block("address", "div"),
    block("article", "div"),
    block("aside", "div"),
    inline("b", "strong"),
    indented("blockquote"),
    new("br", "br", Content::Void),
    new("button", "", Content::Blank),
    block("caption", "div"),
    block("center", "div"),
    inline("code", "code"),
    Element {
        indents: true,
        ..item("dd", &["dd", "dt"])
    },
    inline("del", "del"),
    block("details", "div"),
    block("dialog", "div"),
    block("div", "div"),
    block("dl", "dl"),
    item("dt", &["dd", "dt"]),
    inline("em", "em"),
    block("fieldset", "div"),
    block("figcaption", "div"),
    block("figure", "div"),
    block("footer", "div"),
    block("form", "div"),
    block("h1", "h1"),
    block("h2", "h2"),
    block("h3", "h3"),
    block("h4", "h4"),
    block("h5", "h5"),
    block("h6", "h6"),
    block("header", "div"),
    new("hr", "hr", Content::Void),
    inline("i", "em"),
    skipped("iframe"),
    new("img", "img", Content::Void),
    new("input", "", Content::Blank),
    inline("kbd", "code"),
    item("li", &["li"]),
    block("main", "div"),
    Element {
        indents: true,
        ..block("menu", "ul")
    },
    block("nav", "div"),
    skipped("noembed"),
    skipped("noscript"),
    indented("ol"),
    new("option", "", Content::Blank),
    block("p", "p"),
    block("pre", "pre"),
    inline("s", "del"),
    inline("samp", "code"),
    skipped("script"),
    block("section", "div"),
    new("select", "", Content::Blank),
    inline("strong", "strong"),
    skipped("style"),
    block("summary", "div"),
    block("table", "div"),
    new("td", "", Content::Cell),
    new("textarea", "", Content::Blank),
    new("th", "", Content::Cell),
    new("title", "", Content::Title),
    Element {
        closes: &["tr"],
        stays_in: &["table"],
        ..inline("tr", "div")
    },
    inline("tt", "code"),
    indented("ul"),
    skipped("xmp"),
];

/// What is known of a tag.
pub(super) fn element(tag: &str) -> Option<&'static Element> {
    let idx = ELEMENTS.binary_search_by(|element| element.tag.cmp(tag));
    ELEMENTS.get(idx.ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_elements_are_in_order() {
        assert!(ELEMENTS.is_sorted_by_key(|element| element.tag));
    }
}
