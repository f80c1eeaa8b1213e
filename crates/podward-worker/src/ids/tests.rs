use podward_gate::CallId;

use super::*;

#[test]
fn a_second_id_gets_a_number() {
    let mut ids = CallIds::new(["a", "a_2", "not an id"].into_iter());
    let taken: Vec<_> = ["a", "a", "b", "", "", "x y", "x z", "x y"]
        .into_iter()
        .map(|id| ids.take(id).to_string())
        .collect();
    assert_eq!(
        taken,
        ["a_3", "a_4", "b", "call", "call_2", "x_y", "x_z", "x_y_2"]
    );
    assert!(!ids.used.contains(&CallId::new("c").unwrap()));
}

/// `podward reply POD all reject` is a no to every question, and `--help` is no question at all.
#[test]
fn an_id_means_the_same_wherever_people_type_it() {
    let mut ids = CallIds::default();
    let taken: Vec<_> = ["all", "--help", "-", "all_2", "all", "ALL"]
        .into_iter()
        .map(|id| ids.take(id).to_string())
        .collect();
    assert_eq!(
        taken,
        [
            "call_all",
            "call_--help",
            "call_-",
            "all_2",
            "call_all_2",
            "ALL"
        ]
    );
}

#[test]
fn an_odd_tool_name_becomes_one_that_can_be_sent_back() {
    assert_eq!(tool_name("mcp__a__b-c"), "mcp__a__b-c");
    assert_eq!(tool_name("rm -rf /\u{202e}"), "rm_-rf___");
    assert_eq!(tool_name(""), "unnamed");
    assert_eq!(tool_name(&"x".repeat(1_000_000)).len(), 128);
}
