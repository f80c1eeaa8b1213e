//! The command line of what serves pods and speaks to them.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{Auto, Format, Layers};

/// How a pod is named: completed by no shell, so said in full.
pub(super) const POD: &str =
    "The pod: its name, the beginning of its session's id, or the path of its socket";

#[derive(Debug, Args)]
#[command(after_long_help = SERVE_HELP)]
pub(crate) struct Serve {
    /// The pod's manifest
    pub(crate) manifest: PathBuf,

    /// What to write to standard output: the model's text, or every event as a line of JSON
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,

    /// Go on with an earlier session; without an ID, with the newest one of this manifest
    ///
    /// Questions that were open when it ended are put again, under the same ids.
    #[arg(long, value_name = "ID", num_args = 0..=1, default_missing_value = "")]
    pub(crate) resume: Option<String>,

    /// Answer what would be asked about with yes, once each; `all`: also what cannot be known before
    #[arg(
        long,
        value_name = "WHAT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "known"
    )]
    pub(crate) auto: Option<Auto>,

    #[command(flatten)]
    pub(crate) layers: Layers,
}

const SERVE_HELP: &str = "\
The pod waits for prompts on its socket until `podward stop`, SIGINT or SIGTERM. It stays in the
foreground; what it does is written as `podward run` writes it. What it asks is answered by clients:
`podward pending`, `podward reply`, or a `podward send --wait` at a terminal.

Examples:
  podward serve pod.toml &
  podward send my-pod \"make the tests pass\" --wait
  podward pending my-pod
  podward stop my-pod

Exit codes: 0 stopped, 1 failed, 64 usage, 78 bad manifest, 130 SIGINT, 143 SIGTERM.";

#[derive(Debug, Args)]
#[command(after_long_help = ATTACH_HELP)]
pub(crate) struct Attach {
    /// The pods: their names, beginnings of their sessions' ids, or paths of their sockets
    ///
    /// Without one, the pods that run are listed to choose from.
    #[arg(value_name = "POD")]
    pub(crate) pods: Vec<String>,

    /// Write lines instead of filling the screen, for screen readers and logs
    #[arg(long)]
    pub(crate) plain: bool,
}

const ATTACH_HELP: &str = "\
F1 shows all keys, in a question `?` does. A question that has just come takes no key until nothing is
typed for half a second; Enter and space never approve, and what is longer than the screen takes no yes
before all of it was shown. $XDG_CONFIG_HOME/podward/attach.toml gives keys of your own. With --plain, a line at
`prompt:` is a prompt, and Ctrl-D there leaves. Leaving stops no pod.

Examples:
  podward attach
  podward attach my-pod
  podward attach lead reviewer
  podward attach --plain my-pod

Exit codes: 0 left, 1 failed, 64 usage; with --plain also 130 SIGINT, 143 SIGTERM.";

#[derive(Debug, Args)]
#[command(after_long_help = SEND_HELP)]
pub(crate) struct Send {
    #[arg(help = POD)]
    pub(crate) pod: String,

    /// What the agent shall do; read from standard input if it is absent or `-`
    pub(crate) prompt: Option<String>,

    /// Start this skill with the prompt, which may then be absent: `/NAME` before the prompt is the same
    ///
    /// What its `allowed-tools` does not list is refused until the turn is done, whatever the rules say.
    #[arg(long, value_name = "NAME")]
    pub(crate) skill: Option<String>,

    /// Follow the turn to its end, as `podward run` does
    #[arg(long)]
    pub(crate) wait: bool,

    /// What to write to standard output while following
    #[arg(long, value_name = "FORMAT", default_value = "text", requires = "wait")]
    pub(crate) format: Format,
}

const SEND_HELP: &str = "\
Without --wait it ends as soon as the pod has taken the prompt. With --wait it writes what
`podward run` would, and at a terminal it asks in place. A signal ends the following, not the
turn: `podward cancel` does that.

