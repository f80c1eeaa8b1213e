//! The process of a pod: files to manifest, manifest to worker, sessions and decisions on disk.
//!
//! It must never know how a rule is judged, what a tool does with a call, or how anything is
//! shown to people.
//!
//! Linux only.

mod accounts;
mod file;
mod places;
#[cfg(test)]
mod test_user;

pub use accounts::Accounts;
pub use file::{FileError, MAX_FILE_BYTES, read_guarded};
pub use places::{LAYER_FILE, MACHINE_DIR, PROJECT_DIR, Places, PlacesError};
