//! Properties of remembered approvals (D5.3).

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::{
    a_call, a_table, actions, config, filled, policy_of, recipes, table_for, values, with_holes,
    words,
};
use crate::action::Action;
use crate::asking::{Asker, Asking};
use crate::grant::GrantRule;
use crate::operation::{Lowered, Subject};
use crate::policy::Policies;
use crate::spec::PolicySpec;
use crate::testing::{call, layer, policies, table, tool};
use crate::verdict::LayerKind;

const GRANTED: &[(&str, &str)] = &[
    ("bash", "rm *"),
    ("bash", "rm x"),
    ("bash", "git *"),
    ("bash", "git push *"),
    ("bash", "git '*'"),
    ("bash", "ls *"),
    ("bash", "ls '*'"),
    ("bash", "echo *"),
    ("bash", "sudo rm *"),
    ("bash", "/bin/rm *"),
    ("read", "x"),
    ("read", "x/*"),
    ("read", ".env"),
    ("file_write", "x/*"),
    ("file_write", "x/?"),
    ("web_fetch", "https://a.b/*"),
    ("web_fetch", "https://c.b/*"),
    ("external_directory", "/etc/*"),
    ("mcp__a__b", "{*}"),
];

/// Grants that name any of these askers.
fn grants(askers: &[Asker], named: &[(usize, Vec<Index>)]) -> Vec<GrantRule> {
    named
        .iter()
        .map(|(idx, picked)| {
            let (name, pattern) = GRANTED[*idx];
            let askers = match askers.is_empty() {
                true => Vec::new(),
                false => picked.iter().map(|idx| idx.get(askers).clone()).collect(),
            };
            GrantRule::compile(&tool(name), pattern, askers).unwrap()
        })
        .collect()
}

fn named() -> impl Strategy<Value = Vec<(usize, Vec<Index>)>> {
    vec((0..GRANTED.len(), vec(any::<Index>(), 0..4)), 0..6)
}

/// Every asker that a random table of this layer has.
fn all_askers(spec: &PolicySpec, layer: LayerKind) -> Vec<Asker> {
    use crate::asking::AskedBy;
    let rules = spec.rules.iter().map(|rule| AskedBy::Rule {
        tool: rule.tool.as_str().into(),
        pattern: rule.pattern.as_str().into(),
    });
    rules
        .chain([AskedBy::Default, AskedBy::Unnamed, AskedBy::Unresolved])
        .map(|by| Asker { layer, by })
        .collect()
}

fn is_covered(asking: &[Asking], grants: &[GrantRule], lowered: &Lowered) -> bool {
    let covers = |asking| grants.iter().any(|grant| grant.covers(asking, lowered));
    !asking.is_empty() && asking.iter().all(covers)
}

