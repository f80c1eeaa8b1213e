//! `podward skills list | show | lint | end`: what skills there are, what they restrict, and its end.

mod end;
mod lint;
mod list;
mod show;

use podward_manifest::Diagnostic;
use podward_pod::layers::Loaded;
use podward_pod::{Purpose, SkillFile, SkillProblem, Skills as Found, with_causes};
use podward_policy::KnownTools;
use podward_skill::Problem;

use crate::arguments::{Skills, SkillsCommand, SkillsManifest};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::layers;
use crate::screen::{Look, Screen};

pub(super) fn run(arguments: &Skills, screen: Screen) -> Result<Exit, Failure> {
    match &arguments.command {
        SkillsCommand::List(arguments) => list::run(arguments, screen),
        SkillsCommand::Show(arguments) => show::run(arguments, screen),
        SkillsCommand::Lint(arguments) => lint::run(arguments, screen),
        SkillsCommand::End(arguments) => end::run(arguments, screen),
    }
}

/// The layers, and the skills that they name.
fn discover(manifest: &SkillsManifest) -> Result<(Loaded, Found), Failure> {
    let places = layers::places()?;
    let loaded = layers::load(&places, manifest.manifest.as_deref(), &manifest.layers)?;
    let found = Found::discover(&loaded.resolved.skill_directories, places.accounts());
    Ok((loaded, found))
}

/// What is wrong with a skill: its text, and what its lists name.
fn diagnostics(file: &SkillFile, loaded: &Loaded, purpose: Purpose) -> Vec<Diagnostic> {
    let known = KnownTools::built_in();
    let mut problems = file.reading.problems.clone();
    // To its author all is told at once, also what is wrong beside an error.
    if file.reading.skill.is_some() || purpose == Purpose::Lint {
        let (skill, workspace) = (file.directory.to_str(), loaded.workspace.to_str());
        let compiled = file
            .reading
            .listed
            .compile(&file.place(&known, skill, workspace));
        let is_new = |problem: &Problem| !file.reading.problems.contains(problem);
        problems.extend(compiled.problems.into_iter().filter(is_new));
    }
    file.diagnostics(&problems, purpose)
}

/// Says that something was not read.
fn say(problem: &SkillProblem, look: Look, word: &str, screen: Screen) {
    screen.say(look, word, with_causes(problem));
    if let Some(help) = problem.help() {
        screen.say(Look::Strong, "help", help);
    }
}
