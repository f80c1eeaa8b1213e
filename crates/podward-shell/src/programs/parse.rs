//! The format of the files in `programs/`.

use super::{Arity, Body, Given, Model, Operand, Opt, Programs, Role, Special, Wrapper};

/// A line that says nothing known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) family: &'static str,
    pub(crate) line: usize,
    pub(crate) what: String,
}

const ROLES: &[(&str, Role)] = &[
    ("data", Role::Data),
    ("flags", Role::Data),
    ("read", Role::Read),
    ("fetch", Role::Fetch),
    ("read-or-fetch", Role::ReadOrFetch),
    ("url", Role::Url),
    ("at-file", Role::AtFile),
    ("mount", Role::Mount),
    ("chdir", Role::Chdir),
    ("write", Role::Write),
    ("move", Role::Move),
    ("output", Role::Output),
    ("in-place", Role::InPlace),
    ("sed", Role::Sed),
    ("awk", Role::Awk),
    ("script", Role::Script),
    ("inline", Role::Inline),
    ("shell", Role::Shell),
    ("command", Role::Command),
    ("command-until", Role::CommandUntil),
    ("code", Role::Code),
    ("exec", Role::Exec),
];

const SPECIALS: &[(&str, Special)] = &[
    ("dd", Special::Dd),
    ("env", Special::Env),
    ("find", Special::Find),
    ("git-config", Special::GitConfig),
    ("xargs", Special::Xargs),
    ("shell", Special::Shell),
    ("ssh", Special::Ssh),
    ("tar", Special::Tar),
    ("parallel", Special::Parallel),
];

/// Adds the programs of one file.
pub(super) fn family(family: &'static str, text: &'static str, programs: &mut Programs) {
    let mut model: Option<Model> = None;
    let mut names: Vec<&'static str> = Vec::new();
    for (idx, line) in text.lines().enumerate() {
        let line = match line.find('#') {
            Some(at) if at == 0 || line.get(..at).is_some_and(|l| l.ends_with(' ')) => {
                line.get(..at).unwrap_or_default()
            }
            _ => line,
        };
        let mut words = line.split_ascii_whitespace();
        let Some(keyword) = words.next() else {
            continue;
        };
        let mut problem = |what: &str| {
            programs.problems.push(Problem {
                family,
                line: idx + 1,
                what: what.to_owned(),
            });
        };
        if keyword == "program" {
            let new_names: Vec<&'static str> = words.collect();
            if new_names.is_empty() {
                problem("a program without a name");
            }
            finish(family, programs, model.replace(Model::default()), &names);
            names = new_names;
            continue;
        }
        let Some(model) = &mut model else {
            problem("a line before the first program");
            continue;
        };
        if let Err(what) = entry(model, keyword, words) {
            problem(&what);
        }
    }
    finish(family, programs, model, &names);
}

fn finish(
    family: &'static str,
    programs: &mut Programs,
    model: Option<Model>,
    names: &[&'static str],
) {
    let Some(model) = model else {
        return;
    };
    let idx = programs.models.len();
    for name in names {
        match name.strip_suffix('*') {
            Some(prefix) => programs.by_prefix.push((prefix, idx)),
            None if programs.by_name.insert(name, idx).is_some() => {
                programs.problems.push(Problem {
                    family,
                    line: 0,
                    what: format!("`{name}` has two models"),
                });
            }
            None => {}
        }
    }
    programs.models.push(model);
}

fn entry(
    model: &mut Model,
    keyword: &str,
    words: std::str::SplitAsciiWhitespace<'static>,
) -> Result<(), String> {
    let words: Vec<&'static str> = words.collect();
    if keyword == "sub" {
        return subcommand(model, &words);
    }
    let n_subs = model.bodies.len();
    let wrapper = &mut model.wrapper;
    let body = model.bodies.last_mut().unwrap_or(&mut model.root);
    match keyword {
        "operands" => body.operands = operands(&words)?,
        "with" => {
            let (options, roles) = halves(keyword, &words)?;
            body.with.push((options.to_vec(), operands(roles)?));
        }
        "keys" => body.keys.push(keys(keyword, &words)?),
        "harmless" => body.harmless.push(keys(keyword, &words)?),
        "given" => body.given.push(given(&words)?),
        "style" => {
            for word in words {
                style(body, word)?;
            }
        }
        "wrapper" => {
            let kind = wrapper_kind(&words)?;
            body.wrapper = Some(kind);
            if n_subs == 0 {
                *wrapper = Some(kind);
            }
        }
        "always" => {
            for word in words {
                body.always.push(role(word)?);
            }
        }
        "special" => body.special = Some(special(&words)?),
        _ => {
            let role = role(keyword)?;
            for word in words {
                body.options.push(option(word, role)?);
            }
        }
    }
    Ok(())
}

fn subcommand(model: &mut Model, words: &[&'static str]) -> Result<(), String> {
    let idx = model.bodies.len();
    model.bodies.push(Body::default());
    for path in words.split(|word| *word == "|") {
        if path.is_empty() {
            return Err("a subcommand without a name".to_owned());
        }
        model.subs.push((path.to_vec(), idx));
    }
    Ok(())
}

/// The words before and behind the only `:`.
fn halves<'w>(
    keyword: &str,
    words: &'w [&'static str],
) -> Result<(&'w [&'static str], &'w [&'static str]), String> {
    let mut halves = words.split(|word| *word == ":");
    match (halves.next(), halves.next(), halves.next()) {
        (Some(before), Some(behind), None) => Ok((before, behind)),
        _ => Err(format!("`{keyword}` needs one `:`")),
    }
}

