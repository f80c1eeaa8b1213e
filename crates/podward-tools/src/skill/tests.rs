use std::sync::{Mutex, PoisonError};

use podward_policy::{Action, Lowered};
use serde_json::{Value, json};

use super::*;
use crate::error::BadCall;
use crate::fixture::{World, permit, policies, text_place};
use crate::registry::Registry;
use crate::tool::Proposal;

const LISTING: &str = "The skills:\n- review: Reviews a change.";

fn registry() -> Registry {
    let mut registry = Registry::built_in();
    registry.register(skill_tool(LISTING)).unwrap();
    registry
}

fn propose(arguments: Value) -> Result<Proposal, BadCall> {
    registry().propose("skill", arguments, &text_place())
}

/// Starts `review` and nothing else, and keeps what it was asked for.
#[derive(Default)]
struct Only(Mutex<Vec<(String, Option<String>)>>);

#[async_trait]
impl StartSkill for Only {
    async fn start(&self, name: &str, arguments: Option<&str>) -> Result<String, String> {
        let asked = (name.to_owned(), arguments.map(ToOwned::to_owned));
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(asked);
        match name {
            "review" => Ok("Look at it.".to_owned()),
            _ => Err("Error: there is no such skill.".to_owned()),
        }
    }
}

fn run(arguments: Value, skills: Arc<dyn StartSkill>) -> ToolOutput {
    let ctx = RunContext {
        skills,
        ..World::new().context()
    };
    let proposal = propose(arguments).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(proposal.invocation.run(permit(), &ctx))
}

#[test]
fn a_skill_is_judged_by_its_name_alone() {
    for arguments in [
        json!({"name": "review"}),
        json!({"name": "review", "arguments": "rm -rf x"}),
        json!({"name": "review", "arguments": null}),
    ] {
        let proposal = propose(arguments.clone()).unwrap();
        let Lowered::Operations(operations) = &proposal.lowered else {
            panic!("it does something");
        };
        let all: Vec<_> = operations.iter().collect();
        let expected = Operation::plain(&ToolName::new("skill").unwrap(), "review");
        assert_eq!(all, [&expected], "{arguments}");
    }
    let rules = policies(Action::Deny, &[("skill", "review", Action::Allow)]);
    let judge = |name: &str| {
        let proposal = propose(json!({ "name": name })).unwrap();
        rules.judge(&proposal.lowered).action
    };
    assert_eq!(judge("review"), Action::Allow);
    assert_eq!(judge("release"), Action::Deny);
    assert_eq!(judge("review*"), Action::Deny);
}

#[test]
fn what_is_no_call_of_a_skill_is_told() {
    for arguments in [
        json!({}),
        json!({"name": " "}),
        json!({"name": 7}),
        json!({"name": "review", "arguments": ["a"]}),
        json!({"name": "review", "allowed-tools": "Bash"}),
    ] {
        let refused = propose(arguments.clone());
        assert!(matches!(refused, Err(BadCall::Arguments(_))), "{arguments}");
    }
}

#[test]
fn the_result_is_the_instructions_or_why_there_are_none() {
    let skills = Arc::new(Only::default());
    let output = run(
        json!({"name": "review", "arguments": "the last change"}),
        skills.clone(),
    );
    assert_eq!((&*output.content, output.is_error), ("Look at it.", false));
    let output = run(json!({"name": "release"}), skills.clone());
    assert!(output.is_error);
    assert_eq!(output.content, "Error: there is no such skill.");
    let asked = skills.0.lock().unwrap().clone();
    let expected = [
        ("review".to_owned(), Some("the last change".to_owned())),
        ("release".to_owned(), None),
    ];
    assert_eq!(asked, expected);
}

#[test]
fn without_a_worker_no_skill_starts() {
    let output = run(json!({"name": "review\u{1b}[2J"}), Arc::new(NoSkills));
    assert!(output.is_error);
    assert_eq!(
        output.content,
        "the skill `review\\u{1b}[2J` was not started: there are no skills here"
    );
}

#[test]
fn the_model_is_told_which_skills_there_are() {
    let registry = registry();
    let tool = registry
        .iter()
        .find(|tool| tool.name().as_str() == "skill")
        .unwrap();
    let description = tool.description();
    assert!(description.ends_with(&format!("\n{LISTING}")));
    assert_eq!(tool.schema()["required"], json!(["name"]));
    let alone = skill_tool("");
    assert_eq!(alone.description(), Skill::DESCRIPTION);
    // Where there are none, there is no such tool.
    let names = Registry::built_in();
    assert!(names.iter().all(|tool| tool.name().as_str() != "skill"));
}
