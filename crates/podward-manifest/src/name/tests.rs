use super::PodName;

#[test]
fn a_pod_has_a_plain_name() {
    for name in ["a", "demo", "ci-2", "0", "a--b", &"x".repeat(64)] {
        assert_eq!(
            PodName::new(name).map(|name| name.to_string()),
            Ok(name.to_owned())
        );
    }
    for name in [
        "",
        "-a",
        "a-",
        "A",
        "a b",
        "a/b",
        "..",
        "a_b",
        "é",
        "a\0",
        &"x".repeat(65),
    ] {
        assert!(PodName::new(name).is_err(), "{name:?}");
    }
    assert!(PodName::new(PodName::default().as_str()).is_ok());
}
