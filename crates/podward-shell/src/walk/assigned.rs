//! What sets a variable: the one place that judges it (D3.6).

use podward_policy::{ByteSpan, CommandSubject, HoleKind, Need, TextBuilder};

use super::{Walker, free};
use crate::arg::{Arg, Part};
use crate::environment;
use crate::evaluated::{Evaluated, INTEGERS};
use crate::expand;
use crate::expression::{EXPANSION, variables_set};
use crate::syntax::{AssignedValue, Span, Word};

const MAY_BE_CODE: &str = "what is evaluated as an expression may be code";

const CHANGES: &str = "a variable that changes what later commands do";

/// An assignment alone that another command of the text exports.
#[derive(PartialEq, Eq)]
pub(super) struct Exported {
    subject: CommandSubject,
    span: Span,
}

impl<'w> Walker<'w, '_> {
    /// What is exported needs a rule (D3.6). The export may stand behind the assignment, so that this
    /// comes after all commands, beside what each of them is without it (D5.5).
    pub(super) fn exported_assignments(&mut self) {
        for exported in std::mem::take(&mut self.exported) {
            self.sink
                .command(exported.subject, Need::Full, exported.span);
        }
    }

    /// A variable is set by an assignment alone, with this text.
    pub(super) fn assigned(&mut self, name: &str, text: &Arg) {
        let is_special = environment::is_special(name);
        let need = if is_special || self.is_in_environment(name) {
            self.context.demand.of_text().need()
        } else {
            free(&self.context.demand)
        };
        let (mut subject, _) = self.subject_of_words(&[], std::slice::from_ref(text));
        // A value that is not known makes no unknown program.
        let is_quoted = subject.written.known_part().starts_with('\'');
        subject.name_end = subject.name_start + name.len() + usize::from(is_quoted);
        if self.census.is_exported(name) && need == Need::Free {
            let exported = Exported {
                subject: subject.clone(),
                span: text.span,
            };
            // A body that is walked again says the same again.
            if !self.exported.iter().rev().take(8).any(|e| *e == exported) {
                self.exported.push(exported);
            }
        }
        self.sink.command(subject, need, text.span);
        let appends = text.prefix().get(name.len()..).unwrap_or_default();
        let value = text.without_prefix(name.len() + 1 + usize::from(appends.starts_with('+')));
        self.special_variable(name, &value, text.span);
        if self.changes_programs(name) {
            self.sink.unknown(CHANGES, text.span);
        }
    }

    /// A variable is set by what has no text of its own that a rule could name: as by an assignment
    /// of a value that is not known, unless only the shell itself sees it.
    pub(crate) fn sets(&mut self, name: &str, span: Span) {
        if environment::is_special(name)
            || self.is_in_environment(name)
            || self.census.is_exported(name)
        {
            let mut text = Arg::known_text(&format!("{name}="), span);
            text.push(Part::Hole(HoleKind::Quoted, crate::arg::Source::Value));
            self.assigned(name, &text);
        }
    }

    /// A variable is set by a command whose text names it.
    pub(crate) fn sets_by_command(&mut self, name: &Arg, value: &Arg) {
        let known = name.prefix().split('[').next().unwrap_or_default();
        self.special_variable(known, value, name.span);
        let is_whole = name.known().is_some() || known.len() < name.prefix().len();
        let may_change = match is_whole {
            true => self.changes_programs(known),
            false => environment::may_be_special(known),
        };
        if may_change {
            self.sink.unknown(CHANGES, name.span);
        }
        if INTEGERS.contains(&known) {
            self.evaluated(value);
        }
    }

    /// Loops, expressions, expansions and redirections that set variables.
    pub(super) fn settings(&mut self) {
        let script = self.script;
        for setting in &script.settings {
            match &setting.name {
                Some(name) => self.sets(name, Some(setting.span)),
                None => self.unknown_variable(Some(setting.span)),
            }
        }
        self.evaluated_values();
    }

    /// Values that are evaluated somewhere in the text: each may be an expression that sets others.
    fn evaluated_values(&mut self) {
        let script = self.script;
        let evaluated = Evaluated::of(script);
        if evaluated.may_be_code {
            self.sink.unknown(MAY_BE_CODE, None);
        }
        let is_evaluated = |name: &String| evaluated.contains(name);
        for assignment in script.simples.iter().flat_map(|simple| &simple.assignments) {
            let is_value = is_evaluated(&assignment.name);
            let span = Some(assignment.span);
            match &assignment.value {
                AssignedValue::Scalar(word) if is_value => {
                    self.known_variables(&word.as_expression(), span);
                }
                AssignedValue::Scalar(_) => {}
                AssignedValue::Array(words) => {
                    for text in words.iter().map(Word::as_expression) {
                        if is_value || text.starts_with('[') {
                            self.known_variables(&text, span);
                        }
                    }
                }
            }
        }
        for (name, words, _) in &script.loops {
            if is_evaluated(name) {
                for text in words.iter().flatten() {
                    self.known_variables(text, None);
                }
            }
        }
    }

    /// An expression as it is written, and what its expansions write into it. A subscript is taken for one: the
    /// key of an associative array may be another array's too.
    pub(super) fn expression(&mut self, inner: &'w Word) {
        self.evaluated_word(inner);
        self.inside(inner);
        let written = inner.as_expression();
        if written.contains(EXPANSION) {
            self.expression_operand(inner);
        }
    }

    /// A word that is evaluated.
    pub(super) fn evaluated_word(&mut self, word: &Word) {
        if word.may_be_code(self.script) {
            self.sink.unknown(MAY_BE_CODE, word.span);
        }
    }

    /// An operand that is evaluated.
    pub(super) fn expression_operand(&mut self, word: &Word) {
        let arg = expand::single(word, self.knowledge());
        self.known_variables(&expression_of(&arg), word.span);
    }

    /// An operand of which only the subscript is evaluated.
    pub(super) fn subscript_operand(&mut self, word: &Word) {
        let arg = expand::single(word, self.knowledge());
        self.evaluated_subscript(&arg);
    }

    /// An argument that is an expression.
    pub(crate) fn evaluated(&mut self, arg: &Arg) {
        self.known_variables(&expression_of(arg), arg.span);
    }

    /// An argument that names a variable: its subscript is an expression.
    pub(crate) fn evaluated_subscript(&mut self, arg: &Arg) {
        if let Some((_, subscript)) = expression_of(arg).split_once('[') {
            self.known_variables(subscript, arg.span);
        }
    }

    fn known_variables(&mut self, expression: &str, span: Span) {
        for name in variables_set(expression) {
            match name {
                Some(name) => self.sets(name, span),
                None => self.unknown_variable(span),
            }
        }
    }

    pub(crate) fn unknown_variable(&mut self, span: Span) {
        let demand = self.context.demand.clone();
        self.unknown("a variable whose name is not known", span, &demand);
    }

    fn is_in_environment(&self, name: &str) -> bool {
        self.sink.place.environment.contains(&name)
    }

    /// Whether setting a variable changes what programs do that run later.
    fn changes_programs(&self, name: &str) -> bool {
        let is_seen = self.is_in_environment(name)
            || self.census.is_exported(name)
            || self.census.may_export()
            || self.context.exports;
        is_seen && environment::is_special(name)
    }

    /// A variable whose value the shell runs, or that changes what names mean.
    pub(crate) fn special_variable(&mut self, name: &str, value: &Arg, span: Option<ByteSpan>) {
        match name {
            "PATH" | "IFS" | "BASH_ENV" | "ENV" | "CDPATH" => {
                self.sink
                    .unknown("a variable that changes what commands mean", span);
            }
            "PS4" | "PS1" | "PS2" | "PS0" | "PROMPT_COMMAND" => {
                let text = value.write_bare(TextBuilder::new()).build();
                if text.as_known().is_none_or(|text| text.contains(['$', '`']))
                    || name == "PROMPT_COMMAND"
                {
                    self.sink.unknown("a prompt that runs code", span);
                }
            }
            _ if name.starts_with("BASH_FUNC_") => {
                self.sink
                    .unknown("a variable that defines a function", span);
            }
            _ => {}
        }
    }
}

/// An argument as an expression.
fn expression_of(arg: &Arg) -> String {
    let mut text = String::new();
    for part in arg.parts() {
        match part {
            Part::Known(known) => text.push_str(known),
            Part::Glob(c) => text.push(*c),
            Part::Tilde(_) | Part::Hole(..) => text.push(EXPANSION),
        }
    }
    text
}
