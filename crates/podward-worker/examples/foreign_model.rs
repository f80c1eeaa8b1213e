//! A model of one's own: whatever can answer with events can drive the tools, under the same rules.
#![expect(clippy::print_stdout, reason = "an example shows what happens")]

use std::sync::Arc;

use futures_util::stream::{self, StreamExt};
use podward_model::{Block, Model, ModelEvent, ModelRequest, ModelStream, StopReason, ToolInput};
use podward_policy::KnownTools;
use podward_tools::{Registry, RunContext};
use podward_worker::{MemoryJournal, Worker};
use serde_json::json;

const RULES: &str = r#"[permissions]
default_action = "deny"
rule = [
    { tool = "read", pattern = "*.env", action = "deny", message = "secrets live there" },
    { tool = "read", pattern = "*", action = "allow" },
]"#;

/// Asks for two files at once, then says how many of them it was not given.
struct Reader;

impl Model for Reader {
    fn name(&self) -> &str {
        "reader"
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        let last = request.messages.last();
        let results = last.into_iter().flat_map(|message| &message.content);
        let n_refused = results
            .filter(|block| matches!(block, Block::ToolResult { is_error: true, .. }))
            .count();
        let read = |idx, path: &str| ModelEvent::ToolUse {
            idx,
            id: format!("read_{idx}"),
            name: "read".to_owned(),
            input: ToolInput::Json(json!({ "path": path })),
        };
        let events = match request.messages.as_slice() {
            [_prompt] => vec![
                read(0, "notes.txt"),
                read(1, "prod.env"),
                ModelEvent::Stopped(StopReason::ToolUse),
            ],
            _ => vec![
                ModelEvent::TextDelta(format!("{n_refused} of 2 files I was not given.")),
                ModelEvent::Stopped(StopReason::EndTurn),
            ],
        };
        stream::iter(events.into_iter().map(Ok)).boxed()
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("notes.txt"), "buy milk\n")?;
    std::fs::write(folder.path().join("prod.env"), "KEY=1\n")?;
    let policies = podward_manifest::isolated("rules", RULES, &KnownTools::built_in())?.policies;
    let context = RunContext::in_directory(folder.path(), policies)?;
    let builder = Worker::guarded(Arc::new(Reader), Box::new(MemoryJournal::new()), context);
    let mut worker = builder.tools(Registry::built_in()).build();
    let end = worker.turn("Read my notes.", Default::default()).await?;
    for message in worker.history().messages().iter() {
        println!("{}", serde_json::to_string(message)?);
    }
    println!(
        "{} in {} steps, {} refused",
        end.reason, end.n_steps, end.n_refused
    );
    Ok(())
}
