use super::super::{Glob, parse};
use super::{Effort, Found, Guard, Language, Question, find};
use crate::testing::{Random, n_cases};
use crate::text::{written_word, written_words};

fn language(pattern: &str) -> Option<Language> {
    Some(Language::of(&Glob::new(parse(pattern).ok()?)))
}

fn effort() -> Effort {
    Effort::new(20_000, 1 << 22, u64::MAX)
}

fn ask(inside: &[&str], outside: &[&str], guard: Guard) -> Found {
    let of = |patterns: &[&str]| -> Vec<Language> {
        let all = patterns.iter().map(|pattern| language(pattern).unwrap());
        all.collect()
    };
    let (inside, outside) = (of(inside), of(outside));
    let inside: Vec<&Language> = inside.iter().collect();
    let outside: Vec<&Language> = outside.iter().collect();
    let question = Question {
        inside: &inside,
        outside: &outside,
        guard,
    };
    find(&question, &mut effort())
}

#[test]
fn a_shortest_text_is_found_or_none_is_there() {
    let text = |text: &str| Found::Text(text.to_owned());
    for (inside, outside, expected) in [
        (&["git *"][..], &["git push *"][..], text("git ")),
        (&["git push *"], &["git *"], Found::None),
        (&["?"], &["[a-m]", "[!a-m]"], Found::None),
        (&["?"], &["[a-m]", "[!a-n]"], text("n")),
        (&["*"], &["?*"], Found::None),
        (&["a*", "*b"], &[], text("ab")),
        (&["a*", "b*"], &[], Found::None),
        (&["*rm*"], &["rm *", "* rm *", "* rm"], text("rm")),
        (&["**/x"], &["*/x"], text("x")),
    ] {
        let guard = Guard::Any;
        assert_eq!(
            ask(inside, outside, guard),
            expected,
            "{inside:?} {outside:?}"
        );
    }
}

#[test]
fn a_guard_keeps_to_the_texts_that_there_are() {
    for (pattern, guard, expected) in [
        ("it's *", Guard::Command, None),
        ("git  *", Guard::Command, None),
        (" git", Guard::Command, None),
        ("git * ", Guard::Command, None),
        ("a 'b'", Guard::Command, None),
        ("a 'b c'", Guard::Command, Some("a 'b c'")),
        ("./*", Guard::Path, None),
        ("a//*", Guard::Path, None),
        ("*/", Guard::Path, Some("/")),
        ("a/", Guard::Path, None),
        (".*", Guard::Path, Some(".")),
        ("src/*", Guard::Path, Some("src/x")),
        ("example.com/*", Guard::Url, None),
        ("https://Example.com/*", Guard::Url, None),
        ("https://a.b*", Guard::Url, Some("https://a.b/")),
        ("push", Guard::Object, None),
        ("*\"a\"*", Guard::Object, Some("{\"a\"}")),
    ] {
        let found = match ask(&[pattern], &[], guard) {
            Found::Text(text) => Some(text),
            Found::None => None,
            Found::Open => panic!("{pattern}"),
        };
        assert_eq!(found.as_deref(), expected, "{pattern}");
    }
}

#[test]
fn the_guard_of_commands_is_how_words_are_written() {
    let mut random = Random::new(3);
    let pieces = ["a", "b", " ", "'", "\"", "\\", "\n", "\t", "''", "'\\''"];
    for _ in 0..n_cases(1_000_000) / 20 {
        let text = random.text(&pieces, 7);
        let words = written_words(&text);
        let written: Vec<_> = words.iter().map(|word| written_word(&word.word)).collect();
        let is_written = written.join(" ") == text;
        assert_eq!(Guard::Command.has(&text), is_written, "{text:?}");
    }
}

#[test]
fn a_search_agrees_with_all_short_texts() {
    let mut random = Random::new(5);
    let pieces = ["a", "b", "/", "*", "*", "?", "**/", "[ab]", "[!a]"];
    let mut texts = vec![String::new()];
    let mut from = 0;
    for _ in 0..5 {
        let to = texts.len();
        for idx in from..to {
            for c in ["a", "b", "/", "x"] {
                texts.push(texts[idx].clone() + c);
            }
        }
        from = to;
    }
    let mut n_found = [0; 2];
    for _ in 0..n_cases(1_000_000) / 400 {
        let mut pattern = |most| random.text(&pieces, most);
        let inside = [pattern(5), pattern(3)];
        let outside = [pattern(4), pattern(4), pattern(2)];
        let of = |patterns: &[String]| -> Vec<Language> {
            patterns.iter().filter_map(|one| language(one)).collect()
        };
        let (inside, outside) = (of(&inside), of(&outside));
        if inside.is_empty() {
            continue;
        }
        let inside: Vec<&Language> = inside.iter().collect();
        let outside: Vec<&Language> = outside.iter().collect();
        let question = Question {
            inside: &inside,
            outside: &outside,
            guard: Guard::Any,
        };
        let is_one = |text: &str| {
            !text.is_empty()
                && inside.iter().all(|one| one.has(text))
                && !outside.iter().any(|one| one.has(text))
        };
        let shortest = texts.iter().find(|text| is_one(text));
        match find(&question, &mut effort()) {
            Found::Text(text) => {
                n_found[0] += 1;
                assert!(is_one(&text), "{question:?} {text}");
                if let Some(shortest) = shortest {
                    assert_eq!(text.chars().count(), shortest.len(), "{question:?}");
                }
            }
            Found::None => {
                n_found[1] += 1;
                assert_eq!(shortest, None, "{question:?}");
            }
            Found::Open => panic!("{question:?}"),
        }
    }
    assert!(n_found.iter().all(|n| *n > 100), "{n_found:?}");
}

#[test]
fn a_search_over_its_bounds_leaves_open_what_it_asked() {
    let inside = [language("*a????????????????*").unwrap()];
    let outside = [
        language("*b????????????????c").unwrap(),
        language("*c*").unwrap(),
    ];
    let question = Question {
        inside: &[&inside[0], &inside[0]],
        outside: &[&outside[0], &outside[1]],
        guard: Guard::Command,
    };
    let mut effort = Effort {
        most_states: 50,
        ..effort()
    };
    assert_eq!(find(&question, &mut effort), Found::Open);
    let mut effort = Effort {
        most_steps: 50,
        ..self::effort()
    };
    assert_eq!(find(&question, &mut effort), Found::Open);
    let mut effort = Effort {
        most_in_all: 50,
        ..self::effort()
    };
    assert_eq!(find(&question, &mut effort), Found::Open);
}
