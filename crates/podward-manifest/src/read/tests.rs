use crate::LayerKind::{self, CommandLine, Environment, Machine, Manifest, Project, User};
use crate::tests::layers::{errors, resolved, trusted, untrusted};

const PERMISSIONS: &str = "[permissions]\ndefault_action = \"allow\"\n";

/// One text for each key outside `[permissions]`.
const SETTINGS: &[(&str, &str)] = &[
    ("pod.name", "[pod]\nname = \"x\""),
    ("pod.workspace", "[pod]\nworkspace = \"x\""),
    ("pod.workspace_mode", "[pod]\nworkspace_mode = \"copy\""),
    ("model.key_env", "[model]\nkey_env = \"K\""),
    ("model.key_file", "[model]\nkey_file = \"/k\""),
    ("model.key_command", "[model]\nkey_command = [\"k\"]"),
    ("model.system", "[model]\nsystem = \"x\""),
    ("model.max_tokens", "[model]\nmax_tokens = 9"),
    ("model.base_url", "[model]\nbase_url = \"https://h\""),
    (
        "model.model",
        "[model]\nprovider = \"openai\"\nbase_url = \"https://h\"\nmodel = \"m\"",
    ),
    ("model.allow", "[model]\nallow = [\"openai/*\"]"),
    (
        "model.provider",
        "[model]\nprovider = \"scripted\"\nscript = \"demo\"",
    ),
    ("tools.offered", "[tools]\noffered = [\"read\"]"),
    (
        "scope.allow",
        "[scope]\nallow = [{ path = \"x\", access = \"write\" }]",
    ),
    (
        "scope.deny",
        "[scope]\ndeny = [{ path = \"x\", access = \"read\" }]",
    ),
    ("scope.enforce", "[scope]\nenforce = \"required\""),
    ("environment.pass", "[environment]\npass = [\"X\"]"),
    ("programs.files", "[programs]\nfiles = []"),
    ("skills.directories", "[skills]\ndirectories = [\"x\"]"),
    ("limits.max_steps", "[limits]\nmax_steps = 3"),
    ("limits.message_calls", "[limits]\nmessage_calls = 3"),
    ("limits.turn_timeout", "[limits]\nturn_timeout = \"3s\""),
    ("limits.bash_timeout", "[limits]\nbash_timeout = \"3s\""),
    ("limits.output_size", "[limits]\noutput_size = \"3B\""),
    ("limits.read_size", "[limits]\nread_size = \"3B\""),
    ("limits.read_lines", "[limits]\nread_lines = 3"),
    ("limits.line_size", "[limits]\nline_size = \"3B\""),
    ("limits.file_size", "[limits]\nfile_size = \"3B\""),
    ("limits.max_matches", "[limits]\nmax_matches = 3"),
    ("limits.max_entries", "[limits]\nmax_entries = 3"),
    ("limits.fetch_size", "[limits]\nfetch_size = \"1MiB\""),
    ("limits.fetch_timeout", "[limits]\nfetch_timeout = \"1s\""),
    ("limits.history_size", "[limits]\nhistory_size = \"1MiB\""),
    ("limits.children", "[limits]\nchildren = 3"),
    ("limits.child_depth", "[limits]\nchild_depth = 2"),
    ("children", "[children.x]\nmanifest = \"x.toml\""),
    ("undo.keep", "[undo]\nkeep = false"),
    ("undo.max_size", "[undo]\nmax_size = \"2GiB\""),
    ("undo.max_file", "[undo]\nmax_file = \"1MiB\""),
    ("undo.max_age", "[undo]\nmax_age = \"3d\""),
    ("machine.fixed", "[machine]\nfixed = []"),
];

/// Which of the settings load in a layer.
fn accepted(load: impl Fn(&str) -> bool) -> Vec<&'static str> {
    let settings = SETTINGS
        .iter()
        .filter(|(_, text)| load(&format!("{PERMISSIONS}{text}")));
    settings.map(|(key, _)| *key).collect()
}

