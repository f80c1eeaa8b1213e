//! One turn: the model is asked until it has nothing more to do.

mod skills;

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use podward_gate::RefusalCause;
use podward_model::{
    Block, ModelError, ModelRequest, StopReason, Usage, conversation_bytes, trim_keeping,
};
use tokio::sync::mpsc::error::TrySendError;
use tracing::Instrument;

use crate::collect::{Added, Answer, WrittenCall};
use crate::event::{EndReason, HookFailure, Limit, TurnEnd, WorkerEvent};
use crate::history::{History, Parked};
use crate::hook::{PreRequest, PromptSubmit, chain};
use crate::journal::{Entry, JournalError, SkillMessage};
use crate::spending::{CallCount, Spent};
use crate::stop::Stop;
use crate::worker::{Begin, Parts};

/// One turn of a worker.
pub(crate) struct Turn<'w> {
    pub(crate) parts: &'w mut Parts,
    pub(crate) stop: Stop,
    n_steps: u32,
    n_refused: u32,
    n_bad_calls: u32,
    usage: Usage,
    of_children: CallCount,
}

/// How an answer of the model ended.
enum AnswerEnd {
    /// It is complete.
    Stopped(StopReason),
    /// It is not, and the turn ends.
    Broken(EndReason),
}

impl<'w> Turn<'w> {
    pub(crate) const fn new(parts: &'w mut Parts, stop: Stop) -> Self {
        Self {
            parts,
            stop,
            n_steps: 0,
            n_refused: 0,
            n_bad_calls: 0,
            usage: Usage {
                input_tokens: 0,
                output_tokens: 0,
            },
            of_children: CallCount {
                made: 0,
                refused: 0,
            },
        }
    }

    /// Works through the turn; `None`: it goes on with what the history ends in.
    pub(crate) async fn run(mut self, begin: Option<Begin>) -> Result<TurnEnd, JournalError> {
        self.parts.gate.begin_turn();
        let parked = self.parts.parked.take();
        let reason = match (begin, parked) {
            (Some(begin), None) => self.begin(begin).await?,
            (Some(begin), Some(parked)) => {
                self.interrupt(parked).await?;
                self.end_asked().await?;
                self.begin(begin).await?
            }
            (None, parked) => {
                self.tell(WorkerEvent::TurnStarted { prompt: None }).await;
                self.go_on_with(parked).await?
            }
        };
        let mut end = TurnEnd {
            reason,
            n_steps: self.n_steps,
            n_refused: self.n_refused,
            n_bad_calls: self.n_bad_calls,
            usage: self.usage,
            of_children: self.of_children,
        };
        tracing::info!(
            reason = end.reason.as_str(),
            n_steps = end.n_steps,
            "the turn ended"
        );
        if end.reason == EndReason::Kept {
            // Nothing says that it ended: whoever goes on with the session finds its questions.
            return Ok(end);
        }
        let ending = self.ending_with(end.reason == EndReason::Done);
        let mut entries = skills::ended(&ending);
        entries.push(Entry::TurnEnded {
            reason: end.reason.as_str().to_owned(),
        });
        self.append(&entries).await?;
        self.ended(ending).await;
        self.tell_hooks_of_end(&mut end).await;
        self.tell(WorkerEvent::TurnEnded(Arc::new(end.clone())))
            .await;
        Ok(end)
    }

    /// Runs the hooks of the turn's end, within their time and until the caller cancels.
    async fn tell_hooks_of_end(&mut self, end: &mut TurnEnd) {
        let hooks = self.parts.hooks.turn_end.clone();
        let mut told = chain::Told::default();
        let why = tokio::select! {
            biased;
            () = chain::tell(&hooks, end, &mut told) => "",
            () = tokio::time::sleep(self.parts.limits.turn_end) => "it did not end in time",
            () = self.stop.newly_cancelled() => "it was cancelled",
        };
        self.tell_failures(told.failures(&hooks, why)).await;
    }

    /// Tells people of hooks on which nothing hangs.
    pub(crate) async fn tell_failures(&mut self, failures: Vec<HookFailure>) {
        for failure in failures {
            self.tell(WorkerEvent::HookFailed(failure)).await;
        }
    }

