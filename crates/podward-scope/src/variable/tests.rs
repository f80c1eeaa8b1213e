use std::ffi::OsStr;

use super::{Withheld, withheld, withheld_among};

#[test]
fn what_a_shell_or_the_loader_acts_on_is_withheld() {
    for name in [
        "BASHOPTS",
        "BASH_ENV",
        "BASH_FUNC_ls%%",
        "BASH_XTRACEFD",
        "CDPATH",
        "ENV",
        "EXECIGNORE",
        "GLOBIGNORE",
        "IFS",
        "LD_LIBRARY_PATH",
        "LD_PRELOAD",
        "POSIXLY_CORRECT",
        "PROMPT_COMMAND",
        "PS4",
        "SHELLOPTS",
    ] {
        assert_eq!(
            withheld(OsStr::new(name)),
            Some(Withheld::ActedOn),
            "{name}"
        );
    }
    for front in [
        "", "B", "BASH", "BASH_", "BASH_F", "E", "I", "L", "LD_", "LD_PRE", "PS",
    ] {
        assert_eq!(withheld_among(front), Some(Withheld::ActedOn), "{front}");
    }
}

#[test]
fn what_is_the_same_for_all_children_is_withheld() {
    for name in ["LC_ALL", "LC_CTYPE", "TERM", "COLORTERM"] {
        assert_eq!(withheld(OsStr::new(name)), Some(Withheld::Fixed), "{name}");
    }
    for front in ["LC_", "LC_M"] {
        assert_eq!(withheld_among(front), Some(Withheld::Fixed), "{front}");
    }
}

#[test]
fn everything_else_may_be_let_through() {
    for name in [
        "",
        "PATH",
        "HOME",
        "LANG",
        "ENVIRONMENT",
        "BASHED",
        "PS",
        "LDFLAGS",
    ] {
        assert_eq!(withheld(OsStr::new(name)), None, "{name}");
    }
    for front in ["CARGO_", "RUSTUP_", "PATH", "TE", "LAN"] {
        assert_eq!(withheld_among(front), None, "{front}");
    }
}
