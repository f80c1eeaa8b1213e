//! Texts of shells that are no bash: read as bash reads them, and unknown where they may be read
//! otherwise.

/// Builtins, modifiers and short forms of zsh that name a program for bash.
///
/// Source: zshmisc(1) and zshbuiltins(1) of zsh 5.9.
const ZSH_WORDS: &[&str] = &[
    "-",
    "always",
    "autoload",
    "bindkey",
    "compdef",
    "disable",
    "emulate",
    "end",
    "foreach",
    "functions",
    "limit",
    "nocorrect",
    "noglob",
    "print",
    "private",
    "repeat",
    "sched",
    "setopt",
    "unfunction",
    "unhash",
    "unlimit",
    "unsetopt",
    "vared",
    "whence",
    "where",
    "zcompile",
    "zle",
    "zmodload",
    "zparseopts",
    "zpty",
    "zsocket",
    "zstyle",
    "zsystem",
    "ztcp",
    "zftp",
];

/// Sequences of characters that zsh reads in a way of its own.
const ZSH_SEQUENCES: &[&str] = &[
    "=(", "${(", "${=", "${~", "${^", "${+", "${:", "$=", "$~", "$^", "$+", "<->", "&!", "&|",
    ">&|", ">>|", "()", "{ }", "(#", "(:", "(.", "(/", "(@", "$[", "[(",
];

/// Whether a shell of this name may read a text otherwise than bash does.
pub(super) fn may_differ(program: &str, text: &str) -> bool {
    match program {
        "zsh" => {
            let is_word = |word: &str| {
                let word = word.trim_start_matches([';', '&', '|', '{', '(']);
                ZSH_WORDS.contains(&word) || word.starts_with('=') && word.len() > 1
            };
            ZSH_SEQUENCES.iter().any(|sequence| text.contains(sequence))
                || has_glob_qualifier(text)
                || text.split([' ', '\t', '\n']).any(is_word)
        }
        // No arithmetic command, and no quotes behind a `$`.
        "sh" | "dash" | "ash" => text.contains("$'") || text.replace("$((", "").contains("(("),
        _ => false,
    }
}

/// Whether a parenthesis follows a word: a qualifier of a pattern, or a list of `for`.
fn has_glob_qualifier(text: &str) -> bool {
    let bytes = text.as_bytes();
    let ends_word = |byte: u8| byte.is_ascii_alphanumeric() || b"*?]}/._-'\"".contains(&byte);
    bytes
        .windows(2)
        .any(|pair| matches!(pair, [before, b'('] if ends_word(*before)))
}
