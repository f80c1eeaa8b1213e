//! Each part of a call with its own verdict.

use podward_protocol::{
    ExplainedOperation, Explanation, LayerSays, PermissionRequest, Ruling, Verdict,
};
use podward_view::{
    Lines, Look, Row, cause_text, columns_of, one_line, operation_text, verdict_word, visible,
    without_runs, wrapped,
};

/// Characters of a part that are shown; what is cut off is counted.
const PART_CHARS: usize = 160;

/// The parts, each with what the layers say of it; none where the call is of one part, about which the
/// question says all.
pub(super) fn rows(
    request: &PermissionRequest,
    explanation: Option<&Explanation>,
    columns: usize,
) -> Vec<Row> {
    if request.operations.len() < 2 {
        return Vec::new();
    }
    let mut all = vec![Row::new(Look::Strong, "each part by itself:")];
    for (idx, operation) in request.operations.iter().enumerate() {
        let is_asking = request.asking.iter().any(|one| one.operation == idx)
            || request.ruling.operation == Some(idx);
        let verdict = if is_asking {
            Verdict::Ask
        } else {
            Verdict::Allow
        };
        let explained = explanation.and_then(|explained| explained.operations.get(idx));
        let by_rules = explained.and_then(strictest);
        let (look, word) = verdict_word(verdict);
        let text = operation_text(operation);
        let text = match operation.span {
            // The call's own text says all of it, above.
            Some(_) if operation.known && operation.leads_to.is_none() => {
                one_line(&text, PART_CHARS)
            }
            Some(_) | None => visible(&text, Lines::Escape),
        };
        let text = format!("{}  {}", operation.tool, without_runs(&text));
        let why = match by_rules {
            // What asks and is not asked about is answered by a grant of earlier.
            Some(says) if says.verdict != verdict => {
                format!("  (a grant answers {})", said(says))
            }
            Some(says) => format!("  ({})", said(says)),
            None => String::new(),
        };
        let front = format!("  {word:<5} ");
        let room = columns.saturating_sub(columns_of(&front)).max(1);
        let shown = wrapped(&[(Look::Plain, &text), (Look::Faint, &why)], room);
        let mut front = Row::new(look, &front);
        for row in shown {
            for piece in &row.pieces {
                front.push(piece.look, &piece.text);
            }
            all.push(std::mem::replace(
                &mut front,
                Row::new(Look::Plain, "      : "),
            ));
        }
    }
    all
}

/// What decides of a part: the strictest layer, the outermost of them.
fn strictest(operation: &ExplainedOperation) -> Option<&LayerSays> {
    let mut layers = operation.layers.iter();
    let first = layers.next()?;
    Some(layers.fold(first, |strictest, layer| {
        match layer.verdict > strictest.verdict {
            true => layer,
            false => strictest,
        }
    }))
}

fn said(says: &LayerSays) -> String {
    let ruling = Ruling {
        verdict: says.verdict,
        cause: says.cause.clone(),
        operation: None,
        coverage: podward_protocol::Coverage::Full,
    };
    visible(&cause_text(&ruling), Lines::Escape)
}
