//! What the reader finds: simple commands, and the lists and compounds that hold them.

use std::collections::BTreeSet;

use podward_policy::ByteSpan;

use crate::expression::EXPANSION;

/// A simple command in [`Script::simples`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SimpleIdx(pub(crate) usize);

/// A here-document in [`Script::heres`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HereIdx(pub(crate) usize);

/// A place in the order in which a text was read. What stands later has a later moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment(usize);

impl Moment {
    /// Behind everything.
    pub(crate) const END: Self = Self(usize::MAX);

    pub(crate) const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

/// All that was read of a text.
#[derive(Debug, Default)]
pub(crate) struct Script {
    /// The text as lists of commands; what was read before a stop is only in `simples`.
    pub(crate) list: List,
    /// Every simple command, in the order in which each one ends.
    pub(crate) simples: Vec<Simple>,
    pub(crate) heres: Vec<HereDocument>,
    /// Code that only the run shows, found while reading.
    pub(crate) unknowns: Vec<Unknown>,
    /// What sets a variable and is neither an assignment nor a builtin.
    pub(crate) settings: Vec<Setting>,
    /// Names in arithmetic: evaluated, and perhaps set.
    pub(crate) names_evaluated: Vec<(String, Moment)>,
    /// Variables whose values are expressions somewhere: they may set others.
    pub(crate) values_evaluated: BTreeSet<String>,
    /// The same of those in subscripts alone, which may be the keys of associative arrays.
    pub(crate) keys_evaluated: BTreeSet<String>,
    /// Whether there are associative arrays: their subscripts are keys, and no expressions.
    pub(crate) has_keys: bool,
    /// Variables of loops, each with its literal words.
    pub(crate) loops: Vec<(String, Vec<Option<String>>, Moment)>,
    /// What loops and `${x:=word}` may set variables to.
    pub(crate) values: Vec<(String, Vec<Word>)>,
    /// Variables that are set to what is read, by what is no builtin.
    pub(crate) readers: Vec<String>,
    /// The functions that are defined, wherever that is.
    pub(crate) functions: Vec<Definition>,
    /// The latest moment of the text.
    pub(crate) now: Moment,
    /// Comments and here-document bodies.
    pub(crate) inert: Vec<ByteSpan>,
    /// Bytes of the text up to which it is a line of its own: the ends of its outermost commands, with
    /// and without what separates them.
    pub(crate) heads: Vec<usize>,
    /// Where and why reading ended early.
    pub(crate) stop: Option<Stop>,
}

/// A loop, an expression, an expansion or a redirection that sets a variable.
#[derive(Debug)]
pub(crate) struct Setting {
    /// The variable; `None` if an expansion names it.
    pub(crate) name: Option<String>,
    pub(crate) at: Moment,
    pub(crate) span: ByteSpan,
}

/// The definition of a function.
#[derive(Debug)]
pub(crate) struct Definition {
    pub(crate) name: String,
    /// The moment before its body.
    pub(crate) at: Moment,
    /// As it is written.
    pub(crate) text: Box<str>,
}

/// Why the rest of a text could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stop {
    pub(crate) why: &'static str,
    /// Byte of the text that was read.
    pub(crate) at: usize,
}

/// Code that is not known before it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unknown {
    pub(crate) why: &'static str,
    pub(crate) span: ByteSpan,
}

pub(crate) type List = Vec<AndOr>;

#[derive(Debug)]
pub(crate) struct AndOr {
    pub(crate) first: Pipeline,
    pub(crate) rest: Vec<(Link, Pipeline)>,
    pub(crate) background: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    And,
    Or,
}

#[derive(Debug)]
pub(crate) struct Pipeline {
    pub(crate) negated: bool,
    /// The reserved word `time` and its options.
    pub(crate) timed: Option<Timed>,
    pub(crate) commands: Vec<Command>,
}

#[derive(Debug, Clone)]
pub(crate) struct Timed {
    pub(crate) posix: bool,
    pub(crate) span: ByteSpan,
}

#[derive(Debug)]
pub(crate) enum Command {
    Simple(SimpleIdx),
    /// With its redirections and the moment at which it ends.
    Compound(Compound, Vec<Redirect>, Moment),
}

#[derive(Debug)]
pub(crate) enum Compound {
    Subshell(List),
    Group(List),
    /// Conditions with their bodies; a last body without a condition is `else`.
    If(Vec<(List, List)>, Option<List>),
    While {
        condition: List,
        body: List,
    },
    For {
        name: String,
        /// `None`: the positional parameters.
        words: Option<Vec<Word>>,
        select: bool,
        body: List,
    },
    ArithmeticFor(Arithmetic, List),
    Case(Word, Vec<(Vec<Word>, List)>),
    Arithmetic(Arithmetic),
    Test(Vec<Word>),
    Function {
        name: String,
        body: Box<Command>,
        span: ByteSpan,
    },
}

