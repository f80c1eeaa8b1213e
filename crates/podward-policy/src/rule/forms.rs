//! What a pattern says of each kind of text, where its own text does not say it.

use crate::action::Action;
use crate::compile::{Domain, domain_of};
use crate::pattern::{Glob, Problem, Signs, Token, Tokens, is_plainly_right, parse, words};
use crate::rule::path;
use crate::rule::tools::ToolPattern;
use crate::rule::url::UrlParts;

/// The forms of a pattern that are not simply its text.
#[derive(Debug, Clone, Default)]
pub(super) struct Forms {
    tokens: Option<Box<TokenForms>>,
    pub(super) url: Option<Box<UrlParts>>,
}

/// What becomes of the quotes of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quotes {
    /// They are read once.
    Kept,
    /// They are read where they matter: the tools know no commands.
    Apart,
}

impl Quotes {
    pub(super) fn for_tool(tool: &ToolPattern) -> Self {
        match tool {
            ToolPattern::Mcp(_) => Self::Apart,
            ToolPattern::Exact(name) => match domain_of(name) {
                Some(Domain::Command) | None => Self::Kept,
                Some(Domain::Path | Domain::Url | Domain::Plain) => Self::Apart,
            },
            ToolPattern::Every | ToolPattern::Names(_) => Self::Kept,
        }
    }
}

/// The forms of a pattern with a class or with quotes.
#[derive(Debug, Clone, Default)]
struct TokenForms {
    /// It has a class, so that its text says nothing by itself.
    classes: Option<ClassForms>,
    command: Option<Tokens>,
    loose_command: Option<Tokens>,
}

/// The forms of a pattern with a class.
#[derive(Debug, Clone)]
struct ClassForms {
    plain: Tokens,
    /// As a command without its quotes brought to form, for whole lines.
    line: Tokens,
    path: Tokens,
    /// The only text that it matches, if every class is a spelling of one character.
    literal: Option<Box<str>>,
    has_operator: bool,
}

impl Forms {
    /// Reads a pattern.
    pub(super) fn new(
        pattern: &str,
        signs: Signs,
        action: Action,
        quotes: Quotes,
    ) -> Result<Self, Vec<Problem>> {
        let is_right = is_plainly_right(pattern, signs);
        let has_words = quotes == Quotes::Kept && signs.has_quotes();
        if is_right && !has_words {
            let url = match (signs.has_scheme(), signs.has_stars_in_a_row()) {
                (false, _) => None,
                (true, false) => UrlParts::of_text(pattern),
                (true, true) => UrlParts::new(&Glob::written(pattern).tokens()),
            };
            return Ok(Self {
                url: url.map(Box::new),
                tokens: None,
            });
        }
        let tokens = match is_right {
            true => Glob::written(pattern).tokens().into_owned(),
            false => parse(pattern)?,
        };
        let may_have_scheme = signs.has_scheme() || signs.has_class();
        Ok(Self {
            url: may_have_scheme
                .then(|| UrlParts::new(&tokens))
                .flatten()
                .map(Box::new),
            tokens: TokenForms::new(signs, tokens, action, quotes).map(Box::new),
        })
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.tokens.is_none() && self.url.is_none()
    }

    fn classes(&self) -> Option<&ClassForms> {
        self.tokens.as_ref()?.classes.as_ref()
    }

    pub(super) fn plain(&self) -> Option<Glob<'_>> {
        Some(self.classes()?.plain.glob())
    }

    pub(super) fn line(&self) -> Option<Glob<'_>> {
        Some(self.classes()?.line.glob())
    }

    pub(super) fn path(&self) -> Option<Glob<'_>> {
        Some(self.classes()?.path.glob())
    }

    pub(super) fn command(&self) -> Option<Glob<'_>> {
        Some(self.tokens.as_ref()?.command.as_ref()?.glob())
    }

    /// Another reading of the quotes, for restrictive rules.
    pub(super) fn loose_command(&self) -> Option<Glob<'_>> {
        Some(self.tokens.as_ref()?.loose_command.as_ref()?.glob())
    }

    /// The text that a pattern with classes matches, if that is only one; the outer `None`: it has
    /// no class.
    pub(super) fn literal(&self) -> Option<Option<&str>> {
        Some(self.classes()?.literal.as_deref())
    }

    pub(super) fn has_operator(&self) -> Option<bool> {
        Some(self.classes()?.has_operator)
    }
}

impl TokenForms {
    fn new(signs: Signs, tokens: Vec<Token>, action: Action, quotes: Quotes) -> Option<Self> {
        if !signs.has_class() && (quotes == Quotes::Apart || !signs.has_quotes()) {
            return None;
        }
        let words = words(&tokens);
        let loose = words.loose.filter(|_| action != Action::Allow);
        Some(Self {
            command: Some(command_of(words.tokens)),
            loose_command: loose.map(command_of),
            classes: signs.has_class().then(|| ClassForms {
                line: command_of(tokens.clone()),
                path: Tokens::new(tokens.clone(), path::n_below_tokens(&tokens, action)),
                literal: literal_of(&tokens),
                has_operator: tokens_have_operator(&tokens),
                plain: Tokens::new(tokens, 0),
            }),
        })
    }
}

/// The glob of a pattern for commands: one that ends in ` *` also matches without that tail (D4.2).
pub(super) fn command_of(tokens: Vec<Token>) -> Tokens {
    let n_optional = match &*tokens {
        [.., Token::Char(' '), Token::Star] => 2,
        _ => 0,
    };
    Tokens::new(tokens, n_optional)
}

/// The same for a pattern that is read as it is written.
pub(super) fn written_command(pattern: &str) -> Glob<'_> {
    let n_needed = pattern.strip_suffix(" *").map_or(pattern.len(), str::len);
    Glob::written_with_optional_end(pattern, n_needed)
}

fn literal_of(tokens: &[Token]) -> Option<Box<str>> {
    let literal: Option<String> = tokens.iter().map(Token::literal).collect();
    literal.map(String::into_boxed_str)
}

fn tokens_have_operator(tokens: &[Token]) -> bool {
    tokens.iter().enumerate().any(|(idx, token)| match token {
        Token::Char('|' | ';' | '&' | '<' | '>' | '`') => true,
        Token::Char('$') => tokens.get(idx + 1) == Some(&Token::Char('(')),
        Token::Char(_)
        | Token::Any
        | Token::Star
        | Token::Directories
        | Token::Class(_)
        | Token::Word(_) => false,
    })
}
