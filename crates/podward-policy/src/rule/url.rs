//! Patterns for URLs (D4.4).

use std::ops::Range;

use crate::operation::UrlSubject;
use crate::pattern::{Glob, Hit, Kept, Token, Tokens};
use crate::text::{Text, TextBuilder};
use crate::work::{Exhausted, Work};

/// A pattern for URLs.
#[derive(Debug, Clone)]
pub(crate) enum UrlPattern<'a> {
    /// With `://`, part by part.
    Parts(&'a UrlParts),
    /// Without it, such as `data:*`: the pattern as it is.
    Opaque(Glob<'a>),
}

/// The parts of a pattern with `://`, in canonical spelling.
#[derive(Debug, Clone)]
pub(crate) struct UrlParts {
    /// What a restrictive rule matches: the canonical URL, taken as text.
    any: Any,
    /// Everything before the path is without wildcards.
    is_one_host: bool,
    /// The host is not wildcards only.
    names_host: bool,
    /// For hosts that are addresses, where nothing is registered: the host as it is written counts,
    /// for it does not begin with a wildcard.
    has_address: bool,
    /// The host must match one of these: none of them can extend the registrable host. `None`: the
    /// host as it is written is one that cannot.
    hosts: Option<Box<[Kept]>>,
}

#[derive(Debug, Clone)]
enum Any {
    /// As it is written, and where its parts end.
    Written {
        text: Box<str>,
        scheme_end: u16,
        host_end: u16,
        /// Where the path begins: behind the host, or behind the port.
        rest_start: u16,
        has_path: bool,
    },
    Tokens(Box<TokenParts>),
}

#[derive(Debug, Clone)]
struct TokenParts {
    any: Tokens,
    scheme: Tokens,
    host: Tokens,
    port: Option<Tokens>,
    /// From the first `/` after the host.
    rest: Tokens,
}

/// The parts that an allow is compared with.
struct Parts<'a> {
    scheme: Glob<'a>,
    host: Glob<'a>,
    port: Option<Glob<'a>>,
    rest: Glob<'a>,
}

impl UrlParts {
    /// `None`: the pattern has no `://`.
    pub(crate) fn new(tokens: &[Token]) -> Option<Self> {
        let places = Places::new(tokens, Token::literal)?;
        let of = |range: Range<usize>| tokens.get(range).unwrap_or_default();
        let scheme = lower(of(0..places.scheme_end));
        let host = lower(of(places.host()));
        let port = places.port.clone().map(|port| lower(of(port)));
        let rest = match of(places.rest_start..tokens.len()) {
            // A canonical URL always has a path.
            [] => vec![Token::Char('/')],
            rest => rest.to_vec(),
        };
        let [colon, slash] = [':', '/'].map(Token::Char);
        let mut any = [&*scheme, &[colon.clone(), slash.clone(), slash], &host].concat();
        if let Some(port) = &port {
            any.push(colon);
            any.extend_from_slice(port);
        }
        let is_one_host = !any.iter().any(Token::is_wildcard);
        any.extend_from_slice(&rest);
        let is_of_a_name = |token: &Token| token.literal().is_some_and(char::is_alphanumeric);
        Some(Self {
            is_one_host,
            names_host: host.iter().any(is_of_a_name),
            has_address: host.first().and_then(Token::literal).is_some(),
            hosts: other_hosts(&host),
            any: Any::Tokens(Box::new(TokenParts {
                any: Tokens::new(any, usize::from(places.rest_start == tokens.len())),
                scheme: Tokens::new(scheme, 0),
                host: Tokens::new(host, 0),
                port: port.map(|port| Tokens::new(port, 0)),
                rest: Tokens::new(rest, 0),
            })),
        })
    }

