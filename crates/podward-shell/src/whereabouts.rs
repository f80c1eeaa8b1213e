//! Where a command runs, and where the program and the scripts lie that it names by a path.

use podward_policy::{Directories, HoleKind, Input, PathForm, PathSubject, Text, TextBuilder};

use crate::arg::{Arg, Part};
use crate::operations::{Bases, Sink, has_expansion};
use crate::options::{Effect, Usage};
use crate::place::{PathFound, ShellPlace};
use crate::programs::{Role, Runs, Special};

/// What the words of a command do not say.
#[derive(Debug, Default)]
pub(crate) struct Whereabouts {
    pub(crate) directories: Directories,
    pub(crate) words: Vec<LocatedWord>,
    pub(crate) input: Input,
}

/// A word that names what is run by a path.
#[derive(Debug, Clone)]
pub(crate) struct LocatedWord {
    /// Its place among the arguments.
    pub(crate) idx: usize,
    /// Each other way to spell it that is known.
    pub(crate) spellings: Vec<Arg>,
    /// For each way in which the word means something else than in the directory of the call, how to
    /// spell what it means.
    pub(crate) groups: Vec<(Way, Vec<Arg>)>,
}

/// A directory in which a command may run, by its number, and who reads `..` behind a link there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Way {
    base: usize,
    is_resolved: bool,
}

/// A word that names a script, or ends in its name (`-fx.awk`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ScriptWord {
    idx: usize,
    /// Bytes in front of the name.
    n_front: usize,
}

impl ScriptWord {
    pub(crate) const fn whole(idx: usize) -> Self {
        Self { idx, n_front: 0 }
    }
}

/// The whereabouts of a command with these arguments, of which some name scripts; those it may look
/// for in another directory than itself.
pub(crate) fn whereabouts(
    sink: &mut Sink<'_>,
    [bases, bases_of_scripts]: [&Bases; 2],
    args: &[Arg],
    scripts: &[ScriptWord],
) -> Whereabouts {
    let directories = sink.directories(bases);
    let names_program = args
        .first()
        .and_then(Arg::program)
        .is_some_and(|name| name.contains('/'));
    let program = args.first().filter(|_| names_program);
    let program = program.and_then(|word| located(sink, bases, 0, word));
    let scripts = scripts.iter().filter_map(|script| {
        let word = args.get(script.idx)?;
        let name = word.without_prefix(script.n_front);
        let located = located(sink, bases_of_scripts, script.idx, &name)?;
        Some(located.behind(word.prefix().get(..script.n_front).unwrap_or_default()))
    });
    Whereabouts {
        words: program.into_iter().chain(scripts).collect(),
        directories,
        input: Input::Nothing,
    }
}

/// The places of the scripts that a program is given, among the arguments that its own name begins.
pub(crate) fn scripts(usage: &Usage<'_>, args: &[Arg]) -> Vec<ScriptWord> {
    let scripts = usage.scripts.iter().copied();
    let mut scripts: Vec<ScriptWord> = scripts.map(|idx| ScriptWord::whole(idx + 1)).collect();
    let is_text = |option: &&str| matches!(*option, "-c" | "-s");
    if usage.special == Some(Special::Shell) && !usage.options_given.iter().any(is_text) {
        scripts.extend(usage.operands.first().map(|idx| ScriptWord::whole(idx + 1)));
    }
    // The value of an option that is a word of its own (`java -jar x.jar`), and the program in front of
    // a text (`watch ./x`).
    let is_script = |effect: &&Effect<'_>| match (effect.role, effect.option) {
        (Role::Script, Some(_)) => true,
        (Role::Shell, None) => {
            let value = effect.value.as_ref();
            value.is_some_and(|value| value.prefix().contains('/'))
        }
        _ => false,
    };
    let values = usage.effects.iter().filter(is_script);
    for value in values.filter_map(|effect| effect.value.as_ref()) {
        let is_it = |arg: &Arg| arg.parts() == value.parts();
        let at = args.iter().skip(1).position(is_it);
        scripts.extend(at.map(|at| ScriptWord::whole(at + 1)));
    }
    scripts.extend(files_that_run(usage, args));
    scripts.sort_unstable();
    scripts.dedup_by_key(|script| script.idx);
    scripts
}

