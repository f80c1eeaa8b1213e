//! URLs that a program fetches.

use podward_policy::OperationIdx;

use crate::arg::{Arg, Part, Source};
use crate::calls::Call;
use crate::programs::Role;
use crate::walk::Walker;

/// As many URLs as are told apart in one word.
const MOST_URLS: usize = 16;

impl Walker<'_, '_> {
    /// `GET`, a URL, or something to send such as `name=value` and `name@file`.
    pub(super) fn http_item(&mut self, call: &Call<'_>, idx: OperationIdx, value: &Arg) {
        let text = value.prefix();
        let is_method = text.bytes().all(|byte| byte.is_ascii_uppercase());
        if is_method && value.known().is_some() {
            return;
        }
        let before_path = text.split(['/', '?']).next().unwrap_or_default();
        let is_item = before_path.contains(['=', '@']) && !text.contains("://");
        let is_header = !is_item
            && text.split_once(':').is_some_and(|(name, rest)| {
                !name.is_empty()
                    && !name.contains('.')
                    && !rest.starts_with("//")
                    && !rest.starts_with(|c: char| c.is_ascii_digit())
            });
        if is_item {
            self.use_place(call, idx, Role::AtFile, value);
        } else if !is_header {
            self.use_url(call, idx, value);
        }
    }

    pub(super) fn use_url(&mut self, call: &Call<'_>, idx: OperationIdx, value: &Arg) {
        if call.elsewhere {
            return;
        }
        let bases = self.bases.clone();
        let program = call.args.first().and_then(Arg::program);
        let base = program.as_deref().and_then(|name| name.rsplit('/').next());
        // `git+https://…`, as pip writes it.
        let scheme = value.prefix().split("://").next().unwrap_or_default();
        let value = match scheme
            .find('+')
            .filter(|_| scheme.len() < value.prefix().len())
        {
            Some(at) => &value.without_prefix(at + 1),
            None => value,
        };
        let value = match default_scheme(call, base) {
            Some(scheme) if !value.prefix().contains("://") => {
                let mut url = Arg::known_text(&format!("{scheme}://"), value.span);
                url.append(value.clone());
                url
            }
            _ => value.clone(),
        };
        let urls = match base == Some("curl") {
            true if !call.args.iter().any(switches_globs_off) => globbed(&value),
            _ => vec![value],
        };
        for url in urls {
            if !self.sink.fetch(&url, &bases) {
                self.sink.partial(idx, "a URL is not known before it runs");
            }
        }
    }
}

/// The scheme of a URL that is written without one, where it is not `http`.
fn default_scheme<'c>(call: &'c Call<'_>, program: Option<&str>) -> Option<&'c str> {
    match program {
        Some("https" | "xhs") => Some("https"),
        Some("curl") => {
            let is_set = |arg: &&Arg| arg.known() == Some("--proto-default");
            let mut args = call.args.iter().skip_while(|arg| !is_set(arg)).skip(1);
            args.next().and_then(Arg::known)
        }
        _ => None,
    }
}

fn switches_globs_off(arg: &Arg) -> bool {
    matches!(arg.known(), Some("--globoff" | "-g"))
}

/// The URLs that curl makes of `{a,b}` and `[1-3]`.
fn globbed(url: &Arg) -> Vec<Arg> {
    let mut urls = vec![Arg::empty(url.span)];
    let push_all = |urls: &mut Vec<Arg>, part: &Part| {
        for url in urls {
            url.push(part.clone());
        }
    };
    for part in url.parts() {
        let Part::Known(text) = part else {
            push_all(&mut urls, part);
            continue;
        };
        let mut rest = text.as_str();
        while let Some(at) = rest.find(['{', '[']) {
            let (before, group) = rest.split_at(at);
            push_all(&mut urls, &Part::Known(before.to_owned()));
            let close = if group.starts_with('{') { '}' } else { ']' };
            let Some((inner, after)) = group.get(1..).and_then(|g| g.split_once(close)) else {
                push_all(&mut urls, &Part::Known(group.to_owned()));
                rest = "";
                break;
            };
            rest = after;
            let alternatives = match close {
                ']' => range(inner),
                _ => inner.split(',').map(str::to_owned).collect(),
            };
            if close == ']' && inner.contains(':') {
                // An address of IPv6.
                push_all(&mut urls, &Part::Known(format!("[{inner}]")));
            } else if !alternatives.is_empty() && urls.len() * alternatives.len() <= MOST_URLS {
                urls = alternatives
                    .iter()
                    .flat_map(|alternative| {
                        urls.iter().map(|url| {
                            let mut url = url.clone();
                            url.push(Part::Known(alternative.clone()));
                            url
                        })
                    })
                    .collect();
            } else {
                let any = Part::Hole(podward_policy::HoleKind::Quoted, Source::Value);
                push_all(&mut urls, &any);
            }
        }
        push_all(&mut urls, &Part::Known(rest.to_owned()));
    }
    urls
}

/// The values of `1-3` and `a-c`; none if they are too many, or written otherwise.
fn range(text: &str) -> Vec<String> {
    let Some((first, last)) = text.split_once('-') else {
        return Vec::new();
    };
    if let (Ok(first), Ok(last)) = (first.parse::<usize>(), last.parse::<usize>()) {
        let is_small = last.saturating_sub(first) < MOST_URLS;
        return match is_small {
            true => (first..=last).map(|n| n.to_string()).collect(),
            false => Vec::new(),
        };
    }
    match (first.as_bytes(), last.as_bytes()) {
        ([first], [last]) if first.is_ascii_alphabetic() && last.is_ascii_alphabetic() => (*first
            ..=*last)
            .map(|c| char::from(c).to_string())
            .collect(),
        _ => Vec::new(),
    }
}
