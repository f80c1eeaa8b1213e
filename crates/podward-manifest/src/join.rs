//! Joins the layers, one setting at a time.

mod child;
mod hook;

use podward_policy::ByteSpan;

use crate::diagnostic::{Diagnostic, Place};
use crate::effective::{EffectiveLine, Origin};
use crate::raw::RawManifest;
use crate::read::ReadLayer;
use crate::reader::Sited;
use crate::shown::Shown;

/// Where a setting stands in the manifest.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeyPath {
    pub(crate) table: &'static str,
    pub(crate) key: &'static str,
}

pub(crate) const fn key(table: &'static str, key: &'static str) -> KeyPath {
    KeyPath { table, key }
}

impl std::fmt::Display for KeyPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.table, self.key)
    }
}

/// A joined value and the layer it came from; `None`: the default.
#[derive(Debug, Clone)]
pub(crate) struct Joined<T> {
    pub(crate) value: T,
    pub(crate) site: Option<Site>,
}

/// A place in a layer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Site {
    pub(crate) layer_idx: usize,
    pub(crate) key: ByteSpan,
}

/// The layers while they are joined.
#[derive(Debug)]
pub(crate) struct Join<'l> {
    /// Outermost first.
    layers: &'l [ReadLayer<'l>],
    pub(crate) lines: Vec<EffectiveLine>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl<'l> Join<'l> {
    pub(crate) const fn new(layers: &'l [ReadLayer<'l>]) -> Self {
        Self {
            layers,
            lines: Vec::new(),
            diagnostics: Vec::new(),
        }
    }

    /// What the nearest layer says, or the default.
    pub(crate) fn nearest<T: Shown + Clone>(
        &mut self,
        key: KeyPath,
        get: impl Fn(&RawManifest) -> Option<&Sited<T>>,
        default: T,
    ) -> T {
        let joined = self.nearest_of(key, &get).unwrap_or(Joined {
            value: default,
            site: None,
        });
        self.show(key, &joined);
        joined.value
    }

    /// What the nearest layer says, if one says anything.
    pub(crate) fn nearest_if_set<T: Shown + Clone>(
        &mut self,
        key: KeyPath,
        get: impl Fn(&RawManifest) -> Option<&Sited<T>>,
    ) -> Option<Joined<T>> {
        let joined = self.nearest_of(key, &get)?;
        self.show(key, &joined);
        Some(joined)
    }

    /// What the nearest layer says of those from `begin` on, and of those that fix the key.
    pub(crate) fn nearest_since<T: Shown + Clone>(
        &mut self,
        begin: usize,
        key: KeyPath,
        get: impl Fn(&RawManifest) -> Option<&Sited<T>>,
    ) -> Option<Joined<T>> {
        let joined = self.nearest_unshown(begin, key, get)?;
        self.show(key, &joined);
        Some(joined)
    }

    /// The same without a line of the effective manifest.
    pub(crate) fn nearest_unshown<T: Shown + Clone>(
        &mut self,
        begin: usize,
        key: KeyPath,
        get: impl Fn(&RawManifest) -> Option<&Sited<T>>,
    ) -> Option<Joined<T>> {
        self.check_fixed(key, &get);
        self.nearest_trusted(&get, |layer_idx, raw| layer_idx >= begin || fixes(raw, key))
    }

    /// What each layer says, outermost first.
    pub(crate) fn raws(&self) -> impl Iterator<Item = (usize, &'l RawManifest)> + use<'l> {
        let layers: &'l [ReadLayer<'l>] = self.layers;
        layers.iter().map(|layer| &layer.raw).enumerate()
    }

    /// What the nearest trusted layer says or the default, made smaller by an untrusted project.
    pub(crate) fn smallest<T: Shown + Clone + Ord>(
        &mut self,
        key: KeyPath,
        get: impl Fn(&RawManifest) -> Option<&Sited<T>>,
        default: T,
    ) -> T {
        self.tightened(key, get, default, |ours, theirs| {
            (theirs < ours).then(|| theirs.clone())
        })
    }

    /// What the nearest trusted layer says or the default, tightened by an untrusted project:
    /// `tighten` gives the result, or `None` where it would change nothing.
    pub(crate) fn tightened<T: Shown + Clone>(
        &mut self,
        key: KeyPath,
        get: impl Fn(&RawManifest) -> Option<&Sited<T>>,
        default: T,
        tighten: impl Fn(&T, &T) -> Option<T>,
    ) -> T {
        let mut joined = self.nearest_of(key, &get).unwrap_or(Joined {
            value: default,
            site: None,
        });
        for (layer_idx, layer) in self.layers.iter().enumerate() {
            let Some(theirs) = get(&layer.raw).filter(|_| layer.is_untrusted()) else {
                continue;
            };
            if let Some(value) = tighten(&joined.value, &theirs.value) {
                joined = Joined {
                    value,
                    site: Some(Site {
                        layer_idx,
                        key: theirs.key,
                    }),
                };
            } else if theirs.value.shown() != joined.value.shown() {
                let ours = joined.value.shown();
                let message = format!("`{key}` changes nothing here");
                let help =
                    format!("a project that is not trusted can only tighten it; it is {ours}");
                let place = layer.source.place(theirs.key);
                self.diagnostics
                    .push(Diagnostic::warning(message, place).with_help(help));
            }
        }
        self.show(key, &joined);
        joined.value
    }

    /// Every item of a list in every layer, outermost layer first.
    pub(crate) fn union<T: Shown + Clone + PartialEq>(
        &mut self,
        key: KeyPath,
        get: impl Fn(&RawManifest) -> Option<&Sited<Vec<Sited<T>>>>,
    ) -> Vec<T> {
        let mut items = Vec::new();
        for (layer_idx, layer) in self.layers.iter().enumerate() {
            for item in get(&layer.raw).into_iter().flat_map(|list| &list.value) {
                self.show_item(key, layer_idx, item);
                items.push(item.value.clone());
            }
        }
        items
    }

    /// The items of a list in the nearest layer that has it, each shown as a line of its own.
    pub(crate) fn nearest_list<T: Shown + Clone>(
        &mut self,
        key: KeyPath,
        get: impl Fn(&RawManifest) -> Option<&Sited<Vec<Sited<T>>>>,
    ) -> Vec<T> {
        let Some(joined) = self.nearest_of(key, &get) else {
            return Vec::new();
        };
        let layer_idx = joined.site.map_or(0, |site| site.layer_idx);
        for item in &joined.value {
            self.show_item(key, layer_idx, item);
        }
        joined.value.into_iter().map(|item| item.value).collect()
    }

    /// Where a setting came from.
    pub(crate) fn place(&self, site: Site) -> Option<Place> {
        let layer = self.layers.get(site.layer_idx)?;
        Some(layer.source.place(site.key))
    }

    fn nearest_of<T: Shown + Clone>(
        &mut self,
        key: KeyPath,
        get: &impl Fn(&RawManifest) -> Option<&Sited<T>>,
    ) -> Option<Joined<T>> {
        self.check_fixed(key, get);
        self.nearest_trusted(get, |_, _| true)
    }

    fn nearest_trusted<T: Clone>(
        &self,
        get: &impl Fn(&RawManifest) -> Option<&Sited<T>>,
        counts: impl Fn(usize, &RawManifest) -> bool,
    ) -> Option<Joined<T>> {
        let trusted = self.layers.iter().enumerate().rev();
        let (layer_idx, value) = trusted
            .filter(|(layer_idx, layer)| !layer.is_untrusted() && counts(*layer_idx, &layer.raw))
            .find_map(|(layer_idx, layer)| Some((layer_idx, get(&layer.raw)?)))?;
        Some(Joined {
            value: value.value.clone(),
            site: Some(Site {
                layer_idx,
                key: value.key,
            }),
        })
    }

    /// Reports each nearer layer that sets a fixed key to another value.
    fn check_fixed<T: Shown>(
        &mut self,
        key: KeyPath,
        get: &impl Fn(&RawManifest) -> Option<&Sited<T>>,
    ) {
        for (fixing_idx, fixing) in self.layers.iter().enumerate() {
            let Some(fixed) = get(&fixing.raw).filter(|_| fixes(&fixing.raw, key)) else {
                continue;
            };
            let value = fixed.value.shown();
            for layer in self.layers.iter().skip(fixing_idx + 1) {
                let Some(other) = get(&layer.raw).filter(|other| other.value.shown() != value)
                else {
                    continue;
                };
                let message = format!("`{key}` is fixed by {}", fixing.layer.file);
                let diagnostic = Diagnostic::error(message, layer.source.place(other.key))
                    .with_related("fixed to this value", fixing.source.place(fixed.key))
                    .with_help(format!("leave it out here: it is {value}"));
                self.diagnostics.push(diagnostic);
            }
        }
    }

    /// Adds a line of the effective manifest.
    pub(crate) fn show<T: Shown>(&mut self, key: KeyPath, joined: &Joined<T>) {
        let origin = joined.site.and_then(|site| self.written(site));
        self.lines.push(EffectiveLine {
            table: key.table,
            key: key.key.into(),
            value: joined.value.shown(),
            origin: origin.unwrap_or(Origin::Default),
        });
    }

    fn show_item<T: Shown>(&mut self, key: KeyPath, layer_idx: usize, item: &Sited<T>) {
        let site = Site {
            layer_idx,
            key: item.key,
        };
        self.lines.push(EffectiveLine {
            table: key.table,
            key: key.key.into(),
            value: item.value.shown(),
            origin: self.written(site).unwrap_or(Origin::Default),
        });
    }

    fn written(&self, site: Site) -> Option<Origin> {
        let layer = self.layers.get(site.layer_idx)?;
        Some(Origin::Written {
            layer: podward_policy::LayerName {
                kind: layer.layer.kind,
            },
            location: layer.source.location(site.key.start),
        })
    }
}

/// Whether a layer fixes a key.
fn fixes(raw: &RawManifest, key: KeyPath) -> bool {
    let path = key.to_string();
    raw.fixed
        .iter()
        .flat_map(|fixed| &fixed.value)
        .any(|fixed| fixed.value == path)
}
