//! What a program's options and operands do.

use podward_policy::OperationIdx;

use super::wrappers::{Elsewhere, Inner};
use super::{Call, Lookup};
use crate::arg::{Arg, Directories, Part};
use crate::operations::Access;
use crate::options::{Effect, Usage};
use crate::programs::{Role, Special};
use crate::reader::Origin;
use crate::scripts;
use crate::walk::{Context, Demand, Stdin, Walker};

impl Walker<'_, '_> {
    pub(super) fn effects(
        &mut self,
        call: &Call<'_>,
        idx: OperationIdx,
        usage: &Usage,
        ends: &[usize],
    ) {
        let in_place = usage
            .effects
            .iter()
            .find(|effect| effect.role == Role::InPlace)
            .and_then(|effect| effect.option);
        let texts: Vec<Arg> = usage
            .effects
            .iter()
            .filter(|effect| effect.role == Role::Shell && effect.option.is_none())
            .filter_map(|effect| effect.value.clone())
            .collect();
        if !texts.is_empty() {
            let demand = call.demand.of_text();
            self.joined_text(call, &texts, &demand, Elsewhere::No);
        }
        for effect in &usage.effects {
            self.effect(call, idx, effect, usage, ends);
            if effect.value.is_none() && matches!(effect.role, Role::Output | Role::Write) {
                self.unnamed_output(call, idx, usage, effect);
            }
            if let (Role::Read, None, Some(_), Some(value)) =
                (effect.role, effect.option, in_place, &effect.value)
            {
                self.use_path(call, idx, value, Access::Derived(Some(idx)));
            }
        }
        if usage.special == Some(Special::Find) && in_place.is_some() && usage.operands.is_empty() {
            let here = Arg::known_text(".", call.span);
            self.use_path(call, idx, &here, Access::Derived(Some(idx)));
        }
        self.files_in_target(call, idx, usage);
        if usage.runs_input {
            self.input(call, usage);
        }
        let arguments = call.args.get(1..).unwrap_or_default();
        match usage.special {
            Some(Special::Dd) => self.dd(call, idx, arguments),
            Some(Special::Tar) => self.tar(call, idx, usage),
            Some(Special::GitConfig) => self.git_config(call, usage, arguments),
            Some(Special::Shell) => self.shell(call, usage, arguments),
            Some(Special::Ssh) => self.remote_input(call, usage),
            _ => {}
        }
        self.remote_helper(call);
    }

    /// `git clone ext::…` runs a program for the transport.
    fn remote_helper(&mut self, call: &Call<'_>) {
        const SUBCOMMANDS: &[&str] = &[
            "clone",
            "fetch",
            "pull",
            "push",
            "ls-remote",
            "remote",
            "submodule",
            "archive",
        ];
        let is_git = call.args.first().and_then(Arg::program);
        if is_git.is_none_or(|name| name.rsplit('/').next() != Some("git")) {
            return;
        }
        let mut args = call
            .args
            .iter()
            .skip(1)
            .skip_while(|arg| arg.known().is_none_or(|word| !SUBCOMMANDS.contains(&word)));
        if let Some(arg) = args.find(|arg| arg.prefix().starts_with("ext::")) {
            self.unknown("a transport that runs a program", arg.span, &call.demand);
        }
    }

    /// Without a command, ssh runs its input in a shell of the other machine.
    fn remote_input(&mut self, call: &Call<'_>, usage: &Usage) {
        let is_shell = usage.command.is_none() && !usage.operands.is_empty();
        let runs_none = ["-N", "-W", "-O", "-Q", "-s", "-n", "-G"];
        if !is_shell
            || usage
                .options_given
                .iter()
                .any(|option| runs_none.contains(option))
        {
            return;
        }
        match &call.stdin {
            Stdin::Inherited => {}
            Stdin::Known(text, span) => {
                let origin = span.map_or(Origin::Verbatim(0), Origin::Part);
                let context = Context {
                    demand: Demand::Restrictive,
                    elsewhere: true,
                    n_wrappers: call.n_wrappers,
                    depth: self.context.depth,
                    stdin: Stdin::Inherited,
                };
                self.shell_text(text, origin, context);
            }
            Stdin::Pipe | Stdin::File | Stdin::Expanding => self.unknown(
                "a shell of another machine that runs its input",
                call.span,
                &Demand::Restrictive,
            ),
        }
    }

