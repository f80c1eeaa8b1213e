//! The last simple command of a compound: what is repeated may run after any of its commands.

use crate::syntax::{AndOr, Command, Compound, List};
use crate::values::Moment;
use crate::work;

/// The last command of a list; all of the text, if it has none.
pub(super) fn last_of(list: &List) -> Moment {
    last_in(list).map_or(Moment::END, Moment)
}

fn last_in(list: &List) -> Option<usize> {
    list.iter().filter_map(last_of_and_or).max()
}

fn last_of_and_or(and_or: &AndOr) -> Option<usize> {
    let rest = and_or.rest.iter().map(|(_, pipeline)| pipeline);
    std::iter::once(&and_or.first)
        .chain(rest)
        .flat_map(|pipeline| &pipeline.commands)
        .filter_map(last_of_command)
        .max()
}

fn last_of_command(command: &Command) -> Option<usize> {
    work::done(1);
    let compound = match command {
        Command::Simple(idx) => return Some(idx.0),
        Command::Compound(compound, _) => compound,
    };
    match compound {
        Compound::Subshell(list) | Compound::Group(list) | Compound::ArithmeticFor(_, list) => {
            last_in(list)
        }
        Compound::If(branches, otherwise) => branches
            .iter()
            .flat_map(|(condition, body)| [condition, body])
            .chain(otherwise)
            .filter_map(last_in)
            .max(),
        Compound::While { condition, body } => last_in(condition).max(last_in(body)),
        Compound::For { body, .. } => last_in(body),
        Compound::Case(_, arms) => arms.iter().filter_map(|(_, body)| last_in(body)).max(),
        Compound::Function { body, .. } => last_of_command(body),
        Compound::Arithmetic(_) | Compound::Test(_) => None,
    }
}
