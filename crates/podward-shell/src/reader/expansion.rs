//! What begins with `$`, and process substitution.

use super::{Read, Reader, compound, is_name_byte, is_name_start};
use crate::syntax::{Arithmetic, Change, Command, Expansion, How, List, Quoting, Word};

impl Reader<'_> {
    pub(super) fn dollar(&mut self, quoting: Quoting, word: &mut Word) -> Read<()> {
        match (self.peek_after(1), self.peek_after(2)) {
            (Some(b'('), Some(b'(')) => self.arithmetic_or_command(quoting, word),
            (Some(b'('), _) => {
                self.take_operator();
                let list = self.parenthesized()?;
                word.pieces
                    .push(compound::piece(Expansion::Command(list), quoting));
                Ok(())
            }
            (Some(b'{'), _) => self.nested(|reader| reader.braced(quoting, word)),
            (Some(b'['), _) => self.stop("old-style arithmetic"),
            (Some(b'\''), _) if quoting == Quoting::Unquoted => self.ansi_quoted(word),
            (Some(b'"'), _) if quoting == Quoting::Unquoted => {
                self.skip(1);
                let _ = self.peek();
                self.double_quoted(word)
            }
            (Some(byte), _) if is_name_start(byte) => {
                self.skip(1);
                let mut name = String::new();
                while let Some(byte) = self.peek().filter(|&byte| is_name_byte(byte)) {
                    name.push(char::from(byte));
                    self.pos += 1;
                }
                self.push_parameter(name, quoting, word);
                Ok(())
            }
            (Some(byte), _) if is_special_parameter(byte) => {
                self.skip(2);
                self.push_parameter(char::from(byte).to_string(), quoting, word);
                Ok(())
            }
            _ => {
                self.skip(1);
                match quoting {
                    Quoting::Quoted => word.push_quoted("$"),
                    Quoting::Unquoted => word.push_plain("$"),
                }
                Ok(())
            }
        }
    }

    #[expect(clippy::unused_self, reason = "reads like the other pieces")]
    fn push_parameter(&self, name: String, quoting: Quoting, word: &mut Word) {
        word.pieces
            .push(compound::piece(Expansion::Parameter(name), quoting));
    }

    /// `$((`: arithmetic if a matching `))` ends it, else a command that begins with a subshell.
    fn arithmetic_or_command(&mut self, quoting: Quoting, word: &mut Word) -> Read<()> {
        let mark = self.mark();
        self.take_operator();
        self.take_operator();
        self.take_operator();
        let arithmetic = self.nested(|reader| {
            let arithmetic = reader.arithmetic(b')')?;
            reader.end_arithmetic()?;
            Ok(arithmetic)
        });
        let expansion = match arithmetic {
            Ok(arithmetic) => Expansion::Arithmetic(arithmetic),
            Err(stop) if stop.why == super::arithmetic::NOT_ARITHMETIC => {
                self.reset(&mark)?;
                self.take_operator();
                Expansion::Command(self.parenthesized()?)
            }
            Err(stop) => return Err(stop),
        };
        word.pieces.push(compound::piece(expansion, quoting));
        Ok(())
    }

    /// `( list )` as the body of a substitution.
    fn parenthesized(&mut self) -> Read<List> {
        let pending = std::mem::take(&mut self.pending);
        let outer = self.outer_pending;
        self.outer_pending = outer || !pending.is_empty();
        self.take_operator();
        let n_heres = self.script.heres.len();
        let list = self.nested(Self::list)?;
        // bash 5.2 writes a substitution anew before it runs it, and behind the body of a
        // here-document it leaves out a `;` inside a compound command (`print_cmd.c`).
        if self.script.heres.len() > n_heres && holds_compound(&list) {
            return self.stop("a here-document beside a compound command in a substitution");
        }
        self.skip_blanks();
        self.expect(")", "a substitution without its `)`")?;
        if !self.pending.is_empty() {
            return self.stop("a here-document that goes on after its substitution");
        }
        self.pending = pending;
        self.outer_pending = outer;
        Ok(list)
    }

    pub(super) fn process_substitution(&mut self, word: &mut Word) -> Read<()> {
        self.take_operator();
        let list = self.parenthesized()?;
        word.pieces
            .push(compound::piece(Expansion::Process(list), Quoting::Unquoted));
        Ok(())
    }

    /// `${…}`.
    fn braced(&mut self, quoting: Quoting, word: &mut Word) -> Read<()> {
        let start = self.pos;
        self.skip(2);
        let sign = self.peek();
        let after = self.peek_after(1);
        let expansion = match sign {
            Some(b'#') if after != Some(b'}') && self.begins_parameter(1) => {
                self.skip(1);
                let (_, subscript) = self.parameter()?;
                Expansion::Arithmetic(Arithmetic {
                    names: Vec::new(),
                    inner: subscript.map(|s| s.inner).unwrap_or_default(),
                })
            }
            Some(b'!') if after != Some(b'}') && self.begins_parameter(1) => {
                self.skip(1);
                self.indirect(start)?
            }
            _ => self.parameter_with_operator(quoting, start)?,
        };
        if self.peek() != Some(b'}') {
            return self.stop("an expansion that is not known");
        }
        self.skip(1);
        word.pieces.push(compound::piece(expansion, quoting));
        Ok(())
    }

    /// `${!x}` evaluates the value of `x`; `${!x*}` and `${!x[@]}` only list names.
    fn indirect(&mut self, start: usize) -> Read<Expansion> {
        let (_, subscript) = self.parameter()?;
        let lists_names = match self.peek() {
            Some(b'*' | b'@') => {
                let ends = self.peek_after(1) == Some(b'}');
                if ends {
                    self.skip(1);
                }
                ends
            }
            _ => subscript.as_ref().is_some_and(is_all),
        };
        if !lists_names {
            self.unknown("the value of a variable is evaluated as a name", start);
            if self.peek() != Some(b'}') {
                return self.stop("an indirect expansion with an operator");
            }
        }
        Ok(Expansion::Other {
            inner: subscript.map(|s| s.inner).into_iter().collect(),
            is_many: true,
            change: None,
        })
    }

    fn begins_parameter(&self, n: usize) -> bool {
        self.peek_after(n)
            .is_some_and(|byte| is_name_start(byte) || is_special_parameter(byte))
    }

    /// A parameter's name and subscript.
    fn parameter(&mut self) -> Read<(String, Option<Arithmetic>)> {
        let mut name = String::new();
        match self.peek() {
            Some(byte) if is_name_start(byte) => {
                while let Some(byte) = self.peek().filter(|&byte| is_name_byte(byte)) {
                    name.push(char::from(byte));
                    self.pos += 1;
                }
            }
            Some(byte) if byte.is_ascii_digit() => {
                while let Some(byte) = self.peek().filter(u8::is_ascii_digit) {
                    name.push(char::from(byte));
                    self.pos += 1;
                }
            }
            Some(byte) if is_special_parameter(byte) => {
                name.push(char::from(byte));
                self.pos += 1;
            }
            _ => return self.stop("an expansion that is not known"),
        }
        let has_subscript = name.bytes().next().is_some_and(is_name_start);
        if has_subscript && self.peek() == Some(b'[') {
            return Ok((name, Some(self.subscript()?)));
        }
        Ok((name, None))
    }

    fn parameter_with_operator(&mut self, quoting: Quoting, start: usize) -> Read<Expansion> {
        let (name, subscript) = self.parameter()?;
        if self.peek() == Some(b'}') {
            return Ok(match subscript {
                None => Expansion::Parameter(name),
                Some(subscript) if is_all(&subscript) => Expansion::Elements(name),
                Some(subscript) => Expansion::Element(name, subscript),
            });
        }
        let is_many = matches!(name.as_str(), "@" | "*") || subscript.as_ref().is_some_and(is_all);
        let is_scalar = subscript.is_none() && !is_many;
        let mut inner: Vec<Word> = subscript.map(|s| s.inner).into_iter().collect();
        let mut sets = None;
        let mut how = None;
        let operator = (self.peek(), self.peek_after(1));
        match operator {
            (Some(b':'), Some(sign @ (b'-' | b'=' | b'+' | b'?'))) => {
                if sign == b'=' {
                    sets = Some(name.clone());
                }
                how = Some(match sign {
                    b'+' => How::Replaced,
                    _ => How::UnlessEmpty,
                });
                self.skip(2);
                inner.push(self.operand(quoting, Operand::Value)?);
            }
            (Some(sign @ (b'-' | b'=' | b'+' | b'?')), _) => {
                if sign == b'=' {
                    sets = Some(name.clone());
                }
                how = match sign {
                    b'+' => None,
                    _ => Some(How::UnlessUnset),
                };
                self.skip(1);
                inner.push(self.operand(quoting, Operand::Value)?);
            }
            (Some(b':'), _) => {
                self.skip(1);
                let slice = self.arithmetic(b'}')?;
                inner.push(slice.inner);
            }
            (Some(b'@'), Some(b'P')) => {
                self.skip(2);
                self.unknown("a value is expanded as a prompt", start);
            }
            (Some(b'@'), Some(byte)) if b"QEAaKkUuL".contains(&byte) => self.skip(2),
            (Some(sign @ (b'#' | b'%' | b'/' | b'^' | b',')), _) => {
                how = match sign {
                    b'#' => Some(How::WithoutFront),
                    b'%' => Some(How::WithoutEnd),
                    _ => None,
                };
                self.skip(1);
                inner.push(self.operand(quoting, Operand::Pattern)?);
            }
            _ => return self.stop("an expansion that is not known"),
        }
        let change = how.filter(|_| is_scalar).map(|how| Change { name, how });
        if let Some(name) = sets {
            self.sets(Some(&name), start);
            self.script.values.push((name, inner.clone()));
        }
        Ok(Expansion::Other {
            inner,
            is_many,
            change,
        })
    }

    /// The text after an operator, up to the closing brace.
    fn operand(&mut self, quoting: Quoting, operand: Operand) -> Read<Word> {
        let start = self.pos;
        let mut word = Word::default();
        while let Some(byte) = self.peek() {
            match byte {
                b'}' => {
                    word.span = Some(self.span(start));
                    return Ok(word);
                }
                b'\\' => {
                    self.skip(1);
                    let Some(c) = self.text.get(self.pos..).and_then(|t| t.chars().next()) else {
                        return self.stop("a backslash at the end");
                    };
                    let start = self.pos;
                    self.pos += c.len_utf8();
                    word.push_quoted(self.text.get(start..self.pos).unwrap_or_default());
                }
                b'\'' => self.quote_in_operand(quoting, operand, &mut word)?,
                b'"' => self.double_quoted(&mut word)?,
                b'$' => self.dollar(quoting, &mut word)?,
                b'`' => self.backquoted(quoting, &mut word)?,
                b'<' | b'>' if self.peek_after(1) == Some(b'(') => {
                    return self.stop("a process substitution inside an expansion");
                }
                b'\n' if !self.pending.is_empty() => {
                    return self.stop("a here-document that begins inside an expansion");
                }
                _ => self.operand_run(&mut word),
            }
        }
        self.stop("an expansion without its `}`")
    }

    /// Characters of an operand without a meaning of their own: they end before a `<` or `>`, which
    /// may begin a process substitution.
    fn operand_run(&mut self, word: &mut Word) {
        let start = self.pos;
        self.pos += 1;
        while let Some(byte) = self.raw(self.pos) {
            if matches!(
                byte,
                b'\\' | b'"' | b'$' | b'`' | b'\n' | b'}' | b'\'' | b'<' | b'>'
            ) {
                break;
            }
            self.pos += 1;
        }
        word.push_quoted(self.text.get(start..self.pos).unwrap_or_default());
    }

    /// A single quote inside `${…}` quotes or not, depending on what stands around it: only text
    /// that means the same both ways is read.
    fn quote_in_operand(
        &mut self,
        quoting: Quoting,
        operand: Operand,
        word: &mut Word,
    ) -> Read<()> {
        if quoting == Quoting::Unquoted {
            return self.single_quoted(word);
        }
        let start = self.pos + 1;
        let len = self
            .bytes
            .get(start..)
            .and_then(|rest| rest.iter().position(|&byte| byte == b'\''));
        let text = len.and_then(|len| self.text.get(start..start + len));
        match text {
            Some(text) if !text.contains(['$', '`', '\\', '"', '}', '{', '\n']) => {
                if operand == Operand::Value {
                    word.push_quoted("'");
                }
                word.push_quoted(text);
                self.pos = start + text.len() + 1;
                Ok(())
            }
            _ => self.stop("single quotes inside a quoted expansion"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operand {
    Value,
    Pattern,
}

const fn is_special_parameter(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!' | b'_')
}

/// Whether a subscript is `@` or `*`.
fn is_all(subscript: &Arithmetic) -> bool {
    matches!(subscript.inner.as_literal().as_deref(), Some("@" | "*"))
}

/// Whether one of the commands of a list is not a simple one.
fn holds_compound(list: &List) -> bool {
    list.iter().any(|and_or| {
        let rest = and_or.rest.iter().map(|(_, pipeline)| pipeline);
        std::iter::once(&and_or.first)
            .chain(rest)
            .flat_map(|pipeline| &pipeline.commands)
            .any(|command| matches!(command, Command::Compound(..)))
    })
}