/// Options and the keys that their values may set.
fn keys(
    keyword: &str,
    words: &[&'static str],
) -> Result<(Vec<&'static str>, Vec<&'static str>), String> {
    let (options, keys) = halves(keyword, words)?;
    if keys
        .iter()
        .any(|key| key.contains(|c: char| c.is_ascii_uppercase()))
    {
        return Err("keys are written in lower case".to_owned());
    }
    Ok((options.to_vec(), keys.to_vec()))
}

fn wrapper_kind(words: &[&str]) -> Result<Wrapper, String> {
    match words {
        ["neutral"] => Ok(Wrapper::Neutral),
        ["kept"] => Ok(Wrapper::Kept),
        ["remote"] => Ok(Wrapper::Remote),
        _ => Err("a wrapper is neutral, kept or remote".to_owned()),
    }
}

fn special(words: &[&str]) -> Result<Special, String> {
    SPECIALS
        .iter()
        .find(|(name, _)| words == [*name])
        .map(|(_, special)| *special)
        .ok_or_else(|| "a special reading that is not known".to_owned())
}

fn style(body: &mut Body, word: &str) -> Result<(), String> {
    let style = &mut body.style;
    let flag = match word {
        "open" => &mut style.open,
        "stops" => &mut style.stops,
        "single-dash" => &mut style.single_dash,
        "joined" => &mut style.joined,
        "globals-first" => &mut style.globals_first,
        "numeric" => &mut style.numeric,
        "bundle" => &mut style.bundle,
        "runs-input" => &mut style.runs_input,
        "hosts" => &mut style.hosts,
        "tasks" => &mut style.tasks,
        "assigns" => &mut style.assigns,
        _ => return Err(format!("`{word}` is no style")),
    };
    *flag = true;
    Ok(())
}

fn role(word: &str) -> Result<Role, String> {
    ROLES
        .iter()
        .find(|(name, _)| *name == word)
        .map(|(_, role)| *role)
        .ok_or_else(|| format!("`{word}` is no role"))
}

fn operands(words: &[&'static str]) -> Result<Vec<Operand>, String> {
    let operands = words
        .iter()
        .map(|word| {
            let repeated = word.ends_with("...");
            Ok(Operand {
                role: role(word.strip_suffix("...").unwrap_or(word))?,
                repeated,
            })
        })
        .collect::<Result<Vec<_>, String>>()?;
    if operands.iter().filter(|operand| operand.repeated).count() > 1 {
        return Err("only one operand may be repeated".to_owned());
    }
    Ok(operands)
}

fn given(words: &[&'static str]) -> Result<Given, String> {
    let mut halves = words.split(|word| *word == ":");
    let (Some(if_any), Some([name, options @ ..]), None) =
        (halves.next(), halves.next(), halves.next())
    else {
        return Err("`given` needs one `:` and a role behind it".to_owned());
    };
    Ok(Given {
        if_any: if_any.to_vec(),
        role: role(name)?,
        options: options.to_vec(),
    })
}

fn option(word: &'static str, role: Role) -> Result<Opt, String> {
    let (name, arity) = if let Some(name) = word.strip_suffix("[0]") {
        (name, Arity::Digits)
    } else if let Some(name) = word.strip_suffix("==") {
        (name, Arity::Pair)
    } else if let Some(name) = word.strip_suffix('=') {
        (name, Arity::Required)
    } else if let Some(name) = word.strip_suffix("[]") {
        (name, Arity::Attached)
    } else if let Some(name) = word.strip_suffix('*') {
        (name, Arity::Prefix)
    } else {
        (word, Arity::None)
    };
    if name == "+" && arity == Arity::Prefix {
        return Ok(Opt { name, arity, role });
    }
    if !name.starts_with(['-', '+']) || name.len() < 2 {
        return Err(format!("`{word}` is no option"));
    }
    Ok(Opt { name, arity, role })
}
