//! What people are shown of calls, verdicts and questions: words, rows, and every character visible.
//!
//! It must never know a terminal, a colour or a file: values of the protocol in, rows of text out. What
//! each look is like is the business of whoever writes the rows somewhere.

mod call_summary;
mod change;
mod progress;
mod question;
mod rows;
#[cfg(any(test, feature = "sample"))]
pub mod sample;
mod visible;
mod wording;
mod wrapping;

pub use call_summary::summary;
pub use change::{Before, MAX_COMPARED};
pub use progress::{result_text, turn_calls_text, turn_end_text, verdict_word};
pub use question::{Question, always_in, given_text, in_words, parts_text, width_text};
pub use rows::{Look, Mark, Piece, Row, columns_of, rows};
pub use visible::{Lines, one_line, visible};
pub use wording::{
    CALL_CHARS, below_text, by_text, cause_text, client_text, counted, each_once, error_text,
    lasts_text, need_text, operation_text, outcome_text, place_text, pods_text, refusal_text,
    rule_lines, ruling_text, skill_tools_text,
};
pub use wrapping::{without_runs, wrapped, wrapped_behind_mark};
