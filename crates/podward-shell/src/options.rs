//! Reads the arguments of a program by its model.

mod hidden;
mod names;
mod settle;

pub(crate) use hidden::HiddenOption;
pub(crate) use names::is_setting;

use crate::arg::Arg;
use crate::programs::{Arity, Body, Model, Operand, Opt, Role, Runs, Special, Style, Wrapper};
use crate::work;

/// What a program does with its arguments.
#[derive(Debug, Default)]
pub(crate) struct Usage<'t> {
    pub(crate) effects: Vec<Effect<'t>>,
    /// The inner command: from this argument on.
    pub(crate) command: Option<usize>,
    /// It is a module of Python.
    pub(crate) is_module: bool,
    /// Its first word, if an option holds it (`--exec=rm`).
    pub(crate) command_head: Option<Arg>,
    /// Arguments that are global options, for the form without them.
    pub(crate) globals: Vec<usize>,
    /// Why not all of it is known.
    pub(crate) partial: Vec<String>,
    /// An option that is not known, or that is not literal, stands before the operands.
    pub(crate) opaque: bool,
    pub(crate) wrapper: Option<Wrapper>,
    pub(crate) special: Option<Special>,
    pub(crate) runs_input: bool,
    /// It takes commands that run others from its input.
    pub(crate) is_told: bool,
    pub(crate) operands: Vec<usize>,
    /// Those of them that are scripts.
    pub(crate) scripts: Vec<usize>,
    /// What names further files that are run.
    pub(crate) runs: Vec<Runs<'t>>,
    /// What the operands are.
    pub(crate) roles: &'t [Operand],
    /// Arguments up to the end of the subcommand; 0 if there is none.
    pub(crate) n_subcommand: usize,
    /// Operands of sudo in front of its command that set variables; options may follow them.
    pub(crate) assigned: Vec<usize>,
    pub(crate) options_given: Vec<&'t str>,
    /// A word that is not known where an option may stand, and the worst that it may be.
    pub(crate) hidden: Option<(usize, HiddenOption)>,
    /// Values of options that are data, where they are needed further.
    pub(crate) values: Vec<(&'t str, Arg)>,
}

/// One effect of an option or operand.
#[derive(Debug, Clone)]
pub(crate) struct Effect<'t> {
    pub(crate) role: Role,
    /// The option, for people; `None` for an operand.
    pub(crate) option: Option<&'t str>,
    pub(crate) value: Option<Arg>,
    /// For [`Role::CommandUntil`]: the arguments of the command.
    pub(crate) range: Option<(usize, usize)>,
}

/// Reads the arguments behind a program's name: `args[0]` is the first of them.
pub(crate) fn read<'t>(model: &'t Model<'t>, args: &[Arg]) -> Usage<'t> {
    let mut reading = Reading {
        model,
        args,
        body: &model.root,
        path: Vec::new(),
        in_sub: false,
        since_sub: Vec::new(),
        usage: Usage::default(),
    };
    reading.run();
    reading.usage
}

struct Reading<'t, 'a> {
    model: &'t Model<'t>,
    args: &'a [Arg],
    body: &'t Body<'t>,
    /// Words of the subcommand so far.
    path: Vec<String>,
    in_sub: bool,
    /// Options behind the subcommand's words so far.
    since_sub: Vec<usize>,
    usage: Usage<'t>,
}

