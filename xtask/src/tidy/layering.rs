//! A crate may only use crates of an earlier line.

use std::path::Path;

use cargo_metadata::{DependencyKind, MetadataCommand};

use super::Finding;
use crate::chores::Outcome;

/// A crate's place: which crates of the project it may use, and whether it is pure.
#[derive(Debug)]
pub(super) struct Layer {
    pub(super) name: &'static str,
    /// Other crates of the project that it may use: each stands on an earlier line.
    may_use: &'static [&'static str],
    pub(super) purity: Purity,
}

/// Whether a crate does I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purity {
    /// Values in, values out: no file system, environment, clock, thread, async.
    Pure,
    /// Meets the world.
    Worldly,
}

use Purity::{Pure, Worldly};

/// The table of docs/ARCHITECTURE.md, lowest crate first.
pub(super) const LAYERS: &[Layer] = &[
    layer("podward-policy", &[], Pure),
    layer("podward-shell", &["podward-policy"], Pure),
    layer("podward-protocol", &[], Pure),
    layer("podward-view", &["podward-protocol"], Pure),
    layer("podward-gate", &["podward-policy"], Pure),
    layer("podward-skill", &["podward-policy"], Pure),
    layer("podward-lint", &["podward-policy", "podward-shell"], Pure),
    layer("podward-scope", &["podward-policy"], Worldly),
    layer(
        "podward-manifest",
        &["podward-policy", "podward-shell", "podward-scope"],
        Pure,
    ),
    layer(
        "podward-tools",
        &[
            "podward-policy",
            "podward-shell",
            "podward-gate",
            "podward-scope",
        ],
        Worldly,
    ),
    layer("podward-undo", &[], Worldly),
    layer("podward-model", &[], Worldly),
    layer(
        "podward-worker",
        &[
            "podward-policy",
            "podward-gate",
            "podward-skill",
            "podward-tools",
            "podward-model",
        ],
        Worldly,
    ),
    layer("podward-client", &["podward-protocol"], Worldly),
    layer(
        "podward-pod",
        &[
            "podward-policy",
            "podward-shell",
            "podward-protocol",
            "podward-gate",
            "podward-shell",
            "podward-skill",
            "podward-scope",
            "podward-manifest",
            "podward-tools",
            "podward-undo",
            "podward-model",
            "podward-worker",
            "podward-client",
        ],
        Worldly,
    ),
    layer(
        "podward-attach",
        &["podward-protocol", "podward-view", "podward-client"],
        Worldly,
    ),
    layer(
        "podward",
        &[
            "podward-policy",
            "podward-shell",
            "podward-protocol",
            "podward-view",
            "podward-gate",
            "podward-skill",
            "podward-lint",
            "podward-scope",
            "podward-manifest",
            "podward-tools",
            "podward-undo",
            "podward-model",
            "podward-worker",
            "podward-pod",
            "podward-client",
            "podward-attach",
        ],
        Worldly,
    ),
    layer("podward-test-provider", &["podward-model"], Worldly),
    layer("xtask", &[], Worldly),
];

const fn layer(name: &'static str, may_use: &'static [&'static str], purity: Purity) -> Layer {
    Layer {
        name,
        may_use,
        purity,
    }
}

/// One normal or build dependency of a crate of the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edge {
    pub(super) from: String,
    pub(super) to: String,
}

/// Every crate of the workspace, with its edges; a crate without dependencies has an edge to itself
/// so that it is seen.
///
/// # Errors
/// `cargo metadata` fails.
pub(super) fn edges_of_workspace(root: &Path) -> Outcome<Vec<Edge>> {
    let metadata = MetadataCommand::new()
        .manifest_path(root.join("Cargo.toml"))
        .no_deps()
        .exec()?;
    let mut edges = Vec::new();
    for package in &metadata.packages {
        let from = package.name.to_string();
        edges.push(Edge {
            from: from.clone(),
            to: from.clone(),
        });
        for dependency in &package.dependencies {
            if dependency.kind != DependencyKind::Development {
                edges.push(Edge {
                    from: from.clone(),
                    to: dependency.name.clone(),
                });
            }
        }
    }
    Ok(edges)
}

/// Finds edges that the table does not have, and crates it does not know.
pub(super) fn check(edges: &[Edge]) -> Vec<Finding> {
    const CHECK: &str = "layering";
    let place = |name: &str| LAYERS.iter().position(|layer| layer.name == name);
    let mut findings = Vec::new();
    for edge in edges {
        let path = format!("crate {}", edge.from);
        let Some(layer) = LAYERS.iter().find(|layer| layer.name == edge.from) else {
            findings.push(Finding::about(
                CHECK,
                &path,
                "is not in the table of layers",
            ));
            continue;
        };
        let ours = place(&edge.to).is_some();
        if ours && edge.to != edge.from && !layer.may_use.contains(&edge.to.as_str()) {
            findings.push(Finding::about(
                CHECK,
                &path,
                format!("may not use `{}`", edge.to),
            ));
        }
    }
    findings.dedup();
    findings
}

#[cfg(test)]
mod tests;
