//! What a pod sends.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::Error as _;
use serde_json::value::RawValue;
use serde_json::{Error, Value};

use crate::codec::object::{object, object_text};
use crate::codec::{DecodeError, EncodeError, MAX_LINE_BYTES, within};
use crate::event::{Envelope, Event};
use crate::id::SessionId;
use crate::method::{MethodId, MethodName, Reply, Response};
use crate::method_error::{MethodError, MethodErrorCode};
use crate::time::Time;

/// A line of a pod.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "it is taken apart at once")]
pub enum Line {
    /// Something happened.
    Event(Envelope),
    /// A request was answered.
    Response(RawResponse),
}

/// The response to a request whose method only the client knows.
#[derive(Debug, Clone, PartialEq)]
pub struct RawResponse {
    /// The request's number; `None` where the pod could read none.
    pub id: Option<MethodId>,
    /// What the request got.
    pub result: Result<RawReply, MethodError>,
}

/// What a request got, before it is known what it asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct RawReply(Value);

impl RawReply {
    /// Reads it as what a method gets.
    ///
    /// # Errors
    /// The method gets something else.
    pub fn read(self, method: MethodName) -> Result<Reply, DecodeError> {
        self.typed(method).map_err(DecodeError::Malformed)
    }

    fn typed(self, method: MethodName) -> Result<Reply, Error> {
        let value = self.0;
        Ok(match method {
            MethodName::Hello => Reply::Hello(object(value)?),
            MethodName::Run => Reply::Run(object(value)?),
            MethodName::Cancel => Reply::Cancel(object(value)?),
            MethodName::Stop => Reply::Stop(object(value)?),
            MethodName::Subscribe => Reply::Subscribe(object(value)?),
            MethodName::PermissionList => Reply::PermissionList(object(value)?),
            MethodName::PermissionReply => Reply::PermissionReply(object(value)?),
            MethodName::PermissionPreview => Reply::PermissionPreview(object(value)?),
            MethodName::PermissionRejectAll => Reply::PermissionRejectAll(object(value)?),
            MethodName::GrantsList => Reply::GrantsList(object(value)?),
            MethodName::GrantsRevoke => Reply::GrantsRevoke(object(value)?),
            MethodName::Explain => Reply::Explain(object(value)?),
            MethodName::ExplainCall => Reply::ExplainCall(object(value)?),
            MethodName::SkillEnd => Reply::SkillEnd(object(value)?),
            MethodName::Attend => Reply::Attend(object(value)?),
            MethodName::Pong => Reply::Pong(object(value)?),
        })
    }
}

/// Writes a response as one line, without the newline.
///
/// # Errors
/// The line would be longer than [`MAX_LINE_BYTES`].
pub fn encode_response(response: &Response) -> Result<String, EncodeError> {
    within(response, MAX_LINE_BYTES)
}

/// Reads one line of a pod, with or without its newline. Unknown fields are passed over.
///
/// # Errors
/// The line is too long, no JSON, neither an event nor a response, or an event or an error that this
/// version does not know.
pub fn decode_line(line: &str) -> Result<Line, DecodeError> {
    let line = line.strip_suffix('\n').unwrap_or(line);
    if line.len() > MAX_LINE_BYTES {
        return Err(DecodeError::LineTooLong {
            n_bytes: line.len(),
        });
    }
    let written: Written<'_> = object_text(line).map_err(DecodeError::Malformed)?;
    if written.event.is_some() {
        written.event().map(Line::Event)
    } else {
        written.response().map(Line::Response)
    }
}

/// A line whose parts are not read yet.
#[derive(Deserialize)]
struct Written<'a> {
    time: Option<Time>,
    session: Option<SessionId>,
    seq: Option<u64>,
    #[serde(default)]
    snapshot: bool,
    #[serde(borrow)]
    event: Option<Cow<'a, str>>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    id: Option<MethodId>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

impl Written<'_> {
    fn event(self) -> Result<Envelope, DecodeError> {
        let missing = |name| DecodeError::Malformed(Error::missing_field(name));
        let event = self.event.ok_or_else(|| missing("event"))?;
        let seq = self.seq.ok_or_else(|| missing("seq"))?;
        let time = self.time.ok_or_else(|| missing("time"))?;
        let session = self.session.ok_or_else(|| missing("session"))?;
        let Some(name) = Event::NAMES.iter().find(|name| **name == event) else {
            return Err(DecodeError::UnknownEvent {
                name: event.into_owned(),
                seq,
            });
        };
        let data = self.data.ok_or_else(|| missing("data"))?.get();
        if !data.starts_with('{') {
            return Err(DecodeError::Malformed(Error::custom("`data` is no object")));
        }
        // The name is a plain word and the data one JSON value.
        let whole = format!("{{\"event\":\"{name}\",\"data\":{data}}}");
        Ok(Envelope {
            time,
            session,
            seq,
            snapshot: self.snapshot,
            event: serde_json::from_str(&whole).map_err(DecodeError::Malformed)?,
        })
    }

    fn response(self) -> Result<RawResponse, DecodeError> {
        let id = self.id;
        let result = match (self.result, self.error) {
            (Some(result), None) => {
                let value = serde_json::from_str(result.get()).map_err(DecodeError::Malformed)?;
                Ok(RawReply(value))
            }
            (None, Some(error)) => Err(read_error(id, error.get())?),
            (None, None) | (Some(_), Some(_)) => {
                let error = Error::custom("neither an event nor one of `result` and `error`");
                return Err(DecodeError::Malformed(error));
            }
        };
        Ok(RawResponse { id, result })
    }
}

fn read_error(id: Option<MethodId>, text: &str) -> Result<MethodError, DecodeError> {
    /// An error whose kind is not known yet.
    #[derive(Deserialize)]
    struct Written {
        code: String,
        message: String,
    }
    let written: Written = object_text(text).map_err(DecodeError::Malformed)?;
    if MethodErrorCode::NAMES.contains(&written.code.as_str()) {
        serde_json::from_str(text).map_err(DecodeError::Malformed)
    } else {
        Err(DecodeError::UnknownErrorCode {
            id,
            code: written.code,
            message: written.message,
        })
    }
}

#[cfg(test)]
mod tests;
