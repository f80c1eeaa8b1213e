use super::{Bounds, Glob, Hit, Shape, Signs, Token, parse};
use crate::testing::{Random, n_cases};
use crate::text::{HoleKind, Text, TextBuilder};
use crate::work::Work;

fn glob_of(pattern: &str) -> Glob<'static> {
    Glob::new(parse(pattern).unwrap_or_else(|problems| panic!("{pattern}: {problems:?}")))
}

/// The model: what the `glob` crate says.
fn model(pattern: &str, text: &str) -> bool {
    let options = glob::MatchOptions {
        case_sensitive: true,
        require_literal_separator: false,
        require_literal_leading_dot: false,
    };
    glob::Pattern::new(pattern)
        .unwrap()
        .matches_with(text, options)
}

const PIECES: &[&str] = &[
    "a", "b", "ab", "aa", ".", "/", " ", "ä", "\n", "*", "*", "*", "?", "**", "**/", "/**/", "/**",
    "[ab]", "[!a]", "[a-c]", "[!/]", "[*]", "[[]", "]", "-", "[]a]", "[!]a]", "😀", "'", "[ä-ü]",
];

const TEXTS: &[&str] = &[
    "a", "b", "a", "b", "ab", "c", ".", "/", "/", " ", "ä", "\n", "*", "[", "]", "-", "😀", "'",
    "ö",
];

/// A text that a pattern of these pieces is likely to match.
fn text_like(pieces: &[&str], random: &mut Random) -> String {
    pieces
        .iter()
        .map(|piece| match *piece {
            "*" | "**" => random.text(TEXTS, 3),
            "**/" => random.text(&["a/", "b/", "ab/", "a"], 2),
            "/**" | "/**/" => "/".to_owned() + &random.text(&["a/", "/", "b/", "a"], 2),
            "?" | "[!a]" | "[!/]" | "[!]a]" => random.one_of(TEXTS).to_owned(),
            "[ab]" | "[a-c]" => random.one_of(&["a", "b", "c"]).to_owned(),
            "[]a]" => random.one_of(&["]", "a"]).to_owned(),
            "[ä-ü]" => "ö".to_owned(),
            "[*]" => "*".to_owned(),
            "[[]" => "[".to_owned(),
            literal => literal.to_owned(),
        })
        .collect()
}

#[test]
fn matcher_agrees_with_the_glob_crate() {
    let mut random = Random::new(1);
    let mut n_compared = 0;
    let mut n_matched = 0;
    while n_compared < n_cases(1_000_000) {
        let pieces: Vec<&str> = (0..random.below(8))
            .map(|_| random.one_of(PIECES))
            .collect();
        let pattern = pieces.concat();
        let Ok(tokens) = parse(&pattern) else {
            continue;
        };
        let glob = Glob::new(tokens);
        for _ in 0..10 {
            let text = match random.below(3) {
                0 => random.text(TEXTS, 8),
                _ => text_like(&pieces, &mut random),
            };
            let expected = model(&pattern, &text);
            let found = glob.matches(&text, &(0..0), &mut Work::new());
            assert_eq!(found, Ok(expected), "{pattern:?} on {text:?}");
            if !Signs::of(&pattern).has_class() {
                let found = Glob::written(&pattern).matches(&text, &(0..0), &mut Work::new());
                assert_eq!(found, Ok(expected), "written: {pattern:?} on {text:?}");
            }
            if n_compared % 8 == 0 {
                let found = glob.automaton().matches(&text, &(0..0), &mut Work::new());
                assert_eq!(found, Ok(expected), "automaton: {pattern:?} on {text:?}");
            }
            n_compared += 1;
            n_matched += usize::from(expected);
        }
    }
    // The cases are worth something only if they hit often enough.
    assert!(n_matched * 5 > n_compared, "{n_matched} of {n_compared}");
}

#[test]
fn everything_the_glob_crate_refuses_is_refused() {
    let mut random = Random::new(2);
    for _ in 0..n_cases(1_000_000) / 10 {
        let pattern = random.text(
            &["a", "/", "*", "*", "[", "]", "!", "-", "?", " ", ":", "^"],
            7,
        );
        if glob::Pattern::new(&pattern).is_err() {
            assert!(parse(&pattern).is_err(), "{pattern:?}");
        }
    }
}

