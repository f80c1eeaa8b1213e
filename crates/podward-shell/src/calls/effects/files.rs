//! Files that operands and values of options name in ways of their own.

use podward_policy::OperationIdx;

use crate::arg::{Arg, Part};
use crate::calls::Call;
use crate::operations::Access;
use crate::options::{Effect, Usage};
use crate::programs::Role;
use crate::walk::Walker;

impl Walker<'_, '_> {
    /// `cp a b`: where `b` is a directory, or may be one, the file is `b/a`.
    pub(super) fn files_in_target(
        &mut self,
        call: &Call<'_>,
        idx: OperationIdx,
        usage: &Usage<'_>,
    ) {
        let program = call.args.first().and_then(Arg::program).unwrap_or_default();
        let base = program.rsplit('/').next().unwrap_or_default();
        if !matches!(
            base,
            "cp" | "gcp" | "mv" | "gmv" | "ln" | "gln" | "install" | "ginstall"
        ) {
            return;
        }
        let target = usage
            .effects
            .iter()
            .filter(|effect| effect.role == Role::Write)
            .filter_map(|effect| effect.value.as_ref())
            .next_back();
        let Some(target) = target else {
            return;
        };
        let sources = usage.effects.iter().filter(|effect| {
            effect.option.is_none() && matches!(effect.role, Role::Read | Role::Move)
        });
        let is_link = matches!(base, "ln" | "gln");
        for source in sources.filter_map(|effect| effect.value.as_ref()) {
            if is_link
                && usage
                    .options_given
                    .iter()
                    .any(|o| matches!(*o, "-s" | "--symbolic"))
            {
                self.linked(call, idx, source, target);
            }
            let Some(name) = source.last_component() else {
                continue;
            };
            let mut path = target.clone();
            path.push(Part::Known("/".to_owned()));
            path.append(name);
            self.use_path(call, idx, &path, Access::Write);
        }
    }

    /// `make DESTDIR=dir install`: where it installs to.
    pub(super) fn installed_below(&mut self, call: &Call<'_>, idx: OperationIdx) {
        const DIRECTORIES: &[&str] = &["DESTDIR=", "PREFIX=", "prefix="];
        let program = call.args.first().and_then(Arg::program).unwrap_or_default();
        let base = program.rsplit('/').next().unwrap_or_default();
        let installs = |arg: &Arg| arg.prefix().starts_with("install");
        if !matches!(base, "make" | "gmake" | "bmake") || !call.args.iter().any(installs) {
            return;
        }
        for arg in call.args.iter().skip(1) {
            let starts = |name: &&&str| arg.prefix().starts_with(**name);
            if let Some(name) = DIRECTORIES.iter().find(starts) {
                let directory = arg.without_prefix(name.len());
                self.use_path(call, idx, &directory, Access::Write);
            }
        }
    }

    /// `lftp -c 'get x -o y'`: files that the options of its own commands name.
    pub(super) fn outputs_of_script(
        &mut self,
        call: &Call<'_>,
        idx: OperationIdx,
        usage: &Usage<'_>,
    ) {
        let program = call.args.first().and_then(Arg::program).unwrap_or_default();
        let base = program.rsplit('/').next();
        if !matches!(base, Some("ftp" | "lftp" | "ncftp")) {
            return;
        }
        let scripts = usage.effects.iter().filter(|e| e.role == Role::Shell);
        for script in scripts.filter_map(|effect| effect.value.as_ref()) {
            let words: Vec<&str> = script
                .prefix()
                .split([' ', '\t', '\n', ';', '&', '"', '\''])
                .filter(|word| !word.is_empty())
                .collect();
            for pair in words.windows(2) {
                if let [option, path] = pair
                    && matches!(*option, "-o" | "-O" | "lcd")
                {
                    let path = Arg::known_text(path, script.span);
                    self.use_path(call, idx, &path, Access::Derived(Some(idx)));
                }
            }
        }
    }

