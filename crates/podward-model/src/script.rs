//! A model whose answers are written in a file.

use std::sync::Arc;

use futures_util::StreamExt;

use crate::model::{Model, ModelRequest, ModelStream};

/// A model whose answers are written in a file.
#[derive(Debug, Clone)]
pub struct ScriptedModel {
    name: Arc<str>,
}

/// What is wrong with a script, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct ScriptError {
    line: usize,
    column: usize,
    message: String,
}

impl ScriptedModel {
    /// Reads a script. `name` is the model's name.
    ///
    /// # Errors
    /// The text is no script; the error says where.
    pub fn parse(name: &str, _text: &str) -> Result<Self, ScriptError> {
        Ok(Self { name: name.into() })
    }
}

impl Model for ScriptedModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn stream(&self, _request: ModelRequest) -> ModelStream {
        futures_util::stream::empty().boxed()
    }
}
