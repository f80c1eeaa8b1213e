//! The command line.

mod explain;
mod grants;
mod lint;
mod pods;
mod skills;
mod test;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) use self::explain::Explain;
pub(crate) use self::grants::{Grants, GrantsCommand, GrantsExplain, GrantsList, GrantsRevoke};
pub(crate) use self::lint::{Lint, LintFormat};
pub(crate) use self::pods::{Attach, Cancel, Pending, Pods, Reply, ReplyAnswer, Send, Serve, Stop};
pub(crate) use self::skills::{
    Skills, SkillsCommand, SkillsEnd, SkillsLint, SkillsList, SkillsManifest, SkillsShow,
};

pub(crate) use self::test::{Test, TestFormat};
use crate::failure::Failure;

/// A permission layer and runtime for AI agents.
#[derive(Debug, Parser)]
#[command(
    name = "podward",
    version,
    about = "Run an AI agent whose every tool call is judged by rules",
    long_about = LONG_ABOUT,
    after_long_help = AFTER_HELP,
    max_term_width = 100,
    propagate_version = true,
    disable_help_subcommand = true
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,

    #[command(flatten)]
    pub(crate) general: General,
}

const LONG_ABOUT: &str = "\
Run an AI agent whose every tool call is judged by rules.

A pod is one agent, made from a TOML manifest: a model, tools, a workspace and `[permissions]`. \
Each call of a tool is judged before it runs. A refused call is an error result that the model \
reads; the agent goes on.";

const AFTER_HELP: &str = "\
Examples:
  Watch a scripted agent be refused and finish another way (no key, no network):
      podward run manifests/demo.toml

  Would this command run?
      podward check --manifest pod.toml --tool bash --input '{\"command\":\"rm -rf build\"}'

  Which rules were tried, and what would change it?
      podward explain --manifest pod.toml --tool bash --input '{\"command\":\"rm -rf build\"}'

  Where does each setting come from?
      podward manifest pod.toml

Layers, outermost first; the strictest verdict over all of them wins:
  /etc/podward/pod.toml, $XDG_CONFIG_HOME/podward/pod.toml, .podward/pod.toml of the workspace,
  the manifest, --permissions FILE, $PODWARD_PERMISSIONS (TOML text).

Exit codes: 0 done, 1 failed, 2 deny and 3 ask (check), 4 already settled (reply), 10 done with
  refused calls (run, send --wait), 64 usage, 78 bad manifest, 130 SIGINT, 143 SIGTERM.";

/// Options of every command.
#[derive(Debug, Args)]
pub(crate) struct General {
    /// When to colour what is written
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        help_heading = "General options"
    )]
    pub(crate) color: ColorWhen,

    /// What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)
    ///
    /// Diagnostics of podward itself, on standard error unless --log-file names a file. Not the
    /// decision log, which is always written. Takes precedence over PODWARD_LOG.
    #[arg(
        long,
        global = true,
        value_name = "FILTER",
        help_heading = "General options"
    )]
    pub(crate) log: Option<String>,

    /// Append diagnostics to this file instead of standard error, as JSON lines
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        help_heading = "General options"
    )]
    pub(crate) log_file: Option<PathBuf>,
}

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// What to print.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Text,
    /// For programs
    Json,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run an agent on a prompt
    Run(Run),
    /// Keep a pod that takes prompts and answers on its socket
    Serve(Serve),
    /// Show what pods do on a full screen, and answer what they ask
    Attach(Attach),
    /// Give a served pod a prompt
    Send(Send),
    /// Cancel what a pod is doing; it waits for the next prompt
    Cancel(Cancel),
    /// Stop a pod
    Stop(Stop),
    /// List the pods that run
    Pods(Pods),
    /// Show what pods ask
    Pending(Pending),
    /// Answer what a pod asks
    Reply(Reply),
    /// Judge a call, or files of cases, without running anything
    Check(Check),
    /// Explain a verdict: every rule that was tried, and what would change it
    Explain(Explain),
    /// Find rules that do not do what their author means
    Lint(Lint),
    /// Run the tests beside rules, and files of cases
    Test(Test),
    /// List the tools: which are offered to the model, and why not
    Tools(Tools),
    /// Print the manifest that results from all layers, every line with its origin
    Manifest(Manifest),
    /// Trust what a project's .podward/ sets, as it is now
    Trust(Trust),
    /// Show and take back what was approved for more than one call
    Grants(Grants),
    /// List, show or check skills, and the tools that they restrict an agent to
    Skills(Skills),
    /// Bring back what a call changed in the workspace
    Undo(Undo),
    /// Print a shell's completions
    #[command(after_help = COMPLETIONS_HELP)]
    Completions(Completions),
    /// Be the child of a pod: for pods to start
    #[command(hide = true)]
    Child,
    /// Print a man page
    #[command(hide = true)]
    Man(Man),
    /// Print the JSON Schema of what other programs read or write
    #[command(hide = true)]
    Schema(Schema),
}

