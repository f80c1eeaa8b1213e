//! `[model]` of all layers.
//!
//! A layer that names another provider than the layers around it begins anew: their model, URL and
//! key are not for it. A key goes only where the layer that gives it says.

use crate::diagnostic::Diagnostic;
use crate::join::{Join, Joined, Site, key};
use crate::limits::DEFAULT_MAX_TOKENS;
use crate::model::{BaseUrl, Exposure, Key, KeySource, Model, ModelName, RemoteModel, Script};
use crate::raw::{RawManifest, RawModel, RawProvider};
use crate::reader::Sited;
use crate::resolved::KeyPlaces;
use crate::suggestion::all_of;

/// What decides whether a key is missing.
const DESTINATION_AND_KEY: &[&str] = &["base_url", "key_env", "key_file", "key_command"];

/// `[model]` without `system`.
pub(super) struct Joint {
    pub(super) model: Model,
    pub(super) key: Option<Key>,
    pub(super) key_places: KeyPlaces,
    pub(super) max_tokens: u32,
}

/// What the layers that count say.
struct Said {
    /// The outermost layer that counts; what the machine's layer fixes counts always.
    begin: usize,
    provider: Option<Joined<RawProvider>>,
    script: Option<Joined<Script>>,
    name: Option<Joined<ModelName>>,
    base_url: Option<Joined<BaseUrl>>,
    key: Option<Joined<KeySource>>,
}

pub(super) fn model(join: &mut Join<'_>) -> Joint {
    let begin = begin(join);
    let said = Said {
        begin,
        provider: join.nearest_if_set(key("model", "provider"), |raw| raw.model.provider.as_ref()),
        script: join.nearest_since(begin, key("model", "script"), |raw| {
            raw.model.script.as_ref()
        }),
        name: join.nearest_since(begin, key("model", "model"), |raw| raw.model.model.as_ref()),
        base_url: join.nearest_since(begin, key("model", "base_url"), |raw| {
            raw.model.base_url.as_ref()
        }),
        key: nearest_key(join, begin),
    };
    let max_tokens = join.nearest(
        key("model", "max_tokens"),
        |raw| raw.model.max_tokens.as_ref(),
        DEFAULT_MAX_TOKENS,
    );
    base_urls_below_allow(join);
    let model = said.model(join);
    if let Model::Remote(remote) = &model {
        said.check_key(join, remote);
        check_allowed(join, &said, remote);
    }
    show_allow(join);
    let key = said.key.and_then(|joined| {
        let place = joined.site.and_then(|site| join.place(site))?;
        Some(Key {
            source: joined.value,
            location: place.location,
        })
    });
    Joint {
        model,
        key: key.filter(|key| key.source != KeySource::Nowhere),
        key_places: key_places(join),
        max_tokens,
    }
}

/// The outermost layer since which no layer names another provider.
fn begin(join: &Join<'_>) -> usize {
    let mut begin = 0;
    let mut current = None;
    for (layer_idx, raw) in join.raws() {
        let Some(provider) = &raw.model.provider else {
            continue;
        };
        if current.is_some_and(|current| current != provider.value) {
            begin = layer_idx;
        }
        current = Some(provider.value);
    }
    begin
}

/// The nearest key, whichever way it is given; one way that is fixed fixes all three.
fn nearest_key(join: &mut Join<'_>, begin: usize) -> Option<Joined<KeySource>> {
    let mut nearest = None;
    for name in ["key_env", "key_file", "key_command"] {
        // A way that the machine's layer fixes counts although another provider was named since.
        let found = join.nearest_unshown(begin, key("model", name), |raw| raw.model.key.as_ref());
        nearest = nearest.or(found);
    }
    let nearest: Joined<KeySource> = nearest?;
    join.show(key("model", nearest.value.key()), &nearest);
    Some(nearest)
}

