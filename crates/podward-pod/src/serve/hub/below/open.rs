//! What children ask, oldest first. There may be thousands: nothing here goes through all of it but what tells
//! all of it.

use std::collections::BTreeMap;

use podward_protocol::{PermissionRequest, RequestId};

/// The place of a question: those put later have higher ones.
pub(in crate::serve::hub) type Place = u64;

/// The questions of children, each under an id of this pod.
#[derive(Debug, Default)]
pub(super) struct Open {
    requests: BTreeMap<Place, PermissionRequest>,
    /// By the call that started the child, and the whole id.
    places: BTreeMap<String, BTreeMap<RequestId, Place>>,
    next: Place,
}

impl Open {
    /// Puts a question, behind all others; one that is put already may ask about something else by now.
    pub(super) fn put(&mut self, request: PermissionRequest) {
        let call = started_by(&request.id).unwrap_or_default().to_owned();
        let of_call = self.places.entry(call).or_default();
        let place = *of_call.entry(request.id.clone()).or_insert_with(|| {
            self.next += 1;
            self.next
        });
        self.requests.insert(place, request);
    }

    /// Takes out a question, if it is open.
    pub(super) fn take(&mut self, id: &RequestId) -> Option<PermissionRequest> {
        let call = started_by(id).unwrap_or_default();
        let of_call = self.places.get_mut(call)?;
        let place = of_call.remove(id)?;
        if of_call.is_empty() {
            self.places.remove(call);
        }
        self.requests.remove(&place)
    }

    /// Takes out what the child asks that a call started.
    pub(super) fn take_all_of(&mut self, call: &str) -> impl Iterator<Item = PermissionRequest> {
        let of_call = self.places.remove(call).unwrap_or_default();
        let mut places: Vec<Place> = of_call.into_values().collect();
        places.sort_unstable();
        let requests = &mut self.requests;
        places
            .into_iter()
            .filter_map(|place| requests.remove(&place))
    }

    pub(super) fn len(&self) -> usize {
        self.requests.len()
    }

    pub(super) fn place(&self, id: &RequestId) -> Option<Place> {
        let call = started_by(id).unwrap_or_default();
        self.places.get(call)?.get(id).copied()
    }

    /// What is asked, after one of them; `None`: all of it.
    pub(super) fn after(&self, place: Option<Place>) -> impl Iterator<Item = &PermissionRequest> {
        let first = place.map_or(0, |place| place + 1);
        self.requests.range(first..).map(|(_, request)| request)
    }

    /// Whether the child asks something that a call started.
    pub(super) fn is_asking(&self, call: &str) -> bool {
        self.places.contains_key(call)
    }
}

/// The call that started the child which asks something.
fn started_by(id: &RequestId) -> Option<&str> {
    id.as_str().split_once('/').map(|(call, _)| call)
}

#[cfg(test)]
mod tests;
