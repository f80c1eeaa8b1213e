//! Skills begin and end between two steps: all calls of one message are judged by the same.

use podward_gate::CallId;
use podward_model::Block;

use super::Turn;
use crate::batch::Worked;
use crate::event::WorkerEvent;
use crate::journal::{Entry, JournalError, SkillEnd};

/// A skill that is to end, and why.
pub(crate) type Ending = (Box<str>, SkillEnd);

impl Turn<'_> {
    /// Takes a message of the model with the results of its calls: skills that these started are
    /// active from now on.
    pub(crate) async fn push_step(&mut self, content: Vec<Block>, worked: Worked) {
        let started: Vec<_> = worked
            .started
            .iter()
            .map(|started| {
                (
                    started.record.name.clone(),
                    CallId::from_model(&started.call),
                )
            })
            .collect();
        let history = &mut self.parts.history;
        history.push_step(content, worked.results, worked.started);
        if !started.is_empty() {
            self.parts.follow_skills();
            for (name, call) in started {
                self.tell_started(&name, Some(call)).await;
            }
        }
    }

    /// Tells that a skill is active that a call has started, or the prompt.
    pub(crate) async fn tell_started(&mut self, name: &str, call: Option<CallId>) {
        let active = self.parts.skills.active.list();
        let skill = active.into_iter().find(|skill| *skill.record.name == *name);
        if let Some(skill) = skill {
            self.tell(WorkerEvent::SkillStarted { skill, call }).await;
        }
    }

    /// Ends the skills that clients have asked to end.
    pub(crate) async fn end_asked(&mut self) -> Result<(), JournalError> {
        let ending = self.asked_to_end();
        self.append(&ended(&ending)).await?;
        self.ended(ending).await;
        Ok(())
    }

    /// The skills that end with a turn: all of them where it ends in the ordinary way.
    pub(crate) fn ending_with(&self, is_done: bool) -> Vec<Ending> {
        let mut ending = self.asked_to_end();
        if is_done {
            for record in self.parts.history.skills() {
                if !ending.iter().any(|(name, _)| *name == record.name) {
                    ending.push((record.name.clone(), SkillEnd::TurnEnded));
                }
            }
        }
        ending
    }

    /// Takes the instructions of skills out of the history, once that is on record.
    pub(crate) async fn ended(&mut self, ending: Vec<Ending>) {
        if ending.is_empty() {
            return;
        }
        for (name, _) in &ending {
            self.parts.history.end_skill(name);
        }
        self.parts.follow_skills();
        for (name, why) in ending {
            self.tell(WorkerEvent::SkillEnded { name, why }).await;
        }
    }

    fn asked_to_end(&self) -> Vec<Ending> {
        let names = self.parts.skills.active.ending().into_iter();
        names
            .map(|(name, by)| (name, SkillEnd::Client { by }))
            .collect()
    }
}

/// The entries of skills that end.
pub(crate) fn ended(ending: &[Ending]) -> Vec<Entry> {
    let entry = |(name, why): &Ending| Entry::SkillEnded {
        name: name.clone(),
        why: why.clone(),
    };
    ending.iter().map(entry).collect()
}
