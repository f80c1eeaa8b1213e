use super::{Shape, program_of};
use crate::pattern::{Bounds, Glob, Hit, parse};
use crate::testing::text;
use crate::work::Work;

#[test]
fn the_program_is_the_first_word_that_is_no_assignment() {
    for (command, expected) in [
        ("rm x", 0..2),
        ("rm", 0..2),
        ("A=1 rm x", 4..6),
        ("A=1 _b2= rm", 9..11),
        ("a-b=1 rm", 0..5),
        ("=1 rm", 0..2),
        ("2=1 rm", 0..3),
        ("A=1", 3..3),
        ("", 0..0),
    ] {
        assert_eq!(program_of(command), expected, "{command}");
    }
}

fn check(written: &str, cases: &[(&str, Hit)]) {
    for (pattern, expected) in cases {
        let glob = Glob::new(parse(pattern).unwrap());
        let text = text(written);
        let shape = Shape::written(&text, &(0..1), &(0..0));
        let found = glob.hit(&shape, Bounds::OPEN, &mut Work::new());
        assert_eq!(found, Ok(*expected), "{pattern} on {written}");
    }
}

#[test]
fn d3_1_a_quoted_hole_decides_how_its_word_is_written() {
    use Hit::{May, Must, No};
    check(
        "a b‹q›",
        &[
            ("a b*", May),
            ("a 'b*", May),
            ("a ?*", Must),
            ("a c*", No),
            ("a", No),
        ],
    );
    check(
        "a 'b c‹q›'",
        &[("a 'b c*'", Must), ("a b*", No), ("a 'b c'\\''d'", May)],
    );
    check(
        "a ‹q› c",
        &[
            ("a * c", Must),
            ("a c", No),
            ("a '' c", May),
            ("a 'x c", No),
        ],
    );
}

#[test]
fn d3_2_an_unquoted_hole_may_be_no_word() {
    use Hit::{May, Must, No};
    check(
        "a ‹u› c",
        &[
            ("a c", May),
            ("a* c", Must),
            ("a  c", May),
            ("ac", No),
            ("a * c", May),
        ],
    );
    check("a ‹u›", &[("a", May), ("a *", May), ("a*", Must)]);
    check("‹u› c", &[("c", May), ("* c", May), ("*c", Must)]);
    check("‹u› ‹u›", &[("a", May), ("*", Must)]);
    check(
        "a b‹u›c",
        &[
            ("a b*c", May),
            ("a bc", May),
            ("a 'b", No),
            ("a 'b x' c", May),
        ],
    );
}

#[test]
fn a_path_is_not_known_before_an_expansion() {
    for (path, pattern, expected) in [
        ("src/‹q›", "src/*", Hit::May),
        ("src/‹q›.log", "*.log", Hit::Must),
        ("src/‹g›.log", "src/*", Hit::Must),
        ("src/‹q›/‹g›", "*/*", Hit::May),
        ("src/‹q›/a/‹g›", "*/*", Hit::Must),
        ("src/‹q›/a", "*/a", Hit::May),
        ("src/‹q›/a", "*a", Hit::Must),
    ] {
        let glob = Glob::new(parse(pattern).unwrap());
        let text = text(path);
        let shape = Shape::path_from_root(&text);
        assert_eq!(
            glob.hit(&shape, Bounds::OPEN, &mut Work::new()),
            Ok(expected),
            "{pattern} on {path}"
        );
    }
}
