//! How many words of a command say what it runs: what a remembered approval may leave open.

use crate::arg::Arg;
use crate::options::{self, Usage};
use crate::programs::{Body, Model, Operand, PROGRAMS, Role, Special, Wrapper};
use crate::{AddedPrograms, limits};

/// The words at the front of a command that must stay as they are so that no other program, script
/// or text of code takes their place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Words up to the program's name; of a wrapper, up to the name of the program that it runs.
    /// `None`: the program runs whatever its arguments say (shells, interpreters, wrappers and
    /// package runners, what has such subcommands, and what runs commands that it is told in a dialogue).
    /// Code in other arguments is an operation of its own.
    pub program: Option<usize>,
    /// The same, but also where a program runs commands that it is told in a dialogue: the command stays
    /// what it is while only values in it change.
    pub name: Option<usize>,
    /// Words up to the end of the subcommand, the task, or the script that an interpreter runs.
    /// `None`: there is none, or all the words together are what is run.
    pub subcommand: Option<usize>,
}

impl Head {
    /// Only the whole command says what it runs.
    const WHOLE: Self = Self {
        program: None,
        name: None,
        subcommand: None,
    };

    fn behind(self, n_words: usize) -> Self {
        Self {
            program: self.program.map(|n| n_words + n),
            name: self.name.map(|n| n_words + n),
            subcommand: self.subcommand.map(|n| n_words + n),
        }
    }
}

/// Reads the words of a command, quotes removed; assignments may stand in front.
///
/// ```
/// use podward_shell::{AddedPrograms, head};
///
/// let none = AddedPrograms::default();
/// let of = |command: &str| head(&command.split(' ').collect::<Vec<_>>(), &none);
/// assert_eq!(of("git -C d push origin").subcommand, Some(4));
/// assert_eq!(of("git -C d push origin").program, Some(1));
/// // `\\!` in what it reads runs anything.
/// assert_eq!(of("psql -l").program, None);
/// assert_eq!(of("psql -l").name, Some(1));
/// // Nothing less than the whole command may be remembered.
/// assert_eq!(of("bash -c ls").program, None);
/// assert_eq!(of("bash -c ls").subcommand, None);
/// ```
#[must_use]
pub fn head(words: &[&str], added: &AddedPrograms) -> Head {
    let n_assignments = words.iter().take_while(|word| is_assignment(word)).count();
    let words = words.get(n_assignments..).unwrap_or_default();
    let args: Vec<Arg> = words
        .iter()
        .map(|word| Arg::known_text(word, None))
        .collect();
    of_program(&args, added, 0).behind(n_assignments)
}

/// Builtins that run a text or a file, or change what names mean.
const CODE_BUILTINS: &[&str] = &[
    ".",
    "alias",
    "bind",
    "compgen",
    "complete",
    "enable",
    "eval",
    "export",
    "declare",
    "fc",
    "hash",
    "mapfile",
    "readarray",
    "set",
    "shopt",
    "source",
    "trap",
    "typeset",
    "unset",
];

/// Interpreters that no style or role of their models tells from other programs.
const INTERPRETERS: &[&str] = &[
    "java", "javaw", "gdb", "lldb", "emacs", "vim", "nvim", "vi", "ex",
];

/// Programs that run the script, the program or the task that they are given, whatever their models
/// say.
const RUN_WHAT_IS_NAMED: &[&str] = &[
    "electron",
    "groovy",
    "jshell",
    "kotlin",
    "scala",
    "scala-cli",
    "swift",
    "wine",
    "wine64",
];

/// Programs whose arguments may be commands, here or on another machine, whatever their models say.
const RUN_ANYTHING: &[&str] = &[
    "ansible",
    "autossh",
    "corepack",
    "limactl",
    "machinectl",
    "mosh",
    "nc",
    "ncat",
    "netcat",
    "socat",
];

/// Subcommands of package runners that run what is named behind them, in another place.
const RUN_OTHERS: &[&str] = &["explore", "foreach", "node", "workspace", "workspaces"];

