//! The state machine against one in the simplest words: each call settles exactly once, nothing that
//! is denied runs, and a grant only turns ask into allow.

mod skills;

use std::collections::BTreeMap;

use podward_policy::{
    AskedBy, Asker, GrantRule, KnownTools, LayerKind, Lowered, Operation, Operations, Policy,
    PolicySpec, RuleSpec,
};
use proptest::prelude::*;

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
    ]
}

/// A question as the model knows it.
#[derive(Debug, Clone)]
struct Asked {
    number: usize,
    texts: Vec<usize>,
    is_open: bool,
    is_repeated: bool,
    is_policy: bool,
}

/// A gate in the simplest words.
#[derive(Default)]
struct Model {
    n_made: BTreeMap<Vec<usize>, u32>,
    waiting: BTreeMap<u8, Asked>,
    settled: BTreeMap<u8, Answer>,
    grants: BTreeMap<u8, GrantOf>,
    now: u64,
    /// For each submission: how often it was settled.
    n_settled: Vec<u32>,
}

impl Model {
    /// The parts that are asked about, if it is only asked about.
    fn parts<'a>(&self, texts: &'a [usize]) -> Vec<&'a usize> {
        let asks = |text: &&usize| asker_of(TEXTS[**text]).is_some();
        texts.iter().filter(asks).collect()
    }

    fn counts(&self, grant: &GrantOf) -> bool {
        grant.uses != Some(0) && grant.expires_at.is_none_or(|end| end > self.now)
    }

    /// Whether grants that count cover every part that asks.
    fn is_covered(&self, texts: &[usize], how: impl Fn(&GrantOf) -> bool) -> bool {
        let parts = self.parts(texts);
        let covers = |text: &&usize| {
            let mut grants = self.grants.values().filter(|grant| self.counts(grant));
            grants.any(|grant| how(grant) && grant.covers(**text))
        };
        !parts.is_empty() && parts.iter().all(covers)
    }

    /// What of a question a new grant leaves to those of earlier, if together they cover all that
    /// asks; only to where the grant covers something.
    fn answers(&self, grant: &GrantOf, asked: &Asked) -> Option<Vec<usize>> {
        let parts = self.parts(&asked.texts);
        let rest: Vec<usize> = parts
            .iter()
            .filter(|part| !grant.covers(***part))
            .map(|part| **part)
            .collect();
        let is_rest_covered =
            rest.is_empty() || (!asked.is_repeated && self.is_covered(&rest, |_| true));
        let may = asked.is_policy && rest.len() < parts.len() && is_rest_covered;
        // What no grant may cover at all is not among the rest that is covered.
        may.then_some(rest)
    }

    /// The places of what asks and what no grant covers, found one by one.
    fn places(&self, asked: &Asked) -> Option<Vec<usize>> {
        let parts = self.parts(&asked.texts);
        let mut places = Vec::new();
        for (place, part) in parts.iter().enumerate() {
            let mut grants = self.grants.values();
            if !grants.any(|grant| self.counts(grant) && grant.covers(**part)) {
                places.push(place);
            }
        }
        let is_some = !places.is_empty() && places.len() < parts.len();
        (is_some && asked.is_policy && !asked.is_repeated).then_some(places)
    }

    /// Takes the uses that the gate says it took, and checks that it may.
    fn take_uses(&mut self, texts: &[usize], used: &[GrantId]) {
        let names: Vec<u8> = used
            .iter()
            .map(|id| id.as_str().trim_start_matches('g').parse().unwrap())
            .collect();
        assert!(
            self.is_covered(texts, |grant| names.contains(&grant.name)),
            "{texts:?} {used:?}"
        );
        for name in names {
            let grant = self.grants.get_mut(&name).unwrap();
            grant.uses = grant
                .uses
                .map(|left| left.checked_sub(1).expect("a use is left"));
        }
        self.forget_ended();
    }

    fn forget_ended(&mut self) {
        let now = self.now;
        self.grants.retain(|_, grant| {
            grant.uses != Some(0) && grant.expires_at.is_none_or(|end| end > now)
        });
    }

    fn add(&mut self, grant: GrantOf) {
        self.grants.insert(grant.name, grant);
        self.forget_ended();
    }

    fn settle(&mut self, id: u8, answer: Answer) -> Asked {
        let asked = self
            .waiting
            .remove(&id)
            .expect("only what waits is settled");
        self.n_settled[asked.number] += 1;
        self.settled.insert(id, answer);
        asked
    }

    fn submit(&mut self, gate: &mut Gate<usize>, id: u8, texts: &[usize], again: bool) {
        let number = self.n_settled.len();
        self.n_settled.push(0);
        let times = self.n_made.entry(texts.to_vec()).or_default();
        *times += u32::from(!again);
        let is_repeated = !again && *times >= REPEATS_ASKED;
        let is_new = !self.waiting.contains_key(&id) && !self.settled.contains_key(&id);
        let verdict = verdict(texts);
        let submitted = match again {
            true => gate.submit_again(call(id, texts, number)),
            false => gate.submit(call(id, texts, number)),
        };
        match submitted {
            Submitted::Settled(Settled::Run(permitted)) => {
                assert_ne!(verdict, Action::Deny);
                assert!(!is_repeated && !again);
                match permitted.by() {
                    DecidedBy::Policy => assert_eq!(verdict, Action::Allow),
                    DecidedBy::Grants { grants, .. } => {
                        assert_eq!(verdict, Action::Ask);
                        self.take_uses(texts, grants);
                    }
                    DecidedBy::Answer(answer) => panic!("nobody answered: {answer:?}"),
                }
                assert_eq!(permitted.release().1, number);
                self.n_settled[number] += 1;
            }
            Submitted::Settled(Settled::Refuse(refusal)) => {
                assert!(verdict == Action::Deny || !is_new, "{refusal:?}");
                self.n_settled[number] += 1;
            }
            Submitted::Ask(question) => {
                assert!(is_new);
                assert!(
                    verdict == Action::Ask || (verdict == Action::Allow && (is_repeated || again))
                );
                assert!(
                    again || is_repeated || !self.is_covered(texts, |_| true),
                    "{texts:?}"
                );
                assert_eq!(question.asking().is_empty(), verdict == Action::Allow);
                let asked = Asked {
                    number,
                    texts: texts.to_vec(),
                    is_open: false,
                    is_repeated,
                    is_policy: verdict == Action::Ask,
                };
                self.waiting.insert(id, asked);
            }
        }
    }

    /// What an error about a question has to say.
    fn check_error(&self, id: u8, error: &AnswerError) {
        match error {
            AnswerError::AlreadySettled { by, .. } => assert_eq!(Some(by), self.settled.get(&id)),
            AnswerError::Unknown { .. } => assert!(!self.settled.contains_key(&id)),
            error => panic!("{error}"),
        }
    }

    fn is_open(&self, id: u8) -> bool {
        self.waiting.get(&id).is_some_and(|asked| asked.is_open)
    }

    fn put(&mut self, gate: &mut Gate<usize>, id: u8) {
        let is_held = self.waiting.get(&id).is_some_and(|asked| !asked.is_open);
        match gate.put(&request(id)) {
            Ok(Put::Open) => {
                assert!(is_held);
                self.waiting.get_mut(&id).unwrap().is_open = true;
            }
            Ok(Put::Settled(settled)) => {
                assert!(is_held);
                self.granted(id, settled);
            }
            Err(error) => {
                assert!(!is_held);
                self.check_error(id, &error);
            }
        }
    }

    /// A question was settled by grants.
    fn granted(&mut self, id: u8, settled: Settled<usize>) {
        let Settled::Run(permitted) = settled else {
            panic!("a grant refuses nothing");
        };
        let DecidedBy::Answer(answer @ Answer::Granted { grants, .. }) = permitted.by() else {
            panic!("{:?}", permitted.by());
        };
        let asked = self.waiting[&id].clone();
        assert!(asked.is_policy && !asked.is_repeated);
        self.take_uses(&asked.texts, grants);
        self.settle(id, answer.clone());
        assert_eq!(permitted.release().1, asked.number);
    }

    fn answer(&mut self, gate: &mut Gate<usize>, id: u8, answer: &Answer) {
        match gate.answer(&request(id), answer.clone()) {
            Ok(settled) => {
                assert!(self.is_open(id));
                let asked = self.settle(id, answer.clone());
                match settled {
                    Settled::Run(permitted) => {
                        assert!(answer.is_approval());
                        assert_eq!(
                            permitted.release().1,
                            asked.number,
                            "what was asked is what runs"
                        );
                    }
                    Settled::Refuse(_) => assert!(!answer.is_approval()),
                }
            }
            Err(AnswerError::Incomplete { .. }) => {
                assert!(self.is_open(id));
                assert!(matches!(
                    answer,
                    Answer::Always { .. } | Answer::Edited { .. } | Answer::Granted { .. }
                ));
            }
            Err(error) => {
                assert!(!self.is_open(id));
                self.check_error(id, &error);
            }
        }
    }

    fn withhold(&mut self, gate: &mut Gate<usize>, id: u8, answer: &Answer) {
        match gate.withhold(&request(id), answer.clone()) {
            Ok(_) => {
                assert!(!answer.is_approval());
                self.settle(id, answer.clone());
            }
            Err(AnswerError::Incomplete { .. }) => assert!(answer.is_approval()),
            Err(error) => {
                assert!(!self.waiting.contains_key(&id));
                self.check_error(id, &error);
            }
        }
    }

    fn edit(&mut self, gate: &mut Gate<usize>, id: u8, texts: &[usize]) {
        const EDITED: usize = usize::MAX;
        match gate.edit(&request(id), call(id, texts, EDITED), "ann") {
            Ok(Settled::Run(permitted)) => {
                assert!(self.is_open(id));
                assert_ne!(verdict(texts), Action::Deny);
                assert_eq!(permitted.facts().arguments(), format!("{texts:?}"));
                self.settle(id, Answer::Edited { by: "ann".into() });
                assert_eq!(permitted.release().1, EDITED);
            }
            Ok(Settled::Refuse(refusal)) => panic!("{refusal:?}"),
            Err(EditError::Denied { ruling, .. }) => {
                assert!(self.is_open(id));
                assert_eq!(
                    (verdict(texts), ruling.action),
                    (Action::Deny, Action::Deny)
                );
            }
            Err(EditError::Answer(error)) => {
                assert!(!self.is_open(id));
                self.check_error(id, &error);
            }
            Err(error) => panic!("{error}"),
        }
    }

    fn grant(&mut self, gate: &mut Gate<usize>, grant: &GrantOf, answering: Option<u8>) {
        let answered = answering.map(request);
        let settled = match gate.grant(grant.grant(), answered.as_ref()) {
            Ok(settled) => settled,
            Err(error) => {
                let id = answering.unwrap();
                let covers = |asked: &Asked| self.answers(grant, asked).is_some();
                match error {
                    AnswerError::NotGrantable { .. } | AnswerError::NotCovered { .. } => {
                        assert!(self.is_open(id) && !covers(&self.waiting[&id]));
                    }
                    error => {
                        assert!(!self.is_open(id));
                        self.check_error(id, &error);
                    }
                }
                return;
            }
        };
        let mut settled = settled.into_iter();
        if let Some(id) = answering {
            let (first, by_answer) = settled.next().unwrap();
            assert_eq!(first, request(id));
            assert!(self.is_open(id));
            let rest = self
                .answers(grant, &self.waiting[&id])
                .expect("it covers it");
            let permitted = match by_answer {
                Settled::Run(permitted) => permitted,
                Settled::Refuse(refusal) => panic!("{refusal:?}"),
            };
            let DecidedBy::Answer(
                answer @ Answer::Always {
                    grant: of, with, ..
                },
            ) = permitted.by()
            else {
                panic!("{:?}", permitted.by());
            };
            assert_eq!(
                (of, with.is_empty()),
                (&grant_id(grant.name), rest.is_empty())
            );
            if !rest.is_empty() {
                self.take_uses(&rest, with);
            }
            let asked = self.settle(id, answer.clone());
            assert!(asked.is_policy);
            assert_eq!(permitted.release().1, asked.number);
        }
        self.add(grant.clone());
        for (id, settled) in settled {
            let id = id.as_str().parse().unwrap();
            assert!(self.is_open(id));
            self.granted(id, settled);
        }
        // What it meets and grants without limit cover is not left open.
        for asked in self
            .waiting
            .values()
            .filter(|asked| asked.is_open && asked.is_policy)
        {
            let parts = self.parts(&asked.texts);
            let is_met = self.grants.contains_key(&grant.name)
                && parts.iter().any(|part| grant.covers(**part));
            let is_covered = self.is_covered(&asked.texts, |grant| grant.uses.is_none());
            assert!(asked.is_repeated || !is_met || !is_covered, "{asked:?}");
        }
    }

    fn do_deed(&mut self, gate: &mut Gate<usize>, deed: &Deed) {
        match deed {
            Deed::BeginTurn => {
                gate.begin_turn();
                self.n_made.clear();
            }
            Deed::Submit { id, texts, again } => self.submit(gate, *id, texts, *again),
            Deed::Put { id } => self.put(gate, *id),
            Deed::Answer { id, answer } => self.answer(gate, *id, answer),
            Deed::Withhold { id, answer } => self.withhold(gate, *id, answer),
            Deed::Edit { id, texts } => self.edit(gate, *id, texts),
            Deed::Grant { grant, answering } => self.grant(gate, grant, *answering),
            Deed::SetGrants { grants } => {
                gate.set_grants(grants.iter().map(GrantOf::grant).collect());
                self.grants.clear();
                for grant in grants {
                    self.grants.insert(grant.name, grant.clone());
                    self.forget_ended();
                }
            }
            Deed::Revoke { name } => {
                let was_there = self.grants.remove(name).is_some();
                assert_eq!(gate.revoke(&grant_id(*name)), was_there);
            }
            Deed::Advance { now } => {
                gate.advance(*now);
                self.now = self.now.max(*now);
                self.forget_ended();
            }
            Deed::RejectAll => {
                let n_open = self.waiting.values().filter(|asked| asked.is_open).count();
                let settled = gate.reject_all("bob", Some("stop"));
                assert_eq!(settled.len(), n_open);
                for (id, settled) in settled {
                    assert!(matches!(settled, Settled::Refuse(_)));
                    let id = id.as_str().parse().unwrap();
                    assert!(self.is_open(id));
                    let answer = Answer::Rejected {
                        by: "bob".into(),
                        feedback: Some("stop".into()),
                    };
                    self.settle(id, answer);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn each_call_settles_exactly_once(deeds in prop::collection::vec(arb_deed(), 0..80)) {
        let mut gate = Gate::new(policies());
        let mut model = Model::default();
        for deed in &deeds {
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
