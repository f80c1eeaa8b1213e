use super::*;

fn of(skills: &[(String, String)]) -> String {
    listing(skills.iter().map(|(name, text)| (&**name, &**text)))
}

fn many(n: usize, description: &str) -> Vec<(String, String)> {
    let name = |idx| format!("skill-{idx:04}");
    (0..n)
        .map(|idx| (name(idx), description.to_owned()))
        .collect()
}

#[test]
fn each_skill_has_a_line_of_its_own() {
    assert_eq!(of(&[]), "");
    let skills = [
        ("a".to_owned(), "Does\n  this.\u{e0041}".to_owned()),
        ("b".to_owned(), "And that.".to_owned()),
    ];
    assert_eq!(
        of(&skills),
        "The skills:\n- a: Does this.\\u{e0041}\n- b: And that."
    );
}

#[test]
fn a_list_is_bounded_whatever_there_is() {
    let text = of(&many(30, &"x".repeat(1024)));
    assert!(text.len() <= LISTING_BYTES + 16, "{}", text.len());
    assert_eq!(text.lines().count(), 31);
    assert!(text.contains(&format!("- skill-0029: {}…", "x".repeat(512))));
    // Only names have room.
    let text = of(&many(1000, &"x".repeat(1024)));
    assert!(text.len() <= LISTING_BYTES + 16, "{}", text.len());
    assert!(text.contains("\n- skill-0999") && !text.contains('x'));
    let text = of(&many(4000, "x"));
    assert!(text.len() <= LISTING_BYTES + 64, "{}", text.len());
    assert!(text.ends_with("more, which are not listed"), "{text}");
}
