//! What bash's builtins mean for a command line.

mod variables;

use podward_policy::OperationIdx;

use crate::arg::Arg;
use crate::calls::{Call, Inner, Lookup};
use crate::operations::{Access, Bases};
use crate::walk::{Ran, Shell, Stdin, Walker, free, kept};
use crate::whereabouts::ScriptWord;

/// Builtins that need no rule.
const FREE: &[&str] = &[
    ":", "true", "false", "exit", "return", "break", "continue", "shift", "wait",
];

/// Options of `shopt` that change neither how text is read nor what names mean.
const SHOPT_HARMLESS: &[&str] = &[
    "nullglob",
    "failglob",
    "globstar",
    "nocaseglob",
    "nocasematch",
    "inherit_errexit",
    "checkwinsize",
    "histappend",
    "cmdhist",
    "huponexit",
    "autocd",
    "cdspell",
];

/// Names of `set -o` that change neither.
const SET_HARMLESS: &[&str] = &[
    "allexport",
    "errexit",
    "errtrace",
    "functrace",
    "noclobber",
    "noexec",
    "noglob",
    "nounset",
    "pipefail",
    "verbose",
    "xtrace",
    "monitor",
    "notify",
    "onecmd",
    PHYSICAL,
    "privileged",
    "hashall",
    "ignoreeof",
    "nolog",
    "emacs",
    "vi",
];

/// The option with which `cd` goes by what links lead to.
const PHYSICAL: &str = "physical";

/// Whether the shell runs a name itself: the builtins whose use this module reads, and those that
/// are plain text.
pub(crate) fn is_builtin(name: &str) -> bool {
    matches!(
        name,
        ":" | "."
            | "["
            | "alias"
            | "bg"
            | "bind"
            | "break"
            | "builtin"
            | "caller"
            | "cd"
            | "command"
            | "compgen"
            | "complete"
            | "compopt"
            | "continue"
            | "declare"
            | "dirs"
            | "disown"
            | "echo"
            | "enable"
            | "eval"
            | "exec"
            | "exit"
            | "export"
            | "false"
            | "fc"
            | "fg"
            | "getopts"
            | "hash"
            | "help"
            | "history"
            | "jobs"
            | "kill"
            | "let"
            | "local"
            | "logout"
            | "mapfile"
            | "popd"
            | "printf"
            | "pushd"
            | "pwd"
            | "read"
            | "readarray"
            | "readonly"
            | "return"
            | "set"
            | "shift"
            | "shopt"
            | "source"
            | "suspend"
            | "test"
            | "times"
            | "trap"
            | "true"
            | "type"
            | "typeset"
            | "ulimit"
            | "umask"
            | "unalias"
            | "unset"
            | "wait"
    )
}

/// Adds the operations of a builtin; `None` if the name is a program's.
pub(crate) fn call(
    walker: &mut Walker<'_, '_>,
    call: &Call<'_>,
    name: &str,
) -> Option<OperationIdx> {
    let args = call.args.get(1..).unwrap_or_default();
    if FREE.contains(&name) {
        // In a POSIX shell, what stands in front of some of them stays.
        let need = match kept(call.assignments).is_empty() {
            true => free(&call.demand),
            false => call.demand.need(),
        };
        let idx = walker.operation(call, &[], need);
        if name == "wait" {
            variables::wait(walker, call, args);
        }
        return Some(idx);
    }
    let full = call.demand.need();
    match name {
        "cd" | "pushd" | "popd" => return Some(directory(walker, call, name, args)),
        "set" => return Some(set(walker, call, args)),
        "command" | "builtin" | "exec" => return Some(lookup(walker, call, name, args)),
        _ if is_builtin(name) => {}
        _ => return None,
    }
    let is_word = |arg: &Arg| !arg.prefix().starts_with('-');
    let script = matches!(name, "source" | ".").then(|| args.iter().position(is_word));
    let script = script.flatten();
    let scripts: Vec<ScriptWord> = script.iter().map(|at| ScriptWord::whole(at + 1)).collect();
    let idx = walker.operation_with(call, &[], &scripts, full);
    match name {
        "eval" => eval(walker, call, args),
        "trap" => trap(walker, call, args),
        "source" | "." => {
            if let Some(script) = script.and_then(|at| args.get(at)) {
                walker.script_file(call, idx, script);
            }
            walker.bases = walker.bases.clone().lenient();
        }
        "shopt" => shopt(walker, call, args),
        "history" => history(walker, call, idx, args),
        _ => variables::effects(walker, call, name, args),
    }
    if let Some(why) = later_meaning(name, args) {
        unknown(walker, call, why);
    }
    Some(idx)
}

