use super::*;

fn seen(variables: &[(&str, &str)]) -> Vec<String> {
    let variables: Vec<(OsString, OsString)> = variables
        .iter()
        .map(|(name, value)| ((*name).into(), (*value).into()))
        .collect();
    // The key under its own name and, copied by a careless script, under another one.
    let is_secret = |name: &OsStr, value: &OsStr| name == "KEY" || value == "the-key";
    environment(&variables, is_secret)
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
