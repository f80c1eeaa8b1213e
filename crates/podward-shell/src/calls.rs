//! A call of a program: its operation, what it does, and the command that it runs.

mod dialects;
mod effects;
mod fed;
mod interpreters;
mod lists;
mod wrappers;

pub(crate) use effects::named_by_tests;
pub(crate) use wrappers::Inner;

use std::borrow::Cow;

use podward_policy::{ByteSpan, HoleKind, Need, OperationIdx};

use crate::arg::Arg;
use crate::builtins;
use crate::operations::Bases;
use crate::options::{self, HiddenOption, Usage};
use crate::programs::{Model, PROGRAMS, Role, Special, Wrapper};
use crate::text_form;
use crate::walk::{Demand, Stdin, Walker, kept};
use crate::whereabouts::{LocatedWord, ScriptWord, Whereabouts, scripts, whereabouts};

/// One call of a program.
pub(crate) struct Call<'c> {
    /// Assignments in front of it, each with its text.
    pub(crate) assignments: &'c [(String, Arg)],
    pub(crate) args: &'c [Arg],
    pub(crate) demand: Demand,
    pub(crate) stdin: Stdin,
    pub(crate) span: Option<ByteSpan>,
    /// Its paths are not ours.
    pub(crate) elsewhere: bool,
    pub(crate) n_wrappers: usize,
    pub(crate) has_redirects: bool,
    /// Whether the shell itself looks the name up.
    pub(crate) lookup: Lookup,
}

/// Who looks a program's name up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lookup {
    /// The shell: builtins come first.
    Shell,
    /// Another program: only files count.
    Program,
}

impl Walker<'_, '_> {
    /// Adds a call's operations; the place of the one that is the command itself.
    pub(crate) fn call(&mut self, call: &Call<'_>) -> OperationIdx {
        for (name, text) in call.assignments {
            // Only builtins that split or read text again look at it.
            if name != "IFS" {
                let value = text.without_prefix(name.len() + 1);
                self.special_variable(name, &value, text.span);
            }
        }
        let Some(name) = call.args.first().and_then(Arg::program) else {
            let idx = self.operation(call, &[], call.demand.need());
            let span = call.args.first().and_then(|arg| arg.span).or(call.span);
            self.unknown(
                "the program is not known before it runs",
                span,
                &call.demand,
            );
            return idx;
        };
        if call.lookup == Lookup::Shell
            && let Some(idx) = builtins::call(self, call, &name)
        {
            return idx;
        }
        let base = name.rsplit('/').next().unwrap_or(&name);
        if let Some(model) = PROGRAMS.get(base) {
            return self.modelled(call, model);
        }
        match self.sink.place.programs.and_then(|added| added.get(base)) {
            Some(model) => self.modelled(call, &model),
            None => self.operation(call, &[], call.demand.need()),
        }
    }

    /// A word that may be an option counts as the worst that it may be (D3.2).
    fn hidden_options(&mut self, call: &Call<'_>, idx: OperationIdx, usage: &Usage<'_>) {
        if let Some((at, hidden)) = usage.hidden {
            let word = call.args.get(at + 1).and_then(|arg| arg.span);
            let span = word.or(call.span);
            match hidden {
                HiddenOption::Runs => {
                    let why = "a word that is not known may be an option that runs a program";
                    self.sink.partial(idx, why);
                    self.unknown(why, span, &call.demand);
                }
                // It says so already.
                HiddenOption::Writes if !usage.partial.is_empty() => {}
                HiddenOption::Writes => {
                    let why = "a word that is not known may be an option that writes a file";
                    self.sink.partial(idx, why);
                }
            }
        }
        self.hidden_exec(call, usage);
    }

