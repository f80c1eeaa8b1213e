mod pauses;
mod safety;
mod screens;
mod talking;
mod typed;

use std::path::PathBuf;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use podward_client::Found;
use podward_protocol::{
    Answer, Coverage, Envelope, Event, Explanation, Method, PROTOCOL_VERSION, PodEntry, Reply,
    RequestId, Ruling, SessionId, Status, Time, Verdict, Welcome,
};
use podward_view::Question;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::App;
use super::guard::ALONE;
use crate::input::{Effect, Input, Now, PodNews, Target};
use crate::keys::Keys;
use crate::view::{Colors, draw};

/// A person at a screen: what happens, what is seen, what is done.
struct Desk {
    app: App,
    now: Now,
    screen: Terminal<TestBackend>,
    effects: Vec<Effect>,
}

fn session(at: usize) -> SessionId {
    let ids = [
        "01JDXW8Z4M9V7Q3T5R6S8N0PAB",
        "01JDXW8Z4M9V7Q3T5R6S8N0PAC",
        "01JDXW8Z4M9V7Q3T5R6S8N0PAD",
    ];
    SessionId::new(ids[at]).unwrap()
}

fn found(at: usize, name: &str) -> Found {
    Found {
        entry: PodEntry {
            format: 1,
            pod: name.to_owned(),
            session: session(at),
            pid: 7,
            started_at: Time::UNIX_EPOCH,
            workspace: "/home/me/project".to_owned(),
            manifest: None,
            protocol: PROTOCOL_VERSION,
        },
        socket: PathBuf::from(format!("/run/{name}.sock")),
    }
}

impl Desk {
    /// At a screen of this size, with pods that are connected and idle.
    fn new(columns: u16, rows: u16, pods: &[&str]) -> Self {
        let found = pods.iter().enumerate().map(|(at, name)| found(at, name));
        let app = App::new(found.collect(), Keys::default(), columns, rows);
        let mut desk = Self {
            app,
            now: Now {
                steady: 10_000,
                wall: 1_767_323_045_678,
            },
            screen: Terminal::new(TestBackend::new(columns, rows)).unwrap(),
            effects: Vec::new(),
        };
        for at in 0..pods.len() {
            desk.connect(at);
            desk.tell(at, Event::Status(Status::Idle));
        }
        desk
    }

    fn usual() -> Self {
        Self::new(80, 24, &["demo"])
    }

    fn happens(&mut self, input: Input) {
        let effects = self.app.on_event(self.now, input);
        self.effects.extend(effects);
    }

    fn connect(&mut self, at: usize) {
        let welcome = Welcome {
            protocol: PROTOCOL_VERSION,
            version: "0.1.0".to_owned(),
            pod: "demo".to_owned(),
            path: Vec::new(),
            session: session(at),
            client: 1,
            can_approve: true,
            ping_interval_ms: 10_000,
            max_request_bytes: 1 << 20,
        };
        self.news(at, PodNews::Connected(welcome));
    }

    fn news(&mut self, at: usize, news: PodNews) {
        self.happens(Input::Pod(at, Box::new(news)));
    }

    fn tell(&mut self, at: usize, event: Event) {
        self.tell_as(at, event, false);
    }

    fn tell_as(&mut self, at: usize, event: Event, snapshot: bool) {
        let envelope = Envelope {
            time: Time::UNIX_EPOCH,
            session: session(at),
            seq: 1,
            snapshot,
            event,
        };
        self.news(at, PodNews::Told(Box::new(envelope)));
    }

    /// A pod asks, the screen shows it, and nothing is typed for a while.
    fn asked(&mut self, question: &Question) {
        self.asks(0, question);
        self.shows();
        self.wait(600);
    }

    fn asks(&mut self, at: usize, question: &Question) {
        self.tell(at, Event::PermissionRequest(question.request.clone()));
    }

    fn wait(&mut self, milliseconds: u64) {
        self.now.steady += milliseconds;
        self.now.wall += i64::try_from(milliseconds).unwrap();
        self.happens(Input::Tick);
    }

    fn code(&mut self, code: KeyCode, modifiers: KeyModifiers) {
        self.happens(Input::Key(KeyEvent::new(code, modifiers)));
    }

    /// Presses keys, one after the other, and then none for a moment; the screen shows each.
    fn keys(&mut self, keys: &str) {
        self.burst(keys);
        self.wait(ALONE);
    }

    /// The same, and whatever comes next comes at once.
    fn burst(&mut self, keys: &str) {
        for c in keys.chars() {
            match c {
                '\n' => self.code(KeyCode::Enter, KeyModifiers::NONE),
                '\u{1b}' => self.code(KeyCode::Esc, KeyModifiers::NONE),
                '\t' => self.code(KeyCode::Tab, KeyModifiers::NONE),
                c => self.code(KeyCode::Char(c), KeyModifiers::NONE),
            }
            self.shows();
        }
    }

    fn control(&mut self, c: char) {
        self.code(KeyCode::Char(c), KeyModifiers::CONTROL);
    }

    /// Draws, and tells what is on the screen.
    fn shows(&mut self) -> String {
        self.app.lay_out();
        let app = &self.app;
        self.screen
            .draw(|frame| draw(app, frame, Colors::None))
            .unwrap();
        self.happens(Input::Drawn);
        let buffer = self.screen.backend().buffer();
        let columns = usize::from(buffer.area.width).max(1);
        let cells: Vec<&str> = buffer
            .content
            .iter()
            .map(ratatui::buffer::Cell::symbol)
            .collect();
        let rows = cells.chunks(columns).map(|row| row.concat());
        rows.map(|row| row.trim_end().to_owned() + "\n").collect()
    }

    /// The answers that were given, in order.
    fn answers(&self) -> Vec<(RequestId, Answer)> {
        let asks = self.effects.iter().filter_map(|effect| match effect {
            Effect::Ask { method, .. } => match &**method {
                Method::PermissionReply(reply) => Some((reply.id.clone(), reply.answer.clone())),
                _ => None,
            },
            _ => None,
        });
        asks.collect()
    }

    /// Whether something was let run.
    fn has_approved(&self) -> bool {
        let mut answers = self.answers().into_iter();
        answers.any(|(_, answer)| !matches!(answer, Answer::Reject { .. }))
    }

    /// The pod says what its rules say of what was last typed.
    fn judged(&mut self, verdict: Verdict) {
        let told = Explanation {
            ruling: Ruling {
                verdict,
                cause: screens::by_default(),
                operation: None,
                coverage: Coverage::Full,
            },
            operations: Vec::new(),
            change: None,
            shortened: false,
        };
        let target = self.target();
        assert!(matches!(target, Target::Judgement(..)), "{target:?}");
        self.news(
            0,
            PodNews::Replied(target, Ok(Reply::Explain(Box::new(told)))),
        );
    }

    fn target(&self) -> Target {
        let last = self.effects.iter().rev().find_map(|effect| match effect {
            Effect::Ask { target, .. } => Some(target.clone()),
            _ => None,
        });
        last.unwrap()
    }
}
