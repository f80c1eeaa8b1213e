use std::ffi::OsString;

use super::PathGlob;
use crate::lower::names;

fn parse(glob: &str) -> Result<PathGlob, String> {
    PathGlob::parse(&names::built_in(names::GLOB), "pattern", glob).map_err(|e| e.to_string())
}

fn is_match(glob: &str, path: &str) -> bool {
    let below: Vec<OsString> = path.split('/').map(OsString::from).collect();
    parse(glob).unwrap().is_match(&below)
}

#[test]
fn a_glob_matches_the_path_below_the_root_or_the_name_alone() {
    for (glob, path, expected) in [
        ("*.rs", "main.rs", true),
        ("*.rs", "src/deep/main.rs", true),
        ("src/*.rs", "src/main.rs", true),
        ("src/*.rs", "src/deep/main.rs", false),
        ("src/**/*.rs", "src/main.rs", true),
        ("src/**/*.rs", "src/deep/main.rs", true),
        ("**/*.rs", "main.rs", true),
        ("./src/*", "src/a", true),
        ("*.{ts,tsx}", "a/b.tsx", true),
        ("[!a]*", "b", true),
        ("*", ".hidden", true),
        ("*.RS", "main.rs", false),
    ] {
        assert_eq!(is_match(glob, path), expected, "{glob} {path}");
    }
}

#[test]
fn what_is_no_glob_below_the_root_is_a_bad_call() {
    for (glob, problem) in [
        ("", "is empty"),
        ("/etc/*", "leaves the searched directory"),
        ("~/x", "leaves the searched directory"),
        ("../*", "leaves the searched directory"),
        ("a/../../b", "leaves the searched directory"),
        ("[a", "is no glob"),
        ("{a", "is no glob"),
    ] {
        let error = parse(glob).unwrap_err();
        assert!(error.contains(problem), "{glob}: {error}");
    }
    assert!(
        parse(&"a".repeat(5000))
            .unwrap_err()
            .contains("longer than")
    );
    // Whatever a glob costs, it is a glob or an error.
    for part in ["{a,b}", "[!a-z]", "**/", "?", "*", "{a,{b,{c,d}}}", "é"] {
        let glob = part.repeat(4096 / part.len());
        if let Ok(glob) = parse(&glob) {
            glob.is_match(&["a".repeat(255).into()]);
        }
    }
}
