//! A URL in a call's arguments: one spelling, by which it is judged and fetched.
//!
//! The `url` crate (the WHATWG URL Standard) lower-cases scheme and host, applies IDNA, drops the
//! default port, resolves dot segments and reads numeric hosts as IPv4. What it leaves is done
//! here: the dot after a host, IPv4 inside IPv6, user info, the fragment, and percent-encoding
//! of characters that need none (RFC 3986, 6.2.2).

mod in_command;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use podward_policy::{ByteSpan, Need, Operation, Subject, Text, ToolName, UrlSubject};
use url::{Host, Position, Url};

use crate::error::{BadArguments, shown};
use crate::lower::path::Target;
use crate::lower::{full, names};
use crate::tool::Place;
use crate::web_fetch::public::carried;
use crate::web_fetch::resolve::{LOCALHOST, is_localhost};

pub(crate) use in_command::{Fetched, fetched};

/// More than any server reads.
const URL_MAX: usize = 16 * 1024;

const SCHEMES: &str = "it begins with `https://`, `http://` or `file:///`";

/// A URL in its one spelling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    url: Url,
    user_info: UserInfo,
    /// The file that a `file:` URL names.
    file: Option<Target>,
}

/// Whether a URL was written with a user or a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UserInfo {
    Absent,
    Dropped,
}

impl Address {
    /// Reads the argument `key` of a call as a URL.
    pub(crate) fn parse(
        tool: &ToolName,
        key: &str,
        raw: &str,
        place: &Place,
    ) -> Result<Self, BadArguments> {
        let bad = |problem: String| BadArguments::new(tool, format!("`{key}` {problem}"));
        if raw.len() > URL_MAX {
            return Err(bad(format!("is longer than {URL_MAX} bytes")));
        }
        let mut url = Url::parse(raw)
            .map_err(|error| bad(format!("is no URL: {error}")).with_hint(SCHEMES))?;
        match url.scheme() {
            "http" | "https" => {
                let user_info = drop_user_info(&mut url);
                let url =
                    canonical(url).ok_or_else(|| bad("has no usable host name".to_owned()))?;
                Ok(Self {
                    url,
                    user_info,
                    file: None,
                })
            }
            "file" => {
                let path = (url.host().is_none())
                    .then(|| url.to_file_path().ok())
                    .flatten()
                    .ok_or_else(|| bad("names no file of this machine".to_owned()))?;
                let path = path
                    .to_str()
                    .ok_or_else(|| bad("names a file whose name is not UTF-8".to_owned()))?;
                let file = Target::parse(tool, key, path, place)?;
                let url = Url::from_file_path(file.lexical())
                    .map_err(|()| bad("names no file of this machine".to_owned()))?;
                Ok(Self {
                    url: respelled(&url).unwrap_or(url),
                    user_info: UserInfo::Absent,
                    file: Some(file),
                })
            }
            other => Err(bad(format!("has the scheme `{}`", shown(other))).with_hint(SCHEMES)),
        }
    }

    /// The URL, as it is fetched.
    pub(crate) const fn url(&self) -> &Url {
        &self.url
    }

    /// The file that a `file:` URL names.
    pub(crate) const fn file(&self) -> Option<&Target> {
        self.file.as_ref()
    }

    /// The operations of connecting to addresses that this URL's host or a redirect led to: the
    /// same URL at each, which a rule has to name.
    pub(crate) fn operations_at(&self, tool: &ToolName, addresses: &[IpAddr]) -> Vec<Operation> {
        let at = |address: IpAddr| {
            let mut url = self.url.clone();
            // It fails only for a URL without a host.
            url.set_ip_host(address).ok()?;
            Some(Self {
                url,
                ..self.clone()
            })
        };
        let mut operations = Vec::new();
        for address in addresses.iter().copied() {
            let named = at(address).map(|at| at.operations(tool));
            operations.extend(named.into_iter().flatten().map(|operation| Operation {
                need: match operation.need {
                    Need::Full => Need::Named,
                    need => need,
                },
                ..operation
            }));
        }
        operations
    }

    /// The operations of a call of `tool` on this URL.
    pub(crate) fn operations(&self, tool: &ToolName) -> Vec<Operation> {
        let mut operations = vec![full(tool.clone(), self.subject(&self.url))];
        let decoded = decoded(&self.url);
        let unicode = unicode_host(&self.url);
        let in_unicode = [
            Some(&self.url),
            decoded.as_ref().map(|decoded| &decoded.url),
        ]
        .into_iter()
        .flatten()
        .zip(unicode.iter().cycle())
        .map(|(url, host)| self.subject_at(url, host));
        let restrictive = |subject| Operation {
            need: Need::Restrictive,
            ..full(tool.clone(), subject)
        };
        if let Some(decoded) = &decoded {
            let subject = self.subject(&decoded.url);
            operations.push(match decoded.climbs {
                // Where it arrives needs an allow of its own, or one for a directory would be one
                // for those beside it.
                true => full(tool.clone(), subject),
                false => restrictive(subject),
            });
        }
        operations.extend(in_unicode.map(restrictive));
        operations.extend(
            other_addresses(&self.url)
                .iter()
                .map(|url| restrictive(self.subject(url))),
        );
        if let Some(file) = &self.file {
            let read = file.operations(&names::built_in(names::READ), &[]);
            operations.extend(read.into_iter().map(|operation| Operation {
                need: Need::Restrictive,
                ..operation
            }));
        }
        operations
    }

    fn subject(&self, url: &Url) -> Subject {
        self.subject_at(url, &url[Position::BeforeHost..Position::AfterHost])
    }

