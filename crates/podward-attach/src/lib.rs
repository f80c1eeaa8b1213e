//! A full-screen client of pods: shows what they do, takes prompts, and puts their questions to a person.
//!
//! It must never know a policy, a worker or a manifest, and does nothing that is not in the protocol.
//!
//! [`App`] is a state machine: what happens goes in, with the time at which it does, and what is to be done
//! comes out. [`draw`] makes a screen of it. Both are pure; `run` is the thin edge around them, with the
//! terminal, the sockets and the clock.

mod app;
mod asked;
mod conversation;
mod edge;
mod editor;
mod input;
mod keys;
mod pod;
mod view;

pub use app::App;
pub use edge::{Attach, AttachError, run};
pub use input::{Effect, Input, Now, Outcome, PodNews, Refused, Target};
pub use keys::{Keys, KeysError, Mouse, Settings};
pub use view::{Colors, draw};
