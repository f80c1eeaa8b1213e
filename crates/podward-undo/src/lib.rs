//! What calls changed in a workspace: kept before the deed, brought back on demand.
//!
//! It must never know which tool did something, whether that was allowed, or how anything is shown
//! to people: it sees deeds by name, and the files of one directory.
//!
//! [`Keeper`] is for the process that changes files: before a deed it makes sure that what may be
//! lost is in the store, after it writes down what has changed. [`History`] is for the person:
//! what was changed, and the way back, which is itself a change that can be taken back.
//!
//! A workspace has one store, shared by all its sessions: objects by their SHA-256, a snapshot of
//! the workspace that is also the cache of what need not be read again, and one record a deed.

mod bytes;
mod error;
mod history;
mod ignored;
mod keeper;
mod node;
mod objects;
mod plan;
mod prune;
mod record;
mod restore;
mod root;
mod scan;
mod snapshot;
mod store;
#[cfg(test)]
mod testing;

pub use bytes::{Bytes, TreePath};
pub use error::UndoError;
pub use history::{History, Listed, State, Undone, Wanted};
pub use keeper::{Deed, Keeper, Reach, Running, Settings};
pub use node::{Digest, Mark, Node, Rights, Unkept, What};
pub use plan::{Conflict, Force, LeftAlone, Plan, Reason, Step, WhyLeft};
pub use record::{Change, DeedName, Kind};
