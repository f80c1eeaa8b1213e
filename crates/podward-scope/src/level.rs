//! How much of the declaration the kernel enforces on child processes.

use std::fmt;

/// How much of the declaration the kernel enforces on child processes.
///
/// [`Display`](fmt::Display) is one paragraph for people and logs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Level {
    /// Every declared limit.
    Kernel {
        /// By what.
        means: Means,
        /// What is weaker than on a newer kernel although no declared limit depends on it.
        remarks: Vec<String>,
    },
    /// Some limits.
    Partial {
        /// By what.
        means: Means,
        /// What is not enforced, or enforced more strictly than declared, and why; never empty.
        gaps: Vec<String>,
        /// As for [`Level::Kernel`].
        remarks: Vec<String>,
    },
    /// Nothing: child processes can do what podward's user can.
    None {
        /// Why.
        why: String,
    },
}

impl Level {
    /// Whether every declared limit is enforced.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        matches!(self, Self::Kernel { .. })
    }
}

/// What enforces the limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Means {
    /// The version of the kernel's Landlock interface in use.
    pub landlock_abi: u32,
    /// What takes protected and denied paths out of the granted roots.
    pub subtraction: Subtraction,
}

/// What takes protected and denied paths out of the granted roots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Subtraction {
    /// No such path lies in a granted root.
    NotNeeded,
    /// They are mounted read-only, or over, in a mount namespace of the child's own.
    Mounts,
    /// The present entries of each granted root are granted one by one, without them.
    Entries,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kernel { means, remarks } => {
                write!(f, "enforced by the kernel ({means})")?;
                list(f, "; ", remarks)
            }
            Self::Partial {
                means,
                gaps,
                remarks,
            } => {
                write!(f, "partly enforced by the kernel ({means})")?;
                list(f, "; not as declared: ", gaps)?;
                list(f, "; ", remarks)
            }
            Self::None { why } => write!(f, "not enforced by the kernel: {why}"),
        }
    }
}

fn list(f: &mut fmt::Formatter<'_>, before: &str, items: &[String]) -> fmt::Result {
    for (idx, item) in items.iter().enumerate() {
        write!(f, "{}{item}", if idx == 0 { before } else { "; " })?;
    }
    Ok(())
}

impl fmt::Display for Means {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Landlock {}", self.landlock_abi)?;
        match self.subtraction {
            Subtraction::NotNeeded => Ok(()),
            Subtraction::Mounts => write!(f, ", mount namespace"),
            Subtraction::Entries => write!(f, ", entry by entry"),
        }
    }
}
