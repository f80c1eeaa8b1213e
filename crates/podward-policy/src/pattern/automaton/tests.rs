use super::super::{Bounds, Glob, Hit, Shape, parse};
use crate::testing::text;
use crate::work::Work;

/// D3.2, the exception: what of a floating pattern must be met by more than the hole.
#[test]
fn an_exempt_hole_alone_is_no_match() {
    for (pattern, written, expected) in [
        ("*rm*", "echo ‹q›", Hit::No),
        ("*rm*", "echo r‹q›", Hit::May),
        ("*rm*", "echo ‹q›m", Hit::May),
        ("*rm*", "echo ‹q› rm", Hit::Must),
        ("* -f*", "echo ‹q›", Hit::No),
        ("*a*b*", "echo a ‹q›", Hit::May),
        ("*[xy]*", "echo ‹q›", Hit::No),
        ("*", "echo ‹q›", Hit::Must),
        ("*? ?*", "echo ‹q›", Hit::May),
        ("*rm*", "‹q› x", Hit::May),
        ("*rm*", "echo ‹u›", Hit::May),
        ("*rm*", "echo ‹u› ‹q›", Hit::May),
        ("**/rm", "echo ‹q›", Hit::No),
    ] {
        let glob = Glob::new(parse(pattern).unwrap());
        let text = text(written);
        let known = text.known_part();
        let program = 0..known.find(' ').unwrap_or(known.len());
        let shape = Shape::written(&text, &program, &program);
        let found = glob.hit_beyond_exempt(&shape, Bounds::OPEN, &mut Work::new());
        assert_eq!(found, Ok(expected), "{pattern} on {written}");
    }
}

#[test]
fn ways_to_write_a_text_do_not_explode() {
    let words = "a‹q› ".repeat(200);
    for pattern in ["a*", "*a*", "*z", &"a* ".repeat(100)] {
        let glob = Glob::new(parse(pattern).unwrap());
        let text = text(&words);
        let shape = Shape::written(&text, &(0..1), &(0..1));
        let mut work = Work::new();
        assert!(
            glob.hit(&shape, Bounds::OPEN, &mut work).is_ok(),
            "{pattern}"
        );
        assert!(work.spent_of(Work::LIMIT) < 3_000_000, "{pattern}");
    }
}
