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
            set(walker, call, args);
        }
        "read" => {
            set(walker, call, args);
            read(walker, call, args);
        }
        "getopts" => set(walker, call, args),
        "unset" => {
            set(walker, call, args);
            for arg in args {
                walker.functions.unset(arg.known());
            }
        }
        "let" => {
            for arg in args {
                walker.arithmetic_operand(arg);
            }
            hidden(walker, args);
        }
        "printf" => {
            hidden(walker, args);
            if let Some(at) = args.iter().position(|arg| arg.known() == Some("-v")) {
                set(walker, call, args.get(at + 1..at + 2).unwrap_or_default());
            }
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

/// Variables that a builtin sets.
pub(super) fn set(walker: &mut Walker<'_, '_>, call: &Call<'_>, args: &[Arg]) {
    names(walker, args);
    subscripts(walker, call, args);
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

/// Arguments that name variables which a builtin sets.
fn names(walker: &mut Walker<'_, '_>, args: &[Arg]) {
    for arg in args {
        let name = arg.prefix().split('[').next().unwrap_or_default();
        let value = Arg::hole(podward_policy::HoleKind::Quoted, arg.span);
        walker.special_variable(name, &value, arg.span);
    }
}

fn declaration(walker: &mut Walker<'_, '_>, call: &Call<'_>, name: &str, args: &[Arg]) {
    let options: Vec<&str> = args
        .iter()
        .filter_map(Arg::known)
        .filter(|text| text.starts_with(['-', '+']))
        .collect();
    let exports = name == "export" || options.iter().any(|text| text.contains('x'));
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
        if let Some(value) = &value {
            walker.special_variable(variable, value, arg.span);
            if refers {
                // What sets this name sets the other one.
                let name = value.prefix().split('[').next().unwrap_or_default();
                let any = Arg::hole(podward_policy::HoleKind::Quoted, arg.span);
                walker.special_variable(name, &any, arg.span);
                if value.known().is_none() {
                    walker.unknown("a variable whose name is not known", arg.span, &call.demand);
                }
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