/// Where any layer says that a key is.
fn key_places(join: &Join<'_>) -> KeyPlaces {
    let mut places = KeyPlaces::default();
    for (_, raw) in join.raws() {
        match raw.model.key.as_ref().map(|key| &key.value) {
            Some(KeySource::Variable(name)) => places.variables.push(name.clone()),
            Some(KeySource::File(path)) => places.files.push(path.clone()),
            Some(KeySource::Command(command)) => places.commands.push(command.clone()),
            Some(KeySource::Nowhere) | None => {}
        }
    }
    places.variables.sort();
    places.variables.dedup();
    places.files.sort();
    places.files.dedup();
    places
}

impl Said {
    fn model(&self, join: &mut Join<'_>) -> Model {
        let provider = match (&self.provider, &self.script, &self.name) {
            (Some(provider), _, _) => provider,
            // What it says was reported.
            (None, _, _) if is_written_wrong(join, &["provider"]) => return Model::Undeclared,
            (None, Some(script), _) => {
                let help = "write `provider = \"scripted\"`";
                report(join, script.site, "a `script` needs a `provider`", help);
                return Model::Undeclared;
            }
            (None, None, Some(name)) => {
                let help = "write `provider = \"anthropic\"`, `\"openai\"` (and whatever is compatible) or `\"openai-responses\"`";
                report(join, name.site, "a `model` needs a `provider`", help);
                return Model::Undeclared;
            }
            (None, None, None) => return Model::Undeclared,
        };
        not_for_this_provider(join, provider);
        match provider.value {
            RawProvider::Scripted => match &self.script {
                Some(script) => Model::Scripted(script.value.clone()),
                None if is_written_wrong(join, &["script"]) => Model::Undeclared,
                None => {
                    let message = "the provider `scripted` needs a `script`";
                    let help = "write `script = \"demo\"`, or the path of a script";
                    report(join, provider.site, message, help);
                    Model::Undeclared
                }
            },
            RawProvider::Remote(remote) => match &self.name {
                Some(name) => Model::Remote(RemoteModel {
                    provider: remote,
                    model: name.value.clone(),
                    base_url: self.base_url.as_ref().map(|url| url.value.clone()),
                }),
                None if is_written_wrong(join, &["model"]) => Model::Undeclared,
                None => {
                    let message = format!("the provider `{}` needs a `model`", remote.as_str());
                    let help = format!(
                        "write `model = \"{}\"`, or the name of another of its models",
                        remote.some_model()
                    );
                    report(join, provider.site, message, help);
                    Model::Undeclared
                }
            },
        }
    }

    /// Whether the key goes where its own layer says, and nobody on the way can read it.
    fn check_key(&self, join: &mut Join<'_>, remote: &RemoteModel) {
        let key = self
            .key
            .as_ref()
            .filter(|key| key.value != KeySource::Nowhere);
        let Some(key) = key else {
            if remote.base_url.is_none() && !is_written_wrong(join, DESTINATION_AND_KEY) {
                let site = self.provider.as_ref().and_then(|provider| provider.site);
                let message = format!("the provider `{}` needs a key", remote.provider.as_str());
                let help = format!(
                    "write `key_env = \"{}\"`, `key_file` or `key_command`; or `base_url`, if the server is one of your own",
                    remote.provider.usual_variable()
                );
                report(join, site, message, help);
            }
            return;
        };
        self.check_destination(join, key, remote);
        if let Some(base_url) = &self.base_url
            && base_url.value.exposure() == Exposure::Open
        {
            let message = "the key would go over `http://`: everybody on the way could read it";
            let help =
                "write `https://`; without encryption a key only goes to this machine itself";
            report(join, base_url.site, message, help);
        }
    }

