//! Questions on their way from the worker to the server around the pod.

use std::sync::Arc;

use async_trait::async_trait;
use podward_gate::{Answer, Question};
use podward_protocol::AskedSkill;
use podward_worker::Approver;
use serde_json::Value;
use tokio::sync::mpsc;

use crate::skills::Catalogue;

/// A question, and what people are shown of it that the call does not say.
#[derive(Debug)]
pub(crate) struct Announced {
    pub(crate) question: Question,
    /// What a call of `skill` would start.
    pub(crate) skill: Option<Arc<AskedSkill>>,
}

/// Puts questions to the server around a pod, and leaves them to it.
pub(super) struct Announcer {
    pub(super) asks: mpsc::Sender<Announced>,
    pub(super) skills: Arc<Catalogue>,
}

#[async_trait]
impl Approver for Announcer {
    async fn answer(&self, question: &Question) -> Option<Answer> {
        let announced = Announced {
            question: question.clone(),
            skill: self.skill(question).await,
        };
        match self.asks.send(announced).await {
            Ok(()) => None,
            // The server is gone.
            Err(_) => Some(Answer::NoClient),
        }
    }
}

impl Announcer {
    /// The skill that a call would start, read on a thread of its own.
    async fn skill(&self, question: &Question) -> Option<Arc<AskedSkill>> {
        let facts = question.facts();
        if facts.tool().as_str() != "skill" {
            return None;
        }
        let arguments: Value = serde_json::from_str(facts.arguments()).ok()?;
        let name = arguments.get("name")?.as_str()?.to_owned();
        let skills = Arc::clone(&self.skills);
        let read = tokio::task::spawn_blocking(move || skills.asked(&name));
        let read = read.await.unwrap_or_else(|error| {
            tracing::error!(%error, "a skill was not read");
            let why = "it could not be read".to_owned();
            AskedSkill::Fails { why }
        });
        Some(Arc::new(read))
    }
}
