use super::{AsWritten, Effort, Overlap};
use crate::action::Action;
use crate::operation::{Lowered, Need, Operation, OperationIdx, PathSubject, Subject};
use crate::pattern::language::Guard;
use crate::policy::{Policies, Policy};
use crate::spec::PolicySpec;
use crate::testing::{
    Random, bash, call, command, n_cases, operation, path, policies, tool, unknown, url, whole_call,
};
use crate::text::{Text, written_word};
use crate::tool::KnownTools;
use crate::verdict::RuleIdx;

fn effort() -> Effort {
    Effort::new(20_000, 1 << 22, u64::MAX)
}

/// What is said of the last rule of a table.
fn check(table: &str, tool_name: &str) -> (AsWritten, bool) {
    let policies = policies(table);
    let known = KnownTools::built_in();
    let layers = policies.analysis(&known);
    let layer = &layers[0];
    let last = RuleIdx(layer.n_rules() - 1);
    let literal = layer.rule(last).unwrap().pattern;
    let literal = call(&[bash(literal)]);
    let written = layer.as_written(last, &tool(tool_name), &mut effort());
    (
        written,
        layer.never_decides(last, Some(&literal), &mut effort()),
    )
}

fn open(texts: &[&str]) -> AsWritten {
    AsWritten::Open(texts.iter().map(|text| (*text).to_owned()).collect())
}

#[test]
fn what_earlier_rules_leave_is_found() {
    for (table, tool, written, never) in [
        (
            "deny\nbash | git * | allow\nbash | git push | allow",
            "bash",
            AsWritten::Covered,
            true,
        ),
        // A deny sees more forms than an allow.
        (
            "ask\nbash | git * | allow\nbash | git push * | deny",
            "bash",
            AsWritten::Covered,
            false,
        ),
        (
            "ask\nbash | git * | deny\nbash | git push * | deny",
            "bash",
            AsWritten::Covered,
            true,
        ),
        (
            "ask\nbash | git * | ask\nbash | git push * | deny",
            "bash",
            AsWritten::Covered,
            true,
        ),
        // Together: a text with holes may match the later one alone for certain.
        (
            "ask\nbash | rm a* | deny\nbash | rm [!a]* | deny\nbash | rm ?* | deny",
            "bash",
            AsWritten::Covered,
            false,
        ),
        (
            "ask\nbash | rm a | deny\nbash | rm b | deny\nbash | rm [ab] | deny",
            "bash",
            AsWritten::Covered,
            true,
        ),
        (
            "ask\nbash | rm a | deny\nbash | rm [ab] | deny",
            "bash",
            open(&["rm b"]),
            false,
        ),
        // What a rule for everything is not applied to.
        (
            "ask\nbash | * | allow\nbash | rm * | deny",
            "bash",
            AsWritten::Covered,
            false,
        ),
        (
            "ask\nread | * | allow\nread | .env | deny",
            "read",
            AsWritten::Covered,
            true,
        ),
        (
            "ask\n* | * | allow\nread | .env | deny",
            "read",
            AsWritten::Covered,
            false,
        ),
        (
            "ask\nweb_fetch | * | allow\nweb_fetch | https://a.b/* | deny",
            "web_fetch",
            AsWritten::Covered,
            false,
        ),
        (
            "ask\nweb_fetch | https://a.b/* | allow\nweb_fetch | https://a.b/c | allow",
            "web_fetch",
            AsWritten::Covered,
            true,
        ),
        (
            "ask\nweb_fetch | https://*.b/* | allow\nweb_fetch | https://a.b/c | allow",
            "web_fetch",
            open(&["https://a.b/c"]),
            false,
        ),
        // What is below a directory.
        (
            "ask\nread | src/* | ask\nread | src/gen/* | deny",
            "read",
            AsWritten::Covered,
            false,
        ),
        (
            "ask\nread | src/gen/* | ask\nread | src/gen/* | deny",
            "read",
            AsWritten::Covered,
            true,
        ),
        (
            "ask\nread | *.env | deny\nread | .env | deny",
            "read",
            AsWritten::Covered,
            false,
        ),
        (
            "ask\nread | *.env | deny\nread | x/*.env | allow",
            "read",
            AsWritten::Covered,
            true,
        ),
        // Forms of a path.
        (
            "ask\nread | /w/* | allow\nread | x | allow",
            "read",
            open(&["x"]),
            false,
        ),
        (
            "ask\nread | *x | deny\nread | /w/x | allow",
            "read",
            AsWritten::Covered,
            true,
        ),
        // Whole lines.
        (
            "ask\nbash | * | deny\nbash | *curl*|*sh* | deny",
            "bash",
            open(&["xcurlx|xshx", "curl|sh"]),
            false,
        ),
        (
            "ask\nbash | a|b | deny\nbash | a|b | ask",
            "bash",
            open(&["a|b"]),
            true,
        ),
        (
            "ask\nbash | a|b | ask\nbash | a|b | deny",
            "bash",
            open(&["a|b"]),
            false,
        ),
        // Tools of servers.
        (
            "ask\nmcp__a__* | * | deny\nmcp__a__b | * | allow",
            "mcp__a__b",
            AsWritten::Covered,
            true,
        ),
        (
            "ask\nmcp__a__* | * | deny\nmcp__* | * | allow",
            "mcp__b__b",
            open(&["{}"]),
            false,
        ),
        // No text is like that.
        (
            "ask\nbash | it's * | allow",
            "bash",
            AsWritten::Empty,
            false,
        ),
        (
            "ask\nread | ./src/* | allow",
            "read",
            AsWritten::Empty,
            false,
        ),
    ] {
        let (found, is_never) = check(table, tool);
        let found = match (found, &written) {
            (AsWritten::Open(found), AsWritten::Open(expected)) => {
                let kept = found.iter().filter(|text| expected.contains(text));
                AsWritten::Open(kept.cloned().collect())
            }
            (found, _) => found,
        };
        let found = match (&found, &written) {
            // Of a rule for everything any object will do.
            (AsWritten::Open(texts), AsWritten::Open(_)) if texts.is_empty() => written.clone(),
            _ => found,
        };
        assert_eq!((found, is_never), (written, never), "{table}");
    }
}

