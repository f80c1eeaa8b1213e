//! Skills only take away: what a gate refuses without them it refuses under them, and what one of
//! them does not list no yes lets run.

use podward_policy::SkillLists;
use prop::sample::select;

use super::*;
use crate::refusal_text;

const LISTED: [&str; 6] = ["maybe a", "maybe *", "perhaps *", "never *", "free", "*"];

const RULED: [&str; 7] = [
    "maybe a",
    "maybe *",
    "perhaps *",
    "never *",
    "free",
    "no*",
    "*",
];

fn is_met(pattern: &str, text: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(front) => text.starts_with(front),
        None => text == pattern,
    }
}

/// What a skill lists, as places in [`LISTED`].
#[derive(Debug, Clone)]
struct Listing {
    allowed: Option<Vec<usize>>,
    disallowed: Vec<usize>,
}

impl Listing {
    /// In the simplest words.
    fn lists(&self, text: &str) -> bool {
        let has = |list: &[usize]| list.iter().any(|&at| is_met(LISTED[at], text));
        !has(&self.disallowed) && self.allowed.as_deref().is_none_or(has)
    }

    fn layer(&self, name: usize) -> Arc<SkillLayer> {
        let default = match self.allowed {
            Some(_) => Action::Deny,
            None => Action::Allow,
        };
        let mut spec = PolicySpec::new(default);
        spec.unresolved = Some(Action::Deny);
        for &at in &self.disallowed {
            spec = spec.rule(TOOL, LISTED[at], Action::Deny);
        }
        for &at in self.allowed.iter().flatten() {
            spec = spec.rule(TOOL, LISTED[at], Action::Allow);
        }
        let policy = Policy::compile(&spec, &KnownTools::built_in())
            .unwrap()
            .policy;
        let skill = SkillLists {
            name: format!("skill-{name}").into(),
            digest: "sha256:0".into(),
            allowed: self.allowed.as_ref().map(|_| "as written".into()),
        };
        Arc::new(SkillLayer::new(skill, policy))
    }
}

fn layers(skills: &[Listing]) -> Vec<Arc<SkillLayer>> {
    let skills = skills.iter().enumerate();
    skills.map(|(name, listing)| listing.layer(name)).collect()
}

fn arb_skills() -> impl Strategy<Value = Vec<Listing>> {
    let allowed = prop::option::weighted(0.7, prop::collection::vec(0..LISTED.len(), 0..4));
    let disallowed = prop::collection::vec(0..LISTED.len() - 1, 0..2);
    let listing = (allowed, disallowed).prop_map(|(allowed, disallowed)| Listing {
        allowed,
        disallowed,
    });
    prop::collection::vec(listing, 0..4)
}

fn arb_rules() -> impl Strategy<Value = (Action, Vec<(usize, Action)>)> {
    // Much is asked about: that is where a yes has something to say.
    let action = || select(vec![Action::Allow, Action::Ask, Action::Ask, Action::Deny]);
    let rule = (0..RULED.len(), action());
    (action(), prop::collection::vec(rule, 0..5))
}

fn ruled((default, rules): &(Action, Vec<(usize, Action)>)) -> Policies {
    let spec = rules
        .iter()
        .fold(PolicySpec::new(*default), |spec, (at, action)| {
            spec.rule(TOOL, RULED[*at], *action)
        });
    let known = KnownTools::built_in();
    Policies::from(Policy::compile(&spec, &known).unwrap().policy)
}

/// Grants that cover whatever these policies ask about in a call, as far as their patterns go.
fn grants(policies: &Policies, texts: &[usize], named: &[(usize, Option<u32>)]) -> Vec<Grant> {
    let tool = ToolName::new(TOOL).unwrap();
    let asking = policies.asking(call(0, texts, 0).facts.lowered());
    let askers: Vec<Asker> = asking.into_iter().map(|asking| asking.asker).collect();
    let grant = |(name, (pattern, uses)): (usize, &(usize, Option<u32>))| Grant {
        id: GrantId::new(&format!("g{name}")).unwrap(),
        rules: vec![GrantRule::compile(&tool, LISTED[*pattern], askers.clone()).unwrap()],
        expires_at: None,
        uses_left: *uses,
        by: "ann".into(),
    };
    named.iter().enumerate().map(grant).collect()
}

/// A yes of every kind.
#[derive(Debug, Clone, Copy)]
enum Yes {
    Once,
    Auto,
    Edit,
    Always,
    GrantOfLater,
}

/// What a yes makes of an open question; `None`: it is open as before.
fn say(
    gate: &mut Gate<usize>,
    yes: Yes,
    texts: &[usize],
    grants: &[Grant],
) -> Option<Settled<usize>> {
    let id = request(0);
    match yes {
        Yes::Once => gate.answer(&id, Answer::Once { by: "ann".into() }).ok(),
        Yes::Auto => gate.answer(&id, Answer::Auto).ok(),
        Yes::Edit => gate.edit(&id, call(0, texts, 1), "ann").ok(),
        Yes::Always => {
            let settled = grants
                .iter()
                .find_map(|grant| gate.grant(grant.clone(), Some(&id)).ok());
            settled
                .into_iter()
                .flatten()
                .map(|(_, settled)| settled)
                .next()
        }
        Yes::GrantOfLater => {
            let all = grants
                .iter()
                .map(|grant| gate.grant(grant.clone(), None).unwrap());
            let settled: Vec<_> = all.flatten().collect();
            settled.into_iter().map(|(_, settled)| settled).next()
        }
    }
}

