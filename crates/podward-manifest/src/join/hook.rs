//! Joins the hooks: those of all layers, outermost first.

use podward_policy::Location;

use super::{Join, Site};
use crate::diagnostic::Diagnostic;
use crate::effective::{EffectiveLine, Origin};
use crate::hook::{DEFAULT_TIMEOUT, DeclaredHook, HookName};
use crate::raw::RawHook;
use crate::reader::Sited;
use crate::shown::{Shown, argv, toml_string};

/// The key that fixes hooks in the machine's layer.
const KEY: &str = "hook";

impl Join<'_> {
    /// The hooks of every layer, in the order in which they run.
    pub(crate) fn hooks(&mut self) -> Vec<DeclaredHook> {
        self.check_fixed_hooks();
        let mut hooks = Vec::new();
        for (layer_idx, layer) in self.layers.iter().enumerate() {
            for raw in &layer.raw.hooks {
                let location = layer.source.location(raw.header.start);
                // What is missing or wrong was reported.
                let Some(hook) = declared(raw, location) else {
                    continue;
                };
                self.show_hook(layer_idx, raw, &hook);
                hooks.push(hook);
            }
        }
        hooks
    }

    /// Reports the hooks of each layer below one that fixes them.
    fn check_fixed_hooks(&mut self) {
        for (fixing_idx, fixing) in self.layers.iter().enumerate() {
            let mut fixed = fixing.raw.fixed.iter().flat_map(|fixed| &fixed.value);
            let Some(fixed) = fixed.find(|fixed| fixed.value == KEY) else {
                continue;
            };
            for layer in self.layers.iter().skip(fixing_idx + 1) {
                for hook in &layer.raw.hooks {
                    let message = format!("`{KEY}` is fixed by {}", fixing.layer.file);
                    let diagnostic = Diagnostic::error(message, layer.source.place(hook.header))
                        .with_related("fixed here", fixing.source.place(fixed.span))
                        .with_help("leave it out here: only the hooks of that layer run");
                    self.diagnostics.push(diagnostic);
                }
            }
        }
    }

    fn show_hook(&mut self, layer_idx: usize, raw: &RawHook, hook: &DeclaredHook) {
        let name = raw.name.as_ref().map(|name| name.key);
        self.show_key(layer_idx, "name", toml_string(hook.name.as_str()), name);
        let event = raw.event.as_ref().map(|event| event.key);
        self.show_key(layer_idx, "event", toml_string(hook.event.as_str()), event);
        if let Some(Sited { value, key, .. }) = &raw.tool {
            self.show_key(layer_idx, "tool", toml_string(value.as_str()), Some(*key));
        }
        let command = raw.command.as_ref().map(|command| command.key);
        self.show_key(
            layer_idx,
            "command",
            argv(&hook.program, &hook.arguments),
            command,
        );
        let timeout = raw.timeout.as_ref().map(|timeout| timeout.key);
        self.show_key(layer_idx, "timeout", hook.timeout.shown(), timeout);
    }

    fn show_key(
        &mut self,
        layer_idx: usize,
        key: &'static str,
        value: String,
        at: Option<podward_policy::ByteSpan>,
    ) {
        let origin = at.and_then(|key| self.written(Site { layer_idx, key }));
        self.lines.push(EffectiveLine {
            table: "hook",
            key: key.into(),
            value,
            origin: origin.unwrap_or(Origin::Default),
        });
    }
}

fn declared(raw: &RawHook, location: Location) -> Option<DeclaredHook> {
    let event = raw.event.as_ref()?.value;
    let command = raw.command.as_ref()?.value.clone();
    let name = match &raw.name {
        Some(name) => name.value.clone(),
        None => HookName::of(&command.program, &command.arguments),
    };
    Some(DeclaredHook {
        name,
        event,
        tool: raw.tool.as_ref().map(|tool| tool.value.clone()),
        program: command.program,
        arguments: command.arguments,
        timeout: raw
            .timeout
            .as_ref()
            .map_or(DEFAULT_TIMEOUT, |timeout| timeout.value),
        location,
    })
}
