//! "Did you mean".

#[cfg(test)]
mod tests;

/// Names longer than this are no slip of the pen.
const MOST_CHARS: usize = 64;

/// Words that other programs use for ours.
const OTHER_WORDS: &[(&str, &str)] = &[
    ("accept", "allow"),
    ("api_base", "base_url"),
    ("api_key_env", "key_env"),
    ("approve", "allow"),
    ("block", "deny"),
    ("claude", "anthropic"),
    ("confirm", "ask"),
    ("decision", "action"),
    ("default", "default_action"),
    ("edit", "file_edit"),
    ("effect", "action"),
    ("endpoint", "base_url"),
    ("forbid", "deny"),
    ("glob", "pattern"),
    ("llama.cpp", "openai"),
    ("lm_studio", "openai"),
    ("lmstudio", "openai"),
    ("match", "pattern"),
    ("ollama", "openai"),
    ("permit", "allow"),
    ("prompt", "ask"),
    ("reason", "message"),
    ("refuse", "deny"),
    ("reject", "deny"),
    ("rules", "rule"),
    ("shell", "bash"),
    ("url", "base_url"),
    ("vllm", "openai"),
    ("write", "file_write"),
];

/// The one of the known words that a wrong one most likely stands for.
pub(crate) fn nearest<'k>(
    wrong: &str,
    known: impl IntoIterator<Item = &'k str>,
) -> Option<&'k str> {
    if wrong.is_empty() || wrong.chars().count() > MOST_CHARS {
        return None;
    }
    let wrong = wrong.to_lowercase().replace('-', "_");
    let other = OTHER_WORDS
        .iter()
        .find(|(theirs, _)| *theirs == wrong)
        .map(|(_, ours)| *ours);
    let most = (wrong.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|word| {
            let distance = if other == Some(word) {
                0
            } else {
                strsim::damerau_levenshtein(&wrong, &word.replace('-', "_"))
            };
            (distance, word)
        })
        .filter(|(distance, _)| *distance <= most)
        .min()
        .map(|(_, word)| word)
}

/// The author's text in backticks: escaped where nothing would be seen, cut where it is long.
pub(crate) fn quoted(text: &str) -> String {
    const MOST: usize = 60;
    if text.is_empty() {
        return "an empty text".to_owned();
    }
    let mut shown: String = text
        .chars()
        .take(MOST)
        .map(|char| match char {
            '\n' | '\r' | '\t' | '\0' => char.escape_default().to_string(),
            char => char.to_string(),
        })
        .collect();
    if text.chars().nth(MOST).is_some() {
        shown.push('…');
    }
    format!("`{shown}`")
}

/// `` `a`, `b` or `c` ``.
pub(crate) fn one_of<'k>(words: impl IntoIterator<Item = &'k str>) -> String {
    joined(words, "or")
}

/// `` `a`, `b` and `c` ``.
pub(crate) fn all_of<'k>(words: impl IntoIterator<Item = &'k str>) -> String {
    joined(words, "and")
}

fn joined<'k>(words: impl IntoIterator<Item = &'k str>, last_link: &str) -> String {
    let words: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    match words.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} {last_link} {last}", rest.join(", ")),
        None => String::new(),
    }
}
