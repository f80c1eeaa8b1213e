//! The URLs of a command line, of which parts may not be known before it runs.

use podward_policy::{ByteSpan, HoleKind, Text, TextBuilder, UnknownReason, UrlSubject};
use url::{Position, Url};

use super::{URL_MAX, UserInfo, canonical, drop_user_info, in_own_letters, percent_decoded};
use crate::lower::partly::{Symbol, chars, known, known_start, symbols, text_of, write};

/// What a program would fetch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fetched {
    /// Something on a network, in each spelling that a rule may use.
    Url(Vec<UrlSubject>),
    /// The file of a `file:` URL, and the URL.
    File {
        path: Text,
        url: UrlSubject,
    },
    Unknown(UnknownReason),
}

/// Reads a text as programs such as curl do: without a scheme it means `http`.
pub(crate) fn fetched(text: &Text) -> Fetched {
    if text.known_part().len() > URL_MAX {
        return unknown("longer than a URL is read");
    }
    let whole = symbols(text);
    let whole = trimmed(&whole);
    let start = known_start(whole);
    let Some(scheme) = Scheme::of(&start) else {
        return match whole.first() {
            Some(Symbol::Char(_)) => Parts::split("http", whole).read(),
            // Not even the scheme is known: what can be told is how it ends.
            Some(Symbol::Hole(_)) => Fetched::Url(vec![UrlSubject {
                text: text_of(whole),
                host: ByteSpan::new(0..0),
                has_user_info: false,
            }]),
            None => unknown("no URL"),
        };
    };
    let after = whole.get(scheme.n_chars..).unwrap_or_default();
    match scheme.name.as_str() {
        "file" => file(after),
        name => Parts::split(name, after.strip_prefix(&SLASHES).unwrap_or(after)).read(),
    }
}

const SLASHES: [Symbol; 2] = [Symbol::Char('/'), Symbol::Char('/')];

fn unknown(why: &str) -> Fetched {
    Fetched::Unknown(UnknownReason::new(why))
}

fn trimmed(mut text: &[Symbol]) -> &[Symbol] {
    let is_blank = |symbol: &Symbol| matches!(symbol, Symbol::Char(c) if *c <= ' ');
    while let [first, rest @ ..] = text
        && is_blank(first)
    {
        text = rest;
    }
    while let [rest @ .., last] = text
        && is_blank(last)
    {
        text = rest;
    }
    text
}

struct Scheme {
    name: String,
    /// Characters up to and with the colon.
    n_chars: usize,
}

impl Scheme {
    /// `name://`, or one slash where programs take it for two: `https:/host`, `file:/path`.
    fn of(start: &str) -> Option<Self> {
        let (name, after) = start.split_once(':')?;
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'));
        let name = name.to_ascii_lowercase();
        let is_scheme = match name.as_str() {
            "file" | "http" | "https" => after.starts_with(['/', '\\']),
            _ => after.starts_with("//"),
        };
        (is_name && is_scheme).then(|| Self {
            n_chars: name.len() + 1,
            name,
        })
    }
}

/// The path of a `file:` URL, from behind its colon.
fn file(after: &[Symbol]) -> Fetched {
    let path = match after.strip_prefix(&SLASHES) {
        None => after,
        Some(rest) => {
            let end = rest
                .iter()
                .position(|symbol| !matches!(symbol, Symbol::Char(c) if *c != '/'))
                .unwrap_or(rest.len());
            let (host, path) = rest.split_at_checked(end).unwrap_or((rest, &[]));
            match known(host)
                .unwrap_or_default()
                .to_ascii_lowercase()
                .as_str()
            {
                "" | "localhost" | "127.0.0.1" => path,
                _ => return unknown("a file of another machine"),
            }
        }
    };
    let end = path
        .iter()
        .position(|symbol| matches!(symbol, Symbol::Char('?' | '#')))
        .unwrap_or(path.len());
    let path = path.get(..end).unwrap_or(path);
    if path.is_empty() {
        return unknown("a file without a name");
    }
    const HEAD: &str = "file://";
    let as_written = || write(TextBuilder::new().known(HEAD), path).build();
    let spelled = known(path)
        .and_then(|path| Url::parse(&format!("{HEAD}{path}")).ok())
        .and_then(|url| super::respelled(&url))
        .map(|url| Text::known(url.as_str()));
    Fetched::File {
        path: text_of(&each_known(path, percent_bytes)),
        url: UrlSubject {
            text: spelled.unwrap_or_else(as_written),
            host: ByteSpan::new(HEAD.len()..HEAD.len()),
            has_user_info: false,
        },
    }
}

