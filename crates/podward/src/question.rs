//! A question at a terminal: what a person sees of it, and what their lines mean.
//!
//! All of it is pure: requests and lines in, text and answers out.

mod answering;
mod change;
mod pages;
mod rows;
#[cfg(test)]
pub(crate) mod sample;
mod text;

pub(crate) use self::answering::{Answering, Replied, Step};
pub(crate) use self::change::{Before, MAX_COMPARED};
pub(crate) use self::pages::Size;
pub(crate) use self::text::{Question, View, always_in, parts_text};