#[test]
fn case_is_ignored_only_where_it_is_told() {
    for (pattern, text, fold, expected) in [
        ("RM *", "rm x", 0..2, true),
        ("rm *", "Rm x", 0..2, true),
        ("rm X", "rm x", 0..2, false),
        ("*X", "rm x", 0..2, false),
        ("*X", "rm x", 0..4, true),
        ("*.ENV", "a/.env", 0..6, true),
        ("[A-C]x", "bX", 0..2, true),
        ("[!a]x", "Ax", 0..2, true),
        ("*É*", "café", 0..5, true),
        ("**/É", "a/é", 0..4, true),
        ("*?b", "aB", 0..2, true),
        ("rm*force", "RM --force", 0..2, true),
        ("rm*FORCE", "RM --force", 0..2, false),
    ] {
        let glob = glob_of(pattern);
        let found = glob.matches(text, &fold, &mut Work::new());
        assert_eq!(found, Ok(expected), "{pattern} on {text}");
        let found = glob.automaton().matches(text, &fold, &mut Work::new());
        assert_eq!(found, Ok(expected), "automaton: {pattern} on {text}");
    }
}

#[test]
fn an_end_may_be_missing() {
    let tokens = parse("git push *").unwrap();
    let glob = Glob::with_optional_end(tokens, 2);
    for (text, expected) in [
        ("git push", true),
        ("git push ", true),
        ("git push x", true),
        ("git pushx", false),
        ("git pus", false),
    ] {
        let found = glob.matches(text, &(0..0), &mut Work::new());
        assert_eq!(found, Ok(expected), "{text}");
        let found = glob.automaton().matches(text, &(0..0), &mut Work::new());
        assert_eq!(found, Ok(expected), "automaton: {text}");
    }
}

/// Work grows with the product of both lengths and no more, whatever they look like.
#[test]
fn hostile_patterns_stay_within_the_product_of_the_lengths() {
    let repeated = |piece: &str, n: usize| piece.repeat(n);
    for (pattern, text) in [
        (repeated("*a", 30) + "*b", repeated("a", 4000)),
        (repeated("*a", 1000) + "*b", repeated("a", 4000)),
        (
            "*".to_owned() + &repeated("?", 500) + "b*",
            repeated("a", 4000),
        ),
        (
            "*".to_owned() + &repeated("a", 500) + "b*",
            repeated("a", 4000),
        ),
        (repeated("**/", 1) + "*.env", repeated("a/b ", 1000)),
        (repeated("**/a/", 100) + "b", repeated("a/", 2000)),
        (repeated("**/[ab]/", 100) + "b", repeated("a/", 2000)),
        (repeated("*[ab]", 300) + "c", repeated("ab", 2000)),
        (repeated("[!b]", 300) + "*c", repeated("a", 4000)),
    ] {
        let glob = glob_of(&pattern);
        let written = (!Signs::of(&pattern).has_class()).then(|| Glob::written(&pattern));
        for glob in std::iter::once(&glob).chain(&written) {
            let steps = |text: &str, n_folded: usize| {
                let mut work = Work::new();
                let fold = 0..text.len() * n_folded / 2;
                assert_eq!(glob.matches(text, &fold, &mut work), Ok(false));
                work.spent_of(Work::LIMIT)
            };
            for halves in 0..=2 {
                let (once, twice) = (steps(&text, halves), steps(&text.repeat(2), halves));
                let product = u64::try_from(pattern.len() * text.len()).unwrap();
                assert!(once <= product + 100, "{pattern}: {once} of {product}");
                assert!(twice <= once * 22 / 10 + 100, "{pattern}: {once}, {twice}");
            }
        }
        let mut work = Work::new();
        let holed = TextBuilder::new()
            .known(&text)
            .hole(HoleKind::FileGlob)
            .known(&text)
            .build();
        let shape = Shape::plain(&holed, &(0..0));
        glob.hit(&shape, Bounds::OPEN, &mut work).ok();
        let product = u64::try_from(pattern.len() * text.len() * 8).unwrap();
        assert!(work.spent_of(Work::LIMIT) <= product, "{pattern}");
    }
}

#[test]
fn a_match_that_costs_too_much_may_be_one() {
    let glob = glob_of(&("*".to_owned() + &"a".repeat(50) + "b*"));
    let text = Text::known("a".repeat(1000));
    let mut work = Work::with_limit(100);
    assert_eq!(glob.hit_text(&text, &(0..1000), &mut work), Hit::May);
    assert_eq!(glob.hit_text(&text, &(0..1000), &mut work), Hit::May);
}

