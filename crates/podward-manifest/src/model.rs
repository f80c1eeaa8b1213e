//! Who answers the requests of a pod, where, and with which key.

#[cfg(test)]
mod tests;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use podward_policy::Location;
use url::{Host, Url};

use crate::diagnostic::is_invisible;
use crate::environment::VariableName;
use crate::hook::HookProgram;

/// Who answers the requests of a pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Model {
    /// No layer has a `[model]`: enough to judge calls, not to run a pod.
    Undeclared,
    /// A script of model steps.
    Scripted(Script),
    /// A model that is asked over HTTP.
    Remote(RemoteModel),
}

/// A script of model steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Script {
    /// Part of the program, by name: `demo`.
    Embedded(&'static str),
    /// A file; absolute if the directory of the layer is.
    File(PathBuf),
}

/// A model that is asked over HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteModel {
    /// `provider`: which wire format is spoken, and with whom unless `base_url` says.
    pub provider: Provider,
    /// `model`: its name at the provider.
    pub model: ModelName,
    /// `base_url`; `None`: the provider's own.
    pub base_url: Option<BaseUrl>,
}

/// A wire format, and the provider whose it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Provider {
    /// `anthropic`: the Messages API.
    Anthropic,
    /// `openai`: Chat Completions, and whatever server is compatible.
    OpenAi,
    /// `openai-responses`: the Responses API.
    OpenAiResponses,
}

impl Provider {
    /// The word used in manifests.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::OpenAiResponses => "openai-responses",
        }
    }

    /// The variable in which the provider's own programs look for a key.
    #[must_use]
    pub const fn usual_variable(self) -> &'static str {
        match self {
            Self::Anthropic => "ANTHROPIC_API_KEY",
            Self::OpenAi | Self::OpenAiResponses => "OPENAI_API_KEY",
        }
    }

    /// A model of the provider, as an example.
    pub(crate) const fn some_model(self) -> &'static str {
        match self {
            Self::Anthropic => "claude-sonnet-4-5",
            Self::OpenAi | Self::OpenAiResponses => "gpt-5",
        }
    }
}

/// Where the key of a model is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// Where it is.
    pub source: KeySource,
    /// The place in the layer that says so.
    pub location: Location,
}

/// Where the key of a model is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// `key_env = ""`: there is none, whatever layers further out say.
    Nowhere,
    /// `key_env`: in this variable, which is taken out of the pod's own environment before the
    /// first tool runs, whatever the provider.
    Variable(VariableName),
    /// `key_file`: in this file; absolute if the directory of the layer is.
    File(PathBuf),
    /// `key_command`: it is what a command prints.
    Command(KeyCommand),
}

/// A command that prints a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyCommand {
    /// Program and arguments; never empty.
    pub argv: Vec<String>,
    /// Where it starts, and where a program with a `/` in its name is looked for: the directory of
    /// the layer.
    pub directory: PathBuf,
    /// Where it is written.
    pub location: Location,
}

impl KeyCommand {
    /// What it starts, as for a hook: a program with a `/` in its name is a path already.
    #[must_use]
    pub fn program(&self) -> HookProgram {
        match self.argv.first() {
            Some(path) if path.contains('/') => HookProgram::At(PathBuf::from(path)),
            Some(name) => HookProgram::Named(name.clone()),
            None => HookProgram::Named(String::new()),
        }
    }

    /// The other words.
    pub fn arguments(&self) -> impl Iterator<Item = &str> {
        self.argv.iter().skip(1).map(String::as_str)
    }
}

impl KeySource {
    /// The key in `[model]`.
    #[must_use]
    pub const fn key(&self) -> &'static str {
        match self {
            Self::Nowhere | Self::Variable(_) => "key_env",
            Self::File(_) => "key_file",
            Self::Command(_) => "key_command",
        }
    }
}

/// The name of a model at its provider: 1 to 256 characters, none of them a blank or invisible.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModelName(Arc<str>);

