//! What is known once all arguments are read: roles of operands, and of options that depend on
//! others.

use super::{Effect, Reading};
use crate::arg::Arg;
use crate::programs::{Operand, Role, Wrapper};

impl Reading<'_, '_> {
    /// Gives the operands their roles.
    pub(super) fn finish(&mut self) {
        let roles = self.operand_roles();
        self.usage.roles = roles;
        let operands = self.usage.operands.clone();
        let n_fixed_after = roles
            .iter()
            .rev()
            .take_while(|operand| !operand.repeated)
            .count();
        let repeated = roles.iter().position(|operand| operand.repeated);
        let first_path = self.args.iter().position(|arg| arg.known() == Some("--"));
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
            let role = match first_path {
                Some(first) if *idx > first => behind_dashes(role),
                _ => role,
            };
            let is_script = matches!(role, Role::Awk | Role::Sed);
            let is_assignment = self.style().assigns && !is_script && assigns(arg.prefix());
            let is_elsewhere = self.style().hosts && names_host(arg.prefix());
            if role == Role::Script {
                self.usage.scripts.push(*idx);
            }
            if role != Role::Data && !is_assignment && !is_elsewhere {
                self.usage.effects.push(Effect {
                    role,
                    option: None,
                    value: Some(arg.clone()),
                    range: None,
                });
            }
        }
        self.given();
        self.keys();
        self.harmless();
        self.always();
        self.usage.wrapper = match self.usage.is_module {
            true => Some(Wrapper::Runner),
            false => self.body.wrapper.or(self.model.wrapper),
        };
        self.usage.runs.extend(&self.body.runs);
        if self.in_sub {
            self.usage.runs.extend(&self.model.root.runs);
        }
        self.usage.special = self.body.special.or(self.model.root.special);
        self.usage.runs_input = self.style().runs_input;
        self.usage.is_told = self.is_told();
    }

    /// Whether commands come from its input: neither an option nor an operand says what to do.
    fn is_told(&self) -> bool {
        let Some(unless) = &self.body.told else {
            return false;
        };
        let is_code =
            |operand: &Operand| matches!(operand.role, Role::Code | Role::Inline | Role::Script);
        let first = self.usage.roles.iter().position(is_code);
        let operands = self
            .usage
            .operands
            .iter()
            .filter_map(|idx| self.args.get(*idx));
        let n_sure = operands.filter(|arg| !arg.may_split()).count();
        let given = &self.usage.options_given;
        !unless.iter().any(|option| given.contains(option)) && first.is_none_or(|at| n_sure <= at)
    }

    /// What happens whatever the arguments are.
    fn always(&mut self) {
        for (role, unless) in &self.body.always {
            if unless
                .iter()
                .any(|option| self.usage.options_given.contains(option))
            {
                continue;
            }
            self.usage.effects.push(Effect {
                role: *role,
                option: None,
                value: None,
                range: None,
            });
        }
    }

    /// What options are when others are given with them.
    fn given(&mut self) {
        for given in &self.body.given {
            let is_given = given
                .if_any
                .iter()
                .any(|option| self.usage.options_given.contains(option));
            for effect in &mut self.usage.effects {
                if is_given && effect.option.is_some_and(|o| given.options.contains(&o)) {
                    effect.role = given.role;
                }
            }
        }
    }

    /// Options that have an effect only for some keys.
    fn keys(&mut self) {
        for (options, keys) in self.body.keys.iter().chain(&self.model.root.keys) {
            self.usage.effects.retain(|effect| {
                let value = effect.value.as_ref();
                match effect.option {
                    Some(option) => !options.contains(&option) || has_key(value, keys),
                    None if effect.role == Role::Code && options.contains(&"operand") => {
                        // A word of which nothing is known may be an option as well.
                        value.is_none_or(|v| !v.prefix().is_empty() && has_key(value, keys))
                    }
                    None => true,
                }
            });
        }
    }

    /// Options that run code, but not for some keys.
    fn harmless(&mut self) {
        for (options, keys) in &self.model.root.harmless {
            self.usage.effects.retain(|effect| {
                effect.role != Role::Code
                    || effect.option.is_none_or(|o| !options.contains(&o))
                    || !effect
                        .value
                        .as_ref()
                        .is_some_and(|value| has_harmless_key(value, keys))
            });
        }
    }
}

/// Behind `--` git takes no revisions, only paths.
const fn behind_dashes(role: Role) -> Role {
    match role {
        Role::RevisionFile => Role::Read,
        Role::Restored => Role::Write,
        role => role,
    }
}

/// Whether an operand is `name=value`.
fn assigns(operand: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    operand
        .split_once('=')
        .is_some_and(|(name, _)| name.chars().all(is_name))
}

/// Whether a path begins with the name of a machine, as `host:path` and `s3://bucket`.
fn names_host(path: &str) -> bool {
    path.split('/')
        .next()
        .is_some_and(|first| first.contains(':'))
}

/// Whether the key of `key=value`, `key value` is one of these, or is not known.
fn has_key(value: Option<&Arg>, keys: &[&str]) -> bool {
    let Some(value) = value else {
        return true;
    };
    let text = value.prefix().trim_start_matches([' ', '\t', '"', '=']);
    let end = text.find(['=', ' ', '\t', '"']).unwrap_or(text.len());
    let key = text.get(..end).unwrap_or_default().to_ascii_lowercase();
    let is_whole = end < text.len() || value.known().is_some();
    let whole = value.prefix().to_ascii_lowercase();
    let is_key = |listed: &&str| match listed.strip_prefix('*') {
        Some(part) => whole.contains(part),
        None => key.strip_prefix(listed).is_some_and(|rest| {
            let is_open = !listed.ends_with(|c: char| c.is_alphanumeric() || c == '_');
            rest.is_empty() || rest.starts_with(':') || is_open
        }),
    };
    // A key that is known in part may be one that begins so.
    let may_be_key =
        |listed: &&str| !is_whole && (listed.starts_with(['*', '\\']) || listed.starts_with(&key));
    keys.iter()
        .any(|listed| is_key(listed) || may_be_key(listed))
}

/// Whether `key=value` is known to have one of these keys, and is one word for sure.
fn has_harmless_key(value: &Arg, keys: &[&str]) -> bool {
    let whole = value.known().map(|key| (key, ""));
    let Some((key, _)) = value.prefix().split_once('=').or(whole) else {
        return false;
    };
    let key = key.to_ascii_lowercase();
    !value.may_split()
        && keys.iter().any(|listed| match listed.strip_suffix('.') {
            Some(section) => key
                .strip_prefix(section)
                .is_some_and(|rest| rest.starts_with('.')),
            None => key == *listed,
        })
}
