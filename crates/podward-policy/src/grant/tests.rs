use crate::asking::{AskedBy, Asker, Asking, shortest_ask_timeout};
use crate::circumstances::Circumstances;
use crate::grant::GrantRule;
use crate::operation::{
    CommandPlace, Directories, Lowered, Need, Operation, OperationIdx, Subject,
};
use crate::policy::{Policies, Policy};
use crate::testing::{
    bash, call, layer, operation, path, policies, table, text, tool, unknown, url, whole_call,
};
use crate::tool::KnownTools;
use crate::verdict::{LayerKind, LayerName};

fn rule(tool: &str, pattern: &str) -> AskedBy {
    AskedBy::Rule {
        tool: tool.into(),
        pattern: pattern.into(),
    }
}

fn of_manifest(by: AskedBy) -> Asker {
    Asker {
        layer: LayerKind::Manifest,
        by,
    }
}

/// Operation, what asks, whether it may be granted.
fn shown(asking: &[Asking]) -> Vec<(usize, AskedBy, bool)> {
    asking
        .iter()
        .map(|asking| {
            (
                asking.operation.0,
                asking.asker.by.clone(),
                asking.grantable,
            )
        })
        .collect()
}

fn check_asking(table: &str, lowered: &Lowered, expected: &[(usize, AskedBy, bool)]) {
    let asking = policies(table).asking(lowered);
    assert_eq!(shown(&asking), expected, "{table}: {lowered:?}");
}

fn grant(tool_name: &str, pattern: &str, askers: &[AskedBy]) -> GrantRule {
    let askers = askers.iter().cloned().map(of_manifest).collect();
    GrantRule::compile(&tool(tool_name), pattern, askers).unwrap()
}

fn is_covered(grant: &GrantRule, policies: &Policies, lowered: &Lowered) -> bool {
    let asking = policies.asking(lowered);
    !asking.is_empty() && asking.iter().all(|asking| grant.covers(asking, lowered))
}

#[test]
fn d5_3_every_layer_and_rule_that_asks_is_named() {
    let two = call(&[bash("git push"), bash("ls")]);
    check_asking(
        "ask
         bash | git * | ask",
        &two,
        &[
            (0, rule("bash", "git *"), true),
            (1, AskedBy::Default, true),
        ],
    );
    check_asking("allow", &two, &[]);
    check_asking(
        "ask
         bash | ls* | deny",
        &two,
        &[],
    );
    let layers = Policies::new(vec![
        layer(LayerKind::User, "allow\nbash | git push* | ask"),
        layer(LayerKind::Manifest, "ask\nbash | ls | allow"),
    ]);
    let askers: Vec<_> = layers
        .asking(&two)
        .into_iter()
        .map(|asking| (asking.operation.0, asking.asker))
        .collect();
    let user = Asker {
        layer: LayerKind::User,
        by: rule("bash", "git push*"),
    };
    assert_eq!(askers, [(0, user), (0, of_manifest(AskedBy::Default))]);
}

#[test]
fn d5_3_a_text_with_holes_is_asked_about_by_all_that_may_match() {
    let holes = call(&[bash("git ‹u›")]);
    check_asking(
        "ask
         bash | git log * | allow
         bash | git push * | ask",
        &holes,
        &[
            (0, rule("bash", "git push *"), true),
            (0, AskedBy::Default, true),
        ],
    );
    // A deny that may match behind what already disagrees counts as well.
    check_asking(
        "ask
         bash | git log * | allow
         bash | git push * | ask
         bash | git rm * | deny",
        &holes,
        &[
            (0, AskedBy::Unresolved, false),
            (0, rule("bash", "git push *"), false),
            (0, AskedBy::Default, false),
        ],
    );
    check_asking(
        "ask
         unresolved | deny
         bash | git log * | allow",
        &holes,
        &[],
    );
}

#[test]
fn d5_3_what_nobody_knows_is_never_granted() {
    let table = "ask";
    check_asking(table, &call(&[unknown()]), &[(0, AskedBy::Default, false)]);
    let program = call(&[bash("‹q› x")]);
    check_asking(table, &program, &[(0, AskedBy::Default, false)]);
    let by_default = [AskedBy::Default];
    for pattern in ["ls *", "rm x"] {
        let grant = grant("bash", pattern, &by_default);
        assert!(!grant.matches(&unknown()));
        assert!(!is_covered(&grant, &policies(table), &program));
    }
}