impl<'t> Reading<'t, '_> {
    fn style(&self) -> Style {
        let mut style = self.body.style;
        style.open |= self.model.root.style.open;
        style.responses |= self.model.root.style.responses;
        style.single_dash |= self.model.root.style.single_dash;
        style.joined |= self.model.root.style.joined;
        style
    }

    fn run(&mut self) {
        let mut idx = 0;
        let mut options_end = false;
        if self.style().bundle {
            idx = self.bundle();
        }
        while let Some(arg) = self.args.get(idx) {
            work::done(1);
            let prefix = arg.prefix();
            if !options_end && arg.known() == Some("--") {
                options_end = true;
                idx += 1;
                continue;
            }
            if !options_end && self.is_option(prefix) {
                idx = self.option(idx);
                continue;
            }
            if self.style().responses && prefix.starts_with('@') {
                self.usage.effects.push(Effect {
                    role: Role::Code,
                    option: Some("@"),
                    value: Some(arg.clone()),
                    range: None,
                });
                idx += 1;
                continue;
            }
            if !options_end && prefix.is_empty() {
                if arg.may_split() || arg.begins_unknown() {
                    self.partial("a word that is not known may be an option");
                }
                self.usage.opaque |= arg.may_split() && self.may_take_command();
            }
            if !options_end {
                self.hidden_option(idx, arg);
            }
            if self.takes_command() && self.is_assignment(prefix) {
                self.usage.assigned.push(idx);
                idx += 1;
                continue;
            }
            if self.takes_command() {
                self.usage.command = Some(idx);
                break;
            }
            if !options_end && self.enters_sub(arg) {
                idx += 1;
                self.usage.n_subcommand = idx;
                continue;
            }
            if self.has_subs() && self.usage.operands.is_empty() && self.runs_others() {
                self.usage.command = Some(idx);
                break;
            }
            if self.before_task() && is_setting(prefix) {
                self.usage.globals.push(idx);
            }
            self.usage.operands.push(idx);
            options_end |= self.style().stops && !self.has_subs();
            idx += 1;
        }
        self.finish();
    }

    fn partial(&mut self, why: impl Into<String>) {
        let why = why.into();
        if !self.usage.partial.contains(&why) {
            self.usage.partial.push(why);
        }
    }

    fn is_option(&self, prefix: &str) -> bool {
        let dashed = prefix.len() > 1 && prefix.starts_with('-');
        let is_plus = prefix.len() > 1 && prefix.starts_with('+');
        dashed
            || (is_plus
                && (self.style().numeric || self.tables().any(|opt| opt.name.starts_with('+'))))
    }

    fn has_subs(&self) -> bool {
        !self.in_sub && !self.model.subs.is_empty()
    }

    /// Whether a word that is no subcommand is a script or a program that is run.
    fn runs_others(&self) -> bool {
        let first = self.model.root.operands.first();
        first.is_some_and(|operand| operand.role == Role::Command)
    }

    /// Whether an operand may begin an inner command.
    fn may_take_command(&self) -> bool {
        let with = self.body.with.iter().flat_map(|(_, roles)| roles);
        self.body
            .operands
            .iter()
            .chain(with)
            .any(|operand| matches!(operand.role, Role::Command | Role::Shell))
    }

    /// Whether the next operand begins the inner command.
    fn takes_command(&self) -> bool {
        let roles = self.operand_roles();
        let n = self.usage.operands.len();
        !self.has_subs()
            && roles
                .get(n)
                .is_some_and(|operand| operand.role == Role::Command)
    }

    /// Whether an operand of sudo sets a variable: other options may stand behind it.
    fn is_assignment(&self, prefix: &str) -> bool {
        self.model.root.special == Some(Special::Env)
            && self.model.wrapper == Some(Wrapper::Kept)
            && prefix
                .split_once('=')
                .is_some_and(|(name, _)| !name.is_empty() && !name.contains('/'))
    }

    fn operand_roles(&self) -> &'t [Operand] {
        let conditional = self.body.with.iter().find(|(options, _)| {
            options
                .iter()
                .any(|option| self.usage.options_given.contains(option))
        });
        match conditional {
            Some((_, roles)) => roles,
            None => &self.body.operands,
        }
    }

    /// Takes a word of a subcommand's name.
    fn enters_sub(&mut self, arg: &Arg) -> bool {
        if self.model.subs.is_empty() || !self.usage.operands.is_empty() {
            return false;
        }
        let Some(word) = arg.known() else {
            if !self.in_sub {
                self.partial("a subcommand that is not known");
            }
            return false;
        };
        let path = &self.path;
        let n = path.len();
        let goes_on =
            |sub: &[&str]| sub.get(n) == Some(&word) && sub.iter().zip(path).all(|(a, b)| a == b);
        let mut subs = self.model.subs.iter();
        let exact = subs.find(|(sub, _)| sub.len() == n + 1 && goes_on(sub));
        let begins = || {
            let mut subs = self.model.subs.iter();
            subs.any(|(sub, _)| sub.len() > n + 1 && goes_on(sub))
        };
        if let Some(body) = exact.and_then(|(_, idx)| self.model.bodies.get(*idx)) {
            self.body = body;
            self.in_sub = true;
        } else if !begins() {
            if !self.in_sub && self.model.root.operands.is_empty() {
                self.partial(format!("the subcommand `{word}` is not known"));
            }
            return false;
        }
        self.path.push(word.to_owned());
        // `docker compose -f x down`: they stand in front of a part of the name.
        self.usage.globals.append(&mut self.since_sub);
        true
    }

    /// Reads one option; the place of the next argument.
    fn option(&mut self, idx: usize) -> usize {
        let Some(arg) = self.args.get(idx) else {
            return idx + 1;
        };
        let before = !self.in_sub;
        let prefix = arg.prefix();
        let next = if prefix.starts_with("--") || self.style().single_dash || self.is_word(prefix) {
            self.long(idx, arg, prefix)
        } else if let Some(found) = self.find_prefix(prefix) {
            self.effect(found, Some(arg.without_prefix(found.name.len())));
            idx + 1
        } else if self.style().numeric && is_number(prefix) {
            idx + 1
        } else {
            self.cluster(idx, arg, prefix, 1)
        };
        let next = match self.takes_number(arg, next) {
            true => next + 1,
            false => next,
        };
        if before && (!self.model.subs.is_empty() || self.before_task()) {
            self.usage.globals.extend(idx..next.min(self.args.len()));
        } else if self.in_sub && self.usage.operands.is_empty() {
            self.since_sub.extend(idx..next.min(self.args.len()));
        }
        next
    }

    fn long(&mut self, idx: usize, arg: &Arg, prefix: &str) -> usize {
        let (name, value_at) = match prefix.find('=') {
            Some(at) => (prefix.get(..at).unwrap_or_default(), Some(at + 1)),
            None => (prefix, None),
        };
        if value_at.is_none() && arg.known().is_none() {
            self.hidden_option(idx, arg);
            self.unknown_option(name);
            return idx + 1;
        }
        let Some(found) = self.find_long(name) else {
            if let Some(found) = self.find_joined(prefix) {
                self.effect(found, Some(arg.without_prefix(found.name.len())));
            } else if !self.is_negated(name) {
                self.unknown_option(name);
            }
            return idx + 1;
        };
        match (found.arity, value_at) {
            (_, Some(at)) if takes_rest(found.role) => {
                self.attached_command(idx, found, arg.without_prefix(at))
            }
            (_, Some(at)) => {
                self.effect(found, Some(arg.without_prefix(at)));
                idx + 1
            }
            (Arity::Required, None) => self.next_value(idx, found),
            (Arity::Pair, None) => {
                self.effect(found, self.args.get(idx + 2).cloned());
                idx + 3
            }
            (Arity::None | Arity::Attached | Arity::Digits | Arity::Prefix, None) => {
                if found.role == Role::CommandUntil {
                    return self.command_until(idx, found);
                }
                self.effect(found, None);
                idx + 1
            }
        }
    }

    fn next_value(&mut self, idx: usize, found: Opt<'t>) -> usize {
        if found.role == Role::CommandUntil {
            return self.command_until(idx, found);
        }
        if matches!(found.role, Role::Command | Role::Module) {
            self.usage.options_given.push(found.name);
            self.usage.command = Some(idx + 1);
            self.usage.is_module = found.role == Role::Module;
            return self.args.len();
        }
        let value = self.args.get(idx + 1);
        if value.is_some_and(Arg::may_split) && self.may_take_command() {
            self.partial("the value of an option may be several words");
            self.usage.opaque = true;
        }
        self.effect(found, value.cloned());
        idx + 2
    }

    /// `--exec=rm …`: the option holds the first word of the command.
    fn attached_command(&mut self, idx: usize, found: Opt<'t>, head: Arg) -> usize {
        if matches!(found.role, Role::Command | Role::Module) {
            self.usage.options_given.push(found.name);
            self.usage.command = Some(idx);
            self.usage.command_head = Some(head);
            self.usage.is_module = found.role == Role::Module;
            return self.args.len();
        }
        let next = self.command_until(idx, found);
        if let Some(effect) = self.usage.effects.last_mut() {
            effect.value = Some(head);
            effect.range = effect.range.map(|(start, end)| (start - 1, end));
        }
        next
    }

    /// `-exec … ;`
    fn command_until(&mut self, idx: usize, found: Opt<'t>) -> usize {
        let start = idx + 1;
        let end = self
            .args
            .iter()
            .enumerate()
            .skip(start)
            .find(|(at, arg)| {
                arg.known() == Some(";")
                    || (arg.known() == Some("+")
                        && self.args.get(at - 1).and_then(Arg::known) == Some("{}"))
            })
            .map_or(self.args.len(), |(at, _)| at);
        self.usage.effects.push(Effect {
            role: Role::CommandUntil,
            option: Some(found.name),
            value: None,
            range: Some((start, end)),
        });
        end + 1
    }

    /// Short options in one word, from a byte on.
    fn cluster(&mut self, idx: usize, arg: &Arg, prefix: &str, from: usize) -> usize {
        let mut at = from;
        while let Some(c) = prefix.get(at..).and_then(|rest| rest.chars().next()) {
            at += c.len_utf8();
            let Some(found) = self.find_short(c) else {
                self.unknown_option(&format!("-{c}"));
                if self.style().open {
                    continue;
                }
                return idx + 1;
            };
            let has_rest = at < prefix.len() || arg.parts().len() > 1;
            match found.arity {
                Arity::None if found.role == Role::CommandUntil => {
                    return self.command_until(idx, found);
                }
                Arity::None | Arity::Prefix | Arity::Pair => self.effect(found, None),
                Arity::Digits => {
                    self.effect(found, None);
                    let rest = prefix.get(at..).unwrap_or_default();
                    at += rest.bytes().take_while(u8::is_ascii_digit).count();
                }
                Arity::Required | Arity::Attached if has_rest && takes_rest(found.role) => {
                    return self.attached_command(idx, found, arg.without_prefix(at));
                }
                Arity::Required | Arity::Attached if has_rest => {
                    self.effect(found, Some(arg.without_prefix(at)));
                    return idx + 1;
                }
                Arity::Attached => self.effect(found, None),
                Arity::Required => return self.next_value(idx, found),
            }
        }
        if arg.known().is_none() {
            self.hidden_option(idx, arg);
            self.unknown_option(prefix);
        }
        idx + 1
    }

    /// `tar xf a.tar`: letters of the first word take their values from the next words.
    fn bundle(&mut self) -> usize {
        let Some(letters) = self.args.first().and_then(Arg::known) else {
            return 0;
        };
        if letters.starts_with('-') || letters.is_empty() {
            return 0;
        }
        let mut next = 1;
        for c in letters.chars() {
            let Some(found) = self.find_short(c) else {
                self.unknown_option(&format!("-{c}"));
                continue;
            };
            if found.arity == Arity::Required {
                self.effect(found, self.args.get(next).cloned());
                next += 1;
            } else {
                self.effect(found, None);
            }
        }
        next
    }

    fn unknown_option(&mut self, name: &str) {
        self.usage.opaque |= !self.style().open;
        if !self.style().open {
            self.partial(format!("the option `{name}` is not known"));
        }
    }

    fn effect(&mut self, found: Opt<'t>, value: Option<Arg>) {
        self.usage.options_given.push(found.name);
        if let (Role::Data, Some(value)) = (found.role, &value) {
            self.usage.values.push((found.name, value.clone()));
        }
        if found.role != Role::Data {
            self.usage.effects.push(Effect {
                role: found.role,
                option: Some(found.name),
                value,
                range: None,
            });
        }
    }
}

/// Whether an option's value is the beginning of a command.
const fn takes_rest(role: Role) -> bool {
    matches!(role, Role::Command | Role::CommandUntil | Role::Module)
}

fn is_number(text: &str) -> bool {
    text.get(1..)
        .is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
}
