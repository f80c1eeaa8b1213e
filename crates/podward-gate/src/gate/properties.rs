//! The state machine against one in the simplest words: each call settles exactly once, nothing that
//! is denied runs, and a grant only turns ask into allow.

mod model;
mod skills;
mod uses;

use std::collections::BTreeMap;

use podward_policy::{
    AskedBy, Asker, GrantRule, KnownTools, LayerKind, Lowered, Operation, Operations, Policy,
    PolicySpec, RuleSpec, ToolName,
};
use proptest::prelude::*;

use model::Model;

use super::*;
use crate::call::CallId;

const TOOL: &str = "mcp__s__t";

/// What calls do: some are denied, some asked about by one of three rules, some free.
const TEXTS: [&str; 7] = [
    "no",
    "maybe a",
    "maybe b",
    "perhaps a",
    "never a",
    "free",
    "no maybe",
];

/// The rules that ask, by the first word.
const ASKING: [&str; 3] = ["maybe", "perhaps", "never"];

const PATTERNS: [&str; 4] = ["maybe a", "maybe *", "perhaps *", "never *"];

fn policies() -> Policies {
    let mut spec = PolicySpec::new(Action::Allow).rule(TOOL, "no*", Action::Deny);
    for word in ASKING {
        spec = spec.rule(TOOL, format!("{word} *"), Action::Ask);
    }
    let last: Option<&mut RuleSpec> = spec.rules.last_mut();
    last.unwrap().grantable = false;
    let known = KnownTools::built_in();
    Policies::from(Policy::compile(&spec, &known).unwrap().policy)
}

/// A call that does these things.
fn call(id: u8, texts: &[usize], payload: usize) -> Call<usize> {
    let tool = ToolName::new(TOOL).unwrap();
    let operations = texts
        .iter()
        .map(|&text| Operation::plain(&tool, TEXTS[text]));
    let lowered = match Operations::from_vec(operations.collect()) {
        Some(operations) => Lowered::Operations(operations),
        None => Lowered::NothingToRun,
    };
    let id = CallId::new(&id.to_string()).unwrap();
    Call::new(
        CallFacts::new(id, tool, format!("{texts:?}"), lowered),
        payload,
    )
}

fn request(id: u8) -> RequestId {
    RequestId::from(CallId::new(&id.to_string()).unwrap())
}

fn grant_id(name: u8) -> GrantId {
    GrantId::new(&format!("g{name}")).unwrap()
}

#[derive(Debug, Clone)]
struct GrantOf {
    name: u8,
    pattern: usize,
    askers: Vec<usize>,
    expires_at: Option<u64>,
    uses: Option<u32>,
}

impl GrantOf {
    fn grant(&self) -> Grant {
        let asker = |&asker: &usize| Asker {
            layer: LayerKind::Manifest,
            by: AskedBy::Rule {
                tool: TOOL.into(),
                pattern: format!("{} *", ASKING[asker]).into(),
            },
        };
        let askers = self.askers.iter().map(asker).collect();
        let tool = ToolName::new(TOOL).unwrap();
        Grant {
            id: grant_id(self.name),
            rules: vec![GrantRule::compile(&tool, PATTERNS[self.pattern], askers).unwrap()],
            expires_at: self.expires_at,
            uses_left: self.uses,
            by: "ann".into(),
        }
    }

    fn covers(&self, text: usize) -> bool {
        let text = TEXTS[text];
        let Some(asker) = asker_of(text) else {
            return false;
        };
        let is_met = match PATTERNS[self.pattern].strip_suffix('*') {
            Some(front) => text.starts_with(front),
            None => text == PATTERNS[self.pattern],
        };
        is_met && self.askers.contains(&asker) && ASKING[asker] != "never"
    }
}

/// The rule that asks about a text.
fn asker_of(text: &str) -> Option<usize> {
    ASKING.iter().position(|word| text.starts_with(word))
}

fn verdict(texts: &[usize]) -> Action {
    let of = |&text: &usize| match TEXTS[text] {
        text if text.starts_with("no") => Action::Deny,
        text if asker_of(text).is_some() => Action::Ask,
        _ => Action::Allow,
    };
    texts.iter().map(of).max().unwrap_or(Action::Allow)
}

#[derive(Debug, Clone)]
enum Deed {
    BeginTurn,
    Submit {
        id: u8,
        texts: Vec<usize>,
        again: bool,
    },
    Put {
        id: u8,
    },
    Answer {
        id: u8,
        answer: Answer,
    },
    Withhold {
        id: u8,
        answer: Answer,
    },
    Edit {
        id: u8,
        texts: Vec<usize>,
    },
    Grant {
        grant: GrantOf,
        answering: Option<u8>,
    },
    SetGrants {
        grants: Vec<GrantOf>,
    },
    Revoke {
        name: u8,
    },
    Advance {
        now: u64,
    },
    RejectAll,
    GiveBack,
}