#[test]
fn an_exception_is_told_from_a_hole() {
    let overlap = |early: &str, late: &str| {
        let policies = policies(&format!(
            "ask\nread | {early} | allow\nread | {late} | deny"
        ));
        let known = KnownTools::built_in();
        let layers = policies.analysis(&known);
        layers[0].overlap(RuleIdx(1), RuleIdx(0), &tool("read"), &mut effort())
    };
    assert!(matches!(
        overlap("*.env.example", "*.env.*"),
        Overlap::Within(_)
    ));
    assert!(
        matches!(overlap("src/*", "*.env"), Overlap::Partly(text) if text == "src/.env" || text.ends_with(".env"))
    );
    assert_eq!(overlap("a", "b"), Overlap::None);
}

const COMMAND_PIECES: &[&str] = &["a", "b", " ", " ", "*", "*", "?", "[ab]", "'b a'", "|"];
const PATH_PIECES: &[&str] = &["a", "b", "/", "/", "*", "?", "**/", "[!a]", "~/", ".e"];
const URLS: &[&str] = &[
    "*",
    "https://a.b/*",
    "https://*.b/*",
    "https://a.b/a",
    "https://a.b/a*",
    "*a",
    "https://a.b/[ab]",
];
const TOOLS: &[&str] = &[
    "bash",
    "bash",
    "read",
    "file_write",
    "web_fetch",
    "*",
    "f*",
    "mcp__a__b",
    "mcp__a__*",
];

fn a_pattern(random: &mut Random, tool: &str) -> String {
    match tool {
        "bash" => random.text(COMMAND_PIECES, 5),
        "web_fetch" => random.one_of(URLS).to_owned(),
        _ if random.below(5) == 0 => "*".to_owned(),
        _ => random.text(PATH_PIECES, 4),
    }
}

/// A text that a pattern matches, or nearly, some of its parts unknown.
fn near(random: &mut Random, pattern: &str, letters: &[&str]) -> String {
    let mut text = String::new();
    let pattern = pattern
        .replace("[ab]", "?")
        .replace("[!a]", "?")
        .replace("**/", "*");
    for c in pattern.chars() {
        match c {
            '*' if random.below(3) == 0 => {
                text.push_str(random.one_of(&["‹q›", "‹u›", "‹g›", "‹a›"]));
            }
            '*' => text.push_str(&random.text(letters, 3)),
            '?' => text.push_str(random.one_of(letters)),
            c if random.below(12) == 0 => text.push(c.to_ascii_uppercase()),
            c => text.push(c),
        }
    }
    text
}

