//! What a layer says its own rules say: `examples` of rules and `[[permissions.test]]`.

use std::path::PathBuf;

use podward_policy::Action;
use serde_json::Value;

use crate::diagnostic::Place;

/// The home directory of every test: it need not exist.
pub const TEST_HOME: &str = "/home/user";

/// The workspace of every test, so that one says the same on every machine.
pub const TEST_WORKSPACE: &str = "/home/user/project";

/// A call and the verdict that the rules of its layer shall give, alone.
///
/// Reading does not run it: turning a call into operations is the business of its tool.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyTest {
    /// The place of its layer among the layers that have `[permissions]`, outermost first, from 0.
    pub layer: usize,
    /// The tool that is called.
    pub tool: String,
    /// What it is called with.
    pub call: TestCall,
    /// The directory that its relative paths start from, absolute; `None`: [`TEST_WORKSPACE`].
    pub cwd: Option<PathBuf>,
    /// The verdict.
    pub expect: Action,
    /// `why`: what the author says of it.
    pub why: Option<String>,
    /// Where it is written.
    pub place: Place,
}

/// What a tool is called with.
#[derive(Debug, Clone, PartialEq)]
pub enum TestCall {
    /// What rules are matched against: a command, a path, a URL, a name.
    Text(String),
    /// The tool's arguments.
    Input(Value),
}
