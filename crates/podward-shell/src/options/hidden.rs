//! Words that are not known where an option may stand: each may be any option of the program.

use super::Reading;
use crate::arg::{Arg, Part, Source};
use crate::programs::{Arity, Opt, Role};

/// What an option may do that nobody sees in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum HiddenOption {
    /// It writes or deletes files.
    Writes,
    /// It runs a program or loads code.
    Runs,
}

impl HiddenOption {
    fn of(role: Role) -> Option<Self> {
        match role {
            Role::Data
            | Role::Read
            | Role::Fetch
            | Role::ReadOrFetch
            | Role::Url
            | Role::AtFile
            | Role::NamedFile
            | Role::Cookie
            | Role::HttpItem
            | Role::RevisionFile
            | Role::Mount
            | Role::Chdir => None,
            Role::NamedOutput
            | Role::WriteOut
            | Role::Restored
            | Role::Write
            | Role::Below
            | Role::Move
            | Role::Output
            | Role::InPlace => Some(Self::Writes),
            Role::ProgramOrFile
            | Role::Sed
            | Role::Awk
            | Role::Script
            | Role::Inline
            | Role::Shell
            | Role::ShellText
            | Role::RemoteShell
            | Role::Command
            | Role::Module
            | Role::CommandUntil
            | Role::Code
            | Role::Exec => Some(Self::Runs),
        }
    }
}

/// Options that run a program only where others are given as well: sort compresses its temporary files,
/// of which there are none unless the input is larger than its buffer.
const NEED_OTHERS: &[&str] = &["--compress-program"];

impl<'t> Reading<'t, '_> {
    /// Notes what a word may do that may be an option.
    ///
    /// What runs a program counts where one word says which: `--upload-pack=…`, not `--ext-diff`, which
    /// runs what the configuration names. Global options are not looked at behind a subcommand, and
    /// options that run something for some values only (`keys`) neither.
    pub(super) fn hidden_option(&mut self, idx: usize, arg: &Arg) {
        if self.takes_command() || !may_be_option(arg) {
            return;
        }
        let prefix = arg.prefix();
        // `--re…` can only be an option that begins so.
        let may_be = |opt: &&Opt<'t>| !prefix.starts_with("--") || opt.name.starts_with(prefix);
        let worst = self
            .body
            .options
            .iter()
            .filter(may_be)
            .filter_map(|opt| self.worst_of(opt))
            .max();
        let Some(worst) = worst else {
            return;
        };
        if self.usage.hidden.is_none_or(|(_, known)| known < worst) {
            self.usage.hidden = Some((idx, worst));
        }
    }

    fn worst_of(&self, opt: &Opt<'t>) -> Option<HiddenOption> {
        let worst = HiddenOption::of(opt.role)?;
        let mut keys = self.body.keys.iter();
        let says_all = match opt.arity {
            Arity::Required | Arity::Attached | Arity::Prefix => true,
            // The program stands in the next words, or nowhere.
            Arity::None | Arity::Pair | Arity::Digits => false,
        };
        let is_harmless = worst == HiddenOption::Runs
            && (!says_all
                || NEED_OTHERS.contains(&opt.name)
                || keys.any(|(options, _)| options.contains(&opt.name)));
        (!is_harmless).then_some(worst)
    }
}

/// Whether a word may begin with a dash, or begins with one and goes on with what is not known.
fn may_be_option(arg: &Arg) -> bool {
    match arg.parts() {
        [Part::Hole(_, Source::Value), ..] => true,
        [Part::Known(dash), rest @ ..] => dash.starts_with('-') && !rest.is_empty(),
        [Part::Hole(..) | Part::Glob(_) | Part::Tilde(_), ..] | [] => false,
    }
}
