//! Findings for programs: a line of JSON each.

use podward_manifest::Place;
use serde::Serialize;
use serde_json::Value;

use super::{Shown, ShownWitness};
use crate::failure::Failure;

/// What is printed of a finding.
#[derive(Debug, Serialize)]
struct Line<'a> {
    code: &'static str,
    severity: &'static str,
    message: &'a str,
    help: &'a str,
    layer: &'static str,
    /// From 1.
    rule: Option<usize>,
    place: Option<Site<'a>>,
    witnesses: Vec<WitnessLine<'a>>,
    related: Vec<RelatedLine<'a>>,
}

#[derive(Debug, Serialize)]
struct Site<'a> {
    file: &'a str,
    line: u32,
    column: u32,
    end_column: u32,
}

#[derive(Debug, Serialize)]
struct WitnessLine<'a> {
    tool: &'a str,
    input: &'a Value,
    verdict: &'static str,
    cause: &'static str,
    /// From 1.
    rule: Option<usize>,
}

#[derive(Debug, Serialize)]
struct RelatedLine<'a> {
    rule: usize,
    place: Site<'a>,
}

/// A finding with the newline at its end.
pub(super) fn line(shown: &Shown) -> Result<String, Failure> {
    let related = shown.related.iter().map(|(idx, place)| RelatedLine {
        rule: idx.0 + 1,
        place: site(place),
    });
    crate::commands::json_line(&Line {
        code: shown.code.as_str(),
        severity: shown.code.severity().as_str(),
        message: &shown.message,
        help: &shown.help,
        layer: shown.layer.kind.as_str(),
        rule: shown.rule.map(|idx| idx.0 + 1),
        place: shown.place.as_ref().map(site),
        witnesses: shown.witnesses.iter().map(witness).collect(),
        related: related.collect(),
    })
}

fn witness(shown: &ShownWitness) -> WitnessLine<'_> {
    let witness = &shown.witness;
    WitnessLine {
        tool: witness.call.tool.as_str(),
        input: &witness.call.arguments,
        verdict: witness.action.as_str(),
        cause: witness.cause,
        rule: witness.rule.map(|idx| idx.0 + 1),
    }
}

fn site(place: &Place) -> Site<'_> {
    Site {
        file: &place.location.file,
        line: place.location.line,
        column: place.location.column,
        end_column: end_column(place),
    }
}

/// One past the last column of the underlined part.
pub(super) fn end_column(place: &Place) -> u32 {
    let marked = place.source_line.get(place.underline.clone());
    let n_chars = marked.unwrap_or_default().chars().count();
    place.location.column + u32::try_from(n_chars).unwrap_or(0)
}