    /// Words of `find` that may be `-exec`: any that is not known behind its first operand.
    fn hidden_exec(&mut self, call: &Call<'_>, usage: &Usage<'_>) {
        if usage.special != Some(Special::Find) {
            return;
        }
        let is_front = |arg: &&Arg| matches!(arg.known(), Some("-H" | "-L" | "-P"));
        let mut words = call.args.iter().skip(1).skip_while(is_front).skip(1);
        if let Some(word) = words.find(|arg| arg.prefix().is_empty() && arg.may_split()) {
            self.unknown("a word that may run a program", word.span, &call.demand);
        }
    }

    /// Adds the operation of the command itself.
    pub(crate) fn operation(
        &mut self,
        call: &Call<'_>,
        globals: &[usize],
        need: Need,
    ) -> OperationIdx {
        self.operation_with(call, globals, &[], need)
    }

    /// The same for one that is given scripts, by their places among its arguments.
    pub(crate) fn operation_with(
        &mut self,
        call: &Call<'_>,
        globals: &[usize],
        scripts: &[ScriptWord],
        need: Need,
    ) -> OperationIdx {
        let bases = self.bases.clone();
        let (idx, _) = self.command_with(call, globals, scripts, &bases, need);
        idx
    }

    /// The same, and where each of its arguments ends in its text.
    fn command_with(
        &mut self,
        call: &Call<'_>,
        globals: &[usize],
        scripts: &[ScriptWord],
        bases_of_scripts: &Bases,
        need: Need,
    ) -> (OperationIdx, Vec<usize>) {
        let whereabouts = match call.elsewhere {
            true => Whereabouts::default(),
            false => {
                let bases = [&self.bases, bases_of_scripts];
                let input = self.input_of(call);
                Whereabouts {
                    input,
                    ..whereabouts(self.sink, bases, call.args, scripts)
                }
            }
        };
        let assignments = kept(call.assignments);
        let (subject, ends) = text_form::subject(&assignments, call.args, globals, &whereabouts);
        let idx = self.sink.command(subject, need, call.span);
        if !whereabouts.words.is_empty() {
            self.sink.located.insert(idx, whereabouts.words);
        }
        (idx, ends)
    }

    /// What a wrapper runs lies where it lies for the wrapper too; `at` is where it begins among the
    /// wrapper's arguments.
    pub(crate) fn located_inside(
        &mut self,
        call: &Call<'_>,
        wrapper: OperationIdx,
        at: usize,
        inner: &[Arg],
        runs: Option<OperationIdx>,
    ) {
        let words = runs.and_then(|runs| self.sink.located.get(&runs));
        let is_written = |word: &&LocatedWord| {
            let (outer, inner) = (call.args.get(at + word.idx), inner.get(word.idx));
            outer.is_some() && outer.map(Arg::parts) == inner.map(Arg::parts)
        };
        let words = words.into_iter().flatten().filter(is_written).cloned();
        let words: Vec<LocatedWord> = words
            .map(|word| LocatedWord {
                idx: at + word.idx,
                ..word
            })
            .collect();
        if !words.is_empty() {
            let all = self.sink.located.entry(wrapper).or_default();
            all.retain(|known| words.iter().all(|word| word.idx != known.idx));
            all.extend(words);
        }
    }

    /// Spells a wrapper anew by where lies what it runs.
    pub(crate) fn respelled(&mut self, call: &Call<'_>, globals: &[usize], wrapper: OperationIdx) {
        let Some(words) = self.sink.located.get(&wrapper) else {
            return;
        };
        let whereabouts = Whereabouts {
            words: words.clone(),
            directories: self.sink.directories(&self.bases),
            input: self.input_of(call),
        };
        let assignments = kept(call.assignments);
        let (subject, _) = text_form::subject(&assignments, call.args, globals, &whereabouts);
        self.sink.replace_command(wrapper, subject);
    }

    pub(crate) fn unknown(&mut self, why: &str, span: Option<ByteSpan>, demand: &Demand) {
        let need = match demand {
            Demand::Restrictive => Need::Restrictive,
            Demand::Full | Demand::RunBy { .. } => Need::Full,
        };
        self.sink.unknown_with(why, span, need);
    }

