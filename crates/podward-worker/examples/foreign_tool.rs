//! A tool of one's own, under the rules of a manifest.
#![expect(clippy::print_stdout, reason = "an example shows what happens")]

use std::sync::Arc;

use async_trait::async_trait;
use podward_gate::Permit;
use podward_model::ScriptedModel;
use podward_policy::{KnownTools, Operation, ToolName};
use podward_tools::{BadArguments, BadCall, Place, Proposal, canonical_arguments};
use podward_tools::{Invocation, Registry, RunContext, Tool, ToolOutput};
use podward_worker::{MemoryJournal, Worker};
use serde_json::{Value, json};

const RULES: &str = r#"[permissions]
default_action = "deny"
rule = [
    { tool = "deploy", pattern = "staging", action = "allow" },
    { tool = "deploy", pattern = "production", action = "deny", message = "a person does that" },
]"#;

const SCRIPT: &str = r#"[[step]]
call = [{ tool = "deploy", input = { to = "staging" } }, { tool = "deploy", input = { to = "production" } }]
[[step]]
text = "Staging: {{result.1}}. Production was refused.""#;

struct Deploy(ToolName);

impl Tool for Deploy {
    fn name(&self) -> &ToolName {
        &self.0
    }
    fn description(&self) -> &str {
        "Deploy what is committed."
    }
    fn schema(&self) -> Value {
        json!({"type": "object", "required": ["to"], "properties": {"to": {"type": "string"}}})
    }
    fn propose(&self, arguments: Value, _: &Place) -> Result<Proposal, BadCall> {
        let to = arguments.get("to").and_then(Value::as_str);
        let to = to.ok_or_else(|| BadArguments::new(&self.0, "`to` is missing"))?;
        Ok(Proposal {
            arguments: canonical_arguments(&self.0, &arguments)?,
            lowered: Operation::plain(&self.0, to).into(), // what the rules are matched against
            invocation: Box::new(DeployTo(to.to_owned())), // what runs if they allow it
        })
    }
}

struct DeployTo(String);

#[async_trait]
impl Invocation for DeployTo {
    async fn run(self: Box<Self>, _: Permit, _: &RunContext) -> ToolOutput {
        ToolOutput::success(format!("deployed to {}", self.0))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let deploy = ToolName::new("deploy")?;
    let known = KnownTools::with([deploy.clone()]);
    let policies = podward_manifest::isolated("rules", RULES, &known)?.policies;
    let mut tools = Registry::empty();
    tools.register(Arc::new(Deploy(deploy)))?;
    let context = RunContext::in_directory(&std::env::temp_dir(), policies)?;
    let model = ScriptedModel::parse("script", SCRIPT).map_err(|errors| format!("{errors:?}"))?;
    let journal = MemoryJournal::new();
    let builder = Worker::guarded(Arc::new(model), Box::new(journal.clone()), context);
    let mut worker = builder.tools(tools).build();
    worker.turn("Deploy it.", Default::default()).await?;
    for entry in journal.entries() {
        println!("{}", serde_json::to_string(&entry)?);
    }
    Ok(())
}