    /// The same of a pattern that is read as it is written and has no `**`.
    pub(crate) fn of_text(pattern: &str) -> Option<Self> {
        let is_wildcard = |c: char| matches!(c, '*' | '?');
        let literal = |byte: &u8| Some(char::from(*byte)).filter(|c| !is_wildcard(*c));
        let places = Places::new(pattern.as_bytes(), literal)?;
        let host = pattern.get(places.host())?;
        let rest = pattern.get(places.rest_start..)?;
        let mut text = pattern.get(..places.host_end)?.to_ascii_lowercase();
        let host_end = text.len();
        if let Some(port) = &places.port {
            text.push(':');
            text.push_str(&pattern.get(port.clone())?.to_ascii_lowercase());
        }
        let rest_start = text.len();
        let is_one_host = !text.contains(is_wildcard);
        text.push_str(if rest.is_empty() { "/" } else { rest });
        let end = |at: usize| u16::try_from(at).ok();
        Some(Self {
            is_one_host,
            names_host: host.contains(char::is_alphanumeric),
            has_address: host.starts_with(|c| !is_wildcard(c)),
            hosts: match host.rsplit_once('*') {
                Some((_, after)) if after.starts_with('.') && after.len() > 1 => None,
                Some(_) => other_hosts(&lower(&Glob::written(host).tokens())),
                None => None,
            },
            any: Any::Written {
                text: text.into_boxed_str(),
                scheme_end: end(places.scheme_end)?,
                host_end: end(host_end)?,
                rest_start: end(rest_start)?,
                has_path: !rest.is_empty(),
            },
        })
    }

