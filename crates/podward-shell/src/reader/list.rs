//! Lists, and-or lists and pipelines.

use super::{Read, Reader, Stop, ends_word};
use crate::limits;
use crate::syntax::{AndOr, Command, Link, List, Pipeline, Timed};

/// The words that mean something where a command begins.
pub(super) const RESERVED: &[&str] = &[
    "!", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for",
    "function", "if", "in", "select", "then", "time", "until", "while", "{", "}",
];

/// Reserved words that can only follow a list, never begin a command.
const CLOSING: &[&str] = &["do", "done", "elif", "else", "esac", "fi", "then", "}"];

impl Reader<'_> {
    /// The whole text.
    pub(super) fn script(&mut self) -> Read<List> {
        if let Some(at) = self.bytes.iter().position(|&byte| is_refused(byte)) {
            // What stands before it is read all the same: a deny must see it. Whatever has no end there
            // may have one behind it.
            self.bytes = self.bytes.get(..at).unwrap_or_default();
            let why = "a control character";
            self.list().map_err(|stop| Stop { why, ..stop })?;
            self.pos = at;
            return self.stop(why);
        }
        let list = self.list()?;
        self.end_of_text()?;
        Ok(list)
    }

    fn end_of_text(&mut self) -> Read<()> {
        if self.peek().is_some() {
            return self.stop("text where a command should begin");
        }
        if !self.pending.is_empty() {
            return self.stop("a here-document without a body");
        }
        Ok(())
    }

    /// Commands up to what cannot begin one: a closing word, `)`, `;;` or the end.
    pub(super) fn list(&mut self) -> Read<List> {
        let mut list = List::new();
        loop {
            self.skip_newlines()?;
            if !self.begins_command()? {
                return Ok(list);
            }
            let mut and_or = self.and_or()?;
            self.skip_blanks();
            let ends = match (self.peek(), self.peek_after(1)) {
                (Some(b'&'), next) if next != Some(b'&') => {
                    self.take_operator();
                    self.head();
                    and_or.background = true;
                    false
                }
                (Some(b';'), next) if next != Some(b';') && next != Some(b'&') => {
                    self.take_operator();
                    self.head();
                    false
                }
                (Some(b'\n' | b'#'), _) => false,
                _ => true,
            };
            list.push(and_or);
            if ends {
                return Ok(list);
            }
        }
    }

    /// A list that must hold a command.
    pub(super) fn full_list(&mut self) -> Read<List> {
        let list = self.nested(Self::list)?;
        if list.is_empty() {
            return self.stop("a command is missing");
        }
        Ok(list)
    }

    /// Skips blanks, newlines and comments; a newline begins the bodies of here-documents.
    pub(super) fn skip_newlines(&mut self) -> Read<()> {
        loop {
            self.skip_blanks();
            match self.peek() {
                Some(b'\n') => self.newline()?,
                Some(b'#') => self.skip_comment(),
                _ => return Ok(()),
            }
        }
    }

    pub(super) fn newline(&mut self) -> Read<()> {
        if self.outer_pending {
            return self.stop("a here-document that begins inside another command");
        }
        self.take_operator();
        self.here_bodies()
    }

    fn begins_command(&mut self) -> Read<bool> {
        Ok(match self.peek() {
            None | Some(b')') => false,
            Some(b'&') => self.peek_after(1) == Some(b'>'),
            Some(b';' | b'|') => false,
            Some(_) => self
                .peek_reserved()
                .is_none_or(|word| !CLOSING.contains(&word)),
        })
    }

    fn and_or(&mut self) -> Read<AndOr> {
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.skip_blanks();
            let link = if self.take("&&") {
                Link::And
            } else if self.take("||") {
                Link::Or
            } else {
                break;
            };
            self.skip_newlines()?;
            rest.push((link, self.pipeline()?));
        }
        Ok(AndOr {
            first,
            rest,
            background: false,
        })
    }

    fn pipeline(&mut self) -> Read<Pipeline> {
        let mut pipeline = Pipeline {
            negated: false,
            timed: None,
            commands: Vec::new(),
        };
        self.pipeline_prefix(&mut pipeline)?;
        self.skip_blanks();
        let bare = (pipeline.negated || pipeline.timed.is_some())
            && matches!(self.peek(), None | Some(b'\n' | b';' | b'&' | b')'));
        if bare {
            self.head();
            return Ok(pipeline);
        }
        loop {
            pipeline.commands.push(self.command()?);
            self.head();
            self.skip_blanks();
            let next = (self.peek(), self.peek_after(1));
            match next {
                (Some(b'|'), Some(b'|')) => return Ok(pipeline),
                (Some(b'|'), Some(b'&')) => {
                    self.take_operator();
                    self.take_operator();
                }
                (Some(b'|'), _) => self.take_operator(),
                _ => return Ok(pipeline),
            }
            self.skip_newlines()?;
        }
    }

    fn pipeline_prefix(&mut self, pipeline: &mut Pipeline) -> Read<()> {
        loop {
            self.skip_blanks();
            let start = self.pos;
            if self.take_reserved("!") {
                pipeline.negated = !pipeline.negated;
            } else if self.take_reserved("time") {
                let posix = self.time_options()?;
                pipeline.timed = Some(Timed {
                    posix,
                    span: self.span(start),
                });
            } else {
                return Ok(());
            }
        }
    }

    /// `-p`, then `--`; any other option makes `time` a program's name.
    fn time_options(&mut self) -> Read<bool> {
        let mut posix = false;
        loop {
            self.skip_blanks();
            match (self.peek(), self.peek_after(1)) {
                (Some(b'-'), Some(b'p')) if self.peek_after(2).is_none_or(ends_word) => {
                    self.pos = self.skip_continuations(self.pos + 1) + 1;
                    posix = true;
                }
                (Some(b'-'), Some(b'-')) if self.ends_time_options() => {
                    self.pos += 2;
                    return Ok(posix);
                }
                (Some(b'-'), _) => return self.stop("`time` with other options than `-p`"),
                _ => return Ok(posix),
            }
        }
    }

    /// Whether `--` and the plain name of a program follow.
    fn ends_time_options(&self) -> bool {
        let rest = self
            .text
            .get(self.pos..)
            .and_then(|rest| rest.strip_prefix("--"));
        let Some(rest) = rest.filter(|rest| rest.starts_with([' ', '\t'])) else {
            return false;
        };
        let word = rest.trim_start_matches([' ', '\t']);
        let end =
            word.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-' | '/' | '.'));
        let name = end.map_or(word, |end| word.get(..end).unwrap_or_default());
        let is_whole = word
            .get(name.len()..)
            .is_some_and(|after| after.is_empty() || after.starts_with([' ', '\t', '\n', ';']));
        is_whole && !name.is_empty() && !super::is_reserved(name)
    }

    fn command(&mut self) -> Read<Command> {
        self.skip_blanks();
        if self.script.simples.len() >= limits::COMMANDS {
            return self.stop("too many commands");
        }
        if self.peek() == Some(b'(') {
            return self.parenthesis();
        }
        match self.peek_reserved() {
            None => self.simple_or_function(),
            Some("coproc") => self.stop("a coprocess"),
            Some(word) if CLOSING.contains(&word) || matches!(word, "]]" | "in") => {
                // `in` and `]]` are ordinary words here.
                if CLOSING.contains(&word) {
                    self.stop("a reserved word where a command should begin")
                } else {
                    self.simple_or_function()
                }
            }
            Some("!" | "time") => self.stop("`!` or `time` inside a pipeline"),
            Some(word) => self.compound(word),
        }
    }

    /// The reserved word that comes next, if one does.
    pub(super) fn peek_reserved(&self) -> Option<&'static str> {
        let mut word = [0_u8; 8];
        let mut at = self.skip_continuations(self.pos);
        let mut len = 0;
        while let Some(byte) = self.raw(at).filter(|&byte| !ends_word(byte)) {
            *word.get_mut(len)? = byte;
            len += 1;
            at = self.skip_continuations(at + 1);
        }
        let word = word.get(..len)?;
        RESERVED
            .iter()
            .copied()
            .find(|reserved| reserved.as_bytes() == word)
    }

    /// Takes a reserved word, if it comes next.
    pub(super) fn take_reserved(&mut self, word: &str) -> bool {
        if self.peek_reserved() != Some(word) {
            return false;
        }
        for _ in 0..word.len() {
            self.pos = self.skip_continuations(self.pos) + 1;
        }
        true
    }

    pub(super) fn expect_reserved(&mut self, word: &str, why: &'static str) -> Read<()> {
        if self.take_reserved(word) {
            Ok(())
        } else {
            self.stop(why)
        }
    }
}

/// Control characters that mislead people or that bash drops.
const fn is_refused(byte: u8) -> bool {
    (byte < b' ' && byte != b'\t' && byte != b'\n') || byte == 0x7f
}
