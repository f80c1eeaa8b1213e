//! A place to run pods in.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use podward_model::{Block, ScriptedModel};
use podward_pod::layers::{LayerRequest, load};
use podward_pod::{
    Places, Pod, PodRequest, SessionChoice, TrustStore, declared_model, with_causes,
};
use podward_protocol::{
    Envelope, Event, SessionId, SessionStarted, Time, ToolCallFinished, ToolCallVerdict,
};
use podward_worker::{History, TurnEnd};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;

/// A manifest, a project and podward's own directories.
pub(crate) struct Bench {
    root: PathBuf,
    /// Removes the directory.
    _own: Option<tempfile::TempDir>,
}

/// What a run did.
pub(crate) struct Ran {
    pub(crate) session: SessionId,
    pub(crate) session_dir: PathBuf,
    pub(crate) end: TurnEnd,
    pub(crate) events: Vec<Envelope>,
}

/// A call of a script.
pub(crate) fn call(tool: &str, input: Value) -> Value {
    json!({ "tool": tool, "input": input })
}

/// The text of a step without calls.
pub(crate) fn text(text: &str) -> Value {
    json!({ "text": text })
}

/// A script: for each step its calls, or its text.
pub(crate) fn script(steps: &[&[Value]]) -> String {
    let steps: Vec<Value> = steps
        .iter()
        .map(|step| match step {
            [only] if only.get("text").is_some() => only.clone(),
            calls => json!({ "call": calls }),
        })
        .collect();
    let steps = if steps.is_empty() {
        vec![text("nothing")]
    } else {
        steps
    };
    // Every JSON value in here has the same form in TOML, written inline.
    let inline: Vec<String> = steps.iter().map(toml).collect();
    format!("step = [\n{}\n]\n", inline.join(",\n"))
}

fn toml(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let fields: Vec<_> = fields
                .iter()
                .map(|(key, value)| format!("\"{key}\" = {}", toml(value)))
                .collect();
            format!("{{ {} }}", fields.join(", "))
        }
        Value::Array(items) => {
            format!(
                "[{}]",
                items.iter().map(toml).collect::<Vec<_>>().join(", ")
            )
        }
        other => other.to_string(),
    }
}

pub(crate) fn runtime() -> Runtime {
    Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
}

impl Bench {
    pub(crate) fn new(manifest: &str) -> Self {
        Self::with_pod("", manifest)
    }

    /// `pod` is what `[pod]` says beside the workspace.
    pub(crate) fn with_pod(pod: &str, manifest: &str) -> Self {
        let own = tempfile::tempdir().unwrap();
        let root = own.path().canonicalize().unwrap();
        for name in ["project", "tmp", "home"] {
            fs::create_dir(root.join(name)).unwrap();
        }
        let bench = Self {
            root,
            _own: Some(own),
        };
        bench.write_manifest(pod, manifest);
        bench
    }