    fn any(&self) -> Glob<'_> {
        match &self.any {
            Any::Written { text, has_path, .. } => {
                let n_optional = usize::from(!has_path);
                Glob::written_with_optional_end(text, text.len() - n_optional)
            }
            Any::Tokens(parts) => parts.any.glob(),
        }
    }

    fn parts(&self) -> Parts<'_> {
        match &self.any {
            Any::Written {
                text,
                scheme_end,
                host_end,
                rest_start,
                ..
            } => {
                let [scheme_end, host_end, rest_start] =
                    [scheme_end, host_end, rest_start].map(|at| usize::from(*at));
                let part = |range: Range<usize>| Glob::written(text.get(range).unwrap_or_default());
                Parts {
                    scheme: part(0..scheme_end),
                    host: part(scheme_end + 3..host_end),
                    port: (host_end < rest_start).then(|| part(host_end + 1..rest_start)),
                    rest: part(rest_start..text.len()),
                }
            }
            Any::Tokens(parts) => Parts {
                scheme: parts.scheme.glob(),
                host: parts.host.glob(),
                port: parts.port.as_ref().map(Tokens::glob),
                rest: parts.rest.glob(),
            },
        }
    }

    fn host_fits(&self, parts: &Parts<'_>, host: &str, work: &mut Work) -> Result<bool, Exhausted> {
        let as_written = self.hosts.is_none() || (self.has_address && is_address(host));
        if as_written && parts.host.matches(host, &(0..0), work)? {
            return Ok(true);
        }
        for covered in self.hosts.iter().flatten() {
            if covered.glob().matches(host, &(0..0), work)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl UrlPattern<'_> {
    /// What a restrictive rule matches: the canonical URL, taken as text.
    pub(crate) fn any(&self) -> Glob<'_> {
        match self {
            Self::Parts(parts) => parts.any(),
            Self::Opaque(glob) => glob.clone(),
        }
    }

    /// Whether the pattern names a scheme: without one it cannot match a URL with a host, unless
    /// it begins with a wildcard.
    pub(crate) const fn has_scheme(&self) -> bool {
        matches!(self, Self::Parts(_))
    }

    /// Whether a host of the pattern has characters that no canonical host has.
    pub(crate) fn has_foreign_host(&self) -> bool {
        match self {
            Self::Parts(parts) => parts
                .parts()
                .host
                .tokens()
                .iter()
                .any(|token| matches!(token, Token::Char(c) if !c.is_ascii())),
            Self::Opaque(_) => false,
        }
    }

    /// Whether the pattern, as an allow, covers just the URLs that it matches as text.
    pub(crate) fn is_exact_cover(&self) -> bool {
        match self {
            Self::Parts(parts) => parts.is_one_host,
            Self::Opaque(_) => false,
        }
    }

    /// Whether the pattern is about one host, written in full as everything before the path.
    pub(crate) const fn names_one_host(&self) -> bool {
        match self {
            Self::Parts(parts) => parts.is_one_host && parts.names_host,
            Self::Opaque(_) => false,
        }
    }

    /// Whether the pattern says something of the host.
    pub(crate) const fn names_host(&self) -> bool {
        match self {
            Self::Parts(parts) => parts.names_host,
            Self::Opaque(_) => false,
        }
    }

    /// Whether a restrictive rule matches.
    pub(crate) fn hit_any(&self, url: &UrlSubject, work: &mut Work) -> Hit {
        self.any().hit_text(&url.text, &(0..0), work)
    }

    /// Whether an allow covers a URL.
    pub(crate) fn hit_covered(&self, url: &UrlSubject, work: &mut Work) -> Result<Hit, Exhausted> {
        if url.has_user_info {
            return Ok(Hit::No);
        }
        let known = url.text.known_part();
        let scheme_end = known.find("://");
        let (pattern, scheme_end) = match (self, scheme_end) {
            (Self::Parts(pattern), Some(scheme_end)) => (pattern, scheme_end),
            (Self::Opaque(glob), None) => return Ok(glob.hit_text(&url.text, &(0..0), work)),
            (Self::Parts(_), None) | (Self::Opaque(_), Some(_)) => return Ok(Hit::No),
        };
        let parts = pattern.parts();
        let host_start = scheme_end + 3;
        let host_end = host_start + url.host.range().len();
        let path_start = known
            .get(host_end..)
            .and_then(|rest| rest.find(['/', '?', '#']))
            .map_or(known.len(), |offset| host_end + offset);
        let is_known_so_far = url.text.holes().iter().all(|hole| hole.at > path_start);
        if !is_known_so_far {
            return Ok(self.any().hit_text(&url.text, &(0..0), work).min(Hit::May));
        }
        let part = |from: usize, to: usize| known.get(from..to).unwrap_or_default();
        let mut fits = |glob: &Glob<'_>, text: &str| glob.matches(text, &(0..0), work);
        if !fits(&parts.scheme, part(0, scheme_end))? {
            return Ok(Hit::No);
        }
        let port = part(host_end, path_start);
        let port_fits = match (&parts.port, port.strip_prefix(':')) {
            (Some(glob), Some(port)) => fits(glob, port)?,
            (None, None) => port.is_empty(),
            (Some(_), None) | (None, Some(_)) => false,
        };
        if !port_fits || !pattern.host_fits(&parts, part(host_start, host_end), work)? {
            return Ok(Hit::No);
        }
        if url.text.as_known().is_some() {
            let found = parts
                .rest
                .matches(part(path_start, known.len()), &(0..0), work);
            return found.map(Hit::certain);
        }
        let rest = from(&url.text, path_start);
        Ok(parts.rest.hit_text(&rest, &(0..0), work))
    }
}

/// The text from a place on, holes included.
fn from(text: &Text, start: usize) -> Text {
    let known = text.known_part();
    let mut rest = TextBuilder::new();
    let mut done = start;
    for hole in text.holes().iter().filter(|hole| hole.at >= start) {
        rest = rest.known(known.get(done..hole.at).unwrap_or_default());
        rest = rest.hole(hole.kind);
        done = hole.at;
    }
    rest.known(known.get(done..).unwrap_or_default()).build()
}

/// Where the parts of a pattern with `://` are: which of its bytes, or tokens.
struct Places {
    scheme_end: usize,
    /// Behind the name: a dot at its end is none of it.
    host_end: usize,
    /// `None`: there is none, or it is the one that the scheme stands for.
    port: Option<Range<usize>>,
    rest_start: usize,
}

