//! The index against the ordered loop: the same ruling, with its cause, and the same that asks.

use super::Index;
use crate::action::Action;
use crate::judge::judged;
use crate::operation::{
    CommandPlace, CommandSubject, Lowered, Need, Operation, OperationIdx, PathSubject, Subject,
};
use crate::policy::{Policies, Policy};
use crate::spec::{PolicySpec, RuleSpec};
use crate::testing::{
    Random, call, command, location, n_cases, operation, path, text, unknown, url,
    whole_call_with_heads,
};
use crate::tool::KnownTools;
use crate::verdict::{Judged, LayerKind, LayerName};

/// What patterns and texts are made of, so that they often meet.
const WORDS: &[&str] = &[
    "git", "push", "status", "rm", "-rf", "--force", "npm", "run", "build", "test:7", "src", "lib",
    "main.rs", ".env", "keys", "deploy", "a", "b", "Makefile", "curl", "sh", "É", "x",
];

const PATHS: &[&str] = &[
    "src/", "lib/", "a/", "b/", "keys/", "/etc/", "/h/", "/w/", "main.rs", ".env", "Makefile", "x",
    "É", "id_rsa", "deep/er/", "K",
];

const HOSTS: &[&str] = &[
    "example.com",
    "a.example.com",
    "b.org",
    "127.0.0.1",
    "evil-example.com",
];

const TOOLS: &[&str] = &[
    "bash",
    "bash",
    "bash",
    "read",
    "read",
    "file_write",
    "web_fetch",
    "web_fetch",
    "external_directory",
    "mcp__a__b",
    "mcp__a__c",
    "skill",
    "own",
    "*",
    "*",
    "mcp__*",
    "mcp__a__*",
    "mcp__b*",
    "*r*",
    "file_*",
    "re?d",
    "mcp__*__b",
];

fn a_command(random: &mut Random) -> String {
    let n = 1 + random.below(4);
    let words: Vec<String> = (0..n)
        .map(|_| match random.below(12) {
            0 => random.text(PATHS, 3),
            1 => format!("item_{}", random.below(40)),
            _ => random.one_of(WORDS).to_owned(),
        })
        .collect();
    words.join(" ")
}

fn a_path(random: &mut Random) -> String {
    let path = random.text(PATHS, 3);
    match random.below(3) {
        0 => format!("{path}file-{}.rs", random.below(60)),
        _ if path.is_empty() => ".".to_owned(),
        _ => path,
    }
}

fn a_url(random: &mut Random) -> String {
    let scheme = random.one_of(&["https", "https", "http", "data"]);
    let path = random.text(&["/", "docs", "a", "?q=1", "api-7"], 3);
    match scheme {
        "data" => format!("data:text/{path}"),
        scheme => format!("{scheme}://{}/{path}", random.one_of(HOSTS)),
    }
}