    fn check_destination(
        &self,
        join: &mut Join<'_>,
        key: &Joined<KeySource>,
        remote: &RemoteModel,
    ) {
        let Some(key_site) = key.site else { return };
        let at_key = |get: &dyn Fn(&RawModel) -> Option<String>| {
            let layers = join.raws().take(key_site.layer_idx + 1);
            layers
                .skip(self.begin)
                .filter_map(|(_, raw)| get(&raw.model))
                .last()
        };
        let provider = at_key(&|raw| raw.provider.as_ref().map(|it| it.value.as_str().to_owned()));
        let base_url = at_key(&|raw| raw.base_url.as_ref().map(|it| it.value.to_string()));
        let is_outer = |url: &Joined<BaseUrl>| {
            url.site
                .is_some_and(|site| site.layer_idx <= key_site.layer_idx)
        };
        let is_same_url = self.base_url.as_ref().is_none_or(is_outer)
            || base_url.as_deref() == remote.base_url.as_ref().map(BaseUrl::as_str);
        let provider_site = self.provider.as_ref().and_then(|provider| provider.site);
        let (key_name, word) = (key.value.key(), remote.provider.as_str());
        if provider.is_none() {
            let message = format!("`{key_name}` says where a key is, and not for whom");
            let help = format!(
                "a key goes only where its own layer says: write `provider = \"{word}\"` beside it"
            );
            self.report_key(
                join,
                key_site,
                message,
                "sent to this one",
                provider_site,
                help,
            );
        } else if !is_same_url {
            let url_site = self.base_url.as_ref().and_then(|url| url.site);
            let Some(url_site) = url_site else { return };
            let message = "the key of another layer would go to this URL".to_owned();
            let help = "a key goes only where its own layer says: give one here too, or `key_env = \"\"` for none".to_owned();
            self.report_key(join, url_site, message, "the key", Some(key_site), help);
        }
    }

    fn report_key(
        &self,
        join: &mut Join<'_>,
        site: Site,
        message: String,
        related: &str,
        related_site: Option<Site>,
        help: String,
    ) {
        let Some(place) = join.place(site) else {
            return;
        };
        let mut diagnostic = Diagnostic::error(message, place).with_help(help);
        if let Some(place) = related_site.and_then(|site| join.place(site)) {
            diagnostic = diagnostic.with_related(related, place);
        }
        join.diagnostics.push(diagnostic);
    }
}

/// Whether a layer has one of these keys and it cannot be read, which has an error of its own.
fn is_written_wrong(join: &Join<'_>, keys: &[&str]) -> bool {
    let is_wrong = |raw: &RawManifest, name: &str| match name {
        "provider" => raw.model.provider.is_none(),
        "model" => raw.model.model.is_none(),
        "base_url" => raw.model.base_url.is_none(),
        "script" => raw.model.script.is_none(),
        _ => raw.model.key.is_none(),
    };
    join.raws().any(|(_, raw)| {
        let set = raw.keys.iter();
        let names = set.filter_map(|key| key.value.strip_prefix("model."));
        names
            .filter(|name| keys.contains(name))
            .any(|name| is_wrong(raw, name))
    })
}

/// Reports keys beside a provider, in its own layer, that mean nothing to it.
fn not_for_this_provider(join: &mut Join<'_>, provider: &Joined<RawProvider>) {
    let Some(site) = provider.site else { return };
    let Some((_, raw)) = join.raws().nth(site.layer_idx) else {
        return;
    };
    let span = |key: &'static str, it: Option<podward_policy::ByteSpan>| Some((key, it?));
    let model = &raw.model;
    let foreign = match provider.value {
        RawProvider::Scripted => vec![
            span("model", model.model.as_ref().map(|it| it.key)),
            span("base_url", model.base_url.as_ref().map(|it| it.key)),
        ],
        RawProvider::Remote(_) => vec![span("script", model.script.as_ref().map(|it| it.key))],
    };
    for (name, span) in foreign.into_iter().flatten() {
        let site = Site {
            layer_idx: site.layer_idx,
            key: span,
        };
        let message = format!(
            "the provider `{}` has no use for `{name}`",
            provider.value.as_str()
        );
        report(
            join,
            Some(site),
            message,
            "leave it out, or write another `provider`",
        );
    }
}

