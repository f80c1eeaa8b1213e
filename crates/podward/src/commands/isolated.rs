//! A manifest by itself, with the models of programs that it names.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use podward_manifest::{
    Diagnostics, Isolated, LayerKind, LayerSource, ProgramFile, ProgramText, Surroundings, Trust,
    decode, isolated_layer, program_files,
};
use podward_pod::failed_policy_tests;
use podward_shell::AddedPrograms;
use podward_tools::Place;

use crate::failure::Failure;

/// The rules and models of a file by itself, whose tests pass.
///
/// # Errors
/// It cannot be read, or has errors.
pub(super) fn read(file: &Path) -> Result<Isolated, Failure> {
    let (name, directory, text) = text_of(file)?;
    isolated(name, &directory, text).map_err(bad)
}

/// The same of a layer of a kind, whose tests nobody ran yet.
///
/// # Errors
/// It cannot be read, or has errors.
pub(super) fn read_untested(file: &Path, kind: LayerKind) -> Result<Isolated, Failure> {
    let (name, directory, text) = text_of(file)?;
    untested(name, &directory, text, kind).map_err(bad)
}

/// Where calls are made that nothing but such a file judges: no link is resolved.
///
/// # Errors
/// A directory that is not there has no absolute path.
pub(super) fn place(workspace: &Path, programs: AddedPrograms) -> Result<Place, Failure> {
    let workspace = absolute(workspace)?;
    let home = std::env::home_dir().filter(|home| home.is_absolute());
    Ok(Place::new(workspace, home)
        .with_programs(programs)
        .isolated())
}

/// The name, the directory and the text of a file.
fn text_of(file: &Path) -> Result<(Arc<str>, PathBuf, String), Failure> {
    let name: Arc<str> = file.display().to_string().into();
    let bytes = std::fs::read(file).map_err(|source| Failure::Unreadable {
        path: file.to_owned(),
        source,
    })?;
    let text = decode(&name, &bytes).map_err(bad)?;
    Ok((name, absolute(directory_of(file))?, text))
}

fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path).map_err(|source| Failure::Unreadable {
        path: path.to_owned(),
        source,
    })
}

fn bad(diagnostics: Diagnostics) -> Failure {
    Failure::BadManifest(diagnostics.to_string())
}

/// The rules and models of one text, whose tests pass; files that it names lie below `directory`.
pub(super) fn isolated(
    file: Arc<str>,
    directory: &Path,
    text: String,
) -> Result<Isolated, Diagnostics> {
    let isolated = untested(file, directory, text, LayerKind::Manifest)?;
    let Isolated {
        tests,
        policies,
        programs,
        ..
    } = &isolated;
    match failed_policy_tests(tests, policies, programs) {
        Some(failed) => Err(failed),
        None => Ok(isolated),
    }
}

/// The same of a layer of a kind, whose tests nobody ran yet.
fn untested(
    file: Arc<str>,
    directory: &Path,
    text: String,
    kind: LayerKind,
) -> Result<Isolated, Diagnostics> {
    let layers = [LayerSource {
        kind,
        file,
        directory: directory.to_owned(),
        text,
        trust: Trust::Trusted,
    }];
    // The values of other tables are thrown away: any home will do.
    let mut surroundings = Surroundings {
        home: Some(PathBuf::from("/")),
        ..Surroundings::default()
    };
    for ProgramFile { path, name, .. } in program_files(&layers, &surroundings) {
        // What cannot be read is not there: the manifest's line is named.
        let Ok(bytes) = std::fs::read(&path) else {
            continue;
        };
        let text = decode(&name, &bytes)?;
        let text = ProgramText { file: name, text };
        surroundings.program_texts.insert(path, Some(text));
    }
    let [layer] = &layers;
    isolated_layer(layer, &surroundings)
}

/// The directory that a file lies in, as its path says.
pub(super) fn directory_of(file: &Path) -> &Path {
    match file.parent() {
        Some(directory) if !directory.as_os_str().is_empty() => directory,
        Some(_) | None => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_name_lies_in_the_current_directory() {
        assert_eq!(directory_of(Path::new("a.toml")), Path::new("."));
        assert_eq!(directory_of(Path::new("d/a.toml")), Path::new("d"));
        assert_eq!(directory_of(Path::new("/a.toml")), Path::new("/"));
    }
}
