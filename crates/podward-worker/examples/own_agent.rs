//! An agent put together by hand: rules in code, somebody who answers, commands that the kernel holds
//! to the workspace.
#![expect(clippy::print_stdout, reason = "an example shows what happens")]

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

use async_trait::async_trait;
use podward_gate::{Answer, Question};
use podward_model::ScriptedModel;
use podward_policy::{Action, KnownTools, Policies, Policy, PolicySpec};
use podward_scope::{Helper, Scope, ScopeDecl, confine_main};
use podward_tools::{Place, Registry, RunContext};
use podward_worker::{Approver, MemoryJournal, Worker, WorkerEvent};

const SCRIPT: &str = r#"[[step]]
call = [
    { tool = "bash", input = { command = "echo one > one.txt && ls" } },
    { tool = "bash", input = { command = "rm one.txt" } },
    { tool = "bash", input = { command = "rm -rf /" } },
]
[[step]]
text = "Done.""#;

/// Says yes to whatever names one file, and no to the rest.
struct Careful;

#[async_trait]
impl Approver for Careful {
    async fn answer(&self, question: &Question) -> Option<Answer> {
        let by = "careful".into();
        Some(match question.facts().arguments().contains("one.txt") {
            true => Answer::Once { by },
            false => Answer::Rejected { by, feedback: None },
        })
    }
}

#[tokio::main]
async fn work() -> Result<(), Box<dyn Error>> {
    let rules = PolicySpec::new(Action::Ask)
        .rule("bash", "rm -rf *", Action::Deny)
        .rule("bash", "echo *", Action::Allow)
        .rule("bash", "ls *", Action::Allow)
        .rule("file_write", "*.txt", Action::Allow);
    let compiled = Policy::compile(&rules, &KnownTools::built_in());
    let policies = Policies::from(compiled.map_err(|errors| format!("{errors:?}"))?.policy);
    let (work, temp) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let scope = Scope::open(&ScopeDecl::default(), work.path(), temp.path(), &[])?;
    let scope = Arc::new(scope.confine(&Helper::this_program())?);
    let context = RunContext::new(scope, Place::new(work.path(), None), policies);
    let model = ScriptedModel::parse("script", SCRIPT).map_err(|errors| format!("{errors:?}"))?;
    let (events, mut told) = tokio::sync::mpsc::channel(64);
    let mut worker = Worker::guarded(Arc::new(model), Box::new(MemoryJournal::new()), context)
        .tools(Registry::built_in())
        .approver(Arc::new(Careful))
        .events(events)
        .build();
    worker.turn("Tidy up.", Default::default()).await?;
    while let Ok(event) = told.try_recv() {
        if let WorkerEvent::CallDecided(decision) = event {
            println!("{}: {}", decision.arguments(), decision.cause_word());
        }
    }
    Ok(())
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    // What confines a command is this program, started again: before there is any thread.
    if let Some(code) = confine_main(std::env::args_os()) {
        return Ok(code);
    }
    work()?;
    Ok(ExitCode::SUCCESS)
}
