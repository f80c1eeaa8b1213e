use super::*;

#[test]
fn a_file_lies_where_its_directory_really_is() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    let workspace = root.join("ws");
    std::fs::create_dir(&workspace).unwrap();
    let writable = Writable::of(&ScopeDecl::default(), &workspace, &[]);
    assert!(writable.holds(&workspace.join("check.sh")));
    assert!(!writable.holds(&workspace.join("../check.sh")));
    assert!(writable.holds(&root.join("ws/../ws/check.sh")));
}
