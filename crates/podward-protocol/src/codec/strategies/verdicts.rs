//! Verdicts and what led to them.

use super::*;

pub(super) fn verdict() -> impl Strategy<Value = ToolCallVerdict> {
    (
        call(),
        text(),
        vec(operation(), 0..3),
        ruling(),
        option::of(refusal()),
        decided_by(),
        option::of(change()),
    )
        .prop_map(
            |(call, tool, operations, ruling, refusal, by, allowed_by)| ToolCallVerdict {
                allowed_by,
                part_of: None,
                call,
                tool,
                operations,
                ruling,
                refusal,
                by,
            },
        )
}

pub(super) fn place() -> impl Strategy<Value = Place> {
    (text(), any::<u32>(), any::<u32>()).prop_map(|(file, line, column)| Place {
        file,
        line,
        column,
    })
}

pub(super) fn change() -> impl Strategy<Value = Change> {
    let stands = prop_oneof![
        Just(Stands::Anywhere),
        place().prop_map(|at| Stands::Before { at }),
        Just(Stands::First),
    ];
    let rule = (text(), stands, text(), text(), text()).prop_map(
        |(layer, stands, tool, pattern, toml)| RuleToAdd {
            layer,
            stands,
            tool,
            pattern,
            toml,
        },
    );
    prop_oneof![
        vec(rule, 0..2).prop_map(|rules| Change::Rules { rules }),
        text().prop_map(|why| Change::None { why }),
        Just(Change::LeftOut),
    ]
}

pub(super) fn operation() -> impl Strategy<Value = Operation> {
    let subjects = prop_oneof![
        Just(SubjectKind::Command),
        Just(SubjectKind::Path),
        Just(SubjectKind::Tree),
        Just(SubjectKind::Url),
        Just(SubjectKind::Plain),
        Just(SubjectKind::Unknown),
    ];
    let needs = prop_oneof![
        Just(Need::Full),
        Just(Need::Restrictive),
        Just(Need::Named),
        Just(Need::Free),
        Just(Need::Derived),
        Just(Need::RunBy),
    ];
    let spans = any::<(usize, usize)>().prop_map(|(start, end)| Span { start, end });
    (
        text(),
        subjects,
        (text(), option::of(text())),
        option::of(text()),
        any::<bool>(),
        needs,
        option::of(spans),
        option::of(text()),
        vec(text(), 0..3),
    )
        .prop_map(
            |(tool, subject, (text, spelled), leads_to, known, need, span, why, partial)| {
                Operation {
                    tool,
                    subject,
                    text,
                    spelled,
                    leads_to,
                    known,
                    need,
                    span,
                    why,
                    partial,
                }
            },
        )
}

pub(super) fn ruling() -> impl Strategy<Value = Ruling> {
    let verdicts = prop_oneof![
        Just(Verdict::Allow),
        Just(Verdict::Ask),
        Just(Verdict::Deny)
    ];
    let coverage = prop_oneof![
        Just(Coverage::Full),
        vec(text(), 0..3).prop_map(|why| Coverage::Partial { why }),
    ];
    (verdicts, cause(), option::of(any::<usize>()), coverage).prop_map(
        |(verdict, cause, operation, coverage)| Ruling {
            verdict,
            cause,
            operation,
            coverage,
        },
    )
}

pub(super) fn cause() -> impl Strategy<Value = Cause> {
    prop_oneof![
        Just(Cause::NoPolicy),
        Just(Cause::NothingToRun),
        (text(), any::<usize>(), place(), text(), option::of(text())).prop_map(
            |(layer, rule, at, pattern, message)| Cause::Rule {
                layer,
                rule,
                at,
                pattern,
                message
            }
        ),
        (text(), place()).prop_map(|(layer, at)| Cause::Default { layer, at }),
        (
            text(),
            option::of(any::<usize>()),
            option::of(place()),
            text()
        )
            .prop_map(|(layer, rule, at, why)| Cause::Unresolved {
                layer,
                rule,
                at,
                why
            }),
        Just(Cause::Unrestricted),
        text().prop_map(|layer| Cause::Unnamed { layer }),
        (text(), text(), skill_says(place())).prop_map(|(name, digest, says)| Cause::Skill {
            name,
            digest,
            says
        }),
        (text(), text()).prop_map(|(name, digest)| Cause::SkillFiles { name, digest }),
        Just(Cause::Repeated),
        text().prop_map(|why| Cause::BadCall { why }),
        Just(Cause::UnknownTool),
        Just(Cause::NotJudged),
    ]
}

pub(super) fn skill_says(place: impl Strategy<Value = Place>) -> impl Strategy<Value = SkillSays> {
    prop_oneof![
        text().prop_map(|list| SkillSays::NotListed { list }),
        (text(), place).prop_map(|(entry, at)| SkillSays::Disallowed { entry, at }),
        (option::of(text()), text()).prop_map(|(list, why)| SkillSays::Unresolved { list, why }),
    ]
}
