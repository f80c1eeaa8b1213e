//! What the helper tells podward, one line each.

use std::fmt;

/// What the helper tells podward.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Report {
    /// Every restriction is in place.
    Ready {
        /// The version of the kernel's Landlock interface; 0: the plan asked for none.
        abi: u32,
    },
    /// The child runs.
    Started {
        /// Its process id, which is its process group's too.
        pid: u32,
    },
    /// The child and everything it left behind have ended.
    Ended {
        /// How the child itself ended.
        ending: Ending,
        /// How many processes had to be asked to end: those that outlived the child, or, when
        /// podward closed its end, all.
        ended: u32,
    },
    /// The kernel has no Landlock: nothing was started.
    Unsupported(String),
    /// A restriction or the start failed: nothing was started.
    Failed(String),
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It exited with this code.
    Exit(i32),
    /// A signal ended it.
    Signal(i32),
}

impl Report {
    /// Reads one line.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        let (word, rest) = line.trim_end().split_once(' ')?;
        match word {
            "ready" => Some(Self::Ready {
                abi: rest.parse().ok()?,
            }),
            "started" => Some(Self::Started {
                pid: rest.parse().ok()?,
            }),
            "exit" | "signal" => {
                let (number, ended) = rest.split_once(' ')?;
                let number = number.parse().ok()?;
                Some(Self::Ended {
                    ending: if word == "exit" {
                        Ending::Exit(number)
                    } else {
                        Ending::Signal(number)
                    },
                    ended: ended.parse().ok()?,
                })
            }
            "unsupported" => Some(Self::Unsupported(rest.to_owned())),
            "failed" => Some(Self::Failed(rest.to_owned())),
            _ => None,
        }
    }
}

/// One line, without its end.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready { abi } => write!(f, "ready {abi}"),
            Self::Started { pid } => write!(f, "started {pid}"),
            Self::Ended { ending, ended } => match ending {
                Ending::Exit(code) => write!(f, "exit {code} {ended}"),
                Ending::Signal(signal) => write!(f, "signal {signal} {ended}"),
            },
            Self::Unsupported(why) => write!(f, "unsupported {}", why.replace('\n', " ")),
            Self::Failed(why) => write!(f, "failed {}", why.replace('\n', " ")),
        }
    }
}