fn an_operation(random: &mut Random, patterns: &[(String, String)]) -> Operation {
    let (_, pattern) = random.one_of(patterns);
    let need = random.one_of(&[
        Need::Full,
        Need::Full,
        Need::Restrictive,
        Need::Free,
        Need::DerivedFrom(OperationIdx(0)),
        Need::RunBy {
            wrapper: OperationIdx(0),
            reach: 1,
        },
    ]);
    match random.below(8) {
        0..3 => {
            let near = near(random, &pattern, &["a", "b", " "]);
            let words: Vec<&str> = near.split(' ').collect();
            let written: Vec<_> = words.iter().map(|word| written_word(word)).collect();
            let further = words.join(" ");
            operation("bash", command(&written.join(" "), &[&further]), need)
        }
        3..5 => {
            let tool = random.one_of(&["read", "file_write"]);
            let short = near(random, &pattern, &["a", "/", ".e"]);
            let resolved = near_resolved(random, &short);
            let subject = path(&short, resolved.as_deref());
            // Paths are never free of rules, nor run by a wrapper.
            let need = match need {
                Need::Free | Need::RunBy { .. } | Need::Named => Need::Full,
                need @ (Need::Full | Need::Restrictive | Need::DerivedFrom(_)) => need,
            };
            match subject {
                Subject::Path(path) if random.below(3) == 0 => {
                    operation(tool, Subject::tree(directory(&path)), Need::Restrictive)
                }
                subject => operation(tool, subject, need),
            }
        }
        5 => {
            let near = near(random, &pattern, &["a", "/"]);
            let near = match near.contains("://") {
                true => near,
                false => "https://a.b/a".to_owned(),
            };
            let need = random.one_of(&[Need::Full, Need::Named, Need::Restrictive]);
            operation("web_fetch", url(&near), need)
        }
        6 => unknown(),
        _ => {
            let text = near(random, &pattern, &["a", "b"]).replace(['‹', '›'], "");
            // What such a tool is given is an object.
            let text = match Guard::Object.has(&text) {
                true => text,
                false => format!("{{{text}}}"),
            };
            let tool = random.one_of(&["mcp__a__b", "mcp__a__c", "mcp__b__b"]);
            operation(tool, Subject::Plain(Text::known(text)), Need::Full)
        }
    }
}

fn near_resolved(random: &mut Random, short: &str) -> Option<String> {
    match random.below(4) {
        0 => Some("a/b".to_owned()),
        1 => Some(short.replace("a/", "b/")),
        _ => None,
    }
}

/// The same as all that is below it: each form ends in `/`.
fn directory(path: &PathSubject) -> PathSubject {
    let mut path = path.clone();
    let forms = std::iter::once(&mut path.lexical).chain(&mut path.resolved);
    for form in forms {
        let slash = |text: &Text| {
            let known = text.known_part();
            let front = match known {
                "." => "./".to_owned(),
                known => format!("{}/", known.trim_end_matches('/')),
            };
            match text.as_known() {
                Some(_) => Text::known(front),
                None => text.clone(),
            }
        };
        form.short = slash(&form.short);
        form.absolute = slash(&form.absolute);
        form.home = form.home.as_ref().map(slash);
    }
    path
}

#[test]
fn what_never_decides_decides_no_random_operation() {
    let mut random = Random::new(23);
    let known = KnownTools::built_in();
    let (mut n_never, mut n_decided) = (0, 0);
    for _ in 0..n_cases(1_000_000) / 500 {
        let n_rules = 2 + random.below(4);
        let patterns: Vec<(String, String)> = (0..n_rules)
            .map(|_| {
                let tool = random.one_of(TOOLS).to_owned();
                let pattern = a_pattern(&mut random, &tool);
                (tool, pattern)
            })
            .filter(|(_, pattern)| crate::pattern::parse(pattern).is_ok())
            .collect();
        if patterns.is_empty() {
            continue;
        }
        let actions = [Action::Allow, Action::Ask, Action::Deny];
        let mut table = PolicySpec::new(random.one_of(&actions));
        for (tool, pattern) in &patterns {
            table = table.rule(tool, pattern, random.one_of(&actions));
        }
        let policies = Policies::from(Policy::compile(&table, &known).unwrap().policy);
        let layers = policies.analysis(&known);
        let layer = &layers[0];
        let mut effort = effort();
        let never: Vec<RuleIdx> = (0..layer.n_rules())
            .map(RuleIdx)
            .filter(|idx| layer.never_decides(*idx, None, &mut effort))
            .collect();
        n_never += never.len();
        for _ in 0..if never.is_empty() { 1 } else { 200 } {
            let mut operations = vec![an_operation(&mut random, &patterns)];
            if random.below(2) == 0 {
                // What a tool does of its own kind is never only restrictive.
                operations.insert(0, bash(random.one_of(&["a", "a b", "b"])));
            }
            // Only a command line has a text as a whole.
            let lowered: Lowered = match (random.below(3), operations.len()) {
                (0, 2) => whole_call(&operations, &random.one_of(&patterns).1),
                _ => call(&operations),
            };
            for decided in layer.decisions(&lowered) {
                n_decided += usize::from(decided.rule.is_some());
                let is_never = decided.rule.is_some_and(|rule| never.contains(&rule));
                assert!(!is_never, "{decided:?}\n{table:#?}\n{lowered:#?}");
            }
        }
    }
    assert!(n_never > 100 && n_decided > 1000, "{n_never} {n_decided}");
}
