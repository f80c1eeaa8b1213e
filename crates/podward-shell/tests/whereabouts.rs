//! No change of directory and no spelling of a path turns what a rule says of a program or a script
//! that it names by a path: against a model of directories in a few lines. `PODWARD_CASES` sets the
//! number of lines.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]

mod lexical;

use podward_policy::{Action, Cause, KnownTools, Policies, Policy, PolicySpec, Ruling};

const DEFAULT_CASES: usize = 4000;

/// Names of directories and files; one is a part of another.
const NAMES: &[&str] = &["a", "b", "ab"];

/// The front of a command, and what stands before its script.
const FRONTS: &[&str] = &["", "bash ", "timeout 5 ", "python3 ", "A=1 "];

struct Case {
    line: String,
    /// What the rule names.
    ruled: String,
    /// Whether the line runs what the rule names.
    is_it: bool,
}

#[test]
fn a_rule_means_one_file() {
    let n_cases = std::env::var("PODWARD_CASES").map_or(DEFAULT_CASES, |n| n.parse().unwrap());
    let mut random = Random(9);
    let mut n_denied = 0;
    for _ in 0..n_cases {
        let case = case(&mut random);
        let Case { line, ruled, is_it } = &case;
        let denied = judge(line, ruled, Action::Allow, Action::Deny).action;
        let allowed = judge(line, ruled, Action::Deny, Action::Allow).action;
        if *is_it {
            assert_eq!(denied, Action::Deny, "deny `{ruled} *`: {line}");
            n_denied += 1;
        } else {
            assert_eq!(allowed, Action::Deny, "allow `{ruled} *`: {line}");
        }
    }
    assert!(
        n_denied * 10 > n_cases,
        "{n_denied} of {n_cases} run what is ruled"
    );
}

#[test]
fn where_a_program_may_lie_anywhere_that_is_why() {
    for command in ["./check", "bash ./check"] {
        let line = format!("cd \"$x\" && {command} a");
        let why = match judge(&line, command, Action::Deny, Action::Allow).cause {
            Cause::Unresolved { why, .. } => Some(why),
            _ => None,
        };
        let expected = "where the program or the script lies is not known before it runs";
        assert_eq!(why.as_deref(), Some(expected), "{line}");
    }
}

fn judge(line: &str, ruled: &str, default_action: Action, action: Action) -> Ruling {
    let spec = PolicySpec::new(default_action).rule("bash", format!("{ruled} *"), action);
    let policy = Policy::compile(&spec, &KnownTools::built_in())
        .unwrap()
        .policy;
    Policies::from(policy).judge(&podward_shell::lower(line, &lexical::place()))
}

fn case(random: &mut Random) -> Case {
    let front = FRONTS[random.below(FRONTS.len())];
    let place = path(random);
    let interpreter = match front {
        "bash " | "python3 " => front,
        _ => "",
    };
    let spelled = match random.below(4) {
        0 => format!("/work/project/{}", place.join("/")),
        1 => format!("./{}", place.join("/")),
        _ if place.len() == 1 && interpreter.is_empty() => format!("./{}", place.join("/")),
        _ => place.join("/"),
    };
    let mut line = String::new();
    let mut directory: Vec<String> = vec!["work".to_owned(), "project".to_owned()];
    for _ in 0..random.below(3) {
        let into = written(random);
        directory = entered(&directory, &into);
        line.push_str(&format!("cd {into} && "));
    }
    // Half of the time what the rule names, by some way from where the line is by then.
    let word = match random.below(2) {
        0 => {
            let up = "../".repeat(directory.len());
            let way = match random.below(3) {
                0 => "/work/project/".to_owned(),
                1 => format!("{up}work/project/"),
                _ => String::new(),
            };
            format!("{way}{}", place.join("/"))
        }
        _ => written(random),
    };
    let word = match word.contains('/') {
        true => word,
        false => format!("./{word}"),
    };
    line.push_str(&format!("{front}{word} x"));
    let root = ["work".to_owned(), "project".to_owned()];
    Case {
        is_it: entered(&directory, &word) == [&root, &*place].concat(),
        ruled: format!("{interpreter}{spelled}"),
        line,
    }
}

fn path(random: &mut Random) -> Vec<String> {
    (0..=random.below(2))
        .map(|_| NAMES[random.below(NAMES.len())].to_owned())
        .collect()
}

/// Some path with what changes nothing strewn in, or with a `..` that does.
fn written(random: &mut Random) -> String {
    let mut text = String::new();
    for name in &path(random) {
        text.push_str(match random.below(8) {
            0 => "./",
            1 => "../",
            2 => "x/../",
            _ => "",
        });
        text.push_str(name);
        text.push_str(["/", "/", "//"][random.below(3)]);
    }
    text.trim_end_matches('/').to_owned()
}

fn entered(directory: &[String], path: &str) -> Vec<String> {
    let mut at = match path.starts_with('/') {
        true => Vec::new(),
        false => directory.to_vec(),
    };
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(at.pop()),
            name => at.push(name.to_owned()),
        }
    }
    at
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % u64::try_from(n).unwrap()).unwrap()
    }
}
