//! Lists and texts that are made to be slow.

use podward_policy::{Action, KnownTools, Lowered, Policies, Policy, PolicySpec};

use crate::workload::{Target, operation};

/// What the rules of a list are like.
#[derive(Debug, Clone, Copy)]
pub(crate) enum List {
    /// Many stars, long runs of one letter and of `?`, and what people write every day.
    Stars,
    /// All rules have their key in the text, again and again, and differ behind it.
    OneKey,
    /// The same, where a `?` stands between the key and what differs.
    OneKeyAndMarks,
}

pub(crate) const LISTS: [List; 3] = [List::Stars, List::OneKey, List::OneKeyAndMarks];

/// Rules and bytes of a text: half of both in turn, and all.
pub(crate) const SIZES: [(usize, usize); 3] = [(35, 1600), (70, 800), (70, 1600)];

impl List {
    fn pattern(self, n: usize) -> String {
        let repeated = |piece: &str, n: usize| piece.repeat(n);
        match self {
            Self::Stars => match n % 7 {
                0 => repeated("*a", 3 + n % 40) + &format!("*b{n}"),
                1 => format!("**/*.env{n}"),
                2 => format!("curl *|*sh{n}"),
                3 => format!("*{}b{n}*", repeated("a", 64)),
                4 => format!("*{}b{n}*", repeated("?", 64)),
                5 => format!("*{}b{n}", repeated("?", 200)),
                _ => format!("a*{}c{n}*", repeated("a*", 200)),
            },
            Self::OneKey => format!("git *xyzzy {n}y*"),
            Self::OneKeyAndMarks => format!("*xyzzy {}y{n}z*", repeated("?", n % 60)),
        }
    }

    /// Rules of which none matches.
    pub(crate) fn policies(self, n_rules: usize) -> Policies {
        let mut spec = PolicySpec::new(Action::Ask);
        for n in 0..n_rules {
            spec = spec.rule("bash", self.pattern(n), Action::Deny);
        }
        Policies::from(Policy::compile_unread(&spec, &KnownTools::built_in()).unwrap()).indexed()
    }

    pub(crate) fn calls(self, n_bytes: usize) -> Vec<Lowered> {
        let texts: &[&str] = match self {
            Self::Stars => &["a", "a/b "],
            Self::OneKey | Self::OneKeyAndMarks => &["git xyzzy y "],
        };
        let call = |piece: &&str| {
            let target = Target {
                tool: "bash",
                text: piece.repeat(n_bytes / piece.len()),
            };
            Lowered::from(operation(&target))
        };
        texts.iter().map(call).collect()
    }
}
