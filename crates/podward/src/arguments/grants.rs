//! `podward grants`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Format;

#[derive(Debug, Args)]
pub(crate) struct Grants {
    #[command(subcommand)]
    pub(crate) command: GrantsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GrantsCommand {
    /// List what was approved for more than one call
    List(GrantsList),
    /// Take back what was approved
    Revoke(GrantsRevoke),
    /// Show what a grant covers, who gave it, when and why
    Explain(GrantsExplain),
}

#[derive(Debug, Args)]
#[command(after_long_help = LIST_HELP)]
pub(crate) struct GrantsList {
    /// Only the grants of this workspace; default: of all
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,

    /// How to print; JSON has a line for each grant
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}

const LIST_HELP: &str = "\
A grant is an answer `always`: it lets later calls run that would be asked about, if a person was
asked about the same by the same rule. It never lets run what a rule denies.

Examples:
  podward grants list
  podward grants list --workspace . --format json | jq -r .id";

#[derive(Debug, Args)]
#[command(after_long_help = REVOKE_HELP)]
pub(crate) struct GrantsRevoke {
    /// The grant: its id, or a beginning that no other grant shares
    #[arg(required_unless_present_any = ["all", "workspace"], conflicts_with = "all")]
    pub(crate) grant: Option<String>,

    /// All grants, and all lines of their files that cannot be read
    #[arg(long)]
    pub(crate) all: bool,

    /// With --all: only those of this workspace
    #[arg(long, value_name = "DIR", requires = "all", conflicts_with = "grant")]
    pub(crate) workspace: Option<PathBuf>,
}

const REVOKE_HELP: &str = "\
No running pod is needed. One that runs asks again from its next call on.

Examples:
  podward grants revoke 01M8MVW75
  podward grants revoke --all --workspace .";

#[derive(Debug, Args)]
pub(crate) struct GrantsExplain {
    /// The grant: its id, or a beginning that no other grant shares
    pub(crate) grant: String,

    /// How to print
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}
