//! JSON that a provider wrote: no more values than memory holds with ease.
//!
//! A value takes up to a hundred times as many bytes in memory as in the text, an object of one
//! field most of all, so a limit of the text's length alone says too little.

#[cfg(test)]
mod tests;

use serde_json::Value;

/// Values in one text: more than any provider writes, and some 100 MB at most.
const MAX_VALUES: usize = 200_000;

/// A text that is not read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JsonError {
    /// It is no JSON.
    #[error(transparent)]
    Wrong(#[from] serde_json::Error),
    /// It has too many values.
    #[error("more than {MAX_VALUES} values")]
    TooMany,
}

/// Reads a text.
pub(crate) fn parse(text: &str) -> Result<Value, JsonError> {
    if n_values(text) > MAX_VALUES {
        return Err(JsonError::TooMany);
    }
    Ok(serde_json::from_str(text)?)
}

/// As many values as there could be: each but the first of a list or an object stands behind a
/// comma.
fn n_values(text: &str) -> usize {
    let mut n_values = 1_usize;
    let mut is_string = false;
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => is_string = !is_string,
            b'\\' if is_string => {
                bytes.next();
            }
            b'{' | b'[' | b',' if !is_string => n_values += 1,
            _ => {}
        }
    }
    n_values
}
