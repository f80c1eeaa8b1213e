//! Layers of settings and rules, as files of a real user.

use std::os::unix::fs::PermissionsExt;

use crate::sandbox::{ALLOW_ALL, Ran, Sandbox, repository};

const TALK: &str = "[[step]]\ntext = \"Hello.\"\n";

#[test]
fn a_broken_layer_refuses_to_start() {
    let sandbox = Sandbox::new();
    let pod = sandbox.pod(TALK, ALLOW_ALL);
    let pod = pod.to_str().unwrap();
    let user = sandbox.write(
        "config/podward/pod.toml",
        "[permissions]\ndefault = \"ask\"\n",
    );
    let ran = sandbox.run(&["run", pod, "go"]).exits(78);
    for part in ["config/podward/pod.toml:2:1", "default_action"] {
        assert!(ran.stderr.contains(part), "{part}: {ran:#?}");
    }
    std::fs::remove_file(user).unwrap();
    for text in [
        "",
        " \n",
        "[pod]\nname = \"x\"\n",
        "[permissions]\n",
        "nonsense",
    ] {
        let output = sandbox
            .podward(&["run", pod, "go"])
            .env("PODWARD_PERMISSIONS", text)
            .output()
            .unwrap();
        let ran = Ran::from(output).exits(78);
        assert!(
            ran.stderr.contains("PODWARD_PERMISSIONS"),
            "{text}: {ran:#?}"
        );
    }
    sandbox
        .run(&["run", pod, "go", "--permissions", "none.toml"])
        .exits(78);
    assert!(sandbox.sessions().is_empty());
    sandbox.run(&["run", pod, "go"]).exits(0);
}

#[test]
fn no_invalid_sample_starts_a_pod() {
    let sandbox = Sandbox::new();
    let folder = repository().join("manifests/invalid");
    let mut n_samples = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "toml") {
            let ran = sandbox
                .run(&["run", path.to_str().unwrap(), "go"])
                .exits(78);
            assert!(ran.stdout.is_empty(), "{}: {ran:#?}", path.display());
            assert!(
                ran.stderr.contains("error: "),
                "{}: {ran:#?}",
                path.display()
            );
            n_samples += 1;
        }
    }
    assert!(n_samples > 0);
    assert!(sandbox.sessions().is_empty());
}

#[test]
fn a_required_boundary_that_the_kernel_cannot_hold_starts_nothing() {
    let sandbox = Sandbox::new();
    let rules = format!("[scope]\nenforce = \"required\"\n{ALLOW_ALL}");
    let pod = sandbox.pod("[[step]]\ntext = \"Never.\"\n", &rules);
    let Some(mut command) = sandbox.without_namespaces(&["run", pod.to_str().unwrap(), "go"])
    else {
        return;
    };
    let ran = Ran::from(command.output().unwrap()).exits(78);
    assert!(ran.stdout.is_empty(), "{ran:#?}");
    assert!(
        ran.stderr.contains("must be enforced by the kernel"),
        "{ran:#?}"
    );
    assert!(sandbox.sessions().is_empty(), "{ran:#?}");
}

#[test]
fn a_manifest_that_others_can_write_is_refused() {
    let sandbox = Sandbox::new();
    let pod = sandbox.pod(TALK, ALLOW_ALL);
    std::fs::set_permissions(&pod, PermissionsExt::from_mode(0o666)).unwrap();
    for command in ["run", "manifest", "tools"] {
        let ran = sandbox.run(&[command, pod.to_str().unwrap()]).exits(78);
        assert!(ran.stderr.contains("chmod go-w"), "{command}: {ran:#?}");
    }
}

#[test]
fn a_project_may_loosen_nothing_until_it_is_trusted() {
    let sandbox = Sandbox::new();
    let pod = sandbox.pod(TALK, ALLOW_ALL);
    let pod = pod.to_str().unwrap();
    let project = sandbox.write(
        "work/.podward/pod.toml",
        "[environment]\npass = [\"FOO\"]\n",
    );
    let ran = sandbox.run(&["run", pod, "go"]).exits(78);
    assert!(ran.stderr.contains("podward trust"), "{ran:#?}");
    let work = sandbox.work();
    let work = work.to_str().unwrap();
    let ran = sandbox.run(&["trust", work]).exits(0);
    assert!(
        ran.stdout.contains("FOO"),
        "it shows what it trusts: {ran:#?}"
    );
    sandbox.run(&["run", pod, "go"]).exits(0);
    std::fs::write(&project, "[environment]\npass = [\"BAR\"]\n").unwrap();
    sandbox.run(&["run", pod, "go"]).exits(78);
    sandbox.run(&["trust", work]).exits(0);
    sandbox.run(&["trust", "--revoke", work]).exits(0);
    sandbox.run(&["run", pod, "go"]).exits(78);
    sandbox
        .run(&["trust", sandbox.path("home").to_str().unwrap()])
        .exits(1);
}

#[test]
fn manifest_prints_every_line_with_its_origin() {
    let sandbox = Sandbox::new();
    let pod = sandbox.pod(TALK, ALLOW_ALL);
    sandbox.write("config/podward/pod.toml", "[limits]\nmax_steps = 7\n");
    let ran = sandbox.run(&["manifest", pod.to_str().unwrap()]).exits(0);
    assert!(
        ran.stdout
            .lines()
            .any(|line| line.contains("max_steps = 7") && line.contains("user")),
        "{ran:#?}"
    );
    assert!(
        ran.stdout
            .lines()
            .any(|line| line.contains("default_action") && line.contains("pod.toml:")),
        "{ran:#?}"
    );
}

#[test]
fn tools_says_what_is_offered_and_why_not() {
    let sandbox = Sandbox::new();
    let pod = sandbox.pod(
        TALK,
        "[permissions]\ndefault_action = \"deny\"\n\
        rule = [{ tool = \"read\", pattern = \"src/*\", action = \"allow\" }]\n",
    );
    let ran = sandbox.run(&["tools", pod.to_str().unwrap()]).exits(0);
    let line = |tool: &str| {
        ran.stdout
            .lines()
            .find(|line| line.starts_with(tool))
            .unwrap_or_default()
            .to_owned()
    };
    assert!(line("read").contains("offered"), "{ran:#?}");
    assert!(
        line("bash").contains("no rule could let it run"),
        "{ran:#?}"
    );
    let ran = sandbox.run(&["tools", "--format", "json"]).exits(0);
    for tool in ran.json_lines() {
        assert_eq!(tool["schema"]["type"], "object", "{tool}");
    }
}
