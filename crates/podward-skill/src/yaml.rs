//! Front matter as a tree of texts with their places.
//!
//! The parser gives events; nothing is guessed about types: every scalar is the text that its
//! author wrote. Aliases, anchors and tags are refused, so nothing can grow.

mod help;
use std::ops::Range;

use granit_parser::{Event, Parser, ScalarStyle, ScanError, Span, Tag};
use podward_policy::ByteSpan;

use crate::problem::Problem;

/// Lists and mappings may stand in each other this deep.
const MOST_DEPTH: usize = 16;

/// A value with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) span: ByteSpan,
    pub(crate) value: Value,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Scalar {
        text: Box<str>,
        is_plain: bool,
    },
    Sequence(Vec<Node>),
    /// Keys as written, in order; those that stand twice are there twice.
    Mapping(Vec<(Node, Node)>),
}

/// What could be read.
#[derive(Debug, Default)]
pub(crate) struct Document {
    /// The pairs of the outermost mapping that were read to their end.
    pub(crate) pairs: Vec<(Node, Node)>,
    /// What is wrong; not empty: what is missing in `pairs` may be missing because of it.
    pub(crate) problems: Vec<Problem>,
}

/// Reads the part of a text that is front matter.
pub(crate) fn parse(text: &str, front: Range<usize>) -> Document {
    let source = text.get(front.clone()).unwrap_or_default();
    let mut builder = Builder {
        text,
        front: front.clone(),
        open: Vec::new(),
        root: None,
        n_documents: 0,
        problems: Vec::new(),
    };
    let options = granit_parser::options! { disallow_directives: true };
    for event in Parser::new_from_str_with_options(source, options) {
        let done = match event {
            Ok((event, span)) => builder.take(event, &span),
            Err(error) => Err(builder.syntax_error(&error)),
        };
        if let Err(problem) = done {
            builder.problems.push(problem);
            break;
        }
    }
    builder.finish()
}

/// A list or mapping that is not closed yet.
#[derive(Debug)]
struct Open {
    start: usize,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Sequence(Vec<Node>),
    Mapping {
        pairs: Vec<(Node, Node)>,
        key: Option<Node>,
    },
}

struct Builder<'t> {
    text: &'t str,
    front: Range<usize>,
    open: Vec<Open>,
    root: Option<Node>,
    n_documents: usize,
    problems: Vec<Problem>,
}

