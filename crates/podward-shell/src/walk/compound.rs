//! Compound commands.

use podward_policy::{Need, OperationIdx, Subject};

use super::{Outcome, Walker, hides_code};
use crate::arg::{Arg, Part};
use crate::expand;
use crate::limits;
use crate::operations::Bases;
use crate::syntax::{Compound, List, Moment, Redirect, Word};
use crate::values::Value;

impl<'w> Walker<'w, '_> {
    pub(super) fn compound(
        &mut self,
        compound: &'w Compound,
        redirects: &'w [Redirect],
        at: Moment,
    ) -> Outcome {
        self.bare_time();
        self.inside_redirects(redirects);
        // What stands behind it has not run yet.
        let by = at.max(self.by_then);
        self.by = by;
        let redirected = self.redirected_stdin(redirects);
        let first = self.sink.len();
        let outcome = self.sharing(redirected, |walker| walker.compound_body(compound, at));
        self.by = by;
        let parent = (first..self.sink.len())
            .map(OperationIdx)
            .find(|idx| self.is_full_command(*idx));
        for redirect in redirects {
            self.redirect(redirect, parent);
        }
        outcome
    }

    fn is_full_command(&self, idx: OperationIdx) -> bool {
        self.sink.get(idx).is_some_and(|operation| {
            matches!(operation.subject, Subject::Command(_)) && matches!(operation.need, Need::Full)
        })
    }

    fn compound_body(&mut self, compound: &'w Compound, at: Moment) -> Outcome {
        match compound {
            Compound::Subshell(list) => {
                self.subshell(|walker| walker.list(list));
                self.same()
            }
            Compound::Group(list) => self.commands(list),
            Compound::If(branches, otherwise) => {
                let mark = self.mark();
                let outcome = self.branches(branches, otherwise.as_ref());
                self.forget(mark);
                outcome
            }
            Compound::While { condition, body } => {
                self.repeated(at, |walker| {
                    let outcome = walker.tested(|walker| walker.commands(condition));
                    walker.bases = outcome.success;
                    walker.list(body);
                    walker.bases = walker.bases.clone().join(outcome.failure);
                });
                self.same()
            }
            Compound::For {
                name,
                words,
                select,
                body,
            } => {
                if let Some(words) = words {
                    self.inside_all(words);
                }
                self.by = at.max(self.by_then);
                self.for_loop(name, words.as_deref(), *select, body, at);
                self.same()
            }
            Compound::ArithmeticFor(arithmetic, body) => {
                self.expression(&arithmetic.inner);
                self.repeated(at, |walker| walker.list(body));
                self.same()
            }
            Compound::Case(word, arms) => {
                self.inside(word);
                self.case(arms);
                self.same()
            }
            Compound::Arithmetic(arithmetic) => {
                self.expression(&arithmetic.inner);
                self.by = at.max(self.by_then);
                self.free_text(["((", "))"], std::slice::from_ref(&arithmetic.inner));
                self.same()
            }
            Compound::Test(words) => {
                self.inside_all(words);
                self.by = at.max(self.by_then);
                self.test(words);
                self.same()
            }
            Compound::Function { name, body, span } => {
                self.function(name, body, *span, at);
                self.same()
            }
        }
    }

    fn branches(&mut self, branches: &'w [(List, List)], otherwise: Option<&'w List>) -> Outcome {
        let mut end: Option<Bases> = None;
        for (condition, body) in branches {
            let outcome = self.tested(|walker| walker.commands(condition));
            self.bases = outcome.success;
            // What one body sets, the conditions and bodies behind it do not see.
            let mark = self.mark();
            self.list(body);
            self.forget(mark);
            end = Some(match end {
                Some(end) => end.join(self.bases.clone()),
                None => self.bases.clone(),
            });
            self.bases = outcome.failure;
        }
        if let Some(otherwise) = otherwise {
            self.list(otherwise);
        }
        if let Some(end) = end {
            self.bases = self.bases.clone().join(end);
        }
        self.same()
    }

    /// A body that runs any number of times, all of which stands before `last`.
    fn repeated(&mut self, last: Moment, body: impl Fn(&mut Self)) {
        let by_then = self.by_then;
        self.by_then = by_then.max(last);
        let entry = self.bases.clone();
        let mark = self.mark();
        body(self);
        self.forget(mark);
        if self.bases != entry && self.sink.has_fuel() {
            // A change of directory adds up from round to round.
            self.bases = entry.join(self.bases.clone()).or_anywhere();
            let bases = self.bases.clone();
            body(self);
            self.forget(mark);
            self.bases = bases;
        }
        self.by_then = by_then;
    }

    fn for_loop(
        &mut self,
        name: &str,
        words: Option<&'w [Word]>,
        select: bool,
        body: &'w List,
        at: Moment,
    ) {
        let by_then = self.by_then;
        let known = words.filter(|_| !select).and_then(|words| {
            let args = expand::words(words, self.knowledge());
            let known: Option<Vec<Value>> = args.iter().map(round).collect();
            known.filter(|known| known.len() <= limits::LOOP_ROUNDS)
        });
        match known {
            Some(rounds)
                if self.census.is_set_once(name, self.by)
                    && !rounds.is_empty()
                    && self.sink.has_fuel() =>
            {
                let entry = self.bases.clone();
                self.by_then = self.by;
                for round in rounds {
                    let mark = self.mark();
                    self.values.insert(name, round);
                    self.list(body);
                    self.forget(mark);
                }
                self.by_then = by_then;
                self.bases = entry.join(self.bases.clone());
            }
            _ => self.repeated(at, |walker| walker.list(body)),
        }
    }

    fn case(&mut self, arms: &'w [(Vec<Word>, List)]) {
        let entry = self.bases.clone();
        let mark = self.mark();
        let mut end = entry.clone();
        for (patterns, body) in arms {
            // `;&` falls through: an arm may also begin where the one before it ended.
            self.bases = end.clone();
            self.inside_all(patterns);
            self.list(body);
            self.forget(mark);
            end = end.join(self.bases.clone());
        }
        self.bases = end;
    }

    fn test(&mut self, words: &'w [Word]) {
        for word in words {
            if hides_code(word) {
                self.sink
                    .unknown("code in the subscript of an operand", word.span);
            }
        }
        if words.iter().any(Word::compares_numbers) {
            for (idx, word) in words.iter().enumerate() {
                let beside = [idx.checked_sub(1), idx.checked_add(1)];
                let mut beside = beside.into_iter().flatten().filter_map(|at| words.get(at));
                if beside.any(Word::compares_numbers) {
                    self.evaluated_word(word);
                }
                self.expression_operand(word);
            }
        }
        for pair in words.windows(2) {
            if let [operator, operand] = pair
                && operator.as_plain() == Some("-v")
            {
                self.subscript_operand(operand);
            }
        }
        self.free_text(["[[", "]]"], words);
    }

    /// A compound that runs no program, as a command that needs no rule.
    fn free_text(&mut self, [open, close]: [&str; 2], words: &'w [Word]) {
        let span = match (
            words.first().and_then(|word| word.span),
            words.last().and_then(|word| word.span),
        ) {
            (Some(first), Some(last)) => Some(podward_policy::ByteSpan::new(
                first.start..last.end.max(first.end),
            )),
            _ => None,
        };
        let mut args = vec![Arg::known_text(open, span)];
        let knowledge = self.knowledge();
        args.extend(words.iter().map(|word| expand::single(word, knowledge)));
        args.push(Arg::known_text(close, span));
        let (subject, _) = self.subject_of_words(&[], &args);
        let need = super::free(&self.context.demand);
        self.sink.command(subject, need, span);
    }
}

/// The value of a loop's variable for one word; `None` if nothing is known of it.
fn round(word: &Arg) -> Option<Value> {
    if let Some(text) = word.known() {
        return Some(Value::Scalar(text.to_owned()));
    }
    let is_pattern = word
        .parts()
        .iter()
        .all(|part| matches!(part, Part::Known(_) | Part::Glob(_)));
    let end = match word.parts().last() {
        // What follows a `[` may stand in a class.
        Some(Part::Known(text)) if !word.parts().contains(&Part::Glob('[')) => text,
        _ => "",
    };
    let front = word.prefix();
    (is_pattern && !(front.is_empty() && end.is_empty()))
        .then(|| Value::Between(front.to_owned(), end.to_owned()))
}
