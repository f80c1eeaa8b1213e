//! A worker whose model, tools and journal are under a test's control.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use podward_gate::{Answer, Gate, Permit, Question};
use podward_model::{Block, Model, ScriptedModel, check_pairing};
use podward_policy::{
    Action, KnownTools, LayerKind, LayerName, Location, Lowered, Need, Operation, Operations,
    Policies, Policy, PolicySpec, RuleSpec, Subject, Text, ToolName,
};
use podward_scope::{Scope, ScopeDecl};
use podward_tools::{
    BadArguments, BadCall, Invocation, Judged, Meanwhile, NoChildren, NoSkills, Occasion, Place,
    Precheck, Proposal, Registry, RunContext, Tool, ToolLimits, ToolOutput, Unjudged, skill_tool,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::{Barrier, mpsc};
use tokio_util::sync::CancellationToken;

use crate::approver::Approver;
use crate::decision::Decision;
use crate::event::{TurnEnd, WorkerEvent};
use crate::gate::{GrantLedger, SharedGate};
use crate::history::{History, Parked};
use crate::hook::{Hooks, PermissionHook};
use crate::journal::{Entry, Journal, JournalError};
use crate::limits::TurnLimits;
use crate::skill::SkillSource;
use crate::worker::{Worker, WorkerError};

/// The tools of a test. Each takes `{"text": …}`, which is the operation's text; `hop` goes on with
/// what stands after a `>` as a further call, and `far` works in a session of its own. A text that ends in
/// `doomed` is known to fail before; where it is `lost`, who looks panics.
pub(crate) const TOOLS: [&str; 9] = [
    "echo", "fail", "panic", "slow", "stuck", "meet", "broken", "hop", "far",
];

/// What a test sees of a worker.
#[derive(Clone)]
pub(crate) struct Log {
    entries: Arc<Mutex<Vec<Entry>>>,
    decisions: Arc<Mutex<Vec<Arc<Decision>>>>,
    /// The texts of the calls that ran, in the order of their starts.
    ran: Arc<Mutex<Vec<String>>>,
    /// Appends that are left before the journal fails.
    n_appends: Arc<Mutex<Option<usize>>>,
}

/// A worker and all that belongs to it.
pub(crate) struct Kit {
    pub(crate) worker: Worker,
    pub(crate) log: Log,
    pub(crate) cancel: CancellationToken,
    pub(crate) events: mpsc::Receiver<WorkerEvent>,
    _temp: TempDir,
}

/// What a test may set.
pub(crate) struct Setup {
    pub(crate) hooks: Hooks,
    pub(crate) limits: TurnLimits,
    pub(crate) answer: Answer,
    /// Who answers, if not one who always says the same.
    pub(crate) approver: Option<Arc<dyn Approver>>,
    pub(crate) history: History,
    pub(crate) parked: Option<Parked>,
    /// Grants that are kept elsewhere.
    pub(crate) ledger: Option<Arc<dyn GrantLedger>>,
    /// Another model than the scripted one.
    pub(crate) model: Option<Arc<dyn Model>>,
    /// The only tool that is offered.
    pub(crate) offered: Option<&'static str>,
    /// Appends before the journal fails.
    pub(crate) n_appends: Option<usize>,
    /// Where skills are found; then there is the tool `skill`.
    pub(crate) skills: Option<Arc<dyn SkillSource>>,
    /// Calls of `meet` that wait for each other.
    pub(crate) n_meeting: usize,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            hooks: Hooks::new(),
            limits: TurnLimits::default(),
            answer: Answer::NoClient,
            approver: None,
            history: History::default(),
            parked: None,
            ledger: None,
            model: None,
            offered: None,
            n_appends: None,
            skills: None,
            n_meeting: 2,
        }
    }
}

impl Kit {
    pub(crate) fn new(script: &str) -> Self {
        Self::with(script, Setup::default())
    }

