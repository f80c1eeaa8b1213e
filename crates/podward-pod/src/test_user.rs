//! Runs a test as a user who is not root.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

/// A user and a group that own nothing.
pub(crate) const OTHER_ID: u32 = 65534;

/// Root sees no file rights: a test of them runs again, by its full name, as another user.
///
/// Returns whether that happened (and the test passed there); otherwise this process is that of an
/// ordinary user and the test goes on here. It never skips a test.
pub(crate) fn as_ordinary_user(test: &str) -> bool {
    if !rustix::process::geteuid().is_root() {
        return false;
    }
    // The test program may lie where the other user cannot go.
    let directory = tempfile::tempdir().unwrap();
    std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let program = directory.path().join("test");
    // Copied by another process: a descriptor open for writing would go on to what other tests
    // start at this moment, and a program that is open for writing cannot be run.
    let copied = Command::new("install")
        .args([&std::env::current_exe().unwrap(), &program])
        .status();
    assert!(copied.unwrap().success());
    let output = Command::new("setpriv")
        .arg(format!("--reuid={OTHER_ID}"))
        .arg(format!("--regid={OTHER_ID}"))
        .arg("--clear-groups")
        .arg(&program)
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env_clear()
        .current_dir("/")
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stdout}{stderr}");
    assert!(
        stdout.contains("1 passed"),
        "`{test}` is not this test's name:\n{stdout}"
    );
    true
}
