//! `web_fetch`: judged here; it is not run yet.

use podward_policy::Lowered;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::arguments::{canonical, parse, schema_of};
use crate::error::BadCall;
use crate::lower::url::Address;
use crate::lower::{lowered, names};
use crate::tool::Place;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WebFetch {
    /// What to fetch: an `https://`, `http://` or `file:///` URL.
    url: String,
}

/// What a call of `web_fetch` would do.
pub(crate) fn lower_web_fetch(
    arguments: Value,
    place: &Place,
) -> Result<(Box<str>, Lowered), BadCall> {
    let tool = names::built_in(names::WEB_FETCH);
    let canonical = canonical(&tool, &arguments)?;
    let typed: WebFetch = parse(&tool, &schema_of::<WebFetch>(), arguments)?;
    let address = Address::parse(&tool, "url", &typed.url, place)?;
    Ok((canonical, lowered(address.operations(&tool))))
}
