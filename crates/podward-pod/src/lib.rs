//! The process of a pod: files to manifest, manifest to worker, sessions and decisions on disk.
//!
//! It must never know how a rule is judged, what a tool does with a call, or how anything is
//! shown to people.
//!
//! Linux only.

mod accounts;
mod children;
mod clock;
mod decision_log;
mod digest;
mod error;
mod file;
mod grants;
mod hook;
mod key;
pub mod layers;
mod line_file;
mod narrator;
mod pipe;
mod places;
mod pod;
mod policy_tests;
mod private;
mod prompt;
mod recorded;
mod redact;
mod replace;
mod serve;
mod session;
mod skills;
#[cfg(test)]
mod test_user;
mod trust;
mod undo;
pub mod wire;
mod workplace;

pub use accounts::Accounts;
pub use children::{ChildError, Inheritance};
pub use clock::{Clock, SystemClock};
pub use decision_log::{Chain, ChainError, DECISION_FORMAT, verify};
pub use error::{StateError, with_causes};
pub use file::{FileError, MAX_FILE_BYTES, read_guarded};
pub use grants::{
    GRANT_FORMAT, GrantChange, GrantError, GrantNotFound, GrantProblem, GrantStore, MAX_GRANTS,
    NewGrant, Revoked, StoredGrant, StoredGrants, find_grant, revoke_all, revoke_grant,
    stored_grants,
};
pub use hook::ProgramProblem;
pub use key::{KEY_FD_VARIABLE, KeyError, KeyOrigin, ModelKey, hand_over, model_key, start};
pub use places::{LAYER_FILE, MACHINE_DIR, PROJECT_DIR, Places, PlacesError};
pub use pod::{EmbeddedScript, Pod, PodError, PodRequest, SessionChoice, declared_model};
pub use policy_tests::{TestOutcome, failed_policy_tests, run_policy_tests};
pub use recorded::{CallNotFound, RecordedCall, recorded_call};
pub use redact::{Redaction, Secrets};
pub use serve::{
    Attended, Auto, LocalCaller, LocalClient, RunDirError, RunDirProblem, ServeEnd, ServeRequest,
    Server, Socket,
};
pub use session::{
    LayerDigest, Opened, SESSION_FORMAT, SessionNotFound, find_session, newest_session,
};
pub use skills::{Purpose, SkillFile, SkillProblem, Skills, TwoSkills};
pub use trust::{Standing, TrustError, TrustRecord, TrustStore};
pub use undo::UndoSession;
