//! `[model]` of one layer.

use podward_policy::ByteSpan;

use super::PathBase;
use crate::diagnostic::Diagnostic;
use crate::environment::VariableName;
use crate::model::{
    BaseUrl, BaseUrlError, KeyCommand, KeySource, ModelName, ModelPattern, Provider, Script,
};
use crate::reader::{Reader, Sited, Table};
use crate::suggestion::quoted;

/// `[model]`.
#[derive(Debug, Default)]
pub(crate) struct RawModel {
    pub(crate) provider: Option<Sited<RawProvider>>,
    pub(crate) script: Option<Sited<Script>>,
    pub(crate) model: Option<Sited<ModelName>>,
    pub(crate) base_url: Option<Sited<BaseUrl>>,
    /// Whichever of `key_env`, `key_file` and `key_command` is there.
    pub(crate) key: Option<Sited<KeySource>>,
    pub(crate) max_tokens: Option<Sited<u32>>,
    pub(crate) system: Option<Sited<String>>,
    pub(crate) allow: Option<Sited<Vec<Sited<ModelPattern>>>>,
}

/// Who answers the requests of a pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RawProvider {
    Scripted,
    Remote(Provider),
}

impl RawProvider {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Scripted => "scripted",
            Self::Remote(provider) => provider.as_str(),
        }
    }
}

pub(super) fn model(table: &Table<'_>, reader: &mut Reader<'_>, base: PathBase<'_>) -> RawModel {
    let providers = [
        RawProvider::Remote(Provider::Anthropic),
        RawProvider::Remote(Provider::OpenAi),
        RawProvider::Remote(Provider::OpenAiResponses),
        RawProvider::Scripted,
    ];
    let providers = providers.map(|provider| (provider.as_str(), provider));
    RawModel {
        provider: reader.word(table, "provider", &providers),
        script: reader.parsed(table, "script", |script| base.script(script)),
        model: reader.parsed(table, "model", |name| {
            ModelName::new(name).map_err(str::to_owned)
        }),
        base_url: base_url(table, reader),
        key: key(table, reader, base),
        max_tokens: reader.count(table, "max_tokens", 1..=1_000_000),
        system: reader.text(table, "system"),
        allow: reader.texts(table, "allow", |pattern| {
            ModelPattern::new(pattern)
                .map_err(|why| (format!("`allow` cannot hold {}", quoted(pattern)), why))
        }),
    }
}

/// What has a password in it is not repeated.
fn base_url(table: &Table<'_>, reader: &mut Reader<'_>) -> Option<Sited<BaseUrl>> {
    let text = reader.text(table, "base_url")?;
    match BaseUrl::new(&text.value) {
        Ok(url) => Some(text.map(|_| url)),
        Err(error @ BaseUrlError::Credentials) => {
            let place = reader.place(text.span).masked();
            let message = "`base_url` has a user or a password in it";
            reader.report(Diagnostic::error(message, place).with_help(error.to_string()));
            None
        }
        Err(BaseUrlError::Form(why)) => {
            let message = format!("`base_url` cannot be {}", quoted(&text.value));
            reader.error(text.span, message, why);
            None
        }
    }
}

/// At most one of the three.
fn key(table: &Table<'_>, reader: &mut Reader<'_>, base: PathBase<'_>) -> Option<Sited<KeySource>> {
    let sources = [
        key_env(table, reader),
        key_file(table, reader, base),
        key_command(table, reader, base),
    ];
    let mut sources: Vec<_> = sources.into_iter().flatten().collect();
    sources.sort_by_key(|source| source.key.start);
    let mut sources = sources.into_iter();
    let first = sources.next()?;
    for other in sources {
        let (one, two) = (first.value.key(), other.value.key());
        let message = format!("`{one}` and `{two}` are both set");
        let diagnostic = Diagnostic::error(message, reader.place(other.key))
            .with_related("first here", reader.place(first.key))
            .with_help("the key comes from one place: remove one of the two");
        reader.report(diagnostic);
    }
    Some(first)
}

/// What is no variable's name may be the key itself: no message repeats it.
fn key_env(table: &Table<'_>, reader: &mut Reader<'_>) -> Option<Sited<KeySource>> {
    let text = reader.text(table, "key_env")?;
    if text.value.is_empty() {
        return Some(text.map(|_| KeySource::Nowhere));
    }
    match VariableName::new(&text.value) {
        Ok(name) => Some(text.map(|_| KeySource::Variable(name))),
        Err(error) => {
            let message = format!("`key_env` is not the name of a variable: {error}");
            let help = "put the key into a variable and write the variable's name here: a key does not belong in a manifest";
            masked(reader, text.span, message, help);
            None
        }
    }
}

fn key_file(
    table: &Table<'_>,
    reader: &mut Reader<'_>,
    base: PathBase<'_>,
) -> Option<Sited<KeySource>> {
    let text = reader.text(table, "key_file")?;
    if may_be_a_key(&text.value) {
        let message = "`key_file` looks like the key itself".to_owned();
        let help = "put the key into a file and write its path here, with a `/` in it: a key does not belong in a manifest";
        masked(reader, text.span, message, help);
        return None;
    }
    // Without the `.` of `./key`: messages name it.
    let path = reader.parsed(table, "key_file", |path| {
        Ok(base.absolute(path)?.components().collect())
    })?;
    Some(path.map(KeySource::File))
}

fn key_command(
    table: &Table<'_>,
    reader: &mut Reader<'_>,
    base: PathBase<'_>,
) -> Option<Sited<KeySource>> {
    let list = reader.words(table, "key_command")?;
    if list
        .value
        .iter()
        .any(|word| word.starts_with("sk-") && may_be_a_key(word))
    {
        let message = "`key_command` looks as if the key itself were in it".to_owned();
        let help = "write a command that prints the key: a key does not belong in a manifest";
        masked(reader, list.span, message, help);
        return None;
    }
    let Some((program, arguments)) = list.value.split_first() else {
        let help = "write a program and its arguments: `key_command = [\"pass\", \"show\", \"anthropic\"]`";
        reader.error(list.span, "`key_command` is empty".to_owned(), help);
        return None;
    };
    let program = match base.program(program) {
        Ok(program) => program,
        Err(why) => {
            let message = format!("`key_command` cannot start {}", quoted(program));
            reader.error(list.span, message, why);
            return None;
        }
    };
    let argv = std::iter::once(program)
        .chain(arguments.iter().cloned())
        .collect();
    let directory = base.directory.to_path_buf();
    let location = reader.place(list.span).location;
    let command = KeyCommand {
        argv,
        directory,
        location,
    };
    Some(list.map(|_| KeySource::Command(command)))
}

fn masked(reader: &mut Reader<'_>, span: ByteSpan, message: String, help: &str) {
    let place = reader.place(span).masked();
    reader.report(Diagnostic::error(message, place).with_help(help));
}

/// Long, and made of nothing but what keys are made of.
fn may_be_a_key(text: &str) -> bool {
    let is_of_keys = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    text.len() >= 20 && text.bytes().all(is_of_keys) && text.bytes().any(|b| b.is_ascii_digit())
}
