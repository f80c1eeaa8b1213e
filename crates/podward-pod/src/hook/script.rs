//! Which arguments of a program are scripts that it runs.

#[cfg(test)]
mod tests;

use std::path::Path;

use podward_manifest::HookArgument;

/// A program that runs a script, and its options.
struct Interpreter {
    names: &'static [&'static str],
    /// Letters after which no script comes: code, a module, standard input.
    code: &'static str,
    /// Letters that take the next word.
    valued: &'static str,
    /// Whether long options but [`LONG_VALUED`] take no word.
    has_known_long: bool,
}

const INTERPRETERS: &[Interpreter] = &[
    Interpreter {
        names: &["bash", "dash", "ksh", "sh", "zsh"],
        code: "cs",
        valued: "oO",
        has_known_long: true,
    },
    Interpreter {
        names: &["fish"],
        code: "c",
        valued: "Cdo",
        has_known_long: false,
    },
    Interpreter {
        names: &["python", "python3"],
        code: "cm",
        valued: "WX",
        has_known_long: false,
    },
    Interpreter {
        names: &["node"],
        code: "ep",
        valued: "rC",
        has_known_long: false,
    },
    Interpreter {
        names: &["perl"],
        code: "eE",
        valued: "I",
        has_known_long: false,
    },
    Interpreter {
        names: &["ruby"],
        code: "e",
        valued: "CEIr",
        has_known_long: false,
    },
    Interpreter {
        names: &["php"],
        code: "BEFRr",
        valued: "cdz",
        has_known_long: false,
    },
    Interpreter {
        names: &["lua"],
        code: "",
        valued: "el",
        has_known_long: false,
    },
];

/// Long options of shells that take the next word.
const LONG_VALUED: &[&str] = &["--init-file", "--rcfile"];

/// Programs that run the program among their arguments.
const WRAPPERS: &[&str] = &[
    "chrt", "env", "ionice", "nice", "nohup", "setsid", "stdbuf", "sudo", "taskset", "time",
    "timeout",
];

/// The ends of names of scripts.
const ENDINGS: &[&str] = &[
    "awk", "bash", "cjs", "fish", "jq", "js", "lua", "mjs", "php", "pl", "py", "rb", "sed", "sh",
    "ts", "zsh",
];

/// The arguments that an interpreter runs, be it the program itself or what a wrapper runs.
pub(super) fn scripts(program: &Path, arguments: &[HookArgument]) -> Vec<usize> {
    let mut scripts = Vec::new();
    if let Some(interpreter) = interpreter(program) {
        scripts.extend(script(interpreter, arguments, 0));
    }
    let is_wrapper = |name: &str| WRAPPERS.contains(&name);
    let name = program.file_name().and_then(|name| name.to_str());
    if name.is_some_and(is_wrapper) {
        let found = arguments.iter().enumerate().find_map(|(idx, argument)| {
            let path = match argument {
                HookArgument::Path(path) => path,
                HookArgument::Text(text) => Path::new(text),
            };
            Some((idx, interpreter(path)?))
        });
        if let Some((idx, interpreter)) = found {
            scripts.extend(script(interpreter, arguments, idx + 1));
        }
    }
    scripts
}

/// Whether an argument is named like a script.
pub(super) fn is_named_like_a_script(argument: &HookArgument) -> bool {
    let path = match argument {
        HookArgument::Path(path) => path,
        HookArgument::Text(text) if text.starts_with('-') || text.contains(char::is_whitespace) => {
            return false;
        }
        HookArgument::Text(text) => Path::new(text),
    };
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| ENDINGS.contains(&ending))
}

fn interpreter(program: &Path) -> Option<&'static Interpreter> {
    let name = program.file_name()?.to_str()?;
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    INTERPRETERS.iter().find(|interpreter| {
        let mut names = interpreter.names.iter();
        names.any(|known| *known == name || *known == stem)
    })
}

/// The argument that an interpreter runs, from a place on: the first that is no option.
fn script(interpreter: &Interpreter, arguments: &[HookArgument], from: usize) -> Option<usize> {
    let mut words = arguments.iter().enumerate().skip(from);
    while let Some((idx, argument)) = words.next() {
        let text = match argument {
            HookArgument::Path(_) => return Some(idx),
            HookArgument::Text(text) => text.as_str(),
        };
        let takes_next = match text {
            "-" => return None,
            "--" => return words.next().map(|(idx, _)| idx),
            _ if text.starts_with("--") => {
                if !interpreter.has_known_long {
                    // What follows may be its value.
                    return None;
                }
                LONG_VALUED.contains(&text)
            }
            _ if text.starts_with('-') || (interpreter.has_known_long && text.starts_with('+')) => {
                takes_next(interpreter, text.get(1..).unwrap_or_default())?
            }
            _ => return Some(idx),
        };
        if takes_next {
            words.next();
        }
    }
    None
}

/// Whether letters of options take the next word; `None`: no script follows.
fn takes_next(interpreter: &Interpreter, letters: &str) -> Option<bool> {
    let mut letters = letters.chars();
    while let Some(letter) = letters.next() {
        if interpreter.code.contains(letter) {
            return None;
        }
        if interpreter.valued.contains(letter) {
            return Some(letters.next().is_none());
        }
    }
    Some(false)
}
