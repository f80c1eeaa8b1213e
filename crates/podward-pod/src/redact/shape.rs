//! Texts that are secrets by their shape.

/// A secret at the start of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Bytes in front of it that stay: a header's name, `://`.
    pub(super) n_kept: usize,
    /// Bytes of the secret.
    pub(super) n_secret: usize,
    /// What takes its place.
    pub(super) marker: &'static str,
}

/// A token: a known prefix, then at least so many characters.
struct Token {
    prefix: &'static str,
    n_more: usize,
    marker: &'static str,
}

/// The prefixes that the issuers of tokens document for secret scanners. A prefix that is another
/// one's start comes later.
const TOKENS: &[Token] = &[
    token("ghp_", 20, "[secret:github-token]"),
    token("gho_", 20, "[secret:github-token]"),
    token("ghu_", 20, "[secret:github-token]"),
    token("ghs_", 20, "[secret:github-token]"),
    token("ghr_", 20, "[secret:github-token]"),
    token("github_pat_", 20, "[secret:github-token]"),
    token("glpat-", 16, "[secret:gitlab-token]"),
    token("xoxa-", 10, "[secret:slack-token]"),
    token("xoxb-", 10, "[secret:slack-token]"),
    token("xoxe-", 10, "[secret:slack-token]"),
    token("xoxp-", 10, "[secret:slack-token]"),
    token("xoxr-", 10, "[secret:slack-token]"),
    token("xoxs-", 10, "[secret:slack-token]"),
    token("xapp-", 10, "[secret:slack-token]"),
    token("sk_live_", 16, "[secret:api-key]"),
    token("sk_test_", 16, "[secret:api-key]"),
    token("rk_live_", 16, "[secret:api-key]"),
    token("npm_", 30, "[secret:npm-token]"),
    token("pypi-", 40, "[secret:pypi-token]"),
    token("hf_", 30, "[secret:api-key]"),
    token("AIza", 30, "[secret:api-key]"),
];

/// Headers whose value is a secret.
const HEADERS: &[&str] = &[
    "authorization:",
    "private-token:",
    "proxy-authorization:",
    "x-api-key:",
    "x-auth-token:",
];

const fn token(prefix: &'static str, n_more: usize, marker: &'static str) -> Token {
    Token {
        prefix,
        n_more,
        marker,
    }
}

/// The secret that a text begins with; `before` is the character in front of it.
pub(super) fn find(text: &str, before: Option<char>) -> Option<Found> {
    match text.bytes().next()? {
        b':' => user_info(text),
        b'-' if text.starts_with("-----BEGIN ") => private_key(text),
        _ if before.is_some_and(|before| before.is_alphanumeric() || before == '_') => None,
        b'a' | b'A' | b'p' | b'P' | b'x' | b'X' => header(text)
            .or_else(|| aws_key(text))
            .or_else(|| token_at(text)),
        b'e' => web_token(text),
        b's' => token_at(text).or_else(|| sk_key(text)),
        b'g' | b'r' | b'n' | b'h' => token_at(text),
        _ => None,
    }
}

fn token_at(text: &str) -> Option<Found> {
    TOKENS.iter().find_map(|token| {
        let rest = text.strip_prefix(token.prefix)?;
        let n_more = run(rest, is_token_byte);
        (n_more >= token.n_more).then_some(Found {
            n_kept: 0,
            n_secret: token.prefix.len() + n_more,
            marker: token.marker,
        })
    })
}

/// `sk-…`: also the start of ordinary words, so a digit or a capital must follow.
fn sk_key(text: &str) -> Option<Found> {
    let rest = text.strip_prefix("sk-")?;
    let n_more = run(rest, is_token_byte);
    let telling = |byte: u8| byte.is_ascii_digit() || byte.is_ascii_uppercase();
    (n_more >= 16 && rest.bytes().take(n_more).any(telling)).then_some(Found {
        n_kept: 0,
        n_secret: "sk-".len() + n_more,
        marker: "[secret:api-key]",
    })
}

