use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;

struct Fixture {
    root: tempfile::TempDir,
    places: Places,
    now: Time,
}

fn fixture() -> Fixture {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir_all(root.path().join("project/.podward")).unwrap();
    fs::write(root.path().join("project/.podward/pod.toml"), "one").unwrap();
    Fixture {
        places: Places::below(root.path()),
        now: "2026-01-02T03:04:05Z".parse().unwrap(),
        root,
    }
}

impl Fixture {
    fn project(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("project")
    }

    fn standing(&self, layer: &str) -> Standing {
        let store = TrustStore::load(&self.places).unwrap();
        store.standing(&self.project(), layer.as_bytes())
    }
}

#[test]
fn a_project_is_unknown_until_it_is_trusted_and_again_after_trust_is_taken_back() {
    let fixture = fixture();
    assert_eq!(fixture.standing("one"), Standing::Unknown);
    TrustStore::trust(&fixture.places, &fixture.project(), fixture.now).unwrap();
    assert_eq!(fixture.standing("one"), Standing::Trusted);
    assert_eq!(fixture.standing("one "), Standing::Changed);
    assert!(TrustStore::revoke(&fixture.places, &fixture.project()).unwrap());
    assert_eq!(fixture.standing("one"), Standing::Unknown);
    assert!(!TrustStore::revoke(&fixture.places, &fixture.project()).unwrap());
}

#[test]
fn a_changed_file_is_trusted_only_after_it_is_trusted_again() {
    let fixture = fixture();
    let trust = || TrustStore::trust(&fixture.places, &fixture.project(), fixture.now).unwrap();
    let one = trust();
    fs::write(fixture.project().join(".podward/pod.toml"), "two").unwrap();
    assert_eq!(fixture.standing("two"), Standing::Changed);
    let two = trust();
    assert_ne!(one.digest, two.digest);
    assert_eq!(fixture.standing("two"), Standing::Trusted);
    let store = TrustStore::load(&fixture.places).unwrap();
    let project = fixture.project();
    assert_eq!(
        store.iter().collect::<Vec<_>>(),
        [(project.to_str().unwrap(), &two)]
    );
}

#[test]
fn trust_is_by_the_real_path() {
    let fixture = fixture();
    let link = fixture.root.path().join("link");
    symlink(fixture.project(), &link).unwrap();
    TrustStore::trust(&fixture.places, &link, fixture.now).unwrap();
    assert_eq!(fixture.standing("one"), Standing::Trusted);
}

#[test]
fn trust_of_a_project_that_is_gone_can_be_taken_back() {
    let fixture = fixture();
    TrustStore::trust(&fixture.places, &fixture.project(), fixture.now).unwrap();
    fs::remove_dir_all(fixture.project()).unwrap();
    assert!(TrustStore::revoke(&fixture.places, &fixture.project()).unwrap());
}

#[test]
fn the_list_is_private_and_nothing_is_left_beside_it() {
    let fixture = fixture();
    TrustStore::trust(&fixture.places, &fixture.project(), fixture.now).unwrap();
    let state = fixture.places.state_dir();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(state), 0o700);
    assert_eq!(mode(&state.join("trust.json")), 0o600);
    let mut names: Vec<_> = fs::read_dir(state)
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["trust.json", "trust.lock"]);
}

#[test]
fn a_list_that_is_broken_or_that_others_can_write_is_an_error() {
    let fixture = fixture();
    TrustStore::trust(&fixture.places, &fixture.project(), fixture.now).unwrap();
    let path = fixture.places.state_dir().join("trust.json");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o622)).unwrap();
    assert!(matches!(
        TrustStore::load(&fixture.places),
        Err(TrustError::File(_))
    ));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&path, "{\"version\":1}").unwrap();
    assert!(matches!(
        TrustStore::load(&fixture.places),
        Err(TrustError::Format { .. })
    ));
    fs::write(&path, "{\"version\":2,\"projects\":{}}").unwrap();
    assert!(matches!(
        TrustStore::load(&fixture.places),
        Err(TrustError::Version { .. })
    ));
    let error = TrustStore::trust(&fixture.places, &fixture.project(), fixture.now);
    assert!(matches!(error, Err(TrustError::Version { .. })));
}

#[test]
fn what_is_not_there_or_not_safe_cannot_be_trusted() {
    let fixture = fixture();
    let trust = |path: &Path| TrustStore::trust(&fixture.places, path, fixture.now);
    assert!(matches!(
        trust(fixture.root.path()),
        Err(TrustError::NoLayer(_))
    ));
    assert!(matches!(
        trust(&fixture.project().join("x")),
        Err(TrustError::State(_))
    ));
    let layer = fixture.project().join(".podward/pod.toml");
    fs::set_permissions(&layer, fs::Permissions::from_mode(0o666)).unwrap();
    assert!(matches!(
        trust(&fixture.project()),
        Err(TrustError::File(_))
    ));
}