    /// What a symbolic link leads to: its text starts where the link lies.
    fn linked(&mut self, call: &Call<'_>, idx: OperationIdx, source: &Arg, target: &Arg) {
        if source.prefix().starts_with('/') {
            return;
        }
        for up in ["/../", "/"] {
            let mut path = target.clone();
            path.push(Part::Known(up.to_owned()));
            path.append(source.clone());
            self.use_path(call, idx, &path, Access::Read);
        }
    }

    /// Files below a directory, whose names only the run shows.
    pub(super) fn below(&mut self, call: &Call<'_>, idx: OperationIdx, directory: &Arg) {
        self.use_path(call, idx, directory, Access::Write);
        self.sink
            .partial(idx, "the names of the files that are written are not known");
    }

    /// `%output{PATH}` in what curl prints, beside `@file`.
    pub(super) fn write_out(&mut self, call: &Call<'_>, idx: OperationIdx, value: &Arg) {
        if let Some(path) = at_file(value) {
            self.use_path(call, idx, &path, Access::Read);
        }
        for named in value.prefix().split("%output{").skip(1) {
            let name = named.split('}').next().unwrap_or_default();
            let path = match name.trim_start_matches('>') {
                "" => Arg::hole(podward_policy::HoleKind::Anything, value.span),
                name => Arg::known_text(name, value.span),
            };
            self.use_path(call, idx, &path, Access::Derived(Some(idx)));
        }
    }

    /// A file that is named by the last part of a URL (`curl -O`), or in a way not known here.
    pub(super) fn unnamed_output(
        &mut self,
        call: &Call<'_>,
        idx: OperationIdx,
        usage: &Usage<'_>,
        effect: &Effect<'_>,
    ) {
        let is_named = |other: &Effect<'_>| other.role == Role::Output && other.value.is_some();
        if effect.option.is_none() && usage.effects.iter().any(is_named) {
            return;
        }
        let access = match effect.role {
            Role::Write => Access::Write,
            _ => Access::Derived(Some(idx)),
        };
        let mut urls = usage
            .effects
            .iter()
            .filter(|other| other.role == Role::Fetch && other.option.is_none())
            .filter_map(|other| other.value.as_ref())
            .peekable();
        if urls.peek().is_none() && effect.option.is_some() {
            let path = Arg::hole(podward_policy::HoleKind::Anything, call.span);
            self.use_path(call, idx, &path, access);
        }
        for url in urls {
            let path = url
                .last_component()
                .filter(|name| !name.is_empty() && !name.has_hole())
                .and_then(|name| {
                    let known = name.known()?.split(['?', '#']).next()?;
                    Some(Arg::known_text(known, url.span))
                })
                .unwrap_or_else(|| Arg::hole(podward_policy::HoleKind::Anything, url.span));
            self.use_path(call, idx, &path, access);
        }
    }

    /// `if=…` and `of=…`.
    pub(super) fn dd(&mut self, call: &Call<'_>, idx: OperationIdx, arguments: &[Arg]) {
        for arg in arguments {
            let prefix = arg.prefix();
            if prefix.starts_with("if=") {
                self.use_path(call, idx, &arg.without_prefix(3), Access::Read);
            } else if prefix.starts_with("of=") {
                self.use_path(call, idx, &arg.without_prefix(3), Access::Write);
            }
        }
    }

    /// The directory that tar unpacks into.
    pub(super) fn tar(&mut self, call: &Call<'_>, idx: OperationIdx, usage: &Usage<'_>) {
        let unpacks = usage
            .options_given
            .iter()
            .any(|option| matches!(*option, "-x" | "--extract" | "--get"));
        if unpacks {
            let here = Arg::known_text(".", call.span);
            self.use_path(call, idx, &here, Access::Write);
            self.sink
                .partial(idx, "the names inside the archive are not known");
        }
        let is_here = usage.options_given.contains(&"--force-local");
        let archive = usage.effects.iter().find(|effect| {
            matches!(effect.option, Some("-f" | "--file"))
                && effect.value.as_ref().is_some_and(|value| {
                    let first = value.prefix().split('/').next();
                    first.is_some_and(|first| first.contains(':'))
                })
        });
        if let (false, Some(effect)) = (is_here, archive) {
            let span = effect.value.as_ref().and_then(|value| value.span);
            self.unknown(
                "an archive on another machine: a program is run to reach it",
                span,
                &call.demand,
            );
        }
    }
}

