//! What children do while they work: each line says of which pod it is.

use podward_protocol::{
    CallId, ChildWork, ChildWorked, PermissionRequest, ToolCallArguments, ToolCallFinished,
};
use podward_view::{CALL_CHARS, one_line, pods_text, summary};

use super::{Piece, Transcript};
use crate::screen::Look;

/// A longer line that a child writes is shown in parts.
const LINE_BYTES: usize = 4 * 1024;

/// A child that works: the call that started it, and its name.
pub(super) type Below = (CallId, String);

impl Transcript {
    /// What a child does.
    pub(super) fn child(&mut self, worked: &ChildWorked) -> Vec<Piece> {
        let below = (worked.call.clone(), pods_text(&worked.path, &worked.pod));
        match &worked.did {
            ChildWork::TextDelta(delta) => self.said_below(&below, &delta.text),
            ChildWork::ToolCallArguments(call) => {
                let rest = self.rest_of(&below);
                rest.into_iter()
                    .chain([self.call_below(&below.1, call)])
                    .collect()
            }
            ChildWork::ToolCallVerdict(verdict) => self.verdict(verdict).into_iter().collect(),
            ChildWork::ToolCallFinished(finished) => self.ended_call(finished),
        }
    }

    /// A call has its result; a child that it started says nothing more.
    pub(super) fn ended_call(&mut self, finished: &ToolCallFinished) -> Vec<Piece> {
        let ended: Vec<Below> = (self.said.keys())
            .filter(|(call, _)| *call == finished.call)
            .cloned()
            .collect();
        let mut pieces: Vec<_> = (ended.iter())
            .filter_map(|below| self.rest_of(below))
            .collect();
        pieces.push(self.finished(finished));
        pieces
    }

    fn call_below(&mut self, pods: &str, call: &ToolCallArguments) -> Piece {
        let number = self.number(&call.call);
        let pods = self.faint(&one_line(pods, CALL_CHARS));
        let tool = one_line(&call.tool, CALL_CHARS);
        let tool = self.screen.talk.paint(Look::Strong, tool);
        let arguments = one_line(&summary(&call.tool, &call.arguments), CALL_CHARS);
        Piece::Talk(format!("#{number} {pods}  {tool}  {arguments}\n"))
    }

    /// Which pod asks what, where it is a child: whoever came late saw nothing of the call.
    pub(super) fn asked_below(&self, request: &PermissionRequest) -> String {
        if request.path.is_empty() {
            return String::new();
        }
        let pods = self.faint(&one_line(
            &pods_text(&request.path, &request.pod),
            CALL_CHARS,
        ));
        let tool = one_line(&request.tool, CALL_CHARS);
        let tool = self.screen.talk.paint(Look::Strong, tool);
        let arguments = one_line(&summary(&request.tool, &request.arguments), CALL_CHARS);
        format!(", {pods}  {tool}  {arguments}")
    }

    /// The lines that are complete by what a child writes.
    fn said_below(&mut self, below: &Below, text: &str) -> Vec<Piece> {
        let mut said = self.said.remove(below).unwrap_or_default() + text;
        let mut pieces = Vec::new();
        while let Some((line, rest)) = said.split_once('\n') {
            pieces.push(self.line_below(&below.1, line));
            said = rest.to_owned();
        }
        if said.len() > LINE_BYTES {
            pieces.push(self.line_below(&below.1, &said));
            said.clear();
        }
        if !said.is_empty() {
            self.said.insert(below.clone(), said);
        }
        pieces
    }

    fn rest_of(&mut self, below: &Below) -> Option<Piece> {
        let said = self.said.remove(below)?;
        Some(self.line_below(&below.1, &said))
    }

    fn line_below(&self, pods: &str, line: &str) -> Piece {
        let pods = self.faint(&one_line(pods, CALL_CHARS));
        let line = one_line(&line.replace('\t', "    "), LINE_BYTES);
        Piece::Talk(format!("{pods} | {line}\n"))
    }
}
