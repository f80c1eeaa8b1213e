use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use podward_protocol::Time;

use super::*;
use crate::test_user::as_ordinary_user;

struct Fixture {
    root: tempfile::TempDir,
    places: Places,
}

impl Fixture {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("project")).unwrap();
        let fixture = Self {
            places: Places::below(root.path()),
            root,
        };
        fixture.write(
            "pod.toml",
            "[pod]\nworkspace = \"project\"\n[permissions]\ndefault_action = \"ask\"\n",
        );
        fixture
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    }

    fn request(&self) -> LayerRequest {
        LayerRequest {
            manifest: Some(self.path("pod.toml")),
            ..LayerRequest::default()
        }
    }

    fn load(&self) -> Result<Loaded, String> {
        self.load_with(&self.request())
    }

    fn load_with(&self, request: &LayerRequest) -> Result<Loaded, String> {
        let root = self.root.path().to_str().unwrap().to_owned();
        load(&self.places, request).map_err(|error| error.to_string().replace(&root, ""))
    }

    fn kinds(&self, request: &LayerRequest) -> Vec<LayerKind> {
        let loaded = self.load_with(request).unwrap();
        loaded.layers.iter().map(|layer| layer.kind).collect()
    }
}

const PERMISSIONS: &str = "[permissions]\ndefault_action = \"allow\"\n";

#[test]
fn each_layer_is_read_from_its_place_and_an_absent_one_is_none() {
    let fixture = Fixture::new();
    assert_eq!(fixture.kinds(&fixture.request()), [LayerKind::Manifest]);
    fixture.write("etc/podward/pod.toml", PERMISSIONS);
    fixture.write("config/podward/pod.toml", PERMISSIONS);
    fixture.write("project/.podward/pod.toml", PERMISSIONS);
    fixture.write("more.toml", PERMISSIONS);
    let request = LayerRequest {
        permissions: Some(fixture.path("more.toml")),
        permissions_text: Some(PERMISSIONS.into()),
        ..fixture.request()
    };
    let all = [
        LayerKind::Machine,
        LayerKind::User,
        LayerKind::Project,
        LayerKind::Manifest,
        LayerKind::CommandLine,
        LayerKind::Environment,
    ];
    assert_eq!(fixture.kinds(&request), all);
    let loaded = fixture.load().unwrap();
    assert_eq!(
        loaded.workspace,
        fixture.path("project").canonicalize().unwrap()
    );
    assert_eq!(loaded.project, Some(Standing::Unknown));
}

#[test]
fn a_file_that_was_named_must_be_there() {
    let fixture = Fixture::new();
    let request = LayerRequest {
        manifest: Some(fixture.path("absent.toml")),
        permissions: Some(fixture.path("none/rules.toml")),
        ..LayerRequest::default()
    };
    assert_eq!(
        fixture.load_with(&request).unwrap_err(),
        "error: `/absent.toml` does not exist (manifest layer)\n\n\
         error: `/none/rules.toml` does not exist (command-line layer)"
    );
}

#[test]
fn a_layer_that_cannot_be_used_stops_everything_and_all_are_named() {
    let fixture = Fixture::new();
    fixture.write("config/podward/pod.toml", "[permissions]\n");
    fs::create_dir_all(fixture.path("etc/podward/pod.toml")).unwrap();
    fixture.write("project/.podward/pod.toml", b"\xff\xfe");
    let request = LayerRequest {
        permissions_text: Some(" \n".into()),
        ..fixture.request()
    };
    let error = fixture.load_with(&request).unwrap_err();
    for part in [
        "error: `/etc/podward/pod.toml` is a directory (machine layer)",
        "error: `PODWARD_PERMISSIONS` is set and holds no rules (environment layer)",
        "/project/.podward/pod.toml",
        "/config/podward/pod.toml:1:",
    ] {
        assert!(error.contains(part), "{part}\n{error}");
    }
}

#[test]
fn a_layer_that_others_can_write_is_refused() {
    for name in [
        "pod.toml",
        "config/podward/pod.toml",
        "project/.podward/pod.toml",
    ] {
        let fixture = Fixture::new();
        if name != "pod.toml" {
            fixture.write(name, PERMISSIONS);
        }
        assert!(fixture.load().is_ok(), "{name}");
        fs::set_permissions(fixture.path(name), fs::Permissions::from_mode(0o646)).unwrap();
        let error = fixture.load().unwrap_err();
        let message = format!("error: `/{name}` can be written by others (mode 0646)");
        assert!(error.starts_with(&message), "{error}");
        assert!(error.contains(&format!("`chmod go-w /{name}`")), "{error}");
    }
}

#[test]
fn a_layer_that_cannot_be_opened_is_no_absent_layer() {
    if as_ordinary_user("layers::tests::a_layer_that_cannot_be_opened_is_no_absent_layer") {
        return;
    }
    let fixture = Fixture::new();
    fixture.write("config/podward/pod.toml", PERMISSIONS);
    fs::set_permissions(fixture.path("config"), fs::Permissions::from_mode(0o000)).unwrap();
    let error = fixture.load().unwrap_err();
    fs::set_permissions(fixture.path("config"), fs::Permissions::from_mode(0o700)).unwrap();
    assert!(error.contains("cannot be read (user layer)"), "{error}");
    assert!(error.contains("denied"), "{error}");
}

#[test]
fn the_environment_must_hold_text() {
    let fixture = Fixture::new();
    let request = LayerRequest {
        permissions_text: Some(OsString::from_vec(vec![0xff])),
        ..fixture.request()
    };
    let error = fixture.load_with(&request).unwrap_err();
    assert_eq!(
        error,
        "error: `PODWARD_PERMISSIONS` is not UTF-8 (environment layer)"
    );
}

