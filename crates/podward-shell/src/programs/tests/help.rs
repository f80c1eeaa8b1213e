//! The options that are listed, beside the help and manual of the programs that are installed.
//!
//! Nothing is fetched, and only programs of a list are started, with options that print a text.
//! An option that the installed program does not name has a reason behind `# elsewhere:` on its
//! line. Programs that are not here, and those of another version than the data's, are named.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use super::super::FAMILIES;

/// Programs whose help names all of their options, how to ask for it, and the version of which
/// the data was made.
const ASKED: &[(&str, &[&str], &str)] = &[
    ("bash", &["--help"], "5.2.15"),
    ("cargo", &["--help"], "1.95"),
    ("curl", &["--help", "all"], "7.88"),
    ("docker", &["--help"], "28.2"),
    ("find", &["-help"], "4.9"),
    ("git", &["--help"], "2.47"),
    ("grep", &["--help"], "3.8"),
    ("gzip", &["--help"], "1.12"),
    ("iconv", &["--help"], "2.36"),
    ("journalctl", &["--help"], "252"),
    ("jq", &["--help"], "1.6"),
    ("make", &["--help"], "4.3"),
    ("pg_dump", &["--help"], "15"),
    ("pg_restore", &["--help"], "15"),
    ("psql", &["--help"], "15"),
    ("rustfmt", &["--help"], "1.9"),
    ("script", &["--help"], "2.38"),
    ("patch", &["--help"], "2.7.6"),
    ("pip3", &["--help"], "23.2"),
    ("scp", &["--help"], "OpenSSH_9.2"),
    ("sed", &["--help"], "4.9"),
    ("ssh", &["--help"], "OpenSSH_9.2"),
    ("strace", &["--help"], "6.1"),
    ("tar", &["--help"], "1.34"),
    ("unshare", &["--help"], "2.38"),
    ("watch", &["--help"], "4.0"),
    ("wget", &["--help"], "1.21"),
    ("xargs", &["--help"], "4.9"),
    ("xz", &["--long-help"], "5.4"),
    ("zstd", &["-H"], "1.5"),
    ("cmake", &["--help"], "3.25"),
    ("direnv", &["help"], "2.32"),
    ("dos2unix", &["--help"], "7.4"),
    ("hexdump", &["--help"], "2.38"),
    ("ltrace", &["--help"], "0.7"),
    ("lz4", &["-H"], "1.9"),
    ("mysqldump", &["--help"], "10.11"),
    ("nano", &["--help"], "7.2"),
    ("parallel", &["--help"], "20221122"),
    ("qpdf", &["--help=all"], "11.3"),
    ("redis-cli", &["--help"], "7.0"),
    ("rsync", &["--help"], "3.5"),
    ("runuser", &["--help"], "2.38"),
    ("nm", &["--help"], "2.40"),
    ("perl", &["-h"], "5.36"),
    ("ssh-keygen", &["--help"], "9.2"),
    ("pkg-config", &["--help"], "1.8"),
    ("getopt", &["--help"], "2.38"),
    ("logger", &["--help"], "2.38"),
    ("envsubst", &["--help"], "0.21"),
    ("lsof", &["-h"], "4.95"),
    ("ps", &["--help"], "4.0"),
    ("7z", &["--help"], "16.02"),
    ("mlr", &["--usage"], "6.6"),
    ("expect", &["-h"], "5.45"),
    ("perf", &["--help"], "6.1"),
];

