//! Patterns for URLs (D4.4).

use crate::operation::UrlSubject;
use crate::pattern::{Glob, Hit, Token};
use crate::text::{Text, TextBuilder};
use crate::work::{Exhausted, Work};

/// A pattern for URLs.
#[derive(Debug, Clone)]
pub(crate) struct UrlPattern {
    /// What a restrictive rule matches: the canonical URL, taken as text.
    pub(crate) any: Glob,
    /// What an allow covers.
    covered: Covered,
}

#[derive(Debug, Clone)]
enum Covered {
    /// URLs with `://`, part by part.
    Parts(Box<Parts>),
    /// URLs without it, such as `data:` ones.
    Opaque(Glob),
}

#[derive(Debug, Clone)]
struct Parts {
    /// Everything before the path is without wildcards.
    is_one_host: bool,
    /// The host is not wildcards only.
    names_host: bool,
    scheme: Glob,
    /// The host must match one of these: none of them can extend the registrable host.
    hosts: Vec<Glob>,
    /// For hosts that are addresses, where nothing is registered: the host as it is written, if it
    /// does not begin with a wildcard.
    address: Option<Glob>,
    port: Option<Glob>,
    /// From the first `/` after the host.
    rest: Glob,
}

impl UrlPattern {
    pub(crate) fn new(tokens: &[Token]) -> Self {
        let Some(split) = Split::new(tokens) else {
            return Self {
                any: Glob::new(tokens.to_vec()),
                covered: Covered::Opaque(Glob::new(tokens.to_vec())),
            };
        };
        let has_path = !split.rest.is_empty();
        let mut canonical = split.canonical();
        let rest = match has_path {
            true => split.rest.to_vec(),
            // A canonical URL always has a path.
            false => vec![Token::Char('/')],
        };
        let canonical_has_wildcard = canonical.iter().any(Token::is_wildcard);
        canonical.extend(rest.iter().cloned());
        let n_optional = usize::from(!has_path);
        Self {
            any: Glob::with_optional_end(canonical, n_optional),
            covered: Covered::Parts(Box::new(Parts {
                is_one_host: !canonical_has_wildcard,
                names_host: split.host.iter().any(is_of_a_name),
                address: (split.host.first().and_then(Token::literal).is_some())
                    .then(|| Glob::new(split.host.clone())),
                scheme: Glob::new(split.scheme),
                hosts: covered_hosts(&split.host)
                    .into_iter()
                    .map(Glob::new)
                    .collect(),
                port: split.port.map(Glob::new),
                rest: Glob::new(rest),
            })),
        }
    }

    /// Whether the pattern names a scheme: without one it cannot match a URL with a host, unless
    /// it begins with a wildcard.
    pub(crate) const fn has_scheme(&self) -> bool {
        matches!(self.covered, Covered::Parts(_))
    }

    /// Whether a host of the pattern has characters that no canonical host has.
    pub(crate) fn has_foreign_host(&self) -> bool {
        match &self.covered {
            Covered::Parts(parts) => parts
                .hosts
                .iter()
                .flat_map(Glob::tokens)
                .any(|token| matches!(token, Token::Char(c) if !c.is_ascii())),
            Covered::Opaque(_) => false,
        }
    }

    /// Whether the pattern, as an allow, covers just the URLs that it matches as text.
    pub(crate) fn is_exact_cover(&self) -> bool {
        match &self.covered {
            Covered::Parts(parts) => parts.is_one_host,
            Covered::Opaque(_) => false,
        }
    }

    /// Whether the pattern is about one host, written in full as everything before the path.
    pub(crate) const fn names_one_host(&self) -> bool {
        match &self.covered {
            Covered::Parts(parts) => parts.is_one_host && parts.names_host,
            Covered::Opaque(_) => false,
        }
    }

    /// Whether the pattern says something of the host.
    pub(crate) const fn names_host(&self) -> bool {
        match &self.covered {
            Covered::Parts(parts) => parts.names_host,
            Covered::Opaque(_) => false,
        }
    }

    /// Whether a restrictive rule matches.
    pub(crate) fn hit_any(&self, url: &UrlSubject, work: &mut Work) -> Hit {
        self.any.hit_text(&url.text, &(0..0), work)
    }

    /// Whether an allow covers a URL.
    pub(crate) fn hit_covered(&self, url: &UrlSubject, work: &mut Work) -> Result<Hit, Exhausted> {
        if url.has_user_info {
            return Ok(Hit::No);
        }
        let known = url.text.known_part();
        let scheme_end = known.find("://");
        let (parts, scheme_end) = match (&self.covered, scheme_end) {
            (Covered::Parts(parts), Some(scheme_end)) => (parts, scheme_end),
            (Covered::Opaque(glob), None) => return Ok(glob.hit_text(&url.text, &(0..0), work)),
            (Covered::Parts(_), None) | (Covered::Opaque(_), Some(_)) => return Ok(Hit::No),
        };
        let host_start = scheme_end + 3;
        let host_end = host_start + url.host.range().len();
        let path_start = known
            .get(host_end..)
            .and_then(|rest| rest.find(['/', '?', '#']))
            .map_or(known.len(), |offset| host_end + offset);
        let is_known_so_far = url.text.holes().iter().all(|hole| hole.at > path_start);
        if !is_known_so_far {
            return Ok(self.any.hit_text(&url.text, &(0..0), work).min(Hit::May));
        }
        let part = |from: usize, to: usize| known.get(from..to).unwrap_or_default();
        let mut fits = |glob: &Glob, text: &str| glob.matches(text, &(0..0), work);
        if !fits(&parts.scheme, part(0, scheme_end))? {
            return Ok(Hit::No);
        }
        let host = part(host_start, host_end);
        let mut host_fits = false;
        let address = parts.address.iter().filter(|_| is_address(host));
        for glob in parts.hosts.iter().chain(address) {
            host_fits = host_fits || fits(glob, host)?;
        }
        let port = part(host_end, path_start);
        let port_fits = match (&parts.port, port.strip_prefix(':')) {
            (Some(glob), Some(port)) => fits(glob, port)?,
            (None, None) => port.is_empty(),
            (Some(_), None) | (None, Some(_)) => false,
        };
        if !host_fits || !port_fits {
            return Ok(Hit::No);
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
        let default_port = match &*text_of(&scheme) {
            "https" | "wss" => "443",
            "http" | "ws" => "80",
            "ftp" => "21",
            _ => "",
        };
        port = port.filter(|port| text_of(port) != default_port);
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
fn text_of(tokens: &[Token]) -> String {
    tokens.iter().filter_map(Token::literal).collect()
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
    let text = text_of(after);
    // The first label may go on to the left; the others are whole.
    let whole: Vec<&str> = text.split('.').skip(1).collect();
    match &*whole {
        // `co.uk`, `com.au`: names are registered one label further left.
        [second, top] => second.len() > 3 || top.len() != 2,
        [_, _, _, ..] => true,
        _ => false,
    }
}
