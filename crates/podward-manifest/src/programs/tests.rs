use std::path::PathBuf;

use podward_policy::LayerKind;

use crate::{
    Diagnostics, LayerSource, ProgramText, Resolved, Surroundings, Trust, program_files, resolve,
};

fn layer(kind: LayerKind, text: &str, trust: Trust) -> LayerSource {
    LayerSource {
        kind,
        file: format!("{}/pod.toml", kind.as_str()).into(),
        directory: PathBuf::from("/").join(kind.as_str()),
        text: text.to_owned(),
        trust,
    }
}

const NAMES_ONE: &str =
    "[programs]\nfiles = [\"./models.txt\"]\n[permissions]\ndefault_action = \"ask\"\n";

fn resolved(layers: &[LayerSource], texts: &[(&str, &str)]) -> Result<Resolved, Diagnostics> {
    let mut surroundings = Surroundings::default();
    for (path, text) in texts {
        let text = ProgramText {
            file: (*path).into(),
            text: (*text).to_owned(),
        };
        surroundings.program_texts.insert(path.into(), Some(text));
    }
    resolve(layers, &surroundings)
}

#[test]
fn models_of_all_layers_add_up() {
    let layers = [
        layer(LayerKind::Manifest, NAMES_ONE, Trust::Trusted),
        layer(LayerKind::User, NAMES_ONE, Trust::Trusted),
        layer(LayerKind::Project, NAMES_ONE, Trust::Trusted),
    ];
    let files = program_files(&layers, &Surroundings::default());
    let names: Vec<&str> = files.iter().map(|file| file.name.as_ref()).collect();
    assert_eq!(
        names,
        [
            "user/models.txt",
            "project/models.txt",
            "manifest/models.txt"
        ]
    );
    let texts = [
        ("/user/models.txt", "program one\n"),
        ("/project/models.txt", "program two\n"),
        ("/manifest/models.txt", "# nothing\n"),
    ];
    let resolved = resolved(&layers, &texts).unwrap();
    assert_eq!(resolved.programs.len(), 2);
    let effective = resolved.effective.to_string();
    for (path, _) in texts {
        assert!(
            effective.contains(&format!("    \"{path}\",")),
            "{effective}"
        );
    }
}

#[test]
fn a_project_that_is_not_trusted_names_no_models() {
    let layers = [layer(LayerKind::Project, NAMES_ONE, Trust::Untrusted)];
    assert!(program_files(&layers, &Surroundings::default()).is_empty());
    let error = resolved(&layers, &[]).unwrap_err().to_string();
    assert!(error.contains("`programs.files` cannot be set"), "{error}");
}

#[test]
fn a_bad_model_is_named_with_its_own_file_line_and_column() {
    let layers = [layer(LayerKind::Manifest, NAMES_ONE, Trust::Trusted)];
    let text = "program deploy\n\n  reed -c=\n";
    let error = resolved(&layers, &[("/manifest/models.txt", text)]).unwrap_err();
    let shown = error.to_string();
    assert!(shown.contains("`reed` is no role"), "{shown}");
    assert!(shown.contains("/manifest/models.txt:3:3"), "{shown}");
}

#[test]
fn the_policy_digest_covers_models_but_not_their_comments() {
    let layers = [layer(LayerKind::Manifest, NAMES_ONE, Trust::Trusted)];
    let bytes = |text| {
        resolved(&layers, &[("/manifest/models.txt", text)])
            .unwrap()
            .policy_bytes
    };
    let plain = bytes("program deploy\nread -c=\n");
    assert_eq!(plain, bytes("# ours\nprogram  deploy # x\n\nread -c=\n"));
    assert_ne!(plain, bytes("program deploy\nread -d=\n"));
    assert_ne!(plain, bytes(""));
}

#[test]
fn a_text_that_the_caller_could_not_read_is_reported_by_the_caller() {
    let layers = [layer(LayerKind::Manifest, NAMES_ONE, Trust::Trusted)];
    assert!(resolved(&layers, &[]).is_err());
    let mut surroundings = Surroundings::default();
    surroundings
        .program_texts
        .insert("/manifest/models.txt".into(), None);
    assert!(resolve(&layers, &surroundings).is_ok());
    let long = "#".repeat(1024 * 1024 + 1);
    assert!(resolved(&layers, &[("/manifest/models.txt", &long)]).is_err());
}
