//! The permissions of one text alone: no layers, no model, nothing else needed.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use podward_policy::{KnownTools, LayerKind, LayerName, Policies};
use podward_shell::AddedPrograms;

use crate::canonical;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::layer::{LayerSource, Surroundings, Trust};
use crate::policy_test::PolicyTest;
use crate::resolve::tests_of;
use crate::{programs, read};

/// The policies of one text.
#[derive(Debug, Clone)]
pub struct Isolated {
    /// One layer, [`LayerKind::Manifest`], or none if the text has no `[permissions]`.
    pub policies: Policies,
    /// What the author should hear although the text loads.
    pub warnings: Vec<Diagnostic>,
    /// As [`crate::Resolved::tests`].
    pub tests: Vec<PolicyTest>,
    /// As [`crate::Resolved::programs`].
    pub programs: AddedPrograms,
    /// As [`crate::Resolved::policy_bytes`].
    pub policy_bytes: Vec<u8>,
}

/// Reads the `[permissions]` of one text. Its other tables may be absent; those that are there are
/// checked as in any manifest.
///
/// # Errors
/// Everything that is wrong in the text.
pub fn isolated(file: &str, text: &str, known_tools: &KnownTools) -> Result<Isolated, Diagnostics> {
    // The values of other tables are thrown away: any home and directory will do.
    let layer = LayerSource {
        kind: LayerKind::Manifest,
        file: Arc::from(file),
        directory: PathBuf::new(),
        text: text.to_owned(),
        trust: Trust::Trusted,
    };
    let surroundings = Surroundings {
        home: Some(Path::new("/").to_path_buf()),
        known_tools: known_tools.clone(),
        ..Surroundings::default()
    };
    isolated_layer(&layer, &surroundings)
}

/// The same for a layer whose `[programs] files` can be read.
///
/// # Errors
/// Everything that is wrong in the text, and in those of its models.
pub fn isolated_layer(
    layer: &LayerSource,
    surroundings: &Surroundings,
) -> Result<Isolated, Diagnostics> {
    let mut read = read::layer(layer, surroundings);
    let mut found = Vec::new();
    let programs = programs::read(std::slice::from_ref(&read), surroundings, &mut found);
    read.diagnostics.append(&mut found);
    if read.has_errors() {
        return Err(Diagnostics::new(read.diagnostics));
    }
    let name = LayerName {
        kind: LayerKind::Manifest,
    };
    let tests = tests_of(std::slice::from_ref(&read));
    let compiled = read.permissions;
    let mut policy_bytes = canonical::bytes(compiled.iter().map(|layer| (&name, layer)));
    canonical::add_programs(&mut policy_bytes, &programs);
    let policies = compiled
        .into_iter()
        .map(|layer| (name.clone(), layer.policy));
    Ok(Isolated {
        policies: Policies::new(policies.collect()),
        warnings: read.diagnostics,
        tests,
        programs,
        policy_bytes,
    })
}
