//! What a model is told before the conversation.

use std::path::Path;

use podward_policy::ToolName;

use crate::file::shown;

/// The pod's own words, then the user's.
pub(crate) fn system_prompt(workspace: &Path, tools: &[ToolName], user: &str) -> String {
    let names: Vec<&str> = tools.iter().map(ToolName::as_str).collect();
    let tools = if names.is_empty() {
        "You have no tools.".to_owned()
    } else {
        format!("Your tools: {}.", names.join(", "))
    };
    let workspace = shown(workspace);
    let mut prompt = format!(
        "You work for a person, with tools, in the directory {workspace}. {tools} Relative paths \
         start in that directory, and so does every command; commands have no terminal and no \
         input.\n\
         \n\
         Each call is checked against the person's rules before it runs. A call that is refused \
         did not run, and its result says why. That is final unless the result says that another \
         try can help: do not make the same call again and do not do the same thing by a detour. \
         Go on with what you may do, or tell the person what you would need.\n"
    );
    let user = user.trim();
    if !user.is_empty() {
        prompt.push('\n');
        prompt.push_str(user);
        prompt.push('\n');
    }
    prompt
}
