//! Texts that a pattern matches, as people would write them.

use crate::compile::Domain;
use crate::pattern::Token;
use crate::pattern::language::Language;

/// What stands for a `*`, in turn.
const FILLINGS: &[(Domain, &[&str])] = &[
    (Domain::Command, &["x", "", "-x", "x y", "a/b", "--x=y z"]),
    (Domain::Path, &["x", "", "a/b", "a.b", ".x", "x/y/z"]),
    (Domain::Url, &["x", "", "a.b", "x/y", "example.com/"]),
    (Domain::Plain, &["x", "", "\"a\":1", "a/b"]),
];

/// Texts that a pattern matches: one for each way in which all its wildcards may be filled alike.
pub(super) fn samples(language: &Language, domain: Domain) -> Vec<String> {
    let fillings = FILLINGS.iter().find(|(of, _)| *of == domain);
    let fillings = fillings.map_or(&[][..], |(_, fillings)| fillings);
    let mut texts: Vec<String> = Vec::new();
    let needed = language
        .tokens()
        .len()
        .saturating_sub(language.n_optional());
    let shorter = language.tokens().get(..needed).unwrap_or_default();
    for filling in fillings {
        for tokens in [language.tokens(), shorter] {
            if let Some(text) = filled(tokens, filling)
                && !texts.contains(&text)
            {
                texts.push(text);
            }
        }
    }
    texts
}

fn filled(tokens: &[Token], filling: &str) -> Option<String> {
    let mut text = String::new();
    for token in tokens {
        match token {
            Token::Char(c) => text.push(*c),
            Token::Any => text.push('x'),
            Token::Star => text.push_str(filling),
            Token::Directories => text.push_str("d/"),
            Token::Class(class) => {
                let nice = "xyzabcdefghijklmnopqrstuvw0123456789XABCDEF_-.,:= ";
                let mut firsts = class.ranges.iter().map(|(first, _)| *first);
                let nice = nice.chars().find(|c| class.contains(*c));
                text.push(nice.or_else(|| firsts.find(|c| class.contains(*c)))?);
            }
            Token::Word(content) => {
                text.push('\'');
                text.push_str(&filled(content, "x y")?);
                text.push('\'');
            }
        }
    }
    Some(text)
}
