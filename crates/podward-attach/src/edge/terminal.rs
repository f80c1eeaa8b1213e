//! The terminal: taken, drawn on, and given back whatever happens.

use std::io::{self, Stdout, Write as _, stdin, stdout};
use std::panic;

use crossterm::event::{
    DisableBracketedPaste, DisableFocusChange, EnableBracketedPaste, EnableFocusChange,
};
use crossterm::execute;
use crossterm::style::Print;
use crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode,
    enable_raw_mode, size,
};
use podward_view::{Lines, visible};
use ratatui::backend::CrosstermBackend;
use rustix::termios::{QueueSelector, tcflush};

use crate::app::App;
use crate::keys::Mouse;
use crate::view::{Colors, draw};

/// The terminal while it is this program's.
pub(super) struct Terminal {
    terminal: ratatui::Terminal<CrosstermBackend<Stdout>>,
    colors: Colors,
    mouse: Mouse,
}

/// Asks for buttons and the wheel, by their place in columns and rows; not for each move of the mouse.
const MOUSE_ON: &str = "\u{1b}[?1000h\u{1b}[?1006h";
const MOUSE_OFF: &str = "\u{1b}[?1006l\u{1b}[?1000l";

impl Terminal {
    /// Takes the terminal, so that it is given back also where the program panics.
    pub(super) fn take(colors: Colors, mouse: Mouse) -> io::Result<Self> {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |what| {
            give_back();
            before(what);
        }));
        take(mouse).inspect_err(|_| give_back())?;
        let terminal = ratatui::Terminal::new(CrosstermBackend::new(stdout()));
        let terminal = terminal.inspect_err(|_| give_back())?;
        Ok(Self {
            terminal,
            colors,
            mouse,
        })
    }

    pub(super) fn size(&self) -> io::Result<(u16, u16)> {
        size()
    }

    pub(super) fn draw(&mut self, app: &App) -> io::Result<()> {
        let colors = self.colors;
        self.terminal.draw(|frame| draw(app, frame, colors))?;
        Ok(())
    }

    /// Forgets what is drawn, so that all of it is drawn anew.
    ///
    /// `ratatui::Terminal::clear` asks the terminal where its cursor is, and gets no answer while another
    /// thread waits for keys.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        execute!(stdout(), Clear(ClearType::All))?;
        self.terminal = ratatui::Terminal::new(CrosstermBackend::new(stdout()))?;
        Ok(())
    }

    pub(super) fn give_back(&mut self) {
        give_back();
    }

    /// Takes it from whoever had it meanwhile; what was typed there is dropped.
    pub(super) fn take_again(&mut self) -> io::Result<()> {
        // Who stopped it without asking has changed the terminal without its knowing.
        disable_raw_mode()?;
        take(self.mouse)?;
        tcflush(stdin(), QueueSelector::IFlush)?;
        self.clear()
    }

    /// Sends a notification, where the terminal knows them.
    pub(super) fn notify(&mut self, what: &str) -> io::Result<()> {
        let what = visible(what, Lines::Escape);
        let mut stdout = stdout().lock();
        write!(stdout, "\u{1b}]9;{what}\u{7}")?;
        stdout.flush()
    }

    pub(super) fn bell(&mut self) -> io::Result<()> {
        let mut stdout = stdout().lock();
        write!(stdout, "\u{7}")?;
        stdout.flush()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        give_back();
    }
}

fn take(mouse: Mouse) -> io::Result<()> {
    enable_raw_mode()?;
    execute!(
        stdout(),
        EnterAlternateScreen,
        EnableBracketedPaste,
        EnableFocusChange
    )?;
    match mouse {
        Mouse::Used => execute!(stdout(), Print(MOUSE_ON)),
        Mouse::Ignored => Ok(()),
    }
}

fn give_back() {
    // Nobody is left to tell where the terminal is gone.
    let _ = execute!(
        stdout(),
        Print(MOUSE_OFF),
        DisableFocusChange,
        DisableBracketedPaste,
        LeaveAlternateScreen,
        crossterm::cursor::Show
    );
    let _ = disable_raw_mode();
}