fn arb_answer() -> impl Strategy<Value = Answer> {
    let by = || "ann".into();
    let (name, text): (Box<str>, Box<str>) = ("h".into(), "no".into());
    prop::sample::select(vec![
        Answer::Once { by: by() },
        Answer::Auto,
        Answer::Edited { by: by() },
        Answer::Always {
            by: by(),
            grant: grant_id(0),
            with: [].into(),
        },
        Answer::Granted {
            grants: [].into(),
            by: by(),
        },
        Answer::Rejected {
            by: by(),
            feedback: None,
        },
        Answer::Rejected {
            by: by(),
            feedback: Some("better so".into()),
        },
        Answer::Expired,
        Answer::NoClient,
        Answer::NotAuto,
        Answer::TooLarge,
        Answer::Futile {
            error: text.clone(),
        },
        Answer::ClientGone,
        Answer::Cancelled,
        Answer::PodStopped,
        Answer::Interrupted,
        Answer::Hook {
            name: name.clone(),
            text: text.clone(),
        },
        Answer::HookFailed { name, why: text },
    ])
}

fn arb_grant() -> impl Strategy<Value = GrantOf> {
    let askers = prop::sample::subsequence(vec![0, 1, 2], 0..=3);
    let uses = prop::option::weighted(0.4, 0..4u32);
    let end = prop::option::weighted(0.4, 0..20u64);
    (0..5u8, 0..PATTERNS.len(), askers, end, uses).prop_map(
        |(name, pattern, askers, expires_at, uses)| GrantOf {
            name,
            pattern,
            askers,
            expires_at,
            uses,
        },
    )
}

fn arb_deed() -> impl Strategy<Value = Deed> {
    let texts = || prop::collection::vec(0..TEXTS.len(), 0..4);
    let id = || 0..10u8;
    prop_oneof![
        1 => Just(Deed::BeginTurn),
        8 => (id(), texts(), prop::bool::weighted(0.2))
            .prop_map(|(id, texts, again)| Deed::Submit { id, texts, again }),
        6 => id().prop_map(|id| Deed::Put { id }),
        4 => (id(), arb_answer()).prop_map(|(id, answer)| Deed::Answer { id, answer }),
        1 => (id(), arb_answer()).prop_map(|(id, answer)| Deed::Withhold { id, answer }),
        2 => (id(), texts()).prop_map(|(id, texts)| Deed::Edit { id, texts }),
        4 => (arb_grant(), prop::option::of(id()))
            .prop_map(|(grant, answering)| Deed::Grant { grant, answering }),
        1 => prop::collection::vec(arb_grant(), 0..4).prop_map(|grants| Deed::SetGrants { grants }),
        1 => (0..5u8).prop_map(|name| Deed::Revoke { name }),
        1 => (0..20u64).prop_map(|now| Deed::Advance { now }),
        1 => Just(Deed::RejectAll),
        2 => Just(Deed::GiveBack),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn each_call_settles_exactly_once(
        deeds in prop::collection::vec((arb_deed(), prop::bool::weighted(0.3)), 0..80)
    ) {
        let mut gate = Gate::new(policies());
        let mut model = Model::default();
        for (deed, refuses) in &deeds {
            model.refuses = *refuses;
            model.do_deed(&mut gate, deed);
            let n_open = model.waiting.values().filter(|asked| asked.is_open).count();
            prop_assert_eq!(gate.open().len(), n_open);
            prop_assert_eq!(gate.n_waiting(), model.waiting.len());
            for question in gate.open() {
                let asked = &model.waiting[&question.id().as_str().parse::<u8>().unwrap()];
                let places = gate.rest(&question).map(|rest| rest.places.to_vec());
                prop_assert_eq!(places, model.places(asked), "{:?}", asked);
            }
            let grants: Vec<_> = gate.grants().map(|grant| (grant.id.clone(), grant.uses_left)).collect();
            let expected: Vec<_> = model.grants.values().map(|grant| (grant_id(grant.name), grant.uses)).collect();
            prop_assert_eq!(grants, expected);
        }
        let waiting: Vec<u8> = model.waiting.keys().copied().collect();
        for id in waiting {
            model.withhold(&mut gate, id, &Answer::Interrupted);
        }
        prop_assert_eq!(gate.n_waiting(), 0);
        prop_assert!(model.n_settled.iter().all(|&n| n == 1), "{:?}", model.n_settled);
    }
}
