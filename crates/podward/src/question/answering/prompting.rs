//! Prompts that are typed where no question is open.

use podward_protocol::Status;
use podward_view::{Lines, visible};

use super::{Answering, Stage, Step, words};
use crate::screen::Look;

/// Whether a line that answers no question is a prompt for the pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prompts {
    /// While the pod is idle.
    Taken,
    /// Never.
    NotTaken,
}

impl Answering {
    /// The pod does something else now.
    pub(crate) fn does(&mut self, status: &Status) {
        self.is_idle = matches!(status, Status::Idle);
    }

    /// Whether a prompt can be typed.
    pub(super) fn takes_prompt(&self) -> bool {
        self.prompts == Prompts::Taken && self.is_idle && self.stage == Stage::Nothing
    }

    /// A line where no question is open.
    pub(super) fn prompted(&mut self, line: &str) -> Vec<Step> {
        let is_answer = !matches!(
            words::answer(line),
            words::Said::Other | words::Said::Nothing
        );
        match line {
            "" => vec![self.prompt()],
            // Who was about to answer has not seen that it is settled.
            _ if is_answer => self.again(words::NO_QUESTION),
            line => {
                (self.is_idle, self.is_startled) = (false, false);
                vec![Step::Run(line.to_owned())]
            }
        }
    }

    /// A prompt was not taken: it stays to be read, and can be typed again.
    pub(crate) fn not_taken(&mut self, prompt: &str, why: &str) -> Vec<Step> {
        let (prompt, why) = (visible(prompt, Lines::Escape), visible(why, Lines::Escape));
        self.is_idle = true;
        let not_sent = Step::Say(format!("not sent: {prompt}\n{why}\n"));
        vec![not_sent, self.prompt()]
    }

    /// What stands in front of a prompt that is typed.
    pub(super) fn prompt_of_prompts(&self) -> Step {
        Step::Say(self.stream.paint(Look::Strong, words::PROMPT.to_owned()))
    }
}