/// What a builtin changes about what later names and keys mean.
fn later_meaning(name: &str, args: &[Arg]) -> Option<&'static str> {
    match name {
        "alias" if args.iter().any(defines) => Some("an alias"),
        "hash" if !args.iter().all(only_lists) => Some("a change of where programs are found"),
        "enable" if !args.is_empty() => Some("a change of builtins"),
        "bind" if !args.is_empty() => Some("a key that runs commands"),
        "fc" => Some("commands of the history"),
        "complete" | "compgen" if !args.is_empty() => Some("a completion that runs commands"),
        _ => None,
    }
}

/// Whether an argument of `alias` may define one.
fn defines(arg: &Arg) -> bool {
    arg.has_hole() || arg.prefix().contains('=')
}

/// Whether an argument of `hash` changes nothing.
fn only_lists(arg: &Arg) -> bool {
    matches!(arg.known(), Some("-r" | "-l" | "-t"))
}

fn unknown(walker: &mut Walker<'_, '_>, call: &Call<'_>, why: &str) {
    walker.unknown(why, call.span, &call.demand);
}

/// `cd`: known directories inside the workspace need no rule.
fn directory(
    walker: &mut Walker<'_, '_>,
    call: &Call<'_>,
    name: &str,
    args: &[Arg],
) -> OperationIdx {
    let is_option = |arg: &&Arg| arg.prefix().starts_with('-') && arg.known() != Some("-");
    let n_options = args.iter().take_while(is_option).count();
    let end = args.iter().position(|arg| arg.known() == Some("--"));
    let n_options = end.map_or(n_options, |end| n_options.min(end + 1));
    let (options, operands) = args.split_at_checked(n_options).unwrap_or_default();
    let target = operands.first();
    let place = walker.sink.place;
    let mut before = walker.bases.clone();
    if options
        .iter()
        .any(|arg| arg.has_hole() || arg.prefix().contains('P'))
    {
        before = before.physical();
    }
    let bases = match (name, target) {
        ("popd", _) | ("pushd", None) => before.anywhere(),
        (_, Some(arg)) if arg.known() == Some("-") || arg.prefix().starts_with('+') => {
            before.anywhere()
        }
        (_, Some(arg)) => before.enter(arg, &place),
        (_, None) => home(walker, call, &before),
    };
    let is_known = !bases.is_unknown();
    let span = target.and_then(|arg| arg.span).or(call.span);
    // The command comes first; what it changes into follows.
    let need = if is_known && bases.is_inside(&place) && name == "cd" {
        free(&call.demand)
    } else {
        call.demand.need()
    };
    let idx = walker.operation(call, &[], need);
    walker.sink.directory(&bases, span);
    if !is_known {
        walker
            .sink
            .partial(idx, "a directory is not known before it runs");
    }
    walker.bases = bases;
    idx
}

/// Where `cd` alone leads.
fn home(walker: &Walker<'_, '_>, call: &Call<'_>, before: &Bases) -> Bases {
    let place = walker.sink.place;
    let mut assigned = call.assignments.iter().rev();
    let directory = match assigned.find(|(name, _)| name == "HOME") {
        Some((_, text)) if text.prefix().starts_with("HOME=") => {
            Some(text.without_prefix("HOME=".len()))
        }
        Some(_) => None,
        None => {
            let home = place
                .home
                .filter(|_| !walker.census.is_set("HOME", walker.by));
            home.map(|home| Arg::known_text(home, None))
        }
    };
    directory.map_or_else(|| before.anywhere(), |arg| before.enter(&arg, &place))
}