/// Every `%XX` decoded; what is then no UTF-8 is U+FFFD.
fn percent_bytes(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        bytes.extend_from_slice(before.as_bytes());
        match super::escape(after) {
            Some((byte, tail)) => {
                bytes.push(byte);
                rest = tail;
            }
            None => {
                bytes.push(b'%');
                rest = after;
            }
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The text with each run of known characters spelled anew.
fn each_known(text: &[Symbol], spell: impl Fn(&str) -> String) -> Vec<Symbol> {
    let mut all = Vec::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let run = known_start(rest);
        rest = rest.get(run.chars().count()..).unwrap_or_default();
        all.extend(chars(&spell(&run)));
        if let [hole, tail @ ..] = rest {
            all.push(*hole);
            rest = tail;
        }
    }
    all
}

/// A URL with an authority.
struct Parts<'a> {
    scheme: &'a str,
    user_info: UserInfo,
    /// Host and port.
    host: &'a [Symbol],
    /// From the first character after the authority on.
    rest: &'a [Symbol],
}

impl<'a> Parts<'a> {
    fn split(scheme: &'a str, after: &'a [Symbol]) -> Self {
        let after_slashes = after
            .iter()
            .position(|symbol| !matches!(symbol, Symbol::Char('/' | '\\')))
            .unwrap_or(after.len());
        let after = after.get(after_slashes..).unwrap_or_default();
        let end = after
            .iter()
            .position(|symbol| matches!(symbol, Symbol::Char('/' | '\\' | '?' | '#')))
            .unwrap_or(after.len());
        let (authority, rest) = after.split_at_checked(end).unwrap_or((after, &[]));
        let at = authority
            .iter()
            .rposition(|symbol| *symbol == Symbol::Char('@'));
        Self {
            scheme,
            user_info: match at {
                Some(_) => UserInfo::Dropped,
                None => UserInfo::Absent,
            },
            host: at
                .and_then(|at| authority.get(at + 1..))
                .unwrap_or(authority),
            rest,
        }
    }

    fn read(&self) -> Fetched {
        match known(self.host) {
            Some(host) => match (known(self.rest), self.head(&host)) {
                (_, None) => unknown("no URL"),
                (Some(rest), Some(head)) => self.whole(&head, &rest),
                (None, Some(head)) => self.partly(&head),
            },
            None => self.unknown_host(),
        }
    }

    /// `scheme://host:port`, and the host's place in it.
    fn head(&self, host: &str) -> Option<(String, ByteSpan)> {
        // The schemes of other programs have no canonical host of their own.
        let as_scheme = match self.scheme {
            special @ ("http" | "https" | "ftp" | "ws" | "wss") => special,
            _ => "http",
        };
        let parse = |scheme: &str| {
            let mut url = Url::parse(&format!("{scheme}://{host}/")).ok()?;
            let _ = drop_user_info(&mut url);
            canonical(url)
        };
        let url = parse(as_scheme)?;
        let name = url.host_str()?;
        let port = match as_scheme == self.scheme {
            true => url.port(),
            // A port that is the default of one is none of the other.
            false => url.port().or_else(|| parse("ftp")?.port()),
        };
        let mut head = format!("{}://", self.scheme);
        let start = head.len();
        head.push_str(name);
        let span = ByteSpan::new(start..head.len());
        if let Some(port) = port {
            head.push_str(&format!(":{port}"));
        }
        Some((head, span))
    }