    /// Takes a prompt, unless a hook has something against it, and answers it.
    async fn begin(&mut self, begin: Begin) -> Result<EndReason, JournalError> {
        let Begin { prompt, skill } = begin;
        let mut event = PromptSubmit { prompt };
        let hooks = self.parts.hooks.prompt_submit.clone();
        if let Err(reason) = chain::check_turn(&hooks, &mut event, &self.stop).await {
            return Ok(reason);
        }
        let prompt = event.prompt;
        let started = skill.as_ref().map(|begun| Entry::SkillStarted {
            skill: (*begun.record).clone(),
            message: SkillMessage::Prompt {
                instructions: begun.instructions.to_string(),
            },
        });
        let mut entries: Vec<_> = started.into_iter().collect();
        entries.push(Entry::Prompt {
            text: prompt.clone(),
        });
        self.append(&entries).await?;
        let name = skill.as_ref().map(|begun| begun.record.name.clone());
        self.parts.history.push_prompt(&prompt, skill);
        self.tell(WorkerEvent::TurnStarted {
            prompt: Some(prompt.into()),
        })
        .await;
        if let Some(name) = name {
            self.parts.follow_skills();
            self.tell_started(&name, None).await;
        }
        self.steps().await
    }

    /// Goes on with calls that waited for an answer, and then as ever.
    async fn go_on_with(&mut self, parked: Option<Parked>) -> Result<EndReason, JournalError> {
        self.parts.spending.allow(self.parts.limits.steps.get());
        if let Some(parked) = parked {
            let end = self.go_on(parked).await?;
            self.count_children().await;
            if let Some(reason) = end {
                return Ok(reason);
            }
        }
        self.steps().await
    }

    async fn steps(&mut self) -> Result<EndReason, JournalError> {
        loop {
            if let Some(reason) = self.stop.reason().or_else(|| self.limit()) {
                return Ok(reason);
            }
            self.end_asked().await?;
            let request = match self.request().await {
                Ok(request) => request,
                Err(reason) => return Ok(reason),
            };
            self.n_steps += 1;
            let left = self.parts.limits.steps.get().saturating_sub(self.n_steps);
            self.parts.spending.allow(left);
            let span = tracing::info_span!("step", step = self.n_steps);
            if let Some(reason) = self.step(request).instrument(span).await? {
                return Ok(reason);
            }
        }
    }

    /// The limit that forbids another step.
    fn limit(&self) -> Option<EndReason> {
        let limits = &self.parts.limits;
        if self.n_steps >= limits.steps.get() {
            Some(EndReason::Limit(Limit::Steps))
        } else if limits
            .output_tokens
            .is_some_and(|tokens| self.usage.output_tokens >= tokens)
        {
            Some(EndReason::Limit(Limit::OutputTokens))
        } else {
            None
        }
    }

    async fn request(&mut self) -> Result<ModelRequest, EndReason> {
        let mut event = PreRequest::new(ModelRequest {
            system: Arc::clone(&self.parts.system),
            messages: trim_keeping(
                self.parts.history.messages(),
                self.parts.limits.history_bytes,
                &|block| self.parts.history.is_pinned(block),
            ),
            tools: Arc::clone(&self.parts.specs),
            max_tokens: self.parts.limits.max_tokens.get(),
        });
        let hooks = self.parts.hooks.pre_request.clone();
        chain::check_turn(&hooks, &mut event, &self.stop).await?;
        Ok(event.into_request())
    }

    /// Asks the model once and works through its calls; `Some`: the turn ends.
    async fn step(&mut self, request: ModelRequest) -> Result<Option<EndReason>, JournalError> {
        self.tell(WorkerEvent::StepStarted { step: self.n_steps })
            .await;
        let (content, calls, answer_end) = self.collect(request).await;
        if !content.is_empty() {
            self.append(&[Entry::Assistant {
                content: content.clone(),
            }])
            .await?;
        }
        self.tell_usage().await;
        for call in &calls {
            self.tell(WorkerEvent::CallProposed {
                id: call.id.clone(),
                tool: Arc::clone(&call.tool),
                arguments: call.arguments().into(),
            })
            .await;
        }
        let is_called = !calls.is_empty();
        // Calls may wait long: what was written of them is in the message, and kept once.
        let mut worked = match &answer_end {
            AnswerEnd::Stopped(_) => self.batch(calls).await?,
            AnswerEnd::Broken(reason) => self.refuse_all(&calls, reason).await?,
        };
        self.count_children().await;
        let batch_end = worked.end.take();
        if batch_end == Some(EndReason::Kept) {
            return Ok(batch_end);
        }
        self.push_step(content, worked).await;
        Ok(match answer_end {
            AnswerEnd::Broken(reason) => Some(reason),
            AnswerEnd::Stopped(_) if is_called => batch_end,
            AnswerEnd::Stopped(StopReason::MaxTokens) => {
                Some(EndReason::Limit(Limit::OutputTokens))
            }
            AnswerEnd::Stopped(
                StopReason::EndTurn | StopReason::ToolUse | StopReason::Other(_),
            ) => Some(EndReason::Done),
        })
    }