/// Programs of one package with a `--help` each.
const PACKAGES: &[(&[&str], &str)] = &[
    // GNU coreutils.
    (
        &[
            "b2sum",
            "base32",
            "base64",
            "basenc",
            "cat",
            "chcon",
            "chgrp",
            "chmod",
            "chown",
            "chroot",
            "cksum",
            "comm",
            "cp",
            "csplit",
            "cut",
            "date",
            "df",
            "dircolors",
            "du",
            "env",
            "expand",
            "fmt",
            "fold",
            "head",
            "install",
            "join",
            "link",
            "ln",
            "ls",
            "md5sum",
            "mkdir",
            "mkfifo",
            "mknod",
            "mktemp",
            "mv",
            "nice",
            "nl",
            "nohup",
            "od",
            "paste",
            "pathchk",
            "pr",
            "ptx",
            "readlink",
            "realpath",
            "rm",
            "runcon",
            "shred",
            "shuf",
            "sort",
            "split",
            "stat",
            "stdbuf",
            "sum",
            "sync",
            "tac",
            "tail",
            "tee",
            "timeout",
            "touch",
            "tr",
            "truncate",
            "tsort",
            "unexpand",
            "uniq",
            "unlink",
            "wc",
        ],
        "9.1",
    ),
    // GNU diffutils.
    (&["cmp", "diff", "diff3", "sdiff"], "3.8"),
    // util-linux.
    (
        &[
            "chrt",
            "column",
            "fallocate",
            "flock",
            "ionice",
            "nsenter",
            "prlimit",
            "rev",
            "setarch",
            "setpriv",
            "setsid",
            "taskset",
        ],
        "2.38",
    ),
];

/// Programs that must have been looked at, wherever the test runs.
const FLOOR: &[&str] = &[
    "bash", "cat", "cp", "env", "find", "git", "grep", "ls", "mv", "rm", "sed", "sort", "tar",
    "timeout", "xargs",
];

/// The lines of a program or of its subcommands.
struct Block {
    names: Vec<&'static str>,
    /// None of them for the program itself.
    subs: Vec<Vec<&'static str>>,
    options: BTreeSet<&'static str>,
}

#[test]
fn options_are_those_of_the_installed_programs() {
    let mut checked = BTreeSet::new();
    let mut absent = BTreeSet::new();
    let mut other_version = BTreeMap::new();
    let mut failures = String::new();
    for block in blocks() {
        let Some((name, arguments, version)) = block.names.iter().find_map(|name| asked(name))
        else {
            continue;
        };
        if !is_installed(name) {
            absent.insert(name);
            continue;
        }
        let Some(missing) = missing(name, arguments, &block) else {
            continue;
        };
        checked.insert(name);
        if missing.is_empty() {
            continue;
        }
        if printed(name, &["--version"]).contains(version) {
            let subs = block.subs.first().map(|sub| sub.join(" "));
            let _ = writeln!(failures, "{name} {}: {missing:?}", subs.unwrap_or_default());
        } else {
            other_version.insert(name, missing.len());
        }
    }
    eprintln!(
        "checked: {checked:?}\nnot installed: {absent:?}\nanother version: {other_version:?}"
    );
    assert!(failures.is_empty(), "not in help or manual:\n{failures}");
    let unseen: Vec<&&str> = FLOOR
        .iter()
        .filter(|name| !checked.contains(*name))
        .collect();
    assert_eq!(unseen, Vec::<&&str>::new(), "not looked at");
}

/// How a program is asked, and the version of which its data was made.
fn asked(name: &str) -> Option<(&'static str, &'static [&'static str], &'static str)> {
    let single = ASKED.iter().find(|(asked, ..)| *asked == name).copied();
    single.or_else(|| {
        PACKAGES.iter().find_map(|(programs, version)| {
            let found = programs.iter().find(|program| **program == name)?;
            Some((*found, ["--help"].as_slice(), *version))
        })
    })
}

fn is_installed(name: &str) -> bool {
    let path = env::var("PATH").unwrap_or_default();
    path.split(':')
        .any(|folder| Path::new(folder).join(name).is_file())
}

/// The options that no text of the program names; nothing if no text is known to name all.
fn missing(name: &str, arguments: &[&str], block: &Block) -> Option<BTreeSet<&'static str>> {
    let mut missing = block.options.clone();
    let mut is_whole = false;
    let mut look = |text: &str| {
        missing.retain(|option| !names(text, option));
        missing.is_empty()
    };
    for sub in &block.subs {
        let page = format!("{name}-{}", sub.first().copied().unwrap_or_default());
        let asked: &[&str] = match name {
            "git" => &["-h", "--git-completion-helper-all"],
            _ => &["--help"],
        };
        for option in asked {
            let words: Vec<&str> = sub.iter().chain([option]).copied().collect();
            let text = printed(name, &words);
            is_whole |= name != "git" && !text.is_empty();
            if look(&text) {
                return Some(BTreeSet::new());
            }
        }
        let text = manual(&page);
        is_whole |= !text.is_empty();
        if look(&text) {
            return Some(BTreeSet::new());
        }
    }
    if block.subs.is_empty() {
        is_whole = true;
        if look(&printed(name, arguments)) || look(&manual(name)) {
            return Some(BTreeSet::new());
        }
    }
    is_whole.then_some(missing)
}

