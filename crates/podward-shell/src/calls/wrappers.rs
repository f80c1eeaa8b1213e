//! The command that a wrapper runs.

use podward_policy::{OperationIdx, TextBuilder};

use super::effects::named_by_tests;
use super::lists::{append_input, below, replaced, unknown_word};
use super::{Call, Lookup};
use crate::arg::{Arg, Part};
use crate::limits;
use crate::options::{Effect, Usage};
use crate::programs::{Special, Wrapper};
use crate::reader::Origin;
use crate::values::{Value, is_own};
use crate::walk::{Context, Demand, Ran, Shell, Stdin, Walker};

impl Walker<'_, '_> {
    /// Adds the command that stands in a wrapper's arguments.
    pub(super) fn inner_command(
        &mut self,
        call: &Call<'_>,
        wrapper: OperationIdx,
        usage: &Usage<'_>,
        ends: &[usize],
        env: Vec<(String, Arg)>,
    ) {
        let entrypoint = entrypoint(usage);
        let Some(start) = usage.command else {
            if let Some(program) = entrypoint {
                self.elsewhere_command(call, std::slice::from_ref(program));
            }
            return;
        };
        let at = after_separator(call, usage, start + 1);
        let Some(words) = call.args.get(at..).filter(|words| !words.is_empty()) else {
            return;
        };
        let mut inner = words.to_vec();
        if let (Some(head), Some(first)) = (&usage.command_head, inner.first_mut()) {
            first.clone_from(head);
        }
        if let Some(program) = entrypoint {
            inner.insert(0, program.clone());
            self.elsewhere_command(call, &inner);
            return;
        }
        match usage.special {
            Some(Special::Xargs) => {
                self.known_input(call, &inner, usage);
                append_input(&mut inner, usage, call.span);
            }
            Some(Special::Parallel) => {
                self.parallel(call, &inner);
                return;
            }
            Some(Special::Ssh) => {
                self.remote_text(call, &inner);
                return;
            }
            _ => {}
        }
        if let (true, [_, end, rest @ ..]) = (speaks_for_inner(usage), inner.as_slice())
            && end.known() == Some("--")
            && !rest.is_empty()
        {
            // The first word names a container or a version for some runners.
            self.elsewhere_command(call, rest);
        }
        self.files_of_finder(call, usage, &mut inner);
        self.command_behind_host(call, usage, at);
        let mut assignments = env;
        if usage.wrapper == Some(Wrapper::Neutral) {
            assignments.splice(0..0, call.assignments.iter().cloned());
        }
        let runs = self.run_inner(
            call,
            &assignments,
            &inner,
            Inner {
                demand: inner_demand(call, wrapper, usage.wrapper, ends, at),
                stdin: inner_input(call, usage),
                elsewhere: call.elsewhere || usage.wrapper == Some(Wrapper::Remote),
                lookup: Lookup::Program,
            },
        );
        self.located_inside(call, wrapper, at, &inner, runs);
    }

    /// `sudo -h HOST command`: the option alone asks for help.
    fn command_behind_host(&mut self, call: &Call<'_>, usage: &Usage<'_>, at: usize) {
        let is_sudo = usage.special == Some(Special::Env)
            && usage.wrapper == Some(Wrapper::Kept)
            && usage.options_given.contains(&"-h");
        if let Some(words) = call.args.get(at + 1..).filter(|w| is_sudo && !w.is_empty()) {
            self.seen_command(call, words);
        }
    }

    /// A command that may be run, for deny rules.
    pub(super) fn seen_command(&mut self, call: &Call<'_>, words: &[Arg]) {
        self.run_inner(
            call,
            &[],
            words,
            Inner {
                demand: Demand::Restrictive,
                stdin: Stdin::Inherited,
                elsewhere: call.elsewhere,
                lookup: Lookup::Program,
            },
        );
    }

    /// `env -S 'a b'`: the text is split into words in front of the others.
    pub(super) fn split_text(&mut self, call: &Call<'_>, usage: &Usage<'_>) {
        let is_split = |option: &&str| matches!(*option, "-S" | "--split-string");
        let Some(text) = usage
            .effects
            .iter()
            .find(|effect| effect.option.as_ref().is_some_and(is_split))
            .and_then(|effect| effect.value.as_ref()?.known())
        else {
            return;
        };
        let text = text.replace("\\_", " ");
        if usage.special != Some(Special::Env) || text.contains(['\\', '$', '#', '\'', '"']) {
            return;
        }
        let words = text
            .split([' ', '\t', '\n'])
            .filter(|word| !word.is_empty())
            .map(|word| Arg::known_text(word, call.span));
        let mut args = vec![Arg::known_text("env", call.span)];
        args.extend(words);
        let rest = usage.command.map_or(call.args.len(), |start| start + 1);
        args.extend(call.args.iter().skip(rest).cloned());
        self.seen_command(call, &args);
    }

    /// A command that runs in a container.
    fn elsewhere_command(&mut self, call: &Call<'_>, words: &[Arg]) {
        self.run_inner(
            call,
            &[],
            words,
            Inner {
                demand: Demand::Restrictive,
                stdin: call.stdin.clone(),
                elsewhere: true,
                lookup: Lookup::Program,
            },
        );
    }

