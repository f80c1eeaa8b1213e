//! All that CI checks, cheapest first; the tests are last, so that their counts end the output.

use crate::chores::{Outcome, cargo, root, run};
use crate::{generated, tidy};

/// README's test command, without `cargo`.
pub(crate) const TEST_COMMAND: &[&str] = &["test", "--workspace"];

/// Runs every step.
///
/// # Errors
/// The first step that fails.
pub(crate) fn run_all() -> Outcome {
    // The lock file must fit before anything else may write it.
    let mut locked = cargo(&["fetch", "--locked"])?;
    run("cargo fetch --locked", &mut locked)?;
    run(
        "cargo fmt --check",
        &mut cargo(&["fmt", "--all", "--check"])?,
    )?;
    let fuzz_fmt = ["fmt", "--check", "--manifest-path", "fuzz/Cargo.toml"];
    run("cargo fmt --check of fuzz", &mut cargo(&fuzz_fmt)?)?;
    tidy::run()?;
    let clippy: &[&str] = &[
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "--deny",
        "warnings",
    ];
    run("cargo clippy", &mut cargo(clippy)?)?;
    let mut doc = cargo(&[
        "doc",
        "--workspace",
        "--no-deps",
        "--document-private-items",
    ])?;
    run("cargo doc", doc.env("RUSTDOCFLAGS", "--deny warnings"))?;
    generated::check()?;
    fuzz_corpus()?;
    run(
        &format!("cargo {}", TEST_COMMAND.join(" ")),
        &mut cargo(TEST_COMMAND)?,
    )
}

/// Runs the entry points of the fuzz targets over their corpus, without a fuzzer.
fn fuzz_corpus() -> Outcome {
    let root = root()?;
    let mut test = cargo(&["test", "--locked", "--manifest-path", "fuzz/Cargo.toml"])?;
    if std::env::var_os("CARGO_TARGET_DIR").is_none() {
        // Its own workspace, the same dependencies: built once.
        test.env("CARGO_TARGET_DIR", root.join("target"));
    }
    run("fuzz entry points over the corpus", &mut test)
}