    /// A bench that is there already.
    pub(crate) fn at(root: &Path) -> Self {
        Self {
            root: root.into(),
            _own: None,
        }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub(crate) fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.path(name)).ok()
    }

    pub(crate) fn write_manifest(&self, pod: &str, manifest: &str) {
        let text = format!("[pod]\nname = \"bench\"\nworkspace = \"project\"\n{pod}\n{manifest}");
        fs::write(self.path("pod.toml"), text).unwrap();
        fs::set_permissions(self.path("pod.toml"), fs::Permissions::from_mode(0o644)).unwrap();
    }

    /// The line of the manifest on which the rule with this pattern begins.
    pub(crate) fn line(&self, pattern: &str) -> usize {
        let text = fs::read_to_string(self.path("pod.toml")).unwrap();
        let written = format!("pattern = \"{pattern}\"");
        let at = text.lines().position(|line| line == written).unwrap();
        let rules: Vec<_> = text.lines().take(at).collect();
        rules
            .iter()
            .rposition(|line| *line == "[[permissions.rule]]")
            .unwrap()
            + 1
    }

    /// Trusts the project's layer as it is.
    pub(crate) fn trust(&self) {
        let places = Places::below(&self.root);
        TrustStore::trust(&places, &self.path("project"), Time::UNIX_EPOCH).unwrap();
    }

    pub(crate) fn request(&self, model: &str) -> PodRequest {
        let layers = LayerRequest {
            manifest: Some(self.path("pod.toml")),
            ..LayerRequest::default()
        };
        let loaded = load(&Places::below(&self.root), &layers).unwrap_or_else(|e| panic!("{e}"));
        let model = ScriptedModel::parse("script", model).unwrap();
        PodRequest::new(loaded, Arc::new(model))
    }

    pub(crate) fn run(&self, model: &str, prompt: &str) -> Ran {
        self.run_cancelled(model, prompt, CancellationToken::new())
    }

    pub(crate) fn run_cancelled(
        &self,
        model: &str,
        prompt: &str,
        cancel: CancellationToken,
    ) -> Ran {
        self.work(self.request(model), Some(prompt), cancel)
            .unwrap_or_else(|(e, _)| panic!("{e}"))
    }

    pub(crate) fn run_with(&self, model: &str, change: impl FnOnce(&mut PodRequest)) -> Ran {
        let mut request = self.request(model);
        change(&mut request);
        self.work(request, Some("do it"), CancellationToken::new())
            .unwrap_or_else(|(error, _)| panic!("{error}"))
    }

    /// Resumes a session, and if nothing was asked in it yet, asks.
    pub(crate) fn go_on(&self, model: &str, session: &SessionId) -> Ran {
        let mut request = self.request(model);
        request.session = SessionChoice::Resume(session.to_string());
        self.work(request, None, CancellationToken::new())
            .unwrap_or_else(|(error, _)| panic!("{error}"))
    }

    /// The error of a run, with its causes, and all events.
    pub(crate) fn run_to_error(&self, model: &str, prompt: &str) -> (String, Vec<Event>) {
        match self.work(self.request(model), Some(prompt), CancellationToken::new()) {
            Ok(ran) => panic!("{:?}", ran.end),
            Err((error, events)) => (error, events.into_iter().map(|e| e.event).collect()),
        }
    }

    pub(crate) fn start_error(&self, model: &str, session: SessionChoice) -> String {
        let mut request = self.request(model);
        request.session = session;
        runtime().block_on(async {
            match Pod::start(&Places::below(&self.root), request) {
                Ok(_) => panic!("it starts"),
                Err(error) => with_causes(&error),
            }
        })
    }

    /// The error of a model whose script is this file.
    pub(crate) fn script_error(&self, script: &Path) -> String {
        let model = format!("[model]\nprovider = \"scripted\"\nscript = {script:?}\n");
        self.write_manifest("", &model);
        let layers = LayerRequest {
            manifest: Some(self.path("pod.toml")),
            ..LayerRequest::default()
        };
        let loaded = load(&Places::below(&self.root), &layers).unwrap_or_else(|e| panic!("{e}"));
        match declared_model(&loaded.resolved, &[], None) {
            Ok(_) => panic!("it is read"),
            Err(error) => with_causes(&error),
        }
    }

    pub(crate) fn run_unwatched(&self, model: &str, prompt: &str) {
        let request = self.request(model);
        runtime().block_on(async {
            let places = Places::below(&self.root);
            let (mut pod, receiver) = Pod::start(&places, request).unwrap();
            drop(receiver);
            pod.run(prompt.to_owned(), CancellationToken::new())
                .await
                .unwrap();
        });
    }

    fn work(
        &self,
        request: PodRequest,
        prompt: Option<&str>,
        cancel: CancellationToken,
    ) -> Result<Ran, (String, Vec<Envelope>)> {
        runtime().block_on(async {
            let places = Places::below(&self.root);
            let (mut pod, mut receiver) =
                Pod::start(&places, request).map_err(|error| (with_causes(&error), Vec::new()))?;
            let session = pod.session().clone();
            let session_dir = pod.session_dir().to_owned();
            let work = async {
                let end = match prompt {
                    Some(prompt) => pod.run(prompt.to_owned(), cancel).await,
                    None => pod.resume(cancel).await,
                };
                drop(pod);
                end
            };
            let watch = async {
                let mut events = Vec::new();
                while let Some(event) = receiver.recv().await {
                    events.push(event);
                }
                events
            };
            match tokio::join!(work, watch) {
                (Ok(end), events) => Ok(Ran {
                    session,
                    session_dir,
                    end,
                    events,
                }),
                (Err(error), events) => Err((with_causes(&error), events)),
            }
        })
    }

    pub(crate) fn decision_lines(&self, ran: &Ran) -> Vec<Vec<u8>> {
        let text = fs::read_to_string(ran.session_dir.join("decisions.jsonl")).unwrap();
        text.lines().map(|line| line.as_bytes().to_vec()).collect()
    }

    pub(crate) fn decisions(&self, ran: &Ran) -> Vec<Value> {
        let lines = self.decision_lines(ran);
        let decisions = lines
            .iter()
            .map(|line| serde_json::from_slice::<Value>(line).unwrap());
        // What asks is on record twice: the question, and what became of it.
        decisions.filter(|line| line["outcome"] != "ask").collect()
    }

    pub(crate) fn history(&self, ran: &Ran) -> History {
        crate::history(ran)
    }

    /// The ids of all calls, in call order.
    pub(crate) fn calls(&self, ran: &Ran) -> Vec<String> {
        let history = self.history(ran);
        let messages = history.messages().iter();
        messages
            .flat_map(|message| message.tool_use_ids())
            .map(str::to_owned)
            .collect()
    }

    /// The ids and texts of all results, in their order.
    pub(crate) fn results(&self, ran: &Ran) -> Vec<(String, String)> {
        let history = self.history(ran);
        let blocks = history
            .messages()
            .iter()
            .flat_map(|message| message.content.clone());
        blocks
            .filter_map(|block| match block {
                Block::ToolResult {
                    tool_use_id,
                    content,
                    ..
                } => Some((tool_use_id, content)),
                _ => None,
            })
            .collect()
    }
}

impl Ran {
    pub(crate) fn started(&self) -> &SessionStarted {
        match &self.events[0].event {
            Event::SessionStarted(started) => started,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn finished(&self) -> impl Iterator<Item = &ToolCallFinished> {
        self.events
            .iter()
            .filter_map(|envelope| match &envelope.event {
                Event::ToolCallFinished(finished) => Some(finished),
                _ => None,
            })
    }

    pub(crate) fn verdicts(&self) -> impl Iterator<Item = &ToolCallVerdict> {
        self.events
            .iter()
            .filter_map(|envelope| match &envelope.event {
                Event::ToolCallVerdict(verdict) => Some(verdict),
                _ => None,
            })
    }

    pub(crate) fn notices(&self) -> impl Iterator<Item = &str> {
        self.events
            .iter()
            .filter_map(|envelope| match &envelope.event {
                Event::Notice(notice) => Some(notice.message.as_str()),
                _ => None,
            })
    }
}
