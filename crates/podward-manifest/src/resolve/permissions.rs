//! The permissions of the layers, as the effective manifest shows them.

use std::time::Duration;

use podward_policy::{LayerName, Location};

use super::approvals::ApprovalLine;
use crate::effective::{EffectiveLine, Origin};
use crate::permissions::CompiledLayer;
use crate::read::ReadLayer;
use crate::shown::{Shown, toml_string};

/// The permissions of all layers, outermost first. A joined key stands in the layer that decides
/// it; a default in the nearest.
pub(super) fn lines(
    layers: &[ReadLayer<'_>],
    compiled: &[(LayerName, CompiledLayer)],
    joined: &[ApprovalLine],
) -> Vec<EffectiveLine> {
    let with_permissions = layers.iter().enumerate();
    let with_permissions: Vec<_> = with_permissions
        .filter(|(_, layer)| layer.raw.permissions.is_some())
        .collect();
    let nearest = with_permissions.last().map(|(layer_idx, _)| *layer_idx);
    let mut lines = Vec::new();
    for ((layer_idx, read), (name, layer)) in with_permissions.into_iter().zip(compiled) {
        let mut shown = LayerLines {
            name,
            lines: Vec::new(),
        };
        shown.defaults(layer, read);
        for line in joined {
            match line.site {
                Some(site) if site.layer_idx == layer_idx => {
                    let origin = shown.written(read.source.location(site.key.start));
                    shown.push(line.key, line.value.clone(), origin);
                }
                None if nearest == Some(layer_idx) => {
                    let origin = shown.implied();
                    shown.push(line.key, line.value.clone(), origin);
                }
                Some(_) | None => {}
            }
        }
        shown.rules(layer);
        lines.append(&mut shown.lines);
    }
    lines
}

/// The lines of one layer.
struct LayerLines<'n> {
    name: &'n LayerName,
    lines: Vec<EffectiveLine>,
}

impl LayerLines<'_> {
    fn push(&mut self, key: &'static str, value: String, origin: Origin) {
        self.lines.push(EffectiveLine {
            table: "permissions",
            key: key.into(),
            value,
            origin,
        });
    }

    fn written(&self, location: Location) -> Origin {
        Origin::Written {
            layer: self.name.clone(),
            location,
        }
    }

    fn implied(&self) -> Origin {
        Origin::Implied {
            layer: self.name.clone(),
        }
    }

    fn defaults(&mut self, layer: &CompiledLayer, read: &ReadLayer<'_>) {
        let spec = &layer.spec;
        let origin = self.written(spec.default_location.clone());
        self.push(
            "default_action",
            toml_string(spec.default_action.as_str()),
            origin,
        );
        let raw = read.raw.permissions.as_ref();
        let origin = match raw.and_then(|raw| raw.unresolved.as_ref()) {
            Some(unresolved) => self.written(read.source.location(unresolved.key.start)),
            None => self.implied(),
        };
        let unresolved = toml_string(layer.policy.unresolved().as_str());
        self.push("unresolved", unresolved, origin);
    }

    fn rules(&mut self, layer: &CompiledLayer) {
        for rule in &layer.spec.rules {
            let mut value = format!(
                "{{ tool = {}, pattern = {}, action = {}",
                toml_string(&rule.tool),
                toml_string(&rule.pattern),
                toml_string(rule.action.as_str()),
            );
            if let Some(message) = &rule.message {
                value.push_str(&format!(", message = {}", toml_string(message)));
            }
            if let Some(seconds) = rule.ask_timeout {
                let timeout = Duration::from_secs(seconds.into());
                value.push_str(&format!(", ask_timeout = {}", timeout.shown()));
            }
            if !rule.grantable {
                value.push_str(", grantable = false");
            }
            value.push_str(" }");
            let origin = self.written(rule.location.clone());
            self.push("rule", value, origin);
        }
    }
}
