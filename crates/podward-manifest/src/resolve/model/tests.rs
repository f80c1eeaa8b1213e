use crate::LayerKind::{self, Machine, Manifest, User};
use crate::tests::layers::{errors, resolved, trusted, untrusted};
use crate::{KeySource, LayerSource, Model, Resolved, Script};

fn ok(layers: &[LayerSource]) -> Resolved {
    resolved(layers).unwrap_or_else(|diagnostics| panic!("{diagnostics}"))
}

fn layers(texts: &[(LayerKind, &str)]) -> Vec<LayerSource> {
    texts
        .iter()
        .map(|(kind, text)| trusted(*kind, &format!("[model]\n{text}\n")))
        .collect()
}

/// `provider/model@url key`.
fn shown(resolved: &Resolved) -> String {
    let model = match &resolved.model {
        Model::Undeclared => "none".to_owned(),
        Model::Scripted(script) => format!("{script:?}"),
        Model::Remote(remote) => {
            let url = remote
                .base_url
                .as_ref()
                .map_or("its own", |url| url.as_str());
            format!("{}/{}@{url}", remote.provider.as_str(), remote.model)
        }
    };
    let key = match resolved.key.as_ref().map(|key| &key.source) {
        None | Some(KeySource::Nowhere) => "no key".to_owned(),
        Some(KeySource::Variable(name)) => format!("${name}"),
        Some(KeySource::File(path)) => path.display().to_string(),
        Some(KeySource::Command(command)) => {
            format!("{:?} in {}", command.argv, command.directory.display())
        }
    };
    format!("{model} {key}")
}

#[track_caller]
fn check(texts: &[(LayerKind, &str)], expected: &str) {
    assert_eq!(shown(&ok(&layers(texts))), expected);
}

#[track_caller]
fn refused(texts: &[(LayerKind, &str)], expected: &[&str]) {
    assert_eq!(errors(&layers(texts)), expected);
}

const ANTHROPIC: &str = "provider = \"anthropic\"\nmodel = \"claude-x\"\nkey_env = \"A\"";
const OPENAI: &str = "provider = \"openai\"\nmodel = \"gpt-x\"\nkey_env = \"O\"";
const OLLAMA: &str =
    "provider = \"openai\"\nmodel = \"qwen\"\nbase_url = \"http://localhost:11434/v1\"";

#[test]
fn a_model_needs_no_more_than_three_lines() {
    check(&[(Manifest, ANTHROPIC)], "anthropic/claude-x@its own $A");
    check(&[(Manifest, OPENAI)], "openai/gpt-x@its own $O");
    check(
        &[(Manifest, OLLAMA)],
        "openai/qwen@http://localhost:11434/v1 no key",
    );
}

#[test]
fn a_key_is_in_a_variable_a_file_or_printed_by_a_command() {
    let key = |line: &str| format!("provider = \"anthropic\"\nmodel = \"m\"\n{line}");
    for (line, expected) in [
        ("key_file = \"k\"", "/user/k"),
        ("key_file = \"~/.key\"", "/home/u/.key"),
        (
            "key_command = [\"pass\", \"a b\", \"a b\"]",
            "[\"pass\", \"a b\", \"a b\"] in /user",
        ),
        (
            "key_command = [\"./key.sh\"]",
            "[\"/user/./key.sh\"] in /user",
        ),
        (
            "key_command = [\"~/bin/key\"]",
            "[\"/home/u/bin/key\"] in /user",
        ),
    ] {
        let expected = format!("anthropic/m@its own {expected}");
        check(&[(User, &key(line))], &expected);
    }
}

#[test]
fn another_provider_begins_anew() {
    check(
        &[(User, OLLAMA), (Manifest, ANTHROPIC)],
        "anthropic/claude-x@its own $A",
    );
    check(
        &[
            (User, ANTHROPIC),
            (Manifest, "provider = \"scripted\"\nscript = \"demo\""),
        ],
        &format!("{:?} no key", Script::Embedded("demo")),
    );
    check(
        &[(User, ANTHROPIC), (Manifest, OLLAMA)],
        "openai/qwen@http://localhost:11434/v1 no key",
    );
    // And the same provider does not.
    check(
        &[
            (User, ANTHROPIC),
            (Manifest, "provider = \"anthropic\"\nmodel = \"other\""),
        ],
        "anthropic/other@its own $A",
    );
    refused(
        &[
            (User, ANTHROPIC),
            (Manifest, "provider = \"openai\"\nmodel = \"m\""),
        ],
        &["manifest.toml:2:1: the provider `openai` needs a key"],
    );
}

