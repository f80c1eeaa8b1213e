//! Secrets, kept out of what is written down.
//!
//! A secret is a value of the environment whose name says so, or text of a well-known shape. It is
//! replaced by a marker that says what it was: `[secret:github-token]`.

mod shape;

use serde_json::{Map, Value};

/// Shorter values are no secrets: replacing `1` or `true` everywhere would leave nothing to read.
const MIN_VALUE_BYTES: usize = 8;

/// Words in a variable's name that say its value is a secret.
const SECRET_WORDS: &[&str] = &[
    "APIKEY",
    "AUTH",
    "CREDENTIAL",
    "CREDENTIALS",
    "KEY",
    "PASS",
    "PASSPHRASE",
    "PASSWD",
    "PASSWORD",
    "PAT",
    "PWD",
    "SECRET",
    "TOKEN",
];

/// The secrets that are known by their value.
#[derive(Clone, Default)]
pub struct Secrets {
    /// Value and marker, the longest value first: one may hold another.
    values: Vec<(Box<str>, Box<str>)>,
}

/// Shows how many there are and none of them.
impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secrets({})", self.values.len())
    }
}

/// Whether something was replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Redaction {
    /// Nothing: what is written down is what there was.
    Nothing,
    /// At least one secret.
    Something,
}

impl Secrets {
    /// The secrets among some variables: those whose name has a word such as `KEY` or `TOKEN` and
    /// whose value has at least 8 bytes and is no path.
    #[must_use]
    pub fn among(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut secrets = Self::default();
        for (name, value) in variables {
            let says_so = name
                .to_ascii_uppercase()
                .split('_')
                .any(|word| SECRET_WORDS.contains(&word));
            if says_so && !value.starts_with('/') {
                secrets.add(&format!("env:{name}"), &value);
            }
        }
        secrets
    }

    /// Adds a value; one that is too short to be a secret is passed over.
    pub fn add(&mut self, label: &str, value: &str) {
        let value = value.trim();
        if value.len() < MIN_VALUE_BYTES {
            return;
        }
        let marker = format!("[secret:{label}]").into();
        self.values.push((value.into(), marker));
        self.values
            .sort_by(|(a, x), (b, y)| b.len().cmp(&a.len()).then_with(|| x.cmp(y)));
    }

    /// Replaces every secret in a text.
    #[must_use]
    pub fn redact(&self, text: &str) -> (String, Redaction) {
        let mut redaction = Redaction::Nothing;
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        let mut before = None;
        while let Some(character) = rest.chars().next() {
            if let Some((value, marker)) = self
                .values
                .iter()
                .find(|(value, _)| rest.starts_with(&**value))
            {
                out.push_str(marker);
                rest = rest.strip_prefix(&**value).unwrap_or_default();
                before = Some(']');
                redaction = Redaction::Something;
                continue;
            }
            if let Some(found) = shape::find(rest, before) {
                let (keep, tail) = rest.split_at_checked(found.n_kept).unwrap_or((rest, ""));
                out.push_str(keep);
                out.push_str(found.marker);
                rest = tail
                    .split_at_checked(found.n_secret)
                    .map_or("", |(_, after)| after);
                before = Some(']');
                redaction = Redaction::Something;
                continue;
            }
            out.push(character);
            before = Some(character);
            rest = rest
                .split_at_checked(character.len_utf8())
                .map_or("", |(_, after)| after);
        }
        (out, redaction)
    }

    /// Replaces every secret in the strings and the keys of a value.
    #[must_use]
    pub fn redact_json(&self, value: Value) -> (Value, Redaction) {
        match value {
            Value::String(text) => {
                let (text, redaction) = self.redact(&text);
                (Value::String(text), redaction)
            }
            Value::Array(items) => {
                let mut redaction = Redaction::Nothing;
                let items = items.into_iter().map(|item| {
                    let (item, found) = self.redact_json(item);
                    redaction = redaction.max(found);
                    item
                });
                (Value::Array(items.collect()), redaction)
            }
            Value::Object(fields) => {
                let mut redaction = Redaction::Nothing;
                let mut out = Map::new();
                for (key, field) in fields {
                    let (key, in_key) = self.redact(&key);
                    let (field, in_field) = self.redact_json(field);
                    redaction = redaction.max(in_key).max(in_field);
                    out.insert(key, field);
                }
                (Value::Object(out), redaction)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => (value, Redaction::Nothing),
        }
    }
}

#[cfg(test)]
mod tests;
