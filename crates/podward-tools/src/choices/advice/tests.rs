use podward_policy::{
    Action, KnownTools, LayerKind, LayerName, Location, Lowered, Policies, Policy, PolicySpec,
    RuleForm, RuleSpec,
};
use podward_shell::AddedPrograms;
use serde_json::{Value, json};

use super::{AllowingRule, Stands, allowing_rules, rules_to_allow};
use crate::fixture::text_place;
use crate::registry::lower;

fn lowered(tool: &str, arguments: Value) -> Lowered {
    lower(tool, arguments, &text_place()).unwrap().1
}

fn bash(command: &str) -> Lowered {
    lowered("bash", json!({ "command": command }))
}

/// A layer: its default, and rules of tool, pattern and action, each on its own line.
pub(super) fn layer(
    kind: LayerKind,
    default: Action,
    rules: &[(&str, &str, Action)],
) -> (LayerKind, PolicySpec) {
    let location = |line: usize| Location {
        file: kind.as_str().into(),
        line: u32::try_from(line).unwrap(),
        column: 1,
    };
    let rules = rules
        .iter()
        .enumerate()
        .map(|(idx, (tool, pattern, action))| RuleSpec {
            tool: (*tool).to_owned(),
            pattern: (*pattern).to_owned(),
            action: *action,
            message: None,
            grantable: *pattern != "git push*",
            ask_timeout: None,
            location: location(idx + 1),
        });
    let spec = PolicySpec {
        default_action: default,
        default_location: location(0),
        unresolved: None,
        rules: rules.collect(),
    };
    (kind, spec)
}

pub(super) fn compiled(layers: &[(LayerKind, PolicySpec)]) -> Policies {
    let layers = layers.iter().map(|(kind, spec)| {
        let compiled = Policy::compile(spec, &KnownTools::built_in()).unwrap();
        (LayerName { kind: *kind }, compiled.policy)
    });
    Policies::new(layers.collect())
}

/// The layers with the rules written where they belong.
pub(super) fn with(
    layers: &[(LayerKind, PolicySpec)],
    rules: &[AllowingRule],
) -> Vec<(LayerKind, PolicySpec)> {
    let mut layers = layers.to_vec();
    for rule in rules {
        let (_, spec) = layers
            .iter_mut()
            .find(|(kind, _)| *kind == rule.layer)
            .unwrap();
        let at = match &rule.stands {
            Stands::Anywhere => spec.rules.len(),
            Stands::Before(location) => spec
                .rules
                .iter()
                .position(|other| other.location == *location)
                .unwrap(),
            Stands::First => 0,
        };
        let new = RuleSpec {
            tool: rule.tool.to_string(),
            pattern: rule.pattern.to_string(),
            action: Action::Allow,
            message: None,
            grantable: true,
            ask_timeout: None,
            location: Location {
                file: "new".into(),
                line: 0,
                column: 0,
            },
        };
        spec.rules.insert(at, new);
    }
    layers
}

fn shown(rule: &AllowingRule) -> String {
    let place = match &rule.stands {
        Stands::Anywhere => "anywhere".to_owned(),
        Stands::Before(location) => format!("before {}", location.line),
        Stands::First => "first".to_owned(),
    };
    format!(
        "{} {place}: {} {}",
        rule.layer.as_str(),
        rule.tool,
        rule.pattern
    )
}

/// The rules for a call that is asked about; written where they say, they allow it and leave the
/// other calls as they were.
fn check(layers: &[(LayerKind, PolicySpec)], call: &Lowered, expected: &[&str]) {
    let policies = compiled(layers);
    assert_eq!(policies.judge(call).action, Action::Ask, "{call:?}");
    let none = AddedPrograms::default();
    let rules = allowing_rules(call, &policies.asking(call), &policies, &none).unwrap();
    assert_eq!(rules.iter().map(shown).collect::<Vec<_>>(), expected);
    let after = compiled(&with(layers, &rules));
    let ruling = after.judge(call);
    assert_eq!(
        ruling.action,
        Action::Allow,
        "{call:?}: {rules:?}: {ruling:?}"
    );
    for other in [
        "git push origin main -f",
        "rm -rf /",
        "curl x | sh -x",
        "ls; ls; ls",
    ] {
        let other = bash(other);
        assert_eq!(
            after.judge(&other).action,
            policies.judge(&other).action,
            "{other:?}"
        );
    }
}

#[test]
fn the_narrowest_rule_allows_the_call_and_nothing_else() {
    let asks = |rules| vec![layer(LayerKind::Manifest, Action::Ask, rules)];
    let by_default = asks(&[
        ("read", "*.key", Action::Ask),
        ("bash", "git *", Action::Allow),
    ]);
    check(
        &by_default,
        &bash("ls  'a b'"),
        &["manifest anywhere: bash ls 'a b'"],
    );
    check(
        &by_default,
        &bash("git status; ls *"),
        &["manifest anywhere: bash ls [*]"],
    );
    check(
        &by_default,
        &bash("ls src && cat \"a\" > out # twice"),
        &["manifest anywhere: bash ls src && cat \"a\" > out # twice"],
    );
    check(
        &by_default,
        &bash("cd android && ./gradlew build"),
        &["manifest anywhere: bash cd android && ./gradlew build"],
    );
    check(
        &by_default,
        &bash("sudo src/../x"),
        &["manifest anywhere: bash sudo src/../x"],
    );
    check(
        &by_default,
        &bash("cat a.key"),
        &["manifest before 1: bash cat a.key"],
    );
    check(
        &by_default,
        &lowered("read", json!({"path": "a.key"})),
        &["manifest before 1: read a.key"],
    );
    check(
        &by_default,
        &lowered("web_fetch", json!({"url": "https://a.example/x?y"})),
        &["manifest anywhere: web_fetch https://a.example/x[?]y"],
    );
    check(
        &by_default,
        &lowered("mcp__a__b", json!({"x": "*"})),
        &["manifest anywhere: mcp__a__b {\"x\":\"[*]\"}"],
    );
}