impl Places {
    fn new<T>(pattern: &[T], literal: impl Fn(&T) -> Option<char>) -> Option<Self> {
        let is = |at: usize, c: char| pattern.get(at).and_then(&literal) == Some(c);
        let characters = |range: Range<usize>| -> String {
            let literals = pattern.get(range).unwrap_or_default().iter();
            literals
                .filter_map(&literal)
                .map(|c| c.to_ascii_lowercase())
                .collect()
        };
        let scheme_end =
            (0..pattern.len()).find(|at| is(*at, ':') && is(at + 1, '/') && is(at + 2, '/'))?;
        let host_start = scheme_end + 3;
        let rest_start = (host_start..pattern.len())
            .find(|at| ['/', '?', '#'].into_iter().any(|c| is(*at, c)))
            .unwrap_or(pattern.len());
        let colon = (host_start..rest_start)
            .rev()
            .take_while(|at| !is(*at, ']'))
            .find(|at| is(*at, ':'));
        let host_end = colon.unwrap_or(rest_start);
        let has_dot = host_end - host_start > 1 && is(host_end - 1, '.');
        Some(Self {
            scheme_end,
            host_end: host_end - usize::from(has_dot),
            port: colon.map(|colon| colon + 1..rest_start).filter(|port| {
                characters(port.clone()) != default_port(&characters(0..scheme_end))
            }),
            rest_start,
        })
    }

    const fn host(&self) -> Range<usize> {
        self.scheme_end + 3..self.host_end
    }
}

fn default_port(scheme: &str) -> &'static str {
    match scheme {
        "https" | "wss" => "443",
        "http" | "ws" => "80",
        "ftp" => "21",
        _ => "",
    }
}

fn lower(tokens: &[Token]) -> Vec<Token> {
    tokens
        .iter()
        .map(|token| match token {
            Token::Char(c) => Token::Char(c.to_ascii_lowercase()),
            other => other.clone(),
        })
        .collect()
}

/// Whether the host of a canonical URL is an address: no name is made of digits only.
fn is_address(host: &str) -> bool {
    host.starts_with('[')
        || host
            .chars()
            .all(|char| char.is_ascii_digit() || char == '.')
}

/// The characters of tokens, wildcards left out.
fn characters_of(tokens: &[Token]) -> String {
    tokens.iter().filter_map(Token::literal).collect()
}

/// The hosts that an allow covers; `None`: the host as it is written.
fn other_hosts(host: &[Token]) -> Option<Box<[Kept]>> {
    let hosts = covered_hosts(host);
    (hosts != [host]).then(|| hosts.into_iter().map(Kept::new).collect())
}

/// The hosts that an allow covers, as patterns none of which extends the registrable host.
///
/// A `*` is free where the labels after it are fixed. Anywhere else it stands for nothing, or at
/// the start of the host for whole labels: `*example.com` is `example.com` and `*.example.com`.
fn covered_hosts(host: &[Token]) -> Vec<Vec<Token>> {
    let is_star = |token: &Token| matches!(token, Token::Star | Token::Directories);
    if matches!(host, [only] if is_star(only)) {
        return vec![vec![Token::Any, Token::Star]];
    }
    let Some(last) = host.iter().rposition(is_star) else {
        return vec![host.to_vec()];
    };
    let (before, after) = host.split_at_checked(last).unwrap_or((host, &[]));
    let after = after.get(1..).unwrap_or_default();
    if fixes_registrable_host(after) {
        return vec![host.to_vec()];
    }
    let without = [before, after].concat();
    let mut hosts = covered_hosts(&without);
    if before.is_empty() && !after.is_empty() {
        hosts.push([&[Token::Star, Token::Char('.')], after].concat());
    }
    hosts
}

/// Whether the tokens after the last `*` of a host fix its registrable part.
fn fixes_registrable_host(after: &[Token]) -> bool {
    if after.len() > 1 && after.first() == Some(&Token::Char('.')) {
        return true;
    }
    if after.iter().any(Token::is_wildcard) {
        return false;
    }
    let text = characters_of(after);
    // The first label may go on to the left; the others are whole.
    let whole: Vec<&str> = text.split('.').skip(1).collect();
    match &*whole {
        // `co.uk`, `com.au`: names are registered one label further left.
        [second, top] => second.len() > 3 || top.len() != 2,
        [_, _, _, ..] => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
