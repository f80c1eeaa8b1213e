//! The state machine of one pod's calls: submit, then run, refuse or ask; each settles once.
//!
//! It must never know a clock, a file, a client or what a tool does; what it is told, it decides.
