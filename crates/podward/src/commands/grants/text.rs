//! Grants in words.

#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use podward_pod::{StoredGrant, StoredGrants};
use podward_protocol::{AskedBy, Asker, GrantFor, GrantRule};
use podward_view::{Lines, given_text, in_words, one_line, visible};

/// Characters of a reason that a list shows.
const REASON: usize = 80;

/// All grants, by workspace, oldest first.
pub(super) fn list(stored: &[StoredGrants]) -> String {
    let mut text = String::new();
    for file in stored {
        let Some(first) = file.grants.first() else {
            continue;
        };
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "{}", shown(&first.workspace));
        for grant in &file.grants {
            let _ = writeln!(text, "  {}  {}", grant.grant.id, lasts(grant));
            for rule in &grant.grant.rules {
                let _ = writeln!(text, "    {}", covers(rule));
            }
        }
    }
    text
}

/// All that is known of a grant.
pub(super) fn explain(stored: &StoredGrant) -> String {
    let grant = &stored.grant;
    let mut text = format!("{}\n", grant.id);
    let mut row = |name: &str, value: &str| {
        let _ = writeln!(text, "  {name:<10} {value}");
    };
    row("workspace", &shown(&stored.workspace));
    row("counts", &lasts(stored));
    let by = format!("{}, {}", shown(&grant.by), grant.at);
    row("given by", &by);
    row("in session", stored.given_in.as_str());
    row("asked", &one_line(&grant.why, REASON));
    for rule in &grant.rules {
        let _ = writeln!(text, "  it covers {}", covers(rule));
        for asker in &rule.askers {
            let _ = writeln!(text, "    where {} asks", asked_by(asker));
        }
    }
    text.push_str(
        "  Whatever else asks about such a call asks again, and what is denied stays denied.\n",
    );
    text
}

/// What a rule covers, and where, if that is not the workspace.
fn covers(rule: &GrantRule) -> String {
    let place = match &*rule.given.directories {
        [] => String::new(),
        names => format!(", in {}", in_words(names)),
    };
    let given = place + &given_text(&rule.given);
    let given = match given.strip_prefix(", ") {
        Some(given) => format!("  ({given})"),
        None => given,
    };
    format!("{} `{}`{given}", shown(&rule.tool), shown(&rule.pattern))
}

fn lasts(stored: &StoredGrant) -> String {
    let left = stored.grant.uses_left;
    match &stored.grant.lasts {
        GrantFor::Session => format!("for the session {}", stored.given_in),
        GrantFor::Project => "for this workspace".to_owned(),
        GrantFor::Until { time } => format!("until {time}"),
        GrantFor::Uses { n } => format!("for {} more of {n} calls", left.unwrap_or(*n)),
    }
}

fn asked_by(asker: &Asker) -> String {
    let layer = shown(&asker.layer);
    match &asker.by {
        AskedBy::Rule { tool, pattern } => format!(
            "the rule {} `{}` of the layer `{layer}`",
            shown(tool),
            shown(pattern)
        ),
        AskedBy::Default => format!("`default_action` of the layer `{layer}`"),
        AskedBy::Unresolved => format!("`unresolved` of the layer `{layer}`"),
        AskedBy::Unnamed => format!("the layer `{layer}`, in which no rule names the address,"),
    }
}

fn shown(text: &str) -> String {
    visible(text, Lines::Escape)
}
