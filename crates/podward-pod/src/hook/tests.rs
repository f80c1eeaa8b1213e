use super::*;

fn seen(variables: &[(&str, &str)]) -> Vec<String> {
    let variables: Vec<(OsString, OsString)> = variables
        .iter()
        .map(|(name, value)| ((*name).into(), (*value).into()))
        .collect();
    // The key under its own name and, copied by a careless script, under another one.
    let is_secret = |name: &OsStr, value: &OsStr| name == "KEY" || value == "the-key";
    environment(&variables, is_secret, &Writable::default())
        .into_iter()
        .map(|(name, value)| format!("{}={}", name.display(), value.display()))
        .collect()
}

#[test]
fn hooks_see_the_users_variables_but_no_key() {
    assert_eq!(
        seen(&[
            ("HOME", "/home/u"),
            ("KEY", "1"),
            ("COPY", "the-key"),
            ("PODWARD_PERMISSIONS", "x"),
            ("PATH", "/bin:.::/usr/bin"),
        ]),
        ["HOME=/home/u", "PATH=/bin:/usr/bin"]
    );
    assert_eq!(seen(&[]), ["PATH=/usr/local/bin:/usr/bin:/bin"]);
    assert_eq!(seen(&[("PATH", "rel")]), ["PATH="]);
}

#[test]
fn hooks_find_no_program_where_tools_could_put_one() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    for name in ["w", "w/bin", "w/.podward", "w/.podward/bin", "bin"] {
        std::fs::create_dir(root.join(name)).unwrap();
    }
    std::os::unix::fs::symlink(root.join("bin"), root.join("w/link")).unwrap();
    std::os::unix::fs::symlink(root.join("w/bin"), root.join("inside")).unwrap();
    let entries = [
        "w/bin",
        "w/none",
        "w/link",
        "inside",
        "bin",
        "w/.podward/bin",
    ];
    let path: Vec<String> = entries
        .iter()
        .map(|entry| root.join(entry).display().to_string())
        .collect();
    let variables = [("PATH".into(), path.join(":").into())];
    let own = [root.join("w/.podward")];
    let writable = Writable::of(&podward_scope::ScopeDecl::default(), &root.join("w"), &own);
    let kept = environment(&variables, |_, _| false, &writable);
    assert_eq!(kept, [("PATH".into(), path[4..].join(":").into())]);
}
