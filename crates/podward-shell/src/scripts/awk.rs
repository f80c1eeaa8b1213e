//! Program texts of awk.

use super::Found;

/// Looks for what a program text runs, writes and reads outside its input.
///
/// It does not parse: every `system`, pipe to or from a command, redirection, `getline <` and load
/// of code outside strings, regular expressions and comments counts. Where a slash or a string
/// cannot be told apart the text counts as running code.
pub(crate) fn awk(script: &str) -> Found {
    let mut found = Found::default();
    let tokens = tokens(script);
    for (n, token) in tokens.iter().enumerate() {
        let before = n.checked_sub(1).and_then(|n| tokens.get(n));
        let after = tokens.get(n + 1);
        match token {
            Token::Name(name) if name == "system" => {
                found.runs_code = true;
                if let (Some(Token::Sign('(')), Some(Token::Text(command))) =
                    (after, tokens.get(n + 2))
                {
                    found.commands.push(command.clone());
                }
            }
            Token::Name(name) if name == "getline" => getline(before, after, &mut found),
            // `@load`, `@include`, indirect calls.
            Token::Sign('@') => found.runs_code = true,
            Token::Pipe => {
                let is_alternative = matches!(before, Some(Token::Pipe));
                if !is_alternative {
                    found.runs_code = true;
                }
                let command = match after {
                    Some(Token::Name(name)) if name == "getline" => before,
                    _ => after,
                };
                if let Some(Token::Text(command)) = command {
                    found.commands.push(command.clone());
                }
            }
            Token::Unclear => found.runs_code = true,
            _ => {}
        }
    }
    writes(&tokens, &mut found);
    found
}

fn getline(before: Option<&Token>, after: Option<&Token>, found: &mut Found) {
    if matches!(before, Some(Token::Pipe)) {
        return;
    }
    let _ = after;
    found.runs_code |= matches!(before, Some(Token::Sign('&')));
}

/// `print > "file"` and `getline < "file"`.
///
/// A `>` is a comparison only inside parentheses or in a pattern; `print a > b` always writes.
fn writes(tokens: &[Token], found: &mut Found) {
    let mut printing = false;
    let mut depth = 0_usize;
    for (n, token) in tokens.iter().enumerate() {
        let after = tokens.get(n + 1);
        match token {
            Token::Name(name) if name == "print" || name == "printf" => {
                printing = true;
                depth = 0;
            }
            Token::Sign('(') => depth += 1,
            Token::Sign(')') => depth = depth.saturating_sub(1),
            Token::Sign(';' | '}' | '\n') => printing = false,
            Token::Redirect if printing && depth == 0 => {
                let is_whole = !matches!(
                    tokens.get(n + 2),
                    Some(Token::Text(_) | Token::Name(_) | Token::Sign('$' | '('))
                );
                match after {
                    Some(Token::Text(path)) if is_whole => {
                        if path != "/dev/stderr" && path != "/dev/stdout" {
                            found.writes.push(path.clone());
                        }
                    }
                    _ => found.writes_unknown = true,
                }
            }
            Token::Sign('<') => {
                let reads = n
                    .checked_sub(1)
                    .and_then(|n| tokens.get(n.saturating_sub(3)..=n))
                    .is_some_and(|before| {
                        before
                            .iter()
                            .any(|token| matches!(token, Token::Name(name) if name == "getline"))
                    });
                if let (true, Some(Token::Text(path))) = (reads, after) {
                    found.reads.push(path.clone());
                }
            }
            _ => {}
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Name(String),
    Text(String),
    /// A single `|` or `|&`.
    Pipe,
    /// `>` or `>>`.
    Redirect,
    /// Any other character.
    Sign(char),
    /// A number or a regular expression.
    Value,
    /// What cannot be told.
    Unclear,
}

fn tokens(script: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut chars = script.char_indices().peekable();
    while let Some((_, c)) = chars.next() {
        match c {
            ' ' | '\t' | '\r' => {}
            '#' => while chars.next_if(|(_, c)| *c != '\n').is_some() {},
            '"' => tokens.push(string(&mut chars)),
            '/' => tokens.push(slash(&mut chars, tokens.last())),
            '|' => {
                if chars.next_if(|(_, c)| *c == '|').is_some() {
                    tokens.push(Token::Sign('∨'));
                } else {
                    let _ = chars.next_if(|(_, c)| *c == '&');
                    tokens.push(Token::Pipe);
                }
            }
            '>' => {
                if chars.next_if(|(_, c)| *c == '=').is_some() {
                    tokens.push(Token::Sign('≥'));
                } else {
                    let _ = chars.next_if(|(_, c)| *c == '>');
                    tokens.push(Token::Redirect);
                }
            }
            c if c.is_ascii_alphabetic() || c == '_' => {
                let mut name = c.to_string();
                while let Some((_, c)) =
                    chars.next_if(|(_, c)| c.is_ascii_alphanumeric() || *c == '_')
                {
                    name.push(c);
                }
                tokens.push(Token::Name(name));
            }
            c if c.is_ascii_digit() => {
                while chars
                    .next_if(|(_, c)| c.is_ascii_alphanumeric() || *c == '.')
                    .is_some()
                {}
                tokens.push(Token::Value);
            }
            // A continued line.
            '\\' => {
                let _ = chars.next();
            }
            c => tokens.push(Token::Sign(c)),
        }
    }
    tokens
}

type Chars<'s> = std::iter::Peekable<std::str::CharIndices<'s>>;

fn string(chars: &mut Chars<'_>) -> Token {
    let mut text = String::new();
    while let Some((_, c)) = chars.next() {
        match c {
            '"' => return Token::Text(text),
            '\\' => match chars.next() {
                Some((_, 'n')) => text.push('\n'),
                Some((_, 't')) => text.push('\t'),
                Some((_, c @ ('"' | '\\' | '/'))) => text.push(c),
                Some((_, c)) if c.is_ascii_digit() || c == 'x' => return Token::Unclear,
                Some((_, c)) => text.push(c),
                None => return Token::Unclear,
            },
            c => text.push(c),
        }
    }
    Token::Unclear
}

/// A regular expression, unless a value stands before the slash.
fn slash(chars: &mut Chars<'_>, before: Option<&Token>) -> Token {
    let divides = match before {
        Some(Token::Value | Token::Text(_) | Token::Sign(')' | ']')) => true,
        Some(Token::Name(name)) => !matches!(
            name.as_str(),
            "print" | "printf" | "return" | "in" | "case" | "getline"
        ),
        _ => false,
    };
    if divides {
        return Token::Sign('/');
    }
    let mut in_class = false;
    while let Some((_, c)) = chars.next() {
        match c {
            '\\' => {
                let _ = chars.next();
            }
            '[' => in_class = true,
            ']' => in_class = false,
            '/' if !in_class => return Token::Value,
            '\n' => return Token::Unclear,
            _ => {}
        }
    }
    Token::Unclear
}
