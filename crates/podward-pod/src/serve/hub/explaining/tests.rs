use podward_protocol::{
    Cause, Coverage, ExplainedOperation, LayerSays, Need, Operation, Place, Ruling, SubjectKind,
    Tried, TriedRule, Verdict,
};

use super::*;

/// An operation for which rules of so many bytes altogether were tried.
fn operation(n_bytes: usize) -> ExplainedOperation {
    let tried = (1..=n_bytes / 1024).map(|rule| TriedRule {
        rule,
        tool: "bash".to_owned(),
        pattern: "x".repeat(1024),
        action: Verdict::Deny,
        at: Place {
            file: "pod.toml".to_owned(),
            line: 1,
            column: 1,
        },
        result: Tried::Differs,
        whole: None,
    });
    ExplainedOperation {
        operation: Operation {
            tool: "bash".to_owned(),
            subject: SubjectKind::Command,
            text: "ls".to_owned(),
            spelled: None,
            leads_to: None,
            known: true,
            need: Need::Full,
            span: None,
            why: None,
            partial: Vec::new(),
        },
        holes: Vec::new(),
        forms: Vec::new(),
        layers: vec![LayerSays {
            layer: "manifest".to_owned(),
            verdict: Verdict::Ask,
            cause: Cause::Unrestricted,
            n_rules: n_bytes / 1024,
            tried: tried.collect(),
            later: Vec::new(),
            nearest_allow: None,
        }],
    }
}

/// What is left of the rules of two operations, the second of which decides.
fn left(n_bytes: [usize; 2]) -> (bool, [usize; 2]) {
    let explanation = Explanation {
        ruling: Ruling {
            verdict: Verdict::Ask,
            cause: Cause::Unrestricted,
            operation: Some(1),
            coverage: Coverage::Full,
        },
        operations: n_bytes.map(operation).to_vec(),
        change: None,
        shortened: false,
    };
    let told = fitting(explanation, |told| told);
    assert!(json_line(&told).unwrap().len() <= MAX_LINE_BYTES - FRAME_BYTES);
    let n_left = |idx: usize| told.operations[idx].layers[0].tried.len();
    (told.shortened, [n_left(0), n_left(1)])
}

#[test]
fn what_does_not_fit_a_line_is_told_without_rules_that_do_not_decide() {
    const MIB: usize = 1024 * 1024;
    assert_eq!(left([MIB, 2 * MIB]), (false, [1024, 2048]));
    assert_eq!(left([4 * MIB, 5 * MIB]), (true, [0, 5120]));
    assert_eq!(left([MIB, 9 * MIB]), (true, [0, 0]));
}
