use super::UrlParts;
use crate::pattern::{Signs, is_plainly_right, parse};
use crate::testing::{Random, n_cases};

const PIECES: &[&str] = &[
    "https", "http", "HTTP", "x", "*", "*", "?", "://", "://", "://", "example", ".", "com",
    ".co.uk", "É", ":", ":443", ":80", ":8*", "]", "/", "/", "#", "a*", "A",
];

/// All that is read of a pattern, however it is kept.
fn told(url: &UrlParts) -> Option<String> {
    let (any, parts) = (url.any(), url.parts());
    let globs = [
        Some(any),
        Some(parts.scheme),
        Some(parts.host),
        parts.port,
        Some(parts.rest),
    ];
    let globs = globs.map(|glob| Some((glob.as_ref()?.tokens().into_owned(), glob?.n_optional())));
    let host = (url.is_one_host, url.names_host, url.has_address, &url.hosts);
    Some(format!("{globs:?} {host:?}"))
}

#[test]
fn a_pattern_read_as_text_has_the_parts_of_its_tokens() {
    let mut random = Random::new(5);
    let (mut n_done, mut n_with_hosts) = (0, 0);
    while n_done < n_cases(100_000) {
        let pattern = random.text(PIECES, 10);
        let signs = Signs::of(&pattern);
        assert_eq!(signs.has_scheme(), pattern.contains("://"), "{pattern:?}");
        if signs.has_stars_in_a_row() || !is_plainly_right(&pattern, signs) {
            continue;
        }
        let of_tokens = UrlParts::new(&parse(&pattern).unwrap());
        n_with_hosts += usize::from(of_tokens.as_ref().is_some_and(|url| url.hosts.is_some()));
        let [of_text, of_tokens] = [UrlParts::of_text(&pattern), of_tokens].map(|url| told(&url?));
        assert_eq!(of_text, of_tokens, "{pattern:?}");
        n_done += 1;
    }
    assert!(n_with_hosts > n_done / 50, "{n_with_hosts}");
}
