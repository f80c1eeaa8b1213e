//! Programs that run what they read from their input.

use crate::arg::Arg;
use crate::calls::Call;
use crate::options::Usage;
use crate::programs::{Role, Special};
use crate::reader::Origin;
use crate::walk::{Demand, Shell, Stdin, Walker};

impl Walker<'_, '_> {
    /// Without a command, ssh runs its input in a shell of the other machine.
    pub(super) fn remote_input(&mut self, call: &Call<'_>, usage: &Usage<'_>) {
        let is_shell = usage.command.is_none() && !usage.operands.is_empty();
        let runs_none = ["-N", "-W", "-O", "-Q", "-s", "-n", "-G"];
        if !is_shell
            || usage
                .options_given
                .iter()
                .any(|option| runs_none.contains(option))
        {
            return;
        }
        match &call.stdin {
            Stdin::Inherited => {}
            Stdin::Known(..) => self.seen_input(call, Shell::Elsewhere),
            Stdin::Pipe
            | Stdin::Listed(..)
            | Stdin::Piped(..)
            | Stdin::File(_)
            | Stdin::Expanding => {
                self.unknown(
                    "a shell of another machine that runs its input",
                    call.span,
                    &Demand::Restrictive,
                );
                self.seen_input(call, Shell::Elsewhere);
            }
        }
    }

    /// An interpreter without a script runs what it reads.
    pub(super) fn input(&mut self, call: &Call<'_>, usage: &Usage<'_>) {
        let arguments = call.args.get(1..).unwrap_or_default();
        let has_code = usage
            .effects
            .iter()
            .any(|effect| matches!(effect.role, Role::Inline | Role::Shell))
            || !usage.options_given.is_empty()
                && usage
                    .options_given
                    .iter()
                    .any(|option| matches!(*option, "--version" | "--help" | "-m" | "-V"));
        let first = usage.operands.first().and_then(|idx| arguments.get(*idx));
        let reads_input = first.is_none_or(Arg::is_input) || usage.wrapper.is_some();
        if has_code || !reads_input || usage.command.is_some() {
            return;
        }
        match &call.stdin {
            Stdin::Inherited => {}
            // A wrapper without a command starts a shell.
            Stdin::Known(..) if usage.wrapper.is_none() => {}
            Stdin::Known(..)
            | Stdin::Pipe
            | Stdin::Listed(..)
            | Stdin::Piped(..)
            | Stdin::File(_)
            | Stdin::Expanding => {
                self.unknown(
                    "an interpreter that runs its input",
                    call.span,
                    &call.demand,
                );
                if usage.wrapper.is_some() {
                    self.seen_input(call, Shell::Child);
                }
            }
        }
    }

    /// A program that takes commands from its input, and runs others by some of them.
    pub(super) fn told(&mut self, call: &Call<'_>) {
        match &call.stdin {
            // Of a text that is known, each line is looked at.
            Stdin::Inherited | Stdin::Known(..) | Stdin::Piped(..) => {}
            Stdin::Pipe | Stdin::Listed(..) | Stdin::File(_) | Stdin::Expanding => {
                let why = "commands that are read from the input";
                self.unknown(why, call.span, &call.demand);
            }
        }
    }

    /// Each line of the input of `parallel` without a command is one.
    pub(super) fn commands_of_lines(&mut self, call: &Call<'_>, usage: &Usage<'_>) {
        if usage.special != Some(Special::Parallel)
            || usage.command.is_some()
            || call.stdin == Stdin::Inherited
        {
            return;
        }
        self.unknown(
            "commands that are read from a list",
            call.span,
            &call.demand,
        );
        self.seen_input(call, Shell::Child);
    }

    /// A text that is known comes in and is run as shell code: deny rules see it.
    pub(crate) fn seen_input(&mut self, call: &Call<'_>, shell: Shell) {
        if let Stdin::Known(text, span) | Stdin::Piped(text, span) = &call.stdin {
            let text = text.clone();
            self.seen_text(call, &text, *span, shell);
        }
    }

