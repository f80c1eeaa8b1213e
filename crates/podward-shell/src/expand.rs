//! Words to arguments: what the shell's expansions make of them, as far as that is known.

use podward_policy::HoleKind;

use crate::arg::{Arg, Part, Source};
use crate::syntax::{Change, Command, Expansion, How, List, Moment, Piece, Quoting, Script, Word};
use crate::values::{Census, POSITIONAL, Value, Values};

/// What is known while words are expanded.
#[derive(Clone, Copy)]
pub(crate) struct Knowledge<'a> {
    pub(crate) census: &'a Census,
    pub(crate) values: &'a Values,
    pub(crate) script: &'a Script,
    /// What stands up to here may have run by now.
    pub(crate) by: Moment,
    /// What stands for `${x:-word}` where `x` is not known.
    pub(crate) unset: Unset,
    /// Inside a function the positional parameters are its own.
    pub(crate) in_function: bool,
    /// The value of `HOME`, which the environment of the shell holds.
    pub(crate) home: Option<&'a str>,
}

/// What `${x:-word}` is where nothing is known of `x`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unset {
    /// Not known either.
    Unknown,
    /// The word: one way in which it may run.
    IsDefault,
}

/// Whether a word may stand in place of a variable's value in one of these.
pub(crate) fn have_defaults(words: &[Word]) -> bool {
    words.iter().flat_map(|word| &word.pieces).any(|piece| {
        matches!(piece, Piece::Expansion(expansion, _)
            if matches!(&**expansion, Expansion::Other { change: Some(_), .. }))
    })
}

/// The arguments that some words become.
pub(crate) fn words(words: &[Word], knowledge: Knowledge<'_>) -> Vec<Arg> {
    let mut args = Vec::with_capacity(words.len());
    for word in words {
        if let [Piece::Plain(text) | Piece::Quoted(text)] = word.pieces.as_slice() {
            args.push(Arg::known_text(text, word.span));
            continue;
        }
        let mut expanding = Expanding {
            knowledge,
            out: Vec::new(),
            current: Arg::empty(word.span),
            splits: true,
        };
        expanding.word(word);
        args.append(&mut expanding.out);
    }
    args
}

/// A word that stays one: the value of an assignment, the target of a redirection.
pub(crate) fn single(word: &Word, knowledge: Knowledge<'_>) -> Arg {
    let mut expanding = Expanding {
        knowledge,
        out: Vec::new(),
        current: Arg::empty(word.span),
        splits: false,
    };
    expanding.word(word);
    let mut arg = Arg::empty(word.span);
    for (n, part) in std::mem::take(&mut expanding.out).into_iter().enumerate() {
        if n > 0 {
            // `"$@"` where there is one word only.
            arg.push(Part::Known(" ".to_owned()));
        }
        arg.append(part);
    }
    if arg.is_empty() {
        arg.push(Part::Known(String::new()));
    }
    arg
}

struct Expanding<'a> {
    knowledge: Knowledge<'a>,
    out: Vec<Arg>,
    current: Arg,
    splits: bool,
}