#[test]
fn a_rule_can_forbid_remembering_and_say_how_long_to_wait() {
    let mut spec = table("allow\nbash | git * | ask\nbash | git push * | ask\nread | * | ask");
    spec.rules[0].grantable = false;
    spec.rules[0].ask_timeout = Some(60);
    spec.rules[2].ask_timeout = Some(30);
    let name = LayerName {
        kind: LayerKind::Manifest,
    };
    let policy = Policy::compile(&spec, &KnownTools::built_in()).unwrap();
    let policies = Policies::new(vec![(name, policy.policy)]);
    let read = operation("read", path("a", None), Need::Full);
    let lowered = call(&[bash("git push"), read]);
    let asking = policies.asking(&lowered);
    assert_eq!(
        shown(&asking),
        [
            (0, rule("bash", "git *"), false),
            (1, rule("read", "*"), true),
        ]
    );
    assert_eq!(shortest_ask_timeout(&asking), Some(30));
    assert_eq!(shortest_ask_timeout(&asking[..1]), Some(60));
    assert_eq!(shortest_ask_timeout(&[]), None);
    let location = policies.location(&asking[0].asker).unwrap();
    assert_eq!(location.line, 1);
    let gone = of_manifest(rule("bash", "hg *"));
    assert_eq!(policies.location(&gone), None);
}

#[test]
fn d5_3_a_grant_answers_its_own_askers_only() {
    let table = "ask
                 bash | git push* | ask";
    let policies = policies(table);
    let push = call(&[bash("git push origin")]);
    let pull = call(&[bash("git pull origin")]);
    let by_default = grant("bash", "git *", &[AskedBy::Default]);
    let by_rule = grant("bash", "git *", &[rule("bash", "git push*")]);
    assert!(is_covered(&by_default, &policies, &pull));
    assert!(!is_covered(&by_default, &policies, &push));
    assert!(is_covered(&by_rule, &policies, &push));
    assert!(!is_covered(&by_rule, &policies, &pull));
    let other_layer = Asker {
        layer: LayerKind::User,
        by: AskedBy::Default,
    };
    let other = GrantRule::compile(&tool("bash"), "git *", vec![other_layer]).unwrap();
    assert!(!is_covered(&other, &policies, &pull));
}

#[test]
fn d5_3_a_text_with_holes_is_covered_only_where_it_must_match() {
    let policies = policies("ask");
    let check = |pattern: &str, written: &str, expected: bool| {
        let grant = grant("bash", pattern, &[AskedBy::Default]);
        let lowered = call(&[bash(written)]);
        assert_eq!(
            is_covered(&grant, &policies, &lowered),
            expected,
            "{pattern}: {written}"
        );
    };
    check("git log *", "git log ‹u›", true);
    check("git log *", "git log ‹q›", true);
    check("git log *", "git ‹q›", false);
    check("git log main", "git log ‹q›", false);
    check("git log '*'", "git log ‹q›", true);
    check("git log '*'", "git log ‹u›", false);
    // What is open in a word may climb.
    check("cat src/*", "cat src/‹q›", false);
}

#[test]
fn a_wildcard_in_a_word_never_climbs() {
    let by_default = [AskedBy::Default];
    let check = |pattern: &str, written: &str, expected: bool| {
        let matches = grant("bash", pattern, &by_default).matches(&bash(written));
        assert_eq!(matches, expected, "{pattern}: {written}");
    };
    check("cat src/*", "cat src/a.rs", true);
    check("cat src/*", "cat src/../.env", false);
    check("cat src*", "cat src/../.env", false);
    check("cat '--from=*'", "cat --from=../.env", false);
    check("git diff --from=*", "git diff --from=a a..b", true);
    // An open word says so itself.
    check("cat *", "cat src/../.env", true);
    check("cat '*'", "cat src/../.env", true);
    check("cat src/../.env", "cat src/../.env", true);
}

#[test]
fn a_grant_matches_every_form_of_a_path() {
    let by_default = [AskedBy::Default];
    let check = |pattern: &str, subject: Subject, expected: bool| {
        let read = operation("read", subject, Need::Full);
        let matches = grant("read", pattern, &by_default).matches(&read);
        assert_eq!(matches, expected, "{pattern}: {read:?}");
    };
    check("src/*", path("src/a", None), true);
    check("src/*", path("src/a", Some("/etc/a")), false);
    check("src/*", path("src/a", Some("src/b")), true);
    check("src/*", path("src", None), false);
    check("src/*", path("src/‹q›", None), false);
    check("/w/src/*", path("src/a", None), true);
    let write = operation("file_write", path("src/a", None), Need::Full);
    assert!(!grant("read", "src/*", &by_default).matches(&write));
}

