use super::written;
use crate::layer::{LayerSource, Surroundings, Trust};
use crate::{LayerKind, Place};

fn of(text: &str) -> Option<super::WrittenPermissions> {
    let layer = LayerSource {
        kind: LayerKind::Manifest,
        file: "pod.toml".into(),
        directory: "/w".into(),
        text: text.to_owned(),
        trust: Trust::Trusted,
    };
    written(&layer, &Surroundings::default())
}

fn marked(place: &Place) -> (String, &str) {
    let marked = place.source_line.get(place.underline.clone()).unwrap();
    (place.location.to_string(), marked)
}

#[test]
fn each_value_of_a_rule_has_its_place() {
    let table = of(
        "[permissions]\ndefault_action = \"ask\"\non_ask = \"refuse\"\nrule = [\n\
                    \x20 { tool = \"bash\", pattern = \"é *\", action = \"deny\" },\n]\n",
    )
    .unwrap();
    let [rule] = &*table.rules else {
        panic!("{table:?}");
    };
    let at = |line: &str| line.to_owned();
    assert_eq!(marked(&rule.tool), (at("pod.toml:5:12"), "\"bash\""));
    assert_eq!(marked(&rule.pattern), (at("pod.toml:5:30"), "\"é *\""));
    assert_eq!(marked(&rule.action), (at("pod.toml:5:46"), "\"deny\""));
    let default = table.default_action.as_ref().unwrap();
    assert_eq!(marked(default), (at("pod.toml:2:18"), "\"ask\""));
    assert_eq!(table.on_ask, Some(crate::OnAsk::Refuse));
}

#[test]
fn without_a_table_there_is_nothing() {
    assert_eq!(of("[pod]\nname = \"a\"\n"), None);
}
