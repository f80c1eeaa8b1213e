//! Finds the pods that run on this machine, and talks to one over its socket.
//!
//! It must never know a policy, a worker or a manifest: it knows what is on the wire, and sockets.
//!
//! ```no_run
//! use podward_client::Client;
//! use podward_protocol::{Hello, PROTOCOL_VERSION, Run};
//!
//! # async fn example() -> Result<(), podward_client::ClientError> {
//! let hello = Hello {
//!     protocol: PROTOCOL_VERSION,
//!     client: "example".to_owned(),
//!     version: None,
//!     can_approve: false,
//!     events: None,
//! };
//! let (client, mut events) = Client::connect("/run/user/1000/podward/x.sock".as_ref(), hello).await?;
//! let started = client.ask(Run { prompt: Some("tidy up".to_owned()), skill: None }).await?;
//! while let Some(envelope) = events.next().await {
//!     println!("turn {}: {}", started.turn, envelope.event.name());
//! }
//! # Ok(())
//! # }
//! ```

mod backlog;
mod client;
mod error;
mod lines;
mod pods;

pub use backlog::MAX_BACKLOG_BYTES;
pub use client::{Client, Events, HELLO_TIME};
pub use error::{ClientError, Ending};
pub use pods::{Found, Look, PodsError, Unreadable, look, pods};