    pub(crate) fn with(script: &str, setup: Setup) -> Self {
        let model = ScriptedModel::parse("scripted", script)
            .unwrap_or_else(|errors| panic!("{errors:?}\n{script}"));
        let log = Log {
            entries: Arc::default(),
            decisions: Arc::default(),
            ran: Arc::default(),
            n_appends: Arc::new(Mutex::new(setup.n_appends)),
        };
        let temp = tempfile::tempdir().unwrap();
        let (sender, events) = mpsc::channel(100_000);
        let model = setup.model.unwrap_or_else(|| Arc::new(model));
        let mut tools = Registry::empty();
        let barrier = Arc::new(Barrier::new(setup.n_meeting));
        for name in TOOLS {
            let tool = TestTool {
                name: ToolName::new(name).unwrap(),
                log: log.clone(),
                barrier: Arc::clone(&barrier),
            };
            tools.register(Arc::new(tool)).unwrap();
        }
        if setup.skills.is_some() {
            tools.register(skill_tool("")).unwrap();
        }
        let gate = match setup.ledger {
            Some(ledger) => SharedGate::with_ledger(Gate::new(policies()), ledger),
            None => SharedGate::new(Gate::new(policies())),
        };
        let hooks = Hooks::new()
            .pre_tool_call(Arc::new(PermissionHook::new(gate.clone())))
            .followed_by(setup.hooks);
        let approver = setup
            .approver
            .unwrap_or_else(|| Arc::new(Says(setup.answer)));
        let mut builder = Worker::builder(model, gate, Box::new(log.clone()), context(&temp))
            .tools(tools)
            .hooks(hooks)
            .approver(approver)
            .events(sender)
            .limits(setup.limits)
            .history(setup.history)
            .parked(setup.parked);
        if let Some(skills) = setup.skills {
            builder = builder.skills(skills);
        }
        if let Some(offered) = setup.offered {
            builder = builder.offered(vec![ToolName::new(offered).unwrap()]);
        }
        Self {
            worker: builder.build(),
            log,
            cancel: CancellationToken::new(),
            events,
            _temp: temp,
        }
    }

    /// Works through a turn, then checks what holds after every turn.
    pub(crate) async fn turn(&mut self, prompt: &str) -> TurnEnd {
        let end = self.try_turn(prompt).await.unwrap();
        self.check();
        end
    }

    pub(crate) async fn try_turn(&mut self, prompt: &str) -> Result<TurnEnd, WorkerError> {
        self.worker
            .turn(prompt.to_owned(), self.cancel.clone())
            .await
    }

    /// The history is valid, and the journal tells the same.
    pub(crate) fn check(&self) {
        check_pairing(self.worker.history().messages()).unwrap();
        let replayed = History::replay(&self.log.entries()).unwrap();
        assert_eq!(&replayed.history, self.worker.history());
        assert_eq!(replayed.repairs, []);
    }

    /// The results of all calls so far, in the order of the history.
    pub(crate) fn results(&self) -> Vec<String> {
        self.worker
            .history()
            .messages()
            .iter()
            .flat_map(|message| &message.content)
            .filter_map(|block| match block {
                Block::ToolResult {
                    content, is_error, ..
                } => Some(format!("{}{content}", if *is_error { "! " } else { "" })),
                _ => None,
            })
            .collect()
    }

    /// All events so far, deltas left out, each in a few words.
    pub(crate) fn told(&mut self) -> Vec<String> {
        let mut told = Vec::new();
        while let Ok(event) = self.events.try_recv() {
            told.push(match event {
                WorkerEvent::TurnStarted { prompt } => format!("turn {prompt:?}"),
                WorkerEvent::StepStarted { step } => format!("step {step}"),
                WorkerEvent::TextDelta(_)
                | WorkerEvent::ThinkingDelta(_)
                | WorkerEvent::Usage(_) => continue,
                WorkerEvent::Retry { attempt, .. } => format!("retry {attempt}"),
                WorkerEvent::CallAnnounced { id, tool } => format!("announced {id} {tool}"),
                WorkerEvent::CallProposed { id, arguments, .. } => {
                    format!("proposed {id} {arguments}")
                }
                WorkerEvent::CallDecided(decision) => {
                    format!("decided {} {}", decision.id(), decision.cause_word())
                }
                WorkerEvent::Waiting => "waiting".to_owned(),
                WorkerEvent::Working => "working".to_owned(),
                WorkerEvent::CallStarted { id } => format!("started {id}"),
                WorkerEvent::CallFinished { id, output, .. } => {
                    format!(
                        "finished {id} {}",
                        if output.is_error { "error" } else { "ok" }
                    )
                }
                WorkerEvent::HookFailed(failure) => {
                    format!("hook {} failed: {}", failure.hook, failure.why)
                }
                WorkerEvent::SkillStarted { skill, call } => format!(
                    "skill {} {:?} by {}",
                    skill.record.name,
                    skill.n_tools,
                    call.map_or_else(|| "prompt".to_owned(), |call| call.to_string()),
                ),
                WorkerEvent::SkillEnded { name, why } => {
                    format!("skill {name} ended: {}", why.as_str())
                }
                WorkerEvent::TurnEnded(end) => format!("ended: {}", end.reason),
            });
        }
        told
    }
}