    pub(crate) fn run_inner(
        &mut self,
        call: &Call<'_>,
        assignments: &[(String, Arg)],
        args: &[Arg],
        inner: Inner,
    ) -> Option<OperationIdx> {
        if call.n_wrappers >= limits::WRAPPERS {
            self.unknown("wrappers are nested too deeply", call.span, &call.demand);
            return None;
        }
        let span = match (
            args.first().and_then(|a| a.span),
            args.last().and_then(|a| a.span),
        ) {
            (Some(first), Some(last)) if first.start <= last.end => Some(
                podward_policy::ByteSpan::new(first.start..last.end.max(first.end)),
            ),
            _ => call.span,
        };
        Some(self.call(&Call {
            assignments,
            args,
            demand: inner.demand,
            stdin: inner.stdin,
            span,
            elsewhere: inner.elsewhere,
            n_wrappers: call.n_wrappers + 1,
            has_redirects: false,
            lookup: inner.lookup,
        }))
    }

    /// `find -exec … ;`
    pub(super) fn command_until(
        &mut self,
        call: &Call<'_>,
        wrapper: OperationIdx,
        effect: &Effect<'_>,
        usage: &Usage<'_>,
        ends: &[usize],
    ) {
        let Some((start, end)) = effect.range else {
            return;
        };
        let Some(words) = call.args.get(start + 1..end + 1) else {
            return;
        };
        let mut words = words.to_vec();
        if let (Some(head), Some(first)) = (&effect.value, words.first_mut()) {
            first.clone_from(head);
        }
        if words.is_empty() {
            return;
        }
        let inner: Vec<Arg> = words
            .iter()
            .map(|word| replaced(word, "{}", &unknown_word(word)))
            .collect();
        // The directory of a file that was found, or, for what deny rules see, this one.
        let bases = self.bases.clone();
        if matches!(effect.option, Some("-execdir" | "-okdir")) {
            self.bases = bases.or_anywhere();
        }
        let runs = self.run_inner(
            call,
            &[],
            &inner,
            Inner {
                demand: inner_demand(call, wrapper, Some(Wrapper::Kept), ends, start + 1),
                stdin: call.stdin.clone(),
                elsewhere: call.elsewhere,
                lookup: Lookup::Program,
            },
        );
        self.located_inside(call, wrapper, start + 1, &inner, runs);
        if usage.special == Some(Special::Find) {
            self.found_files(call, usage, &words);
        }
        self.bases = bases;
    }

    /// `{}` is one of the directories that are searched, or lies below it.
    fn found_files(&mut self, call: &Call<'_>, usage: &Usage<'_>, words: &[Arg]) {
        if !words.iter().any(|word| word.prefix().contains("{}")) {
            return;
        }
        let arguments = call.args.get(1..).unwrap_or_default();
        let roots: Vec<&str> = usage
            .operands
            .iter()
            .filter_map(|idx| arguments.get(*idx))
            .filter_map(Arg::known)
            .chain(named_by_tests(call.args))
            .map(|root| root.trim_end_matches('/'))
            .filter(|root| !matches!(*root, "" | "." | ".."))
            .take(limits::FIND_ROOTS)
            .collect();
        for root in roots {
            let below = below(root, call.span);
            let inner: Vec<Arg> = words
                .iter()
                .map(|word| replaced(word, "{}", &below))
                .collect();
            self.run_inner(
                call,
                &[],
                &inner,
                Inner {
                    demand: Demand::Restrictive,
                    stdin: Stdin::Inherited,
                    elsewhere: call.elsewhere,
                    lookup: Lookup::Program,
                },
            );
        }
    }

    /// Words that another machine's shell joins and reads as a text.
    fn remote_text(&mut self, call: &Call<'_>, words: &[Arg]) {
        self.joined_text(call, words, &Demand::Restrictive, Shell::Elsewhere);
    }

    /// A text that a command runs as shell code, made of its words; what it does to the shell that
    /// reads it, if all of it is known.
    pub(crate) fn joined_text(
        &mut self,
        call: &Call<'_>,
        words: &[Arg],
        demand: &Demand,
        shell: Shell,
    ) -> Option<Ran> {
        let mut text = TextBuilder::new();
        for (n, word) in words.iter().enumerate() {
            if n > 0 {
                text = text.known(" ");
            }
            text = word.write_bare(text);
        }
        let text = text.build();
        let span = words.first().and_then(|word| word.span).or(call.span);
        let Some(known) = text.as_known() else {
            self.unknown_text(call, words, demand, shell);
            return None;
        };
        let origin = match (words, span) {
            (_, Some(span)) => Origin::Part(span),
            _ => Origin::Verbatim(0),
        };
        let context = self
            .context
            .of_text(call, demand, call.stdin.clone(), shell);
        self.text_with_values(call, known, origin, &context);
        self.shell_text(known, origin, context)
    }

