//! A model provider on this machine, for tests: it speaks the wire formats of real providers.
//!
//! A [`TestProvider`] answers over HTTP or HTTPS as [`Format`] says. What it answers comes from a
//! [`ScriptedModel`](podward_model::ScriptedModel), so a script does the same behind a wire as inside a pod. Every request is
//! checked as strictly as the strictest known provider does; what is wrong with one is answered
//! with status 400 in the provider's own shape, and recorded. [`Trouble`] makes it misbehave.
//!
//! It must never know how a client builds its requests, and never talk to another machine.

mod listening;
mod proxy;
mod server;
mod setup;
mod tls;
mod wire;

pub use proxy::TestProxy;
pub use server::{Recorded, TestProvider};
pub use setup::{ChatStyle, ProviderError, Setup, Tls, Trouble};
pub use wire::{Format, check_request};
