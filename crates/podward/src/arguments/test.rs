//! The command line of `test`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(after_long_help = TEST_HELP)]
pub(crate) struct Test {
    /// Manifests and other layers (TOML), and files of cases (`.jsonl`, as `check --cases` reads them)
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// How to print
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: TestFormat,
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TestFormat {
    /// What failed, for people
    Text,
    /// A line a test
    Json,
    /// XML that build servers read
    Junit,
}

const TEST_HELP: &str = "\
Nothing runs and no file is changed. Tests stand beside the rules:

  [[permissions.rule]]
  tool = \"bash\"
  pattern = \"git push *\"
  action = \"ask\"
  examples = { ask = [\"git push\", \"git push -f\"], allow = [\"git pull\"] }

  [[permissions.test]]
  tool = \"read\"
  text = \".env\"
  expect = \"deny\"

Each is judged by the whole list of its own file, in a workspace /home/user/project of the home
/home/user: what is on this machine has no say. Relative paths start at the workspace, or where the
`cwd` of a test says. A layer with a test that fails does not load.

Examples:
  podward test pod.toml .podward/pod.toml
  podward test --format junit manifests/*.toml tests/cases/*.jsonl > report.xml

Exit codes: 0 all passed, 1 a test failed, 64 usage, 78 a layer does not load.";
