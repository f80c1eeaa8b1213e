use std::sync::Arc;

use podward_policy::{BUILT_IN_TOOLS, Lowered, Subject, ToolName};
use serde_json::{Value, json};

use super::{Registry, lower};
use crate::error::BadCall;
use crate::fixture::text_place;
use crate::tool::{Place, Proposal, Tool};

#[test]
fn the_built_in_tools_are_known_and_in_order() {
    let registry = Registry::built_in();
    let names: Vec<&str> = registry.iter().map(|tool| tool.name().as_str()).collect();
    assert_eq!(
        names,
        [
            "bash",
            "file_edit",
            "file_write",
            "glob",
            "grep",
            "list",
            "read",
            "web_fetch"
        ]
    );
    assert!(names.iter().all(|name| BUILT_IN_TOOLS.contains(name)));
}

#[test]
fn every_schema_is_closed_and_every_key_is_described() {
    for tool in Registry::built_in().iter() {
        let schema = tool.schema();
        let name = tool.name();
        assert_eq!(schema["type"], "object", "{name}");
        assert_eq!(schema["additionalProperties"], json!(false), "{name}");
        assert!(schema.get("$schema").is_none(), "{name}");
        for (key, property) in schema["properties"].as_object().unwrap() {
            let description = property["description"].as_str();
            assert!(
                description.is_some_and(|d| d.len() > 10 && !d.contains('\n')),
                "{name}.{key}"
            );
            assert!(property["type"].is_string(), "{name}.{key}");
        }
        assert!(tool.description().len() > 80, "{name}");
        assert!(!schema.to_string().contains("$ref"), "{name}: {schema}");
    }
}

#[test]
fn an_unknown_tool_is_a_bad_call_that_names_the_nearest() {
    let place = text_place();
    for (name, expected) in [
        ("raed", "there is no tool `raed`; did you mean `read`?"),
        ("Bash", "there is no tool `Bash`; did you mean `bash`?"),
        (
            "shell",
            "there is no tool `shell`; the tools are bash, file_edit, file_write, glob, grep, \
             list, read, web_fetch",
        ),
        (
            "external_directory",
            "there is no tool `external_directory`",
        ),
    ] {
        let error = lower(name, json!({}), &place).unwrap_err();
        assert!(matches!(error, BadCall::UnknownTool(_)), "{error:?}");
        assert!(error.to_string().starts_with(expected), "{error}");
    }
    for name in ["", "a b", "mcp__", "mcp__a", "mcp__a__", "mcp____b"] {
        let error = lower(name, json!({}), &place).unwrap_err();
        assert!(matches!(error, BadCall::UnknownTool(_)), "{error:?}");
    }
}

#[test]
fn an_mcp_call_is_its_canonical_json() {
    let (canonical, lowered) = lower(
        "mcp__git__push",
        json!({"force": false, "branch": "dev"}),
        &text_place(),
    )
    .unwrap();
    assert_eq!(&*canonical, r#"{"branch":"dev","force":false}"#);
    let Lowered::Operations(operations) = lowered else {
        panic!("an MCP call is an operation");
    };
    assert_eq!(operations.len(), 1);
    let operation = operations.iter().next().unwrap();
    assert_eq!(operation.tool.as_str(), "mcp__git__push");
    assert!(
        matches!(&operation.subject, Subject::Plain(text) if text.as_known() == Some(&*canonical))
    );
    assert!(lower("mcp__git__push", json!([1]), &text_place()).is_err());
}

/// A tool of a program that embeds podward.
struct Foreign(ToolName);

impl Tool for Foreign {
    fn name(&self) -> &ToolName {
        &self.0
    }

    fn description(&self) -> &str {
        "Does something"
    }

    fn schema(&self) -> Value {
        json!({"type": "object"})
    }

    fn propose(&self, _: Value, _: &Place) -> Result<Proposal, BadCall> {
        Err(crate::BadArguments::new(&self.0, "nothing fits").into())
    }
}

#[test]
fn a_foreign_tool_is_registered_once() {
    let mut registry = Registry::built_in();
    let foreign = |name: &str| Arc::new(Foreign(ToolName::new(name).unwrap()));
    registry.register(foreign("deploy")).unwrap();
    assert!(registry.get("deploy").is_some());
    let error = registry.register(foreign("deploy")).unwrap_err();
    assert_eq!(error.to_string(), "there is already a tool `deploy`");
    assert!(registry.register(foreign("read")).is_err());
    registry.retain(|name| name.as_str() == "deploy");
    assert_eq!(format!("{registry:?}"), r#"{ToolName("deploy")}"#);
    assert!(
        registry
            .propose("deploy", json!({}), &text_place())
            .is_err()
    );
}
