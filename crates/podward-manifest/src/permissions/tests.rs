use podward_policy::{ByteSpan, Finding, RuleField, RuleIdx};

use super::{diagnostic, judged};
use crate::diagnostic::Diagnostic;
use crate::raw;
use crate::reader::Reader;
use crate::source::Source;
use crate::{Surroundings, document};

/// Where a finding about a part of a rule's value is shown: the text that is underlined.
fn check(text: &str, field: RuleField, part: Option<ByteSpan>, expected: &str) {
    let text = format!(
        "[permissions]\ndefault_action = 'ask'\n[[permissions.rule]]\n{text}\naction = 'deny'\n"
    );
    let source = Source::new("x.toml".into(), &text);
    let repaired = document::repair(&text);
    let (document, errors) = document::parse(&source, &repaired);
    let mut reader = Reader::new(&source, errors);
    let raw = raw::read(
        &document,
        &mut reader,
        &Surroundings::default(),
        "/".as_ref(),
    );
    let raw = raw.permissions.unwrap();
    let rules: Vec<_> = raw.rules.iter().filter_map(judged).collect();
    let finding = Finding {
        rule: RuleIdx(0),
        field,
        part,
        message: "odd".to_owned(),
        help: None,
    };
    let place = diagnostic(&finding, &rules, &raw, &reader, Diagnostic::error)
        .place
        .unwrap();
    assert_eq!(place.source_line.get(place.underline), Some(expected));
}

#[test]
fn a_finding_is_shown_at_its_bytes() {
    let part = |start, end| Some(ByteSpan::new(start..end));
    let rule = "tool = \"mcp__\\u0061__*\"\npattern = 'rm -rf **'";
    check(rule, RuleField::Pattern, part(7, 9), "**");
    check(rule, RuleField::Pattern, None, "'rm -rf **'");
    check(rule, RuleField::Tool, part(5, 6), "\\u0061");
    check(rule, RuleField::Tool, part(8, 9), "*");
    check(rule, RuleField::Tool, part(8, 90), "\"mcp__\\u0061__*\"");
    check(
        "tool = 'bash'\npattern = '''\nrm **'''",
        RuleField::Pattern,
        part(3, 5),
        "**",
    );
}

#[test]
fn a_wrong_action_does_not_hide_a_wrong_pattern() {
    let text =
        "[permissions]\n[[permissions.rule]]\ntool = 'bsah'\npattern = '[a'\naction = 'no'\n";
    let said = crate::isolated("x.toml", text, &Default::default()).unwrap_err();
    let places: Vec<_> = said
        .iter()
        .map(|diagnostic| diagnostic.place.as_ref().unwrap().location.to_string())
        .collect();
    assert_eq!(
        places,
        ["x.toml:1:1", "x.toml:3:8", "x.toml:4:12", "x.toml:5:10"]
    );
}

#[test]
fn a_rule_that_cannot_decide_is_a_warning() {
    let rule = "[[permissions.rule]]\ntool = 'bash'\npattern = 'git *'\naction = 'allow'\n";
    let text = format!("[permissions]\ndefault_action = 'ask'\n{rule}{rule}");
    let isolated = crate::isolated("x.toml", &text, &Default::default()).unwrap();
    let warning = &isolated.warnings[0];
    assert_eq!(
        warning.place.as_ref().unwrap().location.to_string(),
        "x.toml:9:11"
    );
    assert!(
        warning.message.contains("x.toml:3:1"),
        "it names the other one: {warning}"
    );
}
