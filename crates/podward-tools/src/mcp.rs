//! A call of an MCP server's tool, judged by its canonical JSON arguments.

use podward_policy::{Lowered, Subject, Text, ToolName};
use serde_json::Value;

use crate::arguments::canonical;
use crate::error::{BadArguments, BadCall};
use crate::lower::{full, lowered};

/// What a call of an MCP tool would do.
pub(crate) fn lower_mcp(
    tool: &ToolName,
    arguments: &Value,
) -> Result<(Box<str>, Lowered), BadCall> {
    let canonical = canonical(tool, arguments)?;
    if !arguments.is_object() {
        return Err(BadArguments::new(tool, "they are not a JSON object").into());
    }
    let operation = full(tool.clone(), Subject::Plain(Text::known(canonical.clone())));
    Ok((canonical, lowered(vec![operation])))
}
