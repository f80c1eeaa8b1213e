//! What well-known programs do with their arguments, as data.
//!
//! Each file in `programs/` holds one family, a line at a time; `#` begins a comment.
//!
//! ```text
//! program NAME…        begins a program and its other names; a trailing `*` matches any rest
//! sub NAME [NAME] | …  begins a subcommand, or several that are alike; `A B` is B below A
//! operands ROLE…       what the operands are; `ROLE...` stands for any number of them
//! with OPTION… : ROLE… the same if one of these options is given
//! given OPTION… : ROLE OPTION…  what options are if one of the first is given
//! style WORD…          how the arguments are read, see [`Style`]
//! wrapper KIND         `neutral`, `kept`, `runner` or `remote`: an operand of role `command` is run
//! always ROLE          it happens whatever the arguments are; `always ROLE unless OPTION…`
//! special NAME         read further by code of this crate
//! keys OPTION… : KEY…  they are what they are for `KEY=…` or `KEY …`, else data; `operand`
//!                      stands for operands of role `code`; `*TEXT` for any value that holds it
//! harmless OPTION… : KEY…  they are data for `KEY=…`, the rest of the key open behind a last `.`
//! runs NAME…           files that are run, whatever their role is: the values of these options, operands
//!                      that end so (`*.py`), or operands that look like a path (`paths`)
//! ROLE OPTION…         options; `-o=` takes a value, `-o[]` an attached one or none, `-o*` any rest,
//!                      `-o==` a name and a value, `-o[0]` digits or none
//! ```
//!
//! Options that stand before the first `sub` are global. A subcommand has its own options and
//! falls back to the global ones.

mod added;
mod parse;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::LazyLock;

pub use added::{AddedPrograms, ProgramProblem};
pub(crate) use parse::Problem;

/// The families, each with its file's name.
const FAMILIES: &[(&str, &str)] = &[
    ("archives", include_str!("../programs/archives.txt")),
    ("clouds", include_str!("../programs/clouds.txt")),
    ("containers", include_str!("../programs/containers.txt")),
    ("coreutils", include_str!("../programs/coreutils.txt")),
    ("databases", include_str!("../programs/databases.txt")),
    ("editors", include_str!("../programs/editors.txt")),
    ("forges", include_str!("../programs/forges.txt")),
    ("git", include_str!("../programs/git.txt")),
    ("go", include_str!("../programs/go.txt")),
    ("java", include_str!("../programs/java.txt")),
    ("javascript", include_str!("../programs/javascript.txt")),
    ("native", include_str!("../programs/native.txt")),
    ("network", include_str!("../programs/network.txt")),
    ("packages", include_str!("../programs/packages.txt")),
    ("python", include_str!("../programs/python.txt")),
    ("rust", include_str!("../programs/rust.txt")),
    ("scripting", include_str!("../programs/scripting.txt")),
    ("search", include_str!("../programs/search.txt")),
    ("system", include_str!("../programs/system.txt")),
    ("text", include_str!("../programs/text.txt")),
    ("wrappers", include_str!("../programs/wrappers.txt")),
];

/// All programs that have a model.
#[derive(Debug, Default)]
pub(crate) struct Programs<'t> {
    models: Vec<Model<'t>>,
    by_name: HashMap<&'t str, usize>,
    by_prefix: Vec<(&'t str, usize)>,
    pub(crate) problems: Vec<Problem<'t>>,
}

/// The models that come with podward. A test shows that they have no problems.
pub(crate) static PROGRAMS: LazyLock<Programs<'static>> = LazyLock::new(|| {
    let mut programs = Programs::default();
    for (_, text) in FAMILIES {
        parse::family(text, &mut programs);
    }
    programs
});

/// The names of the programs that have a model, sorted.
#[must_use]
pub fn program_names() -> Vec<&'static str> {
    let mut names: Vec<&'static str> = PROGRAMS.names().collect();
    names.sort_unstable();
    names
}