/// Below a layer that says which models may be asked, no layer says where requests go.
fn base_urls_below_allow(join: &mut Join<'_>) {
    let mut allowed_by: Option<Site> = None;
    let mut found = Vec::new();
    for (layer_idx, raw) in join.raws() {
        let site = |key| Site { layer_idx, key };
        if let (Some(allow), Some(url)) = (allowed_by, &raw.model.base_url) {
            found.push((site(url.key), allow));
        }
        let own = raw.model.allow.as_ref().map(|allow| site(allow.key));
        allowed_by = allowed_by.or(own);
    }
    for (url, allow) in found {
        let (Some(place), Some(allow)) = (join.place(url), join.place(allow)) else {
            continue;
        };
        let message = "`base_url` cannot be set below `[model] allow`";
        let help = "the layer that says which models may be asked, or one further out, says where";
        let diagnostic = Diagnostic::error(message, place).with_related("allowed here", allow);
        join.diagnostics.push(diagnostic.with_help(help));
    }
}

/// Every `allow` of every layer has to name the model.
fn check_allowed(join: &mut Join<'_>, said: &Said, remote: &RemoteModel) {
    let refusing: Vec<_> = join
        .raws()
        .filter_map(|(layer_idx, raw)| {
            let allow = raw.model.allow.as_ref()?;
            let is_allowed = allow.value.iter().any(|item| item.value.matches(remote));
            let items = allow
                .value
                .iter()
                .map(|item| item.value.as_str().to_owned());
            let site = Site {
                layer_idx,
                key: allow.key,
            };
            (!is_allowed).then(|| (site, items.collect::<Vec<_>>()))
        })
        .collect();
    let site_of = |site: Option<Site>| site.map(|site| (site.layer_idx, site));
    let sites = [
        site_of(said.provider.as_ref().and_then(|it| it.site)),
        site_of(said.name.as_ref().and_then(|it| it.site)),
    ];
    // The nearer of the two brought the model about.
    let nearest = sites.into_iter().flatten().max_by_key(|(idx, _)| *idx);
    for (allow, items) in refusing {
        let (Some((_, site)), Some(allow)) = (nearest, join.place(allow)) else {
            continue;
        };
        let Some(place) = join.place(site) else {
            continue;
        };
        let message = format!(
            "the model `{}/{}` is not one of those that may be asked",
            remote.provider.as_str(),
            remote.model
        );
        let help = match items.is_empty() {
            true => "no model on a network may be".to_owned(),
            false => format!("these may: {}", all_of(items.iter().map(String::as_str))),
        };
        let diagnostic = Diagnostic::error(message, place).with_related("said here", allow);
        join.diagnostics.push(diagnostic.with_help(help));
    }
}

fn show_allow(join: &mut Join<'_>) {
    join.union(key("model", "allow"), |raw: &RawManifest| {
        raw.model.allow.as_ref()
    });
}

fn report(
    join: &mut Join<'_>,
    site: Option<Site>,
    message: impl Into<String>,
    help: impl Into<String>,
) {
    if let Some(place) = site.and_then(|site| join.place(site)) {
        join.diagnostics
            .push(Diagnostic::error(message, place).with_help(help));
    }
}

/// The variables with keys that every command would see.
pub(super) fn check_environment(join: &mut Join<'_>, is_passed: impl Fn(&str) -> bool) {
    let variables: Vec<(usize, Sited<KeySource>)> = join
        .raws()
        .filter_map(|(layer_idx, raw)| Some((layer_idx, raw.model.key.clone()?)))
        .collect();
    for (layer_idx, source) in variables {
        let KeySource::Variable(name) = &source.value else {
            continue;
        };
        if is_passed(name.as_str()) {
            let message =
                format!("every command would see `{name}`, the variable with the model's key");
            let help = "keep the key in a variable that `[environment] pass` and the built-in list do not name";
            let site = Site {
                layer_idx,
                key: source.key,
            };
            report(join, Some(site), message, help);
        }
    }
}

#[cfg(test)]
mod tests;
