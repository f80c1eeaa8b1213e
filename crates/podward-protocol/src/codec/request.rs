//! What a client sends.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::codec::object::{object_text, present};
use crate::codec::{EncodeError, MAX_REQUEST_BYTES, within};
use crate::method::{Method, MethodId, MethodName, Request, Response, ResponseOutcome};
use crate::method_error::{MethodError, MethodErrorCode};

/// Writes a request as one line, without the newline.
///
/// ```
/// use podward_protocol::{
///     Method, MethodId, Request, Run, decode_request, encode_request,
/// };
///
/// let prompt = Some("tidy up".to_owned());
/// let request = Request { id: MethodId(1), method: Method::Run(Run { prompt, skill: None }) };
/// let line = encode_request(&request)?;
/// assert_eq!(line, r#"{"method":"run","params":{"prompt":"tidy up"},"id":1}"#);
/// assert_eq!(decode_request(line.as_bytes())?, request);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The line would be longer than [`MAX_REQUEST_BYTES`].
pub fn encode_request(request: &Request) -> Result<String, EncodeError> {
    within(request, MAX_REQUEST_BYTES)
}

/// A line that is no request this version knows, with what it is answered with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a line that is no request")]
pub struct RefusedRequest {
    /// The request's number; `None` where none can be read.
    pub id: Option<MethodId>,
    /// Why.
    #[source]
    pub error: MethodError,
}

impl From<RefusedRequest> for Response {
    fn from(refused: RefusedRequest) -> Self {
        Self {
            id: refused.id,
            outcome: ResponseOutcome::Error(refused.error),
        }
    }
}

/// Reads one request, with or without its newline.
///
/// Fields beside `method`, `params` and `id` are passed over; parameters that are not known are an
/// error, but in `hello`. Absent `params` are empty ones.
///
/// # Errors
/// `too_long`, `malformed`, `unknown_method` or `invalid_params`.
pub fn decode_request(line: &[u8]) -> Result<Request, RefusedRequest> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    if line.len() > MAX_REQUEST_BYTES {
        let message = format!(
            "a line of {} bytes is longer than {MAX_REQUEST_BYTES}",
            line.len()
        );
        return Err(RefusedRequest {
            id: None,
            error: MethodError::new(MethodErrorCode::TooLong, message),
        });
    }
    let written: Written<'_> = std::str::from_utf8(line)
        .map_err(|error| malformed(None, format!("the line is no UTF-8: {error}")))
        .and_then(|text| {
            object_text(text)
                .map_err(|error| malformed(None, format!("the line is no request: {error}")))
        })?;
    let id = written.id()?;
    let name = written.method(id)?;
    let Some(method) = MethodName::from_wire(&name) else {
        let shown: String = name.chars().take(64).flat_map(char::escape_debug).collect();
        let names: Vec<_> = MethodName::ALL.iter().map(|name| name.as_str()).collect();
        let error = MethodError::new(
            MethodErrorCode::UnknownMethod,
            format!("there is no method `{shown}`"),
        );
        return Err(RefusedRequest {
            id: Some(id),
            error: error.with_help(format!("the methods are {}", names.join(", "))),
        });
    };
    let params = written.params.map_or("{}", RawValue::get);
    match read_params(method, params) {
        Ok(method) => Ok(Request { method, id }),
        Err(why) => {
            let message = format!("the parameters do not fit `{}`: {why}", method.as_str());
            Err(RefusedRequest {
                id: Some(id),
                error: MethodError::new(MethodErrorCode::InvalidParams, message),
            })
        }
    }
}

/// A request whose parts are not read yet.
#[derive(Deserialize)]
struct Written<'a> {
    id: Option<Value>,
    method: Option<Value>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
}

impl Written<'_> {
    fn id(&self) -> Result<MethodId, RefusedRequest> {
        match &self.id {
            None => Err(malformed(None, "there is no `id`".to_owned())),
            Some(id) => id
                .as_u64()
                .map(MethodId)
                .ok_or_else(|| malformed(None, "`id` is not a whole number from 0 on".to_owned())),
        }
    }

    fn method(&self, id: MethodId) -> Result<Cow<'_, str>, RefusedRequest> {
        match &self.method {
            None => Err(malformed(Some(id), "there is no `method`".to_owned())),
            Some(Value::String(name)) => Ok(name.into()),
            Some(_) => Err(malformed(Some(id), "`method` is no string".to_owned())),
        }
    }
}

fn malformed(id: Option<MethodId>, message: String) -> RefusedRequest {
    RefusedRequest {
        id,
        error: MethodError::new(MethodErrorCode::Malformed, message),
    }
}

fn read_params(method: MethodName, params: &str) -> Result<Method, serde_json::Error> {
    Ok(match method {
        MethodName::Hello => Method::Hello(object_text(params)?),
        MethodName::Run => Method::Run(object_text(params)?),
        MethodName::Cancel => Method::Cancel(object_text(params)?),
        MethodName::Stop => Method::Stop(object_text(params)?),
        MethodName::Subscribe => Method::Subscribe(object_text(params)?),
        MethodName::PermissionList => Method::PermissionList(object_text(params)?),
        MethodName::PermissionReply => Method::PermissionReply(object_text(params)?),
        MethodName::PermissionPreview => Method::PermissionPreview(object_text(params)?),
        MethodName::PermissionRejectAll => Method::PermissionRejectAll(object_text(params)?),
        MethodName::GrantsList => Method::GrantsList(object_text(params)?),
        MethodName::GrantsRevoke => Method::GrantsRevoke(object_text(params)?),
        MethodName::Explain => Method::Explain(object_text(params)?),
        MethodName::ExplainCall => Method::ExplainCall(object_text(params)?),
        MethodName::SkillEnd => Method::SkillEnd(object_text(params)?),
        MethodName::Attend => Method::Attend(object_text(params)?),
        MethodName::Pong => Method::Pong(object_text(params)?),
    })
}

#[cfg(test)]
mod tests;