impl Builder<'_> {
    fn take(&mut self, event: Event<'_>, span: &Span) -> Result<(), Problem> {
        let range = self.range(span);
        match event {
            Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
            Event::DocumentStart(..) => {
                self.n_documents += 1;
                if self.n_documents > 1 {
                    return Err(Problem::error(
                        ByteSpan::new(range),
                        "the front matter is more than one document",
                        "remove the line `...`",
                    ));
                }
            }
            Event::Alias(_) | Event::UnresolvedAlias(_) => return Err(alias(range)),
            Event::Anchor(..) => {}
            Event::Scalar(text, style, anchor, tag) => {
                self.properties(&range, anchor, tag.as_deref())?;
                let value = Value::Scalar {
                    text: text.into(),
                    is_plain: style == ScalarStyle::Plain,
                };
                let span = ByteSpan::new(range);
                self.add(Node { span, value })?;
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.properties(&range, anchor, tag.as_deref())?;
                self.open(range.start, Content::Sequence(Vec::new()))?;
            }
            Event::MappingStart(_, anchor, tag) => {
                self.properties(&range, anchor, tag.as_deref())?;
                let pairs = Vec::new();
                self.open(range.start, Content::Mapping { pairs, key: None })?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(range.end)?,
            // What a later version of the parser may add is nothing that was written here.
            _ => {
                return Err(Problem::error(
                    ByteSpan::new(range),
                    "this is YAML that front matter has no use for",
                    "write plain keys and values",
                ));
            }
        }
        Ok(())
    }

    /// Anchors and tags have no use here, and another reader may see other values by them.
    fn properties(
        &self,
        range: &Range<usize>,
        anchor: usize,
        tag: Option<&Tag>,
    ) -> Result<(), Problem> {
        let what = match (anchor, tag) {
            (0, None) => return Ok(()),
            (0, Some(_)) => "a tag (`!…`)",
            (_, _) => "an anchor (`&…`)",
        };
        Err(Problem::error(
            ByteSpan::new(range.clone()),
            format!("this value has {what}, which front matter has no use for"),
            "remove it, or put the value in quotes if it belongs to the text",
        ))
    }

    fn open(&mut self, start: usize, content: Content) -> Result<(), Problem> {
        if self.open.len() >= MOST_DEPTH {
            return Err(Problem::error(
                ByteSpan::new(start..start),
                format!("lists and mappings stand in each other more than {MOST_DEPTH} deep"),
                "the format knows one level, and a list or mapping in it",
            ));
        }
        self.open.push(Open { start, content });
        Ok(())
    }

    fn close(&mut self, end: usize) -> Result<(), Problem> {
        let Some(open) = self.open.pop() else {
            return Ok(());
        };
        let value = match open.content {
            Content::Sequence(items) => Value::Sequence(items),
            Content::Mapping { pairs, .. } => Value::Mapping(pairs),
        };
        let span = ByteSpan::new(open.start..self.without_blank_end(open.start, end));
        self.add(Node { span, value })
    }

    fn add(&mut self, node: Node) -> Result<(), Problem> {
        match self.open.last_mut().map(|open| &mut open.content) {
            None => self.root = Some(node),
            Some(Content::Sequence(items)) => items.push(node),
            Some(Content::Mapping { pairs, key }) => match key.take() {
                Some(key) => pairs.push((key, node)),
                None => match node.value {
                    Value::Scalar { .. } => *key = Some(node),
                    Value::Sequence(_) | Value::Mapping(_) => {
                        return Err(Problem::error(
                            node.span,
                            "a key is a word, not a list or mapping",
                            "write `key: value`; put the value in quotes if it begins with `[` or \
                             `{`",
                        ));
                    }
                },
            },
        }
        Ok(())
    }

    /// The range in the whole text, at character boundaries.
    fn range(&self, span: &Span) -> Range<usize> {
        let range = span.byte_range().unwrap_or(0..0);
        let start = self.boundary(self.front.start + range.start);
        let end = self.boundary(self.front.start + range.end).max(start);
        start..self.without_blank_end(start, end)
    }

    fn without_blank_end(&self, start: usize, end: usize) -> usize {
        let slice = self.text.get(start..end).unwrap_or_default();
        start + slice.trim_end().len()
    }

    fn boundary(&self, at: usize) -> usize {
        let at = at.min(self.front.end);
        (0..=at)
            .rev()
            .find(|at| self.text.is_char_boundary(*at))
            .unwrap_or(0)
    }

    fn syntax_error(&self, error: &ScanError) -> Problem {
        let marker = error.marker();
        let at = marker.byte_offset().unwrap_or(0);
        let at = self.boundary(self.front.start + at);
        help::syntax_error(self.text, &self.front, at, error)
    }

    fn finish(mut self) -> Document {
        let mut pairs = Vec::new();
        match (self.root.take(), self.open.drain(..).next()) {
            (Some(node), _) => match node.value {
                Value::Mapping(read) => pairs = read,
                Value::Scalar { .. } | Value::Sequence(_) => {
                    self.problems.push(Problem::error(
                        node.span,
                        "the front matter is no list of keys and values",
                        "write a line `name: …` and a line `description: …`",
                    ));
                }
            },
            // Something went wrong: what was complete before it is still looked at.
            (None, Some(open)) => {
                if let Content::Mapping { pairs: read, .. } = open.content {
                    pairs = read;
                }
            }
            (None, None) => {}
        }
        Document {
            pairs,
            problems: self.problems,
        }
    }
}

fn alias(range: Range<usize>) -> Problem {
    Problem::error(
        ByteSpan::new(range),
        "this is an alias (`*…`), which front matter has no use for",
        "write the value out, or put it in quotes if the star belongs to it (`\"*\"`)",
    )
}