impl Expanding<'_> {
    fn word(&mut self, word: &Word) {
        for piece in &word.pieces {
            match piece {
                Piece::Plain(text) => self.current.push(Part::Known(text.clone())),
                Piece::Quoted(text) => self.quoted(text),
                Piece::Glob(c) => self.current.push(Part::Glob(*c)),
                Piece::Tilde(user) => self.tilde(user),
                Piece::Expansion(expansion, quoting) => self.expansion(expansion, *quoting),
            }
        }
        self.flush();
    }

    /// `~` and `~+` are values of variables.
    fn tilde(&mut self, user: &str) {
        let variable = match user {
            "" => Some("HOME"),
            "+" => Some("PWD"),
            _ => None,
        };
        let Knowledge { census, by, .. } = self.knowledge;
        self.current.push(match variable {
            Some(name) if census.is_set(name, by) => Part::Hole(HoleKind::Quoted, Source::Value),
            _ => Part::Tilde(user.to_owned()),
        });
    }

    fn flush(&mut self) {
        if !self.current.is_empty() {
            let next = Arg::empty(self.current.span);
            self.out.push(std::mem::replace(&mut self.current, next));
        }
    }

    fn expansion(&mut self, expansion: &Expansion, quoting: Quoting) {
        let value = match expansion {
            Expansion::Parameter(name) => self.lookup(name),
            Expansion::Elements(name) => self.remembered(name).cloned(),
            Expansion::Element(name, index) => self.element(name, &index.inner),
            Expansion::Other {
                inner,
                change: Some(change),
                ..
            } => inner
                .last()
                .and_then(|word| self.changed(change, word, quoting))
                .map(Value::Scalar),
            _ => None,
        };
        match (value, expansion) {
            (Some(Value::List(items)), Expansion::Parameter(name)) if name != POSITIONAL => {
                self.scalar(&items.join(" "), quoting);
            }
            (Some(Value::List(items)), _) => self.list(&items, quoting),
            (Some(Value::Scalar(text)), _) => self.scalar(&text, quoting),
            (Some(Value::Between(front, end)), _) => {
                let kind = if self.splits {
                    by_quoting(quoting)
                } else {
                    HoleKind::Quoted
                };
                self.scalar(&front, quoting);
                self.current.push(Part::Hole(kind, Source::Value));
                self.scalar(&end, quoting);
            }
            (None, _) => self.hole(expansion, quoting),
        }
    }

    /// What is remembered of a variable, if it still holds.
    fn remembered(&self, name: &str) -> Option<&Value> {
        let value = self.knowledge.values.get(name)?;
        let holds = self.knowledge.census.holds(name, self.knowledge.by);
        holds.then_some(value)
    }

    /// `${x:-word}` and its like, where both the value and the word are known.
    fn changed(&self, change: &Change, word: &Word, quoting: Quoting) -> Option<String> {
        let name = change.name.as_str();
        let value = match self.lookup(name) {
            Some(Value::Scalar(text)) => Some(text),
            Some(Value::List(_) | Value::Between(..)) => return None,
            None if self.knowledge.unset == Unset::IsDefault => None,
            None => return None,
        };
        let has_value = value.as_ref().is_some_and(|value| !value.is_empty());
        let operand = || {
            let text = word.as_literal()?;
            // Unquoted, it is split, and a `~` in front is a home.
            let is_plain =
                quoting == Quoting::Quoted || !text.contains([' ', '\t', '\n', '*', '?', '[', '~']);
            is_plain.then_some(text)
        };
        let pattern = || operand().filter(|text| !text.contains(['*', '?', '[', '\\']));
        match (change.how, value) {
            (How::UnlessEmpty, Some(value)) if has_value => Some(value),
            (How::UnlessUnset, Some(value)) => Some(value),
            (How::Replaced, Some(_)) if !has_value => Some(String::new()),
            (How::Replaced | How::WithoutFront | How::WithoutEnd, None) => None,
            (How::UnlessEmpty | How::UnlessUnset | How::Replaced, _) => operand(),
            (How::WithoutFront, Some(value)) => {
                let mut front = pattern()?;
                if let Some(longest) = front.strip_prefix('#') {
                    front = longest.to_owned();
                }
                Some(value.strip_prefix(&front).unwrap_or(&value).to_owned())
            }
            (How::WithoutEnd, Some(value)) => {
                let mut end = pattern()?;
                if let Some(longest) = end.strip_prefix('%') {
                    end = longest.to_owned();
                }
                Some(value.strip_suffix(&end).unwrap_or(&value).to_owned())
            }
        }
    }

    fn lookup(&self, name: &str) -> Option<Value> {
        let is_positional =
            matches!(name, "@" | "*") || name.bytes().all(|byte| byte.is_ascii_digit());
        if name == "HOME"
            && self
                .knowledge
                .census
                .is_untouched("HOME", self.knowledge.by)
        {
            return self
                .knowledge
                .home
                .map(|home| Value::Scalar(home.to_owned()));
        }
        if !is_positional {
            return match self.remembered(name)? {
                value @ (Value::Scalar(_) | Value::Between(..)) => Some(value.clone()),
                Value::List(items) => Some(Value::Scalar(items.first()?.clone())),
            };
        }
        if self.knowledge.in_function {
            return None;
        }
        let Value::List(items) = self.remembered(POSITIONAL)? else {
            return None;
        };
        match name {
            "@" | "*" => Some(Value::List(items.clone())),
            _ => {
                let n: usize = name.parse().ok()?;
                items.get(n.checked_sub(1)?).cloned().map(Value::Scalar)
            }
        }
    }

    fn element(&self, name: &str, index: &Word) -> Option<Value> {
        let index: usize = index.as_literal()?.parse().ok()?;
        match self.remembered(name)? {
            Value::List(items) => items.get(index).cloned().map(Value::Scalar),
            Value::Scalar(text) if index == 0 => Some(Value::Scalar(text.clone())),
            Value::Scalar(_) | Value::Between(..) => None,
        }
    }

    fn scalar(&mut self, text: &str, quoting: Quoting) {
        if quoting == Quoting::Quoted || !self.splits {
            self.quoted(text);
            return;
        }
        let is_blank = |c: char| matches!(c, ' ' | '\t' | '\n');
        if text.starts_with(is_blank) {
            self.flush();
        }
        for (n, field) in text.split(is_blank).filter(|f| !f.is_empty()).enumerate() {
            if n > 0 {
                self.flush();
            }
            self.unquoted(field);
        }
        if text.ends_with(is_blank) {
            self.flush();
        }
    }

    /// Characters that are no pattern.
    fn quoted(&mut self, text: &str) {
        let opens = |part: &Part| *part == Part::Glob('[');
        self.current.has_quoted_class |= !text.is_empty() && self.current.parts().iter().any(opens);
        self.current.push(Part::Known(text.to_owned()));
    }

    /// Characters of a value that was not quoted: patterns in it count.
    fn unquoted(&mut self, field: &str) {
        for c in field.chars() {
            self.current.push(match c {
                '*' | '?' | '[' => Part::Glob(c),
                c => Part::Known(c.to_string()),
            });
        }
    }

    fn list(&mut self, items: &[String], quoting: Quoting) {
        for (n, item) in items.iter().enumerate() {
            if n > 0 {
                self.flush();
            }
            match quoting {
                Quoting::Quoted => self.quoted(item),
                Quoting::Unquoted => self.scalar(item, quoting),
            }
        }
    }

    /// Whether a substitution is `$(pwd)`.
    fn is_pwd(&self, list: &List) -> bool {
        let [and_or] = list.as_slice() else {
            return false;
        };
        let [Command::Simple(idx)] = and_or.first.commands.as_slice() else {
            return false;
        };
        let simple = self.knowledge.script.simples.get(idx.0);
        let is_plain = simple.is_some_and(|simple| {
            simple.assignments.is_empty()
                && simple.redirects.is_empty()
                && matches!(simple.words.as_slice(), [word] if word.as_literal().as_deref() == Some("pwd"))
        });
        let untouched = |name| self.knowledge.census.is_untouched(name, self.knowledge.by);
        is_plain
            && and_or.rest.is_empty()
            && !and_or.background
            && untouched("pwd")
            && untouched("PWD")
    }

    fn hole(&mut self, expansion: &Expansion, quoting: Quoting) {
        let (kind, source) = match expansion {
            Expansion::Parameter(name) => {
                let source = match name.as_str() {
                    "PWD" if self.knowledge.census.is_untouched("PWD", self.knowledge.by) => {
                        Source::WorkingDirectory
                    }
                    _ => Source::Value,
                };
                let kind = match name.as_str() {
                    "@" | "*" => HoleKind::Unquoted,
                    "#" | "?" | "$" => HoleKind::Quoted,
                    _ => by_quoting(quoting),
                };
                (kind, source)
            }
            Expansion::Elements(_) => (HoleKind::Unquoted, Source::Value),
            Expansion::Process(_) => (HoleKind::Quoted, Source::Process),
            Expansion::Arithmetic(_) => (HoleKind::Quoted, Source::Number),
            Expansion::Array(_) => (HoleKind::Quoted, Source::Value),
            Expansion::Other { inner, is_many, .. }
                if *is_many || inner.iter().any(is_many_words) =>
            {
                (HoleKind::Unquoted, Source::Value)
            }
            Expansion::Command(list) if self.is_pwd(list) => {
                (by_quoting(quoting), Source::WorkingDirectory)
            }
            _ => (by_quoting(quoting), Source::Value),
        };
        let kind = if self.splits { kind } else { HoleKind::Quoted };
        self.current.push(Part::Hole(kind, source));
    }
}

const fn by_quoting(quoting: Quoting) -> HoleKind {
    match quoting {
        Quoting::Quoted => HoleKind::Quoted,
        Quoting::Unquoted => HoleKind::Unquoted,
    }
}

/// Whether a word holds what makes several words even in double quotes.
fn is_many_words(word: &Word) -> bool {
    word.pieces.iter().any(|piece| match piece {
        Piece::Expansion(expansion, _) => match &**expansion {
            Expansion::Parameter(name) => name == POSITIONAL,
            Expansion::Elements(_) => true,
            Expansion::Other { inner, is_many, .. } => *is_many || inner.iter().any(is_many_words),
            _ => false,
        },
        _ => false,
    })
}
