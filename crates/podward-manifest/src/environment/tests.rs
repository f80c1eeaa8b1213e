use super::{BASE_ENVIRONMENT, VariableName, VariablePattern};

#[test]
fn a_pattern_is_a_name_or_the_front_of_names() {
    let pattern = VariablePattern::new("LC_*").unwrap();
    assert!(pattern.matches("LC_ALL") && pattern.matches("LC_"));
    assert!(!pattern.matches("LC") && !pattern.matches("XLC_ALL"));
    let name = VariablePattern::new("CI").unwrap();
    assert!(name.matches("CI") && !name.matches("CIRCLE"));
    assert_eq!(pattern.to_string(), "LC_*");
}

#[test]
fn what_bash_acts_on_cannot_be_passed() {
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
