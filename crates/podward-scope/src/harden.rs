//! Podward's own process.

use rustix::process::DumpableBehavior;

use crate::error::ScopeError;

/// Closes this process to other processes of the same user: it is no longer dumpable.
///
/// From now on only root can read `/proc/<pid>/environ`, `mem`, `maps` or `fd`, or trace it; the
/// process itself still can. It leaves no core dump, and `gdb -p` and `strace -p` of the same user
/// fail. What was in the environment before stays in `environ`, closed; a program that is executed
/// anew is dumpable again, so this belongs after any re-execution and before the first child.
///
/// # Errors
/// The kernel refused.
pub fn harden_process() -> Result<(), ScopeError> {
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(|errno| {
        ScopeError::Confinement {
            reason: format!("podward's own process cannot be closed to others: {errno}"),
        }
    })
}
