//! The names in the environment of a command: an assignment to one of them reaches programs.

use std::ffi::OsString;

use super::environment::settled;

/// What bash exports of its own accord.
const OF_BASH: [&str; 4] = ["OLDPWD", "PWD", "SHLVL", "_"];

/// The names of a usual environment: those that a pod lets through if its manifest does not say
/// more, and what is always there.
pub(crate) const USUAL_NAMES: [&str; 15] = [
    "HOME", "LANG", "LANGUAGE", "LC_ALL", "LOGNAME", "NO_COLOR", "OLDPWD", "PATH", "PWD", "SHELL",
    "SHLVL", "TERM", "TMPDIR", "TZ", "USER",
];

/// The names of the variables that a command finds. One that is not UTF-8 cannot be set.
pub(crate) fn names_of(passed: &[(OsString, OsString)]) -> Vec<String> {
    settled(passed)
        .iter()
        .filter_map(|(name, _)| name.to_str())
        .chain(OF_BASH)
        .map(str::to_owned)
        .collect()
}
