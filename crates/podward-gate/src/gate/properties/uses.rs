//! A grant for some uses, and all the ways in which calls take them.

use super::*;

/// How a call meets the grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Its question is open when the grant is given.
    Open,
    /// It was submitted before that; its question is put after it.
    Held,
    /// It is submitted after it.
    Submitted,
}

/// A gate, and whose count of the uses it is.
struct Counting {
    gate: Gate<usize>,
    grant: GrantOf,
    /// The uses that are left, where somebody else counts them.
    left: Option<u32>,
    n_ran: u32,
}

impl Counting {
    /// Somebody else takes a use of each of these, and says so.
    fn take(&mut self, wanted: &[Grant]) {
        if let (Some(left), [_]) = (&mut self.left, wanted) {
            *left = left.checked_sub(1).expect("a use is left");
            self.tell();
        }
    }

    fn tell(&mut self) {
        let uses = self.left.filter(|left| *left > 0);
        let grant = GrantOf {
            uses,
            ..self.grant.clone()
        };
        let grants = uses.map(|_| grant.grant());
        self.gate.set_grants(grants.into_iter().collect());
    }

    fn submit(&mut self, id: u8) -> Submitted<usize> {
        // No call is repeated.
        self.gate.begin_turn();
        let call = call(id, &[1], usize::from(id));
        match self.left {
            None => self.gate.submit(call),
            Some(_) => {
                let wanted = self.gate.uses_for_call(call.facts());
                self.take(&wanted);
                let taken = BTreeMap::from([(request(id), wanted)]);
                self.gate.submit_with(call, Uses::Taken(&taken))
            }
        }
    }

    fn put(&mut self, id: u8) -> Put<usize> {
        let id = request(id);
        let put = match self.left {
            None => self.gate.put(&id),
            Some(_) => {
                let wanted = self.gate.uses_for_question(&id);
                self.take(&wanted);
                let taken = BTreeMap::from([(id.clone(), wanted)]);
                self.gate.put_with(&id, Uses::Taken(&taken))
            }
        };
        put.unwrap()
    }

    fn give(&mut self) -> Vec<(RequestId, Settled<usize>)> {
        let grant = self.grant.grant();
        let settled = match self.left {
            None => self.gate.grant(grant, None),
            Some(_) => {
                self.tell();
                let wanted = self.gate.uses_for_grant(&grant, None);
                wanted.iter().for_each(|(_, wanted)| self.take(wanted));
                let taken = wanted.into_iter().collect();
                self.gate.grant_with(grant, None, Uses::Taken(&taken))
            }
        };
        settled.unwrap()
    }

    /// A call that may run does so, or is refused all the same.
    fn run(&mut self, settled: Settled<usize>, is_refused: bool) {
        let Settled::Run(permitted) = settled else {
            panic!("a grant refuses nothing");
        };
        assert_eq!(permitted.used(), [grant_id(self.grant.name)]);
        if !is_refused {
            self.n_ran += 1;
            let (_permit, _call) = permitted.release();
            return;
        }
        let refusal = permitted.refuse(RefusalCause::NotJudged);
        match &mut self.left {
            None => self.gate.give_back(refusal.unused()),
            Some(left) => {
                *left += 1;
                self.tell();
            }
        }
    }
}

fn arb_calls() -> impl Strategy<Value = Vec<(Way, bool)>> {
    let way = prop::sample::select(vec![Way::Open, Way::Held, Way::Submitted]);
    prop::collection::vec((way, prop::bool::weighted(0.3)), 0..10)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// As many calls run as it has uses, if so many come; one that is refused all the same takes none.
    #[test]
    fn a_grant_for_some_uses_lets_as_many_calls_run(
        n_uses in 1..6u32,
        mut calls in arb_calls(),
        is_counted_elsewhere in any::<bool>(),
    ) {
        calls.sort_by_key(|(way, _)| *way != Way::Open);
        let grant = GrantOf { name: 0, pattern: 1, askers: vec![0], expires_at: None, uses: Some(n_uses) };
        let left = is_counted_elsewhere.then_some(n_uses);
        let mut counting = Counting { gate: Gate::new(policies()), grant, left, n_ran: 0 };
        for (id, (way, _)) in (0..).zip(&calls) {
            if *way != Way::Submitted {
                prop_assert!(matches!(counting.submit(id), Submitted::Ask(_)));
            }
            if *way == Way::Open {
                prop_assert!(matches!(counting.put(id), Put::Open));
            }
        }
        let n_open = calls.iter().filter(|(way, _)| *way == Way::Open).count();
        let settled = counting.give();
        prop_assert_eq!(settled.len(), n_open.min(n_uses as usize));
        let (mut expected_left, mut expected_ran) = (n_uses, 0);
        let mut expect = |is_refused: bool| {
            expected_left -= u32::from(!is_refused);
            expected_ran += u32::from(!is_refused);
            expected_left
        };
        let mut now_left = n_uses;
        for ((_, settled), (_, is_refused)) in settled.into_iter().zip(&calls) {
            counting.run(settled, *is_refused);
            now_left = expect(*is_refused);
        }
        for (id, (way, is_refused)) in (0..).zip(&calls).skip(n_open) {
            let settled = match way {
                Way::Open => continue,
                Way::Held => match counting.put(id) {
                    Put::Settled(settled) => Some(settled),
                    Put::Open => None,
                },
                Way::Submitted => match counting.submit(id) {
                    Submitted::Settled(settled) => Some(settled),
                    Submitted::Ask(_) => None,
                },
            };
            prop_assert_eq!(settled.is_some(), now_left > 0);
            if let Some(settled) = settled {
                counting.run(settled, *is_refused);
                now_left = expect(*is_refused);
            }
        }
        prop_assert_eq!(counting.n_ran, expected_ran);
        let left: Vec<_> = counting.gate.grants().map(|grant| grant.uses_left).collect();
        let is_left = Some(Some(now_left)).filter(|_| now_left > 0);
        prop_assert_eq!(left, Vec::from_iter(is_left));
    }
}