    fn seen_text(
        &mut self,
        call: &Call<'_>,
        text: &str,
        span: Option<podward_policy::ByteSpan>,
        shell: Shell,
    ) {
        let origin = span.map_or(Origin::Verbatim(0), Origin::Part);
        let demand = Demand::Restrictive;
        let context = self.context.of_text(call, &demand, Stdin::Inherited, shell);
        self.shell_text(text, origin, context);
    }

    /// Input that is no shell text, but holds a way to run one: `.shell` of sqlite3, `\!` of psql.
    pub(super) fn escapes_of_input(&mut self, call: &Call<'_>) {
        let program = call.args.first().and_then(Arg::program).unwrap_or_default();
        let program = program.rsplit('/').next().unwrap_or_default();
        if matches!(program, "make" | "gmake") {
            if call.stdin != Stdin::Inherited && reads_makefile(call.args) {
                self.unknown("a makefile from the input", call.span, &call.demand);
            }
            return;
        }
        let (Stdin::Known(text, span) | Stdin::Piped(text, span)) = &call.stdin else {
            return;
        };
        let (text, span) = (text.clone(), *span);
        let commands: Vec<&str> = text
            .lines()
            .filter_map(|line| escape(program, line.trim()))
            .collect();
        if commands.is_empty() {
            return;
        }
        self.unknown("input that runs commands", call.span, &call.demand);
        self.seen_text(call, &commands.join("\n"), span, Shell::Child);
    }
}

/// Whether make reads its rules from the input.
fn reads_makefile(args: &[Arg]) -> bool {
    let is_input = |arg: &Arg| {
        matches!(
            arg.known(),
            Some("-f-" | "-f/dev/stdin" | "--file=-" | "--makefile=-" | "--file=/dev/stdin")
        )
    };
    args.iter().any(is_input)
        || args.windows(2).any(|pair| match pair {
            [option, value] => {
                matches!(option.known(), Some("-f" | "--file" | "--makefile"))
                    && matches!(value.known(), Some("-" | "/dev/stdin"))
            }
            _ => false,
        })
}

/// The shell text that a line of a program's own language runs; empty where only the run shows it.
///
/// Source: sqlite3(1) dot-commands, psql(1) meta-commands, mysql(1) commands, gdb(1), m4(1), vim(1),
/// sftp(1), ftp(1), mail(1).
fn escape<'t>(program: &str, line: &'t str) -> Option<&'t str> {
    let behind = |words: &[&str]| {
        words
            .iter()
            .find_map(|word| Some(line.split_once(word)?.1.trim_start()))
    };
    let at_start = |words: &[&str]| {
        words
            .iter()
            .find_map(|word| line.strip_prefix(word).map(str::trim_start))
    };
    match program {
        "sqlite3" | "sqlite" => at_start(&[".shell", ".system", ".sh "]).or_else(|| {
            let runs = [".load", ".import |", ".output |", ".once |", ".read |"];
            at_start(&runs).map(|_| "")
        }),
        "psql" => behind(&["\\!"]).or_else(|| {
            let runs = line.contains(['`', '|']) && line.starts_with('\\');
            let copies = line.to_ascii_lowercase().contains("program");
            (runs || copies).then_some("")
        }),
        "mysql" | "mariadb" => behind(&["\\!"]).or_else(|| at_start(&["system "])),
        "gdb" => at_start(&["shell ", "!"])
            .or_else(|| at_start(&["python", "py ", "source", "pipe", "make", "|"]).map(|_| "")),
        "lldb" => at_start(&["platform shell", "shell "])
            .or_else(|| at_start(&["script", "command"]).map(|_| "")),
        "m4" => (line.contains("syscmd")).then_some(""),
        "ed" | "ex" | "exim" | "vi" | "vim" | "nvim" | "view" | "rvim" => behind(&["!"]),
        "ftp" | "lftp" | "ncftp" | "sftp" | "telnet" => at_start(&["!"]),
        "mail" | "mailx" => at_start(&["~!", "~|", "~:"]),
        _ => None,
    }
}
