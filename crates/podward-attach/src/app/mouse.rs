//! What the mouse does: it scrolls and chooses, and answers nothing.

use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};

use super::App;
use crate::input::Effect;

/// Rows that the wheel goes on by.
const N_ROWS: usize = 3;

/// Rows above those that can be chosen from: the pods, and what it is about.
const N_ABOVE: usize = 2;

impl App {
    pub(super) fn mouse(&mut self, event: MouseEvent) -> Vec<Effect> {
        if self.asked().is_some() {
            self.guard.let_go();
            if !self.guard.lets_through(self.now, self.pause()) || !self.has_room() {
                return Vec::new();
            }
        }
        let (column, row) = (usize::from(event.column), usize::from(event.row));
        match event.kind {
            MouseEventKind::ScrollUp => self.wheel_up(),
            MouseEventKind::ScrollDown => self.wheel_down(),
            MouseEventKind::Down(MouseButton::Left) if row == 0 => self.choose_pod_at(column),
            MouseEventKind::Down(MouseButton::Left) => return self.choose_at(row),
            _ => {} // nothing is dragged, and no other button does anything
        }
        Vec::new()
    }

    fn wheel_up(&mut self) {
        if let Some(asked) = self.asked_mut() {
            asked.page.scroll(-N_ROWS.cast_signed());
        } else if self.listed.is_some() {
            self.listed_at = self.listed_at.saturating_sub(1);
        } else if let Some(pod) = self.pods.get_mut(self.focus) {
            pod.look_back(N_ROWS);
        }
    }

    fn wheel_down(&mut self) {
        if let Some(asked) = self.asked_mut() {
            asked.page.scroll(N_ROWS.cast_signed());
        } else if let Some(listed) = &self.listed {
            self.listed_at = (self.listed_at + 1).min(listed.len().saturating_sub(1));
        } else if let Some(pod) = self.pods.get_mut(self.focus) {
            pod.n_below = pod.n_below.saturating_sub(N_ROWS);
        }
    }

    /// Shows the conversation of the pod whose name stands there.
    fn choose_pod_at(&mut self, column: usize) {
        if self.asked().is_none()
            && let Some(pod) = crate::view::pod_at(self, column)
        {
            self.focus = pod;
        }
    }

    /// Chooses what stands in a row: what `always` saves, or a pod; what is chosen already is attached.
    fn choose_at(&mut self, row: usize) -> Vec<Effect> {
        let is_last = row + 1 >= self.rows;
        let Some(row) = row.checked_sub(N_ABOVE).filter(|_| !is_last) else {
            return Vec::new();
        };
        if let Some((pod, _)) = self.shown
            && let Some(asked) = self.asked_mut()
        {
            return asked.choose_at(row).asks(pod).into_iter().collect();
        }
        let Some(listed) = self.listed.as_ref().filter(|_| !self.is_help) else {
            return Vec::new();
        };
        let at = crate::view::first_listed(self) + row;
        if at >= listed.len() {
            return Vec::new();
        }
        if at == self.listed_at {
            return self.attach_listed();
        }
        self.listed_at = at;
        Vec::new()
    }
}
