//! A gate in the simplest words.

use super::*;

/// A question as the model knows it.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    number: usize,
    texts: Vec<usize>,
    pub(super) is_open: bool,
    is_repeated: bool,
    is_policy: bool,
}

/// A gate in the simplest words.
#[derive(Default)]
pub(super) struct Model {
    /// How often each call was made, since another one was let run that does something.
    n_made: BTreeMap<Vec<usize>, u32>,
    pub(super) waiting: BTreeMap<u8, Asked>,
    settled: BTreeMap<u8, Answer>,
    pub(super) grants: BTreeMap<u8, GrantOf>,
    /// Those whose last use was taken.
    used_up: BTreeMap<u8, GrantOf>,
    /// Uses that were given in all, and taken for calls that ran.
    uses: BTreeMap<u8, (u32, u32)>,
    /// What was taken for calls that were refused all the same, and is not given back yet.
    unused: Vec<GrantId>,
    /// Whether who submits refuses what may run.
    pub(super) refuses: bool,
    now: u64,
    /// For each submission: how often it was settled.
    pub(super) n_settled: Vec<u32>,
}

fn name_of(id: &GrantId) -> u8 {
    id.as_str().trim_start_matches('g').parse().unwrap()
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
    pub(super) fn places(&self, asked: &Asked) -> Option<Vec<usize>> {
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
    fn take_uses(&mut self, texts: &[usize], grants: &[GrantId], used: &[GrantId]) {
        let names: Vec<u8> = grants.iter().map(name_of).collect();
        assert!(
            self.is_covered(texts, |grant| names.contains(&grant.name)),
            "{texts:?} {grants:?}"
        );
        let mut limited = Vec::new();
        for name in names {
            let grant = self.grants.get_mut(&name).unwrap();
            let Some(left) = &mut grant.uses else {
                continue;
            };
            *left = left.checked_sub(1).expect("a use is left");
            limited.push(grant_id(name));
            if *left == 0 {
                self.used_up.extend(self.grants.remove_entry(&name));
            }
        }
        assert_eq!(used, limited);
    }

    /// Lets a call run, or refuses it all the same.
    fn run(&mut self, permitted: Permitted<usize>, texts: &[usize], number: usize) {
        if !texts.is_empty() {
            self.n_made.retain(|other, _| other == texts);
        }
        if self.refuses {
            let used = permitted.used().to_vec();
            let refusal = permitted.refuse(RefusalCause::NotJudged);
            assert_eq!(refusal.unused(), used);
            self.unused.extend(used);
            return;
        }
        for name in permitted.used().iter().map(name_of) {
            let (given, ran) = self.uses.get_mut(&name).unwrap();
            *ran += 1;
            assert!(ran <= given, "a use lets one call run");
        }
        assert_eq!(permitted.release().1, number, "what was asked is what runs");
    }

    fn give_back(&mut self) {
        for id in std::mem::take(&mut self.unused) {
            let name = name_of(&id);
            if let Some(grant) = self.grants.get_mut(&name) {
                grant.uses = grant.uses.map(|left| left + 1);
            } else if let Some(mut grant) = self.used_up.remove(&name) {
                grant.uses = Some(1);
                self.grants.insert(name, grant);
            }
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
        self.uses.entry(grant.name).or_default().0 += grant.uses.unwrap_or(0);
        self.used_up.remove(&grant.name);
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
                        self.take_uses(texts, grants, permitted.used());
                    }
                    DecidedBy::Answer(answer) => panic!("nobody answered: {answer:?}"),
                }
                self.run(permitted, texts, number);
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
        self.take_uses(&asked.texts, grants, permitted.used());
        self.settle(id, answer.clone());
        self.run(permitted, &asked.texts, asked.number);
    }

    fn answer(&mut self, gate: &mut Gate<usize>, id: u8, answer: &Answer) {
        match gate.answer(&request(id), answer.clone()) {
            Ok(settled) => {
                assert!(self.is_open(id));
                let asked = self.settle(id, answer.clone());
                match settled {
                    Settled::Run(permitted) => {
                        assert!(answer.is_approval());
                        assert_eq!(permitted.used(), []);
                        self.run(permitted, &asked.texts, asked.number);
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

    pub(super) fn withhold(&mut self, gate: &mut Gate<usize>, id: u8, answer: &Answer) {
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
                self.run(permitted, texts, EDITED);
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
                self.take_uses(&rest, with, permitted.used());
            }
            let asked = self.settle(id, answer.clone());
            assert!(asked.is_policy);
            self.run(permitted, &asked.texts, asked.number);
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

    pub(super) fn do_deed(&mut self, gate: &mut Gate<usize>, deed: &Deed) {
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
                self.used_up.clear();
                grants.iter().for_each(|grant| self.add(grant.clone()));
            }
            Deed::Revoke { name } => {
                let was_there = self.grants.remove(name).is_some();
                self.used_up.remove(name);
                assert_eq!(gate.revoke(&grant_id(*name)), was_there);
            }
            Deed::Advance { now } => {
                gate.advance(*now);
                self.now = self.now.max(*now);
                self.forget_ended();
            }
            Deed::GiveBack => {
                gate.give_back(&self.unused);
                self.give_back();
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