impl ModelName {
    /// Checks a name.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn new(name: &str) -> Result<Self, &'static str> {
        let n_chars = name.chars().count();
        if n_chars == 0 || n_chars > 256 {
            return Err("a model's name has 1 to 256 characters");
        }
        if name
            .chars()
            .any(|char| char.is_whitespace() || is_invisible(char))
        {
            return Err("a model's name has no blanks and no control characters");
        }
        Ok(Self(name.into()))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The front of a provider's URLs: `http` or `https`, with a host, without user, query or fragment,
/// and without a `/` at its end.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BaseUrl {
    text: Arc<str>,
    exposure: Exposure,
}

/// Who could read what is sent to a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Exposure {
    /// The server alone.
    Encrypted,
    /// It does not leave this machine.
    Local,
    /// Everybody on the way.
    Open,
}

/// A text that can be no base URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BaseUrlError {
    /// It is none.
    #[error("{0}")]
    Form(&'static str),
    /// It holds a user or a password.
    #[error("a base URL holds no user and no password: name the key with `key_env`")]
    Credentials,
}

/// Paths that podward puts behind a base URL, which people tend to copy with it.
const ADDED_PATHS: &[&str] = &[
    "/chat/completions",
    "/responses",
    "/messages",
    "/completions",
];

impl BaseUrl {
    /// Checks a URL.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn new(text: &str) -> Result<Self, BaseUrlError> {
        let form = |why| Err(BaseUrlError::Form(why));
        if text
            .chars()
            .any(|char| char.is_whitespace() || is_invisible(char))
        {
            return form("a URL has no blanks and no control characters");
        }
        let Ok(url) = Url::parse(text) else {
            return form("write the whole URL: `https://host/path`");
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(BaseUrlError::Credentials);
        }
        let is_encrypted = match url.scheme() {
            "https" => true,
            "http" => false,
            _ => return form("it begins with `https://`, or `http://` for this machine"),
        };
        if url.query().is_some() || url.fragment().is_some() {
            return form("it ends with the path of the API, without `?` and `#`");
        }
        let Some(host) = url.host() else {
            return form("it has no host");
        };
        let exposure = match (is_encrypted, is_loopback(&host)) {
            (true, _) => Exposure::Encrypted,
            (false, true) => Exposure::Local,
            (false, false) => Exposure::Open,
        };
        let text = url.as_str().trim_end_matches('/');
        if ADDED_PATHS.iter().any(|path| text.ends_with(path)) {
            return form("leave the last part out: podward adds it itself");
        }
        Ok(Self {
            text: text.into(),
            exposure,
        })
    }

    /// The URL.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Who could read what is sent there.
    #[must_use]
    pub const fn exposure(&self) -> Exposure {
        self.exposure
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Whether a host is this machine whatever a name server says.
fn is_loopback(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => *name == "localhost",
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => {
            address.is_loopback()
                || address
                    .to_ipv4_mapped()
                    .is_some_and(|address| address.is_loopback())
        }
    }
}

/// A pattern over `provider/model`: `*` is any run of characters, `?` is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelPattern {
    text: Arc<str>,
    glob: glob::Pattern,
}

/// The words that a pattern can begin with.
pub(crate) const PROVIDERS: &[Provider] = &[
    Provider::Anthropic,
    Provider::OpenAi,
    Provider::OpenAiResponses,
];

impl ModelPattern {
    /// Checks a pattern.
    ///
    /// # Errors
    /// What to write instead.
    pub fn new(text: &str) -> Result<Self, String> {
        let Some((provider, _)) = text.split_once('/') else {
            return Err(
                "write `provider/model`: `anthropic/*`, `openai/gpt-*`, or `*/*` for all"
                    .to_owned(),
            );
        };
        let names = || PROVIDERS.iter().map(|provider| provider.as_str());
        if !provider.contains(['*', '?', '[']) && !names().any(|name| name == provider) {
            return Err(match crate::suggestion::nearest(provider, names()) {
                Some(name) => format!("did you mean the provider `{name}`?"),
                None => format!("the providers are {}", crate::suggestion::all_of(names())),
            });
        }
        let glob = glob::Pattern::new(text).map_err(|error| error.msg.to_owned())?;
        Ok(Self {
            text: text.into(),
            glob,
        })
    }

    /// Whether a model is one of these.
    #[must_use]
    pub fn matches(&self, model: &RemoteModel) -> bool {
        let name = format!("{}/{}", model.provider.as_str(), model.model);
        self.glob.matches(&name)
    }

    /// The pattern.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}
