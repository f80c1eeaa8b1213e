//! The real program: processes, exit codes, files.
//!
//! It must never reach the network, the user's home directory or the clock.

#![cfg(test)]

mod answers;
mod attach;
mod below;
mod check;
mod children;
mod children_asked;
mod children_crash;
mod children_ended;
mod children_held;
mod children_resumed;
mod children_stopped;
mod children_told;
mod crash;
mod demo;
mod disk_full;
mod exit_codes;
mod explain;
mod fetch;
mod futile;
mod grants;
mod headless;
mod hooks;
mod key;
mod layers;
mod lint;
mod load;
mod models;
mod output;
mod parked;
mod pods;
mod policy_tests;
mod programs_page;
mod protocol_page;
mod races;
mod readme;
mod refusals;
mod roles;
mod sandbox;
mod serving;
mod session_files;
mod signals;
mod skills;
mod terminal;
mod tmux;
mod trees;
mod typist;
mod undo;
