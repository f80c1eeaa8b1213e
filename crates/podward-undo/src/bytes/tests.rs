use std::path::Path;

use super::TreePath;

fn path(text: &str) -> TreePath {
    TreePath::new(text.as_bytes()).unwrap()
}

#[test]
fn a_path_stays_below_the_workspace() {
    for bad in ["", "/", "/a", "a/", "a//b", ".", "..", "a/../b", "a\0b"] {
        assert_eq!(TreePath::new(bad.as_bytes()), None, "{bad:?}");
    }
    let root = Path::new("/w");
    assert_eq!(
        TreePath::below(root, Path::new("/w/a/b")),
        Some(path("a/b"))
    );
    assert_eq!(TreePath::below(root, Path::new("/w/../x")), None);
    assert_eq!(TreePath::below(root, Path::new("/wx/a")), None);
    assert_eq!(TreePath::below(root, root), None);
}

#[test]
fn nothing_comes_between_a_directory_and_what_it_holds() {
    let mut paths = ["a.b", "a", "a/z", "a b", "a/b/c", "a/b"].map(path);
    paths.sort();
    assert_eq!(paths, ["a", "a/b", "a/b/c", "a/z", "a b", "a.b"].map(path));
}

#[test]
fn a_name_that_is_no_text_survives_being_written() {
    for bytes in [&b"a\xff\n"[..], b"a\nb", "ä".as_bytes()] {
        let path = TreePath::new(bytes).unwrap();
        let json = serde_json::to_string(&path).unwrap();
        assert_eq!(serde_json::from_str::<TreePath>(&json).unwrap(), path);
    }
    assert!(serde_json::from_str::<TreePath>("\"../x\"").is_err());
}
