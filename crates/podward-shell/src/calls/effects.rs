//! What a program's options and operands do.

mod code;
mod files;
mod input;
mod tasks;
mod trees;
mod urls;

pub(crate) use trees::named_by_tests;

use podward_policy::OperationIdx;

use super::{Call, behind_key};
use crate::UNREAD_CODE;
use crate::arg::Arg;
use crate::operations::Access;
use crate::options::{Effect, Usage};
use crate::programs::{Role, Special};
use crate::walk::{Demand, Shell, Walker};

impl Walker<'_, '_> {
    pub(super) fn effects(
        &mut self,
        call: &Call<'_>,
        idx: OperationIdx,
        usage: &Usage<'_>,
        ends: &[usize],
    ) {
        let in_place = usage
            .effects
            .iter()
            .find(|effect| effect.role == Role::InPlace)
            .and_then(|effect| effect.option);
        let texts: Vec<Arg> = usage
            .effects
            .iter()
            .filter(|effect| effect.role == Role::Shell && effect.option.is_none())
            .filter_map(|effect| effect.value.clone())
            .collect();
        if !texts.is_empty() {
            let demand = call.demand.of_text();
            let entered = self.entered(usage);
            let bases = std::mem::replace(&mut self.bases, entered);
            self.joined_text(call, &texts, &demand, Shell::Child);
            self.bases = bases;
        }
        for effect in &usage.effects {
            self.effect(call, idx, effect, usage, ends);
            if effect.value.is_none() && matches!(effect.role, Role::Output | Role::Write) {
                self.unnamed_output(call, idx, usage, effect);
            }
            if let (Role::Read | Role::ProgramOrFile | Role::Move, None, Some(_), Some(value)) =
                (effect.role, effect.option, in_place, &effect.value)
            {
                self.use_path(call, idx, value, Access::Derived(Some(idx)));
            }
        }
        let is_fed = usage.effects.iter().any(|effect| {
            let is_file = matches!(effect.role, Role::Read | Role::ProgramOrFile | Role::Sed);
            effect.option.is_none() && (is_file || effect.role == Role::Script)
        });
        let is_everywhere = usage.special == Some(Special::Find) && usage.operands.is_empty()
            || usage.special.is_none() && !is_fed && usage.operands.is_empty();
        if in_place.is_some() && is_everywhere {
            let here = Arg::known_text(".", call.span);
            self.use_path(call, idx, &here, Access::Derived(Some(idx)));
        }
        self.files_in_target(call, idx, usage);
        self.installed_below(call, idx);
        self.outputs_of_script(call, idx, usage);
        self.trees(call, usage);
        if usage.runs_input {
            self.input(call, usage);
        }
        self.further_tasks(call, usage);
        self.commands_of_lines(call, usage);
        if usage.is_told {
            self.told(call);
        }
        self.escapes_of_input(call);
        let arguments = call.args.get(1..).unwrap_or_default();
        match usage.special {
            Some(Special::Dd) => self.dd(call, idx, arguments),
            Some(Special::Tar) => self.tar(call, idx, usage),
            Some(Special::GitConfig) => self.git_config(call, usage, arguments),
            Some(Special::Shell) => self.shell(call, usage, arguments),
            Some(Special::Ssh) => self.remote_input(call, usage),
            _ => {}
        }
        self.remote_helper(call);
    }

    fn effect(
        &mut self,
        call: &Call<'_>,
        idx: OperationIdx,
        effect: &Effect<'_>,
        usage: &Usage<'_>,
        ends: &[usize],
    ) {
        if effect.role == Role::CommandUntil && effect.range.is_some() {
            self.command_until(call, idx, effect, usage, ends);
            return;
        }
        let span = effect
            .value
            .as_ref()
            .and_then(|value| value.span)
            .or(call.span);
        let Some(value) = &effect.value else {
            if matches!(effect.role, Role::Code | Role::Exec) {
                self.runs_code(call, effect.option, span);
            }
            if effect.role == Role::Exec && effect.option.is_none() {
                self.hidden_commands(call);
            }
            if effect.role == Role::Below {
                self.below(call, idx, &Arg::known_text(".", call.span));
            }
            return;
        };
        match effect.role {
            Role::Data | Role::InPlace | Role::Command | Role::CommandUntil | Role::Module => {}
            Role::Read if effect.option.is_none() && files::shows_names_only(call) => {
                self.use_path(call, idx, value, Access::List);
                // The names may be those of files that the next command reads.
                if self.context.feeds {
                    self.use_path(call, idx, value, Access::Read);
                }
            }
            Role::Read
            | Role::Write
            | Role::Move
            | Role::Fetch
            | Role::ReadOrFetch
            | Role::Url
            | Role::AtFile
            | Role::NamedFile
            | Role::NamedOutput
            | Role::Cookie
            | Role::WriteOut
            | Role::HttpItem
            | Role::RevisionFile
            | Role::Restored
            | Role::Mount => self.use_place(call, idx, effect.role, value),
            Role::Below => self.below(call, idx, value),
            // `strace -o '|command'`, and others like it.
            Role::Output if value.prefix().starts_with(['|', '!']) => {
                self.runs_code(call, effect.option, span);
            }
            Role::Output => self.use_path(call, idx, value, Access::Derived(Some(idx))),
            Role::Chdir => self.chdir(call, value),
            Role::Code => self.runs_code(call, effect.option, span),
            // The operands of a text are joined, above.
            Role::Shell if effect.option.is_none() => {}
            role => self.text(call, idx, role, effect.option, value),
        }
    }

