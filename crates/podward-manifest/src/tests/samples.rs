//! Every file below `manifests/`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use podward_policy::ToolName;

use crate::{
    Diagnostics, LayerKind, LayerSource, Model, ProgramText, Resolved, Script, Surroundings, Trust,
    WorkspaceMode, WorkspacePath, decode, program_files, resolve, schema,
};

const SAMPLES: &[&str] = &[
    "allowlist",
    "ask-first",
    "blocklist",
    "build",
    "coordinator",
    "demo",
    "explore",
    "minimal",
    "models",
    "plan",
    "reference",
    "skills",
    "unattended-ci",
];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The files of a directory with this extension: names without it, sorted.
fn names(directory: &str, extension: &str) -> BTreeSet<String> {
    let entries = std::fs::read_dir(repository().join(directory)).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect()
}

/// Reads a file as the layer that its first line names: `# layer: project`; else as a manifest.
fn load(file: &str) -> Result<Resolved, Diagnostics> {
    let bytes = std::fs::read(repository().join(file)).unwrap();
    let text = decode(&file.into(), &bytes)?;
    let first_line = text.lines().next().unwrap_or_default();
    let kind = match first_line.strip_prefix("# layer: ") {
        None => LayerKind::Manifest,
        Some("machine") => LayerKind::Machine,
        Some("project") => LayerKind::Project,
        Some("command-line") => LayerKind::CommandLine,
        Some("environment") => LayerKind::Environment,
        Some(other) => panic!("{file}: no such layer: {other}"),
    };
    let layer = LayerSource {
        kind,
        file: file.into(),
        directory: "/project/.podward".into(),
        text,
        trust: Trust::Untrusted,
    };
    let mut surroundings = Surroundings {
        home: Some("/home/user".into()),
        ..Surroundings::default()
    };
    let layers = [layer];
    for program_file in program_files(&layers, &surroundings) {
        let Ok(text) = std::fs::read_to_string(repository().join(program_file.name.as_ref()))
        else {
            continue;
        };
        let text = ProgramText {
            file: program_file.name,
            text,
        };
        surroundings
            .program_texts
            .insert(program_file.path, Some(text));
    }
    resolve(&layers, &surroundings)
}

#[test]
fn every_sample_is_in_the_list() {
    let listed: BTreeSet<_> = SAMPLES.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(names("manifests", "toml"), listed);
}

#[test]
fn samples_load_without_warnings() {
    for name in SAMPLES {
        let resolved = load(&format!("manifests/{name}.toml"))
            .unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
        let warnings: Vec<_> = resolved.warnings.iter().map(ToString::to_string).collect();
        assert_eq!(warnings, Vec::<String>::new(), "{name}");
    }
}

/// The text is what `podward check --manifest manifests/invalid/NAME.toml` says.
#[test]
fn invalid_samples_say_exactly_this() {
    let directory = "manifests/invalid";
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    let manifests = names(directory, "toml");
    assert!(!manifests.is_empty());
    let mut wrong = Vec::new();
    for name in &manifests {
        let said = match load(&format!("{directory}/{name}.toml")) {
            Ok(_) => {
                wrong.push(format!("{name}.toml loads"));
                continue;
            }
            Err(diagnostics) => format!("{diagnostics}\n"),
        };
        let expected_file = repository().join(directory).join(format!("{name}.txt"));
        if update {
            std::fs::write(&expected_file, &said).unwrap();
        }
        let expected = std::fs::read_to_string(&expected_file).unwrap_or_default();
        if said != expected {
            wrong.push(format!("{name}.txt says:\n{expected}\nbut it is:\n{said}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{}\nUPDATE_EXPECT=1 writes them",
        wrong.join("\n")
    );
    assert_eq!(
        names(directory, "txt"),
        manifests,
        "an expectation without its manifest"
    );
}

#[test]
fn the_reference_has_every_key() {
    let file = repository().join("manifests/reference.toml");
    let text = std::fs::read_to_string(file).unwrap();
    // The machine's table cannot stand in a manifest: it is shown as a comment.
    let text = text.replace("# [machine]\n# fixed", "[machine]\nfixed");
    // And so are the keys of `[model]` that cannot stand beside the others.
    let alternatives = ["script", "key_file", "key_command", "allow"];
    let text = alternatives.iter().fold(text, |text, key| {
        text.replacen(&format!("# {key} = "), &format!("{key} = "), 1)
    });
    let document: toml::Table = text.parse().unwrap();
    for table in schema::TABLES {
        for key in table.keys {
            let found = document.get(table.name).and_then(|table| table.get(key));
            assert!(found.is_some(), "{}.{key} is missing", table.name);
        }
    }
    let hooks = document[schema::HOOKS].as_array().unwrap();
    for key in schema::HOOK.keys {
        assert!(
            hooks.iter().any(|hook| hook.get(key).is_some()),
            "{key} is missing"
        );
    }
    let rules = document["permissions"]["rule"].as_array().unwrap();
    for key in schema::RULE.keys {
        assert!(
            rules.iter().any(|rule| rule.get(key).is_some()),
            "{key} is missing"
        );
    }
}

/// The defaults that the reference names are those of the program.
#[test]
fn the_reference_names_the_true_limits() {
    let reference = load("manifests/reference.toml").unwrap();
    assert_eq!(reference.limits, crate::Limits::default());
    assert_eq!(reference.tools, Surroundings::default().offerable_tools);
}

#[test]
fn every_sample_but_minimal_protects_the_env_files() {
    for name in SAMPLES.iter().filter(|name| **name != "minimal") {
        let resolved = load(&format!("manifests/{name}.toml")).unwrap();
        for tool in ["read", "file_write", "file_edit"] {
            let writes_no_example =
                tool != "read" && ["explore", "plan", "coordinator"].contains(name);
            let tool = ToolName::new(tool).unwrap();
            for (path, expected) in [
                (".env", "deny"),
                (".env.local", "deny"),
                ("config/prod.env", "deny"),
                (
                    "a/.env.example",
                    if writes_no_example { "deny" } else { "allow" },
                ),
                (".ENV", "deny"),
            ] {
                let action = crate::tests::judge_path(&resolved.policies, &tool, path);
                assert_eq!(action.as_str(), expected, "{name}: {tool} {path}");
            }
        }
    }
}

#[test]
fn the_demo_works_in_a_copy_of_its_project() {
    let demo = load("manifests/demo.toml").unwrap();
    assert_eq!(demo.model, Model::Scripted(Script::Embedded("demo")));
    assert_eq!(demo.pod.workspace.mode, WorkspaceMode::Copy);
    let WorkspacePath::At(workspace) = &demo.pod.workspace.path else {
        panic!("no workspace");
    };
    let inside = workspace.strip_prefix("/project/.podward").unwrap();
    assert!(
        repository()
            .join("manifests")
            .join(inside)
            .join("check")
            .is_file()
    );
}
