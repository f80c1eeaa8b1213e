//! Layers for tests.

use crate::{Diagnostics, LayerKind, LayerSource, Resolved, Surroundings, Trust, resolve};

/// A layer named after its kind: `user.toml`.
pub(crate) fn layer(kind: LayerKind, trust: Trust, text: &str) -> LayerSource {
    LayerSource {
        kind,
        file: format!("{}.toml", kind.as_str()).into(),
        directory: format!("/{}", kind.as_str()).into(),
        text: text.to_owned(),
        trust,
    }
}

pub(crate) fn trusted(kind: LayerKind, text: &str) -> LayerSource {
    layer(kind, Trust::Trusted, text)
}

pub(crate) fn untrusted(text: &str) -> LayerSource {
    layer(LayerKind::Project, Trust::Untrusted, text)
}

pub(crate) fn resolved(layers: &[LayerSource]) -> Result<Resolved, Diagnostics> {
    let surroundings = Surroundings {
        home: Some("/home/u".into()),
        ..Surroundings::default()
    };
    resolve(layers, &surroundings)
}

/// The messages of the errors, each with its place.
pub(crate) fn errors(layers: &[LayerSource]) -> Vec<String> {
    let diagnostics = resolved(layers)
        .map(|resolved| resolved.effective.to_string())
        .unwrap_err();
    diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.severity == crate::Severity::Error)
        .map(|diagnostic| {
            let place = diagnostic.place.as_ref().unwrap();
            format!("{}: {}", place.location, diagnostic.message)
        })
        .collect()
}
