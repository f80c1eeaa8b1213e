use super::*;

#[test]
fn a_prompt_that_begins_with_a_name_names_a_skill() {
    for (prompt, expected) in [
        ("/review the diff", Some(("review", "the diff"))),
        ("/review", Some(("review", ""))),
        (" \n/review\n\nthe diff\n", Some(("review", "the diff"))),
        // What cannot be seen hides no name.
        ("\u{feff}/review the diff", Some(("review", "the diff"))),
        ("\u{200b} \u{2060}/review", Some(("review", ""))),
        ("/review\u{200b}", Some(("review\u{200b}", ""))),
        // What is no name is no skill either, and that is said.
        ("/Review, please", Some(("Review,", "please"))),
        ("/tmp is full", Some(("tmp", "is full"))),
        ("review /this", None),
        ("/etc/passwd is odd", None),
        ("// a comment", None),
        ("/etc/", Some(("etc/", ""))),
        ("/ review the diff", Some(("review", "the diff"))),
        ("\u{ff0f}review", Some(("review", ""))),
        ("/", None),
        ("", None),
    ] {
        assert_eq!(slash(prompt), expected, "{prompt:?}");
    }
}

#[test]
fn one_prompt_starts_one_skill() {
    let of =
        |text: &str, skill: Option<&str>| prompt(Some(text.to_owned()), skill.map(str::to_owned));
    assert_eq!(of("go", None), Ok(Some(Prompt::from("go"))));
    let started = Prompt::starting("review", "the diff");
    assert_eq!(of("/review the diff", None), Ok(Some(started.clone())));
    assert_eq!(of("the diff", Some("review")), Ok(Some(started)));
    let alone = prompt(None, Some("review".to_owned()));
    assert_eq!(alone, Ok(Some(Prompt::starting("review", ""))));
    assert_eq!(prompt(None, None), Ok(None));
    let both = of("/review the diff", Some("release"));
    assert_eq!(both, Err(TwoSkills("review".to_owned())));
}