/// All short texts over a small alphabet that a hole may be filled with.
fn fillings(kind: HoleKind, before: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut longest = all.clone();
    for _ in 0..2 {
        longest = longest
            .iter()
            .flat_map(|text| ["a", "b", "/", ".", "z"].map(|c| format!("{text}{c}")))
            .collect();
        all.extend(longest.iter().cloned());
    }
    if kind == HoleKind::FileGlob {
        let begins_name = before.is_empty() || before.ends_with('/');
        all.retain(|text| !text.contains('/'));
        all.retain(|text| !begins_name || !text.starts_with('.'));
    }
    all
}

/// D3.2 for texts whose words have no meaning.
#[test]
fn holes_in_plain_texts_agree_with_every_filling() {
    let mut random = Random::new(3);
    let mut n_by_hit = [0_usize; 3];
    for _ in 0..n_cases(1_000_000) / 100 {
        let pattern = random.text(
            &[
                "a", "b", "/", ".", "*", "*", "*", "?", "**/", "[ab]", "[!a]",
            ],
            6,
        );
        let Ok(tokens) = parse(&pattern) else {
            continue;
        };
        let glob = Glob::new(tokens);
        let kind = random.one_of(&[
            HoleKind::FileGlob,
            HoleKind::Quoted,
            HoleKind::Unquoted,
            HoleKind::Anything,
        ]);
        let known = ["a", "b", "/", ".", "/", "ab"];
        let (before, after) = (random.text(&known, 3), random.text(&known, 3));
        let text = TextBuilder::new()
            .known(&before)
            .hole(kind)
            .known(&after)
            .build();
        let hit = glob.hit_text(&text, &(0..0), &mut Work::new());
        let matched: Vec<bool> = fillings(kind, &before)
            .iter()
            .map(|filling| model(&pattern, &format!("{before}{filling}{after}")))
            .collect();
        let context = format!("{pattern:?} on {text}: {hit:?}");
        match hit {
            Hit::No => assert!(matched.iter().all(|matched| !matched), "{context}"),
            Hit::Must => assert!(matched.iter().all(|matched| *matched), "{context}"),
            Hit::May => {}
        }
        n_by_hit[hit as usize] += 1;
    }
    assert!(n_by_hit.iter().all(|n| *n > 100), "{n_by_hit:?}");
}

#[test]
fn plain_holes() {
    use HoleKind::{Anything, FileGlob, Quoted};
    let text = |before: &str, kind, after: &str| {
        TextBuilder::new()
            .known(before)
            .hole(kind)
            .known(after)
            .build()
    };
    for (pattern, text, expected) in [
        ("*", text("", Anything, ""), Hit::Must),
        ("rm *", text("", Anything, ""), Hit::May),
        ("*.env", text("", Quoted, "/.env"), Hit::Must),
        (".env", text("", Quoted, "/.env"), Hit::No),
        (".env", text("", FileGlob, ""), Hit::No),
        ("a.env", text("", FileGlob, ""), Hit::May),
        ("*.env", text("", FileGlob, ".env"), Hit::Must),
        ("keys/*", text("keys/", FileGlob, ""), Hit::Must),
        ("keys/a/b", text("keys/", FileGlob, ""), Hit::No),
        ("?", text("", FileGlob, "/"), Hit::May),
        ("**/x", text("a/", Quoted, "/x"), Hit::Must),
        ("**/x", text("a/", Quoted, "x"), Hit::May),
        ("a?", text("a", FileGlob, "b"), Hit::May),
    ] {
        let found = glob_of(pattern).hit_text(&text, &(0..0), &mut Work::new());
        assert_eq!(found, expected, "{pattern} on {text}");
    }
}

#[test]
fn a_literal_prefix_ends_before_the_first_wildcard() {
    for (pattern, expected) in [
        ("sudo x *", 7),
        ("sudo*", 4),
        ("*", 0),
        ("ä[*]?", 3),
        ("ab", 2),
    ] {
        assert_eq!(glob_of(pattern).n_literal_prefix(), expected, "{pattern}");
    }
    assert_eq!(*glob_of("[*]").tokens(), [Token::Char('*')]);
}
