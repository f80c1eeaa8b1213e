//! Simple commands, assignments, redirections; function definitions begin like one.

use super::{Read, Reader, ends_word, is_name_byte, is_name_start};
use crate::syntax::{
    Arithmetic, AssignedValue, Assignment, Command, Expansion, HereIdx, Piece, Quoting, Redirect,
    RedirectKind, Simple, SimpleIdx, Word,
};

/// Builtins whose arguments may assign arrays.
const DECLARATIONS: &[&str] = &["declare", "typeset", "local", "readonly", "export"];

impl Reader<'_> {
    pub(super) fn simple_or_function(&mut self) -> Read<Command> {
        let start = self.pos;
        let mut simple = Simple::default();
        let mut end = start;
        let found = self.simple(&mut simple, &mut end);
        if let Ok(Some(function)) = found {
            return self.function_body(function, start);
        }
        simple.span = Some(self.origin.span(start, end.max(start)));
        let is_empty =
            simple.words.is_empty() && simple.assignments.is_empty() && simple.redirects.is_empty();
        simple.at = self.moment();
        let idx = SimpleIdx(self.script.simples.len());
        if !is_empty {
            // Also when reading stops inside it: a deny must see what was read.
            self.script.has_keys |= simple.declares_keys();
            self.script.simples.push(simple);
        }
        found?;
        if is_empty {
            return self.stop("a command is missing");
        }
        Ok(Command::Simple(idx))
    }

    /// Reads into `simple`; the name of a function, if it turns out to be a definition.
    fn simple(&mut self, simple: &mut Simple, end: &mut usize) -> Read<Option<String>> {
        loop {
            self.skip_blanks();
            if let Some(redirect) = self.redirect()? {
                simple.redirects.push(redirect);
            } else if simple.words.is_empty()
                && let Some(assignment) = self.assignment()?
            {
                simple.assignments.push(assignment);
            } else {
                match self.peek() {
                    None | Some(b'\n' | b';' | b'&' | b'|' | b')') => return Ok(None),
                    Some(b'#') => {
                        self.skip_comment();
                        return Ok(None);
                    }
                    Some(b'(') => return self.function_name(simple),
                    Some(_) => self.argument(simple)?,
                }
            }
            *end = self.pos;
        }
    }

    fn argument(&mut self, simple: &mut Simple) -> Read<()> {
        let is_declaration = simple
            .words
            .first()
            .and_then(Word::as_plain)
            .is_some_and(|name| DECLARATIONS.contains(&name));
        if is_declaration && let Some(word) = self.array_argument()? {
            simple.words.push(word);
            return Ok(());
        }
        let word = self.word()?;
        self.expand_braces(word, &mut simple.words);
        Ok(())
    }

    /// `name() …`
    fn function_name(&mut self, simple: &Simple) -> Read<Option<String>> {
        let is_definition = simple.assignments.is_empty() && simple.redirects.is_empty();
        let name = match simple.words.as_slice() {
            [word] if is_definition => word.as_plain(),
            _ => None,
        };
        let Some(name) = name else {
            return self.stop("a parenthesis inside a command");
        };
        self.take_operator();
        self.skip_blanks();
        self.expect(")", "a parenthesis inside a command")?;
        Ok(Some(name.to_owned()))
    }

    /// `name=`, `name+=` or `name[…]=` with its value.
    fn assignment(&mut self) -> Read<Option<Assignment>> {
        let Some((name, len)) = self.peek_name() else {
            return Ok(None);
        };
        let start = self.pos;
        let (subscript, append) = match (self.peek_after(len), self.peek_after(len + 1)) {
            (Some(b'='), _) => {
                self.skip(len + 1);
                (None, false)
            }
            (Some(b'+'), Some(b'=')) => {
                self.skip(len + 2);
                (None, true)
            }
            (Some(b'['), _) => {
                let mark = self.mark();
                self.skip(len);
                let subscript = self.subscript();
                let append = self.peek() == Some(b'+') && self.peek_after(1) == Some(b'=');
                if subscript.is_err() || !(append || self.peek() == Some(b'=')) {
                    let inside = self.bytes.get(mark.pos..self.pos).unwrap_or_default();
                    if inside.iter().any(u8::is_ascii_whitespace) {
                        // bash reads on to the `]`, over blanks and operators.
                        return self
                            .stop("a bracket in a command's name that holds more than a word");
                    }
                    // A word such as `a[b]`.
                    self.reset(&mark)?;
                    return Ok(None);
                }
                self.skip(if append { 2 } else { 1 });
                (Some(subscript?), append)
            }
            _ => return Ok(None),
        };
        let value = self.assigned_value()?;
        Ok(Some(Assignment {
            name,
            subscript,
            append,
            value,
            span: self.span(start),
        }))
    }

    fn assigned_value(&mut self) -> Read<AssignedValue> {
        if self.peek() == Some(b'(') {
            return Ok(AssignedValue::Array(self.array()?));
        }
        Ok(AssignedValue::Scalar(self.assigned_word()?))
    }

    /// `(a b)` after `name=`.
    fn array(&mut self) -> Read<Vec<Word>> {
        let had_pending = self.outer_pending;
        self.outer_pending = had_pending || !self.pending.is_empty();
        self.take_operator();
        let mut elements = Vec::new();
        loop {
            self.skip_newlines()?;
            match self.peek() {
                Some(b')') => break,
                None | Some(b';' | b'&' | b'|' | b'(') => {
                    return self.stop("an array without its `)`");
                }
                Some(_) => {
                    let word = self.word()?;
                    self.expand_braces(word, &mut elements);
                }
            }
        }
        self.take_operator();
        self.outer_pending = had_pending;
        if self.peek().is_some_and(|byte| !ends_word(byte)) {
            return self.stop("text after an array");
        }
        Ok(elements)
    }

    /// `name=(…)` as an argument of a declaration.
    fn array_argument(&mut self) -> Read<Option<Word>> {
        let start = self.pos;
        let Some((name, len)) = self.peek_name() else {
            return Ok(None);
        };
        let plus = usize::from(self.peek_after(len) == Some(b'+'));
        let is_array = self.peek_after(len + plus) == Some(b'=')
            && self.peek_after(len + plus + 1) == Some(b'(');
        if !is_array {
            return Ok(None);
        }
        self.skip(len + plus + 1);
        let elements = self.array()?;
        let mut word = Word::default();
        word.push_plain(&name);
        word.push_plain(if plus == 1 { "+=" } else { "=" });
        word.pieces.push(super::compound::piece(
            Expansion::Array(elements),
            Quoting::Quoted,
        ));
        word.span = Some(self.span(start));
        Ok(Some(word))
    }

    /// The name that comes next, and its length.
    fn peek_name(&self) -> Option<(String, usize)> {
        let mut name = String::new();
        let mut at = self.skip_continuations(self.pos);
        while let Some(byte) = self.raw(at) {
            let fits = if name.is_empty() {
                is_name_start(byte)
            } else {
                is_name_byte(byte)
            };
            if !fits {
                break;
            }
            name.push(char::from(byte));
            at = self.skip_continuations(at + 1);
        }
        let len = name.len();
        (len > 0).then_some((name, len))
    }

    /// Skips bytes that were looked at, line continuations left out.
    pub(super) fn skip(&mut self, n: usize) {
        for _ in 0..n {
            self.pos = self.skip_continuations(self.pos) + 1;
        }
    }

    pub(super) fn subscript(&mut self) -> Read<Arithmetic> {
        self.skip(1);
        let subscript = self.arithmetic(b']')?;
        if self.peek() != Some(b']') {
            return self.stop("a subscript without its `]`");
        }
        self.skip(1);
        Ok(subscript)
    }

    /// A redirection, if one comes next.
    pub(super) fn redirect(&mut self) -> Read<Option<Redirect>> {
        let start = self.skip_continuations(self.pos);
        let n = self.descriptor_len();
        let first = self.peek_after(n);
        let second = self.peek_after(n + 1);
        let is_redirect = match first {
            // A digit before a process substitution is a word of its own kind.
            Some(b'<' | b'>') if second == Some(b'(') && n == 0 => false,
            Some(b'<' | b'>') => true,
            Some(b'&') if n == 0 => second == Some(b'>'),
            _ => false,
        };
        if !is_redirect {
            return Ok(None);
        }
        let written = self.text.get(start..start + n).unwrap_or_default();
        let descriptor = written.parse().ok();
        if let Some(name) = written.strip_prefix('{').and_then(|n| n.strip_suffix('}')) {
            self.sets(Some(name), start);
        }
        self.skip(n);
        if self.peek_after(1) == Some(b'(') {
            return self.stop("a descriptor before a process substitution");
        }
        let (kind, target) = self.redirect_target()?;
        // `<&3` without a number is of the standard input.
        let is_input = kind == RedirectKind::Duplicate && first == Some(b'<');
        Ok(Some(Redirect {
            kind,
            descriptor: descriptor.or(is_input.then_some(0)),
            target,
            span: self.span(start),
        }))
    }

    /// Length of `2` or `{name}` in front of a redirection.
    fn descriptor_len(&self) -> usize {
        let mut n = 0;
        if self.peek_after(0) == Some(b'{') {
            n = 1;
            while self.peek_after(n).is_some_and(is_name_byte) {
                n += 1;
            }
            return if n > 1 && self.peek_after(n) == Some(b'}') {
                n + 1
            } else {
                0
            };
        }
        while self.peek_after(n).is_some_and(|byte| byte.is_ascii_digit()) {
            n += 1;
        }
        n
    }

    fn redirect_target(&mut self) -> Read<(RedirectKind, Word)> {
        if self.take("<<<") {
            return Ok((RedirectKind::HereString, self.target()?));
        }
        if self.take("<<-") {
            return self.here_document(super::here::Tabs::Stripped);
        }
        if self.take("<<") {
            return self.here_document(super::here::Tabs::Kept);
        }
        if self.take("<&") {
            return self.duplicated(RedirectKind::Read);
        }
        if self.take("&>>") || self.take("&>") {
            return Ok((RedirectKind::Write, self.target()?));
        }
        if self.take(">&") {
            return self.duplicated(RedirectKind::Write);
        }
        if self.take("<>") {
            return Ok((RedirectKind::ReadWrite, self.target()?));
        }
        if self.take(">>") || self.take(">|") || self.take(">") {
            return Ok((RedirectKind::Write, self.target()?));
        }
        self.expect("<", "a redirection")?;
        Ok((RedirectKind::Read, self.target()?))
    }

    fn target(&mut self) -> Read<Word> {
        self.skip_blanks();
        if self.peek().is_none_or(|byte| {
            ends_word(byte) && !(matches!(byte, b'<' | b'>') && self.peek_after(1) == Some(b'('))
        }) {
            return self.stop("a redirection without its target");
        }
        self.word()
    }

    /// The target of `>&` or `<&`. Bash takes a `-` as a word of its own whatever follows it, and
    /// expands any other target of `>&` twice: only plain text is read.
    fn duplicated(&mut self, otherwise: RedirectKind) -> Read<(RedirectKind, Word)> {
        self.skip_blanks();
        if self.peek() == Some(b'-') {
            self.skip(1);
            if self.peek().is_some_and(|byte| !ends_word(byte)) {
                return self.stop("text after a closed descriptor");
            }
            return Ok((RedirectKind::Duplicate, Word::default()));
        }
        let word = self.target()?;
        let Some(plain) = word.as_plain() else {
            return self.stop("a descriptor that is not plain text");
        };
        let digits = plain.strip_suffix('-').unwrap_or(plain);
        if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok((RedirectKind::Duplicate, word));
        }
        match otherwise {
            RedirectKind::Write if plain.bytes().all(is_path_byte) => {
                Ok((RedirectKind::Write, word))
            }
            _ => self.stop("a descriptor that is not plain text"),
        }
    }

    fn here_document(&mut self, tabs: super::here::Tabs) -> Read<(RedirectKind, Word)> {
        self.skip_blanks();
        let start = self.pos;
        let word = self.target()?;
        let written = self.bytes.get(start..self.pos).unwrap_or_default();
        if written.iter().any(|byte| matches!(byte, b'$' | b'`')) {
            return self.stop("a here-document whose end is computed");
        }
        let is_quoted = written
            .iter()
            .any(|byte| matches!(byte, b'\'' | b'"' | b'\\'));
        let mut delimiter = String::new();
        for piece in &word.pieces {
            match piece {
                Piece::Plain(text) | Piece::Quoted(text) => delimiter.push_str(text),
                Piece::Glob(c) => delimiter.push(*c),
                Piece::Tilde(user) => {
                    delimiter.push('~');
                    delimiter.push_str(user);
                }
                Piece::Expansion(..) => return self.stop("a here-document whose end is computed"),
            }
        }
        if delimiter.is_empty() || delimiter.contains('\n') {
            return self.stop("a here-document without a plain end");
        }
        let idx = HereIdx(self.script.heres.len());
        self.script
            .heres
            .push(crate::syntax::HereDocument::default());
        self.pending.push(super::here::Pending {
            idx,
            delimiter,
            tabs,
            is_quoted,
        });
        Ok((RedirectKind::HereDocument(idx), Word::default()))
    }
}

/// Characters that mean nothing to the shell in a second expansion.
const fn is_path_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'_' | b'-' | b'+' | b',' | b':')
}
