use std::ffi::OsString;
use std::path::Path;

use super::{ENVIRONMENT_NAMES, bash_environment};

fn scrubbed(own: &[(&str, &str)]) -> Vec<String> {
    let own = own
        .iter()
        .map(|(name, value)| (OsString::from(name), OsString::from(value)));
    bash_environment(own, Path::new("/tmp/session"))
        .into_iter()
        .map(|(name, value)| format!("{}={}", name.display(), value.display()))
        .collect()
}

const FIXED: [&str; 4] = [
    "LC_ALL=C.UTF-8",
    "PATH=/usr/local/bin:/usr/bin:/bin",
    "TERM=dumb",
    "TMPDIR=/tmp/session",
];

#[test]
fn nothing_that_is_not_listed_is_handed_on() {
    let own = [
        "ANTHROPIC_API_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "BASHOPTS",
        "BASH_ENV",
        "BASH_FUNC_ls%%",
        "CDPATH",
        "ENV",
        "GIT_SSH_COMMAND",
        "GLOBIGNORE",
        "HTTPS_PROXY",
        "IFS",
        "LD_PRELOAD",
        "PODWARD_PERMISSIONS",
        "POSIXLY_CORRECT",
        "PROMPT_COMMAND",
        "PS4",
        "SHELLOPTS",
        "SSH_AUTH_SOCK",
        "home",
    ]
    .map(|name| (name, "x"));
    assert_eq!(scrubbed(&own), FIXED);
}

#[test]
fn what_is_fixed_cannot_be_set() {
    let own = [
        ("LC_ALL", "C"),
        ("TERM", "xterm"),
        ("TMPDIR", "/"),
        ("LC_CTYPE", "C"),
    ];
    assert_eq!(scrubbed(&own), FIXED);
}

#[test]
fn the_path_keeps_only_absolute_entries() {
    for (path, kept) in [
        ("/a/bin:.:/b::bin:~/c:/d", "PATH=/a/bin:/b:/d"),
        (".:", "PATH=/usr/local/bin:/usr/bin:/bin"),
        ("", "PATH=/usr/local/bin:/usr/bin:/bin"),
    ] {
        assert!(scrubbed(&[("PATH", path)]).contains(&kept.to_owned()));
    }
}

#[test]
fn the_names_are_said_and_sorted() {
    let own = ENVIRONMENT_NAMES.map(|name| (name, "/x"));
    let names: Vec<_> = scrubbed(&own)
        .iter()
        .map(|line| line.split_once('=').unwrap().0.to_owned())
        .collect();
    assert_eq!(names, ENVIRONMENT_NAMES);
}
