//! One pod, as far as it is known.

use podward_client::Found;
use podward_protocol::{DecidedBy, Event, PermissionSettled, RequestId, Status, Usage};
use podward_view::{Lines, Question, by_text, outcome_text, visible};

use crate::asked::{Asked, Stage};
use crate::conversation::Conversation;
use crate::editor::Editor;
use crate::input::{Effect, Now};

/// The name of this client, for people and the decision log.
pub(crate) const CLIENT: &str = "podward attach";

/// A pod that is attached.
#[derive(Debug)]
pub(crate) struct Pod {
    pub(crate) found: Found,
    pub(crate) link: Link,
    /// The names of the pods above it.
    pub(crate) path: Vec<String>,
    /// Whether it takes answers from here.
    pub(crate) can_approve: bool,
    pub(crate) status: Option<Status>,
    pub(crate) usage: Option<Usage>,
    pub(crate) conversation: Conversation,
    /// Rows of it below the screen.
    pub(crate) n_below: usize,
    /// Rows of it when it was last laid out.
    n_rows: usize,
    /// What is typed for it.
    pub(crate) composer: Editor,
    /// Open questions, oldest first.
    pub(crate) asked: Vec<Asked>,
}

/// The connection to a pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Link {
    Connecting,
    There,
    /// It is lost, and made again after a while.
    Lost {
        why: String,
        since: u64,
    },
}

/// What the person hears of an event at once.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    pub(crate) effects: Vec<Effect>,
    /// A question came, or came anew: which.
    pub(crate) asked: Option<RequestId>,
    /// A question that was known is told of after a reconnection: which.
    pub(crate) again: Option<RequestId>,
    /// Questions that are settled.
    pub(crate) settled: Vec<Settled>,
}

/// A question that is settled.
#[derive(Debug)]
pub(crate) struct Settled {
    pub(crate) id: RequestId,
    /// What is said of it, unless the answer came from here.
    pub(crate) said: Option<String>,
    /// What was typed about it and is in no answer.
    pub(crate) typed: Option<String>,
}

impl Pod {
    pub(crate) fn new(found: Found) -> Self {
        Self {
            found,
            link: Link::Connecting,
            path: Vec::new(),
            can_approve: true,
            status: None,
            usage: None,
            conversation: Conversation::default(),
            n_below: 0,
            n_rows: 0,
            composer: Editor::default(),
            asked: Vec::new(),
        }
    }

    /// Its name behind those of the pods above it.
    pub(crate) fn name(&self) -> String {
        let mut names = self.path.clone();
        names.push(self.found.entry.pod.clone());
        visible(&names.join("/"), Lines::Escape)
    }

    pub(crate) fn question(&self, id: &RequestId) -> Option<&Asked> {
        self.asked.iter().find(|asked| asked.id() == id)
    }

    pub(crate) fn question_mut(&mut self, id: &RequestId) -> Option<&mut Asked> {
        self.asked.iter_mut().find(|asked| asked.id() == id)
    }

    /// The connection is lost: what is known stays, and can be answered no more for now.
    pub(crate) fn lost(&mut self, why: String, now: Now) {
        self.link = Link::Lost {
            why,
            since: now.steady,
        };
        for asked in &mut self.asked {
            asked.is_told = false;
        }
    }

    /// Takes in what it tells; `pod` is its place, `order` that of a new question.
    pub(crate) fn hear(
        &mut self,
        pod: usize,
        event: &Event,
        is_snapshot: bool,
        order: u64,
    ) -> Heard {
        let mut heard = Heard::default();
        self.conversation.hear(event, is_snapshot);
        match event {
            Event::Status(status) => self.status = Some(status.clone()),
            Event::Usage(usage) => self.usage = Some(*usage),
            Event::PermissionRequest(request) if !request.unasked => {
                let call = request.part_of.as_ref().unwrap_or(&request.call);
                let number = self.conversation.number(call);
                let question = Question {
                    request: request.clone(),
                    before: podward_view::Before::Unknown,
                };
                if let Some(known) = self.question_mut(&request.id) {
                    let was_told = std::mem::replace(&mut known.is_told, true);
                    if known.request().digest == request.digest {
                        heard.again = (!was_told).then(|| request.id.clone());
                        return heard;
                    }
                    known.ask_anew(question);
                } else {
                    self.asked.push(Asked::new(question, number, order));
                }
                heard.asked = Some(request.id.clone());
                if matches!(&*request.tool, "file_write" | "file_edit") {
                    heard.effects.push(Effect::Look {
                        pod,
                        request: Box::new(request.clone()),
                    });
                }
            }
            Event::PermissionSettled(settled) => heard.settled.extend(self.settle(settled)),
            Event::SnapshotEnd(_) => {
                let gone = self.asked.iter_mut().filter(|asked| !asked.is_told);
                heard.settled = gone
                    .map(|asked| Settled {
                        id: asked.id().clone(),
                        said: Some(format!("{}: settled while the pod was away", asked.name())),
                        typed: asked.take_typed(),
                    })
                    .collect();
                self.asked.retain(|asked| asked.is_told);
            }
            _ => {} // the conversation has it
        }
        heard
    }

    /// A question is settled, by whomever.
    fn settle(&mut self, settled: &PermissionSettled) -> Option<Settled> {
        let mut asked = self.asked.iter();
        let at = asked.position(|asked| *asked.id() == settled.id)?;
        let mut asked = self.asked.remove(at);
        let (what, by) = (outcome_text(&settled.outcome), by_text(&settled.by));
        let name = asked.name();
        let said = visible(&format!("{name}: {what} ({by})"), Lines::Escape);
        let is_own = matches!(asked.stage, Stage::Replying(_))
            && settled.outcome.is_approved() == asked.has_approved
            && matches!(&settled.by, DecidedBy::Client { name, .. } if name == CLIENT);
        Some(Settled {
            id: settled.id.clone(),
            said: (!is_own).then_some(said),
            typed: asked.take_typed().filter(|_| !is_own),
        })
    }

    /// Makes the rows of what has changed; who looks back stays where they look.
    pub(crate) fn lay_out(&mut self, columns: usize) {
        self.conversation.lay_out(columns);
        let n_rows = self.conversation.n_rows();
        if self.n_below > 0 {
            self.n_below += n_rows.saturating_sub(self.n_rows);
            self.n_below = self.n_below.min(n_rows.saturating_sub(1));
        }
        self.n_rows = n_rows;
    }
}