/// The first words of a program's subcommands, sorted; none if it has no model.
#[must_use]
pub fn subcommand_names(program: &str) -> Vec<&'static str> {
    let model = PROGRAMS.get(program);
    let subs = model.into_iter().flat_map(|model| &model.subs);
    let mut names: Vec<&'static str> = subs
        .filter_map(|(words, _)| words.first().copied())
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

impl<'t> Programs<'t> {
    /// The names of all programs that have a model of their own, in no order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'t str> {
        self.by_name.keys().copied()
    }

    /// The model of a program, by the last part of its path.
    pub(crate) fn get(&self, name: &str) -> Option<&Model<'t>> {
        let idx = self.by_name.get(name).copied().or_else(|| {
            self.by_prefix
                .iter()
                .find(|(prefix, _)| name.starts_with(prefix))
                .map(|(_, idx)| *idx)
        })?;
        self.models.get(idx)
    }
}

/// What one program does.
#[derive(Debug, Default)]
pub(crate) struct Model<'t> {
    pub(crate) root: Body<'t>,
    /// Subcommands by their words.
    pub(crate) subs: Vec<(Vec<&'t str>, usize)>,
    pub(crate) bodies: Vec<Body<'t>>,
    pub(crate) wrapper: Option<Wrapper>,
}

/// What a program, or one of its subcommands, does with its arguments.
#[derive(Debug, Default)]
pub(crate) struct Body<'t> {
    pub(crate) options: Vec<Opt<'t>>,
    pub(crate) operands: Vec<Operand>,
    pub(crate) with: Vec<(Vec<&'t str>, Vec<Operand>)>,
    pub(crate) given: Vec<Given<'t>>,
    /// Options that have an effect only for some keys, in lower case.
    pub(crate) keys: Vec<(Vec<&'t str>, Vec<&'t str>)>,
    /// Options that run nothing for some keys, in lower case.
    pub(crate) harmless: Vec<(Vec<&'t str>, Vec<&'t str>)>,
    /// What happens, unless one of these options is given.
    pub(crate) always: Vec<(Role, Vec<&'t str>)>,
    /// It takes commands that run others from its input, unless one of these options is given.
    pub(crate) told: Option<Vec<&'t str>>,
    pub(crate) runs: Vec<Runs<'t>>,
    pub(crate) special: Option<Special>,
    pub(crate) style: Style,
    pub(crate) wrapper: Option<Wrapper>,
}

/// What some options are, if one of others is given.
#[derive(Debug)]
pub(crate) struct Given<'t> {
    pub(crate) if_any: Vec<&'t str>,
    pub(crate) role: Role,
    pub(crate) options: Vec<&'t str>,
}