/// The words that the model says are run, whatever else is done with them.
fn files_that_run(usage: &Usage<'_>, args: &[Arg]) -> Vec<ScriptWord> {
    let end = usage.command.map_or(args.len(), |idx| idx + 1);
    let options = args.iter().enumerate().take(end).skip(1);
    let operands = usage.operands.iter().chain(&usage.command);
    let operands = operands.filter_map(|idx| Some((idx + 1, args.get(idx + 1)?)));
    let mut files = Vec::new();
    for runs in &usage.runs {
        let is_named = |word: &Arg| match runs {
            Runs::Option(_) => false,
            Runs::Ending(end) => word.last_known().ends_with(end),
            Runs::Path => word.parts().iter().any(looks_like_path),
        };
        if let Runs::Option(name) = runs {
            let values = options.clone();
            files.extend(values.filter_map(|(idx, arg)| value_of(name, idx, arg)));
        }
        let named = operands.clone().filter(|(_, word)| is_named(word));
        files.extend(named.map(|(idx, _)| ScriptWord::whole(idx)));
    }
    files
}

/// Where the value of an option stands that an argument is, or begins with.
fn value_of(option: &str, idx: usize, arg: &Arg) -> Option<ScriptWord> {
    let rest = arg.prefix().strip_prefix(option)?;
    let n_front = match rest.strip_prefix('=') {
        _ if arg.known() == Some(option) => return Some(ScriptWord::whole(idx + 1)),
        Some(_) => option.len() + 1,
        None if option.starts_with("--") => return None,
        None => option.len(),
    };
    Some(ScriptWord { idx, n_front })
}

fn looks_like_path(part: &Part) -> bool {
    match part {
        Part::Known(text) => text.contains(['/', '.']),
        Part::Tilde(_) => true,
        Part::Glob(_) | Part::Hole(..) => false,
    }
}

