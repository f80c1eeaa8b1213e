//! Patterns for URLs (D4.4).

use std::ops::Range;

use crate::operation::UrlSubject;
use crate::pattern::{Glob, Hit, Kept, Token, Tokens, text_of};
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
        let split = Split::new(tokens)?;
        let mut canonical = split.canonical();
        let is_one_host = !canonical.iter().any(Token::is_wildcard);
        let has_path = !split.rest.is_empty();
        let rest = match has_path {
            true => split.rest.to_vec(),
            // A canonical URL always has a path.
            false => vec![Token::Char('/')],
        };
        canonical.extend(rest.iter().cloned());
        Some(Self {
            is_one_host,
            names_host: split.host.iter().any(is_of_a_name),
            has_address: split.host.first().and_then(Token::literal).is_some(),
            hosts: other_hosts(&split.host),
            any: Any::new(split, canonical, rest, has_path),
        })
    }

    /// The same of a pattern that is read as it is written and has no `**`.
    pub(crate) fn of_text(pattern: &str) -> Option<Self> {
        let (scheme, after) = pattern.split_once("://")?;
        let (authority, rest) = match after.find(['/', '#']) {
            Some(end) => after.split_at_checked(end)?,
            None => (after, ""),
        };
        let colon = authority.rfind(':');
        let colon = colon.filter(|colon| authority.rfind(']').is_none_or(|end| end < *colon));
        let (host, port) = match colon {
            Some(colon) => (authority.get(..colon)?, authority.get(colon + 1..)),
            None => (authority, None),
        };
        let is_wildcard = |c: char| matches!(c, '*' | '?');
        let known = |text: &str| text.replace(is_wildcard, "");
        let default_port = default_port(&known(&scheme.to_ascii_lowercase()));
        let port = port.filter(|port| known(port) != default_port);
        let host = match host.strip_suffix('.') {
            Some("") | None => host,
            Some(shorter) => shorter,
        };
        let mut text = format!("{scheme}://{host}").to_ascii_lowercase();
        let host_end = text.len();
        if let Some(port) = port {
            text.push(':');
            text.push_str(&port.to_ascii_lowercase());
        }
        let rest_start = text.len();
        let is_one_host = !text.contains(is_wildcard);
        let hosts = match host.contains('*') {
            true => other_hosts(&lower(&Glob::written(host).tokens())),
            false => None,
        };
        text.push_str(if rest.is_empty() { "/" } else { rest });
        let end = |at: usize| u16::try_from(at).ok();
        Some(Self {
            is_one_host,
            names_host: host.contains(char::is_alphanumeric),
            has_address: host.starts_with(|c| !is_wildcard(c)),
            hosts,
            any: Any::Written {
                text: text.into_boxed_str(),
                scheme_end: end(scheme.len())?,
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

impl Any {
    fn new(split: Split<'_>, canonical: Vec<Token>, rest: Vec<Token>, has_path: bool) -> Self {
        let len_of = |tokens: &[Token]| -> usize {
            let len = |token: &Token| token.literal().map_or(1, char::len_utf8);
            tokens.iter().map(len).sum()
        };
        let scheme_end = len_of(&split.scheme);
        let host_end = scheme_end + 3 + len_of(&split.host);
        let rest_start = host_end + split.port.as_ref().map_or(0, |port| 1 + len_of(port));
        let ends = [scheme_end, host_end, rest_start].map(u16::try_from);
        if let (Some(text), [Ok(scheme_end), Ok(host_end), Ok(rest_start)]) =
            (text_of(&canonical), ends)
        {
            return Self::Written {
                text: text.into_boxed_str(),
                scheme_end,
                host_end,
                rest_start,
                has_path,
            };
        }
        Self::Tokens(Box::new(TokenParts {
            any: Tokens::new(canonical, usize::from(!has_path)),
            scheme: Tokens::new(split.scheme, 0),
            host: Tokens::new(split.host, 0),
            port: split.port.map(|port| Tokens::new(port, 0)),
            rest: Tokens::new(rest, 0),
        }))
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

/// A pattern with `://`, in canonical spelling.
struct Split<'p> {
    scheme: Vec<Token>,
    host: Vec<Token>,
    port: Option<Vec<Token>>,
    rest: &'p [Token],
}

impl<'p> Split<'p> {
    fn new(tokens: &'p [Token]) -> Option<Self> {
        let separator = [Token::Char(':'), Token::Char('/'), Token::Char('/')];
        let scheme_end = tokens.windows(3).position(|window| window == separator)?;
        let scheme = lower(tokens.get(..scheme_end)?);
        let after = tokens.get(scheme_end + 3..)?;
        let authority_end = after
            .iter()
            .position(|token| matches!(token, Token::Char('/' | '?' | '#')))
            .unwrap_or(after.len());
        let (authority, rest) = after.split_at_checked(authority_end)?;
        let mut host = lower(authority);
        let colon = host.iter().rposition(|token| *token == Token::Char(':'));
        let bracket = host.iter().rposition(|token| *token == Token::Char(']'));
        let mut port = None;
        if let Some(colon) = colon
            && bracket.is_none_or(|bracket| bracket < colon)
        {
            let after_colon = host.split_off(colon);
            port = after_colon.get(1..).map(<[Token]>::to_vec);
        }
        let default_port = default_port(&characters_of(&scheme));
        port = port.filter(|port| characters_of(port) != default_port);
        if host.len() > 1 && host.last() == Some(&Token::Char('.')) {
            host.pop();
        }
        Some(Self {
            scheme,
            host,
            port,
            rest,
        })
    }

    /// Everything before the path, as it is written in a canonical URL.
    fn canonical(&self) -> Vec<Token> {
        let mut tokens = self.scheme.clone();
        tokens.extend("://".chars().map(Token::Char));
        tokens.extend(self.host.iter().cloned());
        if let Some(port) = &self.port {
            tokens.push(Token::Char(':'));
            tokens.extend(port.iter().cloned());
        }
        tokens
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

/// Whether a token is a character that a host's name or an address is made of.
fn is_of_a_name(token: &Token) -> bool {
    token.literal().is_some_and(char::is_alphanumeric)
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
