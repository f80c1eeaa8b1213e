//! Shells, and git's configuration.

use super::{Call, dialects};
use crate::arg::Arg;
use crate::options::Usage;
use crate::reader::Origin;
use crate::walk::{Shell, Stdin, Walker};

/// Keys of git's configuration that name a program, or a file with further configuration.
///
/// Source: git-config(1) of git 2.47; `*` stands for any middle part.
const GIT_KEYS_OF_PROGRAMS: &[&str] = &[
    "core.alternaterefscommand",
    "core.askpass",
    "core.attributesfile",
    "core.editor",
    "core.fsmonitor",
    "core.gitproxy",
    "core.hookspath",
    "core.pager",
    "core.sshcommand",
    "core.worktree",
    "credential.*",
    "diff.external",
    "diff.*.command",
    "diff.*.textconv",
    "diff.*.trustexitcode",
    "difftool.*.cmd",
    "difftool.*.path",
    "alias.*",
    "filter.*",
    "gpg.program",
    "gpg.*.program",
    "gpg.ssh.defaultkeycommand",
    "guitool.*.cmd",
    "include.path",
    "includeif.*",
    "init.templatedir",
    "instaweb.*",
    "interactive.difffilter",
    "man.*",
    "merge.*.driver",
    "mergetool.*.cmd",
    "mergetool.*.path",
    "pager.*",
    "protocol.*",
    "receive.procreceiverefs",
    "remote.*.receivepack",
    "remote.*.uploadpack",
    "remote.*.vcs",
    "sequence.editor",
    "sendemail.*",
    "ssh.variant",
    "submodule.*.update",
    "tar.*.command",
    "trailer.*.command",
    "trailer.*.cmd",
    "uploadpack.packobjectshook",
    "url.*",
    "web.browser",
    "browser.*",
    "http.proxy",
    "imap.tunnel",
    "extensions.*",
];

/// Options with which `git config` only reads.
const GIT_CONFIG_READS: &[&str] = &[
    "--get",
    "--get-all",
    "--get-regexp",
    "--get-urlmatch",
    "--list",
    "-l",
    "--get-color",
    "--get-colorbool",
];

impl Walker<'_, '_> {
    /// `git config key value` of a key that names a program plants code for later.
    pub(super) fn git_config(&mut self, call: &Call<'_>, usage: &Usage<'_>, arguments: &[Arg]) {
        let reads = usage
            .options_given
            .iter()
            .any(|option| GIT_CONFIG_READS.contains(option));
        if reads {
            return;
        }
        if usage
            .options_given
            .iter()
            .any(|option| matches!(*option, "-e" | "--edit"))
        {
            self.runs_code(call, Some("--edit"), call.span);
            return;
        }
        let mut operands = usage
            .operands
            .iter()
            .filter_map(|idx| arguments.get(*idx))
            .peekable();
        match operands.peek().and_then(|arg| arg.known()) {
            Some("get" | "list") => return,
            Some("edit") => {
                self.runs_code(call, Some("edit"), call.span);
                return;
            }
            Some("set" | "unset" | "rename-section" | "remove-section") => {
                operands.next();
            }
            _ => {}
        }
        let (Some(key), Some(_)) = (operands.next(), operands.next()) else {
            return;
        };
        let names_program = match key.known() {
            Some(key) => names_program(key),
            None => true,
        };
        if names_program {
            self.unknown(
                "a setting that names a program for later calls of git",
                key.span,
                &call.demand,
            );
        }
    }

    /// A shell: `-c` text, a script, or its input.
    pub(super) fn shell(&mut self, call: &Call<'_>, usage: &Usage<'_>, arguments: &[Arg]) {
        let first = usage.operands.first().and_then(|idx| arguments.get(*idx));
        let n_options = usage.operands.first().map_or(arguments.len(), |idx| *idx);
        let mut options = arguments.iter().take(n_options).map(Arg::prefix);
        let exports = self.context.exports;
        let is_export = |text: &str| {
            let letters = text.strip_prefix('-').unwrap_or_default();
            text == "allexport" || (!letters.starts_with('-') && letters.contains('a'))
        };
        self.context.exports |= options.clone().any(is_export);
        let bases = self.bases.clone();
        if options.any(|text| text == "physical" || (text.starts_with('-') && text.contains('P'))) {
            self.bases = bases.clone().physical();
        }
        let home = self.sink.place.home;
        if call.assignments.iter().any(|(name, _)| name == "HOME") {
            self.sink.place.home = None;
        }
        self.shell_code(call, usage, arguments, first);
        self.sink.place.home = home;
        self.context.exports = exports;
        self.bases = bases;
    }

    fn shell_code(
        &mut self,
        call: &Call<'_>,
        usage: &Usage<'_>,
        arguments: &[Arg],
        first: Option<&Arg>,
    ) {
        let has_text = usage.options_given.contains(&"-c");
        let may_be_anything = arguments
            .iter()
            .take(
                usage
                    .operands
                    .first()
                    .map_or(arguments.len(), |idx| idx + 1),
            )
            .any(|arg| {
                let is_option = arg.prefix().starts_with('-') && !arg.prefix().starts_with("--");
                arg.has_hole() && (arg.prefix().is_empty() || is_option)
            });
        if has_text {
            match first {
                Some(text) => {
                    self.dialect(call, text.known().unwrap_or_default());
                    let demand = call.demand.of_text();
                    self.joined_text(call, std::slice::from_ref(text), &demand, Shell::Child);
                }
                None => {
                    self.unknown("a shell text that is not known", call.span, &call.demand);
                }
            }
            return;
        }
        if may_be_anything {
            self.unknown("a shell that may run anything", call.span, &call.demand);
            return;
        }
        let reads_input = usage.options_given.contains(&"-s") || first.is_none_or(Arg::is_input);
        match first {
            Some(script) if !reads_input => {
                // The operation that was added last for this call is the shell's own.
                let idx = podward_policy::OperationIdx(self.sink.len().saturating_sub(1));
                self.script_file(call, idx, script);
            }
            _ if reads_input => self.shell_input(call),
            _ => {}
        }
    }

    /// Text that this shell may read otherwise than bash.
    fn dialect(&mut self, call: &Call<'_>, text: &str) {
        let program = call.args.first().and_then(Arg::program).unwrap_or_default();
        let program = program.rsplit('/').next().unwrap_or_default();
        if dialects::may_differ(program, text) {
            let why = "a text that this shell may read otherwise than bash";
            self.unknown(why, call.span, &call.demand);
        }
    }

    fn shell_input(&mut self, call: &Call<'_>) {
        match &call.stdin {
            Stdin::Inherited => {}
            Stdin::Known(text, span) => {
                let text = text.clone();
                self.dialect(call, &text);
                let origin = span.map_or(Origin::Verbatim(0), Origin::Part);
                let demand = call.demand.of_text();
                let context = self
                    .context
                    .of_text(call, &demand, Stdin::Inherited, Shell::Child);
                self.shell_text(&text, origin, context);
            }
            Stdin::Pipe
            | Stdin::Listed(..)
            | Stdin::Piped(..)
            | Stdin::File(_)
            | Stdin::Expanding => {
                self.unknown("a shell that runs its input", call.span, &call.demand);
                self.seen_input(call, Shell::Child);
            }
        }
    }
}

fn names_program(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    GIT_KEYS_OF_PROGRAMS
        .iter()
        .any(|pattern| match pattern.split_once('*') {
            Some((front, back)) => {
                key.len() >= front.len() + back.len()
                    && key.starts_with(front)
                    && key.ends_with(back)
            }
            None => key == *pattern,
        })
}
