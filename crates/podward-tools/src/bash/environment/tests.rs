use std::ffi::OsString;

use super::settled;

fn check(passed: &[(&str, &str)], kept: &[&str]) {
    let passed: Vec<_> = passed
        .iter()
        .map(|(name, value)| (OsString::from(name), OsString::from(value)))
        .collect();
    let environment: Vec<_> = settled(&passed)
        .into_iter()
        .map(|(name, value)| format!("{}={}", name.display(), value.display()))
        .collect();
    assert_eq!(environment, kept);
}

const FIXED: [&str; 3] = [
    "LC_ALL=C.UTF-8",
    "PATH=/usr/local/bin:/usr/bin:/bin",
    "TERM=dumb",
];

#[test]
fn what_bash_or_the_loader_acts_on_never_gets_through() {
    for name in [
        "BASHOPTS",
        "BASH_ENV",
        "BASH_FUNC_ls%%",
        "CDPATH",
        "ENV",
        "GLOBIGNORE",
        "IFS",
        "LD_LIBRARY_PATH",
        "LD_PRELOAD",
        "POSIXLY_CORRECT",
        "PROMPT_COMMAND",
        "PS4",
        "SHELLOPTS",
    ] {
        check(&[(name, "x")], &FIXED);
    }
}

#[test]
fn what_is_fixed_cannot_be_set() {
    let passed = [
        ("LC_ALL", "C"),
        ("LC_CTYPE", "C"),
        ("TERM", "xterm"),
        ("COLORTERM", "24bit"),
    ];
    check(&passed, &FIXED);
}

#[test]
fn what_the_pod_lets_through_is_kept() {
    let passed = [
        ("HOME", "/home/ada"),
        ("LANG", "de_DE.UTF-8"),
        ("TMPDIR", "/tmp/s"),
    ];
    let kept = [
        "HOME=/home/ada",
        "LANG=de_DE.UTF-8",
        "LC_ALL=C.UTF-8",
        "PATH=/usr/local/bin:/usr/bin:/bin",
        "TERM=dumb",
        "TMPDIR=/tmp/s",
    ];
    check(&passed, &kept);
}

#[test]
fn the_path_keeps_only_absolute_entries() {
    for (path, kept) in [
        ("/a/bin:.:/b::bin:~/c:/d", "PATH=/a/bin:/b:/d"),
        (".:", "PATH=/usr/local/bin:/usr/bin:/bin"),
        ("", "PATH=/usr/local/bin:/usr/bin:/bin"),
    ] {
        check(&[("PATH", path)], &["LC_ALL=C.UTF-8", kept, "TERM=dumb"]);
    }
}
