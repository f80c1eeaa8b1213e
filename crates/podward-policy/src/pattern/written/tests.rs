use super::tokens;
use crate::action::Action;
use crate::pattern::{Glob, Signs, Token, is_plainly_right, parse};
use crate::rule::path::{n_below, n_below_tokens};
use crate::testing::{Random, n_cases};
use crate::work::Work;

const PIECES: &[&str] = &[
    "a", "b", "ab", "aB", ".", "/", " ", "ä", "É", "\n", "*", "*", "*", "?", "**", "**/", "/**/",
    "/**", "/*", " *", "]", "'", "😀",
];

const TEXTS: &[&str] = &[
    "a", "b", "A", "ab", "c", ".", "/", "/", " ", "ä", "Ä", "é", "\n", "*", "]", "😀", "'", "a/b/",
];

/// A pattern as it is written says what its tokens say, whatever part may be missing or is compared
/// without regard to case.
#[test]
fn a_written_pattern_agrees_with_its_tokens() {
    let mut random = Random::new(11);
    let (mut n_compared, mut n_matched) = (0, 0);
    while n_compared < n_cases(1_000_000) {
        let pattern = random.text(PIECES, 7);
        let parsed = parse(&pattern);
        assert_eq!(
            is_plainly_right(&pattern, Signs::of(&pattern)),
            parsed.is_ok(),
            "{pattern:?}"
        );
        let Ok(parsed) = parsed else {
            continue;
        };
        assert_eq!(tokens(&pattern), parsed, "{pattern:?}");
        let n_bytes = usize::from(n_below(&pattern, Action::Deny));
        let n_optional = n_below_tokens(&parsed, Action::Deny);
        let n_needed = pattern.len() - n_bytes;
        let written = Glob::written_with_optional_end(&pattern, n_needed);
        assert_eq!(written.n_optional(), n_optional, "{pattern:?}");
        let globs = [
            (Glob::written(&pattern), Glob::new(parsed.clone())),
            (written, Glob::with_optional_end(parsed, n_optional)),
        ];
        for (written, in_tokens) in globs {
            assert_eq!(written.needed_prefix(), in_tokens.needed_prefix());
            assert_eq!(written.n_literal_prefix(), in_tokens.n_literal_prefix());
            assert_eq!(written.is_floating(), in_tokens.is_floating());
            for _ in 0..6 {
                let text = match random.below(3) {
                    0 => random.text(TEXTS, 8),
                    _ => like(&pattern, &mut random),
                };
                let fold = random.below(4)..random.below(text.len() + 4);
                let mut work = [Work::new(), Work::new()];
                let [ours, theirs] = &mut work;
                let found = written.matches(&text, &fold, ours);
                let expected = in_tokens.matches(&text, &fold, theirs);
                assert_eq!(found, expected, "{pattern:?} on {text:?}, {fold:?}");
                let start = random.text(TEXTS, 2);
                assert_eq!(
                    written.differs_at_start(&start, ours),
                    in_tokens.differs_at_start(&start, theirs)
                );
                n_compared += 1;
                n_matched += usize::from(expected == Ok(true));
            }
        }
    }
    assert!(n_matched > n_compared / 10, "{n_matched} of {n_compared}");
}

/// A text that a pattern is likely to match.
fn like(pattern: &str, random: &mut Random) -> String {
    let filled = tokens(pattern).into_iter().map(|token| match token {
        Token::Char(c) if random.below(9) == 0 => c.to_uppercase().collect(),
        Token::Char(c) => c.to_string(),
        Token::Any => random.one_of(TEXTS).to_owned(),
        Token::Directories => random.text(&["a/", "b/", "a"], 2),
        _ => random.text(TEXTS, 2),
    });
    filled.collect()
}
