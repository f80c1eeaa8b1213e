//! Reads the arguments of a program by its model.

use crate::arg::Arg;
use crate::programs::{Arity, Body, Model, Operand, Opt, Role, Special, Style, Wrapper};

/// What a program does with its arguments.
#[derive(Debug, Default)]
pub(crate) struct Usage {
    pub(crate) effects: Vec<Effect>,
    /// The inner command: from this argument on.
    pub(crate) command: Option<usize>,
    /// Arguments that are global options, for the form without them.
    pub(crate) globals: Vec<usize>,
    /// Why not all of it is known.
    pub(crate) partial: Vec<String>,
    /// An option that is not known, or that is not literal, stands before the operands.
    pub(crate) opaque: bool,
    pub(crate) wrapper: Option<Wrapper>,
    pub(crate) special: Option<Special>,
    pub(crate) runs_input: bool,
    pub(crate) operands: Vec<usize>,
    pub(crate) options_given: Vec<&'static str>,
}

/// One effect of an option or operand.
#[derive(Debug, Clone)]
pub(crate) struct Effect {
    pub(crate) role: Role,
    /// The option, for people; `None` for an operand.
    pub(crate) option: Option<&'static str>,
    pub(crate) value: Option<Arg>,
    /// For [`Role::CommandUntil`]: the arguments of the command.
    pub(crate) range: Option<(usize, usize)>,
}

/// Reads the arguments behind a program's name: `args[0]` is the first of them.
pub(crate) fn read(model: &Model, args: &[Arg]) -> Usage {
    let mut reading = Reading {
        model,
        args,
        body: &model.root,
        path: Vec::new(),
        in_sub: false,
        usage: Usage::default(),
    };
    reading.run();
    reading.usage
}

struct Reading<'a> {
    model: &'a Model,
    args: &'a [Arg],
    body: &'a Body,
    /// Words of the subcommand so far.
    path: Vec<String>,
    in_sub: bool,
    usage: Usage,
}

impl<'a> Reading<'a> {
    fn style(&self) -> Style {
        let mut style = self.body.style;
        style.open |= self.model.root.style.open;
        style
    }

