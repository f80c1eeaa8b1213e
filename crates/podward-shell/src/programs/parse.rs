//! The format of the files in `programs/`.

use super::{Arity, Body, Given, Model, Operand, Opt, Programs, Role, Runs, Special, Wrapper};

/// A line that says nothing known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem<'t> {
    /// The word that is meant.
    pub(crate) word: &'t str,
    pub(crate) what: String,
}

type Parsed<'t, T> = Result<T, Problem<'t>>;

const fn problem(word: &str, what: String) -> Problem<'_> {
    Problem { word, what }
}

const ROLES: &[(&str, Role)] = &[
    ("data", Role::Data),
    ("flags", Role::Data),
    ("read", Role::Read),
    ("fetch", Role::Fetch),
    ("read-or-fetch", Role::ReadOrFetch),
    ("url", Role::Url),
    ("at-file", Role::AtFile),
    ("named-file", Role::NamedFile),
    ("named-output", Role::NamedOutput),
    ("program-or-file", Role::ProgramOrFile),
    ("cookie", Role::Cookie),
    ("write-out", Role::WriteOut),
    ("http-item", Role::HttpItem),
    ("revision-file", Role::RevisionFile),
    ("restored", Role::Restored),
    ("below", Role::Below),
    ("module", Role::Module),
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
    ("remote-shell", Role::RemoteShell),
    ("shell-text", Role::ShellText),
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

/// A line without its comment.
pub(super) fn uncommented(line: &str) -> &str {
    match line.find('#') {
        Some(at) if at == 0 || line.get(..at).is_some_and(|l| l.ends_with([' ', '\t'])) => {
            line.get(..at).unwrap_or_default()
        }
        _ => line,
    }
}

/// Adds the programs of one file.
pub(super) fn family<'t>(text: &'t str, programs: &mut Programs<'t>) {
    let mut model: Option<Model<'t>> = None;
    let mut names: Vec<&'t str> = Vec::new();
    for line in text.lines() {
        let words: Vec<&'t str> = uncommented(line).split_ascii_whitespace().collect();
        let Some((keyword, words)) = words.split_first() else {
            continue;
        };
        if *keyword == "program" {
            if words.is_empty() {
                let what = "a program without a name".to_owned();
                programs.problems.push(problem(keyword, what));
            }
            finish(programs, model.replace(Model::default()), &names);
            names = words.to_vec();
            continue;
        }
        let result = match &mut model {
            Some(model) => entry(model, keyword, words),
            None => {
                let what = "a line before the first `program`".to_owned();
                Err(problem(keyword, what))
            }
        };
        programs.problems.extend(result.err());
    }
    finish(programs, model, &names);
}

fn finish<'t>(programs: &mut Programs<'t>, model: Option<Model<'t>>, names: &[&'t str]) {
    let Some(model) = model else {
        return;
    };
    let idx = programs.models.len();
    for name in names {
        match name.strip_suffix('*') {
            Some(prefix) => programs.by_prefix.push((prefix, idx)),
            None if programs.by_name.insert(name, idx).is_some() => {
                let what = format!("`{name}` has two models");
                programs.problems.push(problem(name, what));
            }
            None => {}
        }
    }
    programs.models.push(model);
}

fn entry<'t>(model: &mut Model<'t>, keyword: &'t str, words: &[&'t str]) -> Parsed<'t, ()> {
    if keyword == "sub" {
        return subcommand(model, keyword, words);
    }
    let n_subs = model.bodies.len();
    let wrapper = &mut model.wrapper;
    let body = model.bodies.last_mut().unwrap_or(&mut model.root);
    match keyword {
        "operands" => body.operands = operands(words)?,
        "with" => {
            let (options, roles) = halves(keyword, words)?;
            body.with.push((options.to_vec(), operands(roles)?));
        }
        "keys" => body.keys.push(keys(keyword, words)?),
        "harmless" => body.harmless.push(keys(keyword, words)?),
        "given" => body.given.push(given(keyword, words)?),
        "style" => {
            for word in words {
                style(body, word)?;
            }
        }
        "wrapper" => {
            let kind = wrapper_kind(keyword, words)?;
            body.wrapper = Some(kind);
            if n_subs == 0 {
                *wrapper = Some(kind);
            }
        }
        "always" => {
            let mut parts = words.splitn(2, |word| *word == "unless");
            let roles = parts.next().unwrap_or_default();
            let unless = parts.next().unwrap_or_default();
            for word in roles {
                body.always.push((role(word)?, unless.to_vec()));
            }
        }
        "told" => {
            let words = words.strip_prefix(&["unless"]).unwrap_or(words);
            body.told = Some(words.to_vec());
        }
        "runs" => {
            for word in words {
                body.runs.push(runs(word)?);
            }
        }
        "special" => body.special = Some(special(keyword, words)?),
        _ => {
            let role = role(keyword)?;
            for word in words {
                body.options.push(option(word, role)?);
            }
        }
    }
    Ok(())
}

