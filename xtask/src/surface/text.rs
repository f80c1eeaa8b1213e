//! Code as one line of text, with every name spelled out.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{GenericParam, Generics, ReturnType, Signature, Type};

use super::modules::{Crate, Meaning, Path};

/// Where code stands: what its names mean.
pub(super) struct Scope<'a> {
    pub(super) crate_: &'a Crate,
    pub(super) module: &'a Path,
    /// Names of generic parameters.
    generic: BTreeSet<String>,
}

impl<'a> Scope<'a> {
    pub(super) const fn new(crate_: &'a Crate, module: &'a Path) -> Self {
        Self {
            crate_,
            module,
            generic: BTreeSet::new(),
        }
    }

    /// The same with these generic parameters.
    pub(super) fn with(&self, generics: &Generics) -> Self {
        let mut generic = self.generic.clone();
        for parameter in &generics.params {
            match parameter {
                GenericParam::Type(parameter) => generic.insert(parameter.ident.to_string()),
                GenericParam::Const(parameter) => generic.insert(parameter.ident.to_string()),
                GenericParam::Lifetime(_) => false,
            };
        }
        Self { generic, ..*self }
    }

    /// Code as text: names in full, blanks where a reader wants them.
    pub(super) fn show(&self, code: &impl ToTokens) -> String {
        let mut line = Line::default();
        self.write(code.to_token_stream(), &mut line);
        line.text
    }

    fn write(&self, tokens: TokenStream, line: &mut Line) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            at += 1;
            match token {
                TokenTree::Ident(name) => {
                    let mut path = vec![name.to_string()];
                    // The names behind it belong to the same path.
                    while let [
                        TokenTree::Punct(a),
                        TokenTree::Punct(b),
                        TokenTree::Ident(next),
                        ..,
                    ] = tokens.get(at..).unwrap_or_default()
                        && (a.as_char(), b.as_char()) == (':', ':')
                    {
                        path.push(next.to_string());
                        at += 3;
                    }
                    let follows_path = line.text.ends_with("::") || line.text.ends_with('\'');
                    let is_generic = path.first().is_some_and(|name| self.generic.contains(name));
                    if follows_path || is_generic {
                        line.word(&path.join("::"));
                    } else {
                        line.word(&self.full(&path));
                    }
                }
                TokenTree::Literal(literal) => line.word(&literal.to_string()),
                TokenTree::Punct(mark) => line.mark(mark.as_char()),
                TokenTree::Group(group) => {
                    let (open, close) = match group.delimiter() {
                        Delimiter::Parenthesis => ("(", ")"),
                        Delimiter::Bracket => ("[", "]"),
                        Delimiter::Brace => ("{ ", " }"),
                        Delimiter::None => ("", ""),
                    };
                    line.open(open);
                    self.write(group.stream(), line);
                    line.close(close);
                }
            }
        }
    }

    /// A path in full: by its public name if it has one.
    pub(super) fn full(&self, path: &[String]) -> String {
        // The value, not the module.
        if path == ["self"] {
            return "self".to_owned();
        }
        match self.crate_.meaning_of_path(self.module, path) {
            Meaning::Foreign(path) => path.join("::"),
            Meaning::Unknown => path.join("::"),
            Meaning::Local(definition) => {
                self.crate_.public_path(&definition).unwrap_or_else(|| {
                    // `Type::CONST`, or something that cannot be named from outside.
                    match definition.split_last() {
                        Some((last, owner))
                            if self.crate_.public_path(&owner.to_vec()).is_some() =>
                        {
                            let owner = self.crate_.public_path(&owner.to_vec());
                            format!("{}::{last}", owner.unwrap_or_default())
                        }
                        _ => format!("private({})", definition.join("::")),
                    }
                })
            }
        }
    }

    /// `<T: Bound>`, or nothing.
    pub(super) fn generics(&self, generics: &Generics) -> String {
        if generics.params.is_empty() {
            String::new()
        } else {
            let parameters: Vec<String> = generics.params.iter().map(|p| self.show(p)).collect();
            format!("<{}>", parameters.join(", "))
        }
    }

    /// ` where T: Bound`, or nothing.
    pub(super) fn bounds(&self, generics: &Generics) -> String {
        match &generics.where_clause {
            None => String::new(),
            Some(clause) => {
                let bounds: Vec<String> = clause.predicates.iter().map(|p| self.show(p)).collect();
                format!(" where {}", bounds.join(", "))
            }
        }
    }

    /// A function without its name: what names its parameters have is nobody's business.
    pub(super) fn signature(&self, signature: &Signature) -> String {
        let scope = self.with(&signature.generics);
        let parameters: Vec<String> = signature
            .inputs
            .iter()
            .map(|input| match input {
                syn::FnArg::Receiver(receiver) => {
                    // `mut self` is `self` to a caller.
                    scope.show(receiver).trim_start_matches("mut ").to_owned()
                }
                syn::FnArg::Typed(typed) => scope.show(&typed.ty),
            })
            .collect();
        let output = match &signature.output {
            ReturnType::Default => String::new(),
            ReturnType::Type(_, output) => format!(" -> {}", scope.show(output)),
        };
        format!(
            "{}({}){output}{}",
            scope.generics(&signature.generics),
            parameters.join(", "),
            scope.bounds(&signature.generics)
        )
    }

    /// The definition that a type names, if it is one of this crate.
    pub(super) fn definition_of(&self, ty: &Type) -> Option<Path> {
        let Type::Path(path) = ty else { return None };
        let names: Vec<String> = path
            .path
            .segments
            .iter()
            .map(|s| s.ident.to_string())
            .collect();
        match self.crate_.meaning_of_path(self.module, &names) {
            Meaning::Local(definition) => Some(definition),
            Meaning::Foreign(_) | Meaning::Unknown => None,
        }
    }
}

/// `const` and `async` in front of `fn`; `unsafe` is forbidden everywhere.
pub(super) fn qualifiers(signature: &Signature) -> String {
    let mut text = String::new();
    if signature.constness.is_some() {
        text.push_str("const ");
    }
    if signature.asyncness.is_some() {
        text.push_str("async ");
    }
    text
}

/// A line of code in the making.
#[derive(Default)]
struct Line {
    text: String,
}

impl Line {
    fn word(&mut self, word: &str) {
        let needs_blank = self
            .text
            .ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '"' | ')' | '>' | ']'));
        if needs_blank && !self.text.ends_with("->") {
            self.text.push(' ');
        }
        self.text.push_str(word);
    }

    fn mark(&mut self, mark: char) {
        match mark {
            ',' | ';' => {
                self.text.push(mark);
                self.text.push(' ');
            }
            ':' if self.text.ends_with(": ") => {
                self.text.pop();
                self.text.push(':');
            }
            ':' => self.text.push_str(": "),
            '>' if self.text.ends_with('-') => {
                self.text.pop();
                self.text.push_str(" -> ");
            }
            '=' | '+' => {
                self.text.push(' ');
                self.text.push(mark);
                self.text.push(' ');
            }
            '\'' | '&' | '*' if self.text.ends_with(|c: char| c.is_alphanumeric()) => {
                self.text.push(' ');
                self.text.push(mark);
            }
            _ => self.text.push(mark),
        }
    }

    fn open(&mut self, open: &str) {
        if open.starts_with('{') && !self.text.ends_with(' ') {
            self.text.push(' ');
        }
        self.text.push_str(open);
    }

    fn close(&mut self, close: &str) {
        let end = self.text.trim_end_matches([' ', ',']).len();
        self.text.truncate(end);
        self.text.push_str(close);
    }
}