fn of_program(args: &[Arg], added: &AddedPrograms, depth: usize) -> Head {
    let Some(name) = args.first().and_then(Arg::known) else {
        return Head::WHOLE;
    };
    let base = name.rsplit('/').next().unwrap_or(name);
    let rest = args.get(1..).unwrap_or_default();
    if depth >= limits::WRAPPERS || base.is_empty() {
        return Head::WHOLE;
    }
    if matches!(base, "command" | "builtin" | "exec") {
        let has_option = rest.first().is_none_or(|arg| arg.prefix().starts_with('-'));
        return match has_option {
            true => Head::WHOLE,
            false => of_program(rest, added, depth + 1).behind(1),
        };
    }
    if CODE_BUILTINS.contains(&base) || RUN_ANYTHING.contains(&base) || base.starts_with("qemu-") {
        return Head::WHOLE;
    }
    if RUN_WHAT_IS_NAMED.contains(&base) {
        // Options may be text that is run.
        let named = rest.first().and_then(Arg::known);
        return Head {
            program: None,
            name: None,
            subcommand: named.filter(|word| !word.starts_with('-')).map(|_| 2),
        };
    }
    if let Some(model) = PROGRAMS.get(base) {
        return of_model(base, model, rest, added, depth);
    }
    match added.get(base) {
        Some(model) => of_model(base, &model, rest, added, depth),
        None => Head {
            program: Some(1),
            name: Some(1),
            subcommand: guessed(rest).map(|n| 1 + n),
        },
    }
}

fn of_model(
    base: &str,
    model: &Model<'_>,
    args: &[Arg],
    added: &AddedPrograms,
    depth: usize,
) -> Head {
    let usage = options::read(model, args);
    if usage.effects.iter().any(|effect| is_code(effect.role)) || usage.opaque {
        return Head::WHOLE;
    }
    if usage.command.is_none()
        && let Some(sub) = own_subcommand(model, &usage, args)
    {
        // A package runner does something of its own (`yarn build`, `pnpm i`).
        return Head {
            program: None,
            name: None,
            subcommand: subcommand(model, &usage, args)
                .filter(|_| !RUN_OTHERS.contains(&sub) && !names_no_task(&usage, sub))
                .map(|n| n + 1),
        };
    }
    if usage.wrapper.is_some() || usage.command.is_some() {
        return of_wrapper(&usage, args, added, depth);
    }
    let first_role = usage.roles.first().map(|operand| operand.role);
    let first = usage.operands.first().copied();
    // Code that an operand may name is an operation of its own where it does.
    let may_be_unknown = matches!(first_role, Some(Role::Code | Role::Exec));
    if first_role.is_some_and(is_code) && !may_be_unknown {
        return Head::WHOLE;
    }
    let is_shell = usage.special == Some(Special::Shell);
    let has_text = |option: &&str| matches!(*option, "-c" | "-s");
    if is_shell && usage.options_given.iter().any(has_text) {
        return Head::WHOLE;
    }
    if usage.runs_input || is_shell || names_code(first_role) {
        let script = first.filter(|idx| args.get(*idx).and_then(Arg::known) != Some("-"));
        // Behind the script options are its own, unless they may stand anywhere.
        return Head {
            program: None,
            name: None,
            subcommand: script.map(|idx| idx + 2),
        };
    }
    let name =
        (!INTERPRETERS.contains(&base) && !model.bodies.iter().any(runs_anything)).then_some(1);
    Head {
        program: name.filter(|_| !model.root.style.dialogue),
        name,
        subcommand: subcommand(model, &usage, args).map(|n| n + 1),
    }
}

/// Arguments up to the end of the subcommand or the task.
fn subcommand(model: &Model<'_>, usage: &Usage<'_>, args: &[Arg]) -> Option<usize> {
    let first = usage.operands.first().copied();
    if usage.n_subcommand > 0 {
        let last = args.get(usage.n_subcommand - 1).and_then(Arg::known);
        // `npm run build`: the task is what is run.
        return match (last, first) {
            (Some("run" | "run-script"), Some(first)) => Some(first + 1),
            _ => Some(usage.n_subcommand),
        };
    }
    match model.root.style.tasks || !model.subs.is_empty() {
        true => first.map(|idx| idx + 1),
        false => None,
    }
}