fn accepted_in(kind: LayerKind) -> Vec<&'static str> {
    accepted(|text| resolved(&[trusted(kind, text)]).is_ok())
}

fn all_but(without: &[&str]) -> Vec<&'static str> {
    let keys = SETTINGS.iter().map(|(key, _)| *key);
    keys.filter(|key| !without.contains(key)).collect()
}

#[test]
fn every_key_is_in_the_list() {
    let listed = |key: &str| {
        SETTINGS
            .iter()
            .any(|(_, text)| text.contains(&format!("{key} = ")))
    };
    for table in crate::schema::TABLES
        .iter()
        .filter(|table| table.name != "permissions")
    {
        for key in table.keys {
            assert!(listed(key), "{key}");
        }
    }
}

#[test]
fn each_kind_of_layer_has_its_keys() {
    assert_eq!(accepted_in(Machine), all_but(&[]));
    assert_eq!(accepted_in(User), all_but(&["machine.fixed"]));
    assert_eq!(
        accepted_in(Manifest),
        all_but(&["machine.fixed", "model.allow"])
    );
    assert_eq!(
        accepted_in(Project),
        all_but(&[
            "machine.fixed",
            "model.allow",
            "pod.workspace",
            "pod.workspace_mode"
        ])
    );
    assert_eq!(accepted_in(CommandLine), [""; 0]);
    assert_eq!(accepted_in(Environment), [""; 0]);
}

#[test]
fn a_project_that_is_not_trusted_can_only_tighten() {
    let keys = accepted(|text| resolved(&[untrusted(text)]).is_ok());
    let limits = SETTINGS
        .iter()
        .map(|(key, _)| *key)
        .filter(|key| key.starts_with("limits."));
    let expected: Vec<_> = ["tools.offered", "scope.deny"]
        .into_iter()
        .chain(limits)
        .collect();
    assert_eq!(keys, expected);
}

#[test]
fn what_it_may_not_set_names_the_way_out() {
    let said = resolved(&[untrusted("[model]\nsystem = \"obey\"\n")])
        .unwrap_err()
        .to_string();
    assert!(said.contains("project.toml:2:1"), "{said}");
    assert!(said.contains("run `podward trust /project`"), "{said}");
}

#[test]
fn a_layer_of_permissions_must_have_some() {
    for kind in [CommandLine, Environment] {
        for text in ["", "# nothing\n", "\n\n"] {
            assert_eq!(errors(&[trusted(kind, text)]).len(), 1, "{kind:?} {text:?}");
        }
        assert!(resolved(&[trusted(kind, PERMISSIONS)]).is_ok());
    }
    for kind in [Machine, User, Project] {
        assert!(resolved(&[trusted(kind, ""), trusted(Manifest, PERMISSIONS)]).is_ok());
    }
}

#[test]
fn a_table_without_a_default_is_an_error_in_every_layer() {
    let rule = "[[permissions.rule]]\ntool = \"bash\"\npattern = \"x\"\naction = \"deny\"\n";
    for kind in [Machine, User, Project, Manifest, CommandLine, Environment] {
        let said = errors(&[trusted(kind, rule), trusted(Manifest, PERMISSIONS)]);
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(
            said[0].ends_with("`[permissions]` has no `default_action`"),
            "{said:?}"
        );
    }
}

#[test]
fn directories_of_skills_start_at_the_manifest() {
    let resolved = resolved(&[trusted(
        Manifest,
        &format!("{PERMISSIONS}[skills]\ndirectories = [\"s\"]"),
    )]);
    let resolved = resolved.unwrap();
    assert_eq!(
        resolved.skill_directories,
        ["/manifest/s".to_owned()].map(Into::<std::path::PathBuf>::into)
    );
    assert_eq!(resolved.warnings, []);
}
