//! Code that sees an event of the worker and may have a say in it.

pub(crate) mod chain;
mod permission;

pub use permission::PermissionHook;

use std::sync::Arc;

use async_trait::async_trait;
use podward_gate::{Call, CallFacts, Permitted, Question, Refusal};
use podward_model::{Message, ModelRequest, ToolSpec};
use podward_policy::Ruling;
use podward_tools::{Invocation, ToolOutput};

use crate::event::TurnEnd;
use crate::gate::{Earlier, SharedGate};

/// Something a hook can see, and what it can do about it.
pub trait HookEvent: Send + 'static {
    /// What a hook answers.
    type Action: Send;
}

/// Code that sees an event of the worker.
///
/// A hook that fails or panics counts as one that refuses, where its event can be refused.
///
/// ```
/// use async_trait::async_trait;
/// use podward_worker::{Hook, HookError, Hooks, PreToolAction, PreToolCall, SyntheticResult};
///
/// struct NoNetwork;
///
/// #[async_trait]
/// impl Hook<PreToolCall> for NoNetwork {
///     fn name(&self) -> &str {
///         "no-network"
///     }
///
///     async fn on(&self, event: &mut PreToolCall) -> Result<PreToolAction, HookError> {
///         Ok(match event.facts().tool().as_str() {
///             "web_fetch" => PreToolAction::Result(SyntheticResult::refuse("We are offline.")),
///             _ => PreToolAction::Continue,
///         })
///     }
/// }
///
/// let hooks = Hooks::new().pre_tool_call(std::sync::Arc::new(NoNetwork));
/// ```
///
/// It cannot loosen what the rules say: there is no action that permits, and an event can be
/// neither made nor changed to one that is permitted.
///
/// ```compile_fail,E0451
/// # use podward_worker::PreToolCall;
/// fn loosen(event: &mut PreToolCall) {
///     let PreToolCall { stage, .. } = event; // its fields are private
/// }
/// ```
#[async_trait]
pub trait Hook<E: HookEvent>: Send + Sync {
    /// The hook's name, for people, logs and refusals.
    fn name(&self) -> &str;

    /// Sees an event. The future is dropped when the turn is cancelled.
    ///
    /// # Errors
    /// The hook could not do its work.
    async fn on(&self, event: &mut E) -> Result<E::Action, HookError>;
}

/// A hook could not do its work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct HookError {
    why: String,
}

impl HookError {
    /// The error, in a few words: lower case, no full stop.
    #[must_use]
    pub fn new(why: impl Into<String>) -> Self {
        Self { why: why.into() }
    }
}

/// Before a call runs or is asked about; the permission check has seen it.
///
/// Refused calls are not shown to hooks.
pub struct PreToolCall {
    facts: Arc<CallFacts>,
    stage: Stage,
}

/// How far a call has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PreToolStage<'a> {
    /// Nobody has judged it.
    Proposed,
    /// It will run unless a hook refuses it.
    Permitted(&'a Ruling),
    /// It will be asked about unless a hook refuses it.
    Asked(&'a Question),
    /// It is refused.
    Refused(&'a Refusal),
}

enum Stage {
    Proposed(Call<Box<dyn Invocation>>, Earlier),
    Permitted(Permitted<Box<dyn Invocation>>),
    Asked(Question),
    Refused(Refusal),
}

/// What a hook does about a call. It can refuse it, never permit it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PreToolAction {
    /// Nothing against it.
    Continue,
    /// The call does not run; this takes the place of its result, and the turn goes on.
    Result(SyntheticResult),
    /// The call does not run and the turn ends.
    Abort {
        /// Why, for people.
        reason: Box<str>,
    },
}

/// What takes the place of a tool's result: always an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntheticResult {
    text: Box<str>,
}

/// What a hook does about a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnAction {
    /// Nothing against it.
    Continue,
    /// The turn ends.
    Abort {
        /// Why, for people.
        reason: Box<str>,
    },
}

/// Before a prompt becomes part of the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptSubmit {
    /// The prompt; a hook may change it.
    pub prompt: String,
}

/// Before the model is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct PreRequest {
    request: ModelRequest,
}

/// After a call ran; it changes nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostTool {
    /// What is known of the call.
    pub facts: Arc<CallFacts>,
    /// Its result.
    pub output: Arc<ToolOutput>,
}

impl HookEvent for PreToolCall {
    type Action = PreToolAction;
}

impl HookEvent for PromptSubmit {
    type Action = TurnAction;
}

impl HookEvent for PreRequest {
    type Action = TurnAction;
}

