//! Diagnostics of podward itself: to standard error or a file, never to standard output.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::Mutex;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::arguments::General;
use crate::failure::Failure;
use crate::screen::Screen;

/// The environment variable that holds a filter.
const VARIABLE: &str = "PODWARD_LOG";

/// Starts logging if `--log`, `PODWARD_LOG` or `--log-file` asks for it.
///
/// # Errors
/// The filter makes no sense, or the file cannot be opened.
pub(crate) fn start(general: &General, screen: Screen) -> Result<(), Failure> {
    let from_environment = std::env::var(VARIABLE).ok().filter(|text| !text.is_empty());
    let (name, filter) = match (&general.log, from_environment, &general.log_file) {
        (Some(filter), _, _) => ("--log", filter.clone()),
        (None, Some(filter), _) => (VARIABLE, filter),
        (None, None, Some(_)) => ("--log", "info".to_owned()),
        (None, None, None) => return Ok(()),
    };
    let filter = EnvFilter::builder()
        .parse(&filter)
        .map_err(|error| Failure::Usage {
            message: format!("`{filter}` is no filter for {name}: {error}"),
            help: "a level (error, warn, info, debug, trace), or `target=level` pairs with commas",
        })?;
    // What libraries say at their lower levels is not podward's to keep free of secrets.
    let ours = filter_fn(|metadata| metadata.target().starts_with("podward"));
    let builder = tracing_subscriber::fmt().with_env_filter(filter);
    // A logger that is already there can only be ours.
    let _ = match &general.log_file {
        None => builder
            .with_writer(io::stderr)
            .with_ansi(screen.talk.is_colored)
            .finish()
            .with(ours)
            .try_init(),
        Some(path) => {
            let file = OpenOptions::new()
                .create(true)
                .append(true)
                .mode(0o600)
                .open(path)
                .map_err(|source| Failure::LogFile {
                    path: path.clone(),
                    source,
                })?;
            builder
                .json()
                .with_writer(Mutex::new(file))
                .finish()
                .with(ours)
                .try_init()
        }
    };
    Ok(())
}
