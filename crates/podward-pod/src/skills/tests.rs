use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use podward_manifest::Severity;
use podward_policy::KnownTools;
use podward_skill::Gravity;

use super::{Purpose, SkillFile, SkillProblem, Skills};
use crate::accounts::Accounts;

fn write(directory: &Path, name: &str, list: &str) {
    let directory = directory.join(name);
    fs::create_dir_all(&directory).unwrap();
    let text = format!("---\nname: {name}\ndescription: x\nallowed-tools: {list}\n---\nBody\n");
    fs::write(directory.join("SKILL.md"), text).unwrap();
}

fn names(skills: &Skills) -> Vec<&str> {
    let names = skills.files.iter().map(|file| file.directory.file_name());
    names.map(|name| name.unwrap().to_str().unwrap()).collect()
}

#[test]
fn skills_are_found_by_name_and_the_first_directory_counts() {
    let root = tempfile::tempdir().unwrap();
    let (first, second) = (root.path().join("first"), root.path().join("second"));
    write(&first, "b", "Read");
    write(&first, "a", "Grep");
    write(&second, "b", "Bash");
    write(&second, ".hidden", "Bash");
    fs::create_dir(first.join("empty")).unwrap();
    fs::write(first.join("README.md"), "x").unwrap();
    symlink(second.join("b"), first.join("linked")).unwrap();
    let missing = root.path().join("missing");
    let directories = [first.clone(), missing.clone(), second.clone()];
    let skills = Skills::discover(&directories, &Accounts::parse("", ""));
    assert_eq!(names(&skills), ["a", "b", "linked"]);
    let told: Vec<String> = skills.problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            format!(
                "the directory of skills `{}` does not exist",
                missing.display()
            ),
            format!(
                "the skill `{}` is hidden by `{}`",
                second.join("b").display(),
                first.join("b").display()
            ),
        ]
    );
    assert!(skills.find("a").is_some());
    // Its name is not that of the link.
    assert!(skills.find("linked").is_none() && skills.files[2].reading.skill.is_none());
    let (file, skill) = skills.find("b").unwrap();
    assert_eq!(
        skill.tools.entries(podward_skill::ListKind::Allowed).len(),
        1
    );
    assert!(file.digest.starts_with("sha256:"));
    let compiled = file.compile(&KnownTools::built_in(), None);
    assert!(compiled.layer.is_some());
}

#[test]
fn a_skill_that_others_could_write_is_not_read() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "open", "Read");
    write(root.path(), "good", "Read");
    let file = root.path().join("open/SKILL.md");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    fs::create_dir(root.path().join("dangling")).unwrap();
    symlink("/nowhere", root.path().join("dangling/SKILL.md")).unwrap();
    let skills = Skills::discover(&[root.path().into()], &Accounts::parse("", ""));
    assert_eq!(names(&skills), ["good"]);
    assert!(
        matches!(
            *skills.problems,
            [SkillProblem::File(_), SkillProblem::File(_)]
        ),
        "{:?}",
        skills.problems
    );
    let help = skills.problems[1].help().unwrap();
    assert!(help.contains("chmod go-w"), "{help}");
}

#[test]
fn one_that_cannot_be_read_gives_its_name_to_no_other() {
    let root = tempfile::tempdir().unwrap();
    let (first, second) = (root.path().join("first"), root.path().join("second"));
    let names_of_all = ["open", "dangling", "lower", "gone"];
    for name in names_of_all {
        write(&first, name, "Read");
        write(&second, name, "Bash");
    }
    let file = |name: &str| first.join(name).join("SKILL.md");
    fs::set_permissions(file("open"), fs::Permissions::from_mode(0o666)).unwrap();
    for name in ["dangling", "lower", "gone"] {
        fs::remove_file(file(name)).unwrap();
    }
    symlink("/nowhere", file("dangling")).unwrap();
    fs::write(first.join("lower/skill.md"), "x").unwrap();
    let skills = Skills::discover(&[first, second.clone()], &Accounts::parse("", ""));
    // A directory without any file is no skill, and has no name to give.
    assert_eq!(names(&skills), ["gone"]);
    assert!(skills.files[0].directory.starts_with(&second));
    assert_eq!(skills.unread.len(), 3, "{:?}", skills.unread);
    let hidden = |problem: &&SkillProblem| matches!(problem, SkillProblem::Hidden { .. });
    assert_eq!(skills.problems.iter().filter(hidden).count(), 3);
}

#[test]
fn a_file_in_lower_case_is_told() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("skill.md"), "x").unwrap();
    let error = SkillFile::read(root.path(), &Accounts::parse("", "")).unwrap_err();
    assert!(matches!(error, SkillProblem::LowerCase(_)), "{error}");
}

#[test]
fn an_unknown_name_is_a_warning_to_load_and_an_error_to_lint() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "a", "Raed Bash");
    let file = SkillFile::read(&root.path().join("a"), &Accounts::parse("", ""));
    let file = file.unwrap().unwrap();
    let problems = file.compile(&KnownTools::built_in(), None).problems;
    let severities = |purpose| {
        let told = file.diagnostics(&problems, purpose);
        told.into_iter()
            .map(|told| told.severity)
            .collect::<Vec<_>>()
    };
    assert_eq!(severities(Purpose::Load), [Severity::Warning]);
    assert_eq!(
        severities(Purpose::Lint),
        [Severity::Error, Severity::Warning]
    );
    assert_eq!(Purpose::Load.severity(Gravity::Hint), None);
    let text = file.diagnostics(&problems, Purpose::Load)[0].to_string();
    assert!(text.contains("a/SKILL.md:4:16"), "{text}");
    assert!(text.contains("did you mean `read`?"), "{text}");
}
