//! The policies as bytes, for a digest.

#[cfg(test)]
mod tests;

use podward_policy::LayerName;
use podward_shell::AddedPrograms;

use crate::permissions::CompiledLayer;

/// The first line: changed whenever the form below is.
const FORM: &str = "podward policy 1";

/// The layers, outermost first, as bytes that are equal exactly if what they say is equal.
///
/// One line per layer and rule; each text is written `length:text`, so that no text can look like
/// another line. Places, comments and the order of keys do not count; an `unresolved` that is left
/// out equals the one that it stands for.
pub(crate) fn bytes<'a>(
    layers: impl IntoIterator<Item = (&'a LayerName, &'a CompiledLayer)>,
) -> Vec<u8> {
    let mut bytes = format!("{FORM}\n");
    for (name, layer) in layers {
        let spec = &layer.spec;
        bytes.push_str(&format!(
            "layer {} default {} unresolved {} rules {}\n",
            name.kind.as_str(),
            spec.default_action.as_str(),
            layer.policy.unresolved().as_str(),
            spec.rules.len(),
        ));
        for rule in &spec.rules {
            bytes.push_str(rule.action.as_str());
            text(&mut bytes, &rule.tool);
            text(&mut bytes, &rule.pattern);
            if let Some(message) = &rule.message {
                text(&mut bytes, message);
            }
            if let Some(seconds) = rule.ask_timeout {
                bytes.push_str(&format!(" ask_timeout {seconds}"));
            }
            if !rule.grantable {
                bytes.push_str(" not grantable");
            }
            bytes.push('\n');
        }
    }
    bytes.into_bytes()
}

/// The models that the layers add; nothing if there are none.
pub(crate) fn add_programs(bytes: &mut Vec<u8>, programs: &AddedPrograms) {
    if !programs.is_empty() {
        let models = programs.canonical();
        bytes.extend_from_slice(format!("programs {}:{models}\n", models.len()).as_bytes());
    }
}

fn text(bytes: &mut String, text: &str) {
    bytes.push_str(&format!(" {}:{text}", text.len()));
}