#[test]
fn a_named_address_is_covered_by_a_grant_that_names_it() {
    let by = [AskedBy::Unnamed];
    let address = operation("web_fetch", url("http://10.0.0.1/x"), Need::Named);
    let policies = policies("allow");
    let lowered = call(&[address]);
    check_asking("allow", &lowered, &[(0, AskedBy::Unnamed, true)]);
    let named = grant("web_fetch", "http://10.0.0.1/*", &by);
    assert!(is_covered(&named, &policies, &lowered));
    let other = grant("web_fetch", "http://10.0.0.2/*", &by);
    assert!(!is_covered(&other, &policies, &lowered));
    let user_info = operation("web_fetch", url("@http://10.0.0.1/x"), Need::Full);
    assert!(!named.matches(&user_info));
}

#[test]
fn the_text_of_a_whole_call_is_no_grant_for_its_parts() {
    let policies = policies("ask");
    let lowered = whole_call(&[bash("ls"), unknown()], "ls | sh");
    let asking = policies.asking(&lowered);
    let whole = grant("bash", "ls | sh", &[AskedBy::Default]);
    assert!(asking.iter().all(|asking| !whole.covers(asking, &lowered)));
}

#[test]
fn what_names_nothing_is_no_grant() {
    let refused = |tool_name: &str, pattern: &str| {
        GrantRule::compile(&tool(tool_name), pattern, Vec::new())
            .expect_err(pattern)
            .message
    };
    for tool_name in ["bash", "read", "web_fetch", "mcp__a__b", "skill"] {
        for pattern in ["", "*", "**", "?*", "**/*", "[!a]*", "a**", "[a"] {
            refused(tool_name, pattern);
        }
    }
    for pattern in [
        "* x",
        "g*",
        "g?t push",
        "[gh]it push",
        "'git *' x",
        "git 'a",
        "*rm*",
    ] {
        refused("bash", pattern);
    }
    for pattern in ["/*", "~/*", "./*", "*.env", "**/a", "../*"] {
        refused("file_write", pattern);
    }
    for pattern in [
        "https://*",
        "https://*.example.com/*",
        "https://*/x",
        "http*://a.b/",
        "*://a.b/",
        "a.b/*",
        "https:*",
    ] {
        refused("web_fetch", pattern);
    }
    for (tool_name, pattern) in [
        ("bash", "git push *"),
        ("bash", "[g]it"),
        ("file_write", "src/*"),
        ("file_write", ".env"),
        ("web_fetch", "https://a.b"),
        ("web_fetch", "https://a.b:8080/x/*"),
        ("mcp__a__b", "{*}"),
    ] {
        GrantRule::compile(&tool(tool_name), pattern, Vec::new()).unwrap();
    }
}

#[test]
fn a_narrow_grant_is_within_a_wide_one() {
    let check = |tool_name: &str, narrow: &str, wide: &str, expected: bool| {
        let narrow = grant(tool_name, narrow, &[]);
        let wide = grant(tool_name, wide, &[]);
        assert_eq!(narrow.is_within(&wide), expected, "{narrow:?} {wide:?}");
    };
    check("bash", "git push origin", "git push *", true);
    check("bash", "git push", "git push *", true);
    check("bash", "git push *", "git *", true);
    check("bash", "git push *", "git push origin *", false);
    check("bash", "git commit -m 'a b'", "git commit -m '*'", true);
    check("bash", "git commit -m *", "git commit -m '*'", false);
    check("read", "src/a", "src/*", true);
    check("read", "/src/a", "src/*", false);
    check("web_fetch", "https://a.b/x", "https://a.b/*", true);
    check("web_fetch", "https://a.b.c/x", "https://a.b/*", false);
    check("mcp__a__b", "{\"x\":1}", "{*}", true);
    let other_tool = grant("read", "a", &[]);
    assert!(!other_tool.is_within(&grant("file_write", "a", &[])));
}

