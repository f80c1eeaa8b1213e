//! Where a command runs, and where the program and the scripts lie that it names by a path.

use podward_policy::{Directories, HoleKind, PathForm, PathSubject, Text, TextBuilder};

use crate::arg::{Arg, Part};
use crate::operations::{Bases, Sink, has_expansion};
use crate::options::Usage;
use crate::place::PathFound;
use crate::programs::{Role, Special};

/// What the words of a command do not say.
#[derive(Debug, Default)]
pub(crate) struct Whereabouts {
    pub(crate) directories: Directories,
    pub(crate) words: Vec<LocatedWord>,
}

/// A word that names what is run by a path.
#[derive(Debug)]
pub(crate) struct LocatedWord {
    /// Its place among the arguments.
    pub(crate) idx: usize,
    /// Each way to spell it that is known.
    pub(crate) spellings: Vec<Arg>,
    /// For each directory in which the word means something else than in that of the call, the ways
    /// to spell what it means.
    pub(crate) groups: Vec<Vec<Arg>>,
}

/// The whereabouts of a command with these arguments, of which some name scripts.
pub(crate) fn whereabouts(
    sink: &mut Sink<'_>,
    bases: &Bases,
    args: &[Arg],
    scripts: &[usize],
) -> Whereabouts {
    let directories = sink.directories(bases);
    let names_program = args
        .first()
        .and_then(Arg::program)
        .is_some_and(|name| name.contains('/'));
    let program = names_program.then_some(0);
    let words = program.into_iter().chain(scripts.iter().copied());
    let words = words.filter_map(|idx| located(sink, bases, idx, args.get(idx)?));
    Whereabouts {
        words: words.collect(),
        directories,
    }
}

/// The places of the scripts that a program is given, among the arguments that its own name begins.
pub(crate) fn scripts(usage: &Usage<'_>, args: &[Arg]) -> Vec<usize> {
    let mut scripts: Vec<usize> = usage.scripts.iter().map(|idx| idx + 1).collect();
    let is_text = |option: &&str| matches!(*option, "-c" | "-s");
    if usage.special == Some(Special::Shell) && !usage.options_given.iter().any(is_text) {
        scripts.extend(usage.operands.first().map(|idx| idx + 1));
    }
    // The value of an option that is a word of its own (`java -jar x.jar`).
    let values = usage
        .effects
        .iter()
        .filter(|effect| effect.role == Role::Script && effect.option.is_some())
        .filter_map(|effect| effect.value.as_ref());
    for value in values {
        let is_it = |arg: &Arg| arg.parts() == value.parts();
        scripts.extend(args.iter().skip(1).position(is_it).map(|at| at + 1));
    }
    scripts.sort_unstable();
    scripts.dedup();
    scripts
}

fn located(sink: &Sink<'_>, bases: &Bases, idx: usize, word: &Arg) -> Option<LocatedWord> {
    if idx > 0 && !is_file(word.prefix()) {
        return None;
    }
    let path = bases.path(word, &sink.place)?;
    let begins_unknown = path.holes().first().is_some_and(|hole| hole.at == 0);
    if begins_unknown || word.is_process() {
        return None;
    }
    let mut located = LocatedWord {
        idx,
        spellings: Vec::new(),
        groups: Vec::new(),
    };
    let is_absolute = path.known_part().starts_with('/');
    let own = Text::known(sink.place.cwd);
    for base in bases.all() {
        if !is_absolute && has_expansion(base) {
            located
                .groups
                .push(vec![arg_of(&below_unknown(&path), word)]);
            continue;
        }
        let found = sink.place.forms.path(base, &path);
        let absolute = &found.subject.lexical.absolute;
        let is_plain = match is_absolute {
            true => *absolute == path,
            false => {
                let here = || sink.place.forms.path(&own, &path).subject.lexical.absolute;
                is_normal(path.known_part()) && (*base == own || *absolute == here())
            }
        };
        located.add(&found, is_plain, &path, word);
        if is_absolute {
            break;
        }
    }
    Some(located)
}

impl LocatedWord {
    fn add(&mut self, found: &PathFound, is_plain: bool, path: &Text, word: &Arg) {
        let PathSubject {
            lexical,
            resolved,
            further,
        } = &found.subject;
        let group = |form: &PathForm| -> Vec<Arg> {
            let spellings = spellings(form);
            spellings.iter().map(|text| arg_of(text, word)).collect()
        };
        for form in std::iter::once(lexical).chain(resolved).chain(further) {
            for spelling in group(form).into_iter().filter(|arg| !arg.has_hole()) {
                if !self
                    .spellings
                    .iter()
                    .any(|known| known.parts() == spelling.parts())
                {
                    self.spellings.push(spelling);
                }
            }
        }
        if found.unknown.is_some() {
            self.groups
                .push(vec![Arg::hole(HoleKind::Quoted, word.span)]);
        } else if !is_plain {
            self.groups.push(group(lexical));
        }
        // Behind a link `..` leads elsewhere.
        let climbs = path.known_part().split('/').any(|name| name == "..");
        self.groups
            .extend(resolved.as_ref().filter(|_| climbs).map(group));
    }
}

/// Whether a script's word is the name of a file here, and no address and no standard input.
fn is_file(word: &str) -> bool {
    let scheme = word.split_once(':').map(|(scheme, _)| scheme);
    let is_scheme = |scheme: &str| {
        scheme.len() > 1
            && scheme
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
    };
    !matches!(word, "" | "-") && !scheme.is_some_and(is_scheme)
}

/// Whether a relative path is spelled as it lies, a `./` in front of a name and a `/` at its end aside.
fn is_normal(path: &str) -> bool {
    let dotted = path.strip_prefix("./");
    let path = dotted.unwrap_or(path);
    let names = path.strip_suffix('/').unwrap_or(path).split('/');
    let mut below = names.skip_while(|name| dotted.is_none() && *name == "..");
    matches!(path, "" | ".") || below.all(|name| !matches!(name, "" | "." | ".."))
}

/// A path below a directory of which nothing is known.
fn below_unknown(path: &Text) -> Text {
    let known = path.known_part();
    let start = match known.rfind("../") {
        Some(at) => at + "../".len(),
        None => known.len() - known.trim_start_matches("./").len(),
    };
    let text = TextBuilder::new().hole(HoleKind::Quoted).known("/");
    match path.as_known().and_then(|known| known.get(start..)) {
        Some(rest) => text.known(rest).build(),
        None => text.hole(HoleKind::Quoted).build(),
    }
}

/// The spellings of a place.
fn spellings(form: &PathForm) -> Vec<Text> {
    let short = form.short.known_part();
    let is_inside = !short.starts_with('/') && short != ".";
    let dotted = is_inside.then(|| TextBuilder::new().known("./").text(&form.short).build());
    let mut all: Vec<Text> = dotted.into_iter().collect();
    for text in [Some(&form.short), Some(&form.absolute), form.home.as_ref()] {
        all.extend(text.filter(|text| !all.contains(text)).cloned());
    }
    all
}

/// A place as a word of a command.
fn arg_of(text: &Text, word: &Arg) -> Arg {
    let known = text.known_part();
    let mut arg = Arg::empty(word.span);
    let mut done = 0;
    for hole in text.holes() {
        if hole.at > done {
            arg.push(Part::Known(
                known.get(done..hole.at).unwrap_or_default().to_owned(),
            ));
        }
        arg.append(Arg::hole(HoleKind::Quoted, word.span));
        done = hole.at;
    }
    if done < known.len() {
        arg.push(Part::Known(
            known.get(done..).unwrap_or_default().to_owned(),
        ));
    }
    arg
}
