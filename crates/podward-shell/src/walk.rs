//! Walks what was read in the order in which it runs, and keeps what is known on the way.

mod after_stop;
mod assigned;
mod compound;
mod context;
mod functions;
mod output;
mod simple;

pub(crate) use context::{Context, Demand, Shell, Stdin};
pub(crate) use functions::{Functions, Given};
pub(crate) use output::printf;
pub(crate) use simple::{free, kept};

use std::borrow::Cow;

use crate::limits;
use crate::operations::{Bases, Sink};
use crate::reader::{self, Origin};
use crate::syntax::{
    AndOr, Command, Expansion, HereIdx, Link, List, Moment, Piece, Pipeline, Script, Timed, Word,
};
use crate::values::{Census, Values};

/// The directories after a command, by how it ended.
struct Outcome {
    success: Bases,
    failure: Bases,
}

/// Walks one text.
pub(crate) struct Walker<'w, 'p> {
    pub(crate) sink: &'w mut Sink<'p>,
    pub(crate) script: &'w Script,
    pub(crate) census: Census,
    pub(crate) values: Values,
    /// What stands up to here may have run by now.
    pub(crate) by: Moment,
    /// What may have run before what is walked, because it is repeated or called later.
    pub(crate) by_then: Moment,
    pub(crate) bases: Bases,
    pub(crate) context: Context,
    pub(crate) functions: Functions<'w>,
    /// A trap may run between any two commands.
    pub(crate) is_trapped: bool,
    /// What fails here is asked about by what stands around it: it ends nothing.
    is_tested: bool,
    in_function: bool,
    /// The time word in front of the next simple command.
    timed: Option<Timed>,
    exported: Vec<assigned::Exported>,
}

/// What a text does to the shell that reads it.
pub(crate) struct Ran {
    /// The directories in which it may end.
    pub(crate) after: Bases,
    /// Something in it may change the directory.
    pub(crate) moves: bool,
    /// It defines functions.
    pub(crate) defines: bool,
}

/// Reads a text and adds the operations of its commands.
pub(crate) fn text(
    sink: &mut Sink<'_>,
    text: &str,
    origin: Origin,
    bases: Bases,
    context: Context,
) -> (Script, Ran) {
    let script = reader::read(text, origin, context.depth);
    let given = context.given;
    let mut walker = Walker::new(sink, &script, bases, context);
    walker.census = Census::of(&script);
    walker.script(text, origin);
    let ran = Ran {
        moves: walker.census.moves(),
        after: walker.bases,
        defines: given.are_not_all(&script),
    };
    (script, ran)
}

impl<'w, 'p> Walker<'w, 'p> {
    /// A walker that knows nothing of variables yet.
    pub(crate) fn new(
        sink: &'w mut Sink<'p>,
        script: &'w Script,
        bases: Bases,
        context: Context,
    ) -> Self {
        Self {
            sink,
            script,
            census: Census::default(),
            values: Values::default(),
            by: Moment::END,
            by_then: Moment::default(),
            bases,
            context,
            functions: Functions::default(),
            is_trapped: false,
            is_tested: false,
            in_function: false,
            timed: None,
            exported: Vec::new(),
        }
    }
}