impl Log {
    pub(crate) fn entries(&self) -> Vec<Entry> {
        self.entries.lock().unwrap().clone()
    }

    pub(crate) fn decisions(&self) -> Vec<Arc<Decision>> {
        self.decisions.lock().unwrap().clone()
    }

    pub(crate) fn ran(&self) -> Vec<String> {
        self.ran.lock().unwrap().clone()
    }

    pub(crate) fn write(
        &self,
        entries: impl IntoIterator<Item = Entry>,
    ) -> Result<(), JournalError> {
        if let Some(left) = &mut *self.n_appends.lock().unwrap() {
            *left = left
                .checked_sub(1)
                .ok_or_else(|| JournalError::new("no space left on device"))?;
        }
        self.entries.lock().unwrap().extend(entries);
        Ok(())
    }
}

#[async_trait]
impl Journal for Log {
    async fn append(&mut self, entries: &[Entry]) -> Result<(), JournalError> {
        assert!(!entries.is_empty(), "an empty append");
        self.write(entries.iter().cloned())?;
        tokio::task::yield_now().await;
        Ok(())
    }

    async fn decide(&mut self, decisions: &[Arc<Decision>]) -> Result<(), JournalError> {
        assert!(!decisions.is_empty(), "an empty append");
        self.write(decisions.iter().map(|decision| Entry::ruled(decision)))?;
        self.decisions
            .lock()
            .unwrap()
            .extend(decisions.iter().cloned());
        tokio::task::yield_now().await;
        Ok(())
    }
}

struct Says(Answer);

#[async_trait]
impl Approver for Says {
    async fn answer(&self, _question: &Question) -> Option<Answer> {
        tokio::task::yield_now().await;
        Some(self.0.clone())
    }
}

struct TestTool {
    name: ToolName,
    log: Log,
    barrier: Arc<Barrier>,
}

struct TestCall {
    tool: ToolName,
    text: String,
    log: Log,
    barrier: Arc<Barrier>,
}

impl Tool for TestTool {
    fn name(&self) -> &ToolName {
        &self.name
    }

    fn description(&self) -> &str {
        "A tool of a test."
    }

    fn schema(&self) -> Value {
        json!({"type": "object"})
    }

    fn propose(&self, arguments: Value, _place: &Place) -> Result<Proposal, BadCall> {
        assert!(self.name.as_str() != "broken", "a broken tool");
        let Some(text) = arguments["text"].as_str() else {
            return Err(BadArguments::new(&self.name, "`text` is missing").into());
        };
        Ok(proposal(TestCall {
            tool: self.name.clone(),
            text: text.to_owned(),
            log: self.log.clone(),
            barrier: Arc::clone(&self.barrier),
        }))
    }
}

/// A call's text before a `>` is what is judged, the parts between `&` each by itself.
fn proposal(call: TestCall) -> Proposal {
    let now = call.text.split('>').next().unwrap();
    let mut operations = now.split(" & ").map(|part| Operation {
        tool: call.tool.clone(),
        subject: Subject::Plain(Text::known(part)),
        need: Need::Full,
        span: None,
        partial: Vec::new(),
    });
    let first = operations.next().unwrap();
    Proposal {
        arguments: json!({"text": call.text}).to_string().into(),
        lowered: Lowered::Operations(Operations::new(first, operations.collect())),
        invocation: Box::new(call),
    }
}

#[async_trait]
impl Invocation for TestCall {
    fn session(&self, _: &RunContext) -> Option<String> {
        let n_entries = self.log.entries().len();
        (self.tool.as_str() == "far").then(|| format!("{} of {n_entries}", self.text))
    }

    fn precheck(&self, _: &RunContext, _: Meanwhile) -> Option<Precheck> {
        let (tool, text) = (self.tool.clone(), self.text.clone());
        Some(Box::new(move || match text.rsplit(' ').next() {
            Some("doomed") => Err(format!("{tool} can only fail")),
            Some("lost") => panic!("a look that panics"),
            _ => Ok(()),
        }))
    }