/// `AKIA` or `ASIA` and 16 capitals or digits.
fn aws_key(text: &str) -> Option<Found> {
    let rest = text
        .strip_prefix("AKIA")
        .or_else(|| text.strip_prefix("ASIA"))?;
    let n_more = run(rest, |byte| {
        byte.is_ascii_uppercase() || byte.is_ascii_digit()
    });
    (n_more == 16).then_some(Found {
        n_kept: 0,
        n_secret: 20,
        marker: "[secret:aws-access-key]",
    })
}

/// A JSON Web Token: three parts of base64url, the first of which begins with `{"`.
fn web_token(text: &str) -> Option<Found> {
    let mut n_secret = 0;
    let mut rest = text.starts_with("eyJ").then_some(text)?;
    for idx in 0..3 {
        if idx > 0 {
            rest = rest.strip_prefix('.')?;
            n_secret += 1;
        }
        let n_part = run(rest, is_token_byte);
        if n_part < 8 && idx < 2 {
            return None;
        }
        n_secret += n_part;
        rest = rest.split_at_checked(n_part)?.1;
    }
    Some(Found {
        n_kept: 0,
        n_secret,
        marker: "[secret:web-token]",
    })
}

/// From `-----BEGIN … PRIVATE KEY-----` to its end, or to the end of the text.
fn private_key(text: &str) -> Option<Found> {
    let first_line = text.split(['\n', '\\']).next()?;
    first_line.contains("PRIVATE KEY").then_some(())?;
    let end = text
        .find("-----END ")
        .and_then(|end| {
            let tail = text.get(end + "-----END ".len()..)?;
            Some(end + "-----END ".len() + tail.find("-----")? + "-----".len())
        })
        .unwrap_or(text.len());
    Some(Found {
        n_kept: 0,
        n_secret: end,
        marker: "[secret:private-key]",
    })
}

/// The value of a header, without its scheme.
fn header(text: &str) -> Option<Found> {
    let name = HEADERS.iter().find(|name| {
        text.get(..name.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(name))
    })?;
    let value = text.get(name.len()..)?;
    let n_blank = run(value, |byte| byte == b' ');
    let value = value.get(n_blank..)?;
    let n_word = run(value, is_value_byte);
    let after = value.get(n_word..)?;
    let n_gap = run(after, |byte| byte == b' ');
    let n_second = run(after.get(n_gap..)?, is_value_byte);
    let has_scheme = ["bearer", "basic", "token", "digest", "negotiate"]
        .iter()
        .any(|scheme| {
            value
                .get(..n_word)
                .is_some_and(|word| word.eq_ignore_ascii_case(scheme))
        });
    let (n_kept, n_secret) = if has_scheme {
        (name.len() + n_blank + n_word + n_gap, n_second)
    } else {
        (name.len() + n_blank, n_word)
    };
    (n_secret > 0).then_some(Found {
        n_kept,
        n_secret,
        marker: "[secret:authorization]",
    })
}

/// `://user:password@` or `://token@`; a short name alone (`ssh://git@host`) is no secret.
fn user_info(text: &str) -> Option<Found> {
    let rest = text.strip_prefix("://")?;
    let n_authority = run(rest, |byte| {
        byte.is_ascii_graphic() && !matches!(byte, b'/' | b'?' | b'#' | b'"' | b'\'' | b'`')
    });
    let n_secret = rest.get(..n_authority)?.rfind('@')?;
    let info = rest.get(..n_secret)?;
    (info.len() >= 16
        || info
            .split_once(':')
            .is_some_and(|(_, password)| !password.is_empty()))
    .then_some(Found {
        n_kept: "://".len(),
        n_secret,
        marker: "[secret:url-user-info]",
    })
}

/// Bytes at the start of a text that are of a kind; all kinds are ASCII, so the end of a run is a
/// char boundary.
fn run(text: &str, kind: impl Fn(u8) -> bool) -> usize {
    text.bytes()
        .take_while(|byte| byte.is_ascii() && kind(*byte))
        .count()
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn is_value_byte(byte: u8) -> bool {
    byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'`' | b',')
}
