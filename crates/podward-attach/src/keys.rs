//! Which key does what: as built in, or as a file of the person says.
//!
//! INVARIANT: what a file says moves keys, and loosens nothing: Enter, Esc and space never approve, and what
//! waits for a pause waits for it whatever the key is called.

mod file;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

pub use self::file::{KeysError, Mouse, Settings};

/// A key with what is held beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key {
    code: KeyCode,
    held: KeyModifiers,
}

/// Where an action is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    Question,
    Conversation,
    Anywhere,
}

/// What a key can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Yes,
    No,
    Because,
    Always,
    Edit,
    Done,
    GoOn,
    GoBack,
    Down,
    Up,
    Right,
    Left,
    Start,
    End,
    Next,
    Previous,
    Aside,
    Keys,
    Send,
    Return,
    Help,
    Attach,
    PageUp,
    PageDown,
    RowUp,
    RowDown,
    First,
    Last,
    Search,
    NextPod,
    PreviousPod,
    Leave,
    Cancel,
    Suspend,
    Redraw,
}

/// An action: where it is for, its name in the file, and the keys that it has where the file says nothing.
type Described = (Action, Section, &'static str, &'static [&'static str]);

const ACTIONS: &[Described] = &[
    (Action::Yes, Section::Question, "yes", &["y"]),
    (Action::No, Section::Question, "no", &["n"]),
    (Action::Because, Section::Question, "because", &["r"]),
    (Action::Always, Section::Question, "always", &["a"]),
    (Action::Edit, Section::Question, "edit", &["e"]),
    (Action::Done, Section::Question, "done", &["Ctrl-S"]),
    (
        Action::GoOn,
        Section::Question,
        "go_on",
        &["space", "PageDown"],
    ),
    (Action::GoBack, Section::Question, "go_back", &["PageUp"]),
    (Action::Down, Section::Question, "down", &["down", "j"]),
    (Action::Up, Section::Question, "up", &["up", "k"]),
    (Action::Right, Section::Question, "right", &["right", "l"]),
    (Action::Left, Section::Question, "left", &["left", "h"]),
    (Action::Start, Section::Question, "start", &["Home"]),
    (Action::End, Section::Question, "end", &["End"]),
    (Action::Next, Section::Question, "next", &["Tab"]),
    (
        Action::Previous,
        Section::Question,
        "previous",
        &["Shift-Tab"],
    ),
    (Action::Aside, Section::Question, "aside", &["o"]),
    (Action::Keys, Section::Question, "help", &["?", "F1"]),
    (Action::Send, Section::Conversation, "send", &["Enter"]),
    (
        Action::Return,
        Section::Conversation,
        "return",
        &["Esc", "F2"],
    ),
    (Action::Help, Section::Conversation, "help", &["F1"]),
    (Action::Attach, Section::Conversation, "attach", &["F3"]),
    (
        Action::PageUp,
        Section::Conversation,
        "page_up",
        &["PageUp"],
    ),
    (
        Action::PageDown,
        Section::Conversation,
        "page_down",
        &["PageDown"],
    ),
    (Action::RowUp, Section::Conversation, "up", &["Alt-up"]),
    (
        Action::RowDown,
        Section::Conversation,
        "down",
        &["Alt-down"],
    ),
    (
        Action::First,
        Section::Conversation,
        "first",
        &["Ctrl-Home"],
    ),
    (Action::Last, Section::Conversation, "last", &["Ctrl-End"]),
    (Action::Search, Section::Conversation, "search", &["Ctrl-F"]),
    (
        Action::NextPod,
        Section::Conversation,
        "next_pod",
        &["Ctrl-N"],
    ),
    (
        Action::PreviousPod,
        Section::Conversation,
        "previous_pod",
        &["Ctrl-P"],
    ),
    (Action::Leave, Section::Conversation, "leave", &["Ctrl-Q"]),
    (Action::Cancel, Section::Anywhere, "cancel", &["Ctrl-C"]),
    (Action::Suspend, Section::Anywhere, "suspend", &["Ctrl-Z"]),
    (Action::Redraw, Section::Anywhere, "redraw", &["Ctrl-L"]),
];

/// The keys in force: for each action those it has, in the order in which they are said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keys {
    bound: Vec<(Action, Vec<Key>)>,
}

impl Default for Keys {
    fn default() -> Self {
        let bound = ACTIONS.iter().map(|(action, _, _, keys)| {
            let keys = keys.iter().filter_map(|key| Key::read(key));
            (*action, keys.collect())
        });
        Self {
            bound: bound.collect(),
        }
    }
}

impl Keys {
    /// What a key does about a question.
    pub(crate) fn in_question(&self, key: &KeyEvent) -> Option<Action> {
        self.action(Section::Question, key)
    }

    /// What a key does beside a prompt.
    pub(crate) fn in_conversation(&self, key: &KeyEvent) -> Option<Action> {
        self.action(Section::Conversation, key)
    }

    /// What a key does wherever it is pressed.
    pub(crate) fn anywhere(&self, key: &KeyEvent) -> Option<Action> {
        self.action(Section::Anywhere, key)
    }

    fn action(&self, section: Section, key: &KeyEvent) -> Option<Action> {
        let key = Key::of(key);
        let mut bound = self.bound.iter();
        bound
            .find(|(action, keys)| action.section() == section && keys.contains(&key))
            .map(|(action, _)| *action)
    }

    /// The key of an action that is named first.
    pub(crate) fn name(&self, action: Action) -> String {
        let first = self.keys(action).first().copied();
        first.map_or_else(String::new, Key::name)
    }

    /// All keys of an action.
    pub(crate) fn names(&self, action: Action) -> String {
        let names = self.keys(action).iter().map(|key| key.name());
        names.collect::<Vec<_>>().join(", ")
    }

    fn keys(&self, action: Action) -> &[Key] {
        let bound = self.bound.iter().find(|(it, _)| *it == action);
        bound.map_or(&[], |(_, keys)| keys)
    }
}

impl Action {
    fn described(self) -> Option<&'static Described> {
        ACTIONS.iter().find(|(action, ..)| *action == self)
    }

    fn section(self) -> Section {
        self.described()
            .map_or(Section::Anywhere, |(_, section, ..)| *section)
    }

    fn word(self) -> &'static str {
        self.described().map_or("", |(_, _, name, _)| name)
    }
}

