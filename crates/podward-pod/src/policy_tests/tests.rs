use podward_manifest::{LayerKind, LayerSource, Surroundings, Trust, resolve};

use super::*;

fn layer(kind: LayerKind, text: &str) -> LayerSource {
    LayerSource {
        kind,
        file: kind.as_str().into(),
        directory: "/".into(),
        text: text.to_owned(),
        trust: Trust::Untrusted,
    }
}

/// The words of what failed.
fn failed(layers: &[LayerSource]) -> Vec<String> {
    let resolved = resolve(layers, &Surroundings::default()).unwrap_or_else(|e| panic!("{e}"));
    failed_policy_tests(&resolved.tests, &resolved.policies, &resolved.programs)
        .iter()
        .flatten()
        .map(|diagnostic| {
            let location = &diagnostic.place.as_ref().unwrap().location;
            let help = diagnostic.help.as_ref().unwrap();
            format!("{location}: {}: {help}", diagnostic.message)
        })
        .collect()
}

const RULES: &str = "[permissions]\ndefault_action = \"ask\"\n\
    [[permissions.rule]]\ntool = \"bash\"\npattern = \"rm *\"\naction = \"deny\"\n\
    [[permissions.rule]]\ntool = \"read\"\npattern = \"src/*\"\naction = \"allow\"\n";

#[test]
fn examples_are_judged_by_the_whole_list_of_their_layer() {
    let good = format!(
        "{RULES}examples = {{ allow = [\"src/a\", \"/home/user/project/src/b\"], ask = [\"doc/a\"] }}\n\
         [[permissions.test]]\ntool = \"bash\"\ntext = \"ls && rm x\"\nexpect = \"deny\"\n\
         [[permissions.test]]\ntool = \"grep\"\ninput = {{ pattern = \"x\", path = \"src\" }}\n\
         expect = \"ask\"\n"
    );
    // What another layer says does not matter.
    let user = "[permissions]\ndefault_action = \"deny\"\n";
    let layers = [
        layer(LayerKind::User, user),
        layer(LayerKind::Manifest, &good),
    ];
    assert_eq!(failed(&layers), Vec::<String>::new());
}

#[test]
fn one_that_fails_names_the_verdict_and_the_rule() {
    let bad = format!(
        "{RULES}examples = {{ allow = [\"src/a\", \"lib/a\"] }}\n\
         [[permissions.test]]\ntool = \"bash\"\ntext = \"rm x\"\nexpect = \"ask\"\nwhy = \"cleaning\"\n\
         [[permissions.test]]\ntool = \"bash\"\ninput = {{ cmd = \"ls\" }}\nexpect = \"ask\"\n"
    );
    let found = failed(&[layer(LayerKind::Project, &bad)]);
    assert_eq!(
        found.first().unwrap(),
        "project:11:32: `read lib/a` gets ask, and allow is expected: it is decided by \
         `default_action` (project:2:1)"
    );
    assert_eq!(
        found.get(1).unwrap(),
        "project:12:1: `bash rm x` gets deny, and ask is expected: it is decided by rule 1, `rm *` \
         (project:3:1); cleaning"
    );
    assert!(
        found.get(2).unwrap().contains("gets no verdict"),
        "{found:#?}"
    );
    assert_eq!(found.len(), 3);
}

#[test]
fn an_example_loosens_nothing() {
    let user = "[permissions]\ndefault_action = \"deny\"\n";
    let project = "[permissions]\ndefault_action = \"allow\"\n\
        [[permissions.test]]\ntool = \"bash\"\ntext = \"make\"\nexpect = \"allow\"\n";
    let with = [
        layer(LayerKind::User, user),
        layer(LayerKind::Project, project),
    ];
    let resolved = resolve(&with, &Surroundings::default()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(failed(&with), Vec::<String>::new());
    let place = Place::new("/w", None).isolated();
    let (_, make) = lower("bash", serde_json::json!({"command": "make"}), &place).unwrap();
    assert_eq!(resolved.policies.judge(&make).action, Action::Deny);
    let (bare, _) = project.split_once("[[permissions.test]]").unwrap();
    let without = [
        layer(LayerKind::User, user),
        layer(LayerKind::Project, bare),
    ];
    let without = resolve(&without, &Surroundings::default()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(resolved.policy_bytes, without.policy_bytes);
}
