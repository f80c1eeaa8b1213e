//! Whatever a model asks for and whenever it all ends: each call has one result, in its place.

use std::pin::pin;
use std::task::Poll;

use proptest::prelude::*;
use tokio::runtime::Builder;

use super::*;

/// A call of a random batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Allowed,
    Denied,
    Asked,
    BadJson,
    BadArguments,
    Unknown,
    Fails,
    Panics,
    ProposePanics,
    Hops,
    HopDenied,
    HopAsked,
    Slow,
    Stuck,
    SameId,
}

pub(super) const KINDS: [Kind; 15] = [
    Kind::Allowed,
    Kind::Denied,
    Kind::Asked,
    Kind::BadJson,
    Kind::BadArguments,
    Kind::Unknown,
    Kind::Fails,
    Kind::Panics,
    Kind::ProposePanics,
    Kind::Hops,
    Kind::HopDenied,
    Kind::HopAsked,
    Kind::Slow,
    Kind::Stuck,
    Kind::SameId,
];

impl Kind {
    /// The call in a script; its text is unique by `number`.
    fn call(self, number: usize) -> String {
        let (tool, rest) = match self {
            Self::Allowed => ("echo", format!("input.text = \"t{number}\"")),
            Self::Denied => ("echo", format!("input.text = \"deny t{number}\"")),
            Self::Asked => ("echo", format!("input.text = \"ask t{number}\"")),
            Self::BadJson => ("echo", format!("raw = '{{\"text\": {number}'")),
            Self::BadArguments => ("echo", format!("input.number = {number}")),
            Self::Unknown => ("nothing", format!("input.text = \"t{number}\"")),
            Self::Fails => ("fail", format!("input.text = \"t{number}\"")),
            Self::Panics => ("panic", format!("input.text = \"t{number}\"")),
            Self::ProposePanics => ("broken", format!("input.text = \"t{number}\"")),
            Self::Hops => ("hop", format!("input.text = \"t{number}>u>v\"")),
            Self::HopDenied => ("hop", format!("input.text = \"t{number}>u>deny\"")),
            Self::HopAsked => ("hop", format!("input.text = \"t{number}>ask u>v\"")),
            Self::Slow => ("slow", format!("input.text = \"t{number}\"")),
            Self::Stuck => ("stuck", format!("input.text = \"t{number}\"")),
            Self::SameId => ("echo", format!("id = \"same\"\ninput.text = \"t{number}\"")),
        };
        format!("[[step.call]]\ntool = \"{tool}\"\n{rest}\n")
    }

