use std::os::unix::fs::symlink;

use super::*;

#[test]
fn a_workspace_that_has_become_a_link_is_not_entered() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().canonicalize().unwrap().join(name);
    std::fs::create_dir_all(at("there/sub")).unwrap();
    symlink(at("there"), at("above")).unwrap();
    symlink(at("there"), at("itself")).unwrap();
    assert!(Root::open(&at("there/sub")).is_ok());
    for path in [at("itself"), at("above/sub")] {
        let error = Root::open(&path).unwrap_err();
        let said = format!("{}", std::error::Error::source(&error).unwrap());
        assert_eq!(said, "it, or a directory above it, is a link by now");
    }
    let error = Root::open(&at("none")).unwrap_err();
    assert!(
        std::error::Error::source(&error)
            .unwrap()
            .to_string()
            .contains("No such file")
    );
}
