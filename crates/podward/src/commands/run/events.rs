//! Writes the events of a run, as text or as JSON Lines.

use std::io;

use podward_protocol::{Envelope, encode};
use tokio::sync::mpsc::Receiver;
use tokio_util::sync::CancellationToken;

use crate::arguments::Format;
use crate::screen::{Look, Screen};
use crate::transcript::{Piece, Transcript};

/// How the writing ended.
#[derive(Debug)]
pub(super) enum Written {
    /// Everything was written.
    All,
    /// The reader of standard output went away.
    ReaderGone,
    /// Standard output cannot be written.
    Failed(io::Error),
}

/// Writes events until there are no more. Where that fails the turn is cancelled: an agent that
/// nobody can follow does not go on.
pub(super) fn write(
    mut events: Receiver<Envelope>,
    format: Format,
    screen: Screen,
    cancel: &CancellationToken,
) -> Written {
    let mut transcript = Transcript::new(screen);
    let mut written = Written::All;
    while let Some(envelope) = events.blocking_recv() {
        if !matches!(written, Written::All) {
            // The pod waits until its events are taken.
            continue;
        }
        let done = match format {
            Format::Text => write_text(&mut transcript, &envelope, screen),
            Format::Json => write_json(&envelope, screen),
        };
        if let Err(error) = done {
            cancel.cancel();
            written = match error.kind() {
                io::ErrorKind::BrokenPipe => Written::ReaderGone,
                _ => Written::Failed(error),
            };
        }
    }
    written
}

fn write_text(transcript: &mut Transcript, envelope: &Envelope, screen: Screen) -> io::Result<()> {
    for piece in transcript.show(&envelope.event) {
        match piece {
            Piece::Data(text) => screen.write_data(&text)?,
            Piece::Talk(text) => screen.write_talk(&text),
        }
    }
    Ok(())
}

fn write_json(envelope: &Envelope, screen: Screen) -> io::Result<()> {
    match encode(envelope) {
        Ok(line) => screen.write_data(&format!("{line}\n")),
        Err(error) => {
            let seq = envelope.seq;
            screen.say(
                Look::Warning,
                "warning",
                format_args!("event {seq} is left out: {error}"),
            );
            Ok(())
        }
    }
}
