//! From the bytes of an answer to text that a model can read.

mod charset;
mod html;

pub(super) use charset::decode;
pub(super) use html::Page;

/// What an answer's body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Html,
    /// Any other text, shown as it is.
    Plain,
    Binary,
}

/// Types of text outside `text/`, without those that end in `+json`, `+xml` or `+yaml`.
const TEXT_TYPES: &[&str] = &[
    "application/ecmascript",
    "application/graphql",
    "application/javascript",
    "application/json",
    "application/json5",
    "application/jsonl",
    "application/ndjson",
    "application/pgp-signature",
    "application/rtf",
    "application/sql",
    "application/toml",
    "application/typescript",
    "application/x-httpd-php",
    "application/x-javascript",
    "application/x-ndjson",
    "application/x-perl",
    "application/x-python",
    "application/x-sh",
    "application/x-tex",
    "application/x-toml",
    "application/x-www-form-urlencoded",
    "application/x-yaml",
    "application/xml",
    "application/xml-dtd",
    "application/yaml",
    "message/rfc822",
];

impl Kind {
    /// What a body is by its `Content-Type` and its first bytes: a NUL makes any text binary,
    /// unless it is UTF-16, and an answer without a type is text until a byte says otherwise.
    pub(super) fn of(content_type: Option<&str>, bytes: &[u8]) -> Self {
        let by_type = match content_type.map(essence).as_deref() {
            None | Some("") if begins_like_a_page(bytes) => Self::Html,
            None | Some("") => Self::Plain,
            Some("text/html" | "application/xhtml+xml") => Self::Html,
            Some(essence) if is_text(essence) => Self::Plain,
            Some(_) => Self::Binary,
        };
        let start = bytes.get(..FIRST_BYTES).unwrap_or(bytes);
        match by_type {
            Self::Html | Self::Plain
                if start.contains(&0) && !charset::is_utf_16(content_type, start) =>
            {
                Self::Binary
            }
            kind => kind,
        }
    }
}

fn begins_like_a_page(bytes: &[u8]) -> bool {
    let start = bytes.trim_ascii_start();
    [&b"<!doctype html"[..], b"<html"].iter().any(|tag| {
        let begin = start.get(..tag.len());
        begin.is_some_and(|begin| begin.eq_ignore_ascii_case(tag))
    })
}

/// How much of a body is looked at to tell text from binary.
const FIRST_BYTES: usize = 64 * 1024;

/// A type without its parameters: `text/html` of `Text/HTML; charset=utf-8`.
pub(super) fn essence(content_type: &str) -> String {
    let essence = content_type.split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

fn is_text(essence: &str) -> bool {
    essence.starts_with("text/")
        || ["+json", "+xml", "+yaml"]
            .iter()
            .any(|end| essence.ends_with(end))
        || TEXT_TYPES.contains(&essence)
}

#[cfg(test)]
mod tests;