#[test]
fn a_rule_for_what_is_not_known_is_one_for_the_whole_line() {
    let layers = vec![layer(
        LayerKind::Manifest,
        Action::Ask,
        &[
            ("bash", "git push*", Action::Ask),
            ("bash", "git *", Action::Allow),
        ],
    )];
    check(
        &layers,
        &bash("git push origin"),
        &["manifest before 1: bash git push origin"],
    );
    check(
        &layers,
        &bash("curl -s x | sh"),
        &["manifest first: bash curl -s x | sh"],
    );
    check(
        &layers,
        &bash("git log $x; $x"),
        &["manifest first: bash git log $x; $x"],
    );
    check(&layers, &bash("git $x"), &["manifest first: bash git $x"]);
    let may_be_denied = vec![layer(
        LayerKind::Manifest,
        Action::Ask,
        &[
            ("bash", "rm *", Action::Deny),
            ("bash", "git *", Action::Ask),
        ],
    )];
    check(
        &may_be_denied,
        &bash("\"$x\" a"),
        &["manifest first: bash \"$x\" a"],
    );
}

#[test]
fn each_layer_that_asks_needs_its_rule() {
    let layers = vec![
        layer(
            LayerKind::User,
            Action::Allow,
            &[("bash", "ls", Action::Ask), ("bash", "git *", Action::Ask)],
        ),
        layer(LayerKind::Manifest, Action::Ask, &[]),
    ];
    check(
        &layers,
        &bash("git push"),
        &[
            "user before 2: bash git push",
            "manifest anywhere: bash git push",
        ],
    );
    check(
        &layers,
        &bash("git push; ls"),
        &[
            "user before 1: bash git push; ls",
            "manifest anywhere: bash git push; ls",
        ],
    );
}

/// The rules for a call that is stopped, whoever stops it; written where they say, they allow it.
fn check_stopped(layers: &[(LayerKind, PolicySpec)], call: &Lowered, expected: &[&str]) {
    let policies = compiled(layers);
    let explanation = policies.explain(call);
    assert_ne!(explanation.ruling.action, Action::Allow, "{call:?}");
    let rules = rules_to_allow(call, &explanation, &AddedPrograms::default()).unwrap();
    assert_eq!(rules.iter().map(shown).collect::<Vec<_>>(), expected);
    let ruling = compiled(&with(layers, &rules)).judge(call);
    assert_eq!(ruling.action, Action::Allow, "{call:?}: {ruling:?}");
}

#[test]
fn what_is_denied_has_a_rule_too() {
    let layers = vec![
        layer(LayerKind::User, Action::Deny, &[("*", "*", Action::Allow)]),
        layer(
            LayerKind::Manifest,
            Action::Deny,
            &[
                ("bash", "curl * | sh", Action::Deny),
                ("bash", "rm *", Action::Deny),
                ("read", "*.key", Action::Deny),
                ("bash", "cat *", Action::Allow),
                ("file_write", "gen/*", Action::Ask),
            ],
        ),
    ];
    let check = |command, expected| check_stopped(&layers, &bash(command), expected);
    check("rm -r build", &["manifest before 2: bash rm -r build"]);
    check("make", &["manifest anywhere: bash make"]);
    check("cat a.key", &["manifest before 3: read a.key"]);
    check("rm a; make", &["manifest before 2: bash rm a; make"]);
    check("curl x | sh", &["manifest before 1: bash curl x | sh"]);
    check("$x a", &["manifest first: bash $x a"]);
    check("rm $x", &["manifest before 2: bash rm $x"]);
    check("cat x > gen/y", &["manifest before 5: file_write gen/y"]);
    let write = lowered("file_write", json!({"path": "gen/a", "content": ""}));
    check_stopped(&layers, &write, &["manifest before 5: file_write gen/a"]);
}

#[test]
fn where_no_rule_can_help_the_reason_is_told() {
    let policies = compiled(&[layer(LayerKind::Manifest, Action::Ask, &[])]);
    let why = |call: &Lowered| {
        let asking = policies.asking(call);
        allowing_rules(call, &asking, &policies, &AddedPrograms::default()).unwrap_err()
    };
    let user_info = lowered("web_fetch", json!({"url": "https://u:p@a.example/"}));
    assert!(why(&user_info).contains("a user name"));
    let long = format!("ls; ls {}", "x".repeat(5000));
    assert_eq!(
        &*why(&bash(&long)),
        "the command line is too long for a pattern"
    );
    assert_eq!(&*why(&bash("# nothing")), "nothing would run");
}

#[test]
fn a_rule_is_shown_as_toml() {
    let policies = compiled(&[layer(
        LayerKind::Manifest,
        Action::Ask,
        &[("bash", "git push*", Action::Ask)],
    )]);
    let none = AddedPrograms::default();
    let call = bash("git push 'a\"\\\n\u{200b}é'");
    let rules = allowing_rules(&call, &policies.asking(&call), &policies, &none).unwrap();
    let expected = "[[permissions.rule]]\n\
                    tool = \"bash\"\n\
                    pattern = \"git push 'a\\\"\\\\\\n\\U0000200Bé'\"\n\
                    action = \"allow\"";
    assert_eq!(rules[0].toml(), expected);
    let in_list = AllowingRule {
        form: RuleForm::List,
        ..rules[0].clone()
    };
    let expected = "{ tool = \"bash\", pattern = \"git push 'a\\\"\\\\\\n\\U0000200Bé'\", action = \"allow\" },";
    assert_eq!(in_list.toml(), expected);
}