/// What names files that are run, whatever their role is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Runs<'t> {
    /// The value of this option.
    Option(&'t str),
    /// An operand that ends so.
    Ending(&'t str),
    /// An operand that looks like a path.
    Path,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Opt<'t> {
    pub(crate) name: &'t str,
    pub(crate) arity: Arity,
    pub(crate) role: Role,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arity {
    None,
    /// The rest of the word, or the next word.
    Required,
    /// The next two words; the second one counts.
    Pair,
    /// The rest of the word, if there is one.
    Attached,
    /// Digits of the rest of the word, if there are any.
    Digits,
    /// A name that only begins so: the rest of the word belongs to it.
    Prefix,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Operand {
    pub(crate) role: Role,
    pub(crate) repeated: bool,
}

/// How arguments are read.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Style {
    /// Only options with an effect are listed: others are data.
    pub(crate) open: bool,
    /// Options end at the first operand.
    pub(crate) stops: bool,
    /// A long option has one dash (`find -name`).
    pub(crate) single_dash: bool,
    /// There, a value may follow its option in the same word (`gcc -ofile`).
    pub(crate) joined: bool,
    /// Global options stand before the subcommand only.
    pub(crate) globals_first: bool,
    /// `-5` and `+5` are options.
    pub(crate) numeric: bool,
    /// The first word may be a cluster of options without a dash (`tar xf`).
    pub(crate) bundle: bool,
    /// Without operands, or for `-`, the program runs what it reads from its input.
    pub(crate) runs_input: bool,
    /// The program takes commands that run others from a person or from its input, and nothing tells
    /// here which.
    pub(crate) dialogue: bool,
    /// Operands of the form `host:path` lie on another machine.
    pub(crate) hosts: bool,
    /// Operands are names of tasks: options in front of the first are global.
    pub(crate) tasks: bool,
    /// `name=value` operands are data.
    pub(crate) assigns: bool,
    /// `@file` stands for further arguments that the file holds.
    pub(crate) responses: bool,
}

/// What becomes of a value or an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Role {
    /// Nothing that rules judge.
    Data,
    /// A file that is read.
    Read,
    /// A URL that is fetched.
    Fetch,
    /// A file that is read, or a URL that is fetched.
    ReadOrFetch,
    /// A URL that is fetched, or no more than a name.
    Url,
    /// Text that names a file to read behind an `@`.
    AtFile,
    /// `name=PATH`, or a path: a file that is read.
    NamedFile,
    /// `name=PATH`, or a path: a file that is written by an option.
    NamedOutput,
    /// A program text of a language like awk's, or a file that is read.
    ProgramOrFile,
    /// The value of curl's `--cookie`: a file that is read, if it holds no `=`.
    Cookie,
    /// The value of curl's `--write-out`: it may name files to write.
    WriteOut,
    /// What stands on a command line of HTTPie: a method, a URL, or what is sent.
    HttpItem,
    /// `revision:PATH` of git, or a word that looks like a path: a file that is read.
    RevisionFile,
    /// A word that looks like a path: a file that git brings back. Behind `--` every word is one.
    Restored,
    /// `PATH:…` or `…source=PATH…` of a container: a place of this machine that is written.
    Mount,
    /// The base of later relative paths.
    Chdir,
    /// A file that is written, changed or deleted as the program's purpose.
    Write,
    /// Files below a directory whose names are not known are written; without a value, below the
    /// current one.
    Below,
    /// A file that is read and removed, or moved.
    Move,
    /// A file that is written by an option.
    Output,
    /// The operands are changed in place or deleted.
    InPlace,
    /// A script of sed.
    Sed,
    /// A program text of awk.
    Awk,
    /// A script's name: run, but not unknown.
    Script,
    /// Literal code of an interpreter: its text is all that is known.
    Inline,
    /// A shell text that is run here.
    Shell,
    /// A shell text that is run here; several of them are not one text.
    ShellText,
    /// A shell text that another machine runs.
    RemoteShell,
    /// The rest is a command that is run.
    Command,
    /// The rest is a module of Python with its arguments.
    Module,
    /// A command up to `;` or `+`.
    CommandUntil,
    /// Code that is loaded, or a program that is run.
    Code,
    /// The same, as a shell text or command that deny rules can see.
    Exec,
}

/// What a program that runs another one means for the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrapper {
    /// Needs no rule of its own.
    Neutral,
    /// An operation next to the inner command.
    Kept,
    /// The inner command runs here, under a runner of which rules speak: it needs no allow.
    Runner,
    /// The inner command runs elsewhere: it needs no allow.
    Remote,
}

impl Wrapper {
    /// Whether the inner command needs no allow of its own.
    pub(crate) const fn speaks_for_inner(self) -> bool {
        matches!(self, Self::Runner | Self::Remote)
    }
}

/// Arguments that data cannot describe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Special {
    /// `if=…`, `of=…`.
    Dd,
    /// Assignments in front of the command.
    Env,
    /// Options of find that change what it works on.
    Find,
    /// Keys that name programs.
    GitConfig,
    /// Arguments are appended to the inner command.
    Xargs,
    /// `-c`, a script, or input.
    Shell,
    /// Remote shell text in the operands after the first.
    Ssh,
    /// Lists of values behind `:::`.
    Parallel,
    /// The archive is read or written, by the mode.
    Tar,
}
