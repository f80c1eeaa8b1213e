//! The thin edge: the terminal, the sockets and the clock.

mod connection;
mod terminal;

use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use crossterm::event::Event;
use futures_util::StreamExt as _;
use podward_client::{Found, look};
use podward_protocol::{Hello, PROTOCOL_VERSION, PermissionRequest};
use podward_view::Before;
use rustix::process::{Signal, getpid, kill_process};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use self::connection::Connection;
use self::terminal::Terminal;
use crate::app::App;
use crate::input::{Effect, Input, Now, Outcome, PodNews};
use crate::keys::Settings;
use crate::pod::CLIENT;
use crate::view::Colors;

/// News that may wait to be shown: a pod whose client shows nothing any more hears no answer to its pings.
const N_NEWS: usize = 64;

/// News that are taken in before the screen is drawn.
const N_AT_ONCE: usize = 512;

/// How often the screen is drawn at most, unless a key was pressed.
const FRAME: Duration = Duration::from_millis(16);

/// The signal of Ctrl-Z.
const TSTP: i32 = 20;

/// What to attach to, and how.
#[derive(Debug)]
pub struct Attach {
    /// Where pods say that they run.
    pub run_dir: PathBuf,
    /// The pods; without one, one is chosen from a list.
    pub pods: Vec<Found>,
    /// Whether there is colour.
    pub colors: Colors,
    /// What the person has settled: keys, and the mouse.
    pub settings: Settings,
    /// What is in the file that a question is about.
    pub look: fn(&PermissionRequest) -> Before,
}

/// Why nothing can be shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AttachError {
    /// The terminal cannot be written to or read from.
    #[error("the terminal cannot be used")]
    Terminal(#[source] io::Error),
}

impl From<io::Error> for AttachError {
    fn from(error: io::Error) -> Self {
        Self::Terminal(error)
    }
}

/// Shows pods until the person leaves.
///
/// Needs a runtime around it, and a terminal at standard input and output.
///
/// # Errors
/// The terminal cannot be used.
pub async fn run(attach: Attach) -> Result<Outcome, AttachError> {
    let mut terminal = Terminal::take(attach.colors, attach.settings.mouse)?;
    let (columns, rows) = terminal.size()?;
    let keys = attach.settings.keys.clone();
    let app = App::new(attach.pods.clone(), keys, columns, rows);
    let (tell, heard) = mpsc::channel(N_NEWS);
    let mut edge = Edge {
        attach,
        begun: Instant::now(),
        tell,
        connections: Vec::new(),
        work: JoinSet::new(),
    };
    for found in edge.attach.pods.clone() {
        edge.connect(&found);
    }
    edge.list();
    let outcome = edge.serve(app, &mut terminal, heard).await;
    terminal.give_back();
    Ok(outcome?)
}

/// What the loop owns beside the state.
struct Edge {
    attach: Attach,
    begun: Instant,
    tell: mpsc::Sender<Input>,
    connections: Vec<Connection>,
    /// What looks into files and directories.
    work: JoinSet<Input>,
}

/// Whether the loop goes on.
#[derive(PartialEq, Eq)]
enum Then {
    GoOn,
    Leave,
}

impl Then {
    const fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::GoOn, Self::GoOn) => Self::GoOn,
            (Self::Leave, _) | (_, Self::Leave) => Self::Leave,
        }
    }
}

impl Edge {
    async fn serve(
        &mut self,
        mut app: App,
        terminal: &mut Terminal,
        mut heard: mpsc::Receiver<Input>,
    ) -> io::Result<Outcome> {
        let mut keys = crossterm::event::EventStream::new();
        let mut ends = ends()?;
        let mut stops = signal(SignalKind::from_raw(TSTP))?;
        // Also somebody else may stop it, which is not told, and continue it.
        let mut goes_on = signal(SignalKind::from_raw(Signal::CONT.as_raw()))?;
        let mut frame = Instant::now();
        loop {
            let now = Instant::now();
            if now >= frame {
                app.lay_out();
                terminal.draw(&app)?;
                self.take(&mut app, terminal, Some(Input::Drawn))?;
            }
            let tick = app.next_tick().map(Duration::from_millis);
            let wake = match now < frame {
                true => Some(frame.saturating_duration_since(now)),
                false => tick,
            };
            let end = wait_any(&mut ends);
            let mut is_key = false;
            let input = tokio::select! {
                biased;
                () = end => return Ok(app.outcome()),
                _ = stops.recv() => {
                    self.suspend(&mut app, terminal)?;
                    None
                }
                _ = goes_on.recv() => {
                    self.resume(&mut app, terminal)?;
                    None
                }
                key = keys.next() => match key {
                    Some(Ok(event)) => {
                        is_key = true;
                        input_of(event)
                    }
                    // The terminal is gone.
                    Some(Err(_)) | None => return Ok(app.outcome()),
                },
                Some(input) = heard.recv() => Some(input),
                Some(done) = self.work.join_next() => done.ok(),
                () = sleep(wake) => Some(Input::Tick),
            };
            let is_tick = matches!(input, Some(Input::Tick));
            let mut then = self.take(&mut app, terminal, input)?;
            if is_key {
                then = then.or(self.take_burst(&mut app, terminal)?);
            }
            then = then.or(self.take_more(&mut app, terminal, &mut heard)?);
            if then == Then::Leave {
                return Ok(app.outcome());
            }
            if is_tick && app.is_choosing() && now >= frame {
                self.list();
            }
            // A key is answered at once; what pods tell is shown together.
            if is_key {
                frame = Instant::now();
            } else if now >= frame {
                frame = now + FRAME;
            }
        }
    }

