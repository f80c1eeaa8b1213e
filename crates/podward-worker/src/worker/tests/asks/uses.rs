//! Grants that are kept elsewhere, and their uses.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;

use super::*;
use crate::gate::GrantLedger;

/// Grants on a disk that can be full.
#[derive(Default)]
struct Ledger {
    grants: Mutex<Vec<Grant>>,
    /// Whether the grants are others than the gate was told last.
    is_news: AtomicBool,
    taken: Mutex<Vec<String>>,
    used_up: Mutex<Vec<Grant>>,
    given_back: Mutex<Vec<GrantId>>,
    fails: AtomicBool,
    /// Whether a look at the disk panics.
    breaks: AtomicBool,
    now: AtomicU64,
    /// Uses are taken when something comes from here.
    go: Mutex<Option<mpsc::Receiver<()>>>,
    /// Who looks at the grants as soon as uses are taken.
    onlooker: Mutex<Option<SharedGate>>,
}

impl Ledger {
    fn of(grants: Vec<Grant>) -> Arc<Self> {
        let ledger = Self::default();
        ledger.set(grants);
        ledger.now.store(1_000, Ordering::SeqCst);
        Arc::new(ledger)
    }

    fn set(&self, grants: Vec<Grant>) {
        *self.grants.lock().unwrap() = grants;
        self.is_news.store(true, Ordering::SeqCst);
    }

    fn uses_left(&self) -> Vec<Option<u32>> {
        let grants = self.grants.lock().unwrap();
        grants.iter().map(|grant| grant.uses_left).collect()
    }

    fn setup(self: &Arc<Self>) -> Setup {
        self.added_to(Setup::default())
    }

    fn added_to(self: &Arc<Self>, setup: Setup) -> Setup {
        Setup {
            ledger: Some(Arc::clone(self) as Arc<dyn GrantLedger>),
            ..setup
        }
    }
}

impl GrantLedger for Ledger {
    fn look(&self) {
        let breaks = self.breaks.load(Ordering::SeqCst);
        assert!(!breaks, "the test breaks it");
    }

    fn refresh(&self) -> Option<Vec<Grant>> {
        let is_news = self.is_news.swap(false, Ordering::SeqCst);
        is_news.then(|| self.grants.lock().unwrap().clone())
    }

    fn take(&self, ids: &[GrantId]) -> Result<(), Vec<GrantId>> {
        let names = ids.iter().map(ToString::to_string);
        self.taken.lock().unwrap().extend(names);
        if self.fails.load(Ordering::SeqCst) {
            return Err(Vec::new());
        }
        if let Some(go) = self.go.lock().unwrap().take() {
            go.recv().unwrap();
        }
        {
            let grants = &mut *self.grants.lock().unwrap();
            self.is_news.store(true, Ordering::SeqCst);
            let is_over = |id: &&GrantId| !grants.iter().any(|grant| grant.id == **id);
            let over: Vec<_> = ids.iter().filter(is_over).cloned().collect();
            if !over.is_empty() {
                return Err(over);
            }
            for grant in grants.iter_mut().filter(|grant| ids.contains(&grant.id)) {
                grant.uses_left = grant.uses_left.map(|left| left - 1);
            }
            let over = grants.extract_if(.., |grant| grant.uses_left == Some(0));
            self.used_up.lock().unwrap().extend(over);
        }
        if let Some(onlooker) = &*self.onlooker.lock().unwrap() {
            onlooker.look_at_grants();
        }
        Ok(())
    }

    fn give_back(&self, ids: &[GrantId]) {
        let grants = &mut *self.grants.lock().unwrap();
        let used_up = &mut *self.used_up.lock().unwrap();
        self.given_back.lock().unwrap().extend_from_slice(ids);
        self.is_news.store(true, Ordering::SeqCst);
        for id in ids {
            grants.extend(used_up.extract_if(.., |grant| grant.id == *id));
            for grant in grants.iter_mut().filter(|grant| grant.id == *id) {
                grant.uses_left = grant.uses_left.map(|left| left + 1);
            }
        }
    }