    /// The URL with its host as `host` spells it.
    fn subject_at(&self, url: &Url, host: &str) -> Subject {
        let before = &url[..Position::BeforeHost];
        let text = format!("{before}{host}{}", &url[Position::AfterHost..]);
        Subject::Url(UrlSubject {
            text: Text::known(text),
            host: ByteSpan::new(before.len()..before.len() + host.len()),
            has_user_info: self.user_info == UserInfo::Dropped,
        })
    }
}

/// The URL at the addresses that its host stands for without a look-up: a rule may be written so.
fn other_addresses(url: &Url) -> Vec<Url> {
    let here = || LOCALHOST.to_vec();
    let addresses = match url.host() {
        Some(Host::Domain(name)) if is_localhost(name) => here(),
        Some(Host::Ipv4(address)) if address.is_unspecified() => here(),
        Some(Host::Ipv6(address)) if address.is_unspecified() => here(),
        Some(Host::Ipv6(address)) => carried(address.into())
            .map(IpAddr::from)
            .into_iter()
            .collect(),
        Some(Host::Domain(_) | Host::Ipv4(_)) | None => Vec::new(),
    };
    let at = |address: IpAddr| {
        let mut url = url.clone();
        // It fails only for a URL without a host.
        url.set_ip_host(address).ok()?;
        Some(url)
    };
    addresses.into_iter().filter_map(at).collect()
}

/// The host in its own letters, where its canonical spelling is Punycode: a rule may be written so.
fn unicode_host(url: &Url) -> Option<String> {
    in_own_letters(url.host_str()?)
}

/// The same for the name of a host.
fn in_own_letters(host: &str) -> Option<String> {
    if !host.contains("xn--") {
        return None;
    }
    let (unicode, _) = idna::domain_to_unicode(host);
    (unicode != host).then_some(unicode)
}

fn drop_user_info(url: &mut Url) -> UserInfo {
    if url.username().is_empty() && url.password().is_none() {
        return UserInfo::Absent;
    }
    // They fail only for a URL without a host, and the schemes here always have one.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    UserInfo::Dropped
}

/// The canonical spelling of an `http` or `https` URL; `None` if its host is none.
fn canonical(mut url: Url) -> Option<Url> {
    url.set_fragment(None);
    match url.host()? {
        Host::Domain(domain) => {
            let bare = domain.strip_suffix('.').unwrap_or(domain).to_owned();
            if bare.split('.').any(str::is_empty) {
                return None;
            }
            if bare.len() != domain.len() {
                url.set_host(Some(&bare)).ok()?;
            }
        }
        Host::Ipv6(address) => {
            if let Some(inner) = embedded_ipv4(address) {
                url.set_ip_host(inner.into()).ok()?;
            }
        }
        Host::Ipv4(_) => {}
    }
    respelled(&url)
}

/// The IPv4 address inside an IPv4-mapped (`::ffff:a.b.c.d`) or the obsolete IPv4-compatible
/// (`::a.b.c.d`) IPv6 address (RFC 4291, 2.5.5). `::` and `::1` are themselves.
fn embedded_ipv4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    address.to_ipv4_mapped().or_else(|| {
        let is_own = address.is_unspecified() || address.is_loopback();
        (!is_own).then(|| address.to_ipv4()).flatten()
    })
}

/// The URL with percent-encoding in its one form: none where the character needs none, and
/// upper-case digits elsewhere.
fn respelled(url: &Url) -> Option<Url> {
    let after_host = &url[Position::BeforePath..];
    if !after_host.contains('%') {
        return Some(url.clone());
    }
    let respelled = percent_decoded(after_host, |byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
    });
    let text = format!("{}{respelled}", &url[..Position::BeforePath]);
    Url::parse(&text).ok()
}

/// A URL as a server that decodes its path once more would see it.
struct Decoded {
    url: Url,
    /// Its path has `..` that are none before.
    climbs: bool,
}

/// The URL as a server that decodes its path once more would see it, if that is another one.
fn decoded(url: &Url) -> Option<Decoded> {
    let path = url.path();
    if !path.contains('%') && !path.contains("//") {
        return None;
    }
    // Not decoded: what would end the path, and what no URL can hold.
    let decoded = percent_decoded(path, |byte| {
        !byte.is_ascii_control() && byte.is_ascii() && !matches!(byte, b'?' | b'#' | b'%')
    });
    let mut single = String::with_capacity(decoded.len());
    for char in decoded.chars() {
        if !(matches!(char, '/' | '\\') && single.ends_with('/')) {
            single.push(if char == '\\' { '/' } else { char });
        }
    }
    let mut other = url.clone();
    other.set_path(&single);
    (other != *url).then(|| Decoded {
        url: other,
        climbs: single.split('/').any(|segment| segment == ".."),
    })
}

/// The text with those `%XX` decoded whose byte may be, and the others in upper case.
fn percent_decoded(text: &str, may: impl Fn(u8) -> bool) -> String {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        decoded.push_str(before);
        let Some((byte, tail)) = escape(after) else {
            decoded.push('%');
            rest = after;
            continue;
        };
        if may(byte) {
            decoded.push(char::from(byte));
        } else {
            decoded.push_str(&format!("%{byte:02X}"));
        }
        rest = tail;
    }
    decoded.push_str(rest);
    decoded
}

/// The byte of two hexadecimal digits at the start, and what follows them.
fn escape(text: &str) -> Option<(u8, &str)> {
    let (digits, tail) = text.split_at_checked(2)?;
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    Some((u8::from_str_radix(digits, 16).ok()?, tail))
}

#[cfg(test)]
mod tests;
