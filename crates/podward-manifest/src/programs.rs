//! Models of programs that the layers add: which files, and what is wrong in their texts.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use podward_policy::LayerKind;
use podward_shell::AddedPrograms;

use crate::diagnostic::Diagnostic;
use crate::layer::{LayerSource, Surroundings};
use crate::read::{self, ReadLayer};
use crate::reader::Sited;
use crate::source::Source;

/// A larger text is refused unread.
const MOST_BYTES: usize = 1024 * 1024;

/// A file that `[programs] files` names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramFile {
    /// The outermost layer that names it.
    pub kind: LayerKind,
    /// Where it is; absolute if the directory of the layer is.
    pub path: PathBuf,
    /// As people see it: beside the manifest that names it, if it lies there.
    pub name: Arc<str>,
}

/// The files that `[programs] files` of the layers name: their texts belong into
/// [`Surroundings::program_texts`]. Those of a project that is not trusted are left out: it may
/// name none.
#[must_use]
pub fn program_files(layers: &[LayerSource], surroundings: &Surroundings) -> Vec<ProgramFile> {
    let mut ordered: Vec<&LayerSource> = layers.iter().collect();
    ordered.sort_by_key(|layer| layer.kind);
    let mut files: Vec<ProgramFile> = Vec::new();
    for layer in ordered {
        let read = read::layer(layer, surroundings);
        if read.is_untrusted() {
            continue;
        }
        for file in named(&read) {
            if files.iter().all(|known| known.path != file.value) {
                files.push(ProgramFile {
                    kind: layer.kind,
                    path: file.value.clone(),
                    name: shown(layer, &file.value),
                });
            }
        }
    }
    files
}

/// A path as it looks from where the manifest's own name starts.
fn shown(layer: &LayerSource, path: &Path) -> Arc<str> {
    let beside = path.strip_prefix(&layer.directory).ok().and_then(|rest| {
        let directory = Path::new(layer.file.as_ref()).parent()?;
        Some(directory.join(rest))
    });
    beside.as_deref().unwrap_or(path).to_string_lossy().into()
}

fn named<'r>(read: &'r ReadLayer<'_>) -> impl Iterator<Item = &'r Sited<PathBuf>> + use<'r> {
    let files = read.raw.program_files.iter();
    files.flat_map(|files| &files.value)
}

/// The files that these layers name.
pub(crate) fn files(layers: &[ReadLayer<'_>]) -> Vec<PathBuf> {
    let files = layers.iter().flat_map(named);
    files.map(|file| file.value.clone()).collect()
}

/// The models of all layers; what is wrong is reported.
pub(crate) fn read(
    layers: &[ReadLayer<'_>],
    surroundings: &Surroundings,
    diagnostics: &mut Vec<Diagnostic>,
) -> AddedPrograms {
    let mut programs = AddedPrograms::default();
    let mut done: BTreeSet<&Path> = BTreeSet::new();
    for layer in layers.iter().filter(|layer| !layer.is_untrusted()) {
        for file in named(layer) {
            // Two layers may name one file.
            if !done.insert(&file.value) {
                continue;
            }
            match surroundings.program_texts.get(&file.value) {
                Some(Some(text)) => add(&mut programs, &text.file, &text.text, diagnostics),
                Some(None) => {}
                None => {
                    let message = "`files` names a file that does not exist";
                    let help = "a relative path starts at the directory of the manifest";
                    let place = layer.source.place(file.span);
                    diagnostics.push(Diagnostic::error(message, place).with_help(help));
                }
            }
        }
    }
    programs
}

/// Adds the models of one text.
fn add(
    programs: &mut AddedPrograms,
    file: &Arc<str>,
    text: &str,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let source = Source::new(Arc::clone(file), text);
    if text.len() > MOST_BYTES {
        let place = source.place(podward_policy::ByteSpan::new(0..0));
        let message = format!("a text with models of programs is at most {MOST_BYTES} bytes long");
        diagnostics.push(Diagnostic::error(message, place));
        return;
    }
    for problem in programs.add(text).err().into_iter().flatten() {
        let diagnostic = Diagnostic::error(problem.message, source.place(problem.span));
        diagnostics.push(match problem.help {
            Some(help) => diagnostic.with_help(help),
            None => diagnostic,
        });
    }
}