    fn still_counts(&self, taken: &GrantId) -> bool {
        let grants = self.grants.lock().unwrap();
        let used_up = self.used_up.lock().unwrap();
        let mut all = grants.iter().chain(&*used_up);
        all.any(|grant| grant.id == *taken)
    }

    fn now_ms(&self) -> u64 {
        self.now.load(Ordering::SeqCst)
    }
}

fn stored(name: &str, tool: &str, pattern: &str) -> Grant {
    let asker = podward_policy::Asker {
        layer: podward_policy::LayerKind::Manifest,
        by: podward_policy::AskedBy::Rule {
            tool: "*".into(),
            pattern: "ask*".into(),
        },
    };
    let tool = ToolName::new(tool).unwrap();
    Grant {
        id: GrantId::new(name).unwrap(),
        rules: vec![GrantRule::compile(&tool, pattern, vec![asker]).unwrap()],
        expires_at: None,
        uses_left: None,
        by: "ann".into(),
    }
}

/// Where the look at the disk does not come to its end, nobody knows what was revoked.
#[tokio::test]
async fn no_grant_counts_that_nobody_could_look_at() {
    let ledger = Ledger::of(vec![stored("old", "echo", "ask*")]);
    let mut kit = Kit::with(&script(&[&[("echo", "ask a")]]), ledger.setup());
    ledger.breaks.store(true, Ordering::SeqCst);
    kit.turn("go").await;
    assert_eq!(settled_by(&kit), ["no_client"]);
}

/// What settled each call.
fn settled_by(kit: &Kit) -> Vec<&'static str> {
    let words = causes(kit).into_iter();
    words.filter(|word| *word != "policy").collect()
}

#[tokio::test]
async fn a_use_of_a_grant_is_on_disk_before_the_call_runs() {
    for (fails, expected) in [
        (false, ["granted", "granted", "no_client"]),
        (true, ["no_client", "no_client", "no_client"]),
    ] {
        let limited = Grant {
            uses_left: Some(2),
            ..stored("twice", "echo", "ask*")
        };
        let expired = Grant {
            expires_at: Some(1_000),
            ..stored("old", "echo", "ask*")
        };
        let ledger = Ledger::of(vec![expired, limited]);
        ledger.fails.store(fails, Ordering::SeqCst);
        let steps: [&[_]; 3] = [
            &[("echo", "ask a")],
            &[("echo", "ask b")],
            &[("echo", "ask c")],
        ];
        let mut kit = Kit::with(&script(&steps), ledger.setup());
        kit.turn("go").await;
        assert_eq!(settled_by(&kit), expected);
        // A use that cannot be taken is tried again for each call, and the grant stays.
        let n_taken = ledger.taken.lock().unwrap().len();
        assert_eq!(n_taken, if fails { 6 } else { 2 });
        assert_eq!(kit.worker.gate().grants().len(), usize::from(fails));
    }
}

/// Each use lets one call run, the last too, whoever sees first that it is gone from the disk.
#[tokio::test]
async fn a_grant_for_some_uses_lets_as_many_calls_run() {
    for (n_uses, is_looked_at) in (1..=3).flat_map(|n| [(n, false), (n, true)]) {
        let limited = Grant {
            uses_left: Some(n_uses),
            ..stored("some", "echo", "ask*")
        };
        let ledger = Ledger::of(vec![limited]);
        let steps: [&[_]; 2] = [
            &[("echo", "ask a"), ("echo", "ask b")],
            &[("echo", "ask c"), ("echo", "ask d")],
        ];
        let mut kit = Kit::with(&script(&steps), ledger.setup());
        if is_looked_at {
            *ledger.onlooker.lock().unwrap() = Some(kit.worker.gate());
        }
        kit.turn("go").await;
        let n_uses = n_uses as usize;
        let all = ["ask a", "ask b", "ask c", "ask d"];
        assert_eq!(kit.log.ran(), all[..n_uses], "{n_uses} {is_looked_at}");
        assert_eq!(ledger.taken.lock().unwrap().len(), n_uses);
        assert_eq!(ledger.uses_left(), []);
        *ledger.onlooker.lock().unwrap() = None;
    }
}

