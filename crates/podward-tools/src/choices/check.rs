//! Which patterns may be saved at all, whoever wrote them.

use podward_policy::{GrantRule, PatternProblem, ToolName};
use podward_shell::{AddedPrograms, head};

use crate::lower::names;

/// Checks a pattern that a remembered approval of a tool would save.
///
/// A pattern for commands with a wildcard has to name what is run: shells, interpreters, wrappers
/// and package runners only together with the script or the command that they run.
///
/// # Errors
/// It does not compile (D4), says nothing of what it is about, or leaves open what is run.
pub fn check_pattern(
    tool: &ToolName,
    pattern: &str,
    programs: &AddedPrograms,
) -> Result<(), PatternProblem> {
    let rule = GrantRule::compile(tool, pattern, Vec::new())?;
    if tool.as_str() != names::BASH || rule.is_literal() {
        return Ok(());
    }
    let fixed = rule.fixed_words();
    let words: Vec<&str> = fixed.iter().map(String::as_str).collect();
    let head = head(&words, programs);
    // INVARIANT: what was offered once stays valid where it is saved; that a program is no longer offered as a
    // whole narrows what may be saved anew (`Choices::rules_of`).
    if head.name.is_some() || head.subcommand.is_some() {
        return Ok(());
    }
    let front = super::shown(&fixed.join(" "));
    Err(PatternProblem {
        part: None,
        message: format!("`{front}` runs whatever follows it"),
        help: Some(
            "write on to the script, the subcommand or the program that it runs, and put wildcards \
             behind that"
                .to_owned(),
        ),
    })
}
