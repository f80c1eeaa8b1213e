use super::*;

#[test]
fn a_key_that_is_not_accepted_is_looked_for_where_it_came_from() {
    let error = ModelError::Authentication {
        message: "invalid x-api-key".to_owned(),
    };
    for (origin, expected) in [
        (
            Some(KeyOrigin::Variable("ACME_KEY".into())),
            "the key comes from the variable `ACME_KEY`",
        ),
        (
            Some(KeyOrigin::File("/home/u/key".into())),
            "the key comes from the file `/home/u/key`",
        ),
        (
            Some(KeyOrigin::Command("pass".into())),
            "the key comes from the output of `pass`",
        ),
        (None, "no layer gives a key"),
    ] {
        let help = help(&error, origin.as_ref()).unwrap();
        assert!(help.starts_with(expected), "{help}");
    }
}