/// `set` with options only needs no rule.
fn set(walker: &mut Walker<'_, '_>, call: &Call<'_>, args: &[Arg]) -> OperationIdx {
    let mut only_options = !args.is_empty();
    let mut is_harmless = true;
    let mut idx = 0;
    let mut may_be_physical = false;
    let mut is_strict = walker.bases.is_strict();
    while let Some(arg) = args.get(idx) {
        idx += 1;
        may_be_physical |= arg.may_split();
        is_strict &= !arg.has_hole();
        let text = arg.known().unwrap_or_default();
        let is_option = text.len() > 1 && text.starts_with(['-', '+']) && text != "--";
        if !is_option {
            only_options &= false;
            break;
        }
        let letters = text.get(1..).unwrap_or_default();
        for letter in letters.chars() {
            if letter == 'o' {
                let name = args.get(idx).and_then(Arg::known).unwrap_or_default();
                is_harmless &= SET_HARMLESS.contains(&name);
                may_be_physical |= name == PHYSICAL;
                is_strict = match name {
                    "errexit" => text.starts_with('-'),
                    _ => is_strict,
                };
                idx += 1;
            } else {
                is_harmless &= "aefhmnuvxbCEPT".contains(letter);
                may_be_physical |= letter == 'P';
                is_strict = match letter {
                    'e' => text.starts_with('-'),
                    _ => is_strict,
                };
            }
        }
    }
    let need = if only_options && is_harmless && kept(call.assignments).is_empty() {
        free(&call.demand)
    } else {
        call.demand.need()
    };
    let operation = walker.operation(call, &[], need);
    walker.bases = match is_strict {
        true => walker.bases.clone().strict(),
        false => walker.bases.clone().lenient(),
    };
    if may_be_physical {
        walker.bases = walker.bases.clone().physical();
    }
    if !is_harmless {
        unknown(walker, call, "a change of how commands are read");
    }
    operation
}

/// `command`, `builtin` and `exec` run what follows them.
fn lookup(walker: &mut Walker<'_, '_>, call: &Call<'_>, name: &str, args: &[Arg]) -> OperationIdx {
    let mut start = 0;
    let mut only_looks = false;
    let mut opaque = false;
    while let Some(text) = args.get(start).map(Arg::prefix) {
        match (name, text) {
            (_, "--") => {
                start += 1;
                break;
            }
            ("command", "-v" | "-V" | "-pv" | "-pV") => only_looks = true,
            ("command", "-p") => {}
            ("exec", text) if is_exec_option(text) => {
                start += usize::from(text.ends_with('a'));
            }
            (_, text) if text.starts_with('-') && text.len() > 1 => opaque = true,
            _ => break,
        }
        start += 1;
    }
    let inner = args.get(start..).unwrap_or_default();
    let need = if opaque {
        call.demand.need()
    } else {
        free(&call.demand)
    };
    let idx = walker.operation(call, &[], need);
    if opaque {
        unknown(walker, call, "a wrapper with an option that is not known");
    }
    if inner.is_empty() {
        if name == "exec" && call.has_redirects && call.stdin != walker.context.stdin {
            walker.context.stdin = Stdin::File(None);
        }
        return idx;
    }
    if only_looks {
        return idx;
    }
    let runs = walker.run_inner(
        call,
        call.assignments,
        inner,
        Inner {
            demand: call.demand.later(start + 1),
            stdin: call.stdin.clone(),
            elsewhere: call.elsewhere,
            lookup: if name == "exec" {
                Lookup::Program
            } else {
                Lookup::Shell
            },
        },
    );
    walker.located_inside(call, idx, start + 1, inner, runs);
    walker.respelled(call, &[], idx);
    idx
}

