//! What keys do where no question is shown.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use podward_protocol::{Cancel, Run, Status};

use super::{App, Confirm};
use crate::editor::Editor;
use crate::input::{Effect, Target};
use crate::keys::Action;
use crate::pod::{Link, Pod};

/// How soon the same key has to come again, in milliseconds.
const AGAIN: u64 = 2_000;

impl App {
    pub(super) fn key(&mut self, key: KeyEvent) -> Vec<Effect> {
        let anywhere = self.keys.anywhere(&key);
        if anywhere.is_some() {
            self.guard.let_go();
        }
        match anywhere {
            Some(Action::Suspend) => return vec![Effect::Suspend],
            Some(Action::Redraw) => return vec![Effect::Redraw],
            Some(Action::Cancel) if self.asked().is_some() => return self.cancel_or_quit(),
            Some(Action::Cancel) if self.listed.is_none() && !self.is_help => {
                return self.cancel_or_quit();
            }
            _ => {} // for what is on the screen
        }
        if self.asked().is_some() {
            return self.question_key(&key);
        }
        self.types_for(self.focus);
        if self.is_help {
            self.is_help = false;
            self.is_new_to_reader();
            return Vec::new();
        }
        if self.listed.is_some() {
            return self.choose(&key);
        }
        if self.search.is_some() && self.search_key(&key) {
            return Vec::new();
        }
        self.conversation_key(&key)
    }

    pub(super) fn paste(&mut self, text: &str) {
        // A terminal that ends lines with a carriage return means a line break.
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        if self.asked().is_some() {
            self.paste_into_question(&text);
            return;
        }
        self.types_for(self.focus);
        if let Some(search) = &mut self.search {
            search.insert(&text.replace('\n', " "));
        } else if let Some(pod) = self
            .pods
            .get_mut(self.focus)
            .filter(|_| self.listed.is_none())
        {
            pod.composer.insert(&text);
        }
    }

    fn is_again(&mut self, what: Confirm) -> bool {
        let now = self.now.steady;
        let is_again = self
            .confirm
            .is_some_and(|(it, until)| it == what && now < until);
        self.confirm = (!is_again).then_some((what, now + AGAIN));
        is_again
    }

    fn cancel_or_quit(&mut self) -> Vec<Effect> {
        let pod = self.pods.get(self.focus);
        let is_busy = pod.is_some_and(|pod| {
            pod.link == Link::There && !matches!(pod.status, None | Some(Status::Idle))
        });
        if is_busy {
            if self.is_again(Confirm::Cancel) {
                return vec![Effect::Ask {
                    pod: self.focus,
                    target: Target::Cancel,
                    method: Box::new(Cancel {}.into()),
                }];
            }
            let cancel = self.keys.name(Action::Cancel);
            let leave = self.keys.name(Action::Leave);
            self.say(format!(
                "{cancel} again cancels the turn; {leave} leaves and lets it run"
            ));
            return Vec::new();
        }
        self.quit()
    }

    fn quit(&mut self) -> Vec<Effect> {
        if self.is_again(Confirm::Quit) {
            return vec![Effect::Quit];
        }
        self.say("the same again leaves; the pods go on");
        Vec::new()
    }

    fn conversation_key(&mut self, key: &KeyEvent) -> Vec<Effect> {
        let action = self.keys.in_conversation(key);
        let page = self.rows.saturating_sub(6).max(1);
        let n_pods = self.pods.len();
        let focus = self.focus;
        let Some(pod) = self.pods.get_mut(focus) else {
            return Vec::new();
        };
        match action {
            Some(Action::Help) => self.is_help = true,
            Some(Action::Return) if self.is_aside && self.shown.is_some() => {
                self.is_aside = false;
                self.is_new_to_reader();
                return self.explain_shown().into_iter().collect();
            }
            Some(Action::Attach) => {
                self.listed = Some(Vec::new());
                return vec![Effect::List];
            }
            Some(Action::PageUp) => pod.look_back(page),
            Some(Action::PageDown) => pod.n_below = pod.n_below.saturating_sub(page),
            Some(Action::First) => pod.look_back(usize::MAX / 2),
            Some(Action::Last) => pod.n_below = 0,
            Some(Action::RowUp) => pod.look_back(1),
            Some(Action::RowDown) => pod.n_below = pod.n_below.saturating_sub(1),
            Some(Action::Search) => self.search = Some(Editor::default()),
            Some(Action::NextPod) => self.focus = (focus + 1) % n_pods,
            Some(Action::PreviousPod) => self.focus = (focus + n_pods - 1) % n_pods,
            Some(Action::Leave) => return self.quit(),
            Some(Action::Send) => return self.send(),
            _ => return self.composer_key(key), // for what is typed
        }
        Vec::new()
    }

    fn composer_key(&mut self, key: &KeyEvent) -> Vec<Effect> {
        let is_end = key.modifiers == KeyModifiers::CONTROL && key.code == KeyCode::Char('d');
        let is_plain = key.modifiers.is_empty();
        let Some(pod) = self.pods.get_mut(self.focus) else {
            return Vec::new();
        };
        match key.code {
            _ if is_end && pod.composer.is_empty() => return self.quit(),
            KeyCode::Up if is_plain && pod.composer.is_in_first_line() => pod.look_back(1),
            KeyCode::Down if is_plain && pod.composer.is_in_last_line() => {
                pod.n_below = pod.n_below.saturating_sub(1);
            }
            _ => {
                pod.composer.key(key);
            }
        }
        Vec::new()
    }

    fn send(&mut self) -> Vec<Effect> {
        let focus = self.focus;
        let Some(pod) = self.pods.get_mut(focus) else {
            return Vec::new();
        };
        if pod.composer.text().trim().is_empty() {
            return Vec::new();
        }
        if pod.link != Link::There {
            self.say("not connected: the text stays here");
            return Vec::new();
        }
        if !matches!(pod.status, None | Some(Status::Idle)) {
            self.say("the pod is busy: the text stays here until it is idle");
            return Vec::new();
        }
        pod.n_below = 0;
        let text = pod.composer.take();
        let run = Run {
            prompt: Some(text.clone()),
            skill: None,
        };
        vec![Effect::Ask {
            pod: focus,
            target: Target::Prompt(text),
            method: Box::new(run.into()),
        }]
    }

    /// Whether the key was for the search.
    fn search_key(&mut self, key: &KeyEvent) -> bool {
        let focus = self.focus;
        let (Some(search), Some(pod)) = (&mut self.search, self.pods.get_mut(focus)) else {
            return false;
        };
        match key.code {
            KeyCode::Esc => self.search = None,
            KeyCode::Enter | KeyCode::Up if search.is_empty() => {}
            KeyCode::Enter | KeyCode::Up => {
                match pod.conversation.find(search.text(), pod.n_below + 1) {
                    Some(at) => pod.n_below = at,
                    None => self.say("nothing further up"),
                }
            }
            KeyCode::PageUp | KeyCode::PageDown => return false,
            _ => {
                search.key(key);
            }
        }
        true
    }
}

impl Pod {
    pub(super) fn look_back(&mut self, n_rows: usize) {
        let most = self.conversation.n_rows().saturating_sub(1);
        self.n_below = self.n_below.saturating_add(n_rows).min(most);
    }
}