/// The same for what an "always" settles: itself without a use, what else is open with one each.
#[tokio::test]
async fn an_always_for_some_uses_settles_as_many_other_questions() {
    for n_uses in 1..=3 {
        let calls = [("echo", "ask a"), ("echo", "ask b"), ("echo", "ask c")];
        let (approver, setup) = passes_on();
        let ledger = Ledger::of(Vec::new());
        let setup = ledger.added_to(setup);
        let later = [("echo", "ask d")];
        let mut kit = Kit::with(&script(&[&calls, &later]), setup);
        let gate = kit.worker.gate();
        let answering = async {
            let opened = open(&gate, &approver, 3).await;
            let grant = Grant {
                uses_left: Some(n_uses),
                ..grant("some", "ask *", &opened[0])
            };
            ledger.set(vec![grant.clone()]);
            let first = Some(opened[0].id());
            let taken = gate.take_uses_for(&grant, first);
            // Others look meanwhile.
            gate.look_at_grants();
            let settled = gate.grant(grant, first, taken).unwrap();
            let n_others = settled.len() - 1;
            assert_eq!(n_others, 2.min(n_uses as usize));
            let left = n_uses.checked_sub(n_others as u32).filter(|left| *left > 0);
            assert_eq!(ledger.uses_left(), Vec::from_iter(left.map(Some)));
            let counted = gate.grants().into_iter().map(|grant| grant.uses_left);
            assert_eq!(counted.collect::<Vec<_>>(), ledger.uses_left());
            loop {
                gate.reject_all("ann", None);
                open(&gate, &approver, 1).await;
            }
        };
        tokio::select! {
            _ = kit.turn("go") => {}
            () = answering => unreachable!(),
        }
        let expected: &[_] = match n_uses {
            1 => &["ask a", "ask b"],
            2 => &["ask a", "ask b", "ask c"],
            _ => &["ask a", "ask b", "ask c", "ask d"],
        };
        let mut ran = kit.log.ran();
        ran.sort();
        assert_eq!(ran, expected);
    }
}

/// A question that needs two limited grants takes a use of both, or of none.
#[tokio::test]
async fn an_always_takes_all_uses_that_a_question_needs_or_none() {
    for is_over in [false, true] {
        let (approver, setup) = passes_on();
        let limited = |name, pattern| Grant {
            uses_left: Some(2),
            ..stored(name, "echo", pattern)
        };
        let ledger = Ledger::of(vec![limited("one", "ask a"), limited("two", "ask b")]);
        let setup = ledger.added_to(setup);
        let line = "ask a & ask b & ask c";
        let mut kit = Kit::with(&script(&[&[("echo", line)]]), setup);
        let gate = kit.worker.gate();
        let answering = async {
            let opened = open(&gate, &approver, 1).await;
            let first = Some(opened[0].id());
            if is_over {
                // Another process was faster, and nobody has looked yet.
                ledger.grants.lock().unwrap().truncate(1);
            }
            let third = grant("three", "ask c", &opened[0]);
            let taken = gate.take_uses_for(&third, first);
            let settled = gate.grant(third, first, taken);
            match is_over {
                true => {
                    assert!(matches!(settled, Err(AnswerError::NotCovered { .. })));
                    assert_eq!(ledger.uses_left(), [Some(2)]);
                    gate.reject_all("ann", None);
                }
                false => {
                    assert_eq!(settled, Ok(vec![id("call_1_1")]));
                    assert_eq!(ledger.uses_left(), [Some(1); 2]);
                }
            }
        };
        let (_, ()) = tokio::join!(kit.turn("go"), answering);
        let word = if is_over { "rejected" } else { "always" };
        assert_eq!(settled_by(&kit), [word]);
    }
}