#[test]
fn every_place_of_a_key_is_known_whichever_counts() {
    let resolved = ok(&layers(&[
        (Machine, "key_file = \"/etc/key\""),
        (User, ANTHROPIC),
        (Manifest, "provider = \"scripted\"\nscript = \"demo\""),
    ]));
    let variables: Vec<_> = resolved
        .key_places
        .variables
        .iter()
        .map(|name| name.as_str())
        .collect();
    assert_eq!(variables, ["A"]);
    assert_eq!(
        resolved.key_places.files,
        [std::path::PathBuf::from("/etc/key")]
    );
}

#[test]
fn a_key_goes_only_where_its_own_layer_says() {
    let moved = "base_url = \"https://elsewhere.example\"";
    refused(
        &[(User, ANTHROPIC), (Manifest, moved)],
        &["manifest.toml:2:1: the key of another layer would go to this URL"],
    );
    check(
        &[
            (User, ANTHROPIC),
            (Manifest, &format!("{moved}\nkey_env = \"M\"")),
        ],
        "anthropic/claude-x@https://elsewhere.example $M",
    );
    check(
        &[
            (User, ANTHROPIC),
            (Manifest, &format!("{moved}\nkey_env = \"\"")),
        ],
        "anthropic/claude-x@https://elsewhere.example no key",
    );
    // The same URL again is no other place, and a layer further out is known to that of the key.
    let at = "base_url = \"https://proxy.example\"";
    check(
        &[(User, &format!("{ANTHROPIC}\n{at}")), (Manifest, at)],
        "anthropic/claude-x@https://proxy.example $A",
    );
    check(
        &[(Machine, at), (User, ANTHROPIC)],
        "anthropic/claude-x@https://proxy.example $A",
    );
    // A key for nobody in particular goes nowhere.
    refused(
        &[
            (User, "key_env = \"A\""),
            (Manifest, "provider = \"anthropic\"\nmodel = \"m\""),
        ],
        &["user.toml:2:1: `key_env` says where a key is, and not for whom"],
    );
}

#[test]
fn a_key_is_not_sent_where_everybody_can_read_it() {
    let open = "base_url = \"http://192.168.0.9/v1\"";
    refused(
        &[(Manifest, &format!("{OPENAI}\n{open}"))],
        &["manifest.toml:5:1: the key would go over `http://`: everybody on the way could read it"],
    );
    check(
        &[(
            Manifest,
            &format!("provider = \"openai\"\nmodel = \"m\"\n{open}"),
        )],
        "openai/m@http://192.168.0.9/v1 no key",
    );
    check(
        &[(
            Manifest,
            &format!("{OPENAI}\nbase_url = \"http://127.0.0.1:1/v1\""),
        )],
        "openai/gpt-x@http://127.0.0.1:1/v1 $O",
    );
}

#[test]
fn allow_binds_its_own_layer_and_every_nearer_one() {
    let allow = |patterns: &str| format!("allow = [{patterns}]");
    let anthropic_only = allow("\"anthropic/claude-*\"");
    check(
        &[(User, &anthropic_only), (Manifest, ANTHROPIC)],
        "anthropic/claude-x@its own $A",
    );
    let message = "the model `openai/gpt-x` is not one of those that may be asked";
    for kind in [Machine, User] {
        refused(
            &[(kind, &anthropic_only), (Manifest, OPENAI)],
            &[&format!("manifest.toml:3:1: {message}")],
        );
        refused(
            &[(kind, &format!("{OPENAI}\n{anthropic_only}"))],
            &[&format!("{}.toml:3:1: {message}", kind.as_str())],
        );
    }
    // Every `allow` counts, and an empty one allows none but scripts, which ask nobody.
    refused(
        &[
            (Machine, &allow("\"openai/*\"")),
            (User, &anthropic_only),
            (Manifest, OPENAI),
        ],
        &[&format!("manifest.toml:3:1: {message}")],
    );
    refused(
        &[(User, &allow("")), (Manifest, OPENAI)],
        &[&format!("manifest.toml:3:1: {message}")],
    );
    check(
        &[
            (User, &allow("")),
            (Manifest, "provider = \"scripted\"\nscript = \"demo\""),
        ],
        &format!("{:?} no key", Script::Embedded("demo")),
    );
    refused(
        &[(Manifest, &format!("{OPENAI}\n{}", allow("\"*/*\"")))],
        &["manifest.toml:5:1: `model.allow` cannot be set in a manifest"],
    );
}

