//! The roles in real pods: what a rule does not see, the kernel holds.

use std::collections::BTreeMap;
use std::path::Path;

use crate::sandbox::{ALLOW_ALL, Ran, Sandbox, repository};
use crate::session_files::{Ending, exchanges};

/// Writes of every kind, of files of the workspace.
const WRITES: &[&str] = &[
    "echo x > out.txt",
    "echo x >> README.md",
    "cd src && echo x > ../README.md",
    "tee out.txt < README.md",
    "cp README.md copy.md",
    "mv README.md moved.md",
    "rm README.md",
    "rm -rf src",
    "mkdir new",
    "touch new.txt",
    "ln -s README.md link",
    "ln README.md hard",
    "truncate -s 0 README.md",
    "dd if=/dev/zero of=README.md bs=1 count=1",
    "chmod 777 README.md",
    "sed -i s/a/b/ README.md",
    "sed -n 'w out.txt' README.md",
    "sort -o README.md README.md",
    "sort $(printf %s -oout.txt) README.md",
    "find . -name '*.md' -delete",
    "find . -fprint out.txt",
    "find . -name '*.md' -exec rm {} +",
    "ls | xargs rm -rf",
    "awk '{print > \"out.txt\"}' README.md",
    "awk 'BEGIN {system(\"touch x\")}'",
    "sh -c 'rm README.md'",
    "eval 'rm README.md'",
    "env rm README.md",
    "(setsid sh -c 'echo x > out.txt' &) ; wait",
    "echo 'echo x > out.txt' | sh",
    "x=README.md; : > $x",
    "exec 3> out.txt; echo x >&3",
    "mv src elsewhere",
    "ln -sf /tmp plans",
    "uniq README.md out.txt",
    "cat README.md <> new.txt",
    "cp README.md .env",
];

/// A workspace, and a model of the user's own that makes these calls of bash.
fn prepare(commands: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    for (file, text) in [
        ("work/README.md", "a project\n"),
        ("work/src/lib.rs", "fn main() {}\n"),
        ("work/.env", "KEY=secret\n"),
        ("work/plans/old.md", "done\n"),
        ("work/.git/config", "[core]\n"),
        ("work/.git/hooks/sample", ""),
    ] {
        sandbox.write(file, text);
    }
    let mut script = String::new();
    for command in commands {
        let input = serde_json::json!({ "command": command }).to_string();
        script += &format!("[[step]]\n[[step.call]]\ntool = \"bash\"\nraw = '''{input}'''\n");
    }
    script += "[[step]]\ntext = \"Done.\"\n";
    sandbox.write("config/podward/steps.toml", &script);
    let model = "[model]\nprovider = \"scripted\"\nscript = \"./steps.toml\"\n";
    sandbox.write("config/podward/pod.toml", model);
    sandbox
}

fn manifest_of(role: &str) -> String {
    std::fs::read_to_string(repository().join(format!("manifests/{role}.toml"))).unwrap()
}

/// The role's manifest with rules that see nothing.
fn without_rules(role: &str) -> String {
    let text = manifest_of(role);
    let (physics, _) = text.split_once("[permissions]").unwrap();
    format!("{physics}{ALLOW_ALL}")
}

fn run(sandbox: &Sandbox, manifest: &str) -> Ran {
    let manifest = sandbox.write("role.toml", manifest);
    sandbox.run(&["run", manifest.to_str().unwrap(), "go"])
}

/// Every file below a folder with its text; a directory and a link count too.
fn tree(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let path = entry.path();
        let kind = entry.file_type().unwrap();
        let text = if kind.is_file() {
            std::fs::read_to_string(&path).unwrap()
        } else {
            format!("{kind:?}")
        };
        if kind.is_dir() {
            found.extend(tree(&path));
        }
        found.insert(path.display().to_string(), text);
    }
    found
}

#[test]
fn the_kernel_holds_explore_and_plan_where_no_rule_does() {
    for role in ["explore", "plan"] {
        let sandbox = prepare(WRITES);
        let plans = sandbox.path("work/plans/").display().to_string();
        let kept = || {
            let mut files = tree(&sandbox.work());
            files.retain(|path, _| role == "explore" || !path.starts_with(&plans));
            files
        };
        let before = kept();
        run(&sandbox, &without_rules(role)).exits(0);
        assert_eq!(kept(), before, "{role}");
        let exchanges = exchanges(&sandbox.session(), Ending::Written);
        assert_eq!(exchanges.len(), WRITES.len(), "{role}");
    }
}

#[test]
fn plan_writes_its_plans_by_bash_too_and_nothing_beside_them() {
    let sandbox = prepare(&["echo x > plans/new.md", "echo x > plans.md"]);
    run(&sandbox, &without_rules("plan")).exits(0);
    assert!(sandbox.path("work/plans/new.md").is_file());
    assert!(!sandbox.path("work/plans.md").exists());
}

#[test]
fn no_search_of_bash_shows_a_role_the_secrets() {
    for role in ["explore", "plan"] {
        let sandbox = prepare(&["grep -rh KEY .", "ls README.md", "cat plans/../.env"]);
        run(&sandbox, &manifest_of(role)).exits(10);
        let exchanges = exchanges(&sandbox.session(), Ending::Written);
        let seen: Vec<_> = exchanges.iter().map(|exchange| &exchange.content).collect();
        assert!(
            !seen.iter().any(|text| text.contains("secret\n")),
            "{role}: {seen:?}"
        );
        assert!(seen[1].contains("README.md"), "{role}: {seen:?}");
        assert!(seen[2].contains("Refused"), "{role}: {seen:?}");
    }
}

#[test]
fn a_role_starts_where_there_are_no_secrets_to_keep() {
    for role in ["build", "explore", "plan"] {
        let sandbox = prepare(&["ls"]);
        std::fs::remove_file(sandbox.path("work/.env")).unwrap();
        run(&sandbox, &manifest_of(role)).exits(0);
    }
}

#[test]
fn the_kernel_keeps_what_git_runs_later_from_a_build() {
    let sandbox = prepare(&[
        "echo x > .git/config",
        "ln -s .git/hooks h; echo x > h/pre-commit",
        "echo x > .git/index && echo x > out.txt",
    ]);
    run(&sandbox, &without_rules("build")).exits(0);
    let after = tree(&sandbox.work());
    let text = |name: &str| after.get(&sandbox.path(name).display().to_string());
    assert_eq!(text("work/.git/config").unwrap(), "[core]\n");
    assert_eq!(text("work/.git/hooks/pre-commit"), None);
    assert_eq!(text("work/.git/index").unwrap(), "x\n");
    assert_eq!(text("work/out.txt").unwrap(), "x\n");
}
