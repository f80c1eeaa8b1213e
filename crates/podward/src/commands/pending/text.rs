//! An open question with the commands that answer it.

use podward_protocol::{PermissionRequest, SessionId};
use podward_view::{Lines, Question, always_in, parts_text, visible};

use crate::before::before;
use crate::screen::Stream;
use crate::shell_word::shell_word;

/// Columns of a text that may go to a file.
const COLUMNS: usize = 100;

/// All of the question, a command for each answer, and one that tells why it is asked; `pod` names the pod
/// that puts it, and `asker` is the session of the one that asks, if that is known.
pub(super) fn text(
    request: PermissionRequest,
    pod: &str,
    asker: Option<&SessionId>,
    stream: Stream,
) -> String {
    let mut pods = request.path.clone();
    pods.push(request.pod.clone());
    let mut whose = pods.join("/");
    if let Some(session) = asker.filter(|session| pod == session.as_str()) {
        // Others have its name.
        whose.push_str(&format!(" ({session})"));
    }
    let heading = format!("{whose} · {} · {}", request.id, request.tool);
    let question = Question {
        before: before(&request),
        request,
    };
    let rows = question.rows(&heading, COLUMNS);
    let mut text: String = rows.iter().map(|row| stream.row(row) + "\n").collect();
    let request = &question.request;
    for (idx, choice) in request.choices.iter().enumerate() {
        let lines = parts_text(request, idx);
        for (part, line) in choice.parts.iter().zip(lines) {
            let (width, number) = (idx + 1, part.operation + 1);
            text.push_str(&format!("  width {width} part {number}: {line}\n"));
        }
    }
    if let Some(workspace) = &request.always_in {
        text.push_str(&format!("  {}\n", always_in(workspace)));
    }
    if let Some(why) = &request.no_always {
        let why = visible(why, Lines::Escape);
        text.push_str(&format!("  no `always`: {why}\n"));
    }
    let command = format!(
        "podward reply {} {}",
        shell_word(pod),
        shell_word(request.id.as_str())
    );
    let digest = shell_word(&request.digest);
    let mut answers = vec!["once", "reject"];
    if !request.choices.is_empty() {
        answers.push("always --width 1");
    }
    for answer in answers {
        let (word, options) = answer.split_once(' ').unwrap_or((answer, ""));
        let line = format!("  {command} {word} --digest {digest} {options}");
        text.push_str(&format!("{}\n", line.trim_end()));
    }
    if let Some(session) = asker {
        // In front is the way to the pod that asks.
        let own = request.id.as_str().rsplit('/').next();
        let id = shell_word(own.unwrap_or_default());
        text.push_str(&format!("  podward explain {id} --session {session}\n"));
    }
    text
}

#[cfg(test)]
mod tests;