    /// The text once more, for deny rules, behind the values that its environment holds.
    fn text_with_values(&mut self, call: &Call<'_>, text: &str, origin: Origin, context: &Context) {
        // What only deny rules see is not read twice at each level of nesting.
        let is_copy = call.demand == Demand::Restrictive;
        if is_copy || !text.contains('$') || !matches!(origin, Origin::Part(_)) {
            return;
        }
        let given = call.assignments.iter().filter_map(|(name, arg)| {
            let value = arg.known()?.split_once('=')?.1;
            is_own(name).then_some((name.as_str(), value))
        });
        let exported = self.values.iter().filter_map(|(name, value)| match value {
            Value::Scalar(value)
                if self.census.is_exported(name) && self.census.holds(name, self.by) =>
            {
                Some((name.as_str(), value.as_str()))
            }
            _ => None,
        });
        let mut setting = String::new();
        let mut names: Vec<&str> = Vec::new();
        for (name, value) in given.chain(exported).take(limits::LOOP_ROUNDS) {
            let is_used =
                text.contains(&format!("${name}")) || text.contains(&format!("${{{name}"));
            if is_used && !names.contains(&name) {
                names.push(name);
                setting.push_str(&format!("{name}='{}'\n", value.replace('\'', "'\\''")));
            }
        }
        if setting.is_empty() {
            return;
        }
        let mut context = context.clone();
        context.demand = Demand::Restrictive;
        self.shell_text(&(setting + text), origin, context);
    }

    /// A shell text with holes: what is known of it is seen by deny rules.
    fn unknown_text(&mut self, call: &Call<'_>, words: &[Arg], demand: &Demand, shell: Shell) {
        let span = words.first().and_then(|word| word.span).or(call.span);
        self.unknown(
            "a shell text that is not known before it runs",
            span,
            demand,
        );
        let (Some(first), Some(span)) = (words.first(), span) else {
            return;
        };
        let is_hole = |word: &Arg| {
            word.parts()
                .iter()
                .all(|part| matches!(part, Part::Hole(..)))
        };
        if words.iter().all(is_hole) {
            return;
        }
        let demand = Demand::Restrictive;
        let context = self
            .context
            .of_text(call, &demand, call.stdin.clone(), shell);
        let mut shown = String::new();
        for word in std::iter::once(first).chain(words.iter().skip(1)) {
            if !shown.is_empty() {
                shown.push(' ');
            }
            for part in word.parts() {
                match part {
                    Part::Known(text) => shown.push_str(text),
                    Part::Glob(c) => shown.push(*c),
                    Part::Tilde(user) => {
                        shown.push('~');
                        shown.push_str(user);
                    }
                    // A variable that nothing sets reads as a hole.
                    Part::Hole(..) => shown.push_str("${_podward_hole}"),
                }
            }
        }
        self.shell_text(&shown, Origin::Part(span), context);
    }
}

/// What the inner command reads: xargs takes the input for itself, unless it reads a file instead.
fn inner_input(call: &Call<'_>, usage: &Usage<'_>) -> Stdin {
    let is_file = |option: &&str| matches!(*option, "-a" | "--arg-file");
    match usage.special {
        Some(Special::Xargs) if !usage.options_given.iter().any(is_file) => Stdin::Inherited,
        _ => call.stdin.clone(),
    }
}

fn speaks_for_inner(usage: &Usage<'_>) -> bool {
    usage.wrapper.is_some_and(Wrapper::speaks_for_inner)
}

/// The program that `--entrypoint` puts before the arguments of a container.
fn entrypoint<'u>(usage: &'u Usage<'_>) -> Option<&'u Arg> {
    usage
        .values
        .iter()
        .find(|(option, _)| *option == "--entrypoint")
        .map(|(_, value)| value)
        .filter(|value| speaks_for_inner(usage) && value.known() != Some(""))
}

/// Where a command starts: the `--` before what runs elsewhere is no word of it.
fn after_separator(call: &Call<'_>, usage: &Usage<'_>, at: usize) -> usize {
    let is_separator = call.args.get(at).and_then(Arg::known) == Some("--");
    if speaks_for_inner(usage) && is_separator {
        at + 1
    } else {
        at
    }
}

/// How an inner command runs.
pub(crate) struct Inner {
    pub(crate) demand: Demand,
    pub(crate) stdin: Stdin,
    pub(crate) elsewhere: bool,
    pub(crate) lookup: Lookup,
}

/// The demand on the command that begins at argument `at` of a wrapper.
fn inner_demand(
    call: &Call<'_>,
    wrapper: OperationIdx,
    kind: Option<Wrapper>,
    ends: &[usize],
    at: usize,
) -> Demand {
    match (kind, &call.demand) {
        (Some(Wrapper::Remote | Wrapper::Runner), _) | (_, Demand::Restrictive) => {
            Demand::Restrictive
        }
        (Some(Wrapper::Neutral), demand) | (_, demand @ Demand::RunBy { .. }) => demand.later(at),
        (Some(Wrapper::Kept) | None, Demand::Full) => Demand::RunBy {
            wrapper,
            ends: ends.get(at..).unwrap_or_default().to_vec(),
        },
    }
}
