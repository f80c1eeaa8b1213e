use std::path::{Path, PathBuf};

use super::PathBase;
use crate::Script;

fn base() -> PathBase<'static> {
    PathBase {
        directory: Path::new("/etc/podward"),
        home: Some(Path::new("/home/u")),
    }
}

#[test]
fn paths_start_where_they_are_written() {
    for (text, expected) in [
        ("x", "/etc/podward/x"),
        ("../x", "/etc/podward/../x"),
        ("/x", "/x"),
        ("~", "/home/u"),
        ("~/x", "/home/u/x"),
        ("~//etc/x", "/home/u/etc/x"),
        ("./~/x", "/etc/podward/./~/x"),
    ] {
        assert_eq!(base().absolute(text), Ok(PathBuf::from(expected)), "{text}");
    }
    for text in ["", "~x", "~root/x", "a\0b", "a\nb"] {
        assert!(base().absolute(text).is_err(), "{text}");
    }
    let homeless = PathBase {
        home: None,
        ..base()
    };
    assert!(homeless.absolute("~/x").is_err());
}

#[test]
fn roots_of_the_scope_start_at_the_workspace() {
    assert_eq!(base().in_scope("src"), Ok(PathBuf::from("src")));
    assert_eq!(base().in_scope("~/.ssh"), Ok(PathBuf::from("/home/u/.ssh")));
    for text in ["src/*", "a?", "[a]"] {
        assert!(base().in_scope(text).is_err(), "{text}");
    }
}

#[test]
fn a_script_is_a_name_or_a_path() {
    assert_eq!(base().script("demo"), Ok(Script::Embedded("demo")));
    let file = |path: &str| Ok(Script::File(path.into()));
    assert_eq!(base().script("./demo"), file("/etc/podward/./demo"));
    assert_eq!(base().script("demo.toml"), file("/etc/podward/demo.toml"));
    for text in ["", "dmeo", "other"] {
        assert!(base().script(text).is_err(), "{text}");
    }
}
