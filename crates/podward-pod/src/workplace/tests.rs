use std::fs::Permissions;
use std::os::unix::fs::symlink;

use super::*;

struct Fixture {
    root: tempfile::TempDir,
    places: Places,
}

fn fixture() -> Fixture {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("tmp")).unwrap();
    let project = root.path().join("project");
    fs::create_dir_all(project.join("src/deep")).unwrap();
    fs::write(project.join("src/deep/a.txt"), "a").unwrap();
    fs::write(project.join("check"), "#!/bin/sh\n").unwrap();
    fs::set_permissions(project.join("check"), Permissions::from_mode(0o4755)).unwrap();
    fs::write(project.join("fixed"), "x").unwrap();
    fs::set_permissions(project.join("fixed"), Permissions::from_mode(0o444)).unwrap();
    fs::set_permissions(project.join("src"), Permissions::from_mode(0o555)).unwrap();
    symlink("src/deep/a.txt", project.join("link")).unwrap();
    symlink("nowhere", project.join("dangling")).unwrap();
    rustix::fs::mkfifoat(
        rustix::fs::CWD,
        project.join("pipe"),
        rustix::fs::Mode::from_raw_mode(0o600),
    )
    .unwrap();
    Fixture {
        places: Places::below(root.path()),
        root,
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        let src = self.root.path().join("project/src");
        fs::set_permissions(src, Permissions::from_mode(0o755)).unwrap();
    }
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o7777
}

#[test]
fn the_directories_are_private_and_go_with_the_run() {
    let fixture = fixture();
    let workplace = Workplace::create(&fixture.places).unwrap();
    let root = workplace.root().to_owned();
    assert_eq!(mode(&root), 0o700);
    assert_eq!(mode(&workplace.temp()), 0o700);
    assert_eq!(
        root.parent().unwrap(),
        fixture.places.temp_dir().canonicalize().unwrap()
    );
    drop(workplace);
    assert!(!root.exists());
}

#[test]
fn a_copy_has_everything_but_pipes_and_can_be_worked_in() {
    let fixture = fixture();
    let project = fixture.root.path().join("project");
    let workplace = Workplace::create(&fixture.places).unwrap();
    let (copy, origin) = workplace.copy_of(&project, &fixture.places).unwrap();
    assert_eq!(origin, CopyOrigin::Fresh);
    assert_eq!(
        fs::read_to_string(copy.join("src/deep/a.txt")).unwrap(),
        "a"
    );
    assert_eq!(
        fs::read_link(copy.join("link")).unwrap(),
        Path::new("src/deep/a.txt")
    );
    assert_eq!(
        fs::read_link(copy.join("dangling")).unwrap(),
        Path::new("nowhere")
    );
    assert!(copy.join("pipe").symlink_metadata().is_err());
    assert_eq!(mode(&copy.join("check")), 0o755);
    assert_eq!(mode(&copy.join("fixed")), 0o444);
    assert_eq!(mode(&copy.join("src")), 0o755);
    let time = |path: PathBuf| path.metadata().unwrap().modified().unwrap();
    assert_eq!(time(copy.join("check")), time(project.join("check")));
}

#[test]
fn a_copy_does_not_hold_itself_nor_the_sessions() {
    let fixture = fixture();
    fs::create_dir_all(fixture.places.sessions_dir()).unwrap();
    let workplace = Workplace::create(&fixture.places).unwrap();
    let (copy, _) = workplace
        .copy_of(
            &fixture.root.path().canonicalize().unwrap(),
            &fixture.places,
        )
        .unwrap();
    assert!(copy.join("project/check").exists());
    assert!(
        !copy
            .join("tmp")
            .join(workplace.root().file_name().unwrap())
            .exists()
    );
    assert!(!copy.join("state/podward").exists());
}

#[test]
fn what_a_run_that_died_left_is_taken_over_and_its_copy_kept() {
    let fixture = fixture();
    let project = fixture.root.path().join("project");
    let died = Workplace::create(&fixture.places).unwrap();
    let (copy, _) = died.copy_of(&project, &fixture.places).unwrap();
    fs::write(copy.join("edited"), "x").unwrap();
    let root = died.root().to_owned();
    std::mem::forget(died);
    let again = Workplace::take_over(&fixture.places, &root).unwrap();
    let (copy, origin) = again.copy_of(&project, &fixture.places).unwrap();
    assert_eq!(origin, CopyOrigin::Kept);
    assert!(copy.join("edited").exists());
}

#[test]
fn an_unfinished_copy_is_made_again() {
    let fixture = fixture();
    let project = fixture.root.path().join("project");
    let workplace = Workplace::create(&fixture.places).unwrap();
    fs::create_dir(workplace.root().join(UNFINISHED)).unwrap();
    fs::write(workplace.root().join(UNFINISHED).join("half"), "").unwrap();
    let (copy, origin) = workplace.copy_of(&project, &fixture.places).unwrap();
    assert_eq!(origin, CopyOrigin::Fresh);
    assert!(!copy.join("half").exists());
}

#[test]
fn nothing_else_is_taken_over() {
    let fixture = fixture();
    let base = fixture.places.temp_dir().canonicalize().unwrap();
    let check = |path: &Path| assert!(Workplace::take_over(&fixture.places, path).is_none());
    check(Path::new("/"));
    check(&base);
    check(&base.join("podward-gone"));
    check(&fixture.root.path().join("project"));
    fs::create_dir_all(base.join("podward-open/tmp")).unwrap();
    fs::set_permissions(base.join("podward-open"), Permissions::from_mode(0o755)).unwrap();
    check(&base.join("podward-open"));
    symlink(
        fixture.root.path().join("project"),
        base.join("podward-link"),
    )
    .unwrap();
    check(&base.join("podward-link"));
}
