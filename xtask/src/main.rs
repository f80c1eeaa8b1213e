//! The project's own chores: `cargo xtask ci | tidy | gen | soak`.
//!
//! It must never be needed to build or to use podward.

mod chores;
mod ci;
mod generated;
mod soak;
mod surface;
mod tidy;
mod tree;

use std::io::Write as _;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The project's own chores.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Debug, Subcommand)]
enum Chore {
    /// All that CI checks: format, lints, tests, docs, tidy, generated files, the fuzz corpus.
    Ci,
    /// The checks that no compiler makes: layers, purity, sizes, names, links, samples.
    Tidy,
    /// Writes the man pages, completions, schemas and public surfaces under docs/.
    Gen {
        /// Write nothing: fail if a file would change.
        #[arg(long)]
        check: bool,
    },
    /// Runs the scaled tests at full counts and writes docs/soak/latest.json.
    Soak {
        /// Only the test runs whose name holds this text.
        #[arg(long)]
        only: Option<String>,
    },
}

fn main() -> ExitCode {
    let done = match Arguments::parse().chore {
        Chore::Ci => ci::run_all(),
        Chore::Tidy => tidy::run(),
        Chore::Gen { check: true } => generated::check(),
        Chore::Gen { check: false } => generated::write(),
        Chore::Soak { only } => soak::run(only.as_deref()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody is left to tell when standard error is closed.
            let _ = writeln!(std::io::stderr(), "xtask: {error}");
            ExitCode::FAILURE
        }
    }
}
