use super::isolated;

fn check(text: &str) -> Result<Vec<String>, String> {
    isolated("x.toml", text, &Default::default())
        .map(|isolated| {
            isolated
                .warnings
                .iter()
                .map(|warning| warning.message.clone())
                .collect()
        })
        .map_err(|diagnostics| diagnostics.to_string())
}

#[test]
fn nothing_but_the_permissions_is_needed() {
    assert_eq!(check("[permissions]\ndefault_action = \"ask\""), Ok(vec![]));
    assert_eq!(check(""), Ok(vec![]), "no table: the layer is off");
}

#[test]
fn a_whole_manifest_will_do() {
    let text = "[pod]\nworkspace = \"~/x\"\n[model]\nprovider = \"scripted\"\n[permissions]\ndefault_action = \"ask\"";
    assert_eq!(check(text), Ok(vec![]), "half a model is enough to judge");
}

#[test]
fn the_rest_is_checked_all_the_same() {
    let said = check("[pdo]\nname = \"x\"\n[permissions]\ndefault_action = \"ask\"").unwrap_err();
    assert!(
        said.starts_with("error: unknown table `pdo`\n --> x.toml:1:2\n"),
        "{said}"
    );
}
