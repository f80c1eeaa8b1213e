//! The keys of `[permissions]` that are about questions: of each the strictest that a layer says.

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::BTreeSet;

use podward_policy::{Action, ByteSpan};

use crate::approvals::{Approvals, OnAsk};
use crate::diagnostic::{Diagnostic, Place};
use crate::join::Site;
use crate::raw::RawPermissions;
use crate::read::ReadLayer;
use crate::reader::Sited;
use crate::shown::Shown;

/// The joined keys.
#[derive(Debug)]
pub(super) struct JoinedApprovals {
    pub(super) approvals: Approvals,
    /// As the effective manifest shows them.
    pub(super) lines: Vec<ApprovalLine>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// A joined key as the effective manifest shows it.
#[derive(Debug)]
pub(super) struct ApprovalLine {
    pub(super) key: &'static str,
    pub(super) value: String,
    /// `None`: no layer says so.
    pub(super) site: Option<Site>,
}

/// Joins the keys, and reports what does not fit together.
pub(super) fn join(layers: &[ReadLayer<'_>]) -> JoinedApprovals {
    let default = Approvals::default();
    let mut joining = Joining {
        layers,
        lines: Vec::new(),
        diagnostics: Vec::new(),
    };
    let on_ask = joining.strictest(
        "on_ask",
        |raw| raw.on_ask.as_ref(),
        |word| word,
        Some(default.on_ask),
    );
    joining.show("on_ask", on_ask, Some(default.on_ask));
    let ask_timeout =
        joining.strictest("ask_timeout", |raw| raw.ask_timeout.as_ref(), Reverse, None);
    joining.show("ask_timeout", ask_timeout, None);
    let client_grace = joining.strictest(
        "client_grace",
        |raw| raw.client_grace.as_ref(),
        Reverse,
        Some(default.client_grace),
    );
    joining.show("client_grace", client_grace, Some(default.client_grace));
    let auto = joining.strictest(
        "auto",
        |raw| raw.auto.as_ref(),
        |word| word,
        Some(default.auto),
    );
    joining.show("auto", auto, Some(default.auto));
    let approvals = Approvals {
        on_ask: on_ask.map_or(default.on_ask, |said| said.value),
        ask_timeout: ask_timeout.map(|said| said.value),
        client_grace: client_grace.map_or(default.client_grace, |said| said.value),
        auto: auto.map_or(default.auto, |said| said.value),
    };
    if let Some(on_ask) = on_ask {
        joining.check(on_ask, &approvals);
    }
    JoinedApprovals {
        approvals,
        lines: joining.lines,
        diagnostics: joining.diagnostics,
    }
}

/// What a layer says.
#[derive(Debug, Clone, Copy)]
struct Said<T> {
    value: T,
    site: Site,
}

struct Joining<'l> {
    layers: &'l [ReadLayer<'l>],
    lines: Vec<ApprovalLine>,
    diagnostics: Vec<Diagnostic>,
}

impl<'l> Joining<'l> {
    /// The strictest that a layer says, of equals the outermost. A project that is not trusted only
    /// counts where it is stricter than what holds without it.
    fn strictest<T: Copy + Shown, K: Ord>(
        &mut self,
        key: &str,
        get: impl Fn(&RawPermissions) -> Option<&Sited<T>>,
        strictness: impl Fn(T) -> K,
        default: Option<T>,
    ) -> Option<Said<T>> {
        let mut strictest: Option<Said<T>> = None;
        let said = said_by(self.layers, &get);
        for (_, said) in said.iter().filter(|(layer, _)| !layer.is_untrusted()) {
            if strictest.is_none_or(|other| strictness(said.value) > strictness(other.value)) {
                strictest = Some(*said);
            }
        }
        for (layer, said) in said.iter().filter(|(layer, _)| layer.is_untrusted()) {
            let Some(ours) = strictest.map(|said| said.value).or(default) else {
                strictest = Some(*said);
                continue;
            };
            match strictness(said.value).cmp(&strictness(ours)) {
                std::cmp::Ordering::Greater => strictest = Some(*said),
                std::cmp::Ordering::Equal => {}
                std::cmp::Ordering::Less => {
                    let message = format!("`permissions.{key}` changes nothing here");
                    let ours = ours.shown();
                    let help =
                        format!("a project that is not trusted can only tighten it; it is {ours}");
                    let warning = Diagnostic::warning(message, layer.source.place(said.site.key));
                    self.diagnostics.push(warning.with_help(help));
                }
            }
        }
        strictest
    }

