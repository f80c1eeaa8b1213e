//! Keys that were meant for something else, or came with others, do not answer a question.
//!
//! INVARIANT: a yes counts only where nothing was pressed, pasted or shown for a pause before it, and nothing
//! came with it.

use crate::input::Now;

/// How long a question has to be on the screen, and nothing typed, before a key counts, in milliseconds.
pub(crate) const PAUSE: u64 = 500;

/// The same where a prompt is being typed: who types slowly makes longer pauses.
pub(crate) const DRAFT_PAUSE: u64 = 2_000;

/// How long ago a key was still typed for the prompt.
pub(crate) const RECENT: u64 = 3_000;

/// How long nothing else may come behind a yes: what is pasted comes together.
pub(crate) const ALONE: u64 = 150;

/// Which keys count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Guard {
    newness: Newness,
    /// When something was last pressed, or rows of a question came to the screen.
    restless_at: u64,
    /// A yes was pressed: when it counts.
    yes: Option<u64>,
}

/// Whether the question is new to who reads it: then no key is for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Newness {
    #[default]
    Known,
    /// It is not on the screen yet.
    Undrawn,
    /// Until then, and longer if something is typed.
    Until(u64),
}

impl Guard {
    /// Something came that no key was meant for.
    pub(crate) const fn raise(&mut self) {
        self.newness = Newness::Undrawn;
        self.yes = None;
    }

    /// It is on the screen.
    pub(crate) fn drawn(&mut self, now: Now, pause: u64) {
        if self.newness == Newness::Undrawn {
            self.newness = Newness::Until(now.steady + pause);
        }
    }

    /// Whether keys do not count.
    pub(crate) const fn is_up(self, now: Now) -> bool {
        match self.newness {
            Newness::Known => false,
            Newness::Undrawn => true,
            Newness::Until(until) => now.steady < until,
        }
    }

    /// A key was pressed: whether it counts. If not, the pause begins again.
    pub(crate) fn lets_through(&mut self, now: Now, pause: u64) -> bool {
        let is_up = self.is_up(now);
        self.newness = match self.newness {
            Newness::Until(_) if is_up => Newness::Until(now.steady + pause),
            Newness::Undrawn => Newness::Undrawn,
            Newness::Known | Newness::Until(_) => Newness::Known,
        };
        !is_up
    }

    /// Something was pressed, or rows have come to the screen.
    pub(crate) const fn is_restless(&mut self, now: Now) {
        self.restless_at = now.steady;
    }

    /// Whether a yes may be begun: not in a burst of keys, and not what has just come to the screen.
    pub(crate) const fn may_approve(self, now: Now) -> bool {
        now.steady >= self.restless_at.saturating_add(PAUSE)
    }

    /// A yes was pressed: it counts if it stays alone.
    pub(crate) const fn hold(&mut self, now: Now) {
        self.yes = Some(now.steady.saturating_add(ALONE));
    }

    /// Something else came: whether it came too soon behind a yes, which does not count then.
    pub(crate) const fn let_go(&mut self) -> bool {
        self.yes.take().is_some()
    }

    /// Whether a yes has stayed alone, and counts now.
    pub(crate) fn is_due(&mut self, now: Now) -> bool {
        self.yes.take_if(|at| now.steady >= *at).is_some()
    }

    /// In how many milliseconds a yes counts that was pressed.
    pub(crate) fn left(self, now: Now) -> Option<u64> {
        self.yes.map(|at| at.saturating_sub(now.steady))
    }
}
