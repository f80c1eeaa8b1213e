//! Calls that started children because a person said so: who goes on with them need not be asked again.

use podward_gate::Answer;
use podward_protocol::{CallId, DecidedBy, SessionId};
use podward_worker::Parked;

use super::{Inheritance, handed_layers};
use crate::decision_log::LogContext;
use crate::layers::Loaded;
use crate::places::Places;
use crate::recorded::approved_in;
use crate::session::Session;

/// Has those calls run again by the answer that they had, where what was approved then is what it is now: the
/// rules, the directory, and all texts that the child is made of.
pub(crate) fn approve_again(
    parked: Option<&mut Parked>,
    places: &Places,
    loaded: &Loaded,
    context: &LogContext,
) {
    let Some(parked) = parked else {
        return;
    };
    let directory = Session::directory_of(places, &context.session);
    let in_sessions = parked.in_sessions();
    let approved: Vec<_> = in_sessions
        .filter(|(_, session)| is_as_given(places, loaded, session))
        .filter_map(|(call, _)| {
            let by = approved_in(&directory, &CallId::new(call), context)?;
            Some((call.to_owned(), by))
        })
        .collect();
    for (call, by) in approved {
        let answer = match by {
            DecidedBy::Client { name, edited: true } => Answer::Edited { by: name.into() },
            DecidedBy::Client { name, .. } => Answer::Once { by: name.into() },
            _ => continue, // no person, or one whose approval is a grant
        };
        parked.approve(&call, answer);
    }
}

/// Whether the child of a session would be given the same texts as it was.
fn is_as_given(places: &Places, loaded: &Loaded, session: &str) -> bool {
    let id = SessionId::new(session).ok();
    let kept = id.and_then(|id| Inheritance::kept(places, &id).ok().flatten());
    let Some(kept) = kept else {
        return false;
    };
    let mut declared = loaded.resolved.children.iter();
    let Some(child) = declared.find(|child| child.name.as_str() == kept.name) else {
        return false;
    };
    let manifest = loaded.children.get(&child.manifest);
    let manifests = loaded.children.values().map(|manifest| &manifest.text);
    manifest.is_some_and(|manifest| manifest.text == kept.manifest)
        && manifests.eq(&kept.estate.manifests)
        && handed_layers(loaded, child.mode) == kept.layers
}
