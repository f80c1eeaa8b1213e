use super::super::{Token, parse};
use super::{Quoting, words};

/// Tokens as text: a quoted word with wildcards in `‹›`.
fn shown(tokens: &[Token]) -> String {
    tokens
        .iter()
        .map(|token| match token {
            Token::Char(c) => c.to_string(),
            Token::Any => "?".to_owned(),
            Token::Star => "*".to_owned(),
            Token::Directories => "**/".to_owned(),
            Token::Class(_) => "[]".to_owned(),
            Token::Word(content) => format!("‹{}›", shown(content)),
        })
        .collect()
}

#[test]
fn d3_1_quotes_are_brought_to_the_written_form() {
    for (pattern, expected, loose, quoting) in [
        ("git push *", "git push *", None, Quoting::None),
        ("a 'b c' *", "a 'b c' *", None, Quoting::Closed),
        ("a \"b c\" *", "a 'b c' *", None, Quoting::Closed),
        ("a 'b' *", "a b *", None, Quoting::Closed),
        ("a ''", "a ''", None, Quoting::Closed),
        ("--m='b c'", "'--m=b c'", None, Quoting::Closed),
        ("a \"it's\"", "a 'it'\\''s'", None, Quoting::Closed),
        ("a 'it'\\''s'", "a 'it'\\''s'", None, Quoting::Closed),
        ("a \"b \\\" c\"", "a 'b \" c'", None, Quoting::Closed),
        ("a '*' b", "a ‹*› b", None, Quoting::Closed),
        ("a 'b *'", "a ‹b *›", None, Quoting::Closed),
        ("*'b c'*", "‹*b c*›", Some("*b c*"), Quoting::Closed),
        ("a it's *", "a it's *", None, Quoting::Open),
        ("a \"b *", "a \"b *", None, Quoting::Open),
        ("a ['] *", "a ' *", None, Quoting::Open),
    ] {
        let words = words(&parse(pattern).unwrap());
        assert_eq!(shown(&words.tokens), expected, "{pattern}");
        assert_eq!(
            words.loose.as_deref().map(shown).as_deref(),
            loose,
            "{pattern}"
        );
        assert_eq!(words.quoting, quoting, "{pattern}");
    }
}

#[test]
fn odd_blanks_are_seen() {
    for (pattern, expected) in [
        ("a b *", false),
        ("a  b", true),
        (" a", true),
        ("a ", true),
        ("a '  ' b", false),
        ("a *", false),
    ] {
        let words = words(&parse(pattern).unwrap());
        assert_eq!(words.has_odd_blank, expected, "{pattern}");
    }
}
