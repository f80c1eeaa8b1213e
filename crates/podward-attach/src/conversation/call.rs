//! A call in a conversation.

use podward_protocol::{CallId, ToolCallArguments, ToolCallFinished};
use podward_view::{CALL_CHARS, Look, Row, one_line, result_text, summary, wrapped};

use super::behind;

/// Lines of a result that are shown.
const RESULT_LINES: usize = 10;

/// A call, as far as it has come.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) id: CallId,
    pub(super) number: usize,
    tool: String,
    /// The pod that it is of, where that is one below.
    pods: Option<String>,
    summary: String,
    /// What was decided about it, one line each.
    pub(super) decisions: Vec<(Look, String, String)>,
    result: Option<(Look, String)>,
    content: Vec<String>,
    n_more_lines: usize,
}

impl Call {
    pub(super) fn new(call: &ToolCallArguments, number: usize) -> Self {
        Self {
            id: call.call.clone(),
            number,
            tool: call.tool.clone(),
            pods: None,
            summary: summary(&call.tool, &call.arguments),
            decisions: Vec::new(),
            result: None,
            content: Vec::new(),
            n_more_lines: 0,
        }
    }

    /// The same, of a pod below.
    pub(super) fn of(mut self, pods: String) -> Self {
        self.pods = Some(pods);
        self
    }

    /// It has its result.
    pub(super) fn finish(&mut self, finished: &ToolCallFinished) {
        let n_lines = finished.content.lines().count();
        let lines = finished.content.lines().take(RESULT_LINES);
        self.result = Some(result_text(&finished.outcome));
        self.content = lines.map(str::to_owned).collect();
        self.n_more_lines = n_lines.saturating_sub(RESULT_LINES);
    }

    pub(super) fn n_bytes(&self) -> usize {
        self.summary.len() + self.content.iter().map(String::len).sum::<usize>()
    }

    /// Each thing once: a snapshot tells it again.
    pub(super) fn decide(&mut self, decision: (Look, String, String)) {
        if !self.decisions.contains(&decision) {
            self.decisions.push(decision);
        }
    }

    pub(super) fn rows(&self, columns: usize) -> Vec<Row> {
        let name = format!("#{} ", self.number);
        let room = columns.saturating_sub(name.len() + 2).max(1);
        let tool = one_line(&self.tool, CALL_CHARS);
        let text = one_line(&self.summary, CALL_CHARS);
        let text = format!("  {text}");
        let pods = self.pods.as_deref().map_or_else(String::new, |pods| {
            format!("{}  ", one_line(pods, CALL_CHARS))
        });
        let pieces = [
            (Look::Faint, &*pods),
            (Look::Strong, &*tool),
            (Look::Plain, &*text),
        ];
        let first = wrapped(&pieces, room);
        let mut rows = behind(&name, Look::Strong, first);
        for (look, word, why) in &self.decisions {
            let why = format!("  {}", one_line(why, CALL_CHARS));
            let line = wrapped(&[(*look, word), (Look::Faint, &why)], room);
            rows.extend(behind(
                &format!("{}  ", " ".repeat(name.len())),
                Look::Plain,
                line,
            ));
        }
        let front = format!("{}  ", " ".repeat(name.len()));
        if let Some((look, word)) = &self.result {
            rows.extend(behind(&front, Look::Plain, wrapped(&[(*look, word)], room)));
        }
        for line in &self.content {
            let line = one_line(&line.replace('\t', "    "), CALL_CHARS);
            let line = wrapped(&[(Look::Faint, &line)], room.saturating_sub(2).max(1));
            rows.extend(behind(&format!("{front}| "), Look::Faint, line));
        }
        if self.n_more_lines > 0 {
            let more = format!("\u{2026} (+{} lines)", self.n_more_lines);
            let mut row = Row::new(Look::Faint, &format!("{front}| "));
            row.push(Look::Faint, &more);
            rows.push(row);
        }
        rows
    }
}
