use super::{BASE_ENVIRONMENT, VariableName, VariablePattern};

#[test]
fn a_pattern_is_a_name_or_the_front_of_names() {
    let pattern = VariablePattern::new("GO_*").unwrap();
    assert!(pattern.matches("GO_FLAGS") && pattern.matches("GO_"));
    assert!(!pattern.matches("GO") && !pattern.matches("XGO_FLAGS"));
    let name = VariablePattern::new("CI").unwrap();
    assert!(name.matches("CI") && !name.matches("CIRCLE"));
    assert_eq!(pattern.to_string(), "GO_*");
}

#[test]
fn what_no_command_gets_cannot_be_passed() {
    for pattern in [
        "*",
        "BASH_ENV",
        "BASH_*",
        "B*",
        "ENV",
        "E*",
        "SHELLOPTS",
        "BASHOPTS",
        "PS4",
        "PS*",
        "BASH_FUNC_x",
        "BASH_FUNC_*",
        "BASH_F*",
        "S*",
        "SHELL*",
        "CDPATH",
        "GLOBIGNORE",
        "IFS",
        "POSIXLY_CORRECT",
        "PROMPT_COMMAND",
        "EXECIGNORE",
        "BASH_XTRACEFD",
        "LD_PRELOAD",
        "LD_*",
        "L*",
        "LC_ALL",
        "LC_*",
        "TERM",
        "TMPDIR",
    ] {
        assert!(VariablePattern::new(pattern).is_err(), "{pattern}");
    }
    for pattern in ["", "A*B", "**", "A B", "1A", "A=1", "Ä", "A\0"] {
        assert!(VariablePattern::new(pattern).is_err(), "{pattern}");
    }
}

#[test]
fn the_base_is_made_of_valid_patterns() {
    assert_eq!(VariablePattern::base().count(), BASE_ENVIRONMENT.len());
}

#[test]
fn a_variable_has_a_plain_name() {
    assert!(VariableName::new("_A1").is_ok());
    for name in ["", "1A", "A-B", "A*", &"A".repeat(257)] {
        assert!(VariableName::new(name).is_err(), "{name}");
    }
}
