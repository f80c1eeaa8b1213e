//! What pods tell.

use podward_protocol::{ExplainCall, MethodErrorCode, Reply, RequestId};
use podward_view::{Look, error_text};

use super::{App, Typing};
use crate::asked::Stage;
use crate::input::{Effect, PodNews, Refused, Target};
use crate::pod::{Heard, Link, Pod, Settled};

impl Pod {
    pub(crate) const fn is_lost(&self) -> bool {
        matches!(self.link, Link::Lost { .. })
    }
}

impl App {
    pub(super) fn news(&mut self, at: usize, news: PodNews) -> Vec<Effect> {
        let (now, order) = (self.now, self.n_asked);
        let Some(pod) = self.pods.get_mut(at) else {
            return Vec::new();
        };
        match news {
            PodNews::Connected(welcome) => {
                pod.link = Link::There;
                pod.can_approve = welcome.can_approve;
                pod.path = welcome.path;
                Vec::new()
            }
            PodNews::Lost(why) => {
                if !pod.is_lost() {
                    pod.conversation.say(Look::Bad, "connection lost", &why);
                    pod.lost(why, now);
                }
                Vec::new()
            }
            PodNews::Told(envelope) => {
                let heard = pod.hear(at, &envelope.event, envelope.snapshot, order);
                self.heard(at, heard)
            }
            PodNews::Looked(id, before) => {
                if let Some(asked) = pod.question_mut(&id) {
                    asked.looked(before);
                }
                Vec::new()
            }
            PodNews::Replied(target, result) => self.replied(at, target, result),
        }
    }

    fn heard(&mut self, at: usize, heard: Heard) -> Vec<Effect> {
        let mut effects = heard.effects;
        for settled in heard.settled {
            self.settled(at, settled);
        }
        if let Some(id) = heard.again {
            effects.extend(self.ask_again(at, &id));
            if self.shown.as_ref().is_some_and(|shown| *shown == (at, id)) {
                self.is_new_to_reader();
                if let Some(asked) = self.asked_mut() {
                    asked.said = None;
                }
            }
        }
        if let Some(id) = heard.asked {
            self.n_asked += 1;
            let is_shown = self
                .shown
                .as_ref()
                .is_some_and(|shown| *shown == (at, id.clone()));
            match self.shown {
                // It asks something else by now.
                Some(_) if is_shown => self.is_new_to_reader(),
                Some(_) => {}
                None => {
                    self.said = None;
                    self.show(Some((at, id)));
                    effects.push(Effect::Bell);
                }
            }
            if self.is_unfocused {
                let name = self.pods.get(at).map(Pod::name).unwrap_or_default();
                effects.push(Effect::Notify(format!("{name} asks")));
            }
        }
        effects.extend(self.explain_shown());
        effects
    }

    /// A question is settled: what was typed about it is not lost.
    fn settled(&mut self, at: usize, settled: Settled) {
        let is_shown = self.shown.as_ref() == Some(&(at, settled.id));
        let mut said = settled.said;
        if let Some(text) = settled.typed
            && let Some(pod) = self.pods.get_mut(at)
        {
            pod.composer.put_back(&text);
            let kept = "what you typed is in the prompt";
            said = Some(said.map_or_else(|| kept.to_owned(), |said| format!("{said}; {kept}")));
            if is_shown {
                self.types_for(at);
            }
        }
        if is_shown {
            self.said = None;
            if let Some(said) = said {
                self.say(said);
            }
            self.show_next();
        }
    }

    /// Shows a question, or none; the next key is not for it.
    pub(super) fn show(&mut self, which: Option<(usize, RequestId)>) {
        if let Some((at, _)) = &which {
            let is_talking = self.shown.is_none() || self.is_aside;
            if is_talking && self.listed.is_none() && !self.is_help {
                let at = self.typing.and_then(|typing| typing.at);
                let pod = self.focus;
                self.typing = Some(Typing { pod, at });
            } else if !self.guard.is_up(self.now) && !self.types_now() {
                // Who types goes on, also where another question comes meanwhile.
                self.typing = None;
            }
            self.focus = *at;
            self.guard.raise();
        }
        if which.is_none() {
            self.is_aside = false;
        }
        self.shown = which;
        if let Some(asked) = self.asked_mut() {
            asked.renew();
        }
    }