#[test]
fn below_allow_no_layer_says_where_requests_go() {
    let allow = "allow = [\"openai/*\"]";
    let message = "`base_url` cannot be set below `[model] allow`";
    refused(
        &[(User, allow), (Manifest, OLLAMA)],
        &[&format!("manifest.toml:4:1: {message}")],
    );
    check(
        &[
            (User, &format!("{OLLAMA}\n{allow}")),
            (Manifest, "model = \"other\""),
        ],
        "openai/other@http://localhost:11434/v1 no key",
    );
}

#[test]
fn what_the_machine_fixes_counts_for_every_provider() {
    let fixed = |key: &str, text: &str| {
        let text = format!("[model]\n{text}\n[machine]\nfixed = [\"model.{key}\"]\n");
        trusted(Machine, &text)
    };
    let proxy = fixed(
        "base_url",
        "provider = \"openai\"\nbase_url = \"https://proxy.example\"",
    );
    let own = trusted(Manifest, &format!("[model]\n{ANTHROPIC}\n"));
    let resolved = ok(&[proxy, own]);
    assert_eq!(
        shown(&resolved),
        "anthropic/claude-x@https://proxy.example $A"
    );
    // A key that is fixed fixes all ways to give one.
    let key = fixed("key_env", "provider = \"anthropic\"\nkey_env = \"M\"");
    let file = trusted(Manifest, "[model]\nmodel = \"m\"\nkey_file = \"k\"\n");
    assert_eq!(
        errors(&[key, file]),
        ["manifest.toml:3:1: `model.key_env` is fixed by machine.toml"]
    );
}

#[test]
fn half_a_remote_model_is_an_error() {
    for (text, expected) in [
        (
            "provider = \"openai\"",
            "manifest.toml:2:1: the provider `openai` needs a `model`",
        ),
        (
            "model = \"m\"",
            "manifest.toml:2:1: a `model` needs a `provider`",
        ),
        (
            "provider = \"anthropic\"\nmodel = \"m\"",
            "manifest.toml:2:1: the provider `anthropic` needs a key",
        ),
        (
            &format!("{OPENAI}\nscript = \"demo\""),
            "manifest.toml:5:1: the provider `openai` has no use for `script`",
        ),
        (
            "provider = \"scripted\"\nscript = \"demo\"\nmodel = \"m\"",
            "manifest.toml:4:1: the provider `scripted` has no use for `model`",
        ),
    ] {
        refused(&[(Manifest, text)], &[expected]);
    }
    // What needs a provider to mean anything may stand in a layer of its own.
    check(&[(User, "max_tokens = 5\nkey_file = \"/k\"")], "none /k");
}

#[test]
fn a_project_that_is_not_trusted_says_nothing_about_the_model() {
    for line in [
        "base_url = \"https://evil.example\"",
        "provider = \"openai\"",
        "model = \"m\"",
        "key_env = \"HOME\"",
        "key_file = \"/etc/passwd\"",
        "key_command = [\"./steal\"]",
        "max_tokens = 1",
        "allow = []",
    ] {
        let project = untrusted(&format!("[model]\n{line}\n"));
        let own = trusted(Manifest, &format!("[model]\n{ANTHROPIC}\n"));
        let said = errors(&[project, own]);
        let expected = "cannot be set in the layer of a project that is not trusted";
        assert!(
            said.iter().any(|error| error.ends_with(expected)),
            "{line}: {said:#?}"
        );
    }
}

#[test]
fn the_effective_manifest_says_where_the_key_is() {
    let resolved = ok(&layers(&[
        (User, &format!("{ANTHROPIC}\nallow = [\"anthropic/*\"]")),
        (Manifest, "max_tokens = 900"),
    ]));
    let shown = resolved.effective.to_string();
    for line in [
        "provider = \"anthropic\"  # user, user.toml:2:1",
        "model = \"claude-x\"      # user, user.toml:3:1",
        "key_env = \"A\"           # user, user.toml:4:1",
        "max_tokens = 900        # manifest, manifest.toml:2:1",
        "    \"anthropic/*\",      # user, user.toml:5:10",
    ] {
        assert!(shown.contains(line), "{line}\n{shown}");
    }
    assert_eq!(resolved.max_tokens, 900);
    let key = resolved.key.unwrap();
    assert_eq!(key.location.to_string(), "user.toml:4:1");
}