const COMPLETIONS_HELP: &str = "\
Example:
  podward completions bash > ~/.local/share/bash-completion/completions/podward";

/// Options of the commands that read layers of rules.
#[derive(Debug, Args)]
pub(crate) struct Layers {
    /// One more layer of rules, which can only tighten: a TOML file that holds `[permissions]`
    #[arg(long, value_name = "FILE")]
    pub(crate) permissions: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_long_help = RUN_HELP)]
pub(crate) struct Run {
    /// The pod's manifest
    pub(crate) manifest: PathBuf,

    /// What the agent shall do; read from standard input if it is absent or `-`
    ///
    /// An embedded script (`script = "demo"`) brings a prompt of its own.
    pub(crate) prompt: Option<String>,

    /// What to write to standard output: the model's text, or every event as a line of JSON
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,

    /// Go on with an earlier session: its id, or a beginning that no other session shares
    ///
    /// The line `session` at the start of a run shows the id. It begins with the time, so sessions
    /// of one day share their first letters.
    /// Also after a crash: a call that was cut off gets an error result that says so, and is not
    /// run again. Without a prompt the turn that was cut off is finished.
    #[arg(long, value_name = "ID")]
    pub(crate) resume: Option<String>,

    /// Start this skill with the prompt, which may then be absent: `/NAME` before the prompt is the same
    ///
    /// What its `allowed-tools` does not list is refused until the turn is done, whatever the rules say.
    #[arg(long, value_name = "NAME")]
    pub(crate) skill: Option<String>,

    /// Answer what would be asked about with yes, once each; `all`: also what cannot be known before
    ///
    /// A deny stays a deny. `known` does not answer where a part that is asked about is not known
    /// before it runs: code that a shell gets from elsewhere, a word whose value is not known, and
    /// whatever a deny rule might match. With nobody else to answer that is refused; `all` answers it
    /// too. Each answer is in the decision log as `auto`. A layer can forbid it:
    /// `[permissions] auto = "forbid"`.
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

/// What stands on the command line as something else than it looks like: the word behind `--auto` would be
/// the prompt.
pub(crate) fn misread(line: impl Iterator<Item = OsString>) -> Option<Failure> {
    let words: Vec<OsString> = line.take_while(|word| word != "--").collect();
    let is_misread = |two: &[OsString]| matches!(two, [auto, word] if auto == "--auto" && (word == "all" || word == "known"));
    words.windows(2).any(is_misread).then(|| Failure::Usage {
        message: "what `--auto` answers does not stand behind it".to_owned(),
        help: "write `--auto=all` or `--auto=known`; a prompt of that word stands behind `--`",
    })
}

/// What is answered with yes without a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Auto {
    /// What is known before it runs
    Known,
    /// Also what is not
    All,
}

const RUN_HELP: &str = "\
The model's text goes to standard output; calls, verdicts and messages go to standard error. A call
that is denied is refused: the model reads why and goes on.

A call that the rules ask about waits for your answer if standard input and standard error are a
terminal and CI is not set; Enter alone is never a yes. Otherwise nobody is asked: the call is
refused, and standard error lists the rule that would allow it.

Examples:
  podward run manifests/demo.toml
  podward run pod.toml \"make the tests pass\"
  git diff | podward run review.toml > review.md
  podward run --format json pod.toml \"…\" | jq -r 'select(.event == \"tool_call_verdict\")'
  podward run --resume 01M8MVW75 pod.toml \"now the docs\"
  podward run --auto pod.toml \"…\" < /dev/null
  podward run pod.toml \"/review the last commit\"

SIGINT and SIGTERM stop the agent: running commands are killed, results written. A second signal
exits at once; the session can still be resumed.

Exit codes: 0 done, 10 done with refused calls, 1 failed, 64 usage, 78 bad manifest,
  130 SIGINT, 143 SIGTERM.";

#[derive(Debug, Args)]
#[command(
    override_usage = "podward check [OPTIONS] --manifest <FILE> --tool <NAME> --input <JSON>\n       \
                      podward check [OPTIONS] --cases <FILE>...",
    after_long_help = CHECK_HELP
)]
pub(crate) struct Check {
    /// The manifest whose rules judge; only `[permissions]` is needed
    #[arg(long, value_name = "FILE", required_unless_present = "cases", requires_all = ["tool", "input"])]
    pub(crate) manifest: Option<PathBuf>,

    /// The tool's name
    #[arg(long, value_name = "NAME", requires = "manifest")]
    pub(crate) tool: Option<String>,

    /// The call's arguments: a JSON object
    #[arg(long, value_name = "JSON", requires = "manifest")]
    pub(crate) input: Option<String>,

    /// Judge by this manifest alone: no other layer is read, no symlink resolved
    #[arg(long, requires = "manifest", conflicts_with = "permissions")]
    pub(crate) isolated: bool,