impl Section {
    const fn name(self) -> &'static str {
        match self {
            Self::Question => "question",
            Self::Conversation => "conversation",
            Self::Anywhere => "anywhere",
        }
    }
}

/// Keys with a name, as they are said.
const NAMED: &[(&str, KeyCode)] = &[
    ("space", KeyCode::Char(' ')),
    ("Enter", KeyCode::Enter),
    ("Esc", KeyCode::Esc),
    ("Tab", KeyCode::Tab),
    ("Backspace", KeyCode::Backspace),
    ("Insert", KeyCode::Insert),
    ("Delete", KeyCode::Delete),
    ("Home", KeyCode::Home),
    ("End", KeyCode::End),
    ("PageUp", KeyCode::PageUp),
    ("PageDown", KeyCode::PageDown),
    ("up", KeyCode::Up),
    ("down", KeyCode::Down),
    ("left", KeyCode::Left),
    ("right", KeyCode::Right),
];

/// What can be held, as it is said.
const HELD: &[(&str, KeyModifiers)] = &[
    ("Ctrl-", KeyModifiers::CONTROL),
    ("Alt-", KeyModifiers::ALT),
    ("Shift-", KeyModifiers::SHIFT),
];

impl Key {
    /// The key of an event. Shift is in the letter already.
    fn of(event: &KeyEvent) -> Self {
        let held = event.modifiers;
        match event.code {
            KeyCode::BackTab => Self {
                code: KeyCode::Tab,
                held: held | KeyModifiers::SHIFT,
            },
            // A terminal has one key for Ctrl with a letter, whatever Shift does.
            KeyCode::Char(c) if held.contains(KeyModifiers::CONTROL) => Self {
                code: KeyCode::Char(c.to_ascii_lowercase()),
                held: held - KeyModifiers::SHIFT,
            },
            code @ KeyCode::Char(_) => Self {
                code,
                held: held - KeyModifiers::SHIFT,
            },
            code => Self { code, held },
        }
    }

    /// Reads a key's name; `None` where there is no such key.
    fn read(text: &str) -> Option<Self> {
        let mut rest = text;
        let mut held = KeyModifiers::NONE;
        while let Some((name, modifier)) = HELD.iter().find(|(name, _)| {
            let front = rest.get(..name.len());
            // A `-` itself may stand behind it.
            rest.len() > name.len() && front.is_some_and(|front| front.eq_ignore_ascii_case(name))
        }) {
            held |= *modifier;
            rest = rest.get(name.len()..)?;
        }
        let code = code(rest)?;
        let event = KeyEvent::new(code, held);
        Some(Self::of(&event)).filter(|key| key.held == held)
    }

    /// As it is said, and as the file says it.
    fn name(self) -> String {
        let held = HELD.iter().filter(|(_, held)| self.held.contains(*held));
        let mut name: String = held.map(|(name, _)| *name).collect();
        let named = NAMED.iter().find(|(_, code)| *code == self.code);
        match (named, self.code) {
            (Some((word, _)), _) => name.push_str(word),
            (None, KeyCode::F(n)) => name.push_str(&format!("F{n}")),
            (None, KeyCode::Char(c)) if self.held.is_empty() => name.push(c),
            (None, KeyCode::Char(c)) => name.push(c.to_ascii_uppercase()),
            (None, _) => {} // no file can name it
        }
        name
    }

    /// Whether it puts a character into a text.
    fn writes(self) -> bool {
        matches!(self.code, KeyCode::Char(_)) && self.held.is_empty()
    }
}

fn code(name: &str) -> Option<KeyCode> {
    let mut chars = name.chars();
    if let (Some(c), None) = (chars.next(), chars.next()) {
        return (!c.is_whitespace() && !c.is_control()).then_some(KeyCode::Char(c));
    }
    let named = NAMED
        .iter()
        .find(|(word, _)| word.eq_ignore_ascii_case(name));
    if let Some((_, code)) = named {
        return Some(*code);
    }
    let n = name.strip_prefix(['F', 'f'])?.parse().ok()?;
    (1..=24).contains(&n).then_some(KeyCode::F(n))
}

#[cfg(test)]
mod tests;
