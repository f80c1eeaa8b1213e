//! A rule's pattern as sets of texts.

use super::{PatternWord, WordRest};
use crate::compile::Domain;
use crate::pattern::Token;
use crate::pattern::language::{Guard, Language};
use crate::rule::Rule;
use crate::rule::path::Anchor;
use crate::text::written_words;

/// The texts that one rule's pattern matches, of each kind.
#[derive(Debug)]
pub(super) struct View {
    pub(super) plain: Language,
    pub(super) command: Language,
    pub(super) loose_command: Option<Language>,
    pub(super) path: Language,
    pub(super) anchor: Anchor,
    pub(super) url: Language,
    /// As an allow, the rule covers just the URLs that `url` says.
    pub(super) is_exact_url: bool,
    pub(super) names_host: bool,
    /// Known characters in front of a pattern for paths.
    pub(super) named_path: String,
}

impl View {
    pub(super) fn new(rule: &Rule) -> Self {
        let path = Language::of(&rule.path().glob);
        Self {
            plain: Language::of(&rule.plain()),
            command: Language::of(&rule.command()),
            loose_command: rule.loose_command().as_ref().map(Language::of),
            named_path: path.tokens().iter().map_while(Token::literal).collect(),
            path,
            anchor: rule.path().anchor,
            url: Language::of(&rule.url().any()),
            is_exact_url: rule.url().is_exact_cover(),
            names_host: rule.url().names_host(),
        }
    }

    /// The texts of one kind.
    pub(super) const fn of(&self, domain: Domain) -> &Language {
        match domain {
            Domain::Command => &self.command,
            Domain::Path => &self.path,
            Domain::Url => &self.url,
            Domain::Plain => &self.plain,
        }
    }
}

/// The texts that there are of one kind.
pub(super) fn guard(domain: Domain, is_of_a_server: bool) -> Guard {
    match domain {
        Domain::Command => Guard::Command,
        Domain::Path => Guard::Path,
        Domain::Url => Guard::Url,
        Domain::Plain if is_of_a_server => Guard::Object,
        Domain::Plain => Guard::Any,
    }
}

/// The words of a pattern for commands.
pub(super) fn words(tokens: &[Token]) -> Vec<PatternWord> {
    let mut words = Vec::new();
    let mut word: Vec<&Token> = Vec::new();
    let mut in_quotes = false;
    for token in tokens {
        match token {
            Token::Char(' ') if !in_quotes => words.push(of_word(&std::mem::take(&mut word))),
            token => {
                in_quotes ^= *token == Token::Char('\'');
                word.push(token);
            }
        }
    }
    words.push(of_word(&word));
    words
}

fn of_word(tokens: &[&Token]) -> PatternWord {
    let front: String = tokens.iter().map_while(|token| token.literal()).collect();
    let behind = tokens.get(front.chars().count()..).unwrap_or_default();
    let rest = match behind {
        [] => WordRest::Nothing,
        [Token::Star] => WordRest::Star,
        _ => WordRest::Wild,
    };
    let front = match (&rest, &*written_words(&front)) {
        (WordRest::Nothing, [only]) => only.word.clone(),
        _ => front,
    };
    PatternWord { front, rest }
}