    /// The workspace that paths are relative to; the manifest's own, or the current directory
    #[arg(long, value_name = "DIR", requires = "manifest")]
    pub(crate) workspace: Option<PathBuf>,

    /// Judge the cases of these JSON Lines files, each with a manifest of its own, always isolated
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["manifest", "permissions"])]
    pub(crate) cases: Vec<PathBuf>,

    /// How to print
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,

    #[command(flatten)]
    pub(crate) layers: Layers,
}

const CHECK_HELP: &str = "\
Nothing runs and no file is changed.

Examples:
  podward check --manifest pod.toml --tool bash --input '{\"command\":\"git push\"}'
  podward check --manifest pod.toml --tool read --input '{\"path\":\".env\"}' --format json
  podward check --cases tests/cases/*.jsonl

Arguments of the tools: bash has `command`; read, file_write, file_edit, list have `path`; grep and
glob have `pattern`, `path`; web_fetch has `url`. `podward tools --format json` shows them in full.

A case is a line {\"id\",\"manifest\",\"tool\",\"input\",\"cwd\",\"expect\",\"why\",\"source\"}:
`manifest` is TOML text, `cwd` where relative paths start if not in the workspace
/home/user/project, `expect` a list of the verdicts that are right. The last line is
`N passed, M failed`.

Exit codes: 0 allow, 2 deny, 3 ask; with --cases 0 if all passed, 1 if not; 64 usage,
  78 bad manifest.";

#[derive(Debug, Args)]
pub(crate) struct Tools {
    /// The pod's manifest; without it, all built-in tools
    pub(crate) manifest: Option<PathBuf>,

    /// How to print; JSON has each tool's schema
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,

    #[command(flatten)]
    pub(crate) layers: Layers,
}

#[derive(Debug, Args)]
pub(crate) struct Manifest {
    /// The pod's manifest
    pub(crate) manifest: PathBuf,

    #[command(flatten)]
    pub(crate) layers: Layers,
}

#[derive(Debug, Args)]
#[command(after_long_help = TRUST_HELP)]
pub(crate) struct Trust {
    /// The project's directory, which holds .podward/
    pub(crate) directory: PathBuf,

    /// Forget that the project was trusted
    #[arg(long)]
    pub(crate) revoke: bool,
}

const TRUST_HELP: &str = "\
A project's .podward/pod.toml comes with the project, so it may only tighten: rules, denied
directories, smaller limits, fewer tools. For that it needs no trust. `trust` shows the file and
records its digest; from then on it may set the rest too, until a byte of it changes.

Examples:
  podward trust .
  podward trust --revoke .";

#[derive(Debug, Args)]
#[command(after_long_help = UNDO_HELP)]
pub(crate) struct Undo {
    /// The session: its id, or a beginning that no other session shares
    pub(crate) session: String,

    /// The call, by its id or a beginning of it, or an undo such as `undo:7`
    ///
    /// Without it, the last call that is not undone: one more step back each time.
    #[arg(conflicts_with = "list")]
    pub(crate) call: Option<String>,

    /// Show what calls changed, and which are undone; change nothing
    #[arg(long, conflicts_with_all = ["force", "dry_run"])]
    pub(crate) list: bool,

    /// Show what would be done; the workspace is not changed
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Also overwrite what has changed since; it is kept, so that this can be undone too
    #[arg(long)]
    pub(crate) force: bool,
}

const UNDO_HELP: &str = "\
Before a permitted call of file_write, file_edit or bash changes something in the workspace, what is
there is kept: `[undo]` in the manifest says how much and how long. Calls that ran at the same time
are undone together. What has changed since is never overwritten without --force: the undo refuses
as a whole and names it, and the later calls to undo first.

An undo is a change too: `undo:7` is undone by its name. One that was cut off is finished by the
next.

Examples:
  podward undo 01M8MVW75 --list
  podward undo 01M8MVW75
  podward undo 01M8MVW75 toolu_01A --dry-run
  podward undo 01M8MVW75 undo:7

Exit codes: 0 done, 1 refused, or something could not be brought back, 64 usage.";

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct Schema {
    /// Of what
    #[arg(default_value = "event")]
    pub(crate) of: SchemaOf,
}

/// What there is a JSON Schema of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaOf {
    /// An event line of `run --format json` and of a pod's socket
    Event,
    /// A request to a pod's socket
    Method,
    /// A pod's response to a request
    Response,
    /// A manifest, for editors of TOML
    Manifest,
    /// What `explain --format json` prints of a call that is made up
    Explanation,
    /// What `explain --format json` prints of a call of a session
    ExplainedCall,
    /// What the program of a hook reads
    HookInput,
    /// What the program of a hook writes
    HookOutput,
}

#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Print the names of all pages
    #[arg(long, conflicts_with = "page")]
    pub(crate) list: bool,

    /// The page
    #[arg(default_value = "podward")]
    pub(crate) page: String,
}

#[cfg(test)]
mod tests;
