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
    let mut pages = Vec::new();
    add_pages("podward".to_owned(), &program, &mut pages);
    pages
}

/// The page of a command, and those of the commands below it.
fn add_pages(name: String, command: &clap::Command, pages: &mut Vec<(String, clap::Command)>) {
    pages.push((name.clone(), command.clone()));
    for below in command
        .get_subcommands()
        .filter(|below| !below.is_hide_set())
    {
        add_pages(format!("{name}-{}", below.get_name()), below, pages);
    }
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
