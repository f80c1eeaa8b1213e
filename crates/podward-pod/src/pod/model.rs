//! The model that a manifest names.

#[cfg(test)]
mod tests;

use std::fs::OpenOptions;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::Arc;

use podward_manifest::{Model as Declared, Provider, RemoteModel, Resolved, Script};
use podward_model::{
    AnthropicModel, ApiKey, Endpoint, Model, ModelError, OpenAiChatModel, OpenAiResponsesModel,
    ScriptedModel,
};
use rustix::fs::OFlags;

use super::error::PodError;
use crate::file::shown;
use crate::key::{KeyOrigin, ModelKey};
use crate::private::check_regular;

/// The largest script, in bytes.
const MAX_SCRIPT_BYTES: u64 = 64 * 1024 * 1024;

/// A script that is part of the program: its name and its text.
pub type EmbeddedScript<'a> = (&'a str, &'a str);

/// The model that a manifest names, asked with this key.
///
/// # Errors
/// It names none; its script cannot be read or makes no sense; or no HTTP client can be made.
pub fn declared_model(
    resolved: &Resolved,
    embedded: &[EmbeddedScript<'_>],
    key: Option<&ModelKey>,
) -> Result<Arc<dyn Model>, PodError> {
    match &resolved.model {
        Declared::Undeclared => Err(PodError::NoModel),
        Declared::Scripted(script) => Ok(Arc::new(scripted(script, embedded)?)),
        Declared::Remote(model) => remote(model, key).map_err(PodError::Model),
    }
}

fn remote(model: &RemoteModel, key: Option<&ModelKey>) -> Result<Arc<dyn Model>, ModelError> {
    let own = match model.provider {
        Provider::Anthropic => AnthropicModel::BASE_URL,
        Provider::OpenAi => OpenAiChatModel::BASE_URL,
        Provider::OpenAiResponses => OpenAiResponsesModel::BASE_URL,
    };
    let base_url = model.base_url.as_ref().map_or(own, |url| url.as_str());
    let mut endpoint = Endpoint::new(base_url, model.model.as_str())?;
    if let Some(key) = key {
        endpoint = endpoint.with_key(ApiKey::new(key.reveal())?);
    }
    Ok(match model.provider {
        Provider::Anthropic => Arc::new(AnthropicModel::new(endpoint)?),
        Provider::OpenAi => Arc::new(OpenAiChatModel::new(endpoint)?),
        Provider::OpenAiResponses => Arc::new(OpenAiResponsesModel::new(endpoint)?),
    })
}

fn scripted(script: &Script, embedded: &[EmbeddedScript<'_>]) -> Result<ScriptedModel, PodError> {
    let (name, text) = match script {
        Script::Embedded(name) => {
            let found = embedded.iter().find(|(known, _)| known == name);
            let (_, text) = found.ok_or(PodError::NoScript(name))?;
            ((*name).to_owned(), (*text).to_owned())
        }
        Script::File(path) => {
            let text = read_script(path).map_err(|source| PodError::ScriptFile {
                path: path.clone(),
                source,
            })?;
            (shown(path), text)
        }
    };
    ScriptedModel::parse(&name, &text).map_err(|errors| PodError::Script { name, errors })
}

fn read_script(path: &Path) -> io::Result<String> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
        .open(path)?;
    check_regular(&file)?;
    let mut text = String::new();
    file.take(MAX_SCRIPT_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_SCRIPT_BYTES {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("at most {MAX_SCRIPT_BYTES} bytes are read"),
        ));
    }
    Ok(text)
}

/// What a person can do about a model that gave no answer.
pub(crate) fn help(error: &ModelError, key: Option<&KeyOrigin>) -> Option<String> {
    match (error, key) {
        (ModelError::Authentication { .. }, Some(origin)) => Some(format!(
            "the key comes from {origin}: check that it is whole, is for this provider, and may use this model"
        )),
        (ModelError::Authentication { .. }, None) => Some(
            "no layer gives a key: write `key_env`, `key_file` or `key_command` into `[model]`"
                .to_owned(),
        ),
        _ => error.hint().map(str::to_owned), // their own words fit
    }
}
