use super::super::{Glob, parse};
use super::covers;
use crate::testing::{Random, n_cases};
use crate::work::Work;

fn check(early: &str, late: &str) -> bool {
    let glob = |pattern: &str| Glob::new(parse(pattern).unwrap());
    covers(&glob(early), &glob(late), &mut Work::new())
}

#[test]
fn d1_4_a_pattern_covers_what_it_matches_all_of() {
    for (early, late, expected) in [
        ("git *", "git push *", true),
        ("git *", "git *", true),
        ("git *", "git*", false),
        ("git push *", "git *", false),
        ("*.env", "a/*.env", true),
        ("*.env", "*.env.*", false),
        ("*a*", "*ba*", true),
        ("*a*b*", "*b*a*", false),
        ("?", "a", true),
        ("?", "[ab]", true),
        ("[a-c]", "[ab]", true),
        ("[ab]", "[a-c]", false),
        ("[!a]", "b", true),
        ("[!a]", "?", false),
        ("*", "**/x", true),
        ("**/x", "a/x", true),
        ("**/x", "*/x", true),
        ("*/x", "**/x", false),
        ("a*", "a**", false),
        ("a/**", "a/*", true),
        ("*?*", "a*", true),
        ("?*?", "a*b", true),
        ("é*", "é", true),
    ] {
        if parse(late).is_ok() {
            assert_eq!(check(early, late), expected, "{early} over {late}");
        }
    }
}

#[test]
fn a_cover_holds_for_every_text() {
    let mut random = Random::new(11);
    let pieces = ["a", "b", "/", "*", "*", "?", "**/", "[ab]", "[!a]"];
    let mut n_covers = 0;
    for _ in 0..n_cases(1_000_000) / 200 {
        let (early, late) = (random.text(&pieces, 4), random.text(&pieces, 5));
        let (Ok(early_tokens), Ok(late_tokens)) = (parse(&early), parse(&late)) else {
            continue;
        };
        let n_optional = random.below(2);
        let early_glob = Glob::with_optional_end(early_tokens, random.below(2));
        let late_glob = Glob::with_optional_end(late_tokens, n_optional);
        let is_covered = covers(&early_glob, &late_glob, &mut Work::new());
        n_covers += usize::from(is_covered);
        let mut escapes = false;
        for _ in 0..60 {
            let text = random.text(&["a", "b", "/", "z"], 5);
            let matches = |glob: &Glob| glob.matches(&text, &(0..0), &mut Work::new()).unwrap();
            let is_escape = matches(&late_glob) && !matches(&early_glob);
            assert!(!is_covered || !is_escape, "{early} over {late}: {text}");
            escapes |= is_escape;
        }
        // Nothing shorter than six characters escapes: then it should be seen as covered, but for
        // texts that are longer.
        if !escapes && early == late && n_optional == 0 {
            assert!(is_covered, "{early} over {late}");
        }
    }
    assert!(n_covers > 100, "{n_covers}");
}

#[test]
fn no_cover_is_claimed_when_time_runs_out() {
    let glob = |pattern: &str| Glob::new(parse(pattern).unwrap());
    let early = glob("*a??????????????????");
    let late = glob("*a???????????????????*");
    assert!(!covers(&early, &late, &mut Work::with_limit(10_000)));
}
