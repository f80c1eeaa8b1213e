//! `/name` at the beginning of a prompt.

#[cfg(test)]
mod tests;

use podward_protocol::is_invisible;
use podward_worker::Prompt;

/// Two skills at once: one beside a prompt, and one at its beginning.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the prompt begins with `/{0}`, and a skill is given beside it")]
pub struct TwoSkills(String);

/// What a worker is given for a prompt, a skill, or both; `None`: neither.
pub(crate) fn prompt(
    text: Option<String>,
    skill: Option<String>,
) -> Result<Option<Prompt>, TwoSkills> {
    let named = text.as_deref().and_then(slash);
    Ok(match (named, skill) {
        (Some((name, _)), Some(_)) => return Err(TwoSkills(name.to_owned())),
        (Some((name, rest)), None) => Some(Prompt::starting(name, rest)),
        (None, Some(skill)) => Some(Prompt::starting(skill, text.unwrap_or_default())),
        (None, None) => text.map(Prompt::from),
    })
}

/// The skill that a prompt names at its beginning, and what comes behind it.
///
/// Whatever looks like a name is taken for one, also where there is no such skill: who wrote it
/// may count on what the skill restricts. What cannot be seen in front of it (a byte order mark) hides
/// nothing, nor do blanks behind the `/` or its form in full width. A word with another `/` in it, not at
/// its end, is a path.
fn slash(prompt: &str) -> Option<(&str, &str)> {
    let is_blank = |c: char| c.is_whitespace() || is_invisible(c);
    let behind = prompt
        .trim_start_matches(is_blank)
        .strip_prefix(['/', '\u{ff0f}'])?
        .trim_start_matches(is_blank);
    let end = behind.find(char::is_whitespace).unwrap_or(behind.len());
    let (name, rest) = behind.split_at(end);
    let is_path = name.trim_end_matches('/').contains('/') || name.starts_with('/');
    (!name.is_empty() && !is_path).then(|| (name, rest.trim()))
}
