//! Keys that were meant for something else do not answer a question that has just come.

use crate::input::Now;

/// How long a question has to be on the screen, and nothing typed, before a key counts, in milliseconds.
pub(crate) const PAUSE: u64 = 500;

/// The same where a prompt is being typed: who types slowly makes longer pauses.
pub(crate) const DRAFT_PAUSE: u64 = 2_000;

/// How long ago a key was still typed for the prompt.
pub(crate) const RECENT: u64 = 3_000;

/// Whether keys count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Guard {
    /// Nothing has come.
    #[default]
    Down,
    /// It is not on the screen yet.
    Undrawn,
    /// Until then, and longer if something is typed.
    Until(u64),
}

impl Guard {
    /// Something came that no key was meant for.
    pub(crate) fn raise(&mut self) {
        *self = Self::Undrawn;
    }

    /// It is on the screen.
    pub(crate) fn drawn(&mut self, now: Now, pause: u64) {
        if *self == Self::Undrawn {
            *self = Self::Until(now.steady + pause);
        }
    }

    /// Whether keys do not count.
    pub(crate) const fn is_up(self, now: Now) -> bool {
        match self {
            Self::Down => false,
            Self::Undrawn => true,
            Self::Until(until) => now.steady < until,
        }
    }

    /// A key was pressed: whether it counts.
    pub(crate) fn lets_through(&mut self, now: Now) -> bool {
        if !self.is_up(now) {
            *self = Self::Down;
            return true;
        }
        false
    }

    /// A key was pressed that does not count: the pause begins again.
    pub(crate) fn prolong(&mut self, now: Now, pause: u64) {
        if let Self::Until(until) = self {
            *until = now.steady + pause;
        }
    }
}
