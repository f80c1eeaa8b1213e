use super::*;

fn found(command: &[&str]) -> Vec<String> {
    let arguments: Vec<HookArgument> = command[1..]
        .iter()
        .map(|text| match text.strip_prefix("./") {
            Some(path) => HookArgument::Path(path.into()),
            None => HookArgument::Text((*text).to_owned()),
        })
        .collect();
    let scripts = scripts(Path::new(command[0]), &arguments);
    scripts
        .into_iter()
        .map(|idx| command[idx + 1].to_owned())
        .collect()
}

#[test]
fn a_script_is_found_behind_options_and_wrappers() {
    let cases: &[&[&str]] = &[
        &["/bin/sh", "S", "x"],
        &["bash", "-e", "S"],
        &["bash", "-eu", "-o", "pipefail", "S", "-c"],
        &["bash", "+x", "--norc", "--rcfile", "f", "--", "S"],
        &["zsh", "-oerrexit", "S"],
        &["python3.11", "-I", "-X", "dev", "-Wd", "S"],
        &["node", "-r", "r", "S"],
        &["perl", "-w", "-I", "lib", "S"],
        &["php", "-f", "S"],
        &["lua5.4", "-e", "x=1", "S"],
        &["env", "X=1", "sh", "-e", "S"],
        &["/usr/bin/timeout", "5", "/bin/bash", "S"],
    ];
    for command in cases {
        assert_eq!(found(command), ["S"], "{command:?}");
    }
    assert_eq!(found(&["env", "-S", "sh", "./s"]), ["./s"]);
    let none: &[&[&str]] = &[
        &["sh", "-c", "x"],
        &["bash", "-euc", "x"],
        &["bash", "-s", "x"],
        &["python3", "-m", "x"],
        &["node", "--test", "x"],
        &["perl", "-ne", "x"],
        &["sh", "-"],
        &["./check", "python", "3"],
        &["jq", "x"],
    ];
    for command in none {
        assert!(found(command).is_empty(), "{command:?}");
    }
}
