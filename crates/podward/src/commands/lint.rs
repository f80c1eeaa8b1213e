//! `podward lint MANIFEST…`: rules that do not do what their author means.

mod github;
mod json;
mod sarif;
mod sources;
mod text;

use std::collections::BTreeSet;
use std::path::Path;

use podward_lint::{Attendance, Call, Code, Finding, Lower, Part, Severity};
use podward_manifest::{Diagnostic, LayerName, OnAsk, WrittenPermissions};
use podward_policy::{KnownTools, Lowered, RuleIdx};
use podward_tools::{Place, lower};
use podward_view::counted;

use crate::arguments::{Lint, LintFormat};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::{Look, Screen};

use sources::{Bad, Source};

/// A finding with the places that it is about.
#[derive(Debug)]
struct Shown {
    code: Code,
    layer: LayerName,
    rule: Option<RuleIdx>,
    message: String,
    help: String,
    place: Option<podward_manifest::Place>,
    witnesses: Vec<ShownWitness>,
    related: Vec<(RuleIdx, podward_manifest::Place)>,
}

/// A witness with the place of the rule that decided it.
#[derive(Debug)]
struct ShownWitness {
    witness: podward_lint::Witness,
    place: Option<podward_manifest::Place>,
}

pub(super) fn run(arguments: &Lint, screen: Screen) -> Result<Exit, Failure> {
    let mut shown: Vec<Shown> = Vec::new();
    let mut bad: Vec<Bad> = Vec::new();
    let mut seen = BTreeSet::new();
    let mut n_loaded = 0;
    let mut broken_children = BTreeSet::new();
    let mut is_new_child = |broken: &Bad| broken_children.insert(broken.file.clone());
    for manifest in &arguments.manifests {
        match sources::load(manifest, arguments) {
            Ok(mut source) => {
                n_loaded += 1;
                let broken = std::mem::take(&mut source.broken);
                // Several may start the same.
                bad.extend(broken.into_iter().filter(|broken| is_new_child(broken)));
                let findings = of_manifest(&source);
                say_warnings(&source, &findings, screen);
                for finding in findings {
                    let is_new = seen.insert((finding.at(), finding.code, finding.message.clone()));
                    let is_allowed = arguments.allowed.contains(&finding.code);
                    if is_new && !is_allowed {
                        shown.push(finding);
                    }
                }
            }
            Err(failure) => bad.push(Bad::new(manifest, failure)?),
        }
    }
    let text = match arguments.format {
        LintFormat::Text => shown.iter().map(text::finding).collect(),
        LintFormat::Json => shown
            .iter()
            .map(json::line)
            .collect::<Result<String, _>>()?,
        LintFormat::Sarif => sarif::log(&shown, &bad)?,
        LintFormat::Github => github::commands(&shown, &bad),
    };
    for bad in &bad {
        screen.write_talk(&format!("{}\n", bad.problem));
    }
    screen.say(Look::Strong, "lint", summary(&shown, n_loaded, bad.len()));
    let worst = shown.iter().map(|finding| finding.code.severity()).max();
    let exit = match (bad.is_empty(), worst) {
        (false, _) => Exit::BadManifest,
        (true, Some(Severity::Warning | Severity::Error)) => Exit::Failed,
        (true, Some(Severity::Note) | None) => Exit::Done,
    };
    super::finish(screen, &text, exit)
}

impl Shown {
    /// File, line and column.
    fn at(&self) -> String {
        self.place
            .as_ref()
            .map(|place| place.location.to_string())
            .unwrap_or_default()
    }
}

/// What the loader says beside what is found here, with a witness.
fn say_warnings(source: &Source, findings: &[Shown], screen: Screen) {
    let is_found = |warning: &Diagnostic| {
        let at = warning.place.as_ref().map(|place| &place.location);
        let mut places = findings.iter().filter_map(|finding| finding.place.as_ref());
        at.is_some_and(|at| places.any(|place| place.location == *at))
    };
    for warning in source.warnings.iter().filter(|warning| !is_found(warning)) {
        screen.write_talk(&format!("{warning}\n"));
    }
}

fn of_manifest(source: &Source) -> Vec<Shown> {
    let known = KnownTools::built_in();
    let lowering = Lowering(&source.place);
    let layers: Vec<_> = source.policies.names().collect();
    let lint = podward_lint::Lint {
        policies: &source.policies,
        known: &known,
        lower: &lowering,
        programs: &source.programs,
        attendance: attendance(source),
    };
    let report = lint.run();
    let shown = report.findings.into_iter().filter_map(|finding| {
        let layer = *layers.get(finding.layer_idx)?;
        Some(with_places(finding, layer, source.written(layer)))
    });
    shown.collect()
}

/// A manifest that refuses questions without anybody there is made for that; one that keeps them (`wait`)
/// expects somebody later. Of several layers the strictest counts.
fn attendance(source: &Source) -> Attendance {
    let says = source.layers.iter().map(|(_, written)| written.on_ask);
    match says.max().flatten() {
        Some(OnAsk::Refuse | OnAsk::Error) => Attendance::Headless,
        Some(OnAsk::Wait) | None => Attendance::Unsaid,
    }
}

fn with_places(finding: Finding, layer: &LayerName, written: Option<&WrittenPermissions>) -> Shown {
    let rule = |idx: RuleIdx| written.and_then(|written| written.rules.get(idx.0));
    let pattern = |idx: RuleIdx| rule(idx).map(|rule| rule.pattern.clone());
    let place = match finding.part {
        Part::Tool(idx) => rule(idx).map(|rule| rule.tool.clone()),
        Part::Pattern(idx) => pattern(idx),
        Part::Action(idx) => rule(idx).map(|rule| rule.action.clone()),
        Part::DefaultAction => written.and_then(|written| written.default_action.clone()),
    };
    let related = finding.related.iter();
    let witnesses = finding.witnesses.into_iter().map(|witness| ShownWitness {
        place: witness.rule.and_then(pattern),
        witness,
    });
    Shown {
        code: finding.code,
        layer: layer.clone(),
        rule: finding.part.rule(),
        message: finding.message,
        help: finding.help,
        place,
        witnesses: witnesses.collect(),
        related: related
            .filter_map(|idx| Some((*idx, pattern(*idx)?)))
            .collect(),
    }
}

fn summary(shown: &[Shown], n_manifests: usize, n_bad: usize) -> String {
    let count = |severity: Severity| {
        let of_it = shown
            .iter()
            .filter(|finding| finding.code.severity() == severity);
        of_it.count()
    };
    let not_loaded = match n_bad {
        0 => String::new(),
        n_bad => format!("; {n_bad} did not load"),
    };
    format!(
        "{}, {}, {} in {}{not_loaded}",
        counted(count(Severity::Error), "error"),
        counted(count(Severity::Warning), "warning"),
        counted(count(Severity::Note), "note"),
        counted(n_manifests, "manifest"),
    )
}

/// The tools' own lowering, without a look at the disk.
struct Lowering<'p>(&'p Place);

impl Lower for Lowering<'_> {
    fn lower(&self, call: &Call) -> Option<Lowered> {
        let lowered = lower(call.tool.as_str(), call.arguments.clone(), self.0);
        lowered.ok().map(|(_, lowered)| lowered)
    }
}

/// The path of a file as people wrote it.
fn shown_path(path: &Path) -> String {
    path.display().to_string()
}
