//! Functions: what they run where they are called.

use std::collections::BTreeSet;

use podward_policy::ByteSpan;

use super::{Shell, Stdin, Walker};
use crate::arg::Arg;
use crate::limits;
use crate::programs::PROGRAMS;
use crate::reader::Origin;
use crate::syntax::{AndOr, Command, Compound, Definition, Moment, Script};
use crate::values::{POSITIONAL, Value};

/// Bash calls it for each name that is no program's.
const NOT_FOUND: &str = "command_not_found_handle";

/// The functions of a shell, as far as its text was walked.
#[derive(Default)]
pub(crate) struct Functions<'w> {
    all: Vec<Function<'w>>,
    n_definitions: usize,
    /// Those that are being called.
    active: Vec<String>,
    /// Calls that are walked once more where the shell may be anywhere, and those of them that wait.
    anywhere: BTreeSet<(String, Moment)>,
    waiting: Vec<(String, Moment)>,
}

struct Function<'w> {
    name: &'w str,
    body: &'w Command,
    /// How many definitions were walked before.
    since: usize,
    /// Whether it is there for certain, and no other of its name.
    is_sure: bool,
}

/// The functions at the front of a text: first those that are there for certain.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Given {
    n_sure: usize,
    n_perhaps: usize,
}

/// Whether a name is a function's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Called {
    Function,
    /// Or a program's.
    Perhaps,
    Program,
}

impl Given {
    pub(crate) const NONE: Self = Self {
        n_sure: 0,
        n_perhaps: 0,
    };

    pub(crate) const fn len(self) -> usize {
        self.n_sure + self.n_perhaps
    }

    /// Whether a text defines others behind them.
    pub(super) fn are_not_all(self, script: &Script) -> bool {
        let last = self.len().checked_sub(1).and_then(|n| script.list.get(n));
        let end = match last.map(|and_or| and_or.first.commands.as_slice()) {
            Some([Command::Compound(_, _, at), ..]) => *at,
            _ => Moment::default(),
        };
        script.functions.iter().any(|function| function.at > end)
    }
}

impl<'w> Functions<'w> {
    pub(super) const fn n_definitions(&self) -> usize {
        self.n_definitions
    }

    /// What was defined after a point may be there or not.
    pub(super) fn doubt(&mut self, n_definitions: usize) {
        for function in &mut self.all {
            function.is_sure &= function.since < n_definitions;
        }
    }

    /// The same for one that is taken away, or for any.
    pub(crate) fn unset(&mut self, name: Option<&str>) {
        for function in &mut self.all {
            function.is_sure &= name.is_some_and(|name| name != function.name);
        }
    }

    fn define(&mut self, name: &'w str, body: &'w Command, is_sure: bool) {
        self.all
            .retain(|function| !std::ptr::eq(function.body, body));
        self.all.push(Function {
            name,
            body,
            since: self.n_definitions,
            is_sure,
        });
        self.n_definitions += 1;
    }

    /// The bodies that a name may stand for, and whether it stands for one of them.
    fn named(&self, name: &str) -> (Vec<&'w Command>, Called) {
        let mut bodies = Vec::new();
        for function in self.all.iter().rev().filter(|f| f.name == name) {
            bodies.push(function.body);
            if function.is_sure {
                return (bodies, Called::Function);
            }
        }
        let called = match bodies.is_empty() {
            true => Called::Program,
            false => Called::Perhaps,
        };
        (bodies, called)
    }
}