    /// What its result contains when nothing ends the turn.
    fn expected(self, number: usize, is_approved: bool) -> String {
        match self {
            Self::Allowed | Self::SameId => format!("echo t{number}"),
            Self::Denied => format!("`deny t{number}`. A permission rule"),
            Self::Asked if is_approved => format!("echo ask t{number}"),
            Self::Asked => format!("`ask t{number}`. A permission rule"),
            Self::BadJson => "no valid JSON".to_owned(),
            Self::BadArguments => "`text` is missing".to_owned(),
            Self::Unknown => "no tool named `nothing`".to_owned(),
            Self::Fails => format!("! fail t{number}"),
            Self::Panics => "the tool failed inside".to_owned(),
            Self::ProposePanics => "failed to read them".to_owned(),
            Self::Hops => format!("t{number} > u > at v"),
            Self::HopDenied => format!("! t{number} > u > Refused: "),
            Self::HopAsked if is_approved => format!("t{number} > ask u > at v"),
            Self::HopAsked => format!("! t{number} > Refused: "),
            Self::Slow => "slow was cancelled".to_owned(),
            Self::Stuck => "has no result".to_owned(),
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Run {
    steps: Vec<Vec<Kind>>,
    parallel: usize,
    is_approved: bool,
}

pub(super) fn arb_run(kinds: &'static [Kind]) -> impl Strategy<Value = Run> {
    let step = prop::collection::vec(prop::sample::select(kinds), 1..6);
    (prop::collection::vec(step, 1..4), 1..4usize, any::<bool>()).prop_map(
        |(steps, parallel, is_approved)| Run {
            steps,
            parallel,
            is_approved,
        },
    )
}

impl Run {
    pub(super) fn kit(&self) -> Kit {
        let mut script = String::new();
        let mut number = 0;
        for step in &self.steps {
            script += "[[step]]\ntext = \"I work.\"\n";
            for kind in step {
                script += &kind.call(number);
                number += 1;
            }
        }
        script += "[[step]]\ntext = \"Done.\"\n";
        Kit::with(
            &script,
            Setup {
                answer: if self.is_approved {
                    Answer::Once { by: "ann".into() }
                } else {
                    Answer::NoClient
                },
                limits: TurnLimits {
                    parallel: NonZeroUsize::new(self.parallel).unwrap(),
                    ..TurnLimits::default()
                },
                ..Setup::default()
            },
        )
    }
}

/// Runs in a runtime whose clock stands still unless all wait.
pub(super) fn block_on<T>(future: impl Future<Output = T>) -> T {
    Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap()
        .block_on(future)
}

/// A journal that ends anywhere reads back to a valid history, and repaired, to the same.
fn check_every_prefix(entries: &[Entry]) {
    for n_entries in 0..=entries.len() {
        let cut = &entries[..n_entries];
        let replayed = History::replay(cut).unwrap();
        if let Some(parked) = &replayed.parked {
            // With what it lacks, it is parked as before.
            let repaired: Vec<_> = cut.iter().chain(&replayed.repairs).cloned().collect();
            let again = History::replay(&repaired).unwrap();
            assert_eq!(again.history, replayed.history);
            assert_eq!(again.repairs, []);
            let ids: Vec<_> = parked.ids().collect();
            assert_eq!(again.parked.unwrap().ids().collect::<Vec<_>>(), ids);
        }
        let replayed = replayed.interrupted();
        let repaired: Vec<_> = cut.iter().chain(&replayed.repairs).cloned().collect();
        let again = History::replay(&repaired).unwrap();
        assert_eq!(again.history, replayed.history);
        assert_eq!(again.repairs, []);
        // A resumed session goes on behind it.
        let next = Entry::Prompt {
            text: "go on".to_owned(),
        };
        let longer: Vec<_> = repaired.into_iter().chain([next]).collect();
        let n_messages = History::replay(&longer).unwrap().history.messages().len();
        assert_eq!(n_messages, replayed.history.messages().len() + 1);
    }
}

/// Polls a future until it is done or has been polled `n_polls` times.
pub(super) async fn poll_at_most<T>(future: impl Future<Output = T>, n_polls: usize) -> Option<T> {
    let mut future = pin!(future);
    let mut left = n_polls;
    std::future::poll_fn(|context| {
        let Some(next) = left.checked_sub(1) else {
            return Poll::Ready(None);
        };
        left = next;
        match future.as_mut().poll(context) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending => {
                // Polls that nothing woke count too, else a turn that waits would never end here.
                context.waker().wake_by_ref();
                Poll::Pending
            }
        }
    })
    .await
}

proptest! {
    /// Deny, bad call, unknown tool, panic: the turn goes on, each call has its own result.
    #[test]
    fn every_call_has_its_result_in_call_order(run in arb_run(&KINDS[..12])) {
        block_on(async {
            let mut kit = run.kit();
            let end = kit.turn("go").await;
            assert_eq!(end.reason, EndReason::Done);
            assert_eq!(end.n_steps as usize, run.steps.len() + 1);
            let kinds: Vec<_> = run.steps.iter().flatten().collect();
            let results = kit.results();
            assert_eq!(results.len(), kinds.len());
            for (number, (kind, result)) in kinds.iter().zip(&results).enumerate() {
                let expected = kind.expected(number, run.is_approved);
                assert!(result.contains(&expected), "{kind:?}: {result}");
            }
            check_every_prefix(&kit.log.entries());
        });
    }

    #[test]
    fn a_turn_cancelled_anywhere_leaves_every_call_answered(
        run in arb_run(&KINDS),
        n_polls in 0..120usize,
    ) {
        block_on(async {
            let mut kit = run.kit();
            let cancel = kit.cancel.clone();
            let end = {
                let mut turn = pin!(kit.worker.turn("go".to_owned(), cancel.clone()));
                match poll_at_most(turn.as_mut(), n_polls).await {
                    Some(end) => end,
                    None => {
                        cancel.cancel();
                        turn.await
                    }
                }
            };
            let reason = end.unwrap().reason;
            assert!(matches!(reason, EndReason::Cancelled | EndReason::Done), "{reason:?}");
            kit.check();
            check_every_prefix(&kit.log.entries());
            // The worker takes the next turn.
            kit.cancel = CancellationToken::new();
            kit.cancel.cancel();
            kit.turn("go on").await;
        });
    }

    #[test]
    fn a_turn_killed_anywhere_leaves_a_journal_to_resume_from(
        run in arb_run(&KINDS),
        n_polls in 0..120usize,
    ) {
        block_on(async {
            let mut kit = run.kit();
            let cancel = kit.cancel.clone();
            let end = poll_at_most(kit.worker.turn("go".to_owned(), cancel), n_polls).await;
            check_every_prefix(&kit.log.entries());
            if end.is_none() && n_polls > 0 {
                let next = kit.try_turn("go on").await;
                assert!(matches!(next, Err(WorkerError::Unfinished)), "{next:?}");
            }
        });
    }
}
