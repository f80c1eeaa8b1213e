use super::SkillName;

#[test]
fn a_name_is_small_letters_digits_and_single_hyphens() {
    let most = "a".repeat(64);
    for good in ["a", "7", "pdf-forms", "a-1-b", &most] {
        assert_eq!(
            SkillName::new(good).map(|name| name.to_string()),
            Ok(good.to_owned())
        );
    }
    let too_long = "a".repeat(65);
    for (bad, help) in [
        ("", "pdf-forms"),
        (&*too_long, "pdf-forms"),
        ("-a", "`a`"),
        ("a-", "`a`"),
        ("a--b", "`a-b`"),
        ("A b", "`a-b`"),
        ("a_b", "`a-b`"),
        ("../a", "`a`"),
        ("straße", "pdf-forms"),
        ("a\u{200b}b", "pdf-forms"),
    ] {
        let error = SkillName::new(bad).unwrap_err();
        assert!(error.help().contains(help), "{bad:?}: {}", error.help());
    }
}