    /// `cp a b`: where `b` is a directory, or may be one, the file is `b/a`.
    fn files_in_target(&mut self, call: &Call<'_>, idx: OperationIdx, usage: &Usage) {
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
        for source in sources.filter_map(|effect| effect.value.as_ref()) {
            let Some(name) = source.last_component() else {
                continue;
            };
            let mut path = target.clone();
            path.push(Part::Known("/".to_owned()));
            path.append(name);
            self.use_path(call, idx, &path, Access::Write);
        }
    }

    /// A file that is named by the last part of a URL (`curl -O`), or in a way not known here.
    fn unnamed_output(
        &mut self,
        call: &Call<'_>,
        idx: OperationIdx,
        usage: &Usage,
        effect: &Effect,
    ) {
        let is_named = |other: &Effect| other.role == Role::Output && other.value.is_some();
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

    fn effect(
        &mut self,
        call: &Call<'_>,
        idx: OperationIdx,
        effect: &Effect,
        usage: &Usage,
        ends: &[usize],
    ) {
        if let (Role::CommandUntil, Some(range)) = (effect.role, effect.range) {
            self.command_until(call, idx, range, effect.value.as_ref(), usage, ends);
            return;
        }
        let span = effect
            .value
            .as_ref()
            .and_then(|value| value.span)
            .or(call.span);
        let Some(value) = &effect.value else {
            if matches!(effect.role, Role::Code | Role::Exec) {
                self.runs_code(call, effect.option, span);
            }
            if effect.role == Role::Exec && effect.option.is_none() {
                self.hidden_commands(call);
            }
            return;
        };
        match effect.role {
            Role::Data | Role::InPlace | Role::Command | Role::CommandUntil => {}
            Role::Read => self.use_path(call, idx, value, Access::Read),
            Role::Write => self.use_path(call, idx, value, Access::Write),
            Role::Move => {
                self.use_path(call, idx, value, Access::Read);
                self.use_path(call, idx, value, Access::Write);
            }
            // `strace -o '|command'`, and others like it.
            Role::Output if value.prefix().starts_with(['|', '!']) => {
                self.runs_code(call, effect.option, span);
            }
            Role::Output => self.use_path(call, idx, value, Access::Derived(Some(idx))),
            Role::Fetch => self.use_url(call, idx, value),
            Role::ReadOrFetch => {
                let prefix = value.prefix();
                if prefix.contains("://") || prefix.starts_with("file:") {
                    self.use_url(call, idx, value);
                } else {
                    self.use_path(call, idx, value, Access::Read);
                }
            }
            Role::Url => {
                if value.prefix().contains("://") {
                    self.use_url(call, idx, value);
                }
            }
            Role::AtFile => {
                if let Some(path) = at_file(value) {
                    self.use_path(call, idx, &path, Access::Read);
                }
            }
            Role::Mount => {
                if let Some(path) = mounted(value) {
                    self.use_path(call, idx, &path, Access::Write);
                }
            }
            Role::Chdir => self.chdir(call, value),
            Role::Sed => self.sed(call, idx, value),
            Role::Awk => self.awk(call, idx, value),
            Role::Script => self.script_file(call, idx, value),
            Role::Inline => {
                if value.known().is_some() {
                    self.sink
                        .partial(idx, "the code of an interpreter is not read");
                } else {
                    self.unknown("code that is not known before it runs", span, &call.demand);
                }
            }
            // The operands of a text are joined, above.
            Role::Shell if effect.option.is_none() => {}
            Role::Shell => {
                let demand = call.demand.of_text();
                self.joined_text(call, std::slice::from_ref(value), &demand, Elsewhere::No);
            }
            Role::Code => self.runs_code(call, effect.option, span),
            Role::Exec => {
                self.runs_code(call, effect.option, span);
                self.joined_text(
                    call,
                    std::slice::from_ref(value),
                    &Demand::Restrictive,
                    Elsewhere::No,
                );
            }
        }
    }

    pub(super) fn runs_code(
        &mut self,
        call: &Call<'_>,
        option: Option<&str>,
        span: Option<podward_policy::ByteSpan>,
    ) {
        let why = match option {
            Some(option) => format!("the option `{option}` runs a program or loads code"),
            None => "it runs a program or loads code".to_owned(),
        };
        self.unknown(&why, span, &call.demand);
    }

    pub(super) fn use_path(
        &mut self,
        call: &Call<'_>,
        idx: OperationIdx,
        value: &Arg,
        access: Access,
    ) {
        if call.elsewhere || value.known() == Some("-") || value.is_process() {
            return;
        }
        let bases = self.bases.clone();
        if !self.sink.path(value, access, &bases) {
            self.sink.partial(idx, "a path is not known before it runs");
        }
    }

    fn use_url(&mut self, call: &Call<'_>, idx: OperationIdx, value: &Arg) {
        if call.elsewhere {
            return;
        }
        let bases = self.bases.clone();
        let is_curl = call.args.first().and_then(Arg::program);
        let urls = match is_curl.is_some_and(|name| name.rsplit('/').next() == Some("curl")) {
            true if !call.args.iter().any(switches_globs_off) => globbed(value),
            _ => vec![value.clone()],
        };
        for url in urls {
            if !self.sink.fetch(&url, &bases) {
                self.sink.partial(idx, "a URL is not known before it runs");
            }
        }
    }

    /// Commands that may stand in the arguments of a program that is not read further.
    fn hidden_commands(&mut self, call: &Call<'_>) {
        let starts = call
            .args
            .iter()
            .enumerate()
            .skip(1)
            .filter(|(_, arg)| !arg.prefix().starts_with('-'))
            .map(|(at, _)| at)
            .take(3);
        for at in starts {
            let inner = call.args.get(at..).unwrap_or_default();
            self.run_inner(
                call,
                &[],
                inner,
                Inner {
                    demand: Demand::Restrictive,
                    stdin: Stdin::Inherited,
                    elsewhere: call.elsewhere,
                    lookup: Lookup::Program,
                },
            );
        }
    }

    fn chdir(&mut self, call: &Call<'_>, value: &Arg) {
        if call.elsewhere {
            return;
        }
        self.bases = self.bases.enter(value, &self.sink.place);
        let bases = self.bases.clone();
        self.sink.directory(&bases, value.span);
    }

    /// The name of a script that an interpreter runs.
    pub(crate) fn script_file(&mut self, call: &Call<'_>, idx: OperationIdx, value: &Arg) {
        let text = value.prefix();
        let is_input = matches!(text, "-" | "/dev/stdin")
            || text.starts_with("/dev/fd/")
            || text.starts_with("/proc/self/fd/");
        let directories = Directories {
            home: self.sink.place.home,
            working: self.bases.single(),
        };
        let is_nameless = value.path(directories).is_none();
        if value.is_process() || is_nameless || (is_input && text != "-") {
            self.unknown(
                "a script that is not known before it runs",
                value.span,
                &call.demand,
            );
        } else if !is_input {
            self.use_path(call, idx, value, Access::Read);
        }
    }

    /// An interpreter without a script runs what it reads.
    fn input(&mut self, call: &Call<'_>, usage: &Usage) {
        let arguments = call.args.get(1..).unwrap_or_default();
        let has_code = usage
            .effects
            .iter()
            .any(|effect| matches!(effect.role, Role::Inline | Role::Shell))
            || !usage.options_given.is_empty()
                && usage
                    .options_given
                    .iter()
                    .any(|option| matches!(*option, "--version" | "--help" | "-m" | "-V"));
        let first = usage.operands.first().and_then(|idx| arguments.get(*idx));
        let reads_input = first.is_none_or(|arg| arg.known() == Some("-"));
        if has_code || !reads_input || usage.command.is_some() {
            return;
        }
        match &call.stdin {
            Stdin::Inherited => {}
            // A wrapper without a command starts a shell.
            Stdin::Known(..) if usage.wrapper.is_none() => {}
            Stdin::Known(..) | Stdin::Pipe | Stdin::File | Stdin::Expanding => {
                self.unknown(
                    "an interpreter that runs its input",
                    call.span,
                    &call.demand,
                );
            }
        }
    }

    /// `if=…` and `of=…`.
    fn dd(&mut self, call: &Call<'_>, idx: OperationIdx, arguments: &[Arg]) {
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
    fn tar(&mut self, call: &Call<'_>, idx: OperationIdx, usage: &Usage) {
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
    }

    fn sed(&mut self, call: &Call<'_>, idx: OperationIdx, value: &Arg) {
        match value.known_but_for_numbers() {
            Some(script) => {
                let found = scripts::sed(&script);
                self.script_effects(call, idx, value, &found);
            }
            None => self.unknown_script(call, value),
        }
    }

    fn awk(&mut self, call: &Call<'_>, idx: OperationIdx, value: &Arg) {
        match value.known_but_for_numbers() {
            Some(script) => {
                let found = scripts::awk(&script);
                self.script_effects(call, idx, value, &found);
            }
            None => self.unknown_script(call, value),
        }
    }

    /// Text spliced into a script may be any command of it.
    fn unknown_script(&mut self, call: &Call<'_>, value: &Arg) {
        self.unknown(
            "an inline script that is not known before it runs",
            value.span,
            &call.demand,
        );
    }

    fn script_effects(
        &mut self,
        call: &Call<'_>,
        idx: OperationIdx,
        value: &Arg,
        found: &scripts::Found,
    ) {
        for path in &found.writes {
            let path = Arg::known_text(path, value.span);
            self.use_path(call, idx, &path, Access::Derived(Some(idx)));
        }
        for path in &found.reads {
            let path = Arg::known_text(path, value.span);
            self.use_path(call, idx, &path, Access::Read);
        }
        if found.writes_unknown {
            let path = Arg::hole(podward_policy::HoleKind::Anything, value.span);
            self.use_path(call, idx, &path, Access::Derived(Some(idx)));
        }
        if found.runs_code {
            self.unknown(
                "an inline script that runs commands",
                value.span,
                &call.demand,
            );
        }
        for text in &found.commands {
            let text = Arg::known_text(text, value.span);
            self.joined_text(
                call,
                std::slice::from_ref(&text),
                &Demand::Restrictive,
                Elsewhere::No,
            );
        }
    }
}

/// The file that a value such as `@file` or `name=@file` names.
fn at_file(value: &Arg) -> Option<Arg> {
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
fn mounted(value: &Arg) -> Option<Arg> {
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

fn switches_globs_off(arg: &Arg) -> bool {
    matches!(arg.known(), Some("--globoff" | "-g"))
}

/// The URLs that curl makes of `{a,b}` and `[1-3]`.
fn globbed(url: &Arg) -> Vec<Arg> {
    let mut urls = vec![Arg::empty(url.span)];
    let push_all = |urls: &mut Vec<Arg>, part: &Part| {
        for url in urls {
            url.push(part.clone());
        }
    };
    for part in url.parts() {
        let Part::Known(text) = part else {
            push_all(&mut urls, part);
            continue;
        };
        let mut rest = text.as_str();
        while let Some(at) = rest.find(['{', '[']) {
            let (before, group) = rest.split_at(at);
            push_all(&mut urls, &Part::Known(before.to_owned()));
            let close = if group.starts_with('{') { '}' } else { ']' };
            let Some((inner, after)) = group.get(1..).and_then(|g| g.split_once(close)) else {
                push_all(&mut urls, &Part::Known(group.to_owned()));
                rest = "";
                break;
            };
            rest = after;
            let alternatives = match close {
                ']' => range(inner),
                _ => inner.split(',').map(str::to_owned).collect(),
            };
            if close == ']' && inner.contains(':') {
                // An address of IPv6.
                push_all(&mut urls, &Part::Known(format!("[{inner}]")));
            } else if !alternatives.is_empty() && urls.len() * alternatives.len() <= MOST_URLS {
                urls = alternatives
                    .iter()
                    .flat_map(|alternative| {
                        urls.iter().map(|url| {
                            let mut url = url.clone();
                            url.push(Part::Known(alternative.clone()));
                            url
                        })
                    })
                    .collect();
            } else {
                let any = Part::Hole(podward_policy::HoleKind::Quoted, crate::arg::Source::Value);
                push_all(&mut urls, &any);
            }
        }
        push_all(&mut urls, &Part::Known(rest.to_owned()));
    }
    urls
}

/// The values of `1-3` and `a-c`; none if they are too many, or written otherwise.
fn range(text: &str) -> Vec<String> {
    let Some((first, last)) = text.split_once('-') else {
        return Vec::new();
    };
    if let (Ok(first), Ok(last)) = (first.parse::<usize>(), last.parse::<usize>()) {
        let is_small = last.saturating_sub(first) < MOST_URLS;
        return match is_small {
            true => (first..=last).map(|n| n.to_string()).collect(),
            false => Vec::new(),
        };
    }
    match (first.as_bytes(), last.as_bytes()) {
        ([first], [last]) if first.is_ascii_alphabetic() && last.is_ascii_alphabetic() => (*first
            ..=*last)
            .map(|c| char::from(c).to_string())
            .collect(),
        _ => Vec::new(),
    }
}

/// As many URLs as are told apart in one word.
const MOST_URLS: usize = 16;