/// A pattern made of a text: some of it replaced by wildcards, classes, quotes.
fn a_pattern(like: &str, random: &mut Random) -> String {
    let mut pattern = like.to_owned();
    for _ in 0..1 + random.below(2) {
        let cut = |random: &mut Random, text: &str| {
            let mut at = random.below(text.len() + 1);
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let (one, other) = (cut(random, &pattern), cut(random, &pattern));
        let (from, to) = (one.min(other), one.max(other));
        match random.below(12) {
            0..=3 => pattern.replace_range(from.., "*"),
            4 | 5 => pattern.replace_range(..to, "*"),
            6 | 7 => pattern.replace_range(from..to, "*"),
            8 => pattern.replace_range(from..from, "?"),
            9 => pattern = pattern.replace("git", "[gG]it").replace("rm", "'rm'"),
            10 => pattern = format!("**/{pattern}"),
            _ => pattern = format!("*{pattern}*"),
        }
    }
    match random.below(24) {
        0 => pattern + " *",
        1 => pattern + "/*",
        2 => pattern + " | *",
        3 => format!("* > {pattern}"),
        4 => pattern.to_uppercase(),
        5 => "*".to_owned(),
        6 => format!("'{pattern}' *"),
        _ => pattern,
    }
    .replace("***", "*")
}

fn some_text(tool: &str, random: &mut Random) -> String {
    match tool {
        "bash" => a_command(random),
        "web_fetch" => a_url(random),
        "read" | "file_write" | "external_directory" | "file_*" | "re?d" => a_path(random),
        _ => match random.below(4) {
            0 => a_url(random),
            1 => a_path(random),
            _ => a_command(random),
        },
    }
}

fn an_action(random: &mut Random) -> Action {
    random.one_of(&[Action::Allow, Action::Allow, Action::Ask, Action::Deny])
}

fn a_table(n_rules: usize, random: &mut Random) -> Policy {
    let mut spec = PolicySpec::new(an_action(random));
    spec.unresolved = random.one_of(&[None, Some(Action::Ask), Some(Action::Deny)]);
    let known = KnownTools::with([crate::testing::tool("own")]);
    while spec.rules.len() < n_rules {
        let tool = random.one_of(TOOLS);
        let like = some_text(tool, random);
        let pattern = match random.below(4) {
            0 => like,
            _ => a_pattern(&like, random),
        };
        // A late rule decides only where not all is caught by an early one.
        if pattern == "*" && random.below(8) != 0 {
            continue;
        }
        let rule = RuleSpec {
            tool: tool.to_owned(),
            pattern,
            action: an_action(random),
            message: None,
            grantable: true,
            ask_timeout: None,
            location: location(spec.rules.len() + 1),
        };
        let mut alone = PolicySpec::new(Action::Ask);
        alone.rules.push(rule.clone());
        if Policy::compile_unread(&alone, &known).is_ok() {
            spec.rules.push(rule);
        }
    }
    Policy::compile_unread(&spec, &known).expect("each rule compiles")
}

/// The text with up to two holes in it, now and then.
fn holed(written: &str, random: &mut Random) -> String {
    let mut holed = written.to_owned();
    if random.below(16) == 0 {
        let mut places = [0, 1].map(|_| random.below(written.len() + 1));
        places.sort_unstable();
        // From the back, so that no hole moves another.
        for mut at in places.into_iter().rev().take(1 + random.below(2)) {
            while !written.is_char_boundary(at) {
                at -= 1;
            }
            holed.insert_str(at, random.one_of(&["‹q›", "‹q›", "‹u›", "‹g›", "‹a›"]));
        }
    }
    holed
}

fn an_operation(idx: usize, random: &mut Random) -> Operation {
    let need = match random.below(8) {
        0 => Need::Restrictive,
        1 => Need::Free,
        2 => Need::Named,
        3 if idx > 0 => Need::DerivedFrom(OperationIdx(random.below(idx))),
        4 if idx > 0 => Need::RunBy {
            wrapper: OperationIdx(random.below(idx)),
            reach: random.below(12),
        },
        _ => Need::Full,
    };
    let tool = random.one_of(&[
        "bash",
        "bash",
        "bash",
        "read",
        "file_write",
        "web_fetch",
        "mcp__a__b",
        "mcp__b__x",
        "own",
        "external_directory",
        "skill",
    ]);
    let subject = match tool {
        "bash" if random.below(40) == 0 => return unknown(),
        "bash" => {
            let written = a_command(random);
            let mut subject = command(&holed(&written, random), &[]);
            if let Subject::Command(CommandSubject { further, place, .. }) = &mut subject {
                for _ in 0..random.below(3) {
                    further.push(text(&a_command(random)));
                }
                let mut located = Vec::new();
                for _ in 0..random.below(3) {
                    let spelled = a_command(random);
                    located.push(vec![
                        text(&holed(&spelled, random)),
                        text(&a_command(random)),
                    ]);
                }
                *place = (!located.is_empty()).then(|| {
                    Box::new(CommandPlace {
                        located,
                        ..CommandPlace::default()
                    })
                });
            }
            subject
        }
        "web_fetch" => url(&holed(&a_url(random), random)),
        "read" | "file_write" | "external_directory" => {
            let resolved = (random.below(4) == 0).then(|| a_path(random));
            let subject = path(&holed(&a_path(random), random), resolved.as_deref());
            match (random.below(24), subject) {
                (0, Subject::Path(path)) => Subject::tree(below(&path)),
                (_, subject) => subject,
            }
        }
        "own" => match random.below(3) {
            0 => command(&a_command(random), &[]),
            1 => path(&a_path(random), None),
            _ => Subject::Plain(text(&some_text("own", random))),
        },
        _ => Subject::Plain(text(&holed(&some_text(tool, random), random))),
    };
    operation(tool, subject, need)
}

fn below(path: &PathSubject) -> PathSubject {
    let mut path = path.clone();
    let form = &mut path.lexical;
    form.short = text(&format!("{}/", form.short));
    form.absolute = text(&format!("{}/", form.absolute));
    path
}

fn a_call(random: &mut Random) -> Lowered {
    let n = match random.below(4) {
        0 => 1 + random.below(4),
        _ => 1,
    };
    let operations: Vec<Operation> = (0..n).map(|idx| an_operation(idx, random)).collect();
    match random.below(4) {
        0 => {
            let exact = match random.below(3) {
                0 => a_command(random),
                1 => format!("{} | {}", a_command(random), a_command(random)),
                _ => format!("{} > x", a_command(random)),
            };
            let mut heads: Vec<usize> = exact.match_indices(' ').map(|(at, _)| at).collect();
            heads.truncate(random.below(4));
            whole_call_with_heads(&operations, &exact, &heads)
        }
        _ => call(&operations),
    }
}

const KINDS: &[LayerKind] = &[LayerKind::Machine, LayerKind::User, LayerKind::Manifest];

#[test]
fn the_index_never_changes_what_is_decided() {
    let mut random = Random::new(21);
    let n_wanted = n_cases(1_000_000);
    let (mut n_done, mut n_skipped, mut n_rules) = (0, 0, 0);
    while n_done < n_wanted {
        let n_layers = 1 + random.below(KINDS.len());
        let layers = |random: &mut Random, sizes: &[usize]| {
            let layers = KINDS
                .iter()
                .zip(sizes)
                .map(|(kind, size)| (LayerName { kind: *kind }, a_table(*size, random)));
            Policies::new(layers.collect())
        };
        let sizes: Vec<usize> = (0..n_layers).map(|_| 10 + random.below(70)).collect();
        let seed = random.next();
        let looped = layers(&mut Random::new(seed), &sizes);
        let indexed = layers(&mut Random::new(seed), &sizes).indexed();
        for _ in 0..1000 {
            let call = a_call(&mut random);
            let expected = looped.judge(&call);
            assert_eq!(indexed.judge(&call), expected, "{call:?}");
            if n_done % 8 == 0 {
                let asking = looped.asking(&call);
                let expected = Judged {
                    ruling: expected,
                    asking,
                };
                assert_eq!(judged(&indexed, &call), expected, "{call:?}");
            }
            n_done += 1;
        }
        let (all, tried) = tried(&indexed, &a_call(&mut random));
        n_rules += all;
        n_skipped += all - tried;
    }
    // Else nothing was tested.
    assert!(n_skipped > n_rules / 4, "{n_skipped} of {n_rules}");
}

/// How many rules there are for the operations of a call, and how many of them are tried.
fn tried(policies: &Policies, lowered: &Lowered) -> (usize, usize) {
    let Lowered::Operations(operations) = lowered else {
        return (0, 0);
    };
    let mut counts = (0, 0);
    for (_, policy) in policies.layers.iter() {
        let Some(index) = Index::new(&policy.rules) else {
            continue;
        };
        for operation in operations.iter() {
            let order = index.order(operation, operations, [None, None]);
            counts.0 += policy.rules.len();
            counts.1 += order.map_or(policy.rules.len(), Iterator::count);
        }
    }
    counts
}
