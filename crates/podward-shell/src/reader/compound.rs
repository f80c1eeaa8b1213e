//! Compound commands.

use std::rc::Rc;

use super::{Read, Reader};
use crate::syntax::{Command, Compound, Definition, Expansion, List, Piece, Quoting, Word};

impl Reader<'_> {
    pub(super) fn compound(&mut self, word: &str) -> Read<Command> {
        if word == "function" {
            return self.nested(Self::function_keyword);
        }
        let compound = self.nested(|reader| match word {
            "{" => reader.group(),
            "[[" => reader.test(),
            "if" => reader.if_command(),
            "while" | "until" => reader.loop_command(word),
            "for" | "select" => reader.for_command(word),
            "case" => reader.case(),
            _ => reader.stop("a reserved word where a command should begin"),
        })?;
        self.redirected(compound)
    }

    fn redirected(&mut self, compound: Compound) -> Read<Command> {
        let mut redirects = Vec::new();
        loop {
            self.skip_blanks();
            match self.redirect()? {
                Some(redirect) => redirects.push(redirect),
                None => break,
            }
        }
        let ends = match self.peek() {
            None => true,
            Some(b'\n' | b';' | b'&' | b'|' | b')' | b'#') => true,
            // Only a closing word may follow without a separator.
            Some(_) => self.peek_reserved().is_some(),
        };
        if !ends {
            return self.stop("text after a compound command");
        }
        let at = self.moment();
        Ok(Command::Compound(compound, redirects, at))
    }

    /// `((` is arithmetic if a matching `))` ends it, else two subshells.
    pub(super) fn parenthesis(&mut self) -> Read<Command> {
        if self.peek_after(1) == Some(b'(') {
            let mark = self.mark();
            match self.nested(Self::arithmetic_command) {
                Ok(compound) => return self.redirected(compound),
                Err(stop) if stop.why == super::arithmetic::NOT_ARITHMETIC => self.reset(&mark)?,
                Err(stop) => return Err(stop),
            }
        }
        self.take_operator();
        let list = self.full_list()?;
        self.skip_blanks();
        self.expect(")", "a subshell without its `)`")?;
        self.redirected(Compound::Subshell(list))
    }

    fn arithmetic_command(&mut self) -> Read<Compound> {
        self.take_operator();
        self.take_operator();
        let arithmetic = self.arithmetic(b')')?;
        self.end_arithmetic()?;
        Ok(Compound::Arithmetic(arithmetic))
    }

    /// A list up to one of the reserved words that may follow it.
    fn list_until(&mut self, word: &str) -> Read<List> {
        let list = self.full_list()?;
        self.skip_newlines()?;
        self.expect_reserved(word, "a compound command is not complete")?;
        Ok(list)
    }

    fn group(&mut self) -> Read<Compound> {
        self.take_reserved("{");
        Ok(Compound::Group(self.list_until("}")?))
    }

    fn test(&mut self) -> Read<Compound> {
        self.take_reserved("[[");
        let words = self.test_expression()?;
        if words.iter().any(Word::compares_numbers) {
            let evaluated = words.iter().flat_map(Word::evaluated);
            self.script.values_evaluated.extend(evaluated);
        }
        Ok(Compound::Test(words))
    }

    fn if_command(&mut self) -> Read<Compound> {
        self.take_reserved("if");
        let mut branches = Vec::new();
        loop {
            let condition = self.list_until("then")?;
            let body = self.full_list()?;
            branches.push((condition, body));
            self.skip_newlines()?;
            if self.take_reserved("elif") {
                continue;
            }
            let otherwise = match self.take_reserved("else") {
                true => Some(self.list_until("fi")?),
                false => {
                    self.expect_reserved("fi", "an `if` without its `fi`")?;
                    None
                }
            };
            return Ok(Compound::If(branches, otherwise));
        }
    }

    fn loop_command(&mut self, word: &str) -> Read<Compound> {
        self.take_reserved(word);
        let condition = self.list_until("do")?;
        let body = self.list_until("done")?;
        Ok(Compound::While { condition, body })
    }

    fn do_body(&mut self) -> Read<List> {
        self.skip_newlines()?;
        self.expect_reserved("do", "a loop without its `do`")?;
        self.list_until("done")
    }

    fn for_command(&mut self, word: &str) -> Read<Compound> {
        let start = self.pos;
        self.take_reserved(word);
        self.skip_blanks();
        if word == "for" && self.take("((") {
            let arithmetic = self.arithmetic(b')')?;
            self.end_arithmetic()?;
            self.skip_blanks();
            let _ = self.peek() == Some(b';') && self.take(";");
            return Ok(Compound::ArithmeticFor(arithmetic, self.do_body()?));
        }
        let Some(name) = self.name() else {
            return self.stop("a loop without the name of its variable");
        };
        self.sets(Some(&name), start);
        self.skip_newlines()?;
        let at = self.moment();
        let words = match self.take_reserved("in") {
            true => Some(self.words()?),
            false => None,
        };
        let literal = words.as_ref().map_or_else(
            || vec![None],
            |words| words.iter().map(Word::as_literal).collect(),
        );
        if word == "select" {
            self.script.readers.push("REPLY".to_owned());
        }
        self.script.loops.push((name.clone(), literal, at));
        self.loop_values(&name, words.as_deref());
        if self.peek() == Some(b';') {
            self.take_operator();
        }
        Ok(Compound::For {
            name,
            words,
            select: word == "select",
            body: self.do_body()?,
        })
    }

    /// Notes what a loop sets its variable to: without words, to each positional parameter.
    fn loop_values(&mut self, name: &str, words: Option<&[Word]>) {
        let all = Word {
            pieces: vec![piece(Expansion::Parameter("@".to_owned()), Quoting::Quoted)],
            span: None,
        };
        let words = words.map_or_else(|| vec![all], <[Word]>::to_vec);
        self.script.values.push((name.to_owned(), words));
    }

    /// Words up to the end of the line.
    fn words(&mut self) -> Read<Vec<Word>> {
        let mut words = Vec::new();
        loop {
            self.skip_blanks();
            match self.peek() {
                Some(b'#') => self.skip_comment(),
                Some(b';' | b'\n') => return Ok(words),
                None | Some(b'&' | b'|' | b'(' | b')') => {
                    return self.stop("a list of words without its end");
                }
                Some(_) => {
                    let word = self.word()?;
                    self.expand_braces(word, &mut words);
                }
            }
        }
    }

    /// A variable's name, which must be a whole word.
    fn name(&mut self) -> Option<String> {
        let mut name = String::new();
        while let Some(byte) = self.peek() {
            let fits = if name.is_empty() {
                super::is_name_start(byte)
            } else {
                super::is_name_byte(byte)
            };
            if !fits {
                break;
            }
            name.push(char::from(byte));
            self.pos += 1;
        }
        let ends = self.peek().is_none_or(super::ends_word);
        (ends && !name.is_empty()).then_some(name)
    }

    fn case(&mut self) -> Read<Compound> {
        self.take_reserved("case");
        self.skip_blanks();
        let word = self.word()?;
        self.skip_newlines()?;
        self.expect_reserved("in", "a `case` without its `in`")?;
        let mut arms = Vec::new();
        loop {
            self.skip_newlines()?;
            if self.take_reserved("esac") {
                return Ok(Compound::Case(word, arms));
            }
            let patterns = self.case_patterns()?;
            let body = self.nested(Self::list)?;
            arms.push((patterns, body));
            self.skip_newlines()?;
            if !(self.take(";;&") || self.take(";;") || self.take(";&")) {
                self.expect_reserved("esac", "a `case` without its `esac`")?;
                return Ok(Compound::Case(word, arms));
            }
        }
    }

    fn case_patterns(&mut self) -> Read<Vec<Word>> {
        let _ = self.peek() == Some(b'(') && self.take("(");
        let mut patterns = Vec::new();
        loop {
            self.skip_blanks();
            patterns.push(self.word()?);
            self.skip_blanks();
            if self.take(")") {
                return Ok(patterns);
            }
            self.expect("|", "a `case` pattern without its `)`")?;
        }
    }

    fn function_keyword(&mut self) -> Read<Command> {
        let start = self.pos;
        self.take_reserved("function");
        self.skip_blanks();
        let Some(name) = self.word()?.as_plain().map(str::to_owned) else {
            return self.stop("a function whose name is not plain");
        };
        self.skip_blanks();
        if self.take("(") {
            self.skip_blanks();
            self.expect(")", "a function without its `)`")?;
        }
        self.function_body(name, start)
    }

    pub(super) fn function_body(&mut self, name: String, start: usize) -> Read<Command> {
        let span = self.span(start);
        let at = self.moment();
        let idx = self.script.functions.len();
        self.script.functions.push(Definition {
            name: name.clone(),
            at,
            text: Box::default(),
        });
        self.skip_newlines()?;
        let body = match (self.peek(), self.peek_reserved()) {
            (Some(b'('), _) => self.nested(Self::parenthesis)?,
            (
                _,
                Some(word @ ("{" | "[[" | "if" | "while" | "until" | "for" | "select" | "case")),
            ) => self.nested(|reader| reader.compound(word))?,
            _ => return self.stop("a function without a body"),
        };
        let function = Compound::Function {
            name,
            body: Box::new(body),
            span,
        };
        let text = self.text.get(start..self.pos).unwrap_or_default();
        if let Some(definition) = self.script.functions.get_mut(idx) {
            definition.text = text.into();
        }
        let at = self.moment();
        Ok(Command::Compound(function, Vec::new(), at))
    }
}

/// An unquoted or quoted expansion as a piece of a word.
pub(super) fn piece(expansion: Expansion, quoting: Quoting) -> Piece {
    Piece::Expansion(Rc::new(expansion), quoting)
}
