//! What became of a child's turn, and what the model of the pod above reads of it.

use podward_protocol::{CallCount, TurnEndReason, TurnEnded};
use podward_tools::ToolOutput;

/// What became of a child's turn.
pub(super) struct Told {
    /// What it wrote last.
    pub(super) text: String,
    /// Its calls, and those of its children.
    pub(super) own: CallCount,
    pub(super) children: CallCount,
    /// Why it did not do what it was to do, if it did not.
    pub(super) failure: Option<String>,
}

impl Told {
    pub(super) fn of(text: String, end: &TurnEnded, error: Option<String>) -> Self {
        Self {
            text,
            own: CallCount {
                n_calls: end.n_calls,
                n_refused: end.n_refused,
            },
            children: end.children,
            failure: match &end.reason {
                TurnEndReason::Done => None,
                TurnEndReason::Limit { limit } => {
                    Some(format!("its limit `{}` was reached", limit.0))
                }
                TurnEndReason::Aborted { reason } => {
                    Some(format!("a hook ended its turn: {reason}"))
                }
                TurnEndReason::Cancelled => Some("its turn was cancelled".to_owned()),
                TurnEndReason::Failed => Some(match error {
                    Some(error) => format!("its turn failed: {error}"),
                    None => "its turn failed".to_owned(),
                }),
            },
        }
    }

    /// What the model reads: at most so many bytes of what the child wrote.
    pub(super) fn output(self, child: &str, most: usize) -> ToolOutput {
        let Self {
            mut text,
            own,
            children,
            failure,
        } = self;
        if text.len() > most {
            let n_bytes = text.len();
            let cut = (0..=most).rev().find(|at| text.is_char_boundary(*at));
            text.truncate(cut.unwrap_or(0));
            text += &format!("\n[cut: {most} of {n_bytes} bytes]");
        }
        let refused = [
            refused(&format!("`{child}`"), own),
            refused(&format!("the children of `{child}`"), children),
        ]
        .concat();
        let Some(why) = failure else {
            let text = match text.trim().is_empty() {
                true => format!("[the child `{child}` ended without a word]"),
                false => text,
            };
            return ToolOutput::success(format!("{text}{refused}"));
        };
        let text = match text.trim().is_empty() {
            true => text,
            false => format!("\nIt wrote:\n{text}"),
        };
        ToolOutput::failure(format!(
            "the child `{child}` did not do it: {why}{refused}{text}"
        ))
    }
}

/// How many calls were refused, if any were.
fn refused(whose: &str, calls: CallCount) -> String {
    match calls.n_refused {
        0 => String::new(),
        n_refused => format!(
            "\n[refused calls of {whose}: {n_refused} of {}]",
            calls.n_calls
        ),
    }
}
