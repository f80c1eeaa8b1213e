use crate::policy::Policy;
use crate::source::ByteSpan;
use crate::spec::{Finding, RuleField};
use crate::testing::{compiled, table};
use crate::tool::KnownTools;
use crate::verdict::RuleIdx;

fn errors(rules: &str) -> Vec<Finding> {
    Policy::compile(&table(&format!("ask\n{rules}")), &KnownTools::built_in())
        .expect_err("does not compile")
}

fn warnings(rules: &str) -> Vec<Finding> {
    compiled(&format!("ask\n{rules}")).warnings
}

#[test]
fn d1_3_all_errors_are_named_at_once() {
    let found = errors(
        "bsah | rm ** | deny
         bash | ls * | allow
         mcp__git | [a | ask",
    );
    let places: Vec<_> = found
        .iter()
        .map(|error| (error.rule, error.field, error.part))
        .collect();
    assert_eq!(
        places,
        [
            (RuleIdx(0), RuleField::Tool, None),
            (RuleIdx(0), RuleField::Pattern, Some(ByteSpan::new(3..5))),
            (RuleIdx(2), RuleField::Tool, None),
            (RuleIdx(2), RuleField::Pattern, Some(ByteSpan::new(0..1))),
        ]
    );
}

#[test]
fn d1_3_unknown_tools_are_refused_with_the_name_that_is_meant() {
    for (tool, message, help) in [
        ("bsah", "unknown tool `bsah`", "did you mean `bash`?"),
        ("Bash", "unknown tool `Bash`", "did you mean `bash`?"),
        ("Edit", "unknown tool `Edit`", "did you mean `file_edit`?"),
        (
            "webfetch",
            "unknown tool `webfetch`",
            "did you mean `web_fetch`?",
        ),
        ("shell", "unknown tool `shell`", "did you mean `bash`?"),
        ("grpe", "unknown tool `grpe`", "did you mean `grep`?"),
        (
            "frobnicate",
            "unknown tool `frobnicate`",
            "tools are `bash`, ",
        ),
        (
            "mcp__github",
            "`mcp__github` is not a tool name",
            "write `mcp__github__*`",
        ),
        ("a b", "`a b` is not a tool name", "tools are"),
    ] {
        let found = errors(&format!("{tool} | x | deny"));
        let [error] = &*found else {
            panic!("{tool}: {found:?}");
        };
        assert!(error.message.starts_with(message), "{error:?}");
        let found = error.help.as_deref().unwrap();
        assert!(found.contains(help), "{error:?}");
    }
    let mut unnamed = table("ask\nbash | x | deny");
    unnamed.rules[0].tool.clear();
    let found = Policy::compile(&unnamed, &KnownTools::built_in()).expect_err("no name");
    assert_eq!(found[0].message, "an empty name is no tool");
    for tool in ["[a", "a**"] {
        assert_eq!(errors(&format!("{tool} | x | deny")).len(), 1, "{tool}");
    }
    for tool in [
        "bash",
        "skill",
        "spawn",
        "external_directory",
        "mcp__a__b",
        "*",
        "mcp__a__*",
    ] {
        assert_eq!(warnings(&format!("{tool} | x | allow")), [], "{tool}");
    }
}

#[test]
fn d1_3_a_glob_that_fits_no_tool_is_a_warning() {
    for (rule, expected) in [
        ("gh* | x | allow", true),
        ("gh* | x | deny", true),
        ("*create | x | allow", true),
        ("*create | x | deny", false),
        ("file_* | x | allow", false),
        ("mcp__git* | x | allow", true),
        ("mcp__git* | x | deny", false),
        ("mcp__* | x | allow", false),
        ("ext* | x | deny", true),
    ] {
        let found = warnings(rule);
        let is_unfit = found
            .iter()
            .any(|warning| warning.message.contains("fits no known tool"));
        assert_eq!(is_unfit, expected, "{rule}: {found:?}");
    }
}

#[test]
fn what_hardly_means_what_it_says_is_a_warning() {
    for (rule, expected) in [
        (
            "bash | rm \\* | deny",
            Some("`\\` is an ordinary character"),
        ),
        (
            "bash | echo \"a * | deny",
            Some("a quote in this pattern is not closed"),
        ),
        ("bash | rm  -rf * | deny", Some("two blanks in a row")),
        ("bash | wget * |  sh* | deny", None),
        ("bash | ls {a,b} | deny", Some("braces")),
        ("bash | awk '{print a, b}' * | deny", None),
        ("read | *.{pem,key} | deny", Some("braces")),
        ("mcp__a__b | {a,b} | deny", None),
        ("read | ./src/* | deny", Some("normal form")),
        ("read | a/../b | deny", Some("normal form")),
        ("read | secrets/ | deny", Some("no path ends in `/`")),
        ("read | ~bob/x | deny", Some("`~` is the home directory")),
        ("read | ~/x | deny", None),
        ("read | . | deny", None),
        ("read | / | deny", None),
        (
            "web_fetch | evil.example/* | deny",
            Some("no URL begins like this"),
        ),
        ("web_fetch | *evil* | deny", None),
        (
            "web_fetch | localhost:8000/* | deny",
            Some("no URL begins like this"),
        ),
        (
            "web_fetch | docs.example:* | allow",
            Some("no URL begins like this"),
        ),
        ("web_fetch | http:* | allow", Some("covers no URL")),
        ("web_fetch | https:* | deny", None),
        ("web_fetch | http://localhost:*/* | allow", None),
        ("web_fetch | *good.example/* | allow", Some("covers no URL")),
        (
            "web_fetch | https://bücher.example/* | deny",
            Some("ASCII form"),
        ),
        ("web_fetch | https://a.example/ü* | deny", None),
        ("web_fetch | * | allow", None),
        ("web_fetch | data:* | allow", None),
    ] {
        let found = warnings(rule);
        match expected {
            None => assert_eq!(found, [], "{rule}"),
            Some(message) => assert!(
                matches!(&*found, [warning] if warning.message.contains(message)),
                "{rule}: {found:?}"
            ),
        }
    }
}

#[test]
fn d1_4_a_rule_that_an_earlier_one_covers_is_a_warning() {
    for (rules, covered) in [
        ("bash | git * | allow\nbash | git push * | deny", true),
        ("bash | git push * | deny\nbash | git * | allow", false),
        ("bash | * | allow\nbash | rm * | deny", true),
        ("* | * | deny\nread | x | allow", true),
        ("* | * | deny\nexternal_directory | x | allow", false),
        ("bash | git * | allow\nread | git push | deny", false),
        ("bash | git push * | ask\nbash | git push | deny", true),
        ("bash | git push* | ask\nbash | git push * | deny", true),
        ("read | src/* | deny\nread | src/a | allow", true),
        ("read | src/* | deny\nread | src | allow", true),
        ("read | src/* | allow\nread | src/secret/* | deny", true),
        // A deny of `src/*` also matches `src` itself.
        ("read | src/* | allow\nread | src/* | deny", false),
        // They are compared with different forms of a path.
        ("read | *.env | deny\nread | /etc/*.env | allow", false),
        ("read | * | deny\nread | /etc/* | allow", true),
        ("file_* | *.env | deny\nfile_edit | a.env | allow", true),
        ("*r* | *.env | allow\nmcp__a__read | x.env | allow", false),
        ("*r* | *.env | deny\nmcp__a__read | x.env | allow", true),
        ("mcp__* | * | deny\nmcp__a__* | x | allow", true),
        ("mcp__a__* | *x* | deny\nmcp__a__b* | *xy | allow", true),
        ("mcp__a__* | *x* | deny\nmcp__b__b* | *xy | allow", false),
        (
            "web_fetch | https://docs.rs/* | allow\nweb_fetch | https://docs.rs/a | deny",
            true,
        ),
        // The allow ends at the host.
        (
            "web_fetch | https://docs.rs* | allow\nweb_fetch | https://docs.rs.x/* | deny",
            false,
        ),
        (
            "web_fetch | https://docs.rs* | deny\nweb_fetch | https://docs.rs.x/* | allow",
            true,
        ),
        // Only the rule for the pipe sees the whole line.
        ("bash | wget * | allow\nbash | wget * | sh* | deny", false),
        (
            "bash | cargo * | allow\nbash | cargo doc > x | allow",
            false,
        ),
        ("bash | a | deny\nbash | a | deny", true),
        ("bash | 'a b' * | deny\nbash | \"a b\" c | allow", true),
    ] {
        let found = warnings(rules);
        let is_covered = found
            .iter()
            .any(|warning| warning.message.contains("never decides"));
        assert_eq!(is_covered, covered, "{rules}: {found:?}");
    }
}

#[test]
fn d1_4_the_warning_names_both_rules() {
    let found = warnings("bash | git * | allow\nbash | git push * | deny");
    assert_eq!(
        found,
        [Finding {
            rule: RuleIdx(1),
            field: RuleField::Pattern,
            part: None,
            message: "rule 2 (deny `git push *`) almost never decides: rule 1 (allow `git *`, \
                      test.toml:1:1) stands before it and matches the same; left to it are \
                      other spellings of a program or a path"
                .to_owned(),
            help: Some("the first rule that matches decides: move it before rule 1".to_owned()),
        }]
    );
}

#[test]
fn many_rules_compile_in_bounded_work() {
    let rules: Vec<String> = (0..2000)
        .map(|idx| format!("bash | *x{idx}z*y?z* | allow"))
        .collect();
    assert_eq!(warnings(&rules.join("\n")), []);
}