/// Whether a word is made of options of `exec`: the value of a last `-a` is the next word.
fn is_exec_option(text: &str) -> bool {
    text.strip_prefix('-').is_some_and(|letters| {
        let flags = letters.strip_suffix('a').unwrap_or(letters);
        !letters.is_empty() && flags.chars().all(|c| matches!(c, 'c' | 'l'))
    })
}

fn eval(walker: &mut Walker<'_, '_>, call: &Call<'_>, args: &[Arg]) {
    let args = match args {
        [first, rest @ ..] if first.known() == Some("--") => rest,
        args => args,
    };
    if args.is_empty() {
        return;
    }
    let demand = call.demand.of_text();
    let ran = walker.joined_text(call, args, &demand, Shell::Own);
    defined(walker, call, ran.as_ref());
    // Where it ends is where this shell is.
    walker.bases = match ran {
        Some(ran) => walker.bases.clone().join(ran.after),
        None => walker.bases.or_anywhere(),
    };
}

/// Functions of a text are not seen by what follows it.
fn defined(walker: &mut Walker<'_, '_>, call: &Call<'_>, ran: Option<&Ran>) {
    if ran.is_some_and(|ran| ran.defines) {
        unknown(walker, call, "a function that is defined by a text");
    }
}

/// `history -w FILE` and `history -a FILE` write it, `-r` and `-n` read it.
fn history(walker: &mut Walker<'_, '_>, call: &Call<'_>, idx: OperationIdx, args: &[Arg]) {
    let [option, .., file] = args else {
        return;
    };
    if call.elsewhere {
        return;
    }
    let access = match option.known() {
        Some("-w" | "-a") => Access::Derived(Some(idx)),
        Some("-r" | "-n") => Access::Read,
        _ => return,
    };
    let bases = walker.bases.clone();
    walker.sink.path(file, access, &bases);
}

fn trap(walker: &mut Walker<'_, '_>, call: &Call<'_>, args: &[Arg]) {
    let mut operands = args
        .iter()
        .skip_while(|arg| matches!(arg.known(), Some("-l" | "-p" | "-lp" | "--")));
    let prints = args
        .first()
        .is_some_and(|arg| matches!(arg.known(), Some("-l" | "-p" | "-lp")));
    let (action, mut signals) = (operands.next(), operands.peekable());
    let (Some(action), Some(_)) = (action, signals.peek()) else {
        if args.iter().any(|arg| arg.may_split()) {
            unknown(walker, call, "a trap that is not known before it runs");
        }
        return;
    };
    if prints || matches!(action.known(), Some("-" | "")) {
        return;
    }
    let demand = call.demand.of_text();
    let text = std::slice::from_ref(action);
    let bases = walker.bases.clone();
    let ran = walker.joined_text(call, text, &demand, Shell::Own);
    defined(walker, call, ran.as_ref());
    if walker.differs_later() {
        walker.bases = bases.anywhere();
        walker.joined_text(call, text, &demand, Shell::Later);
    }
    walker.bases = bases;
    let is_at_end = |arg: &Arg| matches!(arg.known(), Some("EXIT" | "exit" | "0"));
    if !signals.all(is_at_end) {
        walker.is_trapped = true;
        if ran.is_none_or(|ran| ran.moves) {
            walker.bases = walker.bases.clone().wandering();
        }
    }
}

fn shopt(walker: &mut Walker<'_, '_>, call: &Call<'_>, args: &[Arg]) {
    let mut changes = false;
    let mut is_harmless = true;
    for arg in args {
        match arg.known() {
            Some(text) if text.starts_with('-') => changes |= text.contains(['s', 'u']),
            Some(text) => {
                is_harmless &= SHOPT_HARMLESS.contains(&text) || SET_HARMLESS.contains(&text);
                walker.bases = match text {
                    PHYSICAL => walker.bases.clone().physical(),
                    "errexit" => walker.bases.clone().lenient(),
                    _ => walker.bases.clone(),
                };
            }
            None => is_harmless = false,
        }
    }
    if changes && !is_harmless {
        unknown(walker, call, "a change of how commands are read");
    }
}
