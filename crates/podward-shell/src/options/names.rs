//! Options by the names they are given on a command line.

use super::Reading;
use crate::arg::Arg;
use crate::programs::{Arity, Opt};

impl<'t> Reading<'t, '_> {
    pub(super) fn tables(&self) -> impl Iterator<Item = &'t Opt<'t>> + use<'t> {
        let falls_back = self.in_sub && !self.model.root.style.globals_first;
        let globals: &'t [Opt<'t>] = if falls_back {
            &self.model.root.options
        } else {
            &[]
        };
        self.body.options.iter().chain(globals)
    }

    pub(super) fn find_short(&self, c: char) -> Option<Opt<'t>> {
        let mut name = [0; 5];
        let (dash, rest) = name.split_first_mut()?;
        *dash = b'-';
        let len = 1 + c.encode_utf8(rest).len();
        let name = name.get(..len).and_then(|n| std::str::from_utf8(n).ok())?;
        let first = name.as_bytes().get(1);
        self.tables()
            .find(|opt| opt.name.as_bytes().get(1) == first && opt.name == name)
            .copied()
    }

    /// A long option by its name or by a prefix of it; of several, the one with most effect.
    pub(super) fn find_long(&self, name: &str) -> Option<Opt<'t>> {
        if let Some(exact) = self.tables().find(|opt| opt.name == name) {
            return Some(*exact);
        }
        if self.style().single_dash {
            // Most of these programs take two dashes for one.
            let short = name.get(1..).filter(|short| short.starts_with('-'))?;
            return self.tables().find(|opt| opt.name == short).copied();
        }
        if name.len() < 3 {
            return None;
        }
        self.tables()
            .filter(|opt| opt.name.starts_with("--") && opt.name.starts_with(name))
            .max_by_key(|opt| opt.role)
            .copied()
    }

    /// Whether it is an option of several letters behind one dash, such as `zip -TT`, or `+o`.
    pub(super) fn is_word(&self, word: &str) -> bool {
        let name = word.split('=').next().unwrap_or_default();
        (name.len() > 2 || name.starts_with('+'))
            && self
                .tables()
                .any(|opt| opt.name == name && opt.arity != Arity::Prefix)
    }

    /// An option whose name only begins as listed; the longest counts.
    pub(super) fn find_prefix(&self, word: &str) -> Option<Opt<'t>> {
        self.tables()
            .filter(|opt| opt.arity == Arity::Prefix && word.starts_with(opt.name))
            .max_by_key(|opt| opt.name.len())
            .copied()
    }

    /// An option of one dash with its value in the same word.
    pub(super) fn find_joined(&self, word: &str) -> Option<Opt<'t>> {
        self.find_prefix(word).or_else(|| {
            self.tables()
                .filter(|opt| self.style().joined && opt.arity == Arity::Required)
                .filter(|opt| word.starts_with(opt.name))
                .max_by_key(|opt| opt.name.len())
                .copied()
        })
    }

    /// Whether it switches off what an option that is listed does.
    pub(super) fn is_negated(&self, name: &str) -> bool {
        name.strip_prefix("--no-")
            .is_some_and(|rest| self.find_long(&format!("--{rest}")).is_some())
    }

    /// Whether only settings stand in front of the first task.
    pub(super) fn before_task(&self) -> bool {
        let mut operands = self.usage.operands.iter();
        self.style().tasks
            && operands.all(|idx| {
                self.args
                    .get(*idx)
                    .is_some_and(|arg| is_setting(arg.prefix()))
            })
    }

    /// `make -j 4`: a number is the value of an option that may have none.
    pub(super) fn takes_number(&self, option: &Arg, next: usize) -> bool {
        let is_number = |arg: &Arg| {
            let is_digit = |byte: u8| byte.is_ascii_digit() || byte == b'.';
            arg.known()
                .is_some_and(|text| !text.is_empty() && text.bytes().all(is_digit))
        };
        let may_have_one = |text: &str| {
            let is_long = |name: &str| self.find_long(text).is_some_and(|found| found.name == name);
            match text.starts_with("--") {
                true => ["--jobs", "--load-average", "--max-load"]
                    .into_iter()
                    .any(is_long),
                false => text.ends_with(['j', 'l']),
            }
        };
        self.style().tasks
            && self.style().numeric
            && option.known().is_some_and(may_have_one)
            && self.args.get(next).is_some_and(is_number)
    }
}

/// Whether an operand sets a variable: `V=1` in front of a task.
pub(crate) fn is_setting(operand: &str) -> bool {
    operand
        .split_once('=')
        .is_some_and(|(name, _)| !name.is_empty() && !name.contains(['/', ' ']))
}
