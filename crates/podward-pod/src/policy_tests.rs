//! Runs what layers say that their own rules say.

use podward_manifest::{
    Diagnostic, Diagnostics, PolicyTest, Severity, TEST_HOME, TEST_WORKSPACE, TestCall,
};
use podward_policy::{Action, Cause, Policies, Ruling};
use podward_shell::AddedPrograms;
use podward_tools::{Place, arguments_of_text, lower};

/// Characters of a call in a message.
const CALL_CHARS: usize = 80;

/// What became of one test.
#[derive(Debug, Clone, PartialEq)]
pub struct TestOutcome {
    /// The test.
    pub test: PolicyTest,
    /// The verdict, or why there is no such call.
    pub got: Result<Ruling, String>,
}

/// Runs tests, each by the rules of its own layer alone: no other layer, no file of the disk and no
/// directory of this machine has a say.
#[must_use]
pub fn run_policy_tests(
    tests: &[PolicyTest],
    policies: &Policies,
    programs: &AddedPrograms,
) -> Vec<TestOutcome> {
    let place = Place::new(TEST_WORKSPACE, Some(TEST_HOME.into()))
        .with_programs(programs.clone())
        .isolated();
    let outcome = |test: &PolicyTest| TestOutcome {
        got: judge(test, policies, &place),
        test: test.clone(),
    };
    tests.iter().map(outcome).collect()
}

/// The tests that failed, as errors of the layers that hold them; `None`: all passed.
#[must_use]
pub fn failed_policy_tests(
    tests: &[PolicyTest],
    policies: &Policies,
    programs: &AddedPrograms,
) -> Option<Diagnostics> {
    let outcomes = run_policy_tests(tests, policies, programs);
    let failed = outcomes.iter().filter_map(TestOutcome::diagnostic);
    Diagnostics::from_errors(failed.collect())
}

fn judge(test: &PolicyTest, policies: &Policies, place: &Place) -> Result<Ruling, String> {
    let arguments = match &test.call {
        TestCall::Input(input) => input.clone(),
        TestCall::Text(text) => arguments_of_text(&test.tool, text)
            .ok_or_else(|| format!("no call of `{}` can be written as this text", test.tool))?,
    };
    let elsewhere = test.cwd.clone().map(|cwd| Place {
        cwd,
        ..place.clone()
    });
    let place = elsewhere.as_ref().unwrap_or(place);
    let (_, lowered) =
        lower(&test.tool, arguments, place).map_err(|bad_call| bad_call.to_string())?;
    Ok(policies.judge_layer(test.layer, &lowered))
}

impl TestOutcome {
    /// Whether the verdict is the one that is expected.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.verdict() == Some(self.test.expect)
    }

    /// The verdict; `None`: there is no such call.
    #[must_use]
    pub fn verdict(&self) -> Option<Action> {
        self.got.as_ref().ok().map(|ruling| ruling.action)
    }

    /// The call in a word: `bash git push`, `bash rm x (in /home/user/project/src)`.
    #[must_use]
    pub fn call(&self) -> String {
        let what = match &self.test.call {
            TestCall::Text(text) => text.clone(),
            TestCall::Input(input) => input.to_string(),
        };
        let shown: String = what
            .chars()
            .take(CALL_CHARS)
            .flat_map(char::escape_debug)
            .collect();
        let more = if what.chars().count() > CALL_CHARS {
            "…"
        } else {
            ""
        };
        let cwd = self.test.cwd.as_ref();
        let cwd = cwd.map_or_else(String::new, |cwd| format!(" (in {})", cwd.display()));
        format!(
            "{} {}{more}{cwd}",
            self.test.tool,
            shown.replace("\\\"", "\"").replace("\\'", "'")
        )
    }

    /// What decided, in words.
    #[must_use]
    pub fn decided(&self) -> String {
        match &self.got {
            Err(why) => why.clone(),
            Ok(ruling) => match &ruling.cause {
                Cause::Rule {
                    rule,
                    location,
                    pattern,
                    ..
                } => format!("rule {}, `{pattern}` ({location})", rule.0 + 1),
                Cause::Default { location, .. } => format!("`default_action` ({location})"),
                Cause::Unresolved { location, why, .. } => {
                    let at = location
                        .as_ref()
                        .map(|at| format!(", a rule that may match ({at})"));
                    format!("`unresolved`, {why}{}", at.unwrap_or_default())
                }
                Cause::NothingToRun => "nothing would run".to_owned(),
                Cause::NoPolicy => "there are no rules".to_owned(),
                Cause::Unrestricted
                | Cause::Unnamed { .. }
                | Cause::Skill { .. }
                | Cause::SkillFiles { .. } => "no rule is against it".to_owned(),
            },
        }
    }

    /// What is wrong, with the place of the test; `None`: nothing.
    #[must_use]
    pub fn diagnostic(&self) -> Option<Diagnostic> {
        if self.passed() {
            return None;
        }
        let got = self.verdict().map_or("no verdict", Action::as_str);
        let expect = self.test.expect.as_str();
        let call = self.call();
        Some(Diagnostic {
            severity: Severity::Error,
            message: format!("`{call}` gets {got}, and {expect} is expected"),
            place: Some(self.test.place.clone()),
            related: Vec::new(),
            help: Some(match &self.test.why {
                Some(why) => format!("it is decided by {}; {why}", self.decided()),
                None => format!("it is decided by {}", self.decided()),
            }),
        })
    }
}

#[cfg(test)]
mod tests;
