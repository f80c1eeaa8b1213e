//! `podward man [PAGE]`: one page for the program and one for each visible subcommand.

use clap::CommandFactory as _;

use crate::arguments::{Arguments, Man};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::Screen;

pub(super) fn run(arguments: &Man, screen: Screen) -> Result<Exit, Failure> {
    let pages = pages();
    let text = if arguments.list {
        pages.iter().map(|(name, _)| format!("{name}\n")).collect()
    } else {
        let page = pages.into_iter().find(|(name, _)| *name == arguments.page);
        let Some((name, command)) = page else {
            return Err(Failure::Usage {
                message: format!("there is no man page `{}`", arguments.page),
                help: "`podward man --list` names all pages",
            });
        };
        render(&name, command).map_err(Failure::Stdout)?
    };
    super::finish(screen, &text, Exit::Done)
}

/// Names of the pages, with the commands they are about.
fn pages() -> Vec<(String, clap::Command)> {
    let mut program = Arguments::command();
    program.build();
    let mut pages = vec![("podward".to_owned(), program.clone())];
    for subcommand in program
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
    {
        let name = format!("podward-{}", subcommand.get_name());
        pages.push((name, subcommand.clone()));
    }
    pages
}

fn render(name: &str, command: clap::Command) -> std::io::Result<String> {
    let mut page = Vec::new();
    let man = clap_mangen::Man::new(command).title(name).manual("podward");
    man.render(&mut page)?;
    page.extend(exit_codes().into_bytes());
    Ok(String::from_utf8_lossy(&page).into_owned())
}

/// The section that every page ends with.
fn exit_codes() -> String {
    let mut section = ".SH \"EXIT STATUS\"\n".to_owned();
    for exit in Exit::ALL {
        let meaning = exit.meaning().replace('-', "\\-").replace('`', "");
        section.push_str(&format!(".TP\n\\fB{}\\fR\n{meaning}\n", exit.code()));
    }
    section
}
