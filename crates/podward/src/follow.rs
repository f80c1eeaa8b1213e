//! Follows a pod: writes what it tells, and puts its questions to the person at the terminal.
//!
//! One loop owns all of it: events, typed lines and the fate of answers come to it one at a time.

mod at_terminal;

use std::io;

use podward_protocol::{Envelope, Event, TurnEnded, encode};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use self::at_terminal::AtTerminal;
use crate::arguments::Format;
use crate::connection::{Caller, Events};
use crate::question::Prompts;
use crate::screen::{Look, Screen};
use crate::terminal::Terminal;
use crate::transcript::{Asked, Piece, Transcript};
use crate::unanswered::Unanswered;

/// How the writing ended.
#[derive(Debug)]
pub(crate) enum Written {
    /// Everything was written.
    All,
    /// The reader of standard output went away.
    ReaderGone,
    /// Standard output cannot be written.
    Failed(io::Error),
    /// Everything that came was written, and the connection was lost.
    Lost(podward_client::Ending),
}

/// What is listed at the end of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lists {
    /// What nobody answered.
    Unanswered,
    Nothing,
}

/// What to follow, and for whom.
pub(crate) struct Follow {
    pub(crate) events: Events,
    pub(crate) caller: Caller,
    pub(crate) format: Format,
    pub(crate) screen: Screen,
    /// Where a person answers; without it nothing is ever asked here.
    pub(crate) terminal: Option<Terminal>,
    /// Whether that person gives prompts there.
    pub(crate) prompts: Prompts,
    /// Who answers where there is no such person.
    pub(crate) whom: Asked,
    /// Whether what nobody answered is listed, with what would have allowed it.
    pub(crate) lists: Lists,
    /// Cancelled where nothing more can be written: an agent that nobody can follow does not go on.
    pub(crate) cancel: CancellationToken,
    /// Cancelled when nothing more is wanted.
    pub(crate) done: CancellationToken,
    /// Hears of turns that end.
    pub(crate) ended: mpsc::Sender<TurnEnded>,
}

/// Follows until there are no more events, or nothing more is wanted.
pub(crate) async fn follow(follow: Follow) -> Written {
    let whom = match &follow.terminal {
        Some(_) => Asked::Here,
        None => follow.whom,
    };
    let (format, screen) = (follow.format, follow.screen);
    let mut writer = Writer {
        transcript: Transcript::new(screen, whom),
        lists: follow.lists == Lists::Unanswered && whom != Asked::Here,
        unanswered: Unanswered::default(),
        format,
        screen,
        cancel: follow.cancel,
        written: Written::All,
    };
    let mut at_terminal = follow
        .terminal
        .map(|terminal| AtTerminal::new(terminal, screen, follow.prompts));
    let (mut events, caller) = (follow.events, follow.caller);
    loop {
        let answered = async {
            match &mut at_terminal {
                Some(at_terminal) => at_terminal.next(&caller).await,
                None => std::future::pending().await,
            }
        };
        let envelope = tokio::select! {
            // What is known first: a question that is settled is not answered.
            biased;
            envelope = events.next() => envelope,
            () = answered => match at_terminal.as_ref().is_some_and(AtTerminal::has_left) {
                true => break,
                false => continue,
            },
            () = follow.done.cancelled() => break,
        };
        let Some(envelope) = envelope else {
            if let (Written::All, Some(ending)) = (&writer.written, events.ending()) {
                writer.written = Written::Lost(ending);
            }
            break;
        };
        match &envelope.event {
            // Told before it is written, which may wait for whoever reads. Nobody may wait for it any more,
            // and nobody waits for so many.
            Event::TurnEnded(end) if !envelope.snapshot => drop(follow.ended.try_send(end.clone())),
            _ => {} // written, and that is all
        }
        writer.write(&envelope, at_terminal.as_mut());
    }
    if let Some(at_terminal) = &mut at_terminal {
        at_terminal.make_room();
    }
    writer.written
}

/// Where events go.
struct Writer {
    transcript: Transcript,
    unanswered: Unanswered,
    /// Whether what nobody answered is listed: no person saw it.
    lists: bool,
    format: Format,
    screen: Screen,
    cancel: CancellationToken,
    written: Written,
}

impl Writer {
    fn write(&mut self, envelope: &Envelope, at_terminal: Option<&mut AtTerminal>) {
        let event = &envelope.event;
        if self.lists {
            let transcript = &mut self.transcript;
            self.unanswered
                .watch(event, |request| transcript.number_of(request));
        }
        let pieces = match (self.format, at_terminal.is_some()) {
            // The person has to know what is asked and what was answered.
            (Format::Json, true) if is_about_questions(event) => self.transcript.show(event),
            (Format::Json, false) | (Format::Json, true) => Vec::new(),
            // What already was is known from where it was told.
            // But a skill that is active still counts.
            (Format::Text, _) if envelope.snapshot && !matches!(event, Event::SkillStarted(_)) => {
                Vec::new()
            }
            (Format::Text, _) => self.transcript.show(event),
        };
        let mut at_terminal = at_terminal;
        if let (Some(at_terminal), false) = (&mut at_terminal, pieces.is_empty()) {
            at_terminal.make_room();
            for piece in &pieces {
                match piece {
                    Piece::Data(text) if self.screen.data.is_terminal => at_terminal.wrote(text),
                    Piece::Data(_) => {}
                    Piece::Talk(text) => at_terminal.wrote(text),
                }
            }
        }
        let mut done = self.write_pieces(pieces);
        if self.format == Format::Json {
            done = done.and(self.write_line(envelope));
        }
        if let Err(error) = done {
            self.give_up(error);
        }
        if let Some(at_terminal) = at_terminal {
            at_terminal.hear(event, &mut self.transcript);
        }
        if let Event::TurnEnded(_) = event {
            let text = self.unanswered.take(self.screen.talk);
            self.screen.write_talk(&text.unwrap_or_default());
        }
    }

    fn write_pieces(&self, pieces: Vec<Piece>) -> io::Result<()> {
        for piece in pieces {
            match piece {
                // The pod waits until its events are taken, whatever becomes of them.
                Piece::Data(_) if !matches!(self.written, Written::All) => {}
                Piece::Data(text) => self.screen.write_data(&text)?,
                Piece::Talk(text) => self.screen.write_talk(&text),
            }
        }
        Ok(())
    }

    fn write_line(&self, envelope: &Envelope) -> io::Result<()> {
        if !matches!(self.written, Written::All) {
            return Ok(());
        }
        match encode(envelope) {
            Ok(line) => self.screen.write_data(&format!("{line}\n")),
            Err(error) => {
                let seq = envelope.seq;
                let what = format_args!("event {seq} is left out: {error}");
                self.screen.say(Look::Warning, "warning", what);
                Ok(())
            }
        }
    }

    fn give_up(&mut self, error: io::Error) {
        self.cancel.cancel();
        self.written = match error.kind() {
            io::ErrorKind::BrokenPipe => Written::ReaderGone,
            _ => Written::Failed(error),
        };
    }
}

/// Whether it tells what is asked, or what was answered.
const fn is_about_questions(event: &Event) -> bool {
    matches!(
        event,
        Event::PermissionSettled(_) | Event::GrantAdded(_) | Event::GrantRevoked(_)
    )
}