Examples:
  podward send my-pod \"make the tests pass\"
  git diff | podward send reviewer --wait > review.md
  podward send my-pod --skill release \"version 1.2\"

Exit codes: 0 taken, or with --wait done; 10 done with refused calls; 1 failed; 64 usage;
  130 SIGINT, 143 SIGTERM.";

#[derive(Debug, Args)]
pub(crate) struct Cancel {
    #[arg(help = POD)]
    pub(crate) pod: String,
}

#[derive(Debug, Args)]
pub(crate) struct Stop {
    #[arg(help = POD)]
    pub(crate) pod: String,
}

#[derive(Debug, Args)]
pub(crate) struct Pods {
    /// How to print
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
#[command(after_long_help = PENDING_HELP)]
pub(crate) struct Pending {
    /// The pod: its name, the beginning of its session's id, or the path of its socket; default: all
    pub(crate) pod: Option<String>,

    /// How to print; JSON has one question a line, with its digest
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}

const PENDING_HELP: &str = "\
Each question is shown with commands that answer it.

Examples:
  podward pending
  podward pending my-pod --format json | jq -r '[.id, .digest, .tool] | @tsv'

Exit codes: 0 also if nothing is asked, 1 failed, 64 usage.";

/// The answer to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReplyAnswer {
    /// Run this call
    Once,
    /// Run this call, and what is like it from now on without asking
    Always,
    /// Do not run it
    Reject,
    /// Run it with other arguments, if the rules do not deny those
    Edit,
}

#[derive(Debug, Args)]
#[command(after_long_help = REPLY_HELP)]
pub(crate) struct Reply {
    #[arg(help = POD)]
    pub(crate) pod: String,

    /// The question, by its id in `podward pending`; `all`, to reject all that are open
    pub(crate) id: String,

    /// The answer
    pub(crate) answer: ReplyAnswer,

    /// The digest of the question that is answered, from `podward pending`
    ///
    /// It stands for the arguments, the directory and the rules as they were shown: an answer to
    /// anything else is refused.
    #[arg(long, value_name = "DIGEST")]
    pub(crate) digest: Option<String>,

    /// `reject`: what the model shall read, word for word
    #[arg(long, value_name = "TEXT")]
    pub(crate) feedback: Option<String>,

    /// `edit`: the new arguments, a JSON object; `-` reads it from standard input
    #[arg(long, value_name = "JSON")]
    pub(crate) arguments: Option<String>,

    /// `always`: which of the offered widths, 1 being the narrowest
    #[arg(long, value_name = "N", conflicts_with = "pattern", value_parser = clap::value_parser!(u8).range(1..=3))]
    pub(crate) width: Option<u8>,

    /// `always`: a pattern of your own; with `N=` in front where several parts of the call ask
    #[arg(long, value_name = "PATTERN")]
    pub(crate) pattern: Vec<String>,

    /// `always`: for how long; `session` (the default), `project`, a time, or a number of uses
    ///
    /// A time is one such as 2026-01-31T18:00:00Z, a number of uses one such as `5x`.
    #[arg(long = "for", value_name = "SPAN")]
    pub(crate) span: Option<String>,

    /// How to print what the answer settled
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}

const REPLY_HELP: &str = "\
The first answer counts. One that comes later is told who was faster.

Examples:
  podward reply my-pod call_3 once --digest 5f1c…
  podward reply my-pod call_3 always --digest 5f1c… --width 2 --for project
  podward reply my-pod call_3 always --digest 5f1c… --pattern 'git push origin *' --for 5x
  podward reply my-pod call_3 reject --digest 5f1c… --feedback 'push to a branch of your own'
  podward reply my-pod call_3 edit --digest 5f1c… --arguments '{\"command\":\"git push --dry-run\"}'
  podward reply my-pod all reject

Exit codes: 0 it counts, 4 it had been settled already, 1 failed or refused, 64 usage.";
