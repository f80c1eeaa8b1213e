//! Texts in commands that people copy into a shell.

use podward_protocol::is_invisible;

/// A text as one word of a shell, with nothing in it that is invisible.
pub(crate) fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:+@%,".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    if !text.chars().any(is_invisible) {
        return format!("'{}'", text.replace('\'', "'\\''"));
    }
    let escaped: String = text
        .chars()
        .map(|c| match c {
            '\'' | '\\' => format!("\\{c}"),
            c if is_invisible(c) => format!("\\U{:08x}", u32::from(c)),
            c => c.to_string(),
        })
        .collect();
    format!("$'{escaped}'")
}

#[cfg(test)]
mod tests {
    use super::shell_word;

    #[test]
    fn an_id_that_a_model_made_up_is_one_word_of_a_shell() {
        for id in [
            "call_1",
            "a b",
            "it's",
            "$(rm -rf /)",
            "a\n\u{202e}'\\b",
            "",
            "*",
            "~",
        ] {
            let word = shell_word(id);
            assert!(!word.chars().any(super::is_invisible), "{word}");
            let output = std::process::Command::new("bash")
                .args(["-c", &format!("printf %s {word}")])
                .env("LC_ALL", "C.UTF-8")
                .output()
                .unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), id, "{word}");
        }
    }
}
