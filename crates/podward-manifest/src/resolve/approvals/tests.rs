use std::time::Duration;

use podward_policy::{Lowered, Operation, ToolName};

use crate::LayerKind::{CommandLine, Machine, Manifest, User};
use crate::tests::layers::{errors, resolved, trusted, untrusted};
use crate::{Approvals, AutoAnswers, LayerSource, OnAsk};

fn text(keys: &str) -> String {
    format!("[permissions]\ndefault_action = \"deny\"\n{keys}")
}

fn approvals(layers: &[LayerSource]) -> Approvals {
    let resolved = resolved(layers).unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
    resolved.approvals
}

fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

#[test]
fn nothing_said_is_the_default() {
    let default = Approvals {
        on_ask: OnAsk::Refuse,
        ask_timeout: None,
        client_grace: secs(10),
        auto: AutoAnswers::Allow,
    };
    assert_eq!(approvals(&[]), default);
    assert_eq!(approvals(&[trusted(Manifest, &text(""))]), default);
}

#[test]
fn the_strictest_layer_decides() {
    let outer = text("on_ask = \"refuse\"\nask_timeout = \"1h\"\nclient_grace = \"1m\"\n");
    let nearer =
        text("on_ask = \"wait\"\nask_timeout = \"2h\"\nclient_grace = \"0s\"\nauto = \"forbid\"\n");
    let expected = Approvals {
        on_ask: OnAsk::Refuse,
        ask_timeout: Some(secs(3600)),
        client_grace: secs(0),
        auto: AutoAnswers::Forbid,
    };
    for (outer, nearer) in [(&outer, &nearer), (&nearer, &outer)] {
        for (outer_kind, nearer_kind) in [(Machine, Manifest), (User, CommandLine)] {
            let layers = [trusted(outer_kind, outer), trusted(nearer_kind, nearer)];
            assert_eq!(approvals(&layers), expected);
        }
    }
}

/// What is laxer than the default holds where a layer says it and none says more.
#[test]
fn a_layer_may_be_laxer_than_the_default() {
    let lax = text("on_ask = \"wait\"\nask_timeout = \"1h\"\nclient_grace = \"1m\"\n");
    let silent = text("");
    let layers = [trusted(User, &silent), trusted(Manifest, &lax)];
    let found = approvals(&layers);
    assert_eq!(found.on_ask, OnAsk::Wait);
    assert_eq!(found.client_grace, secs(60));
}

#[test]
fn a_machine_forbids_automatic_answers() {
    let machine = text("auto = \"forbid\"\n");
    let manifest = text("auto = \"allow\"\n");
    let layers = [trusted(Machine, &machine), trusted(Manifest, &manifest)];
    assert_eq!(approvals(&layers).auto, AutoAnswers::Forbid);
}

#[test]
fn an_untrusted_project_only_tightens() {
    let lax =
        text("on_ask = \"wait\"\nask_timeout = \"2h\"\nclient_grace = \"1m\"\nauto = \"allow\"\n");
    let strict = text(
        "on_ask = \"error\"\nask_timeout = \"1m\"\nclient_grace = \"1s\"\nauto = \"forbid\"\n",
    );
    let alone = approvals(&[untrusted(&lax)]);
    let expected = Approvals {
        ask_timeout: Some(secs(7200)),
        ..Approvals::default()
    };
    assert_eq!(alone, expected);
    let others = trusted(Manifest, &text("ask_timeout = \"1h\"\n"));
    let loosened = approvals(&[others.clone(), untrusted(&lax)]);
    assert_eq!(loosened, approvals(std::slice::from_ref(&others)));
    let tightened = approvals(&[others, untrusted(&strict)]);
    let expected = Approvals {
        on_ask: OnAsk::Error,
        ask_timeout: Some(secs(60)),
        client_grace: secs(1),
        auto: AutoAnswers::Forbid,
    };
    assert_eq!(tightened, expected);
}

#[test]
fn an_untrusted_project_hears_what_changes_nothing() {
    let lax = text("on_ask = \"wait\"\nclient_grace = \"1m\"\nauto = \"allow\"\n");
    let resolved = resolved(&[untrusted(&lax)]).unwrap();
    let warnings: Vec<_> = resolved
        .warnings
        .iter()
        .map(|w| w.message.as_str())
        .collect();
    assert_eq!(
        warnings,
        [
            "`permissions.on_ask` changes nothing here",
            "`permissions.client_grace` changes nothing here",
        ]
    );
}

/// Each layer's own rules count, whichever layer says that nothing may ask.
#[test]
fn with_error_no_layer_may_ask() {
    let error = text("on_ask = \"error\"\n");
    let asks = "[permissions]\ndefault_action = \"ask\"\n\
                [[permissions.rule]]\ntool = \"bash\"\npattern = \"ls\"\naction = \"ask\"\n";
    for layers in [
        [trusted(Machine, &error), trusted(Manifest, asks)],
        [trusted(Machine, asks), trusted(Manifest, &error)],
        [untrusted(&error), trusted(Machine, asks)],
    ] {
        let messages = errors(&layers);
        let asking: Vec<_> = messages
            .iter()
            .map(|message| message.split_once(".toml:").unwrap().1)
            .collect();
        assert_eq!(
            asking,
            [
                "2:1: `default_action` can ask, and `on_ask` is `error`",
                "6:1: this rule can ask, and `on_ask` is `error`",
            ]
        );
    }
    assert_eq!(approvals(&[trusted(Machine, &error)]).on_ask, OnAsk::Error);
}

