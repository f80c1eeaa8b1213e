//! The builtins that set, read or test variables.

use super::unknown;
use crate::arg::{Arg, Part};
use crate::calls::Call;
use crate::environment;
use crate::limits;
use crate::values::Value;
use crate::walk::{self, Stdin, Walker, hides_code_text};

/// Adds what a builtin does with the variables that its arguments name.
pub(super) fn effects(walker: &mut Walker<'_, '_>, call: &Call<'_>, name: &str, args: &[Arg]) {
    match name {
        "export" | "declare" | "typeset" | "local" | "readonly" => {
            declaration(walker, call, name, args);
        }
        "mapfile" | "readarray" => {
            if args.iter().any(|arg| arg.prefix().starts_with("-C")) {
                unknown(walker, call, "a callback");
            }
            named(walker, call, name, args);
        }
        "read" => {
            named(walker, call, name, args);
            read(walker, call, args);
        }
        "getopts" => named(walker, call, name, args),
        "unset" => {
            for arg in args {
                let any = Arg::hole(podward_policy::HoleKind::Quoted, arg.span);
                walker.special_variable(arg.prefix(), &any, arg.span);
                walker.functions.unset(arg.known());
            }
            subscripts(walker, call, args);
        }
        "let" => {
            for arg in args {
                walker.evaluated(arg);
            }
            hidden(walker, args);
        }
        "printf" => {
            hidden(walker, args);
            named(walker, call, name, args);
            printed(walker, args);
        }
        "test" | "[" => {
            hidden(walker, args);
            if args
                .iter()
                .any(|arg| matches!(arg.known(), Some("-v" | "-R")))
            {
                subscripts(walker, call, args);
            }
        }
        _ => {}
    }
}

/// `wait -p x`: a builtin that needs no rule, so that the variable needs one.
pub(super) fn wait(walker: &mut Walker<'_, '_>, call: &Call<'_>, args: &[Arg]) {
    for arg in names("wait", args) {
        walker.sets(arg.prefix(), arg.span);
    }
    named(walker, call, "wait", args);
}

/// The variables that a builtin sets which its arguments name.
fn named(walker: &mut Walker<'_, '_>, call: &Call<'_>, name: &str, args: &[Arg]) {
    let names = names(name, args);
    for arg in &names {
        let any = Arg::hole(podward_policy::HoleKind::Quoted, arg.span);
        walker.sets_by_command(arg, &any);
    }
    subscripts(walker, call, &names);
}

/// The arguments of a builtin that name variables which it sets.
///
/// Source: bash(1) of bash 5.2, SHELL BUILTIN COMMANDS.
fn names(name: &str, args: &[Arg]) -> Vec<Arg> {
    // The options with values, and those of them whose value is a name.
    let (with_value, with_name) = match name {
        "read" => ("adinNptu", 'a'),
        "mapfile" | "readarray" => ("dnOsuCc", ' '),
        "wait" => ("p", 'p'),
        "printf" => ("v", 'v'),
        _ => ("", ' '),
    };
    let mut names = Vec::new();
    let mut rest = args.iter();
    let mut operands: Vec<Arg> = Vec::new();
    while let Some(arg) = rest.next() {
        let Some(letters) = arg.prefix().strip_prefix('-').filter(|l| !l.is_empty()) else {
            operands.push(arg.clone());
            break;
        };
        if letters == "-" {
            break;
        }
        let Some(at) = letters.find(|letter| with_value.contains(letter)) else {
            continue;
        };
        let attached = arg.without_prefix(at + 2);
        let is_attached = at + 1 < letters.len() || arg.has_hole();
        let value = match is_attached {
            true => Some(attached),
            false => rest.next().cloned(),
        };
        if letters.get(at..).is_some_and(|l| l.starts_with(with_name)) {
            names.extend(value);
        }
    }
    operands.extend(rest.cloned());
    match name {
        "read" => names.extend(operands),
        "mapfile" | "readarray" => names.extend(operands.into_iter().take(1)),
        "getopts" => names.extend(operands.into_iter().skip(1).take(1)),
        _ => {}
    }
    names
}

/// `read x <<< text`: the value of the one variable is the one line, if it is known.
fn read(walker: &mut Walker<'_, '_>, call: &Call<'_>, args: &[Arg]) {
    let names = match args {
        [option, rest @ ..] if option.known() == Some("-r") => rest,
        args => args,
    };
    let [name] = names else {
        return;
    };
    let (Some(name), Stdin::Known(text, _)) = (name.known(), &call.stdin) else {
        return;
    };
    // Of an input that is shared, as a loop's is, each call reads another line.
    let is_own = call.has_redirects && call.stdin != walker.context.stdin;
    let line = text.strip_suffix('\n').unwrap_or(text);
    let is_own = is_own && walker.census.is_untouched("IFS", walker.by);
    if is_own && call.assignments.is_empty() && !line.contains(['\n', '\\']) {
        let value = line.trim_matches([' ', '\t']).to_owned();
        remember(walker, name, value);
    }
}

