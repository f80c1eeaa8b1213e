//! What the rules say, as data: decision cases and the verdicts over the sample manifests.
//!
//! It must never touch a disk but to read its data: each verdict follows from text alone.

#![cfg(test)]

mod cases;
mod matrix;
mod place;
mod roles;
mod schema;
