//! What happens to the client, and what it does.

use crossterm::event::{KeyEvent, MouseEvent};
use podward_client::Found;
use podward_protocol::{
    Envelope, Method, MethodError, PermissionRequest, Reply, RequestId, Welcome,
};
use podward_view::Before;
use serde_json::{Map, Value};

/// When something happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Now {
    /// Milliseconds of a clock that only goes forwards.
    pub steady: u64,
    /// Milliseconds since 1970, as pods write them.
    pub wall: i64,
}

/// Something that happens.
#[derive(Debug)]
pub enum Input {
    /// A key was pressed.
    Key(KeyEvent),
    /// The mouse was used.
    Mouse(MouseEvent),
    /// Text was pasted.
    Paste(String),
    /// The terminal has this size.
    Resized {
        /// Characters of a row.
        columns: u16,
        /// Rows.
        rows: u16,
    },
    /// The window has the keyboard, or has it no more.
    Focused(bool),
    /// The terminal is this program's again, after somebody else had it.
    Resumed,
    /// What was last drawn is on the screen.
    Drawn,
    /// Time went by.
    Tick,
    /// The pods that run.
    Listed(Vec<Found>),
    /// Something about a pod; its place among those that are attached.
    Pod(usize, Box<PodNews>),
}

/// Something about a pod.
#[derive(Debug)]
pub enum PodNews {
    /// It is connected.
    Connected(Welcome),
    /// It tells something.
    Told(Box<Envelope>),
    /// The connection is lost, and made again after a while: why.
    Lost(String),
    /// What became of a request.
    Replied(Target, Result<Reply, Refused>),
    /// What is in the file that a question is about.
    Looked(RequestId, Before),
}

/// Why a request came to nothing.
#[derive(Debug, Clone, PartialEq)]
pub enum Refused {
    /// The pod says so.
    ByPod(MethodError),
    /// The connection was lost: what became of it is not known.
    Lost(String),
}

/// What a request was made for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// What the composer holds.
    Prompt(String),
    /// The turn's end.
    Cancel,
    /// An answer to a question.
    Answer(RequestId),
    /// How a question came about.
    Explanation(RequestId),
    /// What the rules say of other arguments for a question's call.
    Judgement(RequestId, Map<String, Value>),
    /// What an `always` would let run: the number of the wish.
    Preview(RequestId, u64),
}

/// Something to be done.
#[derive(Debug, PartialEq)]
pub enum Effect {
    /// Ask a pod for something; [`PodNews::Replied`] hears what became of it.
    Ask {
        /// The pod's place.
        pod: usize,
        /// What for.
        target: Target,
        /// What.
        method: Box<Method>,
    },
    /// Look into the file that a question is about.
    Look {
        /// The pod's place.
        pod: usize,
        /// The question.
        request: Box<PermissionRequest>,
    },
    /// Connect to a pod, from now on the last of those that are attached.
    Connect(Box<Found>),
    /// List the pods.
    List,
    /// Ring the bell.
    Bell,
    /// Attract the attention of somebody who looks elsewhere: what for.
    Notify(String),
    /// Give the terminal back and stop, until somebody continues it.
    Suspend,
    /// Draw everything anew.
    Redraw,
    /// End.
    Quit,
}

/// How the client ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outcome {
    /// What was typed and not sent.
    pub draft: String,
}
