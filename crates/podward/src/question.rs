//! A question at a terminal, line by line: how much of it is shown, and what a person's lines mean.
//!
//! All of it is pure: requests and lines in, text and answers out.

mod answering;
mod pages;

pub(crate) use self::answering::{Answering, Prompts, Replied, Step};
pub(crate) use self::pages::Size;
