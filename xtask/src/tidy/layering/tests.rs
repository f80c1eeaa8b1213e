use super::{Edge, LAYERS, check};
use crate::tidy::expect;

fn edge(from: &str, to: &str) -> Edge {
    Edge {
        from: from.to_owned(),
        to: to.to_owned(),
    }
}

#[test]
fn an_edge_of_the_table_is_fine() {
    expect(&check(&[edge("podward-gate", "podward-policy")]), &[]);
}

#[test]
fn an_edge_against_the_table_is_found() {
    expect(
        &check(&[edge("podward-policy", "podward-gate")]),
        &["crate podward-policy: [layering] may not use `podward-gate`"],
    );
    expect(
        &check(&[edge("podward-worker", "podward-protocol")]),
        &["crate podward-worker: [layering] may not use `podward-protocol`"],
    );
}

#[test]
fn a_crate_outside_of_the_table_is_found() {
    expect(
        &check(&[edge("podward-misc", "serde")]),
        &["crate podward-misc: [layering] is not in the table of layers"],
    );
}

#[test]
fn the_table_only_points_to_earlier_lines() {
    for (idx, layer) in LAYERS.iter().enumerate() {
        for used in layer.may_use {
            assert!(
                LAYERS[..idx].iter().any(|earlier| earlier.name == *used),
                "{} may use {used}, which is no earlier line",
                layer.name
            );
        }
    }
}
