//! Runs a test provider until it is told to end.
//!
//! It must never be part of what ships.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use podward_model::ScriptedModel;
use podward_test_provider::{Format, Setup, TestProvider, Tls};

/// A model provider on this machine whose answers are written in a script.
///
/// It prints the `base_url` for `[model]` and runs until SIGINT or SIGTERM.
#[derive(Debug, Parser)]
struct Arguments {
    /// What it speaks: `anthropic`, `openai` or `openai-responses`.
    #[arg(long, value_parser = format)]
    format: Format,
    /// The script, as for `provider = "scripted"`.
    #[arg(long)]
    script: PathBuf,
    /// The port; 0: any that is free.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Where the `base_url` is written, once it takes requests.
    #[arg(long)]
    port_file: Option<PathBuf>,
    /// The key that each request needs.
    #[arg(long)]
    key: Option<String>,
    /// Speaks HTTPS, and writes the certificate of its authority here, for SSL_CERT_FILE.
    #[arg(long)]
    authority_file: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Where nothing can be written, nothing can be said.
            let _ = writeln!(io::stderr(), "podward-test-provider: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn std::error::Error>> {
    let text = std::fs::read_to_string(&arguments.script)
        .map_err(|error| format!("{}: {error}", arguments.script.display()))?;
    let script = ScriptedModel::parse("test", &text).map_err(|errors| {
        let lines = errors.iter().map(ToString::to_string);
        lines.collect::<Vec<_>>().join("\n")
    })?;
    let mut setup = Setup::new(arguments.format, script);
    setup.port = arguments.port;
    setup.key.clone_from(&arguments.key);
    if arguments.authority_file.is_some() {
        setup.tls = Tls::PrivateAuthority;
    }
    let provider = TestProvider::start(setup)?;
    if let (Some(file), Some(authority)) = (&arguments.authority_file, provider.authority()) {
        std::fs::write(file, authority)?;
    }
    writeln!(io::stdout(), "{}", provider.base_url())?;
    if let Some(file) = &arguments.port_file {
        // Written beside and renamed: whoever sees the file sees all of it.
        let beside = file.with_extension("new");
        std::fs::write(&beside, provider.base_url())?;
        std::fs::rename(beside, file)?;
    }
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(until_told())?;
    Ok(())
}

async fn until_told() -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        _ = terminate.recv() => Ok(()),
        interrupted = tokio::signal::ctrl_c() => interrupted,
    }
}

fn format(name: &str) -> Result<Format, String> {
    Format::from_name(name).ok_or_else(|| {
        let names = Format::ALL.map(Format::name);
        format!("expected one of {}", names.join(", "))
    })
}