/// An allowlist with a deny default, as a skill brings it: what it does not name is denied.
fn a_strict_layer() -> impl Strategy<Value = String> {
    vec(
        select(
            &[
                "bash | git * | allow",
                "bash | ls * | allow",
                "read | x/* | allow",
            ][..],
        ),
        0..3,
    )
    .prop_map(|rules| format!("deny\nunresolved | deny\n{}", rules.join("\n")))
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn something_asks_if_the_ruling_is_ask_and_else_nothing(
        written in a_table(),
        lowered in a_call(),
    ) {
        let policies = policy_of(&table(&written));
        let asking = policies.asking(&lowered);
        let is_ask = policies.judge(&lowered).action == Action::Ask;
        prop_assert_eq!(!asking.is_empty(), is_ask, "{}: {:?}", written, asking);
    }

    #[test]
    fn d5_3_a_grant_covers_what_is_asked_and_never_what_is_denied_or_unknown(
        written in a_table(),
        grantable in vec(any::<bool>(), 6),
        lowered in a_call(),
        named in named(),
    ) {
        let mut spec = table(&written);
        for (rule, grantable) in spec.rules.iter_mut().zip(&grantable) {
            rule.grantable = *grantable;
        }
        let policies = policy_of(&spec);
        let asking = policies.asking(&lowered);
        let grants = grants(&all_askers(&spec, LayerKind::Manifest), &named);
        let Lowered::Operations(operations) = &lowered else { return Ok(()) };
        for asking in &asking {
            let Some(grant) = grants.iter().find(|grant| grant.covers(asking, &lowered)) else {
                continue;
            };
            let operation = operations.get(asking.operation).unwrap();
            prop_assert!(!matches!(operation.subject, Subject::Unknown(_)));
            prop_assert!(grant.askers().contains(&asking.asker));
            prop_assert!(asking.grantable);
            let asks_each_time = spec.rules.iter().any(|rule| {
                let by = &asking.asker.by;
                !rule.grantable
                    && rule.action == Action::Ask
                    && matches!(by, crate::asking::AskedBy::Rule { tool, pattern }
                        if **tool == *rule.tool && **pattern == *rule.pattern)
                    // Of two that read alike the one that may be granted may have asked.
                    && !spec.rules.iter().any(|other| {
                        other.grantable && other.tool == rule.tool && other.pattern == rule.pattern
                    })
            });
            prop_assert!(!asks_each_time);
        }
        if is_covered(&asking, &grants, &lowered) {
            prop_assert_eq!(policies.judge(&lowered).action, Action::Ask);
        }
    }

    #[test]
    fn d5_3_a_grant_that_lost_an_asker_does_not_cover_it(
        written in a_table(),
        lowered in a_call(),
        named in named(),
        lost in any::<Index>(),
    ) {
        let spec = table(&written);
        let policies = policy_of(&spec);
        let asking = policies.asking(&lowered);
        if asking.is_empty() {
            return Ok(());
        }
        let lost = &lost.get(&asking).asker;
        let mut left = all_askers(&spec, LayerKind::Manifest);
        left.retain(|asker| asker != lost);
        let grants = grants(&left, &named);
        prop_assert!(!is_covered(&asking, &grants, &lowered));
    }

    #[test]
    fn d5_3_a_grant_is_nothing_to_another_layer(
        first in a_table(),
        second in prop_oneof![a_table(), a_strict_layer()],
        lowered in a_call(),
        named in named(),
    ) {
        let alone = Policies::new(vec![layer(LayerKind::User, &second)]);
        let both = Policies::new(vec![
            layer(LayerKind::Manifest, &first),
            layer(LayerKind::User, &second),
        ]);
        let grants = grants(&all_askers(&table(&first), LayerKind::Manifest), &named);
        if is_covered(&both.asking(&lowered), &grants, &lowered) {
            prop_assert_eq!(alone.judge(&lowered).action, Action::Allow);
        }
    }

    #[test]
    fn d5_3_a_text_with_holes_is_covered_only_if_every_filling_is(
        default in actions(),
        recipes in recipes(),
        words in words(),
        values in vec(values(), 8),
        patterns in vec((0_usize..4, 0_usize..4), 1..4),
        picked in vec(any::<Index>(), 1..6),
    ) {
        let table_text = table_for(default, &recipes, &words);
        let policies = policies(&table_text);
        let lowered = call(&[with_holes(&words)]);
        let asking = policies.asking(&lowered);
        let askers = all_askers(&table(&table_text), LayerKind::Manifest);
        let askers: Vec<Asker> = picked.iter().map(|idx| idx.get(&askers).clone()).collect();
        let grants: Vec<GrantRule> = patterns
            .iter()
            .filter_map(|(n_words, end)| {
                let front: Vec<String> = words
                    .iter()
                    .take(n_words + 1)
                    .map(|word| {
                        let parts = word.iter().map(|part| match part {
                            super::Part::Known(known) => *known,
                            super::Part::Quoted | super::Part::Unquoted => "*",
                        });
                        format!("'{}'", parts.collect::<String>().replace("**", "*"))
                    })
                    .collect();
                let end = ["", " *", " '*'", "*"][*end];
                let pattern = front.join(" ") + end;
                GrantRule::compile(&tool("bash"), &pattern, askers.clone()).ok()
            })
            .collect();
        if !is_covered(&asking, &grants, &lowered) {
            return Ok(());
        }
        for values in values {
            let Some(filled) = filled(&words, &values) else { continue };
            let filled = call(std::slice::from_ref(&filled));
            let ruling = policies.judge(&filled);
            let is_fine = match ruling.action {
                Action::Allow => true,
                Action::Ask => is_covered(&policies.asking(&filled), &grants, &filled),
                Action::Deny => false,
            };
            prop_assert!(is_fine, "{table_text}: {grants:?}: {filled:?}: {ruling:?}");
        }
    }
}

#[test]
fn the_cases_with_holes_are_not_empty() {
    // The property above would hold for grants that cover nothing as well.
    let policies = policies("ask\nbash | rm -f* | ask");
    let mut n_covered = 0;
    let patterns = ["rm *", "rm '*'", "ls *"];
    let grants: Vec<GrantRule> = patterns
        .iter()
        .map(|pattern| {
            let askers = all_askers(&table("ask\nbash | rm -f* | ask"), LayerKind::Manifest);
            GrantRule::compile(&tool("bash"), pattern, askers).unwrap()
        })
        .collect();
    for written in ["rm ‹q›", "rm ‹u›", "rm -f ‹q›", "ls ‹u› x", "git ‹q›"] {
        let lowered = call(&[crate::testing::bash(written)]);
        n_covered += usize::from(is_covered(&policies.asking(&lowered), &grants, &lowered));
    }
    assert_eq!(n_covered, 4);
}
