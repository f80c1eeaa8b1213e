//! Values for tests, and random cases: seeded, so that each run is the same.

use crate::action::Action;
use crate::operation::{
    CommandSubject, Lowered, Need, Operation, Operations, PathForm, PathSubject, Subject,
    UnknownReason, UrlSubject, WholeText,
};
use crate::policy::{Compiled, Policies, Policy};
use crate::source::{ByteSpan, Location};
use crate::spec::{PolicySpec, RuleSpec};
use crate::text::{HoleKind, Text, TextBuilder};
use crate::tool::{KnownTools, ToolName};
use crate::verdict::{LayerKind, LayerName};

/// How many cases a test of `normal` cases runs: `PODWARD_CASES` says how many stand for a million.
pub(crate) fn n_cases(normal: usize) -> usize {
    match std::env::var("PODWARD_CASES") {
        Ok(n) => {
            let n: usize = n.parse().expect("PODWARD_CASES is a number");
            (normal * (n / 1000).max(1) / 1000).max(1)
        }
        Err(_) => normal,
    }
}

/// SplitMix64.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(n).unwrap()).unwrap()
    }

    pub(crate) fn one_of<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())].clone()
    }

    /// Up to `n_most` pieces in a row.
    pub(crate) fn text(&mut self, pieces: &[&str], n_most: usize) -> String {
        (0..self.below(n_most + 1))
            .map(|_| self.one_of(pieces))
            .collect()
    }
}

pub(crate) fn location(line: usize) -> Location {
    Location {
        file: "test.toml".into(),
        line: u32::try_from(line).unwrap(),
        column: 1,
    }
}

/// A table from its text: the default, then one rule a line, `tool | pattern | action`; a line
/// `unresolved | deny` sets that key.
pub(crate) fn table(text: &str) -> PolicySpec {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut spec = PolicySpec {
        default_action: action(lines.next().expect("a default")),
        default_location: location(0),
        unresolved: None,
        rules: Vec::new(),
    };
    for line in lines {
        let fields: Vec<&str> = line.split(" | ").collect();
        match *fields {
            ["unresolved", word] => spec.unresolved = Some(action(word)),
            [tool, .., word] => spec.rules.push(RuleSpec {
                tool: tool.to_owned(),
                // A pattern may hold the separator.
                pattern: fields[1..fields.len() - 1].join(" | "),
                action: action(word),
                message: None,
                grantable: true,
                ask_timeout: None,
                location: location(spec.rules.len() + 1),
            }),
            _ => panic!("no rule: {line}"),
        }
    }
    spec
}

fn action(word: &str) -> Action {
    match word {
        "allow" => Action::Allow,
        "ask" => Action::Ask,
        "deny" => Action::Deny,
        _ => panic!("no action: {word}"),
    }
}

pub(crate) fn compiled(text: &str) -> Compiled {
    Policy::compile(&table(text), &KnownTools::built_in())
        .unwrap_or_else(|errors| panic!("{text}: {errors:?}"))
}

pub(crate) fn layer(kind: LayerKind, text: &str) -> (LayerName, Policy) {
    (LayerName { kind }, compiled(text).policy)
}

pub(crate) fn policies(text: &str) -> Policies {
    Policies::new(vec![layer(LayerKind::Manifest, text)])
}

pub(crate) fn tool(name: &str) -> ToolName {
    ToolName::new(name).unwrap()
}

/// A text in which `‹q›` is a quoted hole, `‹u›` an unquoted one, `‹g›` a file name pattern, `‹a›`
/// anything.
pub(crate) fn text(written: &str) -> Text {
    let mut builder = TextBuilder::new();
    let mut parts = written.split('‹');
    builder = builder.known(parts.next().unwrap());
    for part in parts {
        let (kind, known) = part.split_once('›').expect("a closed hole");
        builder = builder.hole(match kind {
            "q" => HoleKind::Quoted,
            "u" => HoleKind::Unquoted,
            "g" => HoleKind::FileGlob,
            "a" => HoleKind::Anything,
            _ => panic!("no hole: {kind}"),
        });
        builder = builder.known(known);
    }
    builder.build()
}

pub(crate) fn operation(name: &str, subject: Subject, need: Need) -> Operation {
    Operation {
        tool: tool(name),
        subject,
        need,
        span: None,
        partial: Vec::new(),
    }
}

/// A command whose program is its first word; each further form is given as it is.
pub(crate) fn command(written: &str, further: &[&str]) -> Subject {
    let written = text(written);
    let known = written.known_part();
    let name_end = known.find(' ').unwrap_or(known.len());
    Subject::Command(CommandSubject {
        name_start: 0,
        name_end,
        further: further.iter().map(|form| text(form)).collect(),
        place: None,
        written,
    })
}

pub(crate) fn bash(written: &str) -> Operation {
    operation("bash", command(written, &[]), Need::Full)
}

/// A path in a workspace `/w`, whose home is `/h`; `resolved` where a link leads elsewhere.
pub(crate) fn path(short: &str, resolved: Option<&str>) -> Subject {
    let form = |short: &str| {
        let absolute = match short {
            "." => "/w".to_owned(),
            short if short.starts_with('/') => short.to_owned(),
            short => format!("/w/{short}"),
        };
        PathForm {
            short: text(short),
            home: absolute
                .strip_prefix("/h")
                .filter(|below| below.is_empty() || below.starts_with('/'))
                .map(|below| text(&format!("~{below}"))),
            absolute: text(&absolute),
        }
    };
    Subject::path(PathSubject {
        lexical: form(short),
        resolved: resolved.map(form),
        further: Vec::new(),
    })
}

/// A canonical URL; one that begins with `@` was written with user info.
pub(crate) fn url(canonical: &str) -> Subject {
    let (has_user_info, canonical) = match canonical.strip_prefix('@') {
        Some(canonical) => (true, canonical),
        None => (false, canonical),
    };
    let text = text(canonical);
    let known = text.known_part();
    let start = known.find("://").map_or(0, |at| at + 3);
    let len = known.split_at(start).1.find(['/', ':', '?']).unwrap_or(0);
    Subject::Url(UrlSubject {
        host: ByteSpan::new(start..start + len),
        has_user_info,
        text,
    })
}

pub(crate) fn unknown() -> Operation {
    let reason = UnknownReason::new("code from a pipe");
    operation("bash", Subject::Unknown(reason), Need::Full)
}

pub(crate) fn call(operations: &[Operation]) -> Lowered {
    let (first, rest) = operations.split_first().expect("an operation");
    Lowered::Operations(Operations::new(first.clone(), rest.to_vec()))
}

pub(crate) fn whole_call(operations: &[Operation], exact: &str) -> Lowered {
    whole_call_with_heads(operations, exact, &[])
}

pub(crate) fn whole_call_with_heads(
    operations: &[Operation],
    exact: &str,
    heads: &[usize],
) -> Lowered {
    match call(operations) {
        Lowered::NothingToRun => Lowered::NothingToRun,
        Lowered::Operations(operations) => Lowered::Operations(operations.with_whole(WholeText {
            exact: exact.into(),
            stripped: exact.into(),
            heads: heads.into(),
        })),
    }
}
