//! Points in time on the wire.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// A point in time: RFC 3339 in UTC with milliseconds, `2026-01-02T03:04:05.678Z`.
///
/// It is what the pod's clock said: it can stand still or go backwards. `seq` tells the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Time(i64); // milliseconds since 1970-01-01T00:00:00Z

/// A text or a number that is no point in time between the years 0 and 9999.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a time as in `2026-01-02T03:04:05.678Z`")]
pub struct TimeError {
    text: String,
}

/// 0000-01-01T00:00:00Z: RFC 3339 cannot write what was before.
const FIRST_MILLISECOND: i64 = -62_167_219_200_000;

/// 9999-12-30T22:00:00.999Z, the last one that every offset of a day can write.
const LAST_MILLISECOND: i64 = 253_402_207_200_999;

impl Time {
    /// 1970-01-01T00:00:00Z.
    pub const UNIX_EPOCH: Self = Self(0);

    /// The time so many milliseconds after 1970-01-01T00:00:00Z.
    ///
    /// # Errors
    /// It is before the year 0 or after the year 9999.
    pub fn from_unix_milliseconds(milliseconds: i64) -> Result<Self, TimeError> {
        match (FIRST_MILLISECOND..=LAST_MILLISECOND).contains(&milliseconds) {
            true => Ok(Self(milliseconds)),
            false => Err(TimeError {
                text: milliseconds.to_string(),
            }),
        }
    }

    /// Milliseconds since 1970-01-01T00:00:00Z.
    #[must_use]
    pub fn unix_milliseconds(self) -> i64 {
        self.0
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // INVARIANT: `from_unix_milliseconds` takes no time that cannot be written.
        let time = jiff::Timestamp::from_millisecond(self.0).map_err(|_| fmt::Error)?;
        write!(f, "{time:.3}")
    }
}

impl FromStr for Time {
    type Err = TimeError;

    /// Reads RFC 3339 with any offset; what is finer than a millisecond is cut off.
    fn from_str(text: &str) -> Result<Self, TimeError> {
        jiff::Timestamp::from_str(text)
            .ok()
            .and_then(|time| Self::from_unix_milliseconds(time.as_millisecond()).ok())
            .ok_or_else(|| TimeError {
                text: text.chars().take(64).flat_map(char::escape_debug).collect(),
            })
    }
}

impl TryFrom<String> for Time {
    type Error = TimeError;

    fn try_from(text: String) -> Result<Self, TimeError> {
        text.parse()
    }
}

impl From<Time> for String {
    fn from(time: Time) -> Self {
        time.to_string()
    }
}

impl JsonSchema for Time {
    fn schema_name() -> Cow<'static, str> {
        "Time".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "format": "date-time",
            "description": "RFC 3339 in UTC with milliseconds: `2026-01-02T03:04:05.678Z`.",
        })
    }
}

#[cfg(test)]
mod tests;
