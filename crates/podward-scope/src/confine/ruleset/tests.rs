use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use super::{Purpose, entries};
use crate::confine::plan::Plan;
use crate::decl::Shield;
use crate::level::Subtraction;

#[test]
fn entry_by_entry_everything_is_granted_but_what_is_shielded_and_links() {
    let dir = TempDir::new().unwrap();
    let root = dir.path().canonicalize().unwrap();
    for name in ["a/deep", "b/c/keep", "b/c/free", "b/hide", "b/other"] {
        fs::create_dir_all(root.join(name)).unwrap();
    }
    std::os::unix::fs::symlink("a", root.join("link")).unwrap();
    let plan = Plan {
        shields: vec![
            (root.join("b/c/keep"), Shield::ReadOnly),
            (root.join("b/hide"), Shield::Hidden),
            (root.join("none"), Shield::Hidden),
        ],
        subtraction: Subtraction::Entries,
        ..Plan::unrestricted()
    };
    let granted = |purpose| -> Vec<PathBuf> {
        entries(&root, &plan, purpose)
            .into_iter()
            .map(|path| path.strip_prefix(&root).unwrap().to_owned())
            .collect()
    };
    assert_eq!(
        granted(Purpose::Write),
        ["a", "b/c/free", "b/other"].map(PathBuf::from)
    );
    assert_eq!(
        granted(Purpose::Read),
        ["a", "b/c", "b/other"].map(PathBuf::from)
    );
}
