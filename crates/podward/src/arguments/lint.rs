//! The command line of `podward lint`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use podward_lint::Code;

use super::Layers;

#[derive(Debug, Args)]
#[command(after_long_help = LINT_HELP)]
pub(crate) struct Lint {
    /// The manifests whose rules are looked into, each with the layers around it
    #[arg(value_name = "MANIFEST", required = true)]
    pub(crate) manifests: Vec<PathBuf>,

    /// Look into these manifests alone: no other layer is read
    #[arg(long, conflicts_with = "permissions")]
    pub(crate) isolated: bool,

    /// Leave out findings of a kind; may be given several times
    #[arg(long = "allow", value_name = "CODE", value_parser = code)]
    pub(crate) allowed: Vec<Code>,

    /// How to print
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: LintFormat,

    #[command(flatten)]
    pub(crate) layers: Layers,
}

/// How findings are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LintFormat {
    /// For people
    Text,
    /// For programs: a line for each finding
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Commands of a GitHub workflow: annotations
    Github,
}

const LINT_HELP: &str = "\
Each finding has its rule underlined, why, what to do, and a witness: a call that the judge itself
decided by the rules of that layer. Nothing runs and no file is changed. `undecided` says that a
question was too costly; it is never taken for fine.

Kinds, from docs/lint.md: never-decides, hardly-decides, undecided, matches-nothing, quotes,
unknown-tool, deny-after-allow, runs-anything, flag-order, glued-star, path-for-bash, program-path;
as notes, which leave the exit code as it is: reaches-arguments, unanswered-ask.

Examples:
  podward lint pod.toml
  podward lint --isolated manifests/*.toml
  podward lint --format sarif pod.toml > lint.sarif
  podward lint --allow hardly-decides --format github pod.toml

Exit codes: 0 nothing, or notes only, 1 something was found, 64 usage, 78 bad manifest.";

fn code(word: &str) -> Result<Code, String> {
    let found = Code::ALL.iter().find(|code| code.as_str() == word);
    found.copied().ok_or_else(|| {
        let all: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
        format!("no finding has this code; the codes are {}", all.join(", "))
    })
}