fn manual(page: &str) -> String {
    printed("man", &["-P", "cat", page])
}

/// What a program prints.
fn printed(name: &str, arguments: &[&str]) -> String {
    let output = Command::new(name)
        .args(arguments)
        .env("LC_ALL", "C")
        .env("MANWIDTH", "400")
        .env("COLUMNS", "400")
        .stdin(Stdio::null())
        .output();
    let Ok(output) = output else {
        return String::new();
    };
    // git says 129 for its usage.
    if name != "git" && !output.status.success() {
        return String::new();
    }
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    if name != "man" {
        text.push_str(&String::from_utf8_lossy(&output.stderr));
    }
    text.push('\n');
    text.replace("--[no-]", "--")
}

/// Whether a text names an option, alone or in a list of letters.
fn names(text: &str, option: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    let is_named = text.match_indices(option).any(|(at, _)| {
        let before = text.get(..at).and_then(|t| t.chars().next_back());
        let after = text.get(at + option.len()..).and_then(|t| t.chars().next());
        !before.is_some_and(is_part) && !after.is_some_and(|c| is_part(c) && option.len() > 2)
    });
    if is_named {
        return true;
    }
    // `--[no-]x` is named by `--no-x`, and the other way round; usage lines hold `[-abc]`.
    if let Some(rest) = option.strip_prefix("--no-") {
        return names(text, &format!("--{rest}"));
    }
    match option.strip_prefix('-') {
        Some(letter) if letter.chars().count() == 1 => text.split("[-").skip(1).any(|list| {
            let list = list.split(']').next().unwrap_or_default();
            !list.starts_with('-') && list.contains(letter)
        }),
        _ => false,
    }
}

/// The options of each program and subcommand that are not said to be of another version.
fn blocks() -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for (_, text) in FAMILIES {
        for line in text.lines() {
            let (line, comment) = line.split_once(" #").unwrap_or((line, ""));
            let words: Vec<&'static str> = line.split_ascii_whitespace().collect();
            match words.as_slice() {
                ["program", names @ ..] => blocks.push(Block {
                    names: names.to_vec(),
                    subs: Vec::new(),
                    options: BTreeSet::new(),
                }),
                ["sub", subs @ ..] => {
                    let names = blocks.last().map(|block| block.names.clone());
                    blocks.push(Block {
                        names: names.unwrap_or_default(),
                        subs: subs.split(|word| *word == "|").map(<[_]>::to_vec).collect(),
                        options: BTreeSet::new(),
                    });
                }
                ["with" | "given" | "keys" | "operands" | "style", ..] => {}
                [_, options @ ..] if !comment.contains("elsewhere:") => {
                    if let Some(block) = blocks.last_mut() {
                        block
                            .options
                            .extend(options.iter().filter_map(|word| plain(word)));
                    }
                }
                _ => {}
            }
        }
    }
    blocks
}

/// An option without the marks of the format.
fn plain(word: &'static str) -> Option<&'static str> {
    let name = ["[0]", "[]", "==", "=", "*"]
        .iter()
        .find_map(|mark| word.strip_suffix(mark))
        .unwrap_or(word);
    (name.starts_with('-') && name.len() > 1).then_some(name)
}
