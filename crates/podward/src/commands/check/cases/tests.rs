use std::collections::BTreeMap;
use std::path::Path;

use podward_policy::Action;

use super::{Outcome, Rate, judge_line, show};
use crate::arguments::Format;

const DENY_RM: &str = "[permissions]\\ndefault_action = \\\"allow\\\"\\n[[permissions.rule]]\\n\
    tool = \\\"bash\\\"\\npattern = \\\"rm *\\\"\\naction = \\\"deny\\\"\\n";

#[track_caller]
fn judged(manifest: &str, tool: &str, input: &str, expect: &str) -> Outcome {
    let line = format!(
        "{{\"id\":\"x\",\"manifest\":\"{manifest}\",\"tool\":\"{tool}\",\"input\":{input},\"expect\":{expect}}}"
    );
    judge_line("f.jsonl:3", &line, Path::new("/"), &mut BTreeMap::new())
}

#[test]
fn a_case_passes_when_its_verdict_is_expected() {
    let command = "{\"command\":\"rm -rf x\"}";
    let denied = judged(DENY_RM, "bash", command, "[\"deny\",\"ask\"]");
    assert_eq!((denied.verdict, denied.passed), (Some(Action::Deny), true));
    let surprise = judged(DENY_RM, "bash", command, "[\"allow\"]");
    assert_eq!(
        (surprise.verdict, surprise.passed),
        (Some(Action::Deny), false)
    );
    let no_table = judged("", "bash", command, "[\"allow\"]");
    assert_eq!(
        (no_table.verdict, no_table.passed),
        (Some(Action::Allow), true)
    );
}

#[test]
fn a_bad_call_is_denied() {
    for (tool, input) in [
        ("bash", "{\"cmd\":\"x\"}"),
        ("bash", "\"x\""),
        ("shell", "{}"),
    ] {
        let outcome = judged("", tool, input, "[\"deny\"]");
        assert_eq!(outcome.verdict, Some(Action::Deny), "{tool} {input}");
        assert!(outcome.passed);
    }
}

#[test]
fn a_line_that_is_no_case_fails_with_its_place() {
    for line in [
        "{",
        "{}",
        "[]",
        "{\"id\":\"x\",\"manifest\":\"\",\"tool\":\"bash\",\"input\":{},\"expect\":[]}",
        "{\"id\":\"x\",\"manifest\":\"\",\"tool\":\"bash\",\"input\":{},\"expect\":[\"maybe\"]}",
    ] {
        let outcome = judge_line("f.jsonl:3", line, Path::new("/"), &mut BTreeMap::new());
        assert_eq!(
            (outcome.id.as_str(), outcome.passed),
            ("f.jsonl:3", false),
            "{line}"
        );
    }
}

#[test]
fn a_case_whose_manifest_does_not_load_is_not_judged() {
    let outcome = judged(
        "[permissions]",
        "bash",
        "{\"command\":\"ls\"}",
        "[\"deny\"]",
    );
    assert_eq!((outcome.verdict, outcome.passed), (None, false));
}

#[test]
fn json_lines_name_verdict_and_expectation() {
    let outcome = judged("", "list", "{}", "[\"allow\",\"ask\"]");
    assert_eq!(
        show(&outcome, Format::Json),
        "{\"id\":\"x\",\"verdict\":\"allow\",\"expect\":[\"allow\",\"ask\"],\"pass\":true}\n"
    );
    assert_eq!(show(&outcome, Format::Text), "");
}

#[test]
fn a_rate_is_shown_with_tenths() {
    let rate = |n_passed, n_cases| Rate { n_passed, n_cases }.to_string();
    assert_eq!(rate(2, 3), "2/3 (66.6 %)");
    assert_eq!(rate(0, 0), "0/0");
}
