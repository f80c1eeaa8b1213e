use podward_protocol::DecidedBy;

use super::by_text;

/// The pod, the rules and `--auto` have their own words, which no client can borrow.
#[test]
fn a_client_is_never_shown_as_something_else() {
    for (name, shown) in [
        ("ann", "ann"),
        ("ann@host:2", "ann@host:2"),
        ("the pod", "\"the pod\""),
        ("the rules", "\"the rules\""),
        ("--auto", "\"--auto\""),
        ("hook mine", "\"hook mine\""),
    ] {
        let by = DecidedBy::Client {
            name: name.to_owned(),
            edited: false,
        };
        assert_eq!(by_text(&by), shown);
    }
}
