//! Findings for people.

use podward_manifest::{Diagnostic, Related, Severity};
use podward_policy::Action;
use podward_view::{Lines, visible};

use super::{Shown, ShownWitness};

/// A finding, its rule underlined, and an empty line.
pub(super) fn finding(shown: &Shown) -> String {
    let severity = shown.code.severity().as_str();
    let related = shown.related.iter().map(|(idx, place)| Related {
        message: format!("rule {}", idx.0 + 1),
        place: place.clone(),
    });
    let diagnostic = Diagnostic {
        severity: Severity::Warning,
        message: shown.message.clone(),
        place: shown.place.clone(),
        related: related.collect(),
        help: None,
    };
    let text = diagnostic.to_string();
    let text = text.strip_prefix("warning: ").unwrap_or(&text);
    let places = shown
        .place
        .iter()
        .chain(shown.related.iter().map(|(_, place)| place));
    let gutter = places
        .map(|place| place.location.line.to_string().len())
        .max();
    let gutter = gutter.unwrap_or(0);
    let mut lines = format!("{severity}[{}]: {text}\n", shown.code);
    for witness in &shown.witnesses {
        lines.push_str(&format!(
            "{:gutter$} = witness: {}\n",
            "",
            self::witness(witness)
        ));
    }
    let help = visible(&shown.help, Lines::Escape);
    lines.push_str(&format!("{:gutter$} = help: {help}\n\n", ""));
    lines
}

/// A call and what is said of it.
pub(super) fn witness(shown: &ShownWitness) -> String {
    let witness = &shown.witness;
    let tool = &witness.call.tool;
    let what = match witness.call.text() {
        Some(text) => text.to_owned(),
        None => witness.call.arguments.to_string(),
    };
    let verdict = match witness.action {
        Action::Allow => "is allowed",
        Action::Ask => "is asked about",
        Action::Deny => "is denied",
    };
    let by = match (witness.rule, &shown.place) {
        (Some(rule), Some(place)) => format!("by rule {} ({})", rule.0 + 1, place.location),
        (Some(rule), None) => format!("by rule {}", rule.0 + 1),
        (None, _) => match witness.cause {
            "default" => "by `default_action`".to_owned(),
            "unresolved" => "for a part of it is not known".to_owned(),
            "unrestricted" => "for nothing restricts it".to_owned(),
            other => format!("({other})"),
        },
    };
    visible(&format!("{tool} `{what}` {verdict} {by}"), Lines::Escape).to_string()
}
