use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::*;

thread_local! {
    /// What fails in this thread, and how.
    static FAULTS: RefCell<Vec<(Step, Errno)>> = const { RefCell::new(Vec::new()) };
}

/// Lets steps fail until this is dropped.
pub(crate) struct Faults;

impl Faults {
    pub(crate) fn of(steps: &[(Step, Errno)]) -> Self {
        FAULTS.with_borrow_mut(|faults| *faults = steps.to_vec());
        Self
    }
}

impl Drop for Faults {
    fn drop(&mut self) {
        FAULTS.with_borrow_mut(Vec::clear);
    }
}

pub(super) fn step(step: Step) -> io::Result<()> {
    FAULTS.with_borrow(|faults| {
        let fault = faults.iter().find(|(what, _)| *what == step);
        fault.map_or(Ok(()), |(_, errno)| Err((*errno).into()))
    })
}

fn names(directory: &Path) -> Vec<String> {
    let names = fs::read_dir(directory).unwrap();
    let mut names: Vec<_> = names
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// The ways to put a file in the place of another.
const WAYS: [&[(Step, Errno)]; 2] = [&[], &[(Step::Exchange, Errno::INVAL)]];

#[test]
fn a_file_is_replaced_and_nothing_is_left_beside_it() {
    for way in WAYS {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("file");
        let _faults = Faults::of(way);
        for text in ["one", "two"] {
            replace_file(&path, text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
            let mode = fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o7777, 0o600);
            assert_eq!(names(root.path()), ["file"]);
        }
    }
}

/// A directory that cannot be synced may lose the new name: it is an error, and nothing counts that
/// is one.
#[test]
fn what_could_not_be_synced_is_not_there() {
    for way in WAYS {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("file");
        let steps: Vec<_> = way
            .iter()
            .copied()
            .chain([(Step::Sync, Errno::IO)])
            .collect();
        {
            let _faults = Faults::of(&steps);
            let error = replace_file(&path, b"one").unwrap_err();
            assert!(!error.is_uncertain());
            assert_eq!(names(root.path()), Vec::<String>::new());
        }
        replace_file(&path, b"old").unwrap();
        let _faults = Faults::of(&steps);
        let error = replace_file(&path, b"new").unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("cannot write `{}`", path.display())
        );
        assert!(!error.is_uncertain());
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(names(root.path()), ["file"]);
    }
}

#[test]
fn what_cannot_be_put_back_is_said_to_be_uncertain() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("file");
    replace_file(&path, b"old").unwrap();
    let _faults = Faults::of(&[(Step::Sync, Errno::IO), (Step::TakeBack, Errno::IO)]);
    let error = replace_file(&path, b"new").unwrap_err();
    assert!(error.is_uncertain());
    assert!(
        error.to_string().contains("may count all the same"),
        "{error}"
    );
}

#[test]
fn a_directory_is_never_moved_aside() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("file");
    fs::create_dir(&path).unwrap();
    replace_file(&path, b"new").unwrap_err();
    assert_eq!(names(root.path()), ["file"]);
    assert!(path.is_dir());
}
