//! Joins the children: those of all layers but of pods above, by name; the nearest layer counts.

use std::collections::BTreeMap;

use podward_policy::LayerKind;

use super::{Join, Site};
use crate::child::DeclaredChild;
use crate::effective::{EffectiveLine, Origin};
use crate::name::PodName;
use crate::raw::RawChild;
use crate::schema::CHILDREN;
use crate::shown::{Shown, toml_string};

impl Join<'_> {
    /// The children that the pod can start, by name.
    pub(crate) fn children(&mut self) -> Vec<DeclaredChild> {
        let mut children: BTreeMap<PodName, (usize, &RawChild, DeclaredChild)> = BTreeMap::new();
        for (layer_idx, layer) in self.layers.iter().enumerate() {
            // What a pod above can start is for that pod to start.
            if layer.layer.kind == LayerKind::Parent || layer.is_untrusted() {
                continue;
            }
            for raw in &layer.raw.children {
                // What is missing was reported.
                let Some(manifest) = &raw.manifest else {
                    continue;
                };
                let child = DeclaredChild {
                    name: raw.name.clone(),
                    manifest: manifest.value.clone(),
                    mode: raw.mode.as_ref().map(|mode| mode.value).unwrap_or_default(),
                    max_steps: raw.max_steps.as_ref().map(|steps| steps.value),
                    turn_timeout: raw.turn_timeout.as_ref().map(|timeout| timeout.value),
                    location: layer.source.location(raw.header.start),
                };
                children.insert(raw.name.clone(), (layer_idx, raw, child));
            }
        }
        for (layer_idx, raw, child) in children.values() {
            let site = Site {
                layer_idx: *layer_idx,
                key: raw.header,
            };
            self.lines.push(EffectiveLine {
                table: CHILDREN,
                key: child.name.as_str().to_owned().into(),
                value: shown(child),
                origin: self.written(site).unwrap_or(Origin::Default),
            });
        }
        children.into_values().map(|(_, _, child)| child).collect()
    }
}

fn shown(child: &DeclaredChild) -> String {
    let manifest = toml_string(&child.manifest.to_string_lossy());
    let mode = toml_string(child.mode.as_str());
    let steps = child.max_steps.map(|steps| format!("max_steps = {steps}"));
    let timeout = child
        .turn_timeout
        .map(|timeout| format!("turn_timeout = {}", timeout.shown()));
    let limits: Vec<_> = steps.into_iter().chain(timeout).collect();
    let limits = match limits.is_empty() {
        true => String::new(),
        false => format!(", limits = {{ {} }}", limits.join(", ")),
    };
    format!("{{ manifest = {manifest}, mode = {mode}{limits} }}")
}
