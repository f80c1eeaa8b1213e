//! What a command is given as its standard input, where it matters what that is.

use podward_policy::Input;

use super::Call;
use crate::arg::Arg;
use crate::limits;
use crate::walk::{Stdin, Walker};

/// Programs that do the same whatever they read: it is nothing but data to them, or they read nothing.
///
/// None of them sends it, or takes it for code or options; a few take it for names of files ([`LISTED`]), or
/// for a yes to what they ask (`rm -i`). Where one writes it to a file (`sort -o`), and what `xargs` makes of
/// it, are operations of their own. A program that is not known to be such is none.
const FILTERS: &[&str] = &[
    "[",
    "awk",
    "base32",
    "base64",
    "basename",
    "bc",
    "cat",
    "cksum",
    "cmp",
    "column",
    "comm",
    "cp",
    "cut",
    "date",
    "df",
    "diff",
    "dirname",
    "du",
    "echo",
    "egrep",
    "expand",
    "expr",
    "false",
    "fgrep",
    "file",
    "find",
    "fmt",
    "fold",
    "gawk",
    "grep",
    "gsed",
    "gunzip",
    "gzip",
    "head",
    "hexdump",
    "iconv",
    "id",
    "join",
    "jq",
    "ln",
    "ls",
    "mawk",
    "md5sum",
    "mkdir",
    "mv",
    "nl",
    "numfmt",
    "od",
    "paste",
    "pr",
    "printf",
    "pwd",
    "readlink",
    "realpath",
    "rev",
    "rg",
    "rm",
    "rmdir",
    "sed",
    "seq",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "shuf",
    "sleep",
    "sort",
    "stat",
    "strings",
    "tac",
    "tail",
    "test",
    "touch",
    "tr",
    "true",
    "tsort",
    "unexpand",
    "uniq",
    "wc",
    "which",
    "xargs",
    "xxd",
    "xz",
    "yq",
    "zcat",
    "zstd",
];

/// Those whose script may be what they read.
const SCRIPTED: &[&str] = &["awk", "gawk", "gsed", "mawk", "sed", "jq", "yq"];

/// Those that change the files that a list names, which they may read, and the option for it.
const LISTED: &[(&str, &str)] = &[
    ("find", "-files0-from"),
    ("xz", "--files"),
    ("zstd", "--filelist"),
];

impl Walker<'_, '_> {
    /// What a call reads, as far as what it does hangs on it.
    pub(super) fn input_of(&self, call: &Call<'_>) -> Input {
        if is_filter(call.args) {
            return Input::Nothing;
        }
        // What another descriptor stands for is no part of the command.
        if call.args.iter().any(|arg| is_descriptor(arg.prefix())) {
            return Input::Unknown;
        }
        if call.stdin == Stdin::Inherited {
            return Input::Nothing;
        }
        // What is left of it is not known.
        if self.context.shares_stdin && call.stdin == self.context.stdin {
            return Input::Unknown;
        }
        match &call.stdin {
            Stdin::Inherited => Input::Nothing,
            Stdin::Known(text, _) | Stdin::Piped(text, _) if text.len() <= limits::VALUE_BYTES => {
                Input::Text(text.as_str().into())
            }
            Stdin::File(Some(path)) => Input::File(path.clone()),
            Stdin::Known(..)
            | Stdin::Piped(..)
            | Stdin::File(None)
            | Stdin::Pipe
            | Stdin::Listed(..)
            | Stdin::Expanding => Input::Unknown,
        }
    }
}

fn is_filter(args: &[Arg]) -> bool {
    let Some(name) = args.first().and_then(Arg::known) else {
        return false;
    };
    let is_input = |arg: &Arg| {
        let text = arg.known().unwrap_or("-");
        (text.starts_with('-') && text.ends_with('-')) || is_descriptor(text)
    };
    let is_list = |arg: &Arg| {
        let list = LISTED.iter().find(|(program, _)| *program == name);
        list.is_some_and(|(_, option)| arg.prefix().starts_with(option))
    };
    let mut arguments = args.iter().skip(1);
    FILTERS.contains(&name)
        && !(SCRIPTED.contains(&name) && arguments.clone().any(is_input))
        && !arguments.any(is_list)
}

/// Whether a text names a file that stands for what is open, or may.
fn is_descriptor(text: &str) -> bool {
    text.contains("/dev/") || text.contains("/proc/")
}
