use super::*;

fn tools(written: &str) -> ToolGlob {
    ToolGlob::new(written, &KnownTools::built_in()).unwrap()
}

#[test]
fn it_matches_what_a_deny_rule_would() {
    let name = |name: &str| ToolName::new(name).unwrap();
    for (written, tool, expected) in [
        ("bash", "bash", true),
        ("bash", "read", false),
        ("file_*", "file_edit", true),
        ("file_*", "read", false),
        ("*", "mcp__github__push", true),
        ("*", "read", true),
        ("mcp__github__*", "mcp__github__push", true),
        ("mcp__git*", "mcp__github__push", true),
        ("mcp__gitlab__*", "mcp__github__push", false),
    ] {
        assert_eq!(
            tools(written).matches(&name(tool)),
            expected,
            "{written} {tool}"
        );
    }
}

#[test]
fn what_names_no_tool_is_an_error() {
    for (written, message) in [
        ("", "an empty name is no tool"),
        ("bsh", "unknown tool `bsh`"),
        (
            "external_directory",
            "`external_directory` judges paths and is never called",
        ),
    ] {
        let problems = ToolGlob::new(written, &KnownTools::built_in()).unwrap_err();
        assert_eq!(problems[0].message, message);
        assert!(problems[0].help.is_some());
    }
    assert!(ToolGlob::new("[", &KnownTools::built_in()).is_err());
}

#[test]
fn a_glob_may_fit_nothing() {
    let known = KnownTools::built_in();
    assert!(!tools("files_*").fits_some(&known));
    assert!(tools("file_*").fits_some(&known));
    assert!(tools("mcp__*").fits_some(&known));
}