/// `printf -v x format value`.
fn printed(walker: &mut Walker<'_, '_>, args: &[Arg]) {
    let [option, name, rest @ ..] = args else {
        return;
    };
    let (Some("-v"), Some(name)) = (option.known(), name.known()) else {
        return;
    };
    let rest: Option<Vec<&str>> = rest.iter().map(Arg::known).collect();
    let rest = rest.filter(|rest| !rest.first().is_some_and(|format| format.contains('\\')));
    if let Some(text) = rest.and_then(|rest| walk::printf(&rest)) {
        remember(walker, name, text);
    }
}

/// Keeps the value that a builtin gives a variable, if nothing else sets it.
fn remember(walker: &mut Walker<'_, '_>, name: &str, value: String) {
    let is_set_once = walker.census.is_set_once(name, walker.by);
    if is_set_once && value.len() <= limits::VALUE_BYTES && !name.contains('[') {
        walker.values.insert(name, Value::Scalar(value));
    }
}

fn declaration(walker: &mut Walker<'_, '_>, call: &Call<'_>, name: &str, args: &[Arg]) {
    let options: Vec<&str> = args
        .iter()
        .filter_map(Arg::known)
        .filter(|text| text.starts_with(['-', '+']))
        .collect();
    let exports = name == "export" || options.iter().any(|text| text.contains('x'));
    let is_integer = options
        .iter()
        .any(|text| text.starts_with('-') && text.contains('i'));
    let is_plain = options.is_empty();
    let refers = options
        .iter()
        .any(|text| text.starts_with('-') && text.contains('n'));
    for arg in args {
        let prefix = arg.prefix();
        let (variable, value) = match prefix.split_once('=') {
            Some((variable, _)) => {
                let variable = variable.strip_suffix('+').unwrap_or(variable);
                let at = prefix.find('=').map_or(0, |at| at + 1);
                (variable, Some(arg.without_prefix(at)))
            }
            None => (prefix, None),
        };
        if prefix.starts_with(['-', '+']) {
            continue;
        }
        if refers {
            reference(walker, variable, value.as_ref(), arg);
        }
        if let Some(value) = &value {
            walker.sets_by_command(&Arg::known_text(variable, arg.span), value);
            if is_integer {
                walker.evaluated(value);
            }
            if is_plain
                && walker.census.is_set_once(variable, walker.by)
                && let Some(text) = value.known()
            {
                walker
                    .values
                    .insert(variable, Value::Scalar(text.to_owned()));
            }
        }
        if exports && environment::is_special(variable) && value.is_some() {
            walker.unknown(
                "a variable that changes what later commands do",
                arg.span,
                &call.demand,
            );
        }
        if prefix.is_empty() && arg.has_hole() {
            walker.unknown("a variable whose name is not known", arg.span, &call.demand);
        }
    }
    subscripts(walker, call, args);
}

/// Another name for a variable: what sets the one sets the other.
fn reference(walker: &mut Walker<'_, '_>, name: &str, target: Option<&Arg>, arg: &Arg) {
    // A loop gives a reference other targets, as does an assignment where it has none.
    let is_looped = walker
        .script
        .loops
        .iter()
        .any(|(looped, ..)| looped == name);
    match target {
        Some(target) if target.known().is_some() && !is_looped => {
            let any = Arg::hole(podward_policy::HoleKind::Quoted, arg.span);
            walker.sets_by_command(target, &any);
            walker.evaluated_subscript(target);
        }
        _ => walker.unknown_variable(arg.span),
    }
}

/// Arguments whose quoted subscripts hold code.
fn hidden(walker: &mut Walker<'_, '_>, args: &[Arg]) {
    for arg in args {
        let text: String = arg
            .parts()
            .iter()
            .map(|part| match part {
                Part::Known(text) => text.clone(),
                Part::Glob(c) => c.to_string(),
                Part::Tilde(_) | Part::Hole(..) => " ".to_owned(),
            })
            .collect();
        if hides_code_text(&text) {
            walker
                .sink
                .unknown("code in the subscript of an operand", arg.span);
        }
    }
}

/// Arguments that name variables: a subscript that is not known may hold code.
fn subscripts(walker: &mut Walker<'_, '_>, call: &Call<'_>, args: &[Arg]) {
    hidden(walker, args);
    for arg in args {
        walker.evaluated_subscript(arg);
        let before_value = arg.prefix().split('=').next().unwrap_or_default();
        let opens = before_value.contains('[') && !before_value.contains(']');
        let globs = matches!(arg.parts(), [Part::Known(_), Part::Glob('['), ..]);
        if arg.has_hole() && (opens || globs) {
            walker.unknown(
                "the subscript of an operand is not known",
                arg.span,
                &call.demand,
            );
        }
    }
}
