//! Names of things on the wire.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Characters of a session's id.
const SESSION_ID_LEN: usize = 26;

/// The digits of Crockford's base 32, which a ULID is written in.
const CROCKFORD: &[u8] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// The id of a session: a ULID, 26 upper-case characters of Crockford's base 32.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", extend("pattern" = "^[0-7][0-9A-HJKMNP-TV-Z]{25}$"))]
pub struct SessionId(Arc<str>);

/// A text that is no session's id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a session id: 26 characters of 0-9 and A-Z without I, L, O and U")]
pub struct SessionIdError {
    text: String,
}

impl SessionId {
    /// Checks a session's id.
    ///
    /// # Errors
    /// The text is not written as a ULID.
    pub fn new(text: &str) -> Result<Self, SessionIdError> {
        let bytes = text.as_bytes();
        // 26 digits hold 130 bits and a ULID has 128: the first digit is at most 7.
        let fits = bytes.first().is_some_and(|first| *first <= b'7');
        if bytes.len() == SESSION_ID_LEN && fits && bytes.iter().all(|b| CROCKFORD.contains(b)) {
            Ok(Self(text.into()))
        } else {
            Err(SessionIdError {
                text: text.chars().take(64).flat_map(char::escape_debug).collect(),
            })
        }
    }

    /// The id with these 128 bits.
    #[must_use]
    pub fn from_bits(bits: u128) -> Self {
        let digits = (0..SESSION_ID_LEN).rev().map(|place| {
            let digit = (bits >> (5 * place)) & 0x1f;
            CROCKFORD
                .get(digit as usize)
                .map_or('0', |digit| char::from(*digit))
        });
        Self(digits.collect::<String>().into())
    }

    /// The id as it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for SessionId {
    type Error = SessionIdError;

    fn try_from(text: String) -> Result<Self, SessionIdError> {
        Self::new(&text)
    }
}

impl From<SessionId> for String {
    fn from(id: SessionId) -> Self {
        id.0.as_ref().into()
    }
}

/// The id of one tool call within its session: any text, as the model or the pod named it.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct CallId(Arc<str>);

impl CallId {
    /// An id.
    #[must_use]
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// The id as it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The id of a permission request within its session: that of the call it is about.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct RequestId(Arc<str>);

impl RequestId {
    /// An id.
    #[must_use]
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// The id as it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The id of a grant.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct GrantId(Arc<str>);

impl GrantId {
    /// An id.
    #[must_use]
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// The id as it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for GrantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests;