impl HookEvent for PostTool {
    type Action = ();
}

impl HookEvent for TurnEnd {
    type Action = ();
}

/// The hooks of a worker, in the order in which they are run.
///
/// The permission check is one of them: a pod registers its [`PermissionHook`] before all others.
/// Without it no call is permitted.
#[derive(Clone, Default)]
pub struct Hooks {
    pub(crate) pre_tool_call: Vec<Arc<dyn Hook<PreToolCall>>>,
    pub(crate) prompt_submit: Vec<Arc<dyn Hook<PromptSubmit>>>,
    pub(crate) pre_request: Vec<Arc<dyn Hook<PreRequest>>>,
    pub(crate) post_tool: Vec<Arc<dyn Hook<PostTool>>>,
    pub(crate) turn_end: Vec<Arc<dyn Hook<TurnEnd>>>,
}

impl Hooks {
    /// No hooks.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The permission check by this gate, and nothing else yet: what every worker's hooks begin with.
    #[must_use]
    pub fn guarded_by(gate: &SharedGate) -> Self {
        Self::new().pre_tool_call(Arc::new(PermissionHook::new(gate.clone())))
    }

    /// Adds a hook before a call runs.
    #[must_use]
    pub fn pre_tool_call(mut self, hook: Arc<dyn Hook<PreToolCall>>) -> Self {
        self.pre_tool_call.push(hook);
        self
    }

    /// Adds all hooks of another registry behind these.
    #[must_use]
    pub fn followed_by(mut self, others: Self) -> Self {
        self.pre_tool_call.extend(others.pre_tool_call);
        self.prompt_submit.extend(others.prompt_submit);
        self.pre_request.extend(others.pre_request);
        self.post_tool.extend(others.post_tool);
        self.turn_end.extend(others.turn_end);
        self
    }

    /// Adds a hook before a prompt becomes part of the history.
    #[must_use]
    pub fn prompt_submit(mut self, hook: Arc<dyn Hook<PromptSubmit>>) -> Self {
        self.prompt_submit.push(hook);
        self
    }

    /// Adds a hook before the model is asked.
    #[must_use]
    pub fn pre_request(mut self, hook: Arc<dyn Hook<PreRequest>>) -> Self {
        self.pre_request.push(hook);
        self
    }

    /// Adds a hook after a call ran.
    #[must_use]
    pub fn post_tool(mut self, hook: Arc<dyn Hook<PostTool>>) -> Self {
        self.post_tool.push(hook);
        self
    }

    /// Adds a hook after a turn ended.
    #[must_use]
    pub fn turn_end(mut self, hook: Arc<dyn Hook<TurnEnd>>) -> Self {
        self.turn_end.push(hook);
        self
    }
}

impl SyntheticResult {
    /// A refusal in these words.
    #[must_use]
    pub fn refuse(text: impl Into<Box<str>>) -> Self {
        Self { text: text.into() }
    }

    /// The words.
    #[must_use]
    pub const fn text(&self) -> &str {
        &self.text
    }
}

impl PreToolCall {
    /// What is known of the call.
    #[must_use]
    pub const fn facts(&self) -> &Arc<CallFacts> {
        &self.facts
    }

    /// How far the call has come.
    #[must_use]
    pub const fn stage(&self) -> PreToolStage<'_> {
        match &self.stage {
            Stage::Proposed(..) => PreToolStage::Proposed,
            Stage::Permitted(permitted) => PreToolStage::Permitted(permitted.ruling()),
            Stage::Asked(question) => PreToolStage::Asked(question),
            Stage::Refused(refusal) => PreToolStage::Refused(refusal),
        }
    }
}

impl PreRequest {
    pub(crate) const fn new(request: ModelRequest) -> Self {
        Self { request }
    }

    pub(crate) fn into_request(self) -> ModelRequest {
        self.request
    }

    /// The conversation.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.request.messages
    }

    /// What the model is told before the conversation.
    #[must_use]
    pub fn system(&self) -> &str {
        &self.request.system
    }

    /// Replaces what the model is told before the conversation, for this request.
    pub fn set_system(&mut self, system: impl Into<Arc<str>>) {
        self.request.system = system.into();
    }

    /// The tools that are offered.
    #[must_use]
    pub fn tools(&self) -> &[ToolSpec] {
        &self.request.tools
    }

    /// Offers fewer tools, for this request.
    pub fn retain_tools(&mut self, keep: impl FnMut(&ToolSpec) -> bool) {
        Arc::make_mut(&mut self.request.tools).retain(keep);
    }
}
