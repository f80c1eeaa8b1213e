//! The short way and the reader give one answer.

use podward_policy::Lowered;

use crate::lexical;
use crate::programs::PROGRAMS;

/// Commands in the test run; a soak sets more.
const DEFAULT_CASES: usize = 20_000;

/// Names that the shell looks at itself, and some that nobody knows.
const OTHER_NAMES: &[&str] = &[
    "cd",
    "set",
    "exec",
    "command",
    "builtin",
    "eval",
    "export",
    "local",
    "trap",
    "source",
    ".",
    ":",
    "true",
    "echo",
    "printf",
    "read",
    "test",
    "let",
    "unset",
    "alias",
    "hash",
    "shopt",
    "time",
    "coproc",
    "in",
    "function",
    "do",
    "frob",
    "./x",
    "/bin/rm",
    "/usr/bin/git",
    "A=b",
    "-x",
    "%1",
];

const WORDS: &[&str] = &[
    "-",
    "--",
    "+",
    "-n",
    "-c",
    "-e",
    "-i",
    "-f",
    "-o",
    "-C",
    "-x",
    "-rf",
    "--all",
    "--x=y",
    "-j4",
    "a=b",
    "PATH=x",
    "LANG=C",
    "src",
    "./a",
    "../b",
    "/etc/passwd",
    "/dev/null",
    "a/b.rs",
    "host:path",
    "user@host",
    "http://a.b/c",
    "file:///x",
    "HEAD..x",
    "10%",
    "1,2p",
    "s/a/b/",
    "rm",
    "ls",
    "git",
    "sh",
    "push",
    "run",
    "exec",
    "install",
    "status",
    "-delete",
    "-exec",
    ".",
    "..",
    "p",
    "d",
    "e",
    "w",
    "0",
    "30s",
    "it",
    "x,y",
    "core.pager=x",
    "alias.x",
    "config",
];

/// A generator that gives the same commands everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) % (n as u64)) as usize
    }

    fn one_of<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }
}

fn command(random: &mut Random, names: &[&str]) -> String {
    let name = if random.below(4) == 0 {
        random.one_of(OTHER_NAMES)
    } else {
        random.one_of(names)
    };
    let mut text = " ".repeat(random.below(8) / 6);
    text.push_str(name);
    let model = PROGRAMS.get(name);
    for _ in 0..random.below(6) {
        text.push_str(&" ".repeat(1 + random.below(9) / 8));
        let from_model = model.filter(|_| random.below(2) == 0);
        let word = from_model.and_then(|model| {
            let bodies = model.bodies.len();
            let body = match random.below(bodies + 2) {
                n if n < bodies => &model.bodies[n],
                _ => &model.root,
            };
            match (
                random.below(3),
                model.subs.as_slice(),
                body.options.as_slice(),
            ) {
                (0, subs @ [_, ..], _) => Some(subs[random.below(subs.len())].0.join(" ")),
                (_, _, options @ [_, ..]) => {
                    Some(options[random.below(options.len())].name.to_owned())
                }
                _ => None,
            }
        });
        text.push_str(word.as_deref().unwrap_or_else(|| random.one_of(WORDS)));
        if random.below(12) == 0 {
            text.push('=');
            text.push_str(random.one_of(WORDS));
        }
    }
    text.push_str(&" ".repeat(random.below(8) / 7));
    text
}

#[test]
fn random_commands_are_read_as_the_reader_reads_them() {
    let mut names: Vec<&str> = PROGRAMS.names().collect();
    names.sort_unstable();
    let n_cases = std::env::var("PODWARD_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok())
        .unwrap_or(DEFAULT_CASES);
    let mut random = Random(4);
    let mut n_plain = 0;
    for _ in 0..n_cases {
        let text = command(&mut random, &names);
        let Some(found) = super::lower(&text, &lexical::place()) else {
            continue;
        };
        n_plain += 1;
        assert_eq!(found, crate::read(&text, &lexical::place()), "{text:?}");
    }
    assert!(
        n_plain > n_cases / 2,
        "only {n_plain} of {n_cases} are plain"
    );
}

#[test]
fn characters_with_a_meaning_are_left_to_the_reader() {
    for c in (0..=u8::MAX).map(char::from) {
        for text in [
            format!("a{c}b c"),
            format!("a b{c}c"),
            format!("{c}a b"),
            format!("a {c}"),
            format!("a {c}b"),
        ] {
            if let Some(found) = super::lower(&text, &lexical::place()) {
                assert_eq!(found, crate::read(&text, &lexical::place()), "{text:?}");
            }
        }
    }
}

#[test]
fn nothing_and_blanks_are_left_to_the_reader() {
    for text in ["", " ", "   "] {
        assert_eq!(super::lower(text, &lexical::place()), None);
        assert_eq!(crate::lower(text, &lexical::place()), Lowered::NothingToRun);
    }
}

#[test]
fn words_that_begin_something_are_left_to_the_reader() {
    for text in [
        "time ls",
        "if a",
        "A=b ls",
        "function x",
        "coproc ls",
        "done",
        "in x",
    ] {
        assert_eq!(super::lower(text, &lexical::place()), None, "{text}");
    }
}