    async fn run(self: Box<Self>, permit: Permit, ctx: &RunContext) -> ToolOutput {
        // Nothing runs that is not on record.
        let facts = permit.facts();
        let id = facts.id().as_str().to_owned();
        let is_on_record = |entry: &Entry| match facts.part_of() {
            None => matches!(entry, Entry::Started { call, .. } if *call == id),
            Some(_) => matches!(entry, Entry::Ruled { call, .. } if *call == id),
        };
        assert!(self.log.entries().iter().any(is_on_record));
        self.log.ran.lock().unwrap().push(self.text.clone());
        match self.tool.as_str() {
            "echo" => ToolOutput::success(format!("echo {}", self.text)),
            "fail" => ToolOutput::failure(format!("fail {}", self.text)),
            "panic" => panic!("a tool that panics"),
            "slow" => {
                ctx.cancel.cancelled().await;
                ToolOutput::failure("slow was cancelled")
            }
            "far" => ToolOutput::success(format!("in {}", ctx.session.as_deref().unwrap())),
            "stuck" => std::future::pending().await,
            "meet" => {
                self.barrier.wait().await;
                ToolOutput::success(format!("met {}", self.text))
            }
            "hop" => {
                let Some((done, rest)) = self.text.split_once('>') else {
                    return ToolOutput::success(format!("at {}", self.text));
                };
                let next = proposal(Self {
                    text: rest.to_owned(),
                    ..*self
                });
                let occasion = Occasion {
                    word: "hop".into(),
                    redirected_from: vec![done.into()],
                };
                match ctx.judge.judge(occasion, next).await {
                    Judged::Run(permit, next) => {
                        let output = next.run(permit, ctx).await;
                        ToolOutput {
                            content: format!("{done} > {}", output.content),
                            ..output
                        }
                    }
                    Judged::Refused(why) => ToolOutput::failure(format!("{done} > {why}")),
                }
            }
            kind => panic!("no tool {kind}"),
        }
    }
}

/// Texts that begin with `deny` are denied, with `ask` asked about, all others allowed.
fn policies() -> Policies {
    let location = Location {
        file: "pod.toml".into(),
        line: 1,
        column: 1,
    };
    let rule = |pattern: &str, action, message: Option<&str>| RuleSpec {
        tool: "*".to_owned(),
        pattern: pattern.to_owned(),
        action,
        message: message.map(str::to_owned),
        grantable: true,
        ask_timeout: None,
        location: location.clone(),
    };
    let spec = PolicySpec {
        default_action: Action::Allow,
        default_location: location.clone(),
        unresolved: None,
        rules: vec![
            rule("deny*", Action::Deny, Some("not this")),
            rule("ask*", Action::Ask, None),
        ],
    };
    let tools = KnownTools::with(TOOLS.iter().map(|name| ToolName::new(name).unwrap()));
    let compiled = Policy::compile(&spec, &tools).unwrap();
    Policies::new(vec![(
        LayerName {
            kind: LayerKind::Manifest,
        },
        compiled.policy,
    )])
}

fn context(temp: &TempDir) -> RunContext {
    let path = temp.path();
    RunContext {
        scope: Arc::new(Scope::open(&ScopeDecl::default(), path, path, &[]).unwrap()),
        place: Place::new(path, None),
        limits: ToolLimits::default(),
        policies: Policies::default(),
        environment: Vec::new(),
        keep: None,
        judge: Arc::new(Unjudged),
        skills: Arc::new(NoSkills),
        children: Arc::new(NoChildren),
        session: None,
        cancel: CancellationToken::new(),
    }
}

/// A script of steps, each with calls of (tool, text), and a last step that only talks.
pub(crate) fn script(steps: &[&[(&str, &str)]]) -> String {
    let mut script = String::new();
    for calls in steps {
        script += "[[step]]\ntext = \"I work.\"\n";
        for (tool, text) in *calls {
            let key = if *tool == "skill" { "name" } else { "text" };
            script += &format!("[[step.call]]\ntool = \"{tool}\"\ninput.{key} = \"{text}\"\n");
        }
    }
    script + "[[step]]\ntext = \"Done.\"\n"
}
