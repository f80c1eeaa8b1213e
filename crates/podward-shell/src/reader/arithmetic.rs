//! Arithmetic and subscripts.

use super::{Read, Reader, is_name_byte, is_name_start};
use crate::expression::variables_set;
use crate::syntax::{Arithmetic, Quoting, Word};

/// Why `((` turned out to be two groups.
pub(super) const NOT_ARITHMETIC: &str = "a double parenthesis that is no arithmetic";

impl Reader<'_> {
    /// An expression up to its closing byte, which is not taken.
    pub(super) fn arithmetic(&mut self, close: u8) -> Read<Arithmetic> {
        self.nested(|reader| reader.expression(close))
    }

    fn expression(&mut self, close: u8) -> Read<Arithmetic> {
        let (start, open) = match close {
            b')' => (self.pos, b'('),
            b']' => (self.pos, b'['),
            _ => (self.pos, b'{'),
        };
        let mut arithmetic = Arithmetic::default();
        let mut depth = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                _ if byte == close && depth == 0 => {
                    arithmetic.inner.span = Some(self.span(start));
                    self.evaluates(&arithmetic.inner, start, close);
                    return Ok(arithmetic);
                }
                _ if byte == open || byte == close => {
                    depth = match byte == open {
                        true => depth + 1,
                        false => depth - 1,
                    };
                    self.expression_operator(byte, &mut arithmetic);
                }
                b'$' => self.dollar(Quoting::Quoted, &mut arithmetic.inner)?,
                b'`' => self.backquoted(Quoting::Quoted, &mut arithmetic.inner)?,
                b'"' | b'\'' if close == b']' => self.quoted_subscript(byte, &mut arithmetic)?,
                b'"' | b'\'' | b'\\' => return self.not_arithmetic(close, "quotes in arithmetic"),
                b'\n' if !self.pending.is_empty() || self.outer_pending => {
                    return self.stop("a here-document that begins inside arithmetic");
                }
                _ if is_name_start(byte) => self.expression_name(&mut arithmetic),
                _ => self.expression_operator(byte, &mut arithmetic),
            }
        }
        self.not_arithmetic(close, "an expression without its end")
    }

    /// Notes what an expression sets, up to its closing byte.
    fn evaluates(&mut self, expression: &Word, start: usize, close: u8) {
        for name in variables_set(&expression.as_expression()) {
            self.sets(name, start);
        }
        let evaluated = match close {
            b']' => &mut self.script.keys_evaluated,
            _ => &mut self.script.values_evaluated,
        };
        evaluated.extend(expression.evaluated());
    }

    /// Commands may hold what arithmetic may not: then `((` is read once more as groups.
    fn not_arithmetic<T>(&self, close: u8, why: &'static str) -> Read<T> {
        match close {
            b')' => self.stop(NOT_ARITHMETIC),
            _ => self.stop(why),
        }
    }

    pub(super) fn end_arithmetic(&mut self) -> Read<()> {
        if self.take("))") {
            return Ok(());
        }
        self.stop(NOT_ARITHMETIC)
    }

    fn expression_operator(&mut self, byte: u8, arithmetic: &mut Arithmetic) {
        let start = self.pos;
        self.take_operator();
        if !byte.is_ascii() {
            while !self.text.is_char_boundary(self.pos) {
                self.pos += 1;
            }
        }
        let text = self.text.get(start..self.pos).unwrap_or_default();
        arithmetic.inner.push_plain(text);
    }

    fn expression_name(&mut self, arithmetic: &mut Arithmetic) {
        let mut name = String::new();
        while let Some(byte) = self.peek().filter(|&byte| is_name_byte(byte)) {
            name.push(char::from(byte));
            self.pos += 1;
        }
        arithmetic.inner.push_plain(&name);
        let at = self.moment();
        self.script.names_evaluated.push((name.clone(), at));
        arithmetic.names.push(name);
    }

    /// Quotes in a subscript, as keys of associative arrays are written.
    fn quoted_subscript(&mut self, byte: u8, arithmetic: &mut Arithmetic) -> Read<()> {
        let start = self.pos;
        if byte == b'"' {
            return self.double_quoted(&mut arithmetic.inner);
        }
        self.single_quoted(&mut arithmetic.inner)?;
        let written = self.text.get(start..self.pos).unwrap_or_default();
        if written.contains(['$', '`', '[']) {
            return self.stop("code quoted in a subscript");
        }
        Ok(())
    }
}