    /// What a value that is code, or names a file of code, does.
    fn text(
        &mut self,
        call: &Call<'_>,
        idx: OperationIdx,
        role: Role,
        option: Option<&str>,
        value: &Arg,
    ) {
        let span = value.span.or(call.span);
        match role {
            Role::Sed => self.sed(call, idx, value),
            Role::Awk => self.awk(call, idx, value),
            Role::ProgramOrFile => self.program_or_file(call, idx, value),
            Role::Script => self.script_file(call, idx, value),
            Role::Inline if option.is_some_and(|option| loads_file(option, value)) => {
                self.runs_code(call, option, span);
            }
            Role::Inline if value.known().is_some() => {
                self.sink.partial(idx, UNREAD_CODE);
            }
            Role::Inline => {
                self.unknown("code that is not known before it runs", span, &call.demand);
            }
            Role::Shell | Role::ShellText => {
                let demand = call.demand.of_text();
                self.joined_text(call, std::slice::from_ref(value), &demand, Shell::Child);
            }
            Role::RemoteShell => {
                let text = std::slice::from_ref(value);
                self.joined_text(call, text, &Demand::Restrictive, Shell::Elsewhere);
            }
            Role::Exec => {
                self.runs_code(call, option, span);
                // tar's `--checkpoint-action=exec=…`.
                let value = match value.prefix().strip_prefix("exec=") {
                    Some(_) => &value.without_prefix("exec=".len()),
                    None => value,
                };
                self.joined_text(
                    call,
                    std::slice::from_ref(value),
                    &Demand::Restrictive,
                    Shell::Child,
                );
            }
            // No other role is code.
            _ => {}
        }
    }

    /// What a value that is a file or a URL is used for.
    pub(super) fn use_place(
        &mut self,
        call: &Call<'_>,
        idx: OperationIdx,
        role: Role,
        value: &Arg,
    ) {
        let is_url = value.prefix().contains("://");
        let is_file_url = value.prefix().starts_with("file:");
        match role {
            Role::Fetch => self.use_url(call, idx, value),
            Role::ReadOrFetch if is_url || is_file_url => self.use_url(call, idx, value),
            Role::Url if is_url => self.use_url(call, idx, value),
            Role::Read | Role::ReadOrFetch => self.use_path(call, idx, value, Access::Read),
            Role::Write => self.use_path(call, idx, value, Access::Write),
            Role::Move => {
                self.use_path(call, idx, value, Access::Read);
                self.use_path(call, idx, value, Access::Write);
            }
            Role::AtFile => {
                if let Some(path) = files::at_file(value) {
                    self.use_path(call, idx, &path, Access::Read);
                }
            }
            Role::Mount => {
                if let Some(path) = files::mounted(value) {
                    self.use_path(call, idx, &path, Access::Read);
                    if !files::is_mounted_to_read(value) {
                        self.use_path(call, idx, &path, Access::Write);
                    }
                }
            }
            Role::NamedFile => {
                let at = value.prefix().rfind('=').map_or(0, |at| at + 1);
                self.use_path(call, idx, &value.without_prefix(at), Access::Read);
            }
            Role::NamedOutput => {
                let at = value.prefix().rfind('=').map_or(0, |at| at + 1);
                let path = value.without_prefix(at);
                self.use_path(call, idx, &path, Access::Derived(Some(idx)));
            }
            Role::Cookie if !value.prefix().contains('=') => {
                self.use_path(call, idx, value, Access::Read);
            }
            Role::WriteOut => self.write_out(call, idx, value),
            Role::HttpItem => self.http_item(call, idx, value),
            Role::RevisionFile => {
                if let Some(path) = files::of_revision(value) {
                    self.use_path(call, idx, &path, Access::Read);
                }
            }
            Role::Restored if files::looks_like_path(value) => {
                self.use_path(call, idx, value, Access::Write);
            }
            // No other role is a place.
            _ => {}
        }
    }

    pub(super) fn runs_code(
        &mut self,
        call: &Call<'_>,
        option: Option<&str>,
        span: Option<podward_policy::ByteSpan>,
    ) {
        let why = match option {
            Some(option) => format!("the option `{option}` runs a program or loads code"),
            None => "it runs a program or loads code".to_owned(),
        };
        self.unknown(&why, span, &call.demand);
    }

    pub(super) fn use_path(
        &mut self,
        call: &Call<'_>,
        idx: OperationIdx,
        value: &Arg,
        access: Access,
    ) {
        if call.elsewhere || value.known() == Some("-") || value.is_process() {
            return;
        }
        // A command that only deny rules see writes nothing that needs an allow.
        let access = match (access, &call.demand) {
            (Access::Derived(_), Demand::Restrictive) => Access::Write,
            (access, _) => access,
        };
        let bases = self.bases.clone();
        if !self.sink.path(value, access, &bases) {
            self.sink.partial(idx, "a path is not known before it runs");
        }
    }

    fn chdir(&mut self, call: &Call<'_>, value: &Arg) {
        if call.elsewhere {
            return;
        }
        let directory = behind_key(value);
        self.bases = self.bases.enter(directory.as_ref(), &self.sink.place);
        let bases = self.bases.clone();
        self.sink.directory(&bases, value.span);
    }
}

/// Whether an option of an interpreter loads a file beside the script: a module that is named by
/// its file, not as a package, or a setting of php that names one.
fn loads_file(option: &str, value: &Arg) -> bool {
    const LOADING: &[&str] = &[
        "-r",
        "--require",
        "--import",
        "--loader",
        "--experimental-loader",
        "-I",
        "--init-script",
    ];
    const SETTINGS: &[&str] = &[
        "auto_prepend_file",
        "auto_append_file",
        "extension",
        "zend_",
    ];
    let text = value.prefix();
    match option {
        "-d" => SETTINGS.iter().any(|setting| text.starts_with(setting)),
        _ => LOADING.contains(&option) && text.starts_with(['.', '/', '~']),
    }
}