    fn show<T: Copy + Shown>(
        &mut self,
        key: &'static str,
        said: Option<Said<T>>,
        default: Option<T>,
    ) {
        if let Some(value) = said.map(|said| said.value).or(default) {
            self.lines.push(ApprovalLine {
                key,
                value: value.shown(),
                site: said.map(|said| said.site),
            });
        }
    }

    /// Reports what `on_ask` does not go with.
    fn check(&mut self, on_ask: Said<OnAsk>, approvals: &Approvals) {
        match on_ask.value {
            OnAsk::Refuse => {}
            // One that is written wrong was reported.
            OnAsk::Wait if approvals.ask_timeout.is_some() || self.is_written("ask_timeout") => {}
            OnAsk::Wait => {
                let Some(place) = self.place(on_ask.site) else {
                    return;
                };
                let message = "`on_ask = \"wait\"` needs `ask_timeout`".to_owned();
                let help = "write how long a question may wait: `ask_timeout = \"1h\"`";
                let error = Diagnostic::error(message, place).with_help(help);
                self.diagnostics.push(error);
            }
            OnAsk::Error => self.report_askers(on_ask.site),
        }
    }

    /// Reports every rule and default that can ask.
    fn report_askers(&mut self, on_ask: Site) {
        let Some(set_here) = self.place(on_ask) else {
            return;
        };
        for layer in self.layers {
            for asker in askers(layer) {
                let message = format!("{} can ask, and `on_ask` is `error`", asker.what);
                let error = Diagnostic::error(message, layer.source.place(asker.at))
                    .with_related("it is set here", set_here.clone())
                    .with_help(asker.help);
                self.diagnostics.push(error);
            }
        }
    }

    fn is_written(&self, key: &str) -> bool {
        let keys = self.layers.iter().flat_map(|layer| &layer.raw.keys);
        let path = format!("permissions.{key}");
        keys.into_iter().any(|written| written.value == path)
    }

    fn place(&self, site: Site) -> Option<Place> {
        let layer = self.layers.get(site.layer_idx)?;
        Some(layer.source.place(site.key))
    }
}

/// What the layers say of a key, outermost first.
fn said_by<'l, T: Copy>(
    layers: &'l [ReadLayer<'l>],
    get: impl Fn(&RawPermissions) -> Option<&Sited<T>>,
) -> Vec<(&'l ReadLayer<'l>, Said<T>)> {
    let said = layers.iter().enumerate().filter_map(|(layer_idx, layer)| {
        let said = get(layer.raw.permissions.as_ref()?)?;
        let site = Site {
            layer_idx,
            key: said.key,
        };
        let value = said.value;
        Some((layer, Said { value, site }))
    });
    said.collect()
}

/// Something that can ask.
struct Asker {
    what: &'static str,
    at: ByteSpan,
    help: &'static str,
}

/// What can ask in a layer.
fn askers(layer: &ReadLayer<'_>) -> Vec<Asker> {
    let Some(raw) = &layer.raw.permissions else {
        return Vec::new();
    };
    let asker = |what, at| Asker {
        what,
        at,
        help: "with it nothing may ask: write `deny` or `allow`",
    };
    let asks = |action: &&Sited<Action>| action.value == Action::Ask;
    let default = raw.default_action.as_ref();
    let mut askers: Vec<_> = default
        .filter(asks)
        .map(|default| asker("`default_action`", default.key))
        .into_iter()
        .collect();
    let rules = raw.rules.iter().filter_map(|rule| rule.action.as_ref());
    let actions: BTreeSet<Action> = rules.clone().chain(default).map(|a| a.value).collect();
    // Where all say the same, no text is in between.
    let is_mixed = actions.len() > 1;
    let compiled = layer.permissions.as_ref();
    if is_mixed && compiled.is_some_and(|layer| layer.policy.unresolved() == Action::Ask) {
        let unresolved = raw.unresolved.as_ref();
        askers.push(Asker {
            what: "text that is not known before it runs",
            at: unresolved.map_or(raw.header, |unresolved| unresolved.key),
            help: "with it nothing may ask: write `unresolved = \"deny\"`",
        });
    }
    askers.extend(
        rules
            .filter(asks)
            .map(|action| asker("this rule", action.key)),
    );
    askers
}