    /// Shows the oldest question.
    pub(super) fn show_next(&mut self) {
        let next = self.queue().into_iter().next();
        self.show(next);
    }

    /// Asks how the question that is shown came about, where that is not known.
    pub(super) fn explain_shown(&mut self) -> Option<Effect> {
        let pod = self.shown.as_ref().map(|(at, _)| *at)?;
        let asked = self.asked_mut()?;
        if asked.is_explained || asked.request().operations.len() < 2 {
            return None;
        }
        asked.is_explained = true;
        let call = podward_protocol::CallId::new(asked.id().as_str());
        Some(Effect::Ask {
            pod,
            target: Target::Explanation(asked.id().clone()),
            method: Box::new(ExplainCall { call }.into()),
        })
    }

    fn replied(
        &mut self,
        at: usize,
        target: Target,
        result: Result<Reply, Refused>,
    ) -> Vec<Effect> {
        let Some(pod) = self.pods.get_mut(at) else {
            return Vec::new();
        };
        match (target, result) {
            (Target::Prompt(_), Ok(_)) => {}
            (Target::Prompt(text), Err(why)) => {
                pod.composer.put_back(&text);
                self.say(format!("not sent: {}", why.text()));
            }
            (Target::Cancel, Ok(_)) => self.say("the turn is being cancelled"),
            (Target::Cancel, Err(why)) => self.say(why.text()),
            // What settled it is told as an event, to all clients.
            (Target::Answer(id), Ok(_)) => {
                if let Some(at) = pod.asked.iter().position(|asked| *asked.id() == id) {
                    pod.asked.remove(at);
                }
                if self.shown.as_ref().is_some_and(|shown| *shown == (at, id)) {
                    self.show_next();
                }
            }
            (Target::Answer(id), Err(why)) => self.not_answered(at, &id, &why),
            (Target::Explanation(id), Ok(Reply::ExplainCall(explained))) => {
                if let Some(asked) = pod.question_mut(&id) {
                    asked.explained(explained.now);
                }
            }
            (Target::Explanation(_), _) => {}
            (Target::Judgement(id, arguments), told) => {
                let told = told
                    .map_err(|why| why.text())
                    .and_then(|reply| match reply {
                        Reply::Explain(explained) => Ok(explained),
                        _ => Err("the pod answered something else".to_owned()),
                    });
                if let Some(asked) = pod.question_mut(&id) {
                    asked.judged(&arguments, told);
                }
            }
            (Target::Preview(id, wish), told) => {
                let told = told.and_then(|reply| match reply {
                    Reply::PermissionPreview(preview) => Ok(preview),
                    _ => Err(Refused::Lost("the pod answered something else".to_owned())),
                });
                if let Some(asked) = pod.question_mut(&id) {
                    asked.previewed(wish, told);
                }
            }
        }
        self.explain_shown().into_iter().collect()
    }

    fn not_answered(&mut self, at: usize, id: &RequestId, why: &Refused) {
        let is_shown = self
            .shown
            .as_ref()
            .is_some_and(|(pod, shown)| *pod == at && shown == id);
        let Some(asked) = self.pods.get_mut(at).and_then(|pod| pod.question_mut(id)) else {
            // Somebody was faster, and the event that says so came first.
            return;
        };
        if let Stage::Replying(_) = asked.stage {
            asked.refused(why);
        }
        if is_shown {
            self.is_new_to_reader();
        }
    }
}

impl Refused {
    /// The part of a call whose pattern is to blame.
    pub(crate) const fn of_part(&self) -> Option<usize> {
        match self {
            Self::ByPod(error) => match error.code {
                MethodErrorCode::PatternRefused { operation } => Some(operation),
                _ => None, // all of it is
            },
            Self::Lost(_) => None,
        }
    }

    /// For people.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Lost(why) => why.clone(),
            Self::ByPod(error) => error_text(error),
        }
    }
}