/// Whether it would run a task, or a program where there is no such task, and does not say which.
fn names_no_task(usage: &Usage<'_>, subcommand: &str) -> bool {
    subcommand == "run" && usage.operands.is_empty()
}

/// The last word of a subcommand of a package runner that is no runner itself.
fn own_subcommand<'a>(model: &Model<'_>, usage: &Usage<'_>, args: &'a [Arg]) -> Option<&'a str> {
    let word = args.get(usage.n_subcommand.checked_sub(1)?)?.known()?;
    let runs = |operand: &Operand| matches!(operand.role, Role::Command | Role::CommandUntil);
    let mut bodies = model
        .subs
        .iter()
        .filter(|(words, _)| words.last() == Some(&word))
        .filter_map(|(_, idx)| model.bodies.get(*idx));
    let is_own = bodies.all(|body| body.wrapper.is_none() && !body.operands.iter().any(runs));
    (model.root.wrapper.is_some() && is_own).then_some(word)
}

/// The head of a wrapper reaches on to the command that it runs.
fn of_wrapper(usage: &Usage<'_>, args: &[Arg], added: &AddedPrograms, depth: usize) -> Head {
    let runs_text = matches!(usage.special, Some(Special::Ssh | Special::Parallel));
    let has_entrypoint = usage
        .values
        .iter()
        .any(|(option, _)| *option == "--entrypoint");
    let Some(start) = usage.command else {
        return Head::WHOLE;
    };
    if runs_text || has_entrypoint || usage.command_head.is_some() {
        return Head::WHOLE;
    }
    let is_skipped = |arg: &&Arg| {
        let is_assigned = usage.special == Some(Special::Env) && is_assignment(arg.prefix());
        is_assigned || matches!(arg.known(), Some("--" | "-"))
    };
    let n_skipped = args.iter().skip(start).take_while(is_skipped).count();
    let start = start + n_skipped;
    let inner = args.get(start..).unwrap_or_default();
    of_program(inner, added, depth + 1).behind(start + 1)
}

/// Whether a word sets a variable: `NAME=value`.
fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    })
}

/// Whether a subcommand runs what its arguments name, and nobody else is asked about that.
fn runs_anything(body: &Body<'_>) -> bool {
    let speaks_for_inner = body.wrapper.is_some_and(Wrapper::speaks_for_inner);
    let runs_code = body.operands.first().is_some_and(|operand| {
        matches!(operand.role, Role::Inline | Role::RemoteShell) || names_code(Some(operand.role))
    });
    speaks_for_inner || runs_code || body.style.runs_input
}

/// Whether an operand names a script, or is a program text that is known.
const fn names_code(role: Option<Role>) -> bool {
    matches!(role, Some(Role::Script | Role::Awk))
}

/// Whether an argument is code, or a command in the midst of others.
const fn is_code(role: Role) -> bool {
    match role {
        Role::Inline
        | Role::Shell
        | Role::ShellText
        | Role::RemoteShell
        | Role::CommandUntil
        | Role::Code
        | Role::Exec => true,
        Role::Data
        | Role::Read
        | Role::Fetch
        | Role::ReadOrFetch
        | Role::Url
        | Role::AtFile
        | Role::NamedFile
        | Role::NamedOutput
        | Role::ProgramOrFile
        | Role::Cookie
        | Role::WriteOut
        | Role::HttpItem
        | Role::RevisionFile
        | Role::Restored
        | Role::Mount
        | Role::Chdir
        | Role::Write
        | Role::Below
        | Role::Move
        | Role::Output
        | Role::InPlace
        | Role::Sed
        | Role::Awk
        | Role::Script
        | Role::Command
        | Role::Module => false,
    }
}

/// The subcommand of a program without a model: a first word that looks like one.
fn guessed(args: &[Arg]) -> Option<usize> {
    let word = args.first().and_then(Arg::known)?;
    let looks_like_one = word.starts_with(|c: char| c.is_ascii_lowercase())
        && word
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':'));
    looks_like_one.then_some(1)
}

#[cfg(test)]
mod tests;
