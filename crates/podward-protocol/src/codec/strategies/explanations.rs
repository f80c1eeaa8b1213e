//! Why a verdict is what it is.

use super::*;

pub(super) fn explanation() -> impl Strategy<Value = Explanation> {
    (
        ruling(),
        vec(explained_operation(), 0..2),
        option::of(change()),
        any::<bool>(),
    )
        .prop_map(|(ruling, operations, change, shortened)| Explanation {
            ruling,
            operations,
            change,
            shortened,
        })
}

pub(super) fn explained_call() -> impl Strategy<Value = ExplainedCall> {
    let call = (session(), call(), option::of(call()), json());
    let decision = (time(), text(), decided_by(), option::of(refusal())).prop_map(
        |(time, outcome, by, refusal)| PastDecision {
            time,
            outcome,
            by,
            refusal,
        },
    );
    (
        call,
        any::<[String; 4]>(),
        vec(decision, 0..2),
        explanation(),
        text(),
        option::of(text()),
        option::of(explanation()),
        option::of(text()),
    )
        .prop_map(
            |(call, texts, decisions, then, policy_digest, policy_digest_now, now, why_not_now)| {
                let (session, call, part_of, arguments) = call;
                let [pod, tool, workspace, cwd] = texts;
                ExplainedCall {
                    session,
                    call,
                    pod,
                    part_of,
                    tool,
                    arguments,
                    workspace,
                    cwd,
                    decisions,
                    then,
                    policy_digest,
                    policy_digest_now,
                    now,
                    why_not_now,
                }
            },
        )
}

fn explained_operation() -> impl Strategy<Value = ExplainedOperation> {
    let holes = proptest::sample::select(vec![
        HoleKind::Quoted,
        HoleKind::Unquoted,
        HoleKind::FileGlob,
        HoleKind::Anything,
    ]);
    (
        operation(),
        vec(holes, 0..2),
        vec(text(), 0..2),
        vec(layer_says(), 0..2),
    )
        .prop_map(|(operation, holes, forms, layers)| ExplainedOperation {
            operation,
            holes,
            forms,
            layers,
        })
}

fn layer_says() -> impl Strategy<Value = LayerSays> {
    (
        text(),
        ruling(),
        any::<usize>(),
        vec(tried_rule(), 0..2),
        vec(tried_rule(), 0..2),
        option::of(tried_rule()),
    )
        .prop_map(
            |(layer, ruling, n_rules, tried, later, nearest_allow)| LayerSays {
                layer,
                verdict: ruling.verdict,
                cause: ruling.cause,
                n_rules,
                tried,
                later,
                nearest_allow,
            },
        )
}

fn tried_rule() -> impl Strategy<Value = TriedRule> {
    let tried = || {
        proptest::sample::select(vec![
            Tried::OtherTool,
            Tried::NotApplied,
            Tried::NamesNoAddress,
            Tried::Differs,
            Tried::OtherForm,
            Tried::HidesUser,
            Tried::KnownInPart,
            Tried::MayMatch,
            Tried::ReachedByCode,
            Tried::Matches,
            Tried::EqualsCall,
            Tried::CoversWhatItRuns,
        ])
    };
    (
        any::<usize>(),
        any::<[String; 2]>(),
        ruling(),
        place(),
        tried(),
        option::of(tried()),
    )
        .prop_map(|(rule, texts, ruling, at, result, whole)| {
            let [tool, pattern] = texts;
            TriedRule {
                rule,
                tool,
                pattern,
                action: ruling.verdict,
                at,
                result,
                whole,
            }
        })
}
