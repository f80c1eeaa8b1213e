//! Text in which parts of earlier results are filled in.

use std::collections::BTreeMap;

/// Text with captures: `{{result.1 | line 2 | before ":"}}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Template {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Literal(String),
    Capture(Capture),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Capture {
    /// As the script writes it, for errors.
    written: String,
    source: Source,
    filters: Vec<Filter>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Source {
    Prompt,
    Result {
        /// The step with this label; `None`: the step before.
        label: Option<String>,
        /// From 1.
        number: usize,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Filter {
    /// The line with this number, from 1.
    Line(usize),
    /// The first line that contains the text.
    Find(String),
    /// What stands before the first occurrence of the text.
    Before(String),
    /// What stands after the first occurrence of the text.
    After(String),
    Trim,
}

/// What captures can see.
#[derive(Debug, Default)]
pub(super) struct Seen<'a> {
    /// The newest prompt.
    pub(super) prompt: &'a str,
    /// The results of the step before.
    pub(super) results: Vec<&'a str>,
    /// The newest results of each step that has a label.
    pub(super) by_label: BTreeMap<&'a str, Vec<&'a str>>,
}

impl Template {
    /// Reads a text.
    ///
    /// # Errors
    /// What is wrong with a capture in it.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((literal, after)) = rest.split_once("{{") {
            let Some((capture, after)) = after.split_once("}}") else {
                return Err("`{{` without `}}`".to_owned());
            };
            if !literal.is_empty() {
                pieces.push(Piece::Literal(literal.to_owned()));
            }
            pieces.push(Piece::Capture(Capture::parse(capture)?));
            rest = after;
        }
        if !rest.is_empty() {
            pieces.push(Piece::Literal(rest.to_owned()));
        }
        Ok(Self { pieces })
    }

    /// No text.
    pub(super) const fn empty() -> Self {
        Self { pieces: Vec::new() }
    }

    /// The labels that its captures name.
    pub(super) fn labels(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Capture(Capture {
                source: Source::Result { label, .. },
                ..
            }) => label.as_deref(),
            Piece::Capture(_) | Piece::Literal(_) => None,
        })
    }

    /// The text with every capture filled in.
    ///
    /// # Errors
    /// A capture that finds nothing.
    pub(super) fn fill(&self, seen: &Seen<'_>) -> Result<String, String> {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Literal(literal) => text.push_str(literal),
                Piece::Capture(capture) => text.push_str(capture.find(seen)?),
            }
        }
        Ok(text)
    }
}

impl Capture {
    fn parse(text: &str) -> Result<Self, String> {
        let mut parts = text.split('|').map(str::trim);
        let source = Source::parse(parts.next().unwrap_or_default())?;
        let filters = parts.map(Filter::parse).collect::<Result<_, _>>()?;
        Ok(Self {
            written: text.trim().to_owned(),
            source,
            filters,
        })
    }

    fn find<'a>(&self, seen: &Seen<'a>) -> Result<&'a str, String> {
        let nothing = || format!("`{{{{{}}}}}` finds nothing", self.written);
        let whole = match &self.source {
            Source::Prompt => Some(seen.prompt),
            Source::Result { label, number } => match label {
                None => Some(&seen.results),
                Some(label) => seen.by_label.get(label.as_str()),
            }
            .and_then(|results| results.get(number.checked_sub(1)?).copied()),
        };
        self.filters
            .iter()
            .try_fold(whole.ok_or_else(nothing)?, |text, filter| {
                filter.apply(text).ok_or_else(nothing)
            })
    }
}

impl Source {
    fn parse(text: &str) -> Result<Self, String> {
        const EXPECTED: &str = "expected `prompt`, `result.N` or `LABEL.result.N`";
        if text == "prompt" {
            return Ok(Self::Prompt);
        }
        let parts: Vec<&str> = text.split('.').collect();
        let (label, number) = match parts.as_slice() {
            ["result", number] => (None, number),
            [label, "result", number] => (Some((*label).to_owned()), number),
            _ => return Err(format!("`{text}` is no source: {EXPECTED}")),
        };
        Ok(Self::Result {
            label,
            number: from_one(number).ok_or(format!("`{number}` is no number from 1"))?,
        })
    }
}

impl Filter {
    fn parse(text: &str) -> Result<Self, String> {
        let (name, argument) = text.split_once(' ').unwrap_or((text, ""));
        let argument = argument.trim();
        let argument = argument
            .strip_prefix('"')
            .and_then(|argument| argument.strip_suffix('"'))
            .unwrap_or(argument);
        match name {
            "trim" if argument.is_empty() => Ok(Self::Trim),
            "line" => from_one(argument)
                .map(Self::Line)
                .ok_or(format!("`{argument}` is no number from 1")),
            "find" | "before" | "after" if argument.is_empty() => {
                Err(format!("`{name}` needs a text"))
            }
            "find" => Ok(Self::Find(argument.to_owned())),
            "before" => Ok(Self::Before(argument.to_owned())),
            "after" => Ok(Self::After(argument.to_owned())),
            _ => Err(format!(
                "`{text}` is no filter: expected `line N`, `find TEXT`, `before TEXT`, `after TEXT` \
                 or `trim`"
            )),
        }
    }

    fn apply<'a>(&self, text: &'a str) -> Option<&'a str> {
        match self {
            Self::Line(number) => text.lines().nth(number.checked_sub(1)?),
            Self::Find(wanted) => text.lines().find(|line| line.contains(wanted)),
            Self::Before(mark) => text.split_once(mark).map(|(before, _)| before),
            Self::After(mark) => text.split_once(mark).map(|(_, after)| after),
            Self::Trim => Some(text.trim()),
        }
    }
}

fn from_one(text: &str) -> Option<usize> {
    text.parse().ok().filter(|&number| number >= 1)
}