    /// Takes in what has come together with a key, so that its keys know of each other.
    fn take_burst(&mut self, app: &mut App, terminal: &mut Terminal) -> io::Result<Then> {
        let mut then = Then::GoOn;
        for _ in 0..N_AT_ONCE {
            if !crossterm::event::poll(Duration::ZERO)? {
                break;
            }
            let event = crossterm::event::read()?;
            then = then.or(self.take(app, terminal, input_of(event))?);
        }
        Ok(then)
    }

    /// Takes in what is there already, so that it is drawn together.
    fn take_more(
        &mut self,
        app: &mut App,
        terminal: &mut Terminal,
        heard: &mut mpsc::Receiver<Input>,
    ) -> io::Result<Then> {
        for _ in 0..N_AT_ONCE {
            let Ok(more) = heard.try_recv() else {
                break;
            };
            if self.take(app, terminal, Some(more))? == Then::Leave {
                return Ok(Then::Leave);
            }
        }
        Ok(Then::GoOn)
    }

    fn now(&self) -> Now {
        let wall = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Now {
            steady: milliseconds(self.begun.elapsed()),
            wall: wall.map_or(0, |wall| {
                i64::try_from(wall.as_millis()).unwrap_or(i64::MAX)
            }),
        }
    }

    fn take(
        &mut self,
        app: &mut App,
        terminal: &mut Terminal,
        input: Option<Input>,
    ) -> io::Result<Then> {
        let Some(input) = input else {
            return Ok(Then::GoOn);
        };
        for effect in app.on_event(self.now(), input) {
            match effect {
                Effect::Ask {
                    pod,
                    target,
                    method,
                } => {
                    let refused = match self.connections.get(pod) {
                        Some(connection) => connection.ask(target, method),
                        None => None,
                    };
                    if let Some((target, why)) = refused {
                        let news = PodNews::Replied(target, Err(why));
                        self.take(app, terminal, Some(Input::Pod(pod, Box::new(news))))?;
                    }
                }
                Effect::Look { pod, request } => {
                    let look = self.attach.look;
                    self.work.spawn_blocking(move || {
                        let before = look(&request);
                        let news = PodNews::Looked(request.id, before);
                        Input::Pod(pod, Box::new(news))
                    });
                }
                Effect::Connect(found) => self.connect(&found),
                Effect::List => self.list(),
                Effect::Bell => terminal.bell()?,
                Effect::Notify(what) => terminal.notify(&what)?,
                Effect::Suspend => self.suspend(app, terminal)?,
                Effect::Redraw => terminal.clear()?,
                Effect::Quit => return Ok(Then::Leave),
            }
        }
        Ok(Then::GoOn)
    }

    fn connect(&mut self, found: &Found) {
        let at = self.connections.len();
        let hello = Hello {
            protocol: PROTOCOL_VERSION,
            client: CLIENT.to_owned(),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            can_approve: true,
            events: None,
        };
        let socket = found.socket.clone();
        self.connections
            .push(Connection::new(at, socket, hello, self.tell.clone()));
    }

    fn list(&mut self) {
        let directory = self.attach.run_dir.clone();
        self.work.spawn_blocking(move || {
            // A directory that cannot be read is said by `podward pods`; here it holds no pods.
            let found = look(&directory)
                .map(|look| look.running)
                .unwrap_or_default();
            Input::Listed(found)
        });
    }

    /// Gives the terminal back and stops; goes on when somebody continues it.
    fn suspend(&mut self, app: &mut App, terminal: &mut Terminal) -> io::Result<()> {
        terminal.give_back();
        kill_process(getpid(), Signal::STOP)?;
        self.resume(app, terminal)
    }

    /// Takes the terminal again. What was typed meanwhile was for what was on the screen meanwhile, and the
    /// window may have another size.
    fn resume(&mut self, app: &mut App, terminal: &mut Terminal) -> io::Result<()> {
        terminal.take_again()?;
        let (columns, rows) = terminal.size()?;
        self.take(app, terminal, Some(Input::Resumed))?;
        self.take(app, terminal, Some(Input::Resized { columns, rows }))?;
        Ok(())
    }
}

fn input_of(event: Event) -> Option<Input> {
    match event {
        Event::Key(key) => Some(Input::Key(key)),
        Event::Paste(text) => Some(Input::Paste(text)),
        Event::Resize(columns, rows) => Some(Input::Resized { columns, rows }),
        Event::FocusGained => Some(Input::Focused(true)),
        Event::FocusLost => Some(Input::Focused(false)),
        Event::Mouse(event) => Some(Input::Mouse(event)),
    }
}

async fn sleep(wake: Option<Duration>) {
    match wake {
        Some(wake) => tokio::time::sleep(wake).await,
        None => std::future::pending().await,
    }
}

/// The signals that end it.
fn ends() -> io::Result<Vec<tokio::signal::unix::Signal>> {
    let kinds = [
        SignalKind::terminate(),
        SignalKind::hangup(),
        SignalKind::interrupt(),
    ];
    kinds.map(signal).into_iter().collect()
}

/// Waits for the first of some signals.
async fn wait_any(signals: &mut [tokio::signal::unix::Signal]) {
    std::future::poll_fn(|context| {
        let is_there = signals
            .iter_mut()
            .any(|signal| signal.poll_recv(context).is_ready());
        match is_there {
            true => std::task::Poll::Ready(()),
            false => std::task::Poll::Pending,
        }
    })
    .await;
}
