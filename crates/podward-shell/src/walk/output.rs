//! What a command writes into a pipe, where its words tell.

use super::{Stdin, Walker};
use crate::arg::Arg;
use crate::calls::named_by_tests;
use crate::expand;
use crate::limits;
use crate::syntax::{Command, RedirectKind, Simple};

impl<'w> Walker<'w, '_> {
    /// The input of the command behind this one in a pipeline.
    pub(super) fn output(&self, command: &'w Command) -> Stdin {
        let simple = match command {
            Command::Simple(idx) => self.script.simples.get(idx.0),
            Command::Compound(..) => None,
        };
        let text = simple.and_then(|simple| self.written(simple));
        match (text, simple) {
            (Some(text), Some(simple)) if text.len() <= limits::VALUE_BYTES => {
                Stdin::Piped(text, simple.span)
            }
            _ => simple
                .and_then(|simple| self.listed(simple))
                .unwrap_or(Stdin::Pipe),
        }
    }

    /// The directories below which a command lists files.
    fn listed(&self, simple: &'w Simple) -> Option<Stdin> {
        let args = expand::words(&simple.words, self.knowledge());
        let (name, args) = args.split_first()?;
        let is_operand = |arg: &&Arg| !arg.prefix().starts_with(['-', '(', '!', '+']);
        let is_given = |option: &str| args.iter().any(|arg| arg.known() == Some(option));
        let operands: Vec<&Arg> = match name.known()? {
            "find" | "gfind" => args.iter().take_while(is_operand).collect(),
            "fd" | "fdfind" | "grep" | "git" => args.iter().filter(is_operand).collect(),
            "rg" if is_given("--files") || is_given("-l") => {
                args.iter().filter(is_operand).collect()
            }
            _ => return None,
        };
        let roots = operands
            .into_iter()
            .filter_map(Arg::known)
            .chain(named_by_tests(args))
            .map(|root| root.trim_end_matches('/'))
            .filter(|root| !matches!(*root, "" | "." | ".."))
            .map(str::to_owned)
            .take(limits::FIND_ROOTS)
            .collect();
        Some(Stdin::Listed(roots, simple.span))
    }

    fn written(&self, simple: &'w Simple) -> Option<String> {
        let reads_only = simple.redirects.iter().all(|redirect| {
            matches!(
                redirect.kind,
                RedirectKind::Read | RedirectKind::HereString | RedirectKind::HereDocument(_)
            )
        });
        if !reads_only || !simple.assignments.is_empty() {
            return None;
        }
        let args = expand::words(&simple.words, self.knowledge());
        let args: Option<Vec<&str>> = args.iter().map(Arg::known).collect();
        let args = args?;
        let (name, args) = args.split_first()?;
        match *name {
            "echo" => echo(args),
            "printf" => printf(args),
            "cat" if args.is_empty() => {
                let input = self.redirected_stdin(&simple.redirects);
                match input.as_ref().unwrap_or(&self.context.stdin) {
                    Stdin::Known(text, _) | Stdin::Piped(text, _) => Some(text.clone()),
                    Stdin::Inherited
                    | Stdin::Pipe
                    | Stdin::Listed(..)
                    | Stdin::File(_)
                    | Stdin::Expanding => None,
                }
            }
            _ => None,
        }
    }
}

fn echo(args: &[&str]) -> Option<String> {
    let (end, words) = match args {
        ["-n", words @ ..] => ("", words),
        words => ("\n", words),
    };
    let is_plain = !words.first().is_some_and(|word| word.starts_with('-'))
        && !words.iter().any(|word| word.contains('\\'));
    is_plain.then(|| words.join(" ") + end)
}

/// `%s` and `%%`, and the commonest escapes; nothing else.
pub(crate) fn printf(args: &[&str]) -> Option<String> {
    let args = args.strip_prefix(&["--"]).unwrap_or(args);
    let (format, mut values) = args.split_first()?;
    if format.starts_with('-') {
        return None;
    }
    let mut text = String::new();
    loop {
        let n_before = values.len();
        let mut chars = format.chars();
        while let Some(c) = chars.next() {
            match c {
                '%' => match chars.next()? {
                    's' => {
                        if let Some((value, rest)) = values.split_first() {
                            text.push_str(value);
                            values = rest;
                        }
                    }
                    '%' => text.push('%'),
                    _ => return None,
                },
                '\\' => match chars.next()? {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    '0' => text.push('\0'),
                    '\\' => text.push('\\'),
                    _ => return None,
                },
                c => text.push(c),
            }
        }
        // The format is used again as long as values are left.
        if values.is_empty() || values.len() == n_before || text.len() > limits::VALUE_BYTES {
            return Some(text);
        }
    }
}