    fn run(&mut self) {
        let mut idx = 0;
        let mut options_end = false;
        if self.style().bundle {
            idx = self.bundle();
        }
        while let Some(arg) = self.args.get(idx) {
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
            if !options_end && prefix.is_empty() && arg.may_split() {
                self.partial("a word that is not known may be an option");
                self.usage.opaque = true;
            }
            if self.takes_command() {
                self.usage.command = Some(idx);
                break;
            }
            if !options_end && self.enters_sub(arg) {
                idx += 1;
                continue;
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
        dashed || (prefix.len() > 1 && prefix.starts_with('+') && self.style().numeric)
    }

    fn has_subs(&self) -> bool {
        !self.in_sub && !self.model.subs.is_empty()
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

    fn operand_roles(&self) -> &'a [Operand] {
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
        let mut path = self.path.clone();
        path.push(word.to_owned());
        let exact = self.model.subs.iter().find(|(sub, _)| *sub == path);
        let begins =
            self.model.subs.iter().any(|(sub, _)| {
                sub.len() > path.len() && sub.iter().zip(&path).all(|(a, b)| a == b)
            });
        if let Some(body) = exact.and_then(|(_, idx)| self.model.bodies.get(*idx)) {
            self.body = body;
            self.in_sub = true;
        } else if !begins {
            if !self.in_sub {
                self.partial(format!("the subcommand `{word}` is not known"));
            }
            return false;
        }
        self.path = path;
        true
    }

    /// Reads one option; the place of the next argument.
    fn option(&mut self, idx: usize) -> usize {
        let Some(arg) = self.args.get(idx) else {
            return idx + 1;
        };
        let before = !self.in_sub;
        let prefix = arg.prefix().to_owned();
        let next = if prefix.starts_with("--") || self.style().single_dash {
            self.long(idx, arg, &prefix)
        } else if self.style().numeric && is_number(&prefix) {
            idx + 1
        } else {
            self.cluster(idx, arg, &prefix, 1)
        };
        if before && !self.model.subs.is_empty() {
            self.usage.globals.extend(idx..next.min(self.args.len()));
        }
        next
    }

    fn long(&mut self, idx: usize, arg: &Arg, prefix: &str) -> usize {
        let (name, value_at) = match prefix.find('=') {
            Some(at) => (prefix.get(..at).unwrap_or_default(), Some(at + 1)),
            None => (prefix, None),
        };
        if value_at.is_none() && arg.known().is_none() {
            self.unknown_option(name);
            return idx + 1;
        }
        let Some(found) = self.find_long(name) else {
            self.unknown_option(name);
            return idx + 1;
        };
        match (found.arity, value_at) {
            (_, Some(at)) => {
                self.effect(found, Some(arg.without_prefix(at)));
                idx + 1
            }
            (Arity::Required, None) => self.next_value(idx, found),
            (Arity::None | Arity::Attached, None) => {
                if found.role == Role::CommandUntil {
                    return self.command_until(idx, found);
                }
                self.effect(found, None);
                idx + 1
            }
        }
    }

    fn next_value(&mut self, idx: usize, found: Opt) -> usize {
        if found.role == Role::CommandUntil {
            return self.command_until(idx, found);
        }
        if found.role == Role::Command {
            self.usage.options_given.push(found.name);
            self.usage.command = Some(idx + 1);
            return self.args.len();
        }
        self.effect(found, self.args.get(idx + 1).cloned());
        idx + 2
    }

    /// `-exec … ;`
    fn command_until(&mut self, idx: usize, found: Opt) -> usize {
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
                Arity::None => self.effect(found, None),
                Arity::Required | Arity::Attached if has_rest => {
                    self.effect(found, Some(arg.without_prefix(at)));
                    return idx + 1;
                }
                Arity::Attached => self.effect(found, None),
                Arity::Required => return self.next_value(idx, found),
            }
        }
        if arg.known().is_none() {
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

    fn tables(&self) -> impl Iterator<Item = &'a Opt> + use<'a> {
        let falls_back = self.in_sub && !self.model.root.style.globals_first;
        let globals: &'a [Opt] = if falls_back {
            &self.model.root.options
        } else {
            &[]
        };
        self.body.options.iter().chain(globals)
    }

    fn find_short(&self, c: char) -> Option<Opt> {
        let mut name = [0; 5];
        let (dash, rest) = name.split_first_mut()?;
        *dash = b'-';
        let len = 1 + c.encode_utf8(rest).len();
        let name = name.get(..len).and_then(|n| std::str::from_utf8(n).ok())?;
        self.tables().find(|opt| opt.name == name).copied()
    }

    /// A long option by its name or by a prefix of it; of several, the one with most effect.
    fn find_long(&self, name: &str) -> Option<Opt> {
        if let Some(exact) = self.tables().find(|opt| opt.name == name) {
            return Some(*exact);
        }
        if self.style().single_dash || name.len() < 3 {
            return None;
        }
        self.tables()
            .filter(|opt| opt.name.starts_with("--") && opt.name.starts_with(name))
            .max_by_key(|opt| opt.role)
            .copied()
    }

    fn effect(&mut self, found: Opt, value: Option<Arg>) {
        self.usage.options_given.push(found.name);
        if found.role != Role::Data {
            self.usage.effects.push(Effect {
                role: found.role,
                option: Some(found.name),
                value,
                range: None,
            });
        }
    }

    /// Gives the operands their roles.
    fn finish(&mut self) {
        let roles = self.operand_roles();
        let operands = self.usage.operands.clone();
        let n_fixed_after = roles
            .iter()
            .rev()
            .take_while(|operand| !operand.repeated)
            .count();
        let repeated = roles.iter().position(|operand| operand.repeated);
        for (n, idx) in operands.iter().enumerate() {
            let role = match repeated {
                Some(at) if n >= at => {
                    let from_end = operands.len() - n;
                    let role_idx = if from_end <= n_fixed_after {
                        roles.len() - from_end
                    } else {
                        at
                    };
                    roles.get(role_idx)
                }
                _ => roles.get(n),
            };
            let Some(role) = role.map(|operand| operand.role) else {
                continue;
            };
            let Some(arg) = self.args.get(*idx) else {
                continue;
            };
            let is_assignment = self.style().assigns && arg.prefix().contains('=');
            if role != Role::Data && !is_assignment {
                self.usage.effects.push(Effect {
                    role,
                    option: None,
                    value: Some(arg.clone()),
                    range: None,
                });
            }
        }
        for role in &self.body.always {
            self.usage.effects.push(Effect {
                role: *role,
                option: None,
                value: None,
                range: None,
            });
        }
        self.usage.wrapper = self.body.wrapper.or(self.model.wrapper);
        self.usage.special = self.body.special.or(self.model.root.special);
        self.usage.runs_input = self.style().runs_input;
    }
}

fn is_number(text: &str) -> bool {
    text.get(1..)
        .is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
}