/// A text that is not known before it runs is asked about where the rules disagree over it.
#[test]
fn with_error_nothing_unresolved_may_ask() {
    let layer = |default: &str, unresolved: &str, rule: &str| {
        let rule = match rule {
            "" => String::new(),
            action => format!(
                "[[permissions.rule]]\ntool = \"bash\"\npattern = \"rm x\"\naction = \"{action}\"\n"
            ),
        };
        trusted(
            Manifest,
            &format!(
                "[permissions]\ndefault_action = \"{default}\"\non_ask = \"error\"\n{unresolved}{rule}"
            ),
        )
    };
    for (default, unresolved, rule, n_errors) in [
        ("allow", "", "", 0),
        ("allow", "", "allow", 0),
        ("allow", "", "deny", 1),
        ("allow", "unresolved = \"deny\"\n", "deny", 0),
        ("deny", "", "allow", 0),
        ("deny", "unresolved = \"ask\"\n", "allow", 1),
        ("deny", "unresolved = \"ask\"\n", "", 0),
    ] {
        let found = resolved(&[layer(default, unresolved, rule)]);
        let found = found.map_or_else(|errors| errors.iter().count(), |_| 0);
        assert_eq!(found, n_errors, "{default} {unresolved} {rule}");
    }
}

#[test]
fn what_waits_needs_an_end() {
    let waits = text("on_ask = \"wait\"\n");
    let messages = errors(&[trusted(Manifest, &waits)]);
    assert_eq!(
        messages,
        ["manifest.toml:3:1: `on_ask = \"wait\"` needs `ask_timeout`"]
    );
    // Another layer may give it, and one that refuses needs none.
    for other in ["ask_timeout = \"1m\"\n", "on_ask = \"refuse\"\n"] {
        let layers = [trusted(Manifest, &waits), trusted(User, &text(other))];
        assert_eq!(errors_or_none(&layers), Vec::<String>::new(), "{other}");
    }
}

fn errors_or_none(layers: &[LayerSource]) -> Vec<String> {
    match resolved(layers) {
        Ok(_) => Vec::new(),
        Err(_) => errors(layers),
    }
}

#[test]
fn a_rule_that_waits_longer_than_all_is_named() {
    let rule = |timeout: &str| {
        format!(
            "ask_timeout = \"5m\"\n[[permissions.rule]]\ntool = \"bash\"\npattern = \"ls\"\n\
             action = \"ask\"\nask_timeout = \"{timeout}\"\n"
        )
    };
    for (timeout, n_warnings) in [("6m", 1), ("5m", 0), ("4m", 0)] {
        let resolved = resolved(&[trusted(Manifest, &text(&rule(timeout)))]).unwrap();
        assert_eq!(resolved.warnings.len(), n_warnings, "{timeout}");
    }
}

#[test]
fn each_joined_key_is_shown_in_the_layer_that_decides_it() {
    let layers = [
        trusted(Machine, &text("auto = \"forbid\"\nask_timeout = \"1h\"\n")),
        trusted(Manifest, &text("on_ask = \"wait\"\nask_timeout = \"2h\"\n")),
    ];
    let shown = resolved(&layers).unwrap().effective.to_string();
    let (_, permissions) = shown.split_once("# layer: machine\n[permissions]").unwrap();
    let expected = r#"
default_action = "deny"  # machine, machine.toml:2:1
unresolved = "deny"      # machine, implied
ask_timeout = "1h"       # machine, machine.toml:4:1
auto = "forbid"          # machine, machine.toml:3:1

# layer: manifest
[permissions]
default_action = "deny"  # manifest, manifest.toml:2:1
unresolved = "deny"      # manifest, implied
on_ask = "wait"          # manifest, manifest.toml:3:1
client_grace = "10s"     # manifest, implied
"#;
    assert_eq!(permissions, expected);
}

#[test]
fn what_a_rule_says_of_its_questions_is_compiled_and_shown() {
    let rule = "[[permissions.rule]]\ntool = \"bash\"\npattern = \"git push *\"\naction = \"ask\"\n\
                ask_timeout = \"1m30s\"\ngrantable = false\n";
    let resolved = resolved(&[trusted(Manifest, &text(rule))]).unwrap();
    let shown = resolved.effective.to_string();
    let expected = r#"{ tool = "bash", pattern = "git push *", action = "ask", ask_timeout = "1m30s", grantable = false },"#;
    assert!(shown.contains(expected), "{shown}");
    let bash = ToolName::new("bash").unwrap();
    let call = Lowered::from(Operation::plain(&bash, "git push *"));
    let asking = resolved.policies.asking(&call);
    let found: Vec<_> = asking
        .iter()
        .map(|a| (a.grantable, a.ask_timeout))
        .collect();
    assert_eq!(found, [(false, Some(90))]);
}
