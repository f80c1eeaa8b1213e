//! What calls changed is brought back, byte for byte.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::sandbox::{ALLOW_ALL, Ran, Sandbox};

/// Everything below a directory: kind, rights and content.
fn tree(root: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut tree = BTreeMap::new();
    let mut ahead = vec![root.to_owned()];
    while let Some(directory) = ahead.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let metadata = path.symlink_metadata().unwrap();
            let content = if metadata.is_symlink() {
                fs::read_link(&path)
                    .unwrap()
                    .as_os_str()
                    .as_bytes()
                    .to_vec()
            } else if metadata.is_file() {
                fs::read(&path).unwrap()
            } else {
                ahead.push(path.clone());
                Vec::new()
            };
            let name = path.strip_prefix(root).unwrap().to_owned();
            tree.insert(name, (metadata.mode(), content));
        }
    }
    tree
}

fn project(sandbox: &Sandbox) {
    for (name, text) in [
        ("work/src/main.rs", "fn main() {}\n"),
        ("work/src/deep/er/mod.rs", "pub mod x;\n"),
        ("work/README.md", "# Read me\n"),
        ("work/docs/a.md", "a\n"),
        ("work/.env", "SECRET=1\n"),
        ("work/.gitignore", ".env\ntarget/\n"),
        ("work/target/out", "built\n"),
        ("work/.git/HEAD", "ref: refs/heads/main\n"),
        ("work/empty", ""),
        ("work/run.sh", "#!/bin/sh\n"),
    ] {
        sandbox.write(name, text);
    }
    let work = sandbox.work();
    fs::set_permissions(work.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir(work.join("nothing in it")).unwrap();
    symlink("README.md", work.join("link")).unwrap();
    symlink("/nowhere", work.join("src/dangling")).unwrap();
    fs::write(
        work.join(std::ffi::OsStr::from_bytes(b"src/\xff\n.md")),
        b"\0\xff",
    )
    .unwrap();
}

fn bash(label: &str, command: &str) -> String {
    format!(
        "[[step]]\n[[step.call]]\nid = \"{label}\"\ntool = \"bash\"\ninput = {{ command = '''{command}''' }}\n"
    )
}

fn session_of(sandbox: &Sandbox) -> String {
    let session = sandbox.session();
    session.file_name().unwrap().to_str().unwrap().to_owned()
}

fn run(sandbox: &Sandbox, script: &str, more: &str) -> Ran {
    let pod = sandbox.pod(script, &format!("{more}{ALLOW_ALL}"));
    sandbox.run(&["run", pod.to_str().unwrap(), "go"])
}

const END: &str = "[[step]]\ntext = \"End.\"\n";

#[test]
fn a_disaster_is_undone_byte_for_byte() {
    let sandbox = Sandbox::new();
    project(&sandbox);
    // The project's layer has a place, in every tree that is compared.
    fs::create_dir(sandbox.path("work/.podward")).unwrap();
    let before = tree(&sandbox.work());
    let script = bash(
        "disaster",
        "rm -rf src .git && find . -name \"*.md\" -delete && for f in empty .env run.sh target/out; \
         do printf overwritten > \"$f\"; done; chmod 600 run.sh; rm link; mkdir link; echo x > link/new; \
         rmdir \"nothing in it\"",
    ) + END;
    run(&sandbox, &script, "").exits(0);
    let after = tree(&sandbox.work());
    assert_ne!(after, before);
    let session = session_of(&sandbox);

    let listed = sandbox.run(&["undo", &session, "--list"]).exits(0).stdout;
    assert!(listed.starts_with("disaster  20"), "{listed}");
    for line in [
        "  bash rm -rf src .git && ",
        "  removed  src/main.rs (13 B)\n",
        "  removed  src/\u{fffd}\\n.md (2 B)\n",
        "  made     link/new (2 B)\n",
        "  changed  empty (0 B -> 11 B)\n",
    ] {
        assert!(listed.contains(line), "{line} in {listed}");
    }

    let dry = sandbox.run(&["undo", &session, "--dry-run"]).exits(0);
    assert!(dry.stdout.contains("made     src/main.rs"), "{dry:#?}");
    assert_eq!(tree(&sandbox.work()), after);

    let undone = sandbox.run(&["undo", &session]).exits(0);
    assert!(
        undone.stderr.contains("`disaster` is undone"),
        "{undone:#?}"
    );
    assert_eq!(tree(&sandbox.work()), before);

    let again = sandbox.run(&["undo", &session]).exits(1);
    assert!(
        again
            .stderr
            .contains("nothing in this session is left to undo"),
        "{again:#?}"
    );
    sandbox.run(&["undo", &session, "undo:2"]).exits(0);
    assert_eq!(tree(&sandbox.work()), after);
    sandbox.run(&["undo", &session, "dis"]).exits(0);
    assert_eq!(tree(&sandbox.work()), before);
}

#[test]
fn file_tools_and_parallel_calls_are_undone() {
    let sandbox = Sandbox::new();
    project(&sandbox);
    fs::create_dir(sandbox.path("work/.podward")).unwrap();
    let before = tree(&sandbox.work());
    let script = r#"
[[step]]
[[step.call]]
id = "write"
tool = "file_write"
input = { path = "new/er/f", content = "new" }
[[step]]
[[step.call]]
id = "edit"
tool = "file_edit"
input = { path = "README.md", old_string = "Read", new_string = "Write" }
[[step]]
[[step.call]]
id = "p1"
tool = "bash"
input = { command = "echo 1 > one; rm docs/a.md" }
[[step.call]]
id = "p2"
tool = "bash"
input = { command = "echo 2 >> README.md" }
[[step.call]]
id = "p3"
tool = "file_write"
input = { path = "three", content = "3" }
[[step.call]]
id = "p4"
tool = "read"
input = { path = "three" }
[[step]]
[[step.call]]
id = "look"
tool = "bash"
input = { command = "cat README.md | wc -l" }
[[step]]
text = "End."
"#;
    run(&sandbox, script, "").exits(0);
    let session = session_of(&sandbox);
    let listed = sandbox.run(&["undo", &session, "--list"]).exits(0).stdout;
    assert!(!listed.contains("look"), "{listed}");
    // The edit was before the others that changed the same file.
    let refused = sandbox.run(&["undo", &session, "edit"]).exits(1);
    assert!(
        refused
            .stderr
            .contains("`README.md` is not as the call left it; changed later by `p"),
        "{refused:#?}"
    );
    // Calls of one message are one step or several: as they came to overlap.
    for _ in 0..5 {
        sandbox.run(&["undo", &session]);
    }
    assert_eq!(tree(&sandbox.work()), before);
}

#[test]
fn what_a_person_changed_since_is_not_overwritten() {
    let sandbox = Sandbox::new();
    project(&sandbox);
    run(
        &sandbox,
        &(bash("c", "echo x > empty; rm README.md") + END),
        "",
    )
    .exits(0);
    fs::write(sandbox.path("work/empty"), "by hand").unwrap();
    let session = session_of(&sandbox);
    let refused = sandbox.run(&["undo", &session]).exits(1);
    assert!(
        refused
            .stderr
            .contains("`empty` is not as the call left it"),
        "{refused:#?}"
    );
    assert!(!sandbox.path("work/README.md").exists());
    sandbox.run(&["undo", &session, "--force"]).exits(0);
    assert_eq!(fs::read_to_string(sandbox.path("work/empty")).unwrap(), "");
    sandbox.run(&["undo", &session, "undo:2"]).exits(0);
    assert_eq!(
        fs::read_to_string(sandbox.path("work/empty")).unwrap(),
        "by hand"
    );
}

#[test]
fn a_pod_that_is_killed_in_a_command_leaves_a_way_back() {
    let sandbox = Sandbox::new();
    project(&sandbox);
    fs::create_dir(sandbox.path("work/.podward")).unwrap();
    let before = tree(&sandbox.work());
    let pipe = sandbox.path("tmp/pipe");
    let made = std::process::Command::new("mkfifo")
        .arg(&pipe)
        .status()
        .unwrap();
    assert!(made.success());
    let command = format!("rm -rf src docs; cat {}", pipe.display());
    let pod = sandbox.pod(&(bash("c", &command) + END), ALLOW_ALL);
    let mut child = sandbox
        .podward(&["run", pod.to_str().unwrap(), "go"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Waits for the command, which has done its worst by then.
    let writer = fs::OpenOptions::new().write(true).open(&pipe).unwrap();
    let session = session_of(&sandbox);
    let busy = sandbox.run(&["undo", &session]).exits(1);
    assert!(
        busy.stderr.contains("is in use by another process"),
        "{busy:#?}"
    );
    child.kill().unwrap();
    child.wait().unwrap();
    drop(writer);
    let refused = sandbox.run(&["undo", &session]).exits(1);
    assert!(
        refused.stderr.contains("the call was cut off"),
        "{refused:#?}"
    );
    sandbox.run(&["undo", &session, "--force"]).exits(0);
    assert_eq!(tree(&sandbox.work()), before);
}

#[test]
fn nothing_is_kept_where_that_is_said() {
    for (mode, undo) in [("direct", "[undo]\nkeep = false\n"), ("copy", "")] {
        let sandbox = Sandbox::new();
        project(&sandbox);
        let pod = sandbox.pod(
            &(bash("c", "rm -rf src") + END),
            &format!("{undo}{ALLOW_ALL}"),
        );
        let text = fs::read_to_string(&pod).unwrap();
        let place = format!("workspace = \"work\"\nworkspace_mode = \"{mode}\"\n");
        fs::write(&pod, text.replace("workspace = \"work\"\n", &place)).unwrap();
        sandbox.run(&["run", pod.to_str().unwrap(), "go"]).exits(0);
        assert_eq!(sandbox.path("work/src").exists(), mode == "copy");
        assert!(!sandbox.path("state/podward/undo").exists());
        let session = session_of(&sandbox);
        let none = sandbox.run(&["undo", &session]).exits(1);
        assert!(none.stderr.contains("left to undo"), "{none:#?}");
    }
}

#[test]
fn a_call_is_not_run_without_its_net() {
    let sandbox = Sandbox::new();
    project(&sandbox);
    // A file where the stores should be.
    sandbox.write("state/podward/undo", "");
    let script = bash("c", "rm -rf src").replace("[[step]]\n", "[[step]]\ntext = \"Go.\"\n")
        + "[[step]]\ntext = \"{{result.1}}\"\n";
    fs::set_permissions(
        sandbox.path("state/podward"),
        fs::Permissions::from_mode(0o700),
    )
    .unwrap();
    let ran = run(&sandbox, &script, "").exits(0);
    assert!(ran.stdout.contains("nothing was done"), "{ran:#?}");
    assert!(ran.stdout.contains("`keep = false`"), "{ran:#?}");
    assert!(sandbox.path("work/src/main.rs").exists());
}

#[test]
fn an_undo_does_not_follow_a_workspace_that_has_become_a_link() {
    let sandbox = Sandbox::new();
    let script =
        bash("made", "echo 'a key' > authorized_keys") + &bash("gone", "rm authorized_keys");
    run(&sandbox, &(script + "[[step]]\ntext = \"x\"\n"), "").exits(0);
    // As a command of a pod that works in the directory above can do.
    fs::rename(sandbox.work(), sandbox.path("moved")).unwrap();
    symlink(sandbox.path("home"), sandbox.work()).unwrap();
    let mut undo = sandbox.podward(&["undo", &session_of(&sandbox)]);
    let undone: Ran = undo.current_dir("/").output().unwrap().into();
    let undone = undone.exits(1);
    assert!(undone.stderr.contains("is a link by now"), "{undone:#?}");
    assert_eq!(fs::read_dir(sandbox.path("home")).unwrap().count(), 0);
}

#[test]
fn a_store_that_lies_elsewhere_is_as_closed_as_any() {
    let sandbox = Sandbox::new();
    sandbox.write("work/.env", "SECRET=1\n");
    sandbox.write("elsewhere/none", "");
    sandbox.write("state/podward/none", "");
    symlink(
        sandbox.path("elsewhere"),
        sandbox.path("state/podward/undo"),
    )
    .unwrap();
    let look =
        "echo x > made; grep -r SECRET ../elsewhere > found; ls ../elsewhere/*/objects >> found";
    let script = bash("look", look)
        + "[[step]]\n[[step.call]]\ntool = \"list\"\ninput = { path = \"../elsewhere\" }\n"
        + "[[step]]\ntext = \"x\"\n";
    let ran = run(&sandbox, &script, "").exits(0);
    assert!(ran.stderr.contains("#2   failed"), "{ran:#?}");
    assert_eq!(fs::read_to_string(sandbox.path("work/found")).unwrap(), "");
    sandbox.run(&["undo", &session_of(&sandbox)]).exits(0);
    assert!(!sandbox.path("work/made").exists());

    fs::set_permissions(sandbox.path("elsewhere"), fs::Permissions::from_mode(0o777)).unwrap();
    let ran = run(&sandbox, &script, "").exits(1);
    assert!(ran.stderr.contains("/undo` "), "{ran:#?}");
}
