//! `podward skills`: what is listed, shown and found wrong before any run.

mod active;

use crate::sandbox::{Sandbox, repository};

const RULES: &str = r#"
[[permissions.rule]]
tool = "bash"
pattern = "git push *"
action = "deny"

[[permissions.rule]]
tool = "bash"
pattern = "git *"
action = "allow"

[[permissions.rule]]
tool = "read"
pattern = "*"
action = "allow"
"#;

fn sandbox() -> (Sandbox, String) {
    let sandbox = Sandbox::new();
    let text = format!(
        "[skills]\ndirectories = [\"skills\"]\n[permissions]\ndefault_action = \"deny\"\n{RULES}"
    );
    let pod = sandbox.write("pod.toml", &text);
    (sandbox, pod.to_str().unwrap().to_owned())
}

pub(super) fn skill(sandbox: &Sandbox, name: &str, lists: &str) {
    let text = format!("---\nname: {name}\ndescription: Does things.\n{lists}---\nDo it.\n");
    sandbox.write(&format!("skills/{name}/SKILL.md"), &text);
}

#[test]
fn skills_are_listed_and_shown_with_what_they_restrict() {
    let (sandbox, pod) = sandbox();
    skill(&sandbox, "free", "");
    skill(
        &sandbox,
        "git",
        "allowed-tools: Read, Bash(git:*)\ndisallowed-tools: WebFetch\n",
    );
    skill(&sandbox, "broken", "allowed-tools: Bash (git:*)\n");
    let ran = sandbox
        .run(&["skills", "list", "--manifest", &pod])
        .exits(0);
    let expected = "free\n    Does things.\n    every tool\n\
                    git\n    Does things.\n    only Read, Bash(git:*); not WebFetch\n";
    assert_eq!(ran.stdout, expected);
    assert!(
        ran.stderr.contains("skills/broken/SKILL.md:4:21"),
        "{}",
        ran.stderr
    );

    let list = ["skills", "list", "--manifest", &pod, "--format", "json"];
    let lines = sandbox.run(&list).exits(0).json_lines();
    assert_eq!(lines[0].get("allowed_tools"), None);
    assert_eq!(
        lines[1]["allowed_tools"],
        serde_json::json!(["Read", "Bash(git:*)"])
    );
    assert_eq!(
        lines[1]["disallowed_tools"],
        serde_json::json!(["WebFetch"])
    );

    let ran = sandbox
        .run(&["skills", "show", "git", "--manifest", &pod])
        .exits(0);
    for line in [
        "deny web_fetch `*`",
        "allow bash `git *`",
        "deny everything else",
    ] {
        assert!(ran.stdout.contains(line), "{line}: {}", ran.stdout);
    }
    let ran = sandbox
        .run(&["skills", "show", "broken", "--manifest", &pod])
        .exits(1);
    assert!(
        ran.stderr.contains("error: there is no tool's name"),
        "{}",
        ran.stderr
    );
    sandbox
        .run(&["skills", "show", "none", "--manifest", &pod])
        .exits(64);
}

#[test]
fn lint_says_before_any_run_what_is_wrong() {
    let (sandbox, pod) = sandbox();
    skill(&sandbox, "good", "allowed-tools: Read Bash(git log:*)\n");
    skill(
        &sandbox,
        "refused",
        "allowed-tools: Read Grep Bash(git push:*) Bash(cargo:*)\n",
    );
    skill(&sandbox, "unknown", "allowed-tools: Raed AskUserQuestion\n");
    let lint = |names: &[&str], more: &[&str]| {
        let paths = names
            .iter()
            .map(|name| sandbox.path(&format!("skills/{name}")));
        let paths: Vec<String> = paths.map(|path| path.display().to_string()).collect();
        let mut arguments = vec!["skills", "lint", "--manifest", &pod];
        arguments.extend(paths.iter().map(String::as_str));
        arguments.extend(more);
        sandbox.run(&arguments)
    };
    assert_eq!(
        lint(&["good"], &[]).exits(0).stdout,
        "1 skill, 0 errors, 0 warnings\n"
    );
    let ran = lint(&["refused"], &["--format", "json"]).exits(0);
    let told: Vec<_> = ran
        .json_lines()
        .iter()
        .map(|line| {
            (
                line["column"].as_u64().unwrap(),
                line["message"].as_str().unwrap().to_owned(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            (
                21,
                "the manifest refuses `Grep` anyway: no rule lets `grep` run".to_owned()
            ),
            (
                26,
                "the manifest refuses `Bash(git push:*)` anyway".to_owned()
            ),
            (43, "the manifest refuses `Bash(cargo:*)` anyway".to_owned()),
        ]
    );
    let ran = lint(&["unknown"], &[]).exits(1);
    assert!(
        ran.stdout.contains("did you mean `read`?"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout.ends_with("1 skill, 2 errors, 0 warnings\n"),
        "{}",
        ran.stdout
    );
    // A directory of skills.
    let ran = lint(&[""], &[]).exits(1);
    assert!(
        ran.stdout.contains("3 skills, 2 errors, 3 warnings\n"),
        "{}",
        ran.stdout
    );
    let nothing = sandbox.work().display().to_string();
    sandbox.run(&["skills", "lint", &nothing]).exits(64);
    let missing = sandbox.path("skills/missing").display().to_string();
    let ran = sandbox.run(&["skills", "lint", &missing]).exits(64);
    assert!(ran.stderr.contains("does not exist"), "{}", ran.stderr);
    // The file stands for its directory.
    let file = sandbox.path("skills/good/SKILL.md").display().to_string();
    let ran = sandbox.run(&["skills", "lint", &file]).exits(0);
    assert_eq!(ran.stdout, "1 skill, 0 errors, 0 warnings\n");
}

#[test]
fn the_sample_with_a_skill_has_nothing_to_be_told_of() {
    let sandbox = Sandbox::new();
    let samples = repository().join("manifests");
    let (skills, manifest) = (samples.join("skills"), samples.join("skills.toml"));
    let [skills, manifest] = [&skills, &manifest].map(|path| path.to_str().unwrap());
    let lint = ["skills", "lint", skills, "--manifest", manifest];
    let ran = sandbox.run(&lint).exits(0);
    assert_eq!(ran.stdout, "1 skill, 0 errors, 0 warnings\n");
    let show = ["skills", "show", "review", "--manifest", manifest];
    let ran = sandbox.run(&show).exits(0);
    for rule in [
        "allow bash `git diff *`",
        "allow read `*`",
        "deny everything else",
    ] {
        assert!(ran.stdout.contains(rule), "{rule}: {}", ran.stdout);
    }
    assert!(!ran.stdout.contains("file_write"), "{}", ran.stdout);
}
