//! Where the data is, and where its calls are made.

use std::path::{Path, PathBuf};

use podward_tools::Place;

/// The folder of the root `Cargo.toml`.
pub(crate) fn repository() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.ancestors().nth(2).unwrap().to_path_buf()
}

/// The workspace and the home directory of every case; they need not exist.
pub(crate) fn nowhere() -> Place {
    Place::new("/home/user/project", Some("/home/user".into())).isolated()
}