fn subcommand<'t>(model: &mut Model<'t>, keyword: &'t str, words: &[&'t str]) -> Parsed<'t, ()> {
    let idx = model.bodies.len();
    model.bodies.push(Body::default());
    for path in words.split(|word| *word == "|") {
        if path.is_empty() {
            let what = "a subcommand without a name".to_owned();
            return Err(problem(keyword, what));
        }
        model.subs.push((path.to_vec(), idx));
    }
    Ok(())
}

/// The words before and behind the only `:`.
fn halves<'w, 't>(
    keyword: &'t str,
    words: &'w [&'t str],
) -> Parsed<'t, (&'w [&'t str], &'w [&'t str])> {
    let mut halves = words.split(|word| *word == ":");
    match (halves.next(), halves.next(), halves.next()) {
        (Some(before), Some(behind), None) => Ok((before, behind)),
        _ => {
            let what = format!("`{keyword}` needs one `:`, with a blank on both sides");
            Err(problem(keyword, what))
        }
    }
}

/// Options and the keys that their values may set.
fn keys<'t>(keyword: &'t str, words: &[&'t str]) -> Parsed<'t, (Vec<&'t str>, Vec<&'t str>)> {
    let (options, keys) = halves(keyword, words)?;
    let is_upper = |key: &&&str| key.contains(|c: char| c.is_ascii_uppercase());
    if let Some(key) = keys.iter().find(is_upper) {
        return Err(problem(key, "keys are written in lower case".to_owned()));
    }
    Ok((options.to_vec(), keys.to_vec()))
}

fn wrapper_kind<'t>(keyword: &'t str, words: &[&'t str]) -> Parsed<'t, Wrapper> {
    match words {
        ["neutral"] => Ok(Wrapper::Neutral),
        ["kept"] => Ok(Wrapper::Kept),
        ["runner"] => Ok(Wrapper::Runner),
        ["remote"] => Ok(Wrapper::Remote),
        _ => {
            let word = words.first().copied().unwrap_or(keyword);
            let what = "a wrapper is `kept`, `runner` or `remote`".to_owned();
            Err(problem(word, what))
        }
    }
}

fn special<'t>(keyword: &'t str, words: &[&'t str]) -> Parsed<'t, Special> {
    SPECIALS
        .iter()
        .find(|(name, _)| words == [*name])
        .map(|(_, special)| *special)
        .ok_or_else(|| {
            let word = words.first().copied().unwrap_or(keyword);
            problem(word, "a special reading that is not known".to_owned())
        })
}

fn style<'t>(body: &mut Body<'t>, word: &'t str) -> Parsed<'t, ()> {
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
        "dialogue" => &mut style.dialogue,
        "hosts" => &mut style.hosts,
        "tasks" => &mut style.tasks,
        "assigns" => &mut style.assigns,
        "responses" => &mut style.responses,
        _ => return Err(problem(word, format!("`{word}` is no style"))),
    };
    *flag = true;
    Ok(())
}

fn role(word: &str) -> Parsed<'_, Role> {
    ROLES
        .iter()
        .find(|(name, _)| *name == word)
        .map(|(_, role)| *role)
        .ok_or_else(|| problem(word, format!("`{word}` is no role")))
}

fn operands<'t>(words: &[&'t str]) -> Parsed<'t, Vec<Operand>> {
    let mut operands: Vec<Operand> = Vec::with_capacity(words.len());
    for word in words {
        let name = word.strip_suffix("...");
        let is_second = name.is_some() && operands.iter().any(|operand| operand.repeated);
        if is_second {
            let what = "only one operand may be repeated".to_owned();
            return Err(problem(word, what));
        }
        operands.push(Operand {
            role: role(name.unwrap_or(word))?,
            repeated: name.is_some(),
        });
    }
    Ok(operands)
}

fn given<'t>(keyword: &'t str, words: &[&'t str]) -> Parsed<'t, Given<'t>> {
    let (if_any, behind) = halves(keyword, words)?;
    let Some((name, options)) = behind.split_first() else {
        let what = "`given` needs a role behind its `:`".to_owned();
        return Err(problem(keyword, what));
    };
    Ok(Given {
        if_any: if_any.to_vec(),
        role: role(name)?,
        options: options.to_vec(),
    })
}

fn runs(word: &str) -> Parsed<'_, Runs<'_>> {
    let option = option(word, Role::Script).ok();
    let option = option.filter(|option| option.arity == Arity::None);
    match (word.strip_prefix('*'), option) {
        (None, Some(option)) => Ok(Runs::Option(option.name)),
        (None, None) if word == "paths" => Ok(Runs::Path),
        (Some(ending), _) if !ending.is_empty() => Ok(Runs::Ending(ending)),
        (Some(_) | None, _) => {
            let what =
                format!("`{word}` is no name of an option, no `*` with an end, and not `paths`");
            Err(problem(word, what))
        }
    }
}

fn option(word: &str, role: Role) -> Parsed<'_, Opt<'_>> {
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
        return Err(problem(word, format!("`{word}` is no option")));
    }
    Ok(Opt { name, arity, role })
}