fn located(sink: &Sink<'_>, bases: &Bases, idx: usize, word: &Arg) -> Option<LocatedWord> {
    if (idx > 0 && !may_be_file(word)) || word.is_process() {
        return None;
    }
    let mut located = LocatedWord {
        idx,
        spellings: Vec::new(),
        groups: Vec::new(),
    };
    let Some(path) = bases.path(word, &sink.place) else {
        // The home of somebody.
        let is_home = matches!(word.parts(), [Part::Tilde(_), ..]);
        let path = is_home.then(|| word.write_bare(TextBuilder::new()).build());
        located.anywhere(sink, &path?, word);
        return Some(located);
    };
    let begins_unknown = path
        .holes()
        .first()
        .is_some_and(|hole| hole.at == 0 && hole.kind.is_expansion());
    if begins_unknown {
        located.anywhere(sink, &path, word);
        return Some(located);
    }
    let is_absolute = path.known_part().starts_with('/');
    let own = Text::known(sink.place.cwd);
    for (base_idx, base) in bases.all().iter().enumerate() {
        if !is_absolute && has_expansion(base) {
            located.anywhere_in(base_idx, sink, &path, word);
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
        located.add(base_idx, &found, is_plain, &path, word);
        if is_absolute {
            break;
        }
    }
    Some(located)
}

impl LocatedWord {
    /// The same with something in front of each spelling.
    fn behind(mut self, front: &str) -> Self {
        if front.is_empty() {
            return self;
        }
        let groups = self.groups.iter_mut().flat_map(|(_, group)| group);
        for spelling in self.spellings.iter_mut().chain(groups) {
            let mut whole = Arg::known_text(front, spelling.span);
            whole.append(std::mem::take(spelling));
            *spelling = whole;
        }
        self
    }

    fn add(&mut self, base: usize, found: &PathFound, is_plain: bool, path: &Text, word: &Arg) {
        let PathSubject {
            lexical,
            resolved,
            further,
        } = &found.subject;
        let group = |form: &PathForm| -> Vec<Arg> {
            let spellings = spellings(form);
            spellings.iter().map(|text| arg_of(text, word)).collect()
        };
        let known = further.iter().flat_map(group).filter(|arg| !arg.has_hole());
        let places = std::iter::once(lexical).chain(resolved).flat_map(group);
        for spelling in places.chain(known) {
            let is_it = |known: &Arg| known.parts() == spelling.parts();
            if !is_it(word) && !self.spellings.iter().any(is_it) {
                self.spellings.push(spelling);
            }
        }
        let way = |is_resolved: bool| Way { base, is_resolved };
        if found.unknown.is_some() {
            let anything = vec![Arg::hole(HoleKind::Quoted, word.span)];
            self.groups.push((way(false), anything));
        } else if !is_plain {
            self.groups.push((way(false), group(lexical)));
        }
        // Behind a link `..` leads elsewhere.
        let climbs = path.known_part().split('/').any(|name| name == "..");
        let behind = resolved.as_ref().filter(|_| climbs).map(group);
        self.groups.extend(behind.map(|group| (way(true), group)));
    }

    /// A word that begins with what is not known.
    fn anywhere(&mut self, sink: &Sink<'_>, path: &Text, word: &Arg) {
        self.anywhere_in(0, sink, path, word);
    }

    /// A path below a directory of which nothing is known.
    fn anywhere_in(&mut self, base: usize, sink: &Sink<'_>, path: &Text, word: &Arg) {
        let spellings = below_unknown(path, &sink.place);
        let group = spellings.iter().map(|text| arg_of(text, word));
        let way = Way {
            base,
            is_resolved: false,
        };
        self.groups.push((way, group.collect()));
    }
}

/// Whether a script's word may be the name of a file.
fn may_be_file(word: &Arg) -> bool {
    match word.parts() {
        [Part::Known(_), ..] | [] => is_file(word.prefix()),
        [Part::Tilde(_) | Part::Glob(_) | Part::Hole(..), ..] => true,
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

/// A path below a directory of which nothing is known: from there, and by what it may be called if
/// that is the directory of the call or the home, or one above it.
fn below_unknown(path: &Text, place: &ShellPlace<'_>) -> Vec<Text> {
    let known = path.known_part();
    let last_unknown = path.holes().iter().rfind(|hole| hole.kind.is_expansion());
    let mut start = last_unknown.map_or(0, |hole| hole.at);
    let behind = |start: usize| known.get(start..).unwrap_or_default();
    if let Some(at) = behind(start).rfind("../") {
        start += at + "../".len();
    }
    loop {
        match behind(start) {
            text if text.starts_with('/') => start += 1,
            text if text.starts_with("./") => start += 2,
            _ => break,
        }
    }
    let unknown = || TextBuilder::new().hole(HoleKind::Quoted);
    let mut texts = vec![
        behind_of(unknown().known("/"), path, start).build(),
        behind_of(unknown(), path, start).build(),
    ];
    for (at, _) in behind(start).match_indices('/') {
        let front = behind(start).get(..at).unwrap_or_default();
        let ends_so = |root: &str| {
            let above = root.trim_end_matches('/').strip_suffix(front);
            above.is_some_and(|above| above.ends_with('/'))
        };
        if ends_so(place.cwd) || place.home.is_some_and(ends_so) {
            texts.push(behind_of(unknown(), path, start + at + 1).build());
        }
    }
    texts
}

/// A text with what follows a place in another one, its holes too.
fn behind_of(mut text: TextBuilder, other: &Text, start: usize) -> TextBuilder {
    let known = other.known_part();
    let mut done = start;
    for hole in other.holes().iter().filter(|hole| hole.at > start) {
        let part = known.get(done..hole.at).unwrap_or_default();
        text = text.known(part).hole(hole.kind);
        done = hole.at;
    }
    text.known(known.get(done..).unwrap_or_default())
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
