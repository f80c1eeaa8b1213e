//! From a pattern's tokens to the places of its automaton.

use crate::pattern::{Class, Token};
use crate::text::is_bare;

/// One place of an automaton. Steps without a character only lead to later places.
#[derive(Debug)]
pub(super) enum Node {
    /// One character, then `next`.
    Step { on: On, next: usize },
    /// Any run of such characters, then the next place.
    Loop { on: On },
    /// Any run of characters that ends in `/`, then the next place.
    Directories,
    /// The next place, or another one.
    Fork { other: usize },
    /// Another place.
    Jump { to: usize },
    /// The end of the pattern: the last place.
    Accept,
}

impl Node {
    /// A character of the pattern that is no wildcard and no blank.
    pub(super) fn is_literal(&self) -> bool {
        match self {
            Self::Step { on, .. } => match on {
                On::Char(c) => is_bare(*c),
                On::Class(_) | On::BareClass(_) | On::QuotedClass(_) => true,
                On::Any | On::Bare | On::Quoted => false,
            },
            Self::Loop { .. }
            | Self::Directories
            | Self::Fork { .. }
            | Self::Jump { .. }
            | Self::Accept => false,
        }
    }
}

/// What one character must be.
#[derive(Debug)]
pub(super) enum On {
    Char(char),
    Any,
    Class(Class),
    /// A character of a word that is written without quotes.
    Bare,
    BareClass(Class),
    /// A character between single quotes.
    Quoted,
    QuotedClass(Class),
}

/// The places of a pattern whose last `n_optional` tokens may be missing.
pub(super) fn build(tokens: &[Token], n_optional: usize) -> Vec<Node> {
    let n_needed = tokens.len().saturating_sub(n_optional);
    let mut builder = Builder {
        nodes: Vec::with_capacity(tokens.len() + 2),
    };
    let mut fork = None;
    for (idx, token) in tokens.iter().enumerate() {
        if n_optional > 0 && idx == n_needed {
            fork = Some(builder.nodes.len());
            builder.nodes.push(Node::Fork { other: 0 });
        }
        match token {
            Token::Directories if tokens.get(idx + 1..).is_none_or(is_trailing) => {
                builder.nodes.push(Node::Loop { on: On::Any });
            }
            token => builder.push(token),
        }
    }
    let end = builder.nodes.len();
    builder.aim(fork, end);
    builder.nodes.push(Node::Accept);
    builder.nodes
}

/// Nothing but directories is left: then they stand for anything.
fn is_trailing(rest: &[Token]) -> bool {
    rest.iter().all(|token| *token == Token::Directories)
}

struct Builder {
    nodes: Vec<Node>,
}

impl Builder {
    fn step(&mut self, on: On) {
        let next = self.nodes.len() + 1;
        self.nodes.push(Node::Step { on, next });
    }

    fn push(&mut self, token: &Token) {
        match token {
            Token::Char(c) => self.step(On::Char(*c)),
            Token::Any => self.step(On::Any),
            Token::Class(class) => self.step(On::Class(class.clone())),
            Token::Star => self.nodes.push(Node::Loop { on: On::Any }),
            Token::Directories => {
                let other = self.nodes.len() + 2;
                self.nodes.push(Node::Fork { other });
                self.nodes.push(Node::Directories);
            }
            Token::Word(content) => self.word(content),
        }
    }

    /// A quoted word of the pattern: written without quotes or with them.
    fn word(&mut self, content: &[Token]) {
        let fits_bare = content
            .iter()
            .all(|token| !matches!(token, Token::Char(c) if !is_bare(*c)));
        let fork = fits_bare.then(|| {
            let fork = self.nodes.len();
            self.nodes.push(Node::Fork { other: 0 });
            for token in content {
                self.bare(token);
            }
            let jump = self.nodes.len();
            self.nodes.push(Node::Jump { to: 0 });
            let quoted = self.nodes.len();
            self.aim(Some(fork), quoted);
            jump
        });
        self.step(On::Char('\''));
        for token in content {
            self.quoted(token);
        }
        self.step(On::Char('\''));
        let end = self.nodes.len();
        self.aim(fork, end);
    }

    fn bare(&mut self, token: &Token) {
        match token {
            Token::Char(c) => self.step(On::Char(*c)),
            Token::Any => self.step(On::Bare),
            Token::Class(class) => self.step(On::BareClass(class.clone())),
            // A quoted word is not split into paths, nor does it hold another word.
            Token::Star | Token::Directories | Token::Word(_) => {
                self.nodes.push(Node::Loop { on: On::Bare });
            }
        }
    }

    fn quoted(&mut self, token: &Token) {
        match token {
            Token::Char('\'') => {
                let next = self.nodes.len() + 4;
                self.quoted_quote(next);
            }
            Token::Char(c) => self.step(On::Char(*c)),
            Token::Any => self.quoted_one(On::Quoted),
            Token::Class(class) if class.contains('\'') => {
                self.quoted_one(On::QuotedClass(class.clone()));
            }
            Token::Class(class) => self.step(On::QuotedClass(class.clone())),
            Token::Star | Token::Directories | Token::Word(_) => {
                let run = self.nodes.len();
                self.nodes.push(Node::Loop { on: On::Quoted });
                self.nodes.push(Node::Fork { other: run + 6 });
                self.quoted_quote(run);
            }
        }
    }

    /// One character between quotes: as itself, or the four characters of a quote.
    fn quoted_one(&mut self, on: On) {
        let fork = self.nodes.len();
        self.nodes.push(Node::Fork { other: fork + 2 });
        let next = fork + 6;
        self.nodes.push(Node::Step { on, next });
        self.quoted_quote(next);
    }

    /// `'\''`, then `next`.
    fn quoted_quote(&mut self, next: usize) {
        self.step(On::Char('\''));
        self.step(On::Char('\\'));
        self.step(On::Char('\''));
        self.nodes.push(Node::Step {
            on: On::Char('\''),
            next,
        });
    }

    fn aim(&mut self, from: Option<usize>, target: usize) {
        let node = from.and_then(|from| self.nodes.get_mut(from));
        if let Some(Node::Fork { other: to } | Node::Jump { to }) = node {
            *to = target;
        }
    }
}
