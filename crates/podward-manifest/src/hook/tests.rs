use super::*;

#[test]
fn a_name_is_safe_to_show() {
    for name in ["a", "guard.sh", "no_network-2"] {
        assert_eq!(HookName::new(name).unwrap().as_str(), name);
    }
    for name in ["", "a b", "a\n", "ü", "a`", &"x".repeat(65)] {
        assert!(HookName::new(name).is_err(), "{name:?}");
    }
}

#[test]
fn a_hook_is_named_after_its_program() {
    for (program, name) in [
        (HookProgram::Named("jq".into()), "jq"),
        (HookProgram::At("/x/my guard.sh".into()), "my_guard.sh"),
        (HookProgram::At("/x/..".into()), "hook"),
        (HookProgram::At("/x/ü\u{202e}".into()), "__"),
    ] {
        let named = HookName::of(&program, &[HookArgument::Text("--strict".into())]);
        assert_eq!(named.as_str(), name);
        assert_eq!(HookName::new(name), Ok(named));
    }
}

#[test]
fn a_hook_that_an_interpreter_runs_is_named_after_its_script() {
    let arguments = [
        HookArgument::Text("-I".into()),
        HookArgument::Path("/x/parses.py".into()),
        HookArgument::Path("/x/other".into()),
    ];
    let python = HookProgram::Named("python3".into());
    assert_eq!(HookName::of(&python, &arguments).as_str(), "parses.py");
    let own = HookProgram::At("/x/check".into());
    assert_eq!(HookName::of(&own, &arguments).as_str(), "check");
}
