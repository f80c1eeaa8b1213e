//! Declared roots, symlink-safe containment and kernel enforcement for children.

/// The physical boundary of one pod.
#[derive(Debug)]
pub struct Scope(());