/// Programs that show of their operands names, sizes and dates, and nothing of the content: rules
/// for `list` are about them, rules for `read` are not.
const NAMES_ONLY: &[&str] = &[
    "ls",
    "gls",
    "dir",
    "vdir",
    "exa",
    "eza",
    "lsd",
    "tree",
    "stat",
    "gstat",
    "du",
    "gdu",
    "dust",
    "find",
    "gfind",
    "fd",
    "fdfind",
    "realpath",
    "grealpath",
    "readlink",
    "greadlink",
    "namei",
    "lsattr",
    "getfacl",
    "df",
    "gdf",
    "test",
    "[",
    "chdir",
    "basename",
    "dirname",
    "pathchk",
];

/// Whether what a program reads of its operands is their names.
pub(super) fn shows_names_only(call: &Call<'_>) -> bool {
    let program = call.args.first().and_then(Arg::program).unwrap_or_default();
    NAMES_ONLY.contains(&program.rsplit('/').next().unwrap_or_default())
}

/// The file that a value such as `@file` or `name=@file` names.
pub(super) fn at_file(value: &Arg) -> Option<Arg> {
    let text = value.prefix();
    let at = match text.strip_prefix('@') {
        Some(_) => 1,
        None => match text.find("=@").or_else(|| text.find("=<")) {
            Some(at) => at + 2,
            None => {
                let (name, _) = text.split_once('@')?;
                let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
                name.chars().all(is_name).then_some(name.len() + 1)?
            }
        },
    };
    let path = value.without_prefix(at);
    match path.known().and_then(|path| path.split_once(';')) {
        Some((path, _)) => Some(Arg::known_text(path, value.span)),
        None => Some(path),
    }
}

/// The place of this machine that a container sees: `PATH:…`, or `…,source=PATH,…`.
pub(super) fn mounted(value: &Arg) -> Option<Arg> {
    let text = value.prefix();
    if let Some(at) = text.find("source=").or_else(|| text.find("src=")) {
        let skipped = text.get(at..)?.find('=')? + 1;
        return Some(cut(&value.without_prefix(at + skipped), ','));
    }
    let path = cut(value, ':');
    // A name is a volume.
    let first = path.prefix().chars().next();
    first.is_none_or(|c| matches!(c, '/' | '.')).then_some(path)
}

/// Whether a container can only read what is mounted.
pub(super) fn is_mounted_to_read(value: &Arg) -> bool {
    let Some(text) = value.parts().last() else {
        return false;
    };
    let Part::Known(text) = text else {
        return false;
    };
    let mut words = text.rsplit([':', ',']).take(3);
    words.any(|word| matches!(word, "ro" | "readonly" | "readonly=true" | "ro=true"))
}

/// The path of `revision:path`, or of a word that looks like one.
pub(super) fn of_revision(value: &Arg) -> Option<Arg> {
    let text = value.prefix();
    if let Some(at) = text.rfind(':') {
        return Some(value.without_prefix(at + 1));
    }
    (looks_like_path(value) && !text.contains("..")).then(|| value.clone())
}

/// Whether a word that may be the name of a branch looks like a path.
pub(super) fn looks_like_path(value: &Arg) -> bool {
    value.prefix().contains(['/', '.'])
}

/// What stands before a character.
fn cut(value: &Arg, end: char) -> Arg {
    let mut front = Arg::empty(value.span);
    for part in value.parts() {
        match part {
            Part::Known(text) => match text.split_once(end) {
                Some((before, _)) => {
                    if !before.is_empty() {
                        front.push(Part::Known(before.to_owned()));
                    }
                    return front;
                }
                None => front.push(part.clone()),
            },
            part => front.push(part.clone()),
        }
    }
    front
}
