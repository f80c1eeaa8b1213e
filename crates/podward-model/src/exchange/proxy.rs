//! The proxy that the environment names. One that cannot be used is an error: a request never goes
//! past it.

use std::ffi::OsString;

use reqwest::{NoProxy, Proxy, Url};

use crate::error::ModelError;

/// The proxy for URLs of a scheme, if there is one.
///
/// # Errors
/// What a variable holds is no URL of a proxy; the error names the variable only, since proxies
/// have passwords.
pub(super) fn of_environment(scheme: &str) -> Result<Option<Proxy>, ModelError> {
    let Some((name, url)) = named(scheme, |name| std::env::var_os(name))? else {
        return Ok(None);
    };
    let proxy = Proxy::all(url).map_err(|_| wrong(name, "cannot be used"))?;
    Ok(Some(proxy.no_proxy(NoProxy::from_env())))
}

/// The variable that counts and the URL in it. An empty variable names none.
fn named(
    scheme: &str,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<Option<(&'static str, Url)>, ModelError> {
    let own: &[_] = match scheme {
        "https" => &["HTTPS_PROXY", "https_proxy"],
        // A web server that starts programs puts a header of its client into the former.
        _ if variable("REQUEST_METHOD").is_some() => &["http_proxy"],
        _ => &["HTTP_PROXY", "http_proxy"],
    };
    let all: &[_] = &["ALL_PROXY", "all_proxy"];
    for names in [own, all] {
        let mut names = names.iter().copied();
        let set = names.find_map(|name| Some((name, variable(name)?)));
        let Some((name, value)) = set.filter(|(_, value)| !value.is_empty()) else {
            continue;
        };
        return url(name, &value).map(|url| Some((name, url)));
    }
    Ok(None)
}

fn url(name: &'static str, value: &OsString) -> Result<Url, ModelError> {
    let text = value.to_str().ok_or_else(|| wrong(name, "is not UTF-8"))?;
    let text = text.trim();
    let url = match text.contains("://") {
        true => Url::parse(text),
        false => Url::parse(&format!("http://{text}")),
    };
    let url = url.map_err(|error| wrong(name, &format!("is no URL: {error}")))?;
    match url.scheme() {
        "http" | "https" => Ok(url),
        _ => Err(wrong(name, "begins with neither `http://` nor `https://`")),
    }
}

fn wrong(name: &str, why: &str) -> ModelError {
    ModelError::Settings {
        message: format!("the proxy in `{name}` {why}; correct or unset it"),
    }
}

#[cfg(test)]
mod tests;
