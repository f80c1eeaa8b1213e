//! What a text stands in.

use podward_policy::{ByteSpan, Need};

use super::Given;
use crate::calls::Call;

/// What a text stands in.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    /// How far its commands need an allow.
    pub(crate) demand: Demand,
    /// Its paths are those of another machine or container.
    pub(crate) elsewhere: bool,
    /// Nesting of wrappers and texts so far.
    pub(crate) n_wrappers: usize,
    /// Nesting of the text that this one stands in.
    pub(crate) depth: usize,
    pub(crate) stdin: Stdin,
    /// Others read from the same input before.
    pub(crate) shares_stdin: bool,
    /// What it writes is read by another command, which may take it for names of files.
    pub(crate) feeds: bool,
    pub(crate) shell: Shell,
    /// The functions that stand in front of it, which the shell around it has.
    pub(super) given: Given,
    /// What it sets may be exported by what stands around it.
    pub(crate) exports: bool,
    /// What follows it in the same shell may change the directory, or define functions.
    pub(super) differs_later: bool,
}

/// Which shell reads a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shell {
    /// The one that reads what stands around it.
    Own,
    /// The same, when what stands behind the text has run too.
    Later,
    /// A new one.
    Child,
    /// One on another machine or in a container.
    Elsewhere,
}

impl Context {
    /// The text of a call.
    pub(crate) const fn top() -> Self {
        Self {
            demand: Demand::Full,
            elsewhere: false,
            n_wrappers: 0,
            depth: 0,
            stdin: Stdin::Inherited,
            shares_stdin: false,
            feeds: false,
            shell: Shell::Child,
            given: Given::NONE,
            exports: false,
            differs_later: false,
        }
    }

    /// That of a text that a call runs.
    pub(crate) fn of_text(
        &self,
        call: &Call<'_>,
        demand: &Demand,
        stdin: Stdin,
        shell: Shell,
    ) -> Self {
        Self {
            demand: demand.clone(),
            elsewhere: call.elsewhere || shell == Shell::Elsewhere,
            n_wrappers: call.n_wrappers,
            depth: self.depth,
            stdin,
            shares_stdin: true,
            feeds: self.feeds,
            shell,
            given: Given::NONE,
            exports: self.exports,
            differs_later: false,
        }
    }
}

/// How far the commands of a text need an allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Demand {
    Full,
    /// Only deny and ask rules count.
    Restrictive,
    /// A wrapper with these ends of its words, in bytes of its text, may cover it.
    RunBy {
        wrapper: podward_policy::OperationIdx,
        ends: Vec<usize>,
    },
}

impl Demand {
    /// The need of a command whose program is the word `idx` of what the wrapper runs.
    pub(crate) fn need(&self) -> Need {
        match self {
            Self::Full => Need::Full,
            Self::Restrictive => Need::Restrictive,
            Self::RunBy { wrapper, ends } => match ends.first() {
                Some(reach) => Need::RunBy {
                    wrapper: *wrapper,
                    reach: *reach,
                },
                None => Need::Full,
            },
        }
    }

    /// The demand on a part of a command that begins `n` words later.
    pub(crate) fn later(&self, n: usize) -> Self {
        match self {
            Self::RunBy { wrapper, ends } => Self::RunBy {
                wrapper: *wrapper,
                ends: ends.get(n..).unwrap_or_default().to_vec(),
            },
            other => other.clone(),
        }
    }

    /// The demand on a shell text: no wildcard allow of a wrapper reaches into one.
    pub(crate) fn of_text(&self) -> Self {
        match self {
            Self::Restrictive => Self::Restrictive,
            Self::Full | Self::RunBy { .. } => Self::Full,
        }
    }
}

/// What a command reads as its standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stdin {
    /// What the shell itself was given: nothing.
    Inherited,
    Pipe,
    /// A pipe through which a text comes that deny rules can see.
    Piped(String, Option<ByteSpan>),
    /// A pipe through which the names of files below these directories come.
    Listed(Vec<String>, Option<ByteSpan>),
    /// A file, by its name as rules write paths where that is known.
    File(Option<Box<str>>),
    /// A text that is known.
    Known(String, Option<ByteSpan>),
    /// A here-document or here-string with expansions.
    Expanding,
}