#[test]
fn d5_2_a_grant_never_touches_what_a_layer_denies() {
    let layers = Policies::new(vec![
        layer(LayerKind::User, "deny\nbash | git * | allow"),
        layer(LayerKind::Manifest, "ask"),
    ]);
    let lowered = call(&[bash("rm x")]);
    assert_eq!(layers.asking(&lowered), []);
    // The last word on an operation of another call says nothing here.
    let asking = Asking {
        operation: OperationIdx(7),
        asker: of_manifest(AskedBy::Default),
        grantable: true,
        ask_timeout: None,
    };
    assert!(!grant("bash", "rm *", &[AskedBy::Default]).covers(&asking, &lowered));
    assert!(!grant("bash", "rm *", &[AskedBy::Default]).covers(&asking, &Lowered::NothingToRun));
    let plain = operation("skill", Subject::Plain(text("release")), Need::Full);
    assert!(grant("skill", "release", &[]).matches(&plain));
}

#[test]
fn the_words_before_the_first_wildcard_are_fixed() {
    let check = |pattern: &str, expected: &[&str]| {
        let grant = grant("bash", pattern, &[]);
        assert_eq!(grant.fixed_words(), expected, "{pattern}");
    };
    check("git push *", &["git", "push"]);
    check("git push", &["git", "push"]);
    check("git pu* x", &["git"]);
    check("git 'a b' *", &["git", "a b"]);
    check("git \"it's\" '*' x", &["git", "it's"]);
    check("git [*] [ab] x", &["git", "*"]);
    check("git '' *", &["git", ""]);
    assert!(grant("bash", "git [*]", &[]).is_literal());
    assert!(!grant("bash", "git *", &[]).is_literal());
}

/// A command that runs in these directories, and what it runs there by the paths of its words.
fn placed(written: &str, directories: &[&str], located: &[&[&str]]) -> Operation {
    let mut operation = bash(written);
    if let Subject::Command(command) = &mut operation.subject {
        let group = |group: &&[&str]| group.iter().map(|spelling| text(spelling)).collect();
        command.place = Some(Box::new(CommandPlace {
            circumstances: in_directories(directories),
            located: located.iter().map(group).collect(),
        }));
    }
    operation
}

fn in_directories(names: &[&str]) -> Circumstances {
    Circumstances {
        directories: match names {
            ["?"] => Directories::Unknown,
            names => Directories::of(names.iter().map(|name| (*name).into()).collect()),
        },
        ..Circumstances::default()
    }
}

#[test]
fn a_grant_for_one_command_holds_where_it_was_given() {
    let check = |pattern: &str, given_in: &[&str], in_now: &[&str], expected: bool| {
        let grant = grant("bash", pattern, &[]).given_in(&in_directories(given_in));
        let operation = placed("rm a.txt", in_now, &[]);
        assert_eq!(
            grant.matches(&operation),
            expected,
            "`{pattern}` of {given_in:?} in {in_now:?}"
        );
    };
    check("rm a.txt", &["."], &["."], true);
    check("rm a.txt", &["."], &["src"], false);
    check("rm a.txt", &["src"], &["src"], true);
    check("rm a.txt", &["src"], &["."], false);
    check("rm a.txt", &["src", "."], &[".", "src"], true);
    check("rm a.txt", &["src", "."], &["src"], true);
    check("rm a.txt", &["src"], &["src", "."], false);
    check("rm a.txt", &["src"], &["?"], false);
    check("rm a.txt", &["?"], &["?"], false);
    check("rm '[a-z]*'", &["."], &["src"], false);
    check("rm *", &["."], &["src"], true);
    check("rm *", &["."], &["?"], true);
    assert!(grant("bash", "rm a.txt", &[]).matches(&bash("rm a.txt")));
    let here = grant("bash", "rm a.txt", &[]);
    assert_ne!(here, here.clone().given_in(&in_directories(&["src"])));
}

#[test]
fn a_grant_names_what_runs_where_it_lies() {
    let located: &[&[&str]] = &[&["./src/check a", "src/check a"]];
    let check = |pattern: &str, given_in: &[&str], expected: bool| {
        let grant = grant("bash", pattern, &[]).given_in(&in_directories(given_in));
        let operation = placed("./check a", &["src"], located);
        assert_eq!(grant.matches(&operation), expected, "{pattern}");
    };
    // The same words in the same directory are the same.
    check("./check a", &["src"], true);
    check("./check a", &["."], false);
    check("./check *", &["src"], false);
    check("src/check *", &["src"], false);
    check("./check '?'", &["src"], false);
}
