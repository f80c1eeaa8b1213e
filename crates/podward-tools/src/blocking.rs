//! File work, off the threads that serve everything else.

use crate::tool::ToolOutput;

/// The result of a call that was cancelled.
pub(crate) const CANCELLED: &str = "the call was cancelled";

/// Runs file work on the pool for blocking work and waits for its end.
pub(crate) async fn blocking(work: impl FnOnce() -> ToolOutput + Send + 'static) -> ToolOutput {
    match tokio::task::spawn_blocking(work).await {
        Ok(output) => output,
        Err(error) => {
            tracing::error!(%error, "a tool's file work did not end");
            ToolOutput::failure("the call failed inside podward; its effect is not known")
        }
    }
}

#[cfg(test)]
mod tests;