    fn subject(&self, text: Text, host: ByteSpan) -> UrlSubject {
        UrlSubject {
            text,
            host,
            has_user_info: self.user_info == UserInfo::Dropped,
        }
    }

    /// The URL in the spellings of its head: canonical, and with the host in its own letters.
    fn spelled(&self, (head, host): &(String, ByteSpan), rest: &[Symbol]) -> Fetched {
        let url = |head: &str, host: ByteSpan| {
            let text = write(TextBuilder::new().known(head), rest);
            self.subject(text.build(), host)
        };
        let mut spellings = vec![url(head, *host)];
        let name = head.get(host.start..host.end).unwrap_or_default();
        if let Some(unicode) = in_own_letters(name) {
            let before = head.get(..host.start).unwrap_or_default();
            let after = head.get(host.end..).unwrap_or_default();
            let host = ByteSpan::new(host.start..host.start + unicode.len());
            spellings.push(url(&format!("{before}{unicode}{after}"), host));
        }
        Fetched::Url(spellings)
    }

    /// The whole URL is known.
    fn whole(&self, head: &(String, ByteSpan), rest: &str) -> Fetched {
        let path = match Url::parse(&format!("http://h{rest}"))
            .ok()
            .and_then(canonical)
        {
            Some(url) => url[Position::BeforePath..].to_owned(),
            None => return unknown("no URL"),
        };
        self.spelled(head, &chars(&path).collect::<Vec<_>>())
    }

    /// The host is known, what follows only in part.
    fn partly(&self, head: &(String, ByteSpan)) -> Fetched {
        self.spelled(head, &canonical_rest(self.rest))
    }

    fn unknown_host(&self) -> Fetched {
        let head = format!("{}://", self.scheme);
        let host = each_known(self.host, str::to_lowercase);
        let n_host = text_of(&host).known_part().len();
        let span = ByteSpan::new(head.len()..head.len() + n_host);
        let text = write(TextBuilder::new().known(&head), &host);
        let path = canonical_rest(self.rest);
        Fetched::Url(vec![self.subject(write(text, &path).build(), span)])
    }
}

/// Path and query with holes in their one spelling, as far as it can be told.
fn canonical_rest(rest: &[Symbol]) -> Vec<Symbol> {
    let end = rest
        .iter()
        .position(|symbol| *symbol == Symbol::Char('#'))
        .unwrap_or(rest.len());
    let spelled = each_known(rest.get(..end).unwrap_or(rest), |known| {
        percent_decoded(known, |byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
        })
    });
    let query = spelled
        .iter()
        .position(|symbol| *symbol == Symbol::Char('?'))
        .unwrap_or(spelled.len());
    let (path, query) = spelled.split_at_checked(query).unwrap_or((&spelled, &[]));
    let mut whole = vec![Symbol::Char('/')];
    let mut names: Vec<&[Symbol]> = Vec::new();
    let anything = [Symbol::Hole(HoleKind::Anything)];
    let all: Vec<&[Symbol]> = path
        .split(|symbol| matches!(symbol, Symbol::Char('/' | '\\')))
        .collect();
    // The path begins with a slash: nothing stands before it.
    let inner = match all.as_slice() {
        [[], inner @ ..] => inner,
        inner => inner,
    };
    let n_names = inner.len();
    for (idx, name) in inner.iter().enumerate() {
        let is_last = idx + 1 == n_names;
        match known(name).as_deref() {
            Some(".") if is_last => names.push(&[]),
            Some(".") => {}
            Some("..") => {
                let lost = names.pop().is_some_and(crate::lower::partly::has_expansion);
                if lost {
                    names = vec![&anything];
                }
                if is_last {
                    names.push(&[]);
                }
            }
            _ => names.push(name),
        }
    }
    whole.extend(names.join(&Symbol::Char('/')));
    whole.extend(query);
    whole
}