impl<'w> Walker<'w, '_> {
    fn script(&mut self, text: &str, origin: Origin) {
        for unknown in &self.script.unknowns {
            self.sink.unknown(unknown.why, Some(unknown.span));
        }
        self.hidden_code();
        self.settings();
        let script = self.script;
        let Some(stop) = script.stop else {
            let (given, list) = script
                .list
                .split_at_checked(self.context.given.len())
                .unwrap_or_default();
            self.given(given);
            self.commands(list);
            self.exported_assignments();
            return;
        };
        // Reading may stop inside a character.
        let at = text.floor_char_boundary(stop.at);
        let why = format!("{} (the text is not read from here on)", stop.why);
        self.sink
            .unknown(&why, Some(origin.span(at, text.len().max(at))));
        self.by = Moment::END;
        for simple in &script.simples {
            self.flat(simple);
        }
        self.exported_assignments();
        let was = std::mem::replace(&mut self.context.demand, Demand::Restrictive);
        self.after_stop(text, origin, at);
        self.context.demand = was;
    }

    /// Values that would run code when arithmetic or a name reaches them.
    fn hidden_code(&mut self) {
        for simple in &self.script.simples {
            for assignment in &simple.assignments {
                let words = match &assignment.value {
                    crate::syntax::AssignedValue::Scalar(word) => std::slice::from_ref(word),
                    crate::syntax::AssignedValue::Array(words) => words.as_slice(),
                };
                if words.iter().any(hides_code) {
                    self.sink.unknown(
                        "a value that runs code when it is evaluated",
                        Some(assignment.span),
                    );
                }
            }
        }
    }

    pub(crate) fn list(&mut self, list: &'w List) {
        let _ = self.commands(list);
    }

    fn commands(&mut self, list: &'w [AndOr]) -> Outcome {
        let mut outcome = self.same();
        for and_or in list {
            outcome = self.and_or(and_or);
            let goes_on = self.is_tested || self.is_trapped;
            let ends = outcome.success.is_strict() && !goes_on && self.is_cd(and_or);
            self.bases = outcome.success.clone();
            if !ends {
                self.bases = self.bases.clone().join(outcome.failure.clone());
            }
        }
        outcome
    }

    /// Whether it is a `cd` alone: a failure of anything else may be one that was tested inside of it.
    fn is_cd(&self, and_or: &AndOr) -> bool {
        let [Command::Simple(idx)] = and_or.first.commands.as_slice() else {
            return false;
        };
        let simple = self.script.simples.get(idx.0);
        let name = simple.and_then(|simple| simple.words.first());
        let is_cd = name.and_then(Word::as_literal).as_deref() == Some("cd");
        is_cd && and_or.rest.is_empty() && !and_or.background && !and_or.first.negated
    }

    /// Walks what is asked whether it fails.
    fn tested<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> T {
        let was = std::mem::replace(&mut self.is_tested, true);
        let walked = walk(self);
        self.is_tested = was;
        walked
    }

    fn same(&self) -> Outcome {
        Outcome {
            success: self.bases.clone(),
            failure: self.bases.clone(),
        }
    }

    /// Walks commands that read the same input one after the other: what redirections make of it, or
    /// the one that is there, which an `exec` among them may change for good.
    pub(crate) fn sharing<T>(
        &mut self,
        redirected: Option<Stdin>,
        walk: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let before = redirected.map(|own| std::mem::replace(&mut self.context.stdin, own));
        let is_given = self.context.stdin != Stdin::Inherited;
        let shared_before = std::mem::replace(&mut self.context.shares_stdin, is_given);
        let done = walk(self);
        if let Some(before) = before {
            self.context.stdin = before;
        }
        self.context.shares_stdin = shared_before;
        done
    }

    /// Runs a walk as in a subshell: nothing it sets or changes remains.
    pub(crate) fn subshell(&mut self, walk: impl FnOnce(&mut Self)) {
        let bases = self.bases.clone();
        let stdin = self.context.stdin.clone();
        let shares_stdin = self.context.shares_stdin;
        let feeds = self.context.feeds;
        let mark = self.mark();
        walk(self);
        self.bases = bases;
        self.context.stdin = stdin;
        self.context.shares_stdin = shares_stdin;
        self.context.feeds = feeds;
        self.forget(mark);
    }

    /// What is known here, to come back to.
    fn mark(&self) -> (usize, usize) {
        (self.values.len(), self.functions.n_definitions())
    }

    /// Forgets the variables that became known after a mark; functions may be there or not.
    fn forget(&mut self, (n_values, n_definitions): (usize, usize)) {
        self.values.truncate(n_values);
        self.functions.doubt(n_definitions);
    }

    fn and_or(&mut self, and_or: &'w AndOr) -> Outcome {
        if and_or.background {
            let outcome = self.same();
            self.subshell(|walker| {
                walker.and_or_parts(and_or);
            });
            return outcome;
        }
        self.and_or_parts(and_or)
    }

    fn and_or_parts(&mut self, and_or: &'w AndOr) -> Outcome {
        let last = and_or.rest.len();
        let part = |walker: &mut Self, n: usize, pipeline: &'w Pipeline| match n == last {
            true => walker.pipeline(pipeline),
            false => walker.tested(|walker| walker.pipeline(pipeline)),
        };
        let mut outcome = part(self, 0, &and_or.first);
        let mark = self.mark();
        for (n, (link, pipeline)) in and_or.rest.iter().enumerate() {
            match link {
                Link::And => {
                    self.bases = outcome.success;
                    let next = part(self, n + 1, pipeline);
                    outcome = Outcome {
                        success: next.success,
                        failure: outcome.failure.join(next.failure),
                    };
                }
                Link::Or => {
                    self.forget(mark);
                    self.bases = outcome.failure;
                    let next = part(self, n + 1, pipeline);
                    self.forget(mark);
                    outcome = Outcome {
                        success: outcome.success.join(next.success),
                        failure: next.failure,
                    };
                }
            }
        }
        self.forget(mark);
        outcome
    }

    fn pipeline(&mut self, pipeline: &'w Pipeline) -> Outcome {
        self.timed.clone_from(&pipeline.timed);
        if pipeline.commands.is_empty() {
            if pipeline.timed.is_none() {
                self.sink.unknown("a `!` without a command", None);
            }
            self.bare_time();
        }
        let mut outcome = self.same();
        match pipeline.commands.as_slice() {
            [] => {}
            [command] if pipeline.negated => {
                outcome = self.tested(|walker| walker.command(command));
            }
            [command] => outcome = self.command(command),
            commands => {
                let mut input = None;
                for (n, command) in commands.iter().enumerate() {
                    let mut output = Stdin::Pipe;
                    self.subshell(|walker| {
                        if let Some(input) = input.take() {
                            walker.context.stdin = input;
                            walker.context.shares_stdin = false;
                        }
                        walker.context.feeds |= n + 1 < commands.len();
                        walker.command(command);
                        output = walker.output(command);
                    });
                    input = Some(output);
                }
            }
        }
        self.timed = None;
        if pipeline.negated {
            std::mem::swap(&mut outcome.success, &mut outcome.failure);
        }
        outcome
    }

    fn command(&mut self, command: &'w Command) -> Outcome {
        self.sink.burn(1);
        match command {
            Command::Simple(idx) => match self.script.simples.get(idx.0) {
                Some(simple) => self.simple(simple),
                None => self.same(),
            },
            Command::Compound(compound, redirects, at) => self.compound(compound, redirects, *at),
        }
    }

    /// Walks the commands that stand inside a word.
    pub(crate) fn inside(&mut self, word: &'w Word) {
        for piece in &word.pieces {
            let Piece::Expansion(expansion, _) = piece else {
                continue;
            };
            match &**expansion {
                Expansion::Parameter(_) | Expansion::Elements(_) => {}
                Expansion::Element(_, subscript) => self.expression(&subscript.inner),
                Expansion::Command(list) => self.subshell(|walker| {
                    walker.bases = walker.bases.clone().lenient();
                    walker.context.feeds = true;
                    walker.list(list);
                }),
                Expansion::Process(list) => self.subshell(|walker| {
                    // `>(…)` reads what is written to it.
                    walker.bases = walker.bases.clone().lenient();
                    walker.context.stdin = Stdin::Pipe;
                    walker.context.feeds = true;
                    walker.list(list);
                }),
                Expansion::Arithmetic(arithmetic) => self.expression(&arithmetic.inner),
                Expansion::Other { inner, .. } => self.inside_all(inner),
                Expansion::Array(elements) => self.inside_all(elements),
            }
        }
    }

    pub(crate) fn inside_all(&mut self, words: &'w [Word]) {
        for word in words {
            self.inside(word);
        }
    }

    pub(crate) fn here_body(&self, idx: HereIdx) -> Option<&'w Word> {
        self.script.heres.get(idx.0).map(|here| &here.body)
    }

    /// Reads a text that some command runs as shell code; what it does, if it is read to its end.
    pub(crate) fn shell_text(
        &mut self,
        shell_text: &str,
        origin: Origin,
        context: Context,
    ) -> Option<Ran> {
        if context.n_wrappers >= limits::WRAPPERS {
            self.sink
                .unknown("texts are nested too deeply", Some(origin.span(0, 0)));
            return None;
        }
        let (given, definitions) = self.functions_for(shell_text, context.shell, origin);
        let context = Context {
            n_wrappers: context.n_wrappers + 1,
            depth: context.depth + 4,
            given,
            exports: context.exports || self.census.exports_any(),
            differs_later: context.shell == Shell::Own && self.differs_later(),
            ..context
        };
        let bases = self.bases.clone().lenient();
        let whole = match definitions.is_empty() {
            true => Cow::Borrowed(shell_text),
            false => Cow::Owned(definitions + shell_text),
        };
        let (script, ran) = text(self.sink, &whole, origin, bases, context);
        script.stop.is_none().then_some(ran)
    }
}

/// Whether a literal value names an array element whose subscript holds code.
pub(crate) fn hides_code(word: &Word) -> bool {
    let mut text = String::new();
    for piece in &word.pieces {
        match piece {
            Piece::Plain(part) | Piece::Quoted(part) => text.push_str(part),
            Piece::Glob(c) => text.push(*c),
            Piece::Tilde(_) | Piece::Expansion(..) => text.push(' '),
        }
    }
    hides_code_text(&text)
}

/// The same for a text.
pub(crate) fn hides_code_text(text: &str) -> bool {
    text.split_once('[')
        .is_some_and(|(_, subscript)| subscript.contains("$(") || subscript.contains('`'))
}