#[test]
fn only_a_trusted_project_may_do_more_than_tighten() {
    let fixture = Fixture::new();
    fixture.write("project/.podward/pod.toml", "[pod]\nname = \"theirs\"\n");
    let error = fixture.load().unwrap_err();
    assert!(error.contains("podward trust"), "{error}");
    let now = Time::UNIX_EPOCH;
    TrustStore::trust(&fixture.places, &fixture.path("project"), now).unwrap();
    let loaded = fixture.load().unwrap();
    assert_eq!(loaded.project, Some(Standing::Trusted));
    fixture.write("project/.podward/pod.toml", "[pod]\nname = \"theirs2\"\n");
    assert!(fixture.load().is_err());
}

#[test]
fn a_broken_list_of_trusted_projects_is_an_error() {
    let fixture = Fixture::new();
    fixture.write("project/.podward/pod.toml", PERMISSIONS);
    fixture.write("state/podward/trust.json", "no");
    let error = fixture.load().unwrap_err();
    assert!(
        error.contains("is no list of trusted projects (project layer)"),
        "{error}"
    );
}

#[test]
fn a_workspace_must_be_a_directory() {
    let fixture = Fixture::new();
    fs::remove_dir(fixture.path("project")).unwrap();
    let error = fixture.load().unwrap_err();
    assert!(
        error.starts_with("error: the workspace `/project` cannot be used"),
        "{error}"
    );
    fixture.write("project", "");
    assert!(fixture.load().is_err());
    fs::create_dir(fixture.path("real")).unwrap();
    fs::remove_file(fixture.path("project")).unwrap();
    symlink("real", fixture.path("project")).unwrap();
    let loaded = fixture.load().unwrap();
    assert_eq!(
        loaded.workspace,
        fixture.path("real").canonicalize().unwrap()
    );
    let request = LayerRequest {
        workspace: Some(fixture.path("etc")),
        ..fixture.request()
    };
    assert!(fixture.load_with(&request).is_err());
}

#[test]
fn what_a_layer_names_starts_where_its_directory_really_is() {
    let fixture = Fixture::new();
    fixture.write(
        "pod.toml",
        "[pod]\nworkspace = \"project\"\n[model]\nprovider = \"scripted\"\nscript = \"./s.toml\"\n\
         [permissions]\ndefault_action = \"ask\"\n",
    );
    let request = LayerRequest {
        manifest: Some(fixture.path("project/../pod.toml")),
        ..LayerRequest::default()
    };
    let loaded = fixture.load_with(&request).unwrap();
    let script = fixture.path("s.toml").canonicalize();
    assert!(script.is_err(), "it need not be there");
    let root = fixture.root.path().canonicalize().unwrap();
    let found = format!("{:?}", loaded.resolved.model);
    assert!(
        found.contains(&format!("{:?}", root.join("s.toml"))),
        "{found}"
    );
}

#[test]
fn a_symlinked_layer_is_read_where_it_leads() {
    let fixture = Fixture::new();
    fixture.write("dotfiles/podward.toml", PERMISSIONS);
    fs::create_dir_all(fixture.path("config/podward")).unwrap();
    symlink(
        "../../dotfiles/podward.toml",
        fixture.path("config/podward/pod.toml"),
    )
    .unwrap();
    assert_eq!(
        fixture.kinds(&fixture.request()),
        [LayerKind::User, LayerKind::Manifest]
    );
}

#[test]
fn the_policy_digest_is_that_of_the_rules_alone() {
    let fixture = Fixture::new();
    let first = fixture.load().unwrap().policy_digest();
    assert!(first.starts_with("sha256:"));
    let manifest = "# a comment\n[pod]\nname = \"x\"\nworkspace = \"project\"\n\
                    [permissions]\ndefault_action = \"ask\"\n";
    fixture.write("pod.toml", manifest);
    assert_eq!(fixture.load().unwrap().policy_digest(), first);
    fixture.write("pod.toml", manifest.replace("ask", "deny"));
    assert_ne!(fixture.load().unwrap().policy_digest(), first);
}

#[test]
fn models_of_programs_are_held_to_what_layers_are_held_to() {
    let fixture = Fixture::new();
    fixture.write(
        "pod.toml",
        "[pod]\nworkspace = \"project\"\n[programs]\nfiles = [\"./models.txt\"]\n\
         [permissions]\ndefault_action = \"ask\"\n",
    );
    let missing = fixture.load().unwrap_err();
    assert!(missing.contains("does not exist"), "{missing}");
    fixture.write("models.txt", "program deploy\noutput -o=\n");
    let loaded = fixture.load().unwrap();
    assert_eq!(loaded.resolved.programs.len(), 1);
    assert_eq!(loaded.program_files, [fixture.path("models.txt")]);
    fixture.write("models.txt", "program deploy\n  output o=\n");
    let bad = fixture.load().unwrap_err();
    assert!(bad.contains("/models.txt:2:10"), "{bad}");
    fixture.write("models.txt", b"program \xff\n");
    assert!(fixture.load().unwrap_err().contains("UTF-8"));
    fixture.write("models.txt", "program deploy\n");
    let by_others = fs::Permissions::from_mode(0o666);
    fs::set_permissions(fixture.path("models.txt"), by_others).unwrap();
    let refused = fixture.load().unwrap_err();
    assert!(refused.contains("models.txt"), "{refused}");
    assert!(!refused.contains("does not exist"), "{refused}");
}
