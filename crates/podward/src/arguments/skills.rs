//! The command line of `podward skills`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::pods::POD;
use super::{Format, Layers};

#[derive(Debug, Args)]
#[command(after_long_help = SKILLS_HELP)]
pub(crate) struct Skills {
    #[command(subcommand)]
    pub(crate) command: SkillsCommand,
}

const SKILLS_HELP: &str = "\
A skill is a directory `<name>/` with a `SKILL.md`: a header, and instructions for the model.
`allowed-tools` and `disallowed-tools` in the header restrict what an agent may do while the skill
runs. They never grant anything: the rules of the manifest hold beside them. A skill starts with
`/name` at the beginning of a prompt, with `--skill`, or when the model calls its tool `skill`; it
ends with its turn, or by `podward skills end`.

Examples:
  podward skills list --manifest pod.toml
  podward skills show release --manifest pod.toml
  podward skills lint skills/release
  podward skills lint .claude/skills --manifest pod.toml
  podward skills end my-pod release

Exit codes: 0 done, 1 a skill has errors (lint), 64 usage or no such skill, 78 bad manifest.";

#[derive(Debug, Subcommand)]
pub(crate) enum SkillsCommand {
    /// List the skills of `[skills] directories`
    List(SkillsList),
    /// Show one of them: what it says of itself, and the rules that its lists come to
    Show(SkillsShow),
    /// Check skills before any run: format, names of tools, lists that say too much or nothing
    Lint(SkillsLint),
    /// End a skill that is active in a pod: what it restricts is free again
    End(SkillsEnd),
}

#[derive(Debug, Args)]
pub(crate) struct SkillsList {
    #[command(flatten)]
    pub(crate) manifest: SkillsManifest,

    /// How to print
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct SkillsShow {
    /// The skill's name
    pub(crate) name: String,

    #[command(flatten)]
    pub(crate) manifest: SkillsManifest,

    /// How to print
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct SkillsLint {
    /// A skill's directory or its `SKILL.md`, or a directory that holds skills
    #[arg(value_name = "DIR", required = true)]
    pub(crate) directories: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) manifest: SkillsManifest,

    /// How to print; JSON has a line for each finding
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct SkillsEnd {
    #[arg(help = POD)]
    pub(crate) pod: String,

    /// The skill's name
    pub(crate) name: String,
}

/// Whose skills, and whose rules.
#[derive(Debug, Args)]
pub(crate) struct SkillsManifest {
    /// The pod's manifest; without it, the layers of the machine, the user and the project alone
    #[arg(long, value_name = "FILE")]
    pub(crate) manifest: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) layers: Layers,
}
