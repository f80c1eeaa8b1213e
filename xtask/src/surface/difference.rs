//! What a change of a surface means for those who use the crate.

use std::collections::BTreeSet;
use std::fmt::Write as _;

/// What a change does to a program that compiles with the surface before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Effect {
    /// It still compiles.
    Additive,
    /// It may not.
    Breaking,
}

/// One line that is gone or new.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Change {
    pub(super) effect: Effect,
    /// `-` or `+`.
    pub(super) sign: char,
    pub(super) line: String,
}

/// A surface as its file holds it.
struct Recorded<'a> {
    name: &'a str,
    version: &'a str,
    lines: BTreeSet<&'a str>,
}

/// What is different, in words; `None` if nothing is.
pub(crate) fn report(recorded: &str, found: &str) -> Option<String> {
    if recorded == found {
        return None;
    }
    let (old, new) = (read(recorded), read(found));
    let changes = changes(&old.lines, &new.lines);
    let n_breaking = changes
        .iter()
        .filter(|change| change.effect == Effect::Breaking)
        .count();
    let n_additive = changes.len() - n_breaking;
    let mut text = format!(
        "the public surface of {}: {n_breaking} breaking, {n_additive} additive",
        new.name
    );
    for change in &changes {
        let effect = match change.effect {
            Effect::Additive => "additive",
            Effect::Breaking => "breaking",
        };
        // Writing to a string cannot fail.
        let _ = write!(text, "\n  {} {effect}: {}", change.sign, change.line);
    }
    let worst = changes.iter().map(|change| change.effect).max();
    let _ = write!(text, "\n  {}", advice(old.version, new.version, worst));
    Some(text)
}

fn read(text: &str) -> Recorded<'_> {
    let mut lines = text.lines();
    let header = lines.next().unwrap_or_default();
    let (name, version) = header
        .trim_start_matches("# ")
        .split_once(' ')
        .unwrap_or((header, ""));
    Recorded {
        name,
        version,
        lines: lines.collect(),
    }
}

/// Whether the version says what the changes do.
fn advice(old: &str, new: &str, worst: Option<Effect>) -> String {
    match (worst, leading(old), leading(new)) {
        (Some(Effect::Breaking), Some(before), Some(now)) if before == now => format!(
            "breaking under one version ({new}): whoever has {old} needs {}",
            next(new)
        ),
        (Some(Effect::Breaking), ..) => format!("{old} became {new}, which may break"),
        (Some(Effect::Additive) | None, ..) => {
            format!("{old} became {new}: no program has to change")
        }
    }
}

/// The numbers of a version that a breaking change has to raise: the first that is not 0.
fn leading(version: &str) -> Option<Vec<u64>> {
    let numbers: Option<Vec<u64>> = version
        .split('.')
        .map(|number| number.parse().ok())
        .collect();
    let numbers = numbers?;
    let first = numbers
        .iter()
        .position(|number| *number != 0)
        .unwrap_or(numbers.len());
    Some(numbers.into_iter().take(first + 1).collect())
}

/// The next version that may break.
fn next(version: &str) -> String {
    let Some(mut numbers) = leading(version) else {
        return "another version".to_owned();
    };
    if let Some(last) = numbers.last_mut() {
        *last += 1;
    }
    numbers.resize(3, 0);
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    numbers.join(".")
}

/// All changes: what breaks first.
pub(super) fn changes(old: &BTreeSet<&str>, new: &BTreeSet<&str>) -> Vec<Change> {
    let gone: Vec<&str> = old.difference(new).copied().collect();
    let came: Vec<&str> = new.difference(old).copied().collect();
    let mut changes = Vec::new();
    for line in &gone {
        let effect = if came.iter().any(|later| is_widened(line, later)) {
            Effect::Additive
        } else {
            Effect::Breaking
        };
        changes.push(Change {
            effect,
            sign: '-',
            line: (*line).to_owned(),
        });
    }
    for line in &came {
        let effect = if is_demand(line, old) {
            Effect::Breaking
        } else {
            Effect::Additive
        };
        changes.push(Change {
            effect,
            sign: '+',
            line: (*line).to_owned(),
        });
    }
    changes.sort_by(|a, b| {
        let order = |change: &Change| std::cmp::Reverse((change.effect, change.sign));
        order(a).cmp(&order(b)).then_with(|| a.line.cmp(&b.line))
    });
    changes
}

/// Whether the later line lets a program do all that the earlier one did.
fn is_widened(earlier: &str, later: &str) -> bool {
    const WIDER: &[(&str, &str)] = &[
        ("required ", "provided "),
        ("fn ", "const fn "),
        ("provided fn ", "provided const fn "),
    ];
    const OPENED: &[(&str, &str)] = &[
        (" (non_exhaustive)", " (exhaustive)"),
        (" (opaque)", " (open)"),
    ];
    WIDER.iter().any(|(before, after)| {
        earlier
            .strip_prefix(before)
            .is_some_and(|rest| later.strip_prefix(after) == Some(rest))
    }) || OPENED.iter().any(|(before, after)| {
        earlier
            .strip_suffix(before)
            .is_some_and(|rest| later.strip_suffix(after) == Some(rest))
    })
}

/// Whether a new line asks something of programs that know its owner already.
fn is_demand(line: &str, old: &BTreeSet<&str>) -> bool {
    let Some((kind, rest)) = line.split_once(' ') else {
        return false;
    };
    let owner = owner_of(rest);
    let was = |kind: &str, ending: &str| {
        old.iter().any(|line| {
            line.strip_prefix(kind)
                .and_then(|line| line.strip_prefix(owner))
                .is_some_and(|rest| {
                    !rest.starts_with("::") && is_end(rest) && line.ends_with(ending)
                })
        })
    };
    match kind {
        // A match over it has no arm for this.
        "variant" => was("enum ", "(exhaustive)"),
        // A literal of it has not this field.
        "field" => was("struct ", "(open)") || was("struct ", "(open tuple)"),
        // An implementation of it has not this part.
        "required" => was("trait ", ""),
        _ => false,
    }
}

/// Behind a name: no more of the same name.
fn is_end(rest: &str) -> bool {
    !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

/// `podward_x::Owner` of `podward_x::Owner::part(…)`, with or without `fn ` in front.
fn owner_of(rest: &str) -> &str {
    let path = rest
        .strip_prefix("const fn ")
        .or_else(|| rest.strip_prefix("async fn "))
        .or_else(|| rest.strip_prefix("fn "))
        .or_else(|| rest.strip_prefix("type "))
        .or_else(|| rest.strip_prefix("const "))
        .unwrap_or(rest);
    let end = path
        .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | ':')))
        .unwrap_or(path.len());
    let path = path.get(..end).unwrap_or(path).trim_end_matches(':');
    path.rsplit_once("::").map_or(path, |(owner, _)| owner)
}