fn limited(n_uses: u32) -> Grant {
    let rules = ["echo", "slow"].map(|tool| stored("some", tool, "ask*").rules);
    Grant {
        uses_left: Some(n_uses),
        rules: rules.into_iter().flatten().collect(),
        ..stored("some", "echo", "ask*")
    }
}

/// A call that a hook refuses takes no use, and the next one that it covers has it.
#[tokio::test]
async fn a_use_is_given_back_where_a_hook_refuses_the_call() {
    for n_uses in 1..=2 {
        let ledger = Ledger::of(vec![limited(n_uses)]);
        let (_, setup, _) = watched("ask a", false);
        let setup = ledger.added_to(setup);
        let calls: [&[_]; 2] = [&[("echo", "ask a")], &[("echo", "ask b")]];
        let mut kit = Kit::with(&script(&calls), setup);
        kit.turn("go").await;
        assert_eq!(settled_by(&kit), ["hook", "granted"]);
        assert_eq!(ledger.taken.lock().unwrap().len(), 2);
        let left = Some(n_uses - 1).filter(|left| *left > 0);
        assert_eq!(ledger.uses_left(), Vec::from_iter(left.map(Some)));
        assert_eq!(kit.log.ran(), ["ask b"]);
    }
}

/// The same for one that waits for its start when the turn ends.
#[tokio::test]
async fn a_use_is_given_back_where_the_turn_ends_before_the_call_starts() {
    let ledger = Ledger::of(vec![limited(2)]);
    let setup = Setup {
        limits: TurnLimits {
            parallel: NonZeroUsize::MIN,
            ..TurnLimits::default()
        },
        ..ledger.setup()
    };
    let calls = [("slow", "ask a"), ("echo", "ask b")];
    let mut kit = Kit::with(&script(&[&calls]), setup);
    let (cancel, log) = (kit.cancel.clone(), kit.log.clone());
    let cancelling = async {
        while log.ran().is_empty() {
            tokio::task::yield_now().await;
        }
        assert_eq!(ledger.uses_left(), []);
        cancel.cancel();
    };
    tokio::join!(kit.turn("go"), cancelling);
    assert_eq!(kit.log.ran(), ["ask a"]);
    assert_eq!(ledger.uses_left(), [Some(1)]);
}

/// The same where it ends while the use is being taken.
#[tokio::test]
async fn a_use_is_given_back_that_is_taken_after_the_end_of_the_turn() {
    let ledger = Ledger::of(vec![limited(1)]);
    let (go, waits) = mpsc::channel();
    *ledger.go.lock().unwrap() = Some(waits);
    let mut kit = Kit::with(&script(&[&[("echo", "ask a")]]), ledger.setup());
    let cancel = kit.cancel.clone();
    let cancelling = async {
        while ledger.taken.lock().unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    };
    tokio::join!(kit.turn("go"), cancelling);
    assert_eq!(kit.log.ran(), Vec::<String>::new());
    go.send(()).unwrap();
    while ledger.given_back.lock().unwrap().is_empty() {
        kit.worker.gate().give_back_unused();
        tokio::task::yield_now().await;
    }
    assert_eq!(ledger.uses_left(), [Some(1)]);
}

