//! Code that a program runs: scripts, inline programs, what it reads as commands.

use podward_policy::OperationIdx;

use crate::arg::Arg;
use crate::calls::wrappers::Inner;
use crate::calls::{Call, Lookup};
use crate::operations::Access;
use crate::scripts;
use crate::walk::{Demand, Shell, Stdin, Walker};

impl Walker<'_, '_> {
    /// `git clone ext::…` runs a program for the transport.
    pub(super) fn remote_helper(&mut self, call: &Call<'_>) {
        const SUBCOMMANDS: &[&str] = &[
            "clone",
            "fetch",
            "pull",
            "push",
            "ls-remote",
            "remote",
            "submodule",
            "archive",
        ];
        let is_git = call.args.first().and_then(Arg::program);
        if is_git.is_none_or(|name| name.rsplit('/').next() != Some("git")) {
            return;
        }
        let mut args = call
            .args
            .iter()
            .skip(1)
            .skip_while(|arg| arg.known().is_none_or(|word| !SUBCOMMANDS.contains(&word)));
        if let Some(arg) = args.find(|arg| arg.prefix().starts_with("ext::")) {
            self.unknown("a transport that runs a program", arg.span, &call.demand);
        }
    }

    /// Commands that may stand in the arguments of a program that is not read further.
    pub(super) fn hidden_commands(&mut self, call: &Call<'_>) {
        let starts = call
            .args
            .iter()
            .enumerate()
            .skip(1)
            .filter(|(_, arg)| !arg.prefix().starts_with('-'))
            .map(|(at, _)| at)
            .take(3);
        for at in starts {
            let inner = call.args.get(at..).unwrap_or_default();
            self.run_inner(
                call,
                &[],
                inner,
                Inner {
                    demand: Demand::Restrictive,
                    stdin: Stdin::Inherited,
                    elsewhere: call.elsewhere,
                    lookup: Lookup::Program,
                },
            );
        }
    }

    /// The name of a script that an interpreter runs.
    pub(crate) fn script_file(&mut self, call: &Call<'_>, idx: OperationIdx, value: &Arg) {
        let text = value.prefix();
        let is_input = matches!(text, "-" | "/dev/stdin")
            || text.starts_with("/dev/fd/")
            || text.starts_with("/proc/self/fd/");
        let is_nameless = self.bases.path(value, &self.sink.place).is_none();
        if value.is_process() || is_nameless || (is_input && text != "-") {
            self.unknown(
                "a script that is not known before it runs",
                value.span,
                &call.demand,
            );
        } else if !is_input {
            self.use_path(call, idx, value, Access::Read);
        }
    }

    pub(super) fn sed(&mut self, call: &Call<'_>, idx: OperationIdx, value: &Arg) {
        match value.known_but_for_numbers() {
            Some(script) => {
                let found = scripts::sed(&script);
                self.script_effects(call, idx, value, &found);
            }
            None => self.unknown_script(call, value),
        }
    }

    pub(super) fn awk(&mut self, call: &Call<'_>, idx: OperationIdx, value: &Arg) {
        match value.known_but_for_numbers() {
            Some(script) => {
                let found = scripts::awk(&script);
                self.script_effects(call, idx, value, &found);
            }
            None => self.unknown_script(call, value),
        }
    }

    /// `mlr put '$a = system("x")' file`: which of the words is a program shows its text.
    pub(super) fn program_or_file(&mut self, call: &Call<'_>, idx: OperationIdx, value: &Arg) {
        let text = value.prefix();
        if !text.contains(['(', '{', '$', ';', '|', '>', ' ']) {
            self.use_path(call, idx, value, Access::Read);
            return;
        }
        let redirects = ["tee", "emit", "dump", "split"];
        let writes = text.contains('>') && redirects.iter().any(|word| text.contains(word));
        if text.contains("exec(") || writes {
            self.runs_code(call, None, value.span);
        }
        self.awk(call, idx, value);
    }

    /// Text spliced into a script may be any command of it.
    fn unknown_script(&mut self, call: &Call<'_>, value: &Arg) {
        self.unknown(
            "an inline script that is not known before it runs",
            value.span,
            &call.demand,
        );
    }

    fn script_effects(
        &mut self,
        call: &Call<'_>,
        idx: OperationIdx,
        value: &Arg,
        found: &scripts::Found,
    ) {
        for path in &found.writes {
            let path = Arg::known_text(path, value.span);
            self.use_path(call, idx, &path, Access::Derived(Some(idx)));
        }
        for path in &found.reads {
            let path = Arg::known_text(path, value.span);
            self.use_path(call, idx, &path, Access::Read);
        }
        if found.writes_unknown {
            let path = Arg::hole(podward_policy::HoleKind::Anything, value.span);
            self.use_path(call, idx, &path, Access::Derived(Some(idx)));
        }
        if found.runs_code {
            self.unknown(
                "an inline script that runs commands",
                value.span,
                &call.demand,
            );
        }
        for text in &found.commands {
            let text = Arg::known_text(text, value.span);
            self.joined_text(
                call,
                std::slice::from_ref(&text),
                &Demand::Restrictive,
                Shell::Child,
            );
        }
    }
}
