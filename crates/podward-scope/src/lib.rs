//! The physical boundary of a pod: declared roots, symlink-safe file access, and the kernel's
//! enforcement on child processes. Linux only.
//!
//! It must never know about rules, verdicts, models or tools: permission is policy, scope is
//! physics.

mod confine;
mod decl;
mod error;
pub mod family;
mod harden;
mod level;
mod roots;
mod scope;
mod variable;
mod walk;

pub use confine::{Confined, Ending, Helper, Launch, Report, confine_main};
pub use decl::{Access, Enforce, Protected, Root, ScopeDecl, Shield};
pub use error::{DenyRule, DenySource, Kind, ScopeError};
pub use harden::harden_process;
pub use level::{Level, Means, Subtraction};
pub use scope::{Entry, Metadata, Replaced, Scope};
pub use variable::{Withheld, withheld, withheld_among};
