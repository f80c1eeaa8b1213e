//! `podward schema [OF]`: what other programs read and write.

use podward_protocol::hook::{hook_input_schema, hook_output_schema};
use podward_protocol::{
    events_schema, explained_call_schema, explanation_schema, methods_schema, responses_schema,
};

use crate::arguments::{Schema, SchemaOf};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::Screen;

pub(super) fn run(arguments: &Schema, screen: Screen) -> Result<Exit, Failure> {
    let schema = match arguments.of {
        SchemaOf::Event => events_schema(),
        SchemaOf::Method => methods_schema(),
        SchemaOf::Response => responses_schema(),
        SchemaOf::Manifest => podward_manifest::manifest_schema(),
        SchemaOf::Explanation => explanation_schema(),
        SchemaOf::ExplainedCall => explained_call_schema(),
        SchemaOf::HookInput => hook_input_schema(),
        SchemaOf::HookOutput => hook_output_schema(),
    };
    super::finish(screen, &schema, Exit::Done)
}
