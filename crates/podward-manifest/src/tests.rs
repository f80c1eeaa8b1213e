//! Tests of the crate as a whole.

mod hostile;
pub(crate) mod layers;
mod samples;
mod tightening;

use podward_policy::{
    Action, Lowered, Need, Operation, Operations, PathForm, PathSubject, Policies, Subject, Text,
    ToolName,
};

/// What policies say about a path inside the workspace.
fn judge_path(policies: &Policies, tool: &ToolName, path: &str) -> Action {
    let form = PathForm {
        short: Text::known(path),
        absolute: Text::known(format!("/workspace/{path}")),
        home: None,
    };
    let operation = Operation {
        tool: tool.clone(),
        subject: Subject::path(PathSubject {
            lexical: form,
            resolved: None,
            further: Vec::new(),
        }),
        need: Need::Full,
        span: None,
        partial: Vec::new(),
    };
    let call = Lowered::Operations(Operations::new(operation, Vec::new()));
    policies.judge(&call).action
}
