//! Programs whose arguments are not all there is to know about a call.

/// Why the words of a command do not tell what it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Program {
    /// A reserved word: the command goes on behind it.
    Syntax,
    /// A builtin that evaluates text, or changes what later words mean.
    Evaluates,
    /// It runs the program that its arguments name.
    Wrapper,
    /// It reads commands.
    Shell,
    /// It reads a program in a language of its own.
    Interpreter,
}

/// What is special about the program of this basename; `None` if nothing is.
///
/// A version at the end does not make another program: `python3.12`, `lua5.4`.
pub(crate) fn kind(name: &str) -> Option<Program> {
    let unversioned = name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
    [name, unversioned].into_iter().find_map(|name| {
        TABLE
            .iter()
            .find(|(_, names)| names.split_ascii_whitespace().any(|known| known == name))
            .map(|(program, _)| *program)
    })
}

/// Names, separated by blanks.
const TABLE: &[(Program, &str)] = &[
    (
        Program::Syntax,
        "! [[ ]] case coproc do done elif else esac fi for function if in select then time \
         until while { }",
    ),
    (
        Program::Evaluates,
        ". alias bg bind compgen complete declare dirs enable eval export fc fg getopts hash \
         let local mapfile popd pushd read readarray readonly set shopt source trap typeset \
         unalias unset",
    ),
    (
        Program::Wrapper,
        "at batch bubblewrap builtin bunx busybox bwrap caffeinate capsh catchsegv chpst \
         chroot chrt command cpulimit crontab daemonize dbus-launch dbus-run-session doas \
         docker dumb-init entr env envdir exec fakeroot faketime firejail flatpak flock gdb \
         gosu ionice kubectl ld-linux-aarch64.so ld-linux-x86-64.so ld-linux.so \
         ld-musl-x86_64.so ld.so lldb ltrace machinectl mosh nice nohup npx nsenter numactl \
         parallel perf pipx pkexec pnpx podman prlimit proot proxychains rlwrap rsh run-parts \
         runcon runuser screen script setarch setpriv setsid setuidgid softlimit ssh \
         ssh-agent start-stop-daemon stdbuf strace su su-exec sudo sudoedit systemd-run \
         taskset timeout tini tmux toolbox torify torsocks toybox unbuffer unshare uvx \
         valgrind watch watchexec xargs xvfb-run zellij",
    ),
    (
        Program::Shell,
        "ash bash csh dash elvish fish ksh ksh93 mksh nu oil osh pdksh powershell pwsh rbash \
         rksh rzsh sash sh tcsh xonsh yash ysh zsh",
    ),
    (
        Program::Interpreter,
        "R Rscript awk bc bun clisp coffee crystal dc deno ed elixir emacs erl escript ex \
         expect gawk ghci gnuplot groovy guile irb java jjs jrunscript jshell julia lua \
         luajit m4 mawk mysql nawk node nodejs nvim ocaml octave original-awk osascript perl \
         php psql pypy python r racket raku rscript ruby runghc runhaskell rvim sbcl scala \
         scheme sqlite swipl tclsh ts-node tsx vi view vim vimdiff wish",
    ),
];

#[cfg(test)]
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    TABLE
        .iter()
        .flat_map(|(_, names)| names.split_ascii_whitespace())
}
