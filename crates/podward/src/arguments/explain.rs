//! The command line of `explain`.

use std::path::PathBuf;

use clap::Args;

use super::{Format, Layers};

#[derive(Debug, Args)]
#[command(
    override_usage = "podward explain [OPTIONS] --manifest <FILE> --tool <NAME> --input <JSON>\n       \
                      podward explain [OPTIONS] <CALL>",
    after_long_help = EXPLAIN_HELP
)]
pub(crate) struct Explain {
    /// A call of a session, or a question of `podward pending`: its id, or a beginning that no other
    /// call of the session shares
    #[arg(conflicts_with_all = ["tool", "input", "isolated", "workspace"])]
    pub(crate) call: Option<String>,

    /// The session: its id or a beginning of it; without it, the newest that has such a call
    #[arg(long, value_name = "SESSION", requires = "call")]
    pub(crate) session: Option<String>,

    /// The manifest whose rules judge; of a call of a session, instead of the one it ran with
    #[arg(long, value_name = "FILE", required_unless_present = "call")]
    pub(crate) manifest: Option<PathBuf>,

    /// The tool's name
    #[arg(
        long,
        value_name = "NAME",
        required_unless_present = "call",
        requires = "manifest"
    )]
    pub(crate) tool: Option<String>,

    /// The call's arguments: a JSON object
    #[arg(
        long,
        value_name = "JSON",
        required_unless_present = "call",
        requires = "manifest"
    )]
    pub(crate) input: Option<String>,

    /// Judge by this manifest alone: no other layer is read, no symlink resolved
    #[arg(long, requires = "manifest", conflicts_with = "permissions")]
    pub(crate) isolated: bool,

    /// The workspace that paths are relative to; the manifest's own, or the current directory
    #[arg(long, value_name = "DIR", requires = "manifest")]
    pub(crate) workspace: Option<PathBuf>,

    /// How to print
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,

    #[command(flatten)]
    pub(crate) layers: Layers,
}

const EXPLAIN_HELP: &str = "\
Nothing runs and no file is changed. The verdict is that of `podward check`, made by the same code.

For each operation of the call and each layer: every rule that was tried, in order, and why it did
not match; the rule that decided, with its place; rules behind it that come too late; the allow rule
that is nearest. Then the narrowest rules that would allow the call.

A call of a session is shown as the decision log has it, and judged anew by the rules of now: those
of the pod that runs the session, else the files of its layers, or --manifest. While the digest of
the rules is the same, that is what led to the decision.

Examples:
  podward explain --manifest pod.toml --tool bash --input '{\"command\":\"git push -f\"}'
  podward explain toolu_01A
  podward explain call-3 --session 01M8MVW75 --format json

Exit codes: 0 explained, whatever the verdict; 64 usage or no such call, 78 bad manifest.";
