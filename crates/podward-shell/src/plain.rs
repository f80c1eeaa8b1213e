//! Commands without a character that means anything to the shell: most of what agents run.
//!
//! The words are told apart by blanks and nothing else, so the reader, the second look and what is
//! known of variables are left out; what the program does with its words is asked as always. A test
//! compares every answer with the reader's.

use podward_policy::{ByteSpan, Lowered, WholeText};

use crate::arg::Arg;
use crate::calls::{Call, Lookup};
use crate::limits;
use crate::operations::{Bases, Sink};
use crate::place::ShellPlace;
use crate::reader;
use crate::syntax::Script;
use crate::walk::{Context, Stdin, Walker};

/// The operations of a plain command; `None` for any other text.
pub(crate) fn lower(command: &str, place: &ShellPlace<'_>) -> Option<Lowered> {
    if command.len() > limits::PLAIN_BYTES || !command.bytes().all(is_plain) {
        return None;
    }
    let args = words(command);
    let name = args.first()?.known()?;
    if name.contains('=') || reader::is_reserved(name) {
        return None;
    }
    let span = ByteSpan {
        start: args.first()?.span?.start,
        end: args.last()?.span?.end,
    };
    let mut sink = Sink::new(*place);
    let script = Script::default();
    let context = Context::top();
    let mut walker = Walker::new(&mut sink, &script, Bases::known(place.cwd), context.clone());
    walker.sink.burn(1);
    walker.call(&Call {
        assignments: &[],
        args: &args,
        demand: context.demand,
        stdin: Stdin::Inherited,
        span: Some(span),
        elsewhere: context.elsewhere,
        n_wrappers: context.n_wrappers,
        has_redirects: false,
        lookup: Lookup::Shell,
    });
    let text = command.trim_matches(' ');
    crate::lowered(
        sink,
        WholeText {
            exact: text.into(),
            stripped: text.into(),
            heads: Box::default(),
        },
    )
}

/// Characters that stand for themselves wherever they stand in a word; `=` in front of a command's
/// name is looked at on its own.
const fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b' ' | b'-' | b'_' | b'.' | b'/' | b':' | b'@' | b'%' | b'+' | b',' | b'='
        )
}

fn words(command: &str) -> Vec<Arg> {
    let mut words = Vec::with_capacity(8);
    let mut start = 0;
    for word in command.split(' ') {
        let end = start + word.len();
        if !word.is_empty() {
            words.push(Arg::known_text(word, Some(ByteSpan { start, end })));
        }
        start = end + 1;
    }
    words
}

#[cfg(test)]
mod tests;
