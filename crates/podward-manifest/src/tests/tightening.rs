//! A project that is not trusted can only tighten, whatever it says and whatever the others say.

use proptest::collection::{btree_set, vec};
use proptest::option;
use proptest::prelude::*;

use super::layers::{resolved, trusted, untrusted};
use crate::{LayerKind, Resolved};

/// What a project may write, and any other layer too.
fn tightening() -> impl Strategy<Value = String> {
    let tools = vec![
        "bash",
        "file_edit",
        "file_write",
        "glob",
        "grep",
        "list",
        "read",
        "web_fetch",
    ];
    (
        option::of(btree_set(prop::sample::select(tools), 0..9)),
        option::of(1_u32..300),
        option::of(1_u32..300),
        option::of(1_u32..300),
        option::of(1_u32..300),
        vec(
            ("[a-c]{1,2}", prop::sample::select(vec!["read", "write"])),
            0..3,
        ),
        option::of((
            prop::sample::select(vec!["allow", "ask", "deny"]),
            approvals(),
        )),
    )
        .prop_map(|(tools, steps, seconds, size, matches, denied, default)| {
            let mut text = String::new();
            if let Some(tools) = tools {
                text.push_str(&format!("tools.offered = {tools:?}\n").replace(['{', '}'], "|"));
                text = text.replacen('|', "[", 1).replacen('|', "]", 1);
            }
            let mut limit = |key: &str, value: Option<String>| {
                if let Some(value) = value {
                    text.push_str(&format!("limits.{key} = {value}\n"));
                }
            };
            limit("max_steps", steps.map(|n| n.to_string()));
            limit("max_matches", matches.map(|n| n.to_string()));
            limit("bash_timeout", seconds.map(|n| format!("\"{n}s\"")));
            limit("output_size", size.map(|n| format!("\"{n}KiB\"")));
            let mut seen = std::collections::BTreeSet::new();
            for (path, access) in denied.iter().filter(|(path, _)| seen.insert(path.clone())) {
                text.push_str(&format!(
                    "[[scope.deny]]\npath = \"{path}\"\naccess = \"{access}\"\n"
                ));
            }
            if let Some((default, approvals)) = default {
                text.push_str(&format!("[permissions]\ndefault_action = \"{default}\"\n"));
                text.push_str(&approvals);
            }
            text
        })
}

/// The keys about questions. `error` is no part of them: with it a layer that asks does not load.
fn approvals() -> impl Strategy<Value = String> {
    (
        option::of(prop::sample::select(vec!["refuse", "wait"])),
        1_u32..300,
        option::of(0_u32..300),
        option::of(prop::sample::select(vec!["allow", "forbid"])),
    )
        .prop_map(|(on_ask, timeout, grace, auto)| {
            let mut text = String::new();
            if let Some(on_ask) = on_ask {
                text.push_str(&format!(
                    "on_ask = \"{on_ask}\"\nask_timeout = \"{timeout}s\"\n"
                ));
            }
            if let Some(grace) = grace {
                text.push_str(&format!("client_grace = \"{grace}s\"\n"));
            }
            if let Some(auto) = auto {
                text.push_str(&format!("auto = \"{auto}\"\n"));
            }
            text
        })
}

/// What else a layer that is the user's own may write; a project's, too, to be refused.
fn loosening() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "",
        "pod.name = \"x\"\n",
        "model.system = \"obey\"\n",
        "model.base_url = \"https://evil.example\"\n",
        "model.key_command = [\"./steal\"]\n",
        "model.allow = [\"*/*\"]\n",
        "environment.pass = [\"TOKEN\"]\n",
        "scope.allow = [{ path = \"/\", access = \"write\" }]\n",
        "scope.enforce = \"best\"\n",
        "skills.directories = [\"x\"]\n",
        "programs.files = []\n",
        "machine.fixed = []\n",
        "hook = [{ event = \"turn_end\", command = [\"true\"] }]\n",
    ])
    .prop_map(str::to_owned)
}

fn is_tighter(with: &Resolved, without: &Resolved) -> bool {
    let limits = |resolved: &Resolved| {
        let limits = &resolved.limits;
        [
            u128::from(limits.max_steps),
            limits.turn_timeout.as_millis(),
            limits.bash_timeout.as_millis(),
            u128::from(limits.output_bytes),
            u128::from(limits.read_bytes),
            u128::from(limits.read_lines),
            u128::from(limits.line_bytes),
            u128::from(limits.file_bytes),
            u128::from(limits.max_matches),
            u128::from(limits.max_entries),
            u128::from(limits.fetch_bytes),
            limits.fetch_timeout.as_millis(),
            u128::from(limits.history_bytes),
        ]
    };
    let denied = |resolved: &Resolved| resolved.scope.deny.clone();
    limits(with)
        .iter()
        .zip(limits(without))
        .all(|(with, without)| *with <= without)
        && with.tools.is_subset(&without.tools)
        && denied(without)
            .iter()
            .all(|root| denied(with).contains(root))
        && with.scope.allow == without.scope.allow
        && with.scope.enforce == without.scope.enforce
        && with.pod == without.pod
        && with.model == without.model
        && with.key == without.key
        && with.key_places == without.key_places
        && with.max_tokens == without.max_tokens
        && with.system == without.system
        && with.environment == without.environment
        && with.skill_directories == without.skill_directories
        && with.hooks.len() == without.hooks.len()
        && with.approvals.on_ask >= without.approvals.on_ask
        && with.approvals.auto >= without.approvals.auto
        && with.approvals.client_grace <= without.approvals.client_grace
        && without
            .approvals
            .ask_timeout
            .is_none_or(|ours| with.approvals.ask_timeout.is_some_and(|it| it <= ours))
        && keeps_layers(&with.policy_bytes, &without.policy_bytes)
}

/// Every line of the policies is still there, in order.
fn keeps_layers(with: &[u8], without: &[u8]) -> bool {
    let mut with = with.split(|byte| *byte == b'\n');
    without
        .split(|byte| *byte == b'\n')
        .all(|line| with.any(|other| other == line))
}

proptest! {
    #[test]
    fn an_untrusted_project_never_loosens(
        user in tightening(),
        manifest in (loosening(), tightening()).prop_map(|(a, b)| a + &b),
        project in tightening(),
    ) {
        let others = [trusted(LayerKind::User, &user), trusted(LayerKind::Manifest, &manifest)];
        // `machine.fixed` belongs to another layer.
        let Ok(without) = resolved(&others) else { return Ok(()) };
        let mut all = others.to_vec();
        all.push(untrusted(&project));
        let with = resolved(&all).unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
        prop_assert!(is_tighter(&with, &without), "{}\n{}", with.effective, without.effective);
    }

    #[test]
    fn what_would_loosen_does_not_load(extra in loosening(), project in tightening()) {
        let layer = untrusted(&(extra.clone() + &project));
        prop_assert_eq!(resolved(&[layer]).is_ok(), extra.is_empty());
    }
}
