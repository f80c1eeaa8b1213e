//! The list of pods to choose from.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use podward_client::Found;

use super::App;
use crate::input::Effect;
use crate::pod::Pod;

impl App {
    pub(super) fn listed(&mut self, found: Vec<Found>) {
        let attached = |found: &Found| self.pods.iter().any(|pod| pod.found.socket == found.socket);
        let found: Vec<Found> = found.into_iter().filter(|one| !attached(one)).collect();
        if let Some(listed) = &mut self.listed {
            let chosen = listed.get(self.listed_at).map(|found| found.socket.clone());
            let at = found
                .iter()
                .position(|one| Some(&one.socket) == chosen.as_ref());
            self.listed_at = at.unwrap_or_default();
            *listed = found;
        }
    }

    pub(super) fn choose(&mut self, key: &KeyEvent) -> Vec<Effect> {
        let Some(listed) = &mut self.listed else {
            return Vec::new();
        };
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Up | KeyCode::Char('k') => self.listed_at = self.listed_at.saturating_sub(1),
            KeyCode::Down | KeyCode::Char('j') => {
                let last = listed.len().saturating_sub(1);
                self.listed_at = (self.listed_at + 1).min(last);
            }
            KeyCode::Enter => return self.attach_listed(),
            KeyCode::Char('c' | 'd') if is_control => return vec![Effect::Quit],
            KeyCode::Esc | KeyCode::Char('q') if self.pods.is_empty() => return vec![Effect::Quit],
            KeyCode::Esc | KeyCode::Char('q') => self.listed = None,
            _ => {} // nothing in a list
        }
        Vec::new()
    }

    /// Attaches the pod that is chosen.
    pub(super) fn attach_listed(&mut self) -> Vec<Effect> {
        let at = self.listed_at;
        let listed = self.listed.take_if(|listed| at < listed.len());
        let Some(found) = listed.and_then(|listed| listed.into_iter().nth(at)) else {
            return Vec::new();
        };
        self.focus = self.pods.len();
        self.pods.push(Pod::new(found.clone()));
        vec![Effect::Connect(Box::new(found))]
    }
}