impl<'w> Walker<'w, '_> {
    pub(super) fn function(
        &mut self,
        name: &'w str,
        body: &'w Command,
        span: ByteSpan,
        at: Moment,
    ) {
        let added = self.sink.place.programs;
        let has_model = PROGRAMS.get(name).is_some() || added.is_some_and(|a| a.has(name));
        if has_model || crate::builtins::is_builtin(name) || name == NOT_FOUND {
            self.sink
                .unknown("a function takes the name of a program", Some(span));
        }
        let bases = self.bases.clone();
        // It may be called at any time. What stands behind it may be behind the last call too, and
        // must not hide what is known here.
        let by_then = at.max(self.by_then);
        self.bases = bases.clone().lenient();
        self.in_body(by_then, |walker| {
            walker.command(body);
        });
        if self.census.changes_after(by_then) {
            self.bases = bases.clone().lenient();
            self.in_body(Moment::END, |walker| {
                walker.command(body);
            });
        }
        let moves = self.bases != bases.clone().lenient();
        self.bases = match moves && self.is_trapped {
            true => bases.wandering(),
            false => bases,
        };
        self.functions.define(name, body, true);
    }

    fn in_body(&mut self, by_then: Moment, walk: impl FnOnce(&mut Self)) {
        let mark = self.mark();
        let was = std::mem::replace(&mut self.in_function, true);
        let by_then = std::mem::replace(&mut self.by_then, by_then);
        walk(self);
        self.by_then = by_then;
        self.in_function = was;
        self.forget(mark);
    }

    /// Walks a function's body once more where it is called.
    ///
    /// Arguments that are all known are its positional parameters, if nothing else sets them.
    pub(super) fn call_function(&mut self, name: &str, args: &[Arg]) -> Called {
        let (bodies, called) = self.functions.named(name);
        if called == Called::Program {
            return called;
        }
        if !self.sink.has_fuel() {
            self.sink.unknown("functions are called too often", None);
        }
        let is_active = self.functions.active.iter().any(|active| active == name);
        if is_active || self.functions.active.len() >= limits::CALLS || !self.sink.has_fuel() {
            self.bases = self.bases.or_anywhere();
            let call = (name.to_owned(), self.by);
            if self.functions.anywhere.insert(call.clone()) {
                self.functions.waiting.push(call);
            }
            return called;
        }
        let parameters: Option<Vec<String>> = args
            .iter()
            .skip(1)
            .map(|arg| arg.known().map(str::to_owned))
            .collect();
        let parameters = parameters.filter(|_| self.census.is_untouched(POSITIONAL, self.by));
        self.functions.active.push(name.to_owned());
        self.bodies(&bodies, self.by, parameters.as_ref());
        self.functions.active.pop();
        if self.functions.active.is_empty() {
            self.waiting_calls();
        }
        called
    }

    fn bodies(&mut self, bodies: &[&'w Command], by: Moment, parameters: Option<&Vec<String>>) {
        let entry = self.bases.clone();
        let mut after = entry.clone();
        let stdin = self.context.stdin.clone();
        for body in bodies {
            self.bases.clone_from(&entry);
            self.in_body(by, |walker| {
                if let Some(parameters) = parameters {
                    let list = Value::List(parameters.clone());
                    walker.values.insert(POSITIONAL, list);
                    walker.in_function = false;
                }
                walker.command(body);
            });
            after = after.join(self.bases.clone());
            if stdin != Stdin::Inherited {
                self.context.stdin.clone_from(&stdin);
            }
        }
        self.bases = after;
    }

    /// Calls inside of calls that were not walked: each once, where the shell may be anywhere.
    fn waiting_calls(&mut self) {
        let bases = self.bases.clone();
        while let Some((name, by)) = self.functions.waiting.pop() {
            if !self.sink.has_fuel() {
                self.sink.unknown("functions are called too often", None);
                self.functions.waiting.clear();
                break;
            }
            let (bodies, _) = self.functions.named(&name);
            self.bases = bases.anywhere().lenient();
            // What they call waits too.
            let n_active = self.functions.active.len();
            self.functions.active.resize(limits::CALLS, name);
            self.bodies(&bodies, by, None);
            self.functions.active.truncate(n_active);
        }
        self.bases = bases;
    }

    /// Functions that the shell around the text has defined.
    pub(super) fn given(&mut self, given: &'w [AndOr]) {
        let n_sure = self.context.given.n_sure;
        for (n, and_or) in given.iter().enumerate() {
            match and_or.first.commands.as_slice() {
                [Command::Compound(Compound::Function { name, body, .. }, ..)] => {
                    self.functions.define(name, body, n < n_sure);
                }
                _ => self.sink.unknown("a function that is read otherwise", None),
            }
        }
    }

    /// The functions that a text may call, and their definitions to stand in front of it.
    pub(super) fn functions_for(
        &mut self,
        text: &str,
        shell: Shell,
        origin: Origin,
    ) -> (Given, String) {
        let until = match shell {
            Shell::Later => Moment::END,
            Shell::Own | Shell::Child => self.by,
            Shell::Elsewhere => Moment::default(),
        };
        let all = self.script.functions.iter().filter(|f| f.at <= until);
        let has_any = all.clone().any(|function| text.contains(&function.name));
        if !has_any || !matches!(origin, Origin::Part(_)) {
            return (Given::NONE, String::new());
        }
        let mut texts: Vec<(bool, &str)> = Vec::new();
        for function in all.clone() {
            let (_, called) = self.functions.named(&function.name);
            let n_of_name = all.clone().filter(|f| f.name == function.name).count();
            // Only what is exported reaches another shell.
            let is_sure = shell != Shell::Child && called == Called::Function && n_of_name == 1;
            if !texts.iter().any(|(_, text)| **text == *function.text) {
                texts.push((is_sure, &function.text));
            }
        }
        let n_bytes: usize = texts.iter().map(|(_, text)| text.len()).sum();
        self.sink.burn(1 + n_bytes / limits::BYTES_A_COMMAND);
        if !self.sink.has_fuel() {
            self.sink.unknown("functions are called too often", None);
            return (Given::NONE, String::new());
        }
        texts.sort_by_key(|(is_sure, _)| !is_sure);
        let n_sure = texts.iter().filter(|(is_sure, _)| *is_sure).count();
        let given = Given {
            n_sure,
            n_perhaps: texts.len() - n_sure,
        };
        let definitions = texts.iter().map(|(_, text)| format!("{text}\n"));
        (given, definitions.collect())
    }

    /// Whether what runs later in this shell may run in another directory, or call other functions.
    pub(crate) fn differs_later(&self) -> bool {
        // What is repeated, or called later, may stand before what runs later.
        let after = match self.by_then >= self.by {
            true => Moment::default(),
            false => self.by,
        };
        let is_later = |function: &Definition| function.at > after;
        self.context.differs_later
            || self.census.moves_after(after)
            || self.script.functions.iter().any(is_later)
    }
}