    fn modelled(&mut self, call: &Call<'_>, model: &Model<'_>) -> OperationIdx {
        let arguments = call.args.get(1..).unwrap_or_default();
        let mut usage = options::read(model, arguments);
        let env = self.environment_operands(&mut usage, arguments);
        let is_neutral = usage.wrapper == Some(Wrapper::Neutral)
            && !usage.opaque
            && env.iter().all(|(name, _)| text_form::is_harmless(name))
            && (usage.special != Some(Special::Env) || usage.options_given.is_empty());
        if usage.wrapper == Some(Wrapper::Neutral) && !is_neutral {
            usage.wrapper = Some(Wrapper::Kept);
        }
        let need = if is_neutral && usage.command.is_some() {
            crate::walk::free(&call.demand)
        } else {
            call.demand.need()
        };
        let globals: Vec<usize> = usage.globals.iter().map(|idx| idx + 1).collect();
        let scripts = scripts(&usage, call.args);
        let entered = match scripts.is_empty() {
            true => self.bases.clone(),
            false => self.entered(&usage),
        };
        let (idx, ends) = self.command_with(call, &globals, &scripts, &entered, need);
        for why in &usage.partial {
            self.sink.partial(idx, why);
        }
        let speaks_for_inner = usage.wrapper.is_none_or(Wrapper::speaks_for_inner);
        if usage.opaque && !speaks_for_inner {
            self.unknown(
                "a wrapper with an option that is not known",
                call.span,
                &call.demand,
            );
        }
        let bases = self.bases.clone();
        self.effects(call, idx, &usage, &ends);
        self.split_text(call, &usage);
        self.hidden_options(call, idx, &usage);
        self.inner_command(call, idx, &usage, &ends, env);
        self.bases = bases;
        if usage.command.is_some() || usage.special == Some(Special::Find) {
            self.respelled(call, &globals, idx);
        }
        idx
    }

    /// Where a program is that was told to change its directory.
    pub(crate) fn entered(&self, usage: &Usage<'_>) -> Bases {
        let into = usage
            .effects
            .iter()
            .filter(|effect| effect.role == Role::Chdir);
        let into = into.filter_map(|effect| effect.value.as_ref());
        into.fold(self.bases.clone(), |bases, directory| {
            bases.enter(behind_key(directory).as_ref(), &self.sink.place)
        })
    }

    /// `NAME=value` words in front of the inner command of env and sudo.
    fn environment_operands(
        &mut self,
        usage: &mut Usage<'_>,
        arguments: &[Arg],
    ) -> Vec<(String, Arg)> {
        let mut env: Vec<(String, Arg)> = Vec::new();
        if usage.special != Some(Special::Env) {
            return env;
        }
        let assigned = usage.assigned.iter().filter_map(|idx| arguments.get(*idx));
        env.extend(assigned.filter_map(|arg| {
            let (name, _) = arg.prefix().split_once('=')?;
            Some((name.to_owned(), arg.clone()))
        }));
        while let Some(arg) = usage.command.and_then(|idx| arguments.get(idx)) {
            // `env -` is `env -i`.
            let name = match arg.prefix().split_once('=') {
                Some((name, _)) => name,
                None if arg.known() == Some("-") => "-",
                None => break,
            };
            env.push((name.to_owned(), arg.clone()));
            usage.command = usage.command.map(|idx| idx + 1);
        }
        if usage.command.is_some_and(|idx| idx >= arguments.len()) {
            usage.command = None;
        }
        env
    }
}

/// The directory in a setting of `systemd-run`.
fn behind_key(directory: &Arg) -> Cow<'_, Arg> {
    const KEY: &str = "WorkingDirectory=";
    match directory.prefix().starts_with(KEY) {
        true => Cow::Owned(directory.without_prefix(KEY.len())),
        false => Cow::Borrowed(directory),
    }
}

/// A word that stands for anything, any number of times.
pub(crate) fn any_words(span: Option<ByteSpan>) -> Arg {
    Arg::hole(HoleKind::Unquoted, span)
}
