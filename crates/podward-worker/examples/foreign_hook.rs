//! A hook of one's own, behind the permission check: it refuses what the rules allow, and it cannot
//! allow what they refuse.
#![expect(clippy::print_stdout, reason = "an example shows what happens")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use podward_model::{Block, ScriptedModel};
use podward_policy::KnownTools;
use podward_tools::{Registry, RunContext};
use podward_worker::{Hook, HookError, Hooks, MemoryJournal, Worker};
use podward_worker::{PreToolAction, PreToolCall, PreToolStage, SyntheticResult};

const RULES: &str = r#"[permissions]
default_action = "allow"
rule = [{ tool = "file_write", pattern = "*.lock", action = "deny", message = "made by a tool" }]"#;

const SCRIPT: &str = r#"[[step]]
call = [
    { tool = "file_write", input = { path = "a.txt", content = "1" } },
    { tool = "file_write", input = { path = "Cargo.lock", content = "2" } },
    { tool = "file_write", input = { path = "b.txt", content = "3" } },
    { tool = "file_write", input = { path = "c.txt", content = "4" } },
]
[[step]]
text = "I have written what I may.""#;

/// At most so many files are written.
struct Quota {
    left: AtomicU32,
}

#[async_trait]
impl Hook<PreToolCall> for Quota {
    fn name(&self) -> &str {
        "quota"
    }

    // It never sees `Cargo.lock`: what the rules refuse is not shown to hooks.
    async fn on(&self, event: &mut PreToolCall) -> Result<PreToolAction, HookError> {
        let PreToolStage::Permitted(_) = event.stage() else {
            return Ok(PreToolAction::Continue);
        };
        let take_one = |left: u32| left.checked_sub(1);
        let taken = self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take_one);
        Ok(match taken {
            Ok(_) => PreToolAction::Continue,
            Err(_) => PreToolAction::Result(SyntheticResult::refuse("The quota is used up.")),
        })
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let policies = podward_manifest::isolated("rules", RULES, &KnownTools::built_in())?.policies;
    let context = RunContext::in_directory(folder.path(), policies)?;
    let model = ScriptedModel::parse("script", SCRIPT).map_err(|errors| format!("{errors:?}"))?;
    let quota = Quota { left: 2.into() };
    let mut worker = Worker::guarded(Arc::new(model), Box::new(MemoryJournal::new()), context)
        .tools(Registry::built_in())
        .hooks(Hooks::new().pre_tool_call(Arc::new(quota)))
        .build();
    worker.turn("Write the files.", Default::default()).await?;
    for message in worker.history().messages().iter() {
        for block in &message.content {
            if let Block::ToolResult { content, .. } = block {
                println!("{content}");
            }
        }
    }
    Ok(())
}
