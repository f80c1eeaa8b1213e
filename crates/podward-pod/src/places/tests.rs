use super::*;

fn places(variables: &[(&str, &str)]) -> Result<Places, PlacesError> {
    Places::from_variables(|name| {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| OsString::from(value))
    })
}

#[test]
fn the_defaults_are_below_home() {
    let places = places(&[("HOME", "/home/ada")]).unwrap();
    assert_eq!(places.machine_layer(), Path::new("/etc/podward/pod.toml"));
    assert_eq!(
        places.user_layer(),
        Path::new("/home/ada/.config/podward/pod.toml")
    );
    assert_eq!(
        places.sessions_dir(),
        Path::new("/home/ada/.local/state/podward/sessions")
    );
    assert_eq!(places.home(), Some(Path::new("/home/ada")));
}

#[test]
fn xdg_variables_move_the_user_layer_and_the_state_and_nothing_moves_the_machine_layer() {
    let places = places(&[
        ("XDG_CONFIG_HOME", "/c"),
        ("XDG_STATE_HOME", "/s"),
        ("XDG_CONFIG_DIRS", "/elsewhere"),
    ])
    .unwrap();
    assert_eq!(places.machine_layer(), Path::new("/etc/podward/pod.toml"));
    assert_eq!(places.user_layer(), Path::new("/c/podward/pod.toml"));
    assert_eq!(places.state_dir(), Path::new("/s/podward"));
    assert_eq!(places.home(), None);
}

#[test]
fn a_relative_xdg_variable_is_passed_over() {
    let places = places(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "c")]).unwrap();
    assert_eq!(places.config_dir(), Path::new("/h/.config/podward"));
}

#[test]
fn without_a_home_the_user_layer_is_not_silently_passed_over() {
    let check = |variables: &[(&str, &str)], message: &str| {
        assert_eq!(places(variables).unwrap_err().to_string(), message);
    };
    check(&[], "no home directory: `HOME` is not set");
    check(&[("HOME", "")], "no home directory: `HOME` is empty");
    check(
        &[("HOME", "ada")],
        "no home directory: `HOME` is not absolute",
    );
    check(
        &[("XDG_CONFIG_HOME", "/c")],
        "no home directory: `HOME` is not set",
    );
}