#[derive(Debug, Default)]
pub(crate) struct Simple {
    pub(crate) assignments: Vec<Assignment>,
    pub(crate) words: Vec<Word>,
    pub(crate) redirects: Vec<Redirect>,
    pub(crate) span: Option<ByteSpan>,
    /// The moment at which it ends: what stands inside its words ends before.
    pub(crate) at: Moment,
}

#[derive(Debug)]
pub(crate) struct Assignment {
    pub(crate) name: String,
    pub(crate) subscript: Option<Arithmetic>,
    pub(crate) append: bool,
    pub(crate) value: AssignedValue,
    pub(crate) span: ByteSpan,
}

#[derive(Debug)]
pub(crate) enum AssignedValue {
    Scalar(Word),
    Array(Vec<Word>),
}

#[derive(Debug)]
pub(crate) struct Redirect {
    pub(crate) kind: RedirectKind,
    /// The descriptor, where it is written as a number.
    pub(crate) descriptor: Option<u32>,
    pub(crate) target: Word,
    pub(crate) span: ByteSpan,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RedirectKind {
    Read,
    /// `>`, `>>`, `>|`, `&>`, `&>>`, `>& file`.
    Write,
    ReadWrite,
    /// `>&1`, `<&-`: opens nothing.
    Duplicate,
    HereString,
    HereDocument(HereIdx),
}

#[derive(Debug, Default)]
pub(crate) struct HereDocument {
    /// The body; a quoted delimiter makes it one known piece.
    pub(crate) body: Word,
}

/// A word before expansion.
#[derive(Debug, Clone, Default)]
pub(crate) struct Word {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) span: Span,
}

/// A span of the whole call's text.
pub(crate) type Span = Option<ByteSpan>;

#[derive(Debug, Clone)]
pub(crate) enum Piece {
    /// Characters written without quotes.
    Plain(String),
    /// Characters that quotes or a backslash protect.
    Quoted(String),
    /// An unquoted `*`, `?` or `[`.
    Glob(char),
    /// `~` and what names its user.
    Tilde(String),
    Expansion(std::rc::Rc<Expansion>, Quoting),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quoting {
    Quoted,
    Unquoted,
}

#[derive(Debug)]
pub(crate) enum Expansion {
    /// `$x`, `${x}`, `$1`, `$@`.
    Parameter(String),
    /// `${a[@]}`, `${a[*]}`.
    Elements(String),
    /// `${a[i]}`.
    Element(String, Arithmetic),
    Command(List),
    Process(List),
    Arithmetic(Arithmetic),
    /// Any other: its value is not known.
    Other {
        inner: Vec<Word>,
        /// It makes several words even in double quotes.
        is_many: bool,
        /// What it makes of a variable's value and the last word of `inner`.
        change: Option<Change>,
    },
    /// `x=(a b)` as an argument of a declaration.
    Array(Vec<Word>),
}

/// `${x:-word}` and its like.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) name: String,
    pub(crate) how: How,
}

/// What stands in place of a variable's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// `:-`, `:=`, `:?`: the word, unless there is a value.
    UnlessEmpty,
    /// `-`, `=`, `?`: the word, unless it is set.
    UnlessUnset,
    /// `:+`: the word, if there is a value.
    Replaced,
    /// `#`: the value without what the word matches at its front.
    WithoutFront,
    /// `%`: the same at its end.
    WithoutEnd,
}

#[derive(Debug, Default)]
pub(crate) struct Arithmetic {
    /// Every name in it: each may be set.
    pub(crate) names: Vec<String>,
    /// Its expansions.
    pub(crate) inner: Word,
}

impl Word {
    /// The word, if it is known as written and nothing in it is quoted.
    pub(crate) fn as_plain(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [Piece::Plain(text)] => Some(text),
            _ => None,
        }
    }

    /// The text, if every piece of it is known.
    pub(crate) fn as_literal(&self) -> Option<String> {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Plain(part) | Piece::Quoted(part) => text.push_str(part),
                Piece::Glob(_) | Piece::Tilde(_) | Piece::Expansion(..) => return None,
            }
        }
        Some(text)
    }

    /// The text with [`EXPANSION`] for each part that is not known.
    pub(crate) fn as_expression(&self) -> String {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Plain(part) | Piece::Quoted(part) => text.push_str(part),
                Piece::Glob(c) => text.push(*c),
                Piece::Tilde(_) | Piece::Expansion(..) => text.push(EXPANSION),
            }
        }
        text
    }

    /// Whether it is an operator of `[[ ]]` whose operands are expressions.
    pub(crate) fn compares_numbers(&self) -> bool {
        matches!(
            self.as_plain(),
            Some("-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge")
        )
    }

    /// Adds unquoted characters.
    pub(crate) fn push_plain(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Plain(last)) => last.push_str(text),
            _ => self.pieces.push(Piece::Plain(text.to_owned())),
        }
    }

    /// Adds protected characters.
    pub(crate) fn push_quoted(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Quoted(last)) => last.push_str(text),
            _ => self.pieces.push(Piece::Quoted(text.to_owned())),
        }
    }
}