/// Runs, asks, refused: from weak to strict.
fn rank(submitted: &Submitted<usize>) -> u8 {
    match submitted {
        Submitted::Settled(Settled::Run(_)) => 0,
        Submitted::Ask(_) => 1,
        Submitted::Settled(Settled::Refuse(_)) => 2,
    }
}

/// Checks that a refusal names one of these skills, which does not list the call.
fn check_named(refusal: &Refusal, skills: &[Listing], texts: &[usize]) {
    let Some(Cause::Skill { name, .. }) = refusal.ruling().map(|ruling| &ruling.cause) else {
        panic!("{refusal:?}");
    };
    let at: usize = name.trim_start_matches("skill-").parse().unwrap();
    let denies = |text: &usize| !skills[at].lists(TEXTS[*text]);
    assert!(texts.is_empty() || texts.iter().any(denies), "{refusal:?}");
    let text = refusal_text(refusal);
    assert!(text.contains(&format!("`{name}`")), "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn skills_only_take_away_and_no_grant_helps(
        rules in arb_rules(),
        skills in arb_skills(),
        texts in prop::collection::vec(0..TEXTS.len(), 0..4),
        named in prop::collection::vec((0..LISTED.len() - 1, prop::option::of(0..3u32)), 0..4),
        again in prop::bool::weighted(0.2),
    ) {
        let policies = ruled(&rules);
        let grants = grants(&policies, &texts, &named);
        let submit = |skills: &[Listing]| {
            let mut gate = Gate::new(policies.clone());
            gate.set_grants(grants.clone());
            gate.set_skills(layers(skills));
            let submitted = match again {
                true => gate.submit_again(call(0, &texts, 0)),
                false => gate.submit(call(0, &texts, 0)),
            };
            (submitted, gate)
        };
        let (without, _) = submit(&[]);
        let (under, gate) = submit(&skills);
        let is_listed = skills.iter().all(|skill| texts.iter().all(|text| skill.lists(TEXTS[*text])));
        prop_assert!(rank(&under) >= rank(&without));
        if !is_listed {
            prop_assert_eq!(rank(&under), 2, "{:?}", under);
        } else if !texts.is_empty() {
            prop_assert_eq!(rank(&under), rank(&without), "{:?}", under);
        }
        if let (Submitted::Settled(Settled::Refuse(refusal)), 0..2) = (&under, rank(&without)) {
            check_named(refusal, &skills, &texts);
            // What did not run has used nothing up.
            let left: Vec<_> = gate.grants().map(|grant| (&grant.id, grant.uses_left)).collect();
            let given = grants.iter().filter(|grant| grant.uses_left != Some(0));
            let given: Vec<_> = given.map(|grant| (&grant.id, grant.uses_left)).collect();
            prop_assert_eq!(left, given);
        }
        // Nothing of them is left when they have ended.
        let (mut gate, skills) = (gate, Vec::new());
        gate.set_skills(skills);
        let submitted = gate.submit(call(1, &texts, 0));
        prop_assert!(rank(&submitted) <= 1 || rank(&without) == 2);
    }

    #[test]
    fn no_yes_of_any_kind_reaches_over_a_skill_that_began_since(
        rules in arb_rules(),
        skills in arb_skills(),
        texts in prop::collection::vec(0..TEXTS.len(), 1..4),
        named in prop::collection::vec((0..LISTED.len() - 1, prop::option::of(1..3u32)), 0..4),
        yes in select(vec![Yes::Once, Yes::Auto, Yes::Edit, Yes::Always, Yes::GrantOfLater]),
    ) {
        let policies = ruled(&rules);
        let grants = grants(&policies, &texts, &named);
        let say = |skills: &[Listing]| {
            let mut gate = Gate::new(policies.clone());
            let Submitted::Ask(question) = gate.submit(call(0, &texts, 0)) else {
                return None;
            };
            assert!(matches!(gate.put(question.id()), Ok(Put::Open)));
            gate.set_skills(layers(skills));
            Some((say(&mut gate, yes, &texts, &grants), gate))
        };
        let Some((without, _)) = say(&[]) else { return Ok(()) };
        prop_assert!(!matches!(without, Some(Settled::Refuse(_))));
        let (under, mut gate) = say(&skills).unwrap();
        let is_listed = skills.iter().all(|skill| texts.iter().all(|text| skill.lists(TEXTS[*text])));
        match &under {
            Some(Settled::Run(_)) => prop_assert!(is_listed && without.is_some()),
            Some(Settled::Refuse(refusal)) => {
                prop_assert!(!is_listed);
                check_named(refusal, &skills, &texts);
                // What was taken for it can be given back.
                gate.give_back(refusal.unused());
                for grant in gate.grants() {
                    let given = grants.iter().find(|given| given.id == grant.id).unwrap();
                    prop_assert_eq!(grant.uses_left, given.uses_left);
                }
                let n_given = match yes {
                    Yes::GrantOfLater => grants.len(),
                    Yes::Always => 1,
                    Yes::Once | Yes::Auto | Yes::Edit => 0,
                };
                prop_assert_eq!(gate.grants().count(), n_given);
            }
            // Other arguments are refused where they are given, and the question stays.
            None => prop_assert!(without.is_none() || (matches!(yes, Yes::Edit) && !is_listed)),
        }
        prop_assert_eq!(gate.n_waiting(), usize::from(under.is_none()));
    }
}
