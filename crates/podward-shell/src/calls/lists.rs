//! Commands whose words come from a list: the input of xargs, the values of parallel, what find and
//! fd find.

use podward_policy::HoleKind;

use super::{Call, any_words};
use crate::arg::{Arg, Part};
use crate::calls::Lookup;
use crate::calls::wrappers::Inner;
use crate::limits;
use crate::options::Usage;
use crate::walk::{Demand, Stdin, Walker};

impl Walker<'_, '_> {
    /// `echo a b | xargs command`: the words that are known to come.
    pub(super) fn known_input(&mut self, call: &Call<'_>, words: &[Arg], usage: &Usage<'_>) {
        if let Stdin::Listed(roots, span) = &call.stdin {
            for root in roots.clone() {
                self.listed_file(call, words, usage, &below(&root, *span));
            }
            return;
        }
        let (Stdin::Known(text, span) | Stdin::Piped(text, span)) = &call.stdin else {
            return;
        };
        if text.contains(['\'', '"', '\\']) {
            return;
        }
        let (text, span) = (text.clone(), *span);
        if let Some(place) = placeholder(usage) {
            let place = place.unwrap_or("{}").to_owned();
            for line in text.lines().map(str::trim).take(limits::LOOP_ROUNDS) {
                let line = Arg::known_text(line, span);
                let words: Vec<Arg> = words
                    .iter()
                    .map(|word| replaced(word, &place, &line))
                    .collect();
                self.seen_command(call, &words);
            }
            return;
        }
        let mut all = words.to_vec();
        all.extend(
            text.split([' ', '\t', '\n', '\0'])
                .filter(|word| !word.is_empty())
                .map(|word| Arg::known_text(word, span)),
        );
        self.seen_command(call, &all);
    }

    /// `fd PATTERN dir -x command`: each file that is found lies below the directory, and
    /// stands behind the command.
    pub(super) fn files_of_finder(
        &mut self,
        call: &Call<'_>,
        usage: &Usage<'_>,
        words: &mut Vec<Arg>,
    ) {
        if !is_finder(call) {
            return;
        }
        let is_appended = !words.iter().any(|word| word.prefix().contains('{'));
        let arguments = call.args.get(1..).unwrap_or_default();
        let operands = usage.operands.iter().skip(1);
        let roots: Vec<&str> = operands
            .filter_map(|idx| arguments.get(*idx)?.known())
            .map(|root| root.trim_end_matches('/'))
            .filter(|root| !matches!(*root, "" | "." | ".."))
            .take(limits::FIND_ROOTS)
            .collect();
        for root in roots {
            let file = below(root, call.span);
            let mut inner: Vec<Arg> = words.iter().map(|w| replaced(w, "{}", &file)).collect();
            if is_appended {
                inner.push(file);
            }
            self.seen_command(call, &inner);
        }
        if is_appended {
            words.push(unknown_word(&Arg::empty(call.span)));
        }
    }

    /// One file that another program lists, in its place among the words.
    fn listed_file(&mut self, call: &Call<'_>, words: &[Arg], usage: &Usage<'_>, file: &Arg) {
        let words: Vec<Arg> = match placeholder(usage) {
            Some(place) => {
                let place = place.unwrap_or("{}");
                words.iter().map(|w| replaced(w, place, file)).collect()
            }
            None => words.iter().chain([file]).cloned().collect(),
        };
        self.seen_command(call, &words);
    }

    /// `parallel cmd ::: a b`: the values are put in place of `{}` or behind the command.
    pub(super) fn parallel(&mut self, call: &Call<'_>, words: &[Arg]) {
        let template: Vec<Arg> = words
            .iter()
            .take_while(|word| !word.prefix().starts_with(":::"))
            .map(|word| replaced(word, "{}", &unknown_word(word)))
            .collect();
        let values = words
            .iter()
            .skip_while(|word| !word.prefix().starts_with(":::"))
            .filter(|word| !word.prefix().starts_with(":::"));
        for value in values.take(limits::LOOP_ROUNDS) {
            let mut known: Vec<Arg> = words
                .iter()
                .take_while(|word| !word.prefix().starts_with(":::"))
                .map(|word| replaced(word, "{}", value))
                .collect();
            if !words.iter().any(|word| word.prefix().contains("{}")) {
                known.push(value.clone());
            }
            self.seen_command(call, &known);
        }
        let mut template = template;
        template.push(any_words(call.span));
        self.unknown(
            "a command whose words come from a list",
            call.span,
            &call.demand,
        );
        self.run_inner(
            call,
            &[],
            &template,
            Inner {
                demand: Demand::Restrictive,
                stdin: Stdin::Inherited,
                elsewhere: call.elsewhere,
                lookup: Lookup::Program,
            },
        );
    }
}

/// Whether it is fd, which appends what it finds.
fn is_finder(call: &Call<'_>) -> bool {
    let program = call.args.first().and_then(Arg::program);
    let base = program.as_deref().and_then(|name| name.rsplit('/').next());
    matches!(base, Some("fd" | "fdfind"))
}

/// What xargs adds: its input behind the command, or in place of a word.
pub(super) fn append_input(
    inner: &mut Vec<Arg>,
    usage: &Usage<'_>,
    span: Option<podward_policy::ByteSpan>,
) {
    let Some(word) = placeholder(usage) else {
        inner.push(any_words(span));
        return;
    };
    for arg in inner.iter_mut() {
        *arg = match word {
            Some(word) => replaced(arg, word, &unknown_word(arg)),
            None => Arg::hole(HoleKind::Unquoted, arg.span),
        };
    }
}

/// The word that xargs replaces, if it replaces one; `Some(None)` if that is not known.
#[expect(
    clippy::option_option,
    reason = "no such option, and a value that is not known"
)]
fn placeholder<'u>(usage: &'u Usage<'_>) -> Option<Option<&'u str>> {
    let is_replace = |option: &str| matches!(option, "-I" | "-i" | "--replace");
    usage.options_given.iter().any(|o| is_replace(o)).then(|| {
        usage
            .values
            .iter()
            .find(|(option, _)| is_replace(option))
            .map_or(Some("{}"), |(_, value)| value.known())
            .filter(|word| !word.is_empty())
    })
}

/// A file below a directory.
pub(super) fn below(directory: &str, span: Option<podward_policy::ByteSpan>) -> Arg {
    let mut below = Arg::known_text(directory, span);
    below.push(Part::Known("/".to_owned()));
    below.append(Arg::hole(HoleKind::Quoted, span));
    below
}

/// One word that nothing is known of.
pub(super) fn unknown_word(at: &Arg) -> Arg {
    Arg::hole(HoleKind::Quoted, at.span)
}

/// An argument with another in place of each `word`.
pub(super) fn replaced(arg: &Arg, word: &str, by: &Arg) -> Arg {
    let mut result = Arg::empty(arg.span);
    for part in arg.parts() {
        match part {
            Part::Known(text) if text.contains(word) => {
                for (n, piece) in text.split(word).enumerate() {
                    if n > 0 {
                        result.append(by.clone());
                    }
                    if !piece.is_empty() {
                        result.push(Part::Known(piece.to_owned()));
                    }
                }
            }
            part => result.push(part.clone()),
        }
    }
    result
}