/// The same for what an approval would have settled that somebody else was faster to answer.
#[tokio::test]
async fn a_use_is_given_back_where_the_question_is_settled_first() {
    let calls = [("echo", "ask a"), ("echo", "ask b"), ("echo", "ask c")];
    let (approver, setup) = passes_on();
    let ledger = Ledger::of(Vec::new());
    let setup = ledger.added_to(setup);
    let mut kit = Kit::with(&script(&[&calls]), setup);
    let gate = kit.worker.gate();
    let answering = async {
        let opened = open(&gate, &approver, 3).await;
        let grant = Grant {
            uses_left: Some(3),
            ..grant("some", "ask *", &opened[0])
        };
        ledger.set(vec![grant.clone()]);
        let first = Some(opened[0].id());
        let taken = gate.take_uses_for(&grant, first);
        assert_eq!(ledger.uses_left(), [Some(1)]);
        gate.answer(opened[1].id(), Answer::Auto).unwrap();
        let settled = gate.grant(grant, first, taken).unwrap();
        assert_eq!(settled, [id("call_1_1"), id("call_1_3")]);
        gate.give_back_unused();
        assert_eq!(ledger.uses_left(), [Some(2)]);
    };
    let (_, ()) = tokio::join!(kit.turn("go"), answering);
    assert_eq!(ledger.uses_left(), [Some(2)]);
}

/// A hook that sees a grant come and end before the question is put.
struct GrantEnds {
    gate: Mutex<Option<SharedGate>>,
    ledger: Arc<Ledger>,
    /// Whether it is revoked; else its time is over.
    is_revoked: bool,
}

#[async_trait]
impl Hook<PreToolCall> for GrantEnds {
    fn name(&self) -> &str {
        "grant-ends"
    }

    async fn on(&self, event: &mut PreToolCall) -> Result<PreToolAction, HookError> {
        let crate::hook::PreToolStage::Asked(question) = event.stage() else {
            return Ok(PreToolAction::Continue);
        };
        let gate = self.gate.lock().unwrap().clone().unwrap();
        let grant = Grant {
            expires_at: Some(2_000),
            ..grant("g", "ask*", question)
        };
        self.ledger.set(vec![grant.clone()]);
        assert_eq!(give(&gate, grant, None), Ok(vec![]));
        match self.is_revoked {
            true => self.ledger.set(Vec::new()),
            false => self.ledger.now.store(2_000, Ordering::SeqCst),
        }
        Ok(PreToolAction::Continue)
    }
}

/// What another process revoked, or what is over, lets nothing run when a question is put.
#[tokio::test]
async fn a_grant_that_ended_before_a_question_is_put_covers_nothing() {
    for is_revoked in [true, false] {
        let ledger = Ledger::of(Vec::new());
        let hook = Arc::new(GrantEnds {
            gate: Mutex::default(),
            ledger: Arc::clone(&ledger),
            is_revoked,
        });
        let setup = Setup {
            hooks: Hooks::new().pre_tool_call(Arc::clone(&hook) as Arc<dyn Hook<PreToolCall>>),
            ..ledger.setup()
        };
        let mut kit = Kit::with(&script(&[&[("echo", "ask a")]]), setup);
        *hook.gate.lock().unwrap() = Some(kit.worker.gate());
        kit.turn("go").await;
        assert!(causes(&kit).contains(&"no_client"), "{:?}", causes(&kit));
        *hook.gate.lock().unwrap() = None;
    }
}

/// What another process revoked does not come along with what is granted now.
#[tokio::test]
async fn what_was_revoked_elsewhere_is_gone_when_another_grant_is_given() {
    let ledger = Ledger::of(vec![stored("old", "echo", "ask*")]);
    let mut kit = Kit::with(&script(&[&[("echo", "ask a")]]), ledger.setup());
    kit.turn("go").await;
    assert!(causes(&kit).contains(&"granted"), "{:?}", causes(&kit));
    let gate = kit.worker.gate();
    let new = stored("new", "echo", "other*");
    ledger.set(vec![new.clone()]);
    give(&gate, new, None).unwrap();
    let names: Vec<_> = gate.grants().into_iter().map(|grant| grant.id).collect();
    assert_eq!(names, [GrantId::new("new").unwrap()]);
}
