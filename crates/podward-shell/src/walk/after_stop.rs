//! Text behind the point where reading stopped: deny rules see what follows each separator.

use std::collections::BTreeSet;

use super::{Stdin, Walker};
use crate::arg::Arg;
use crate::calls::{Call, Lookup};
use crate::reader::Origin;
use crate::walk::Demand;

/// Words that may stand in front of a command.
const IN_FRONT: &[&str] = &[
    "if", "then", "else", "elif", "do", "while", "until", "time", "!", "{", "coproc",
];

impl Walker<'_, '_> {
    pub(super) fn after_stop(&mut self, text: &str, origin: Origin, stop: usize) {
        let Some(rest) = text.get(stop..) else {
            return;
        };
        let shift = text.len() - rest.len();
        let is_separator =
            |c: char| matches!(c, ';' | '&' | '|' | '\n' | '(' | ')' | '`' | '{' | '}');
        let mut start = shift;
        // Text that repeats itself is seen once.
        let mut seen = BTreeSet::new();
        let bases = self.bases.clone();
        for piece in rest.split(is_separator) {
            if seen.insert(piece) {
                self.piece(piece, start, origin);
                self.bases.clone_from(&bases);
            }
            start += piece.len() + 1;
        }
    }

    fn piece(&mut self, piece: &str, start: usize, origin: Origin) {
        let mut args: Vec<Arg> = Vec::new();
        let mut at = start;
        for word in piece.split([' ', '\t', '\0', '\r']) {
            let span = origin.span(at, at + word.len());
            at += word.len() + 1;
            let plain: String = word
                .chars()
                .filter(|c| !matches!(c, '"' | '\'' | '\\') && !c.is_control())
                .collect();
            let is_front = args.is_empty()
                && (IN_FRONT.contains(&plain.as_str())
                    || plain.split_once('=').is_some_and(|(name, _)| is_name(name)));
            if !plain.is_empty() && !is_front {
                args.push(Arg::known_text(&plain, Some(span)));
            }
        }
        if args.is_empty() {
            return;
        }
        let span = origin.span(start, start + piece.len());
        self.call(&Call {
            assignments: &[],
            args: &args,
            demand: Demand::Restrictive,
            stdin: Stdin::Inherited,
            span: Some(span),
            elsewhere: self.context.elsewhere,
            n_wrappers: self.context.n_wrappers,
            has_redirects: false,
            lookup: Lookup::Shell,
        });
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
