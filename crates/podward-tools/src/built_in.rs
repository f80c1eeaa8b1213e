//! What the built-in tools have in common: typed arguments, parsed once.

use std::borrow::Cow;
use std::marker::PhantomData;

use podward_policy::{Lowered, ToolName};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::arguments::{canonical, parse, schema_of};
use crate::error::{BadArguments, BadCall};
use crate::lower::names;
use crate::tool::{Invocation, Place, Proposal, Tool};

/// The typed arguments of one built-in tool.
pub(crate) trait Arguments: DeserializeOwned + JsonSchema + 'static {
    /// The tool's name.
    const NAME: &'static str;

    /// What the tool does, written for the model.
    const DESCRIPTION: &'static str;

    /// Says what the call would do, and makes it ready to run.
    fn lower(self, tool: &ToolName, place: &Place) -> Result<Ready, BadArguments>;
}

/// A call that was read.
pub(crate) struct Ready {
    pub(crate) lowered: Lowered,
    pub(crate) invocation: Box<dyn Invocation>,
}

/// A built-in tool.
pub(crate) struct BuiltIn<A> {
    name: ToolName,
    description: Cow<'static, str>,
    schema: Value,
    arguments: PhantomData<fn() -> A>,
}

impl<A: Arguments> BuiltIn<A> {
    pub(crate) fn new() -> Self {
        Self {
            name: names::built_in(A::NAME),
            description: Cow::Borrowed(A::DESCRIPTION),
            schema: schema_of::<A>(),
            arguments: PhantomData,
        }
    }

    /// One whose description ends with what there is to name; `listing` may be empty.
    pub(crate) fn with_listing(listing: &str) -> Self {
        let mut tool = Self::new();
        if !listing.is_empty() {
            tool.description = Cow::Owned(format!("{}\n{listing}", A::DESCRIPTION));
        }
        tool
    }
}

impl<A: Arguments> Tool for BuiltIn<A> {
    fn name(&self) -> &ToolName {
        &self.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn schema(&self) -> Value {
        self.schema.clone()
    }

    fn propose(&self, arguments: Value, place: &Place) -> Result<Proposal, BadCall> {
        let canonical = canonical(&self.name, &arguments)?;
        let typed: A = parse(&self.name, &self.schema, arguments)?;
        let ready = typed.lower(&self.name, place)?;
        Ok(Proposal {
            arguments: canonical,
            lowered: ready.lowered,
            invocation: ready.invocation,
        })
    }
}
