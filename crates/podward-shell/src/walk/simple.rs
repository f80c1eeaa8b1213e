//! Simple commands: assignments, redirections, and the command itself.

use podward_policy::{CommandSubject, Need, OperationIdx};

use super::functions::Called;
use super::{Demand, Outcome, Stdin, Walker};
use crate::arg::{Arg, Part};
use crate::calls::{Call, Lookup};
use crate::expand::{self, Knowledge, Unset};
use crate::limits;
use crate::operations::Access;
use crate::syntax::{AssignedValue, Assignment, Redirect, RedirectKind, Simple, Timed, Word};
use crate::text_form;
use crate::values::{POSITIONAL, Value};
use crate::whereabouts::Whereabouts;

impl<'w> Walker<'w, '_> {
    pub(crate) fn knowledge(&self) -> Knowledge<'_> {
        Knowledge {
            census: &self.census,
            by: self.by,
            unset: Unset::Unknown,
            values: &self.values,
            script: self.script,
            in_function: self.in_function,
            home: self.sink.place.home,
        }
    }

    pub(super) fn simple(&mut self, simple: &'w Simple) -> Outcome {
        for assignment in &simple.assignments {
            if let Some(subscript) = &assignment.subscript {
                self.expression(&subscript.inner);
            }
            match &assignment.value {
                AssignedValue::Scalar(word) => self.inside(word),
                AssignedValue::Array(words) => self.inside_all(words),
            }
        }
        self.inside_all(&simple.words);
        self.inside_redirects(&simple.redirects);
        // The commands inside its words end before it does.
        self.by = simple.at.max(self.by_then);
        let n_before = self.sink.len();
        let args = expand::words(&simple.words, self.knowledge());
        let before = self.bases.clone();
        let parent = if args.is_empty() {
            self.bare_time();
            self.assignments_alone(&simple.assignments);
            // Words that vanish leave a command of assignments; its name was not known.
            None
        } else {
            Some(self.run(simple, &args))
        };
        self.joined(simple, &args);
        self.with_defaults(simple, &args);
        let success = std::mem::replace(&mut self.bases, before.clone());
        for redirect in &simple.redirects {
            self.redirect(redirect, parent);
        }
        if simple.words.is_empty() && self.sink.len() == n_before {
            // Alone it is a text in which nothing is found; so it is beside others.
            self.sink
                .unknown("a redirection without a command", simple.span);
        }
        // What makes the shell strict does not fail.
        let failure = match success.is_strict() {
            true => before.strict(),
            false => before,
        };
        Outcome { success, failure }
    }

    /// The value in `export x="$@"` is one word to bash, of all that is in the list.
    fn joined(&mut self, simple: &Simple, args: &[Arg]) {
        let name = args.first().and_then(Arg::known);
        let declares = matches!(
            name,
            Some("builtin" | "command" | "declare" | "export" | "local" | "readonly" | "typeset")
        );
        if !declares || args.len() == simple.words.len() {
            return;
        }
        for arg in args {
            if let Some((variable, _)) = arg.prefix().split_once('=') {
                let any = Value::Between(String::new(), String::new());
                self.values.insert(variable, any);
            }
        }
    }

    /// The same command with the word of each `${x:-word}`: what may run, for deny rules.
    fn with_defaults(&mut self, simple: &'w Simple, args: &[Arg]) {
        if !expand::have_defaults(&simple.words) {
            return;
        }
        let knowledge = Knowledge {
            unset: Unset::IsDefault,
            ..self.knowledge()
        };
        let with_defaults = expand::words(&simple.words, knowledge);
        let is_same = with_defaults.len() == args.len()
            && with_defaults
                .iter()
                .zip(args)
                .all(|(a, b)| a.parts() == b.parts());
        if is_same || with_defaults.is_empty() {
            return;
        }
        let success = self.bases.clone();
        // A guess is nothing that a later command could rest on.
        let mark = self.mark();
        self.call(&Call {
            assignments: &[],
            args: &with_defaults,
            demand: Demand::Restrictive,
            stdin: self.context.stdin.clone(),
            span: simple.span,
            elsewhere: self.context.elsewhere,
            n_wrappers: self.context.n_wrappers,
            has_redirects: false,
            lookup: Lookup::Shell,
        });
        self.forget(mark);
        self.bases = success;
    }

    /// A command that was read before reading stopped: nothing is known of what it stands in.
    pub(super) fn flat(&mut self, simple: &'w Simple) {
        let args = expand::words(&simple.words, self.knowledge());
        let before = self.bases.clone();
        let parent = if args.is_empty() {
            self.assignments_alone(&simple.assignments);
            None
        } else {
            Some(self.run(simple, &args))
        };
        self.bases = before.clone().join(self.bases.clone());
        for redirect in &simple.redirects {
            self.redirect(redirect, parent);
        }
    }

    fn run(&mut self, simple: &'w Simple, args: &[Arg]) -> OperationIdx {
        let assignments: Vec<(String, Arg)> = simple
            .assignments
            .iter()
            .map(|assignment| (assignment.name.clone(), self.assignment_text(assignment)))
            .collect();
        let redirected = self.redirected_stdin(&simple.redirects);
        let span = simple.span;
        let timed = self.timed.take();
        if let Some(timed) = &timed {
            self.time_wrapper(timed, args);
        }
        self.positional(args);
        let name = args.first().and_then(Arg::program);
        let entry = self.bases.clone();
        let called = match &name {
            Some(name) if !crate::builtins::is_builtin(name) => self
                .sharing(redirected.clone(), |walker| {
                    walker.call_function(name, args)
                }),
            _ => Called::Program,
        };
        if called == Called::Function {
            let texts: Vec<Arg> = kept(&assignments);
            let (subject, _) = self.subject_of_words(&texts, args);
            // What stands in front of it is in the environment of all that it runs (D3.6).
            let need = match texts.is_empty() {
                true => free(&self.context.demand),
                false => self.context.demand.of_text().need(),
            };
            return self.sink.command(subject, need, span);
        }
        // Perhaps there was no such function.
        let after_function = std::mem::replace(&mut self.bases, entry);
        let demand = self.context.demand.clone();
        let stdin = redirected.unwrap_or_else(|| self.context.stdin.clone());
        let idx = self.call(&Call {
            assignments: &assignments,
            args,
            demand,
            stdin,
            span,
            elsewhere: self.context.elsewhere,
            n_wrappers: self.context.n_wrappers,
            has_redirects: !simple.redirects.is_empty(),
            lookup: Lookup::Shell,
        });
        if called == Called::Perhaps {
            self.bases = self.bases.clone().join(after_function);
        }
        idx
    }

    /// The subject of words that name no file that is run.
    pub(super) fn subject_of_words(
        &mut self,
        assignments: &[Arg],
        args: &[Arg],
    ) -> (CommandSubject, Vec<usize>) {
        let whereabouts = Whereabouts {
            directories: self.sink.directories(&self.bases),
            ..Whereabouts::default()
        };
        text_form::subject(assignments, args, &[], &whereabouts)
    }

    /// `set -- a b` makes the positional parameters known.
    fn positional(&mut self, args: &[Arg]) {
        let is_set = args.first().and_then(Arg::known) == Some("set")
            && args.get(1).and_then(Arg::known) == Some("--");
        if !is_set || self.in_function || !self.census.is_set_once(POSITIONAL, self.by) {
            return;
        }
        let items: Option<Vec<String>> = args
            .iter()
            .skip(2)
            .map(|arg| arg.known().map(str::to_owned))
            .collect();
        if let Some(items) = items {
            self.values.insert(POSITIONAL, Value::List(items));
        }
    }

    /// An assignment as one argument, `name=value`.
    fn assignment_text(&self, assignment: &Assignment) -> Arg {
        let mut arg = Arg::known_text(&assignment.name, Some(assignment.span));
        if assignment.subscript.is_some() {
            arg.push(Part::Known("[".to_owned()));
            arg.append(Arg::hole(
                podward_policy::HoleKind::Quoted,
                Some(assignment.span),
            ));
            arg.push(Part::Known("]".to_owned()));
        }
        arg.push(Part::Known(
            if assignment.append { "+=" } else { "=" }.to_owned(),
        ));
        match &assignment.value {
            AssignedValue::Scalar(word) => {
                arg.append(expand::single(word, self.knowledge()));
            }
            AssignedValue::Array(words) => {
                arg.push(Part::Known("(".to_owned()));
                for (n, word) in words.iter().enumerate() {
                    if n > 0 {
                        arg.push(Part::Known(" ".to_owned()));
                    }
                    arg.append(expand::single(word, self.knowledge()));
                }
                arg.push(Part::Known(")".to_owned()));
            }
        }
        arg.span = Some(assignment.span);
        arg
    }

    fn assignments_alone(&mut self, assignments: &'w [Assignment]) {
        for assignment in assignments {
            let text = self.assignment_text(assignment);
            self.remember(assignment);
            self.assigned(&assignment.name, &text);
        }
    }

    fn remember(&mut self, assignment: &'w Assignment) {
        if !self.census.is_set_once(&assignment.name, self.by)
            || assignment.append
            || assignment.subscript.is_some()
        {
            return;
        }
        let value = match &assignment.value {
            AssignedValue::Scalar(word) => expand::single(word, self.knowledge())
                .known()
                .map(|text| Value::Scalar(text.to_owned())),
            AssignedValue::Array(words) => {
                let args = expand::words(words, self.knowledge());
                args.iter()
                    .map(|arg| {
                        arg.known()
                            .filter(|text| !text.starts_with('['))
                            .map(str::to_owned)
                    })
                    .collect::<Option<Vec<_>>>()
                    .map(Value::List)
            }
        };
        let is_short = |value: &Value| match value {
            Value::Scalar(text) => text.len() <= limits::VALUE_BYTES,
            Value::Between(front, end) => front.len() + end.len() <= limits::VALUE_BYTES,
            Value::List(items) => {
                items.iter().map(String::len).sum::<usize>() <= limits::VALUE_BYTES
            }
        };
        if let Some(value) = value.filter(is_short) {
            self.values.insert(&assignment.name, value);
        }
    }

    /// Walks the commands inside the targets of redirections and the bodies of here-documents.
    pub(super) fn inside_redirects(&mut self, redirects: &'w [Redirect]) {
        for redirect in redirects {
            self.inside(&redirect.target);
            if let RedirectKind::HereDocument(idx) = redirect.kind
                && let Some(body) = self.here_body(idx)
            {
                self.inside(body);
            }
        }
    }

    /// What redirections make of the standard input.
    pub(super) fn redirected_stdin(&self, redirects: &'w [Redirect]) -> Option<Stdin> {
        let mut stdin = None;
        for redirect in redirects {
            if redirect
                .descriptor
                .is_some_and(|descriptor| descriptor != 0)
            {
                continue;
            }
            stdin = match redirect.kind {
                RedirectKind::Read | RedirectKind::ReadWrite => Some(
                    match expand::single(&redirect.target, self.knowledge()).known() {
                        Some("/dev/null") => Stdin::Inherited,
                        _ => Stdin::File(self.input_file(&redirect.target)),
                    },
                ),
                RedirectKind::HereString => Some(self.known_stdin(&redirect.target, "\n")),
                RedirectKind::HereDocument(idx) => {
                    self.here_body(idx).map(|body| self.known_stdin(body, ""))
                }
                RedirectKind::Duplicate if redirect.descriptor.is_none() => stdin,
                // It is closed.
                RedirectKind::Duplicate if redirect.target.pieces.is_empty() => {
                    Some(Stdin::Inherited)
                }
                // `<&3` may be anything.
                RedirectKind::Duplicate => Some(Stdin::File(None)),
                RedirectKind::Write => stdin,
            };
        }
        stdin
    }

    /// The name of a file that is read, as rules write paths.
    fn input_file(&self, target: &Word) -> Option<Box<str>> {
        let [base] = self.bases.all() else {
            return None;
        };
        let target = expand::single(target, self.knowledge());
        let path = self.bases.path(&target, &self.sink.place)?;
        path.as_known()?;
        let found = self.sink.place.forms.path(base, &path);
        let path = found.subject.lexical.short;
        let is_file = found.unknown.is_none()
            && path.as_known().is_some_and(|path| {
                // What a descriptor stands for is another file each time.
                !path.starts_with("/dev/") && !path.starts_with("/proc/")
            });
        path.as_known().filter(|_| is_file).map(Into::into)
    }

    fn known_stdin(&self, word: &Word, end: &str) -> Stdin {
        let arg = expand::single(word, self.knowledge());
        match arg.known() {
            Some(text) => Stdin::Known(format!("{text}{end}"), word.span),
            None => Stdin::Expanding,
        }
    }

    pub(super) fn redirect(&mut self, redirect: &'w Redirect, parent: Option<OperationIdx>) {
        let access = match redirect.kind {
            RedirectKind::Read => Access::Read,
            RedirectKind::Write | RedirectKind::ReadWrite => Access::Derived(parent),
            RedirectKind::Duplicate | RedirectKind::HereString | RedirectKind::HereDocument(_) => {
                return;
            }
        };
        let mut target = expand::single(&redirect.target, self.knowledge());
        target.span = Some(redirect.span);
        let prefix = target.prefix();
        if prefix.contains("/dev/tcp/") || prefix.contains("/dev/udp/") {
            self.sink
                .unknown("a network connection as a file", Some(redirect.span));
            return;
        }
        if target.is_process() || self.context.elsewhere {
            return;
        }
        let bases = self.bases.clone();
        let is_seen = self.sink.path(&target, access, &bases);
        if redirect.kind == RedirectKind::ReadWrite {
            self.sink.path(&target, Access::Read, &bases);
        }
        if let (false, Some(parent)) = (is_seen, parent) {
            self.sink
                .partial(parent, "the target of a redirection is not known");
        }
    }

    fn time_wrapper(&mut self, timed: &Timed, args: &[Arg]) {
        let mut words = vec![Arg::known_text("time", Some(timed.span))];
        if timed.posix {
            words.push(Arg::known_text("-p", Some(timed.span)));
        }
        words.extend(args.iter().cloned());
        let (subject, _) = self.subject_of_words(&[], &words);
        let need = free(&self.context.demand);
        self.sink.command(subject, need, Some(timed.span));
    }

    /// `time` in front of nothing, or of a compound command.
    pub(super) fn bare_time(&mut self) {
        if let Some(timed) = self.timed.take() {
            self.time_wrapper(&timed, &[]);
        }
    }
}

/// The need of what needs no rule.
pub(crate) fn free(demand: &Demand) -> Need {
    match demand {
        Demand::Restrictive => Need::Restrictive,
        Demand::Full | Demand::RunBy { .. } => Need::Free,
    }
}

/// The assignments that an allow rule does not look past, as texts.
pub(crate) fn kept(assignments: &[(String, Arg)]) -> Vec<Arg> {
    assignments
        .iter()
        .filter(|(name, _)| !text_form::is_harmless(name))
        .map(|(_, text)| text.clone())
        .collect()
}