    /// Counts what children have spent as the turn's own.
    pub(crate) async fn count_children(&mut self) {
        let spent = self.parts.spending.take();
        if spent != Spent::default() {
            self.n_steps = self.n_steps.saturating_add(spent.steps);
            self.usage += spent.usage;
            self.of_children += spent.calls;
            self.tell_usage().await;
        }
    }

    /// Tells what the turn has used so far, with what running children have spent.
    pub(crate) async fn tell_usage(&mut self) {
        let mut used = self.parts.spending.spent();
        used += Spent {
            steps: self.n_steps,
            usage: self.usage,
            calls: self.of_children,
        };
        self.tell(WorkerEvent::Usage(used)).await;
    }

    /// Reads one answer of the model, to its end or to what breaks it.
    async fn collect(
        &mut self,
        request: ModelRequest,
    ) -> (Vec<Block>, Vec<WrittenCall>, AnswerEnd) {
        let limits = self.parts.limits.clone();
        let mut ids = std::mem::take(&mut self.parts.ids);
        let mut answer = Answer::new(&limits, &mut ids);
        let mut stream = self.parts.model.stream(request.clone());
        let mut request = Some(request);
        let end = loop {
            let event = match self.stop.unless(stream.next()).await {
                Ok(Some(Ok(event))) => event,
                Ok(Some(Err(error))) => {
                    let asked = request.take().filter(|_| !answer.has_begun());
                    let Some(shorter) =
                        asked.and_then(|asked| shorter(asked, &error, &self.parts.history))
                    else {
                        break AnswerEnd::Broken(EndReason::Model(error));
                    };
                    self.tell(WorkerEvent::Retry {
                        attempt: 2,
                        reason: error.to_string(),
                        after: Duration::ZERO,
                    })
                    .await;
                    stream = self.parts.model.stream(shorter);
                    continue;
                }
                Ok(None) => {
                    break AnswerEnd::Broken(EndReason::Model(ModelError::Connection {
                        message: "the answer ended in the middle".to_owned(),
                    }));
                }
                Err(reason) => break AnswerEnd::Broken(reason),
            };
            match answer.add(event) {
                Added::Part(Some(event)) => self.tell(event).await,
                Added::Part(None) => {}
                Added::Stopped(reason) => break AnswerEnd::Stopped(reason),
                Added::OverLimit(limit) => break AnswerEnd::Broken(EndReason::Limit(limit)),
            }
        };
        drop(stream);
        self.usage += answer.usage();
        let (content, calls) = answer.finish();
        self.parts.ids = ids;
        (content, calls, end)
    }

    /// Tells an event, waiting for room unless the turn has to end.
    pub(crate) async fn tell(&mut self, event: WorkerEvent) {
        let Some(events) = &self.parts.events else {
            return;
        };
        match events.try_send(event) {
            Ok(()) => {}
            Err(TrySendError::Closed(_)) => self.parts.events = None,
            Err(TrySendError::Full(event)) => {
                // Both errors mean that nobody will read it.
                let _ = self.stop.unless(events.send(event)).await;
            }
        }
    }

    /// Appends to the journal; this is never cut short.
    pub(crate) async fn append(&mut self, entries: &[Entry]) -> Result<(), JournalError> {
        if entries.is_empty() {
            return Ok(());
        }
        self.parts.journal.append(entries).await
    }

    /// Counts a refusal.
    pub(crate) const fn count(&mut self, cause: &RefusalCause) {
        if cause.is_no() {
            self.n_refused = self.n_refused.saturating_add(1);
        }
        if let RefusalCause::BadCall { .. } | RefusalCause::UnknownTool = cause {
            self.n_bad_calls = self.n_bad_calls.saturating_add(1);
        }
    }
}

/// The request with half of the conversation, if the provider says that it is too long and
/// something can be left out.
fn shorter(request: ModelRequest, error: &ModelError, history: &History) -> Option<ModelRequest> {
    if !matches!(error, ModelError::ContextTooLong { .. }) {
        return None;
    }
    let n_bytes = conversation_bytes(&request.messages);
    let is_pinned = |block: &Block| history.is_pinned(block);
    let messages = trim_keeping(&request.messages, n_bytes / 2, &is_pinned);
    (conversation_bytes(&messages) < n_bytes).then_some(ModelRequest {
        messages,
        ..request
    })
}
