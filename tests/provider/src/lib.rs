//! A local model provider.
//!
//! It must never leave this machine.
