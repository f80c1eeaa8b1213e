//! The words in which a model reads that its call did not run.

use podward_policy::{
    Cause, EXTERNAL_DIRECTORY, LayerKind, LayerName, Location, Lowered, Operation, RuleIdx, Ruling,
    SkillSays, Subject,
};

use crate::question::AskReason;
use crate::refusal::{Progress, Refusal, RefusalCause};

/// Characters of a part of the call that are quoted.
const QUOTED_CHARS: usize = 300;

/// Characters of a rule's message or a hook's words that are passed on.
const PASSED_CHARS: usize = 8_000;

/// Words a refusal for the model: what was refused and which part of it, by what, and whether a
/// retry can help. It names no other tool.
///
/// This is the only place where a refusal gets its words.
#[must_use]
pub fn refusal_text(refusal: &Refusal) -> String {
    let tool = shown(refusal.tool());
    let part = deciding_operation(refusal)
        .map(|operation| format!(": {}", part_text(operation)))
        .unwrap_or_default();
    match refusal.cause() {
        RefusalCause::Policy => {
            let (by, retry) = policy_text(refusal.ruling());
            format!("Refused: this call of `{tool}` was not run{part}. {by} {retry}")
        }
        RefusalCause::NoClient { asked } => {
            let by = asked_text(*asked, refusal.ruling());
            format!("Refused: this call of `{tool}` was not run{part}. {by}")
        }
        RefusalCause::NotAuto => format!(
            "Refused: this call of `{tool}` was not run{part}. What is not known before it runs needs \
             a person's approval, and nobody is there to give it. Retrying can help if you write every \
             part of it out; else go on without it, or tell the user what you cannot do."
        ),
        RefusalCause::TooLarge => format!(
            "Refused: this call of `{tool}` was not run{part}. It needs a person's approval and is too \
             large to be shown to one. Split it into smaller calls."
        ),
        // What a call that is run would have said: nothing was asked, so nothing else is to be told.
        RefusalCause::Futile { error } => error.to_string(),
        RefusalCause::Rejected { by: _, feedback } => {
            rejected_text(&tool, &part, feedback.as_deref())
        }
        RefusalCause::Expired => format!(
            "Refused: this call of `{tool}` was not run{part}. A person was asked to approve it, \
             and nobody answered in time. {UNANSWERED}"
        ),
        RefusalCause::ClientGone => format!(
            "Refused: this call of `{tool}` was not run{part}. A person was to approve it, and \
             went away before answering. {UNANSWERED}"
        ),
        RefusalCause::BadCall { why } => format!(
            "Error: this call of `{tool}` was not run: {} \
             Correct the arguments and call it again.",
            sentence(why)
        ),
        RefusalCause::UnknownTool => format!(
            "Error: there is no tool named `{tool}`, so nothing was run. Retrying will not help: \
             only the tools that you were given exist."
        ),
        RefusalCause::Hook { name, text } => format!(
            "Refused: this call of `{tool}` was not run. The check `{}` refuses it: {} \
             Retrying will not help unless these words say so.",
            shown(name),
            sentence(text)
        ),
        RefusalCause::HookFailed { name, why } => format!(
            "Refused: this call of `{tool}` was not run, because the check `{}`, which has to pass \
             before it, failed: {} Retrying can help only if that failure was a passing one.",
            shown(name),
            sentence(why)
        ),
        RefusalCause::NotJudged => format!(
            "Refused: this call of `{tool}` was not run, because no permission check decided \
             about it. Retrying will not help."
        ),
        RefusalCause::Cancelled(progress) => ended_text(&tool, "the turn was cancelled", *progress),
        RefusalCause::PodStopped(progress) => ended_text(&tool, "the agent was stopped", *progress),
        RefusalCause::Interrupted(progress) => {
            ended_text(&tool, "the turn was interrupted", *progress)
        }
    }
}

/// The one line in front of the result of a call whose arguments a person changed: with which (canonical
/// JSON) it ran, or would have run.
///
/// This is the only place where that gets its words.
#[must_use]
pub fn edit_note(arguments: &str) -> String {
    format!(
        "Note: the person who was asked changed the arguments of this call. The result below is \
         that of: {}",
        one_line(arguments)
    )
}

/// The one line in front of the result of a call that has no result of its own, and whose work is on
/// record in a session of its own.
///
/// This is the only place where that gets its words.
#[must_use]
pub fn session_note(session: &str) -> String {
    format!(
        "Note: what was done for this call is in the session `{}`, which people can go on with.",
        shown(session)
    )
}

/// A name led to an address, or a server to another one.
const UNNAMED: &str =
    "That address is not one of the public internet, and no permission rule names it.";

/// Nobody said no, and nobody said yes.
const UNANSWERED: &str = "Retrying the same call can help only once somebody is there to answer: \
                          go on without it, or tell the user what you cannot do.";

/// A person's no, with their words as they are.
fn rejected_text(tool: &str, part: &str, feedback: Option<&str>) -> String {
    let no = format!(
        "Refused: this call of `{tool}` was not run{part}. A person was asked to approve it and \
         said no"
    );
    match feedback.filter(|feedback| !feedback.is_empty()) {
        Some(feedback) => format!(
            "{no}, with the words below. Do not make the same call again unless they say so.\n\
             {feedback}"
        ),
        None => format!(
            "{no}. Retrying will not help: go on without it, or tell the user what you cannot do."
        ),
    }
}

/// Where it cannot be told what a call would do.
const WRITE_OUT: &str = "Retrying can help if you write every part of it out, so that it is known \
                         before it runs, and leave out what runs other code.";

/// By what a call is denied, and whether a retry can help.
fn policy_text(ruling: Option<&Ruling>) -> (String, &'static str) {
    const NO: &str = "Retrying will not help: the same call is refused every time. Go on without \
                      it, or tell the user what you cannot do.";
    match ruling.map(|ruling| &ruling.cause) {
        Some(cause @ Cause::Rule { .. }) => (rule_text("denies", cause), NO),
        Some(Cause::Unresolved { layer, why, .. }) => (
            format!(
                "The permission rules{} cannot tell what it would do: {}.",
                of_layer(layer),
                cut(why)
            ),
            WRITE_OUT,
        ),
        Some(Cause::Default { layer, location }) => {
            let whose = of_file(layer, location);
            (format!("No permission rule{whose} allows it."), NO)
        }
        Some(Cause::Unnamed { .. }) => (UNNAMED.to_owned(), NO),
        Some(Cause::Skill { name, says, .. }) => skill_text(name, says),
        Some(
            Cause::NoPolicy | Cause::NothingToRun | Cause::Unrestricted | Cause::SkillFiles { .. },
        )
        | None => ("The permission rules deny it.".to_owned(), NO),
    }
}

/// By what a call is asked about, that nobody can answer, and that a retry cannot help.
fn asked_text(asked: AskReason, ruling: Option<&Ruling>) -> String {
    let by = match (asked, ruling.map(|ruling| &ruling.cause)) {
        (AskReason::Repeated, _) => {
            return "The same call was already made twice in this turn; making it again needs a \
                    person's approval, and nobody is there to give it. Retrying will not help: \
                    work with the results you have."
                .to_owned();
        }
        (AskReason::Resumed, _) => {
            "It was asked about before the session was interrupted, and nobody had answered."
                .to_owned()
        }
        (AskReason::Policy | AskReason::PolicyRepeated, Some(cause @ Cause::Rule { .. })) => {
            rule_text("asks a person about", cause)
        }
        (
            AskReason::Policy | AskReason::PolicyRepeated,
            Some(Cause::Unresolved { layer, why, .. }),
        ) => {
            format!(
                "The permission rules{} cannot tell what it would do ({}), so a person has to be asked. \
             {WRITE_OUT}",
                of_layer(layer),
                cut(why)
            )
        }
        (AskReason::Policy | AskReason::PolicyRepeated, Some(Cause::Unnamed { .. })) => {
            UNNAMED.to_owned()
        }
        (
            AskReason::Policy | AskReason::PolicyRepeated,
            Some(Cause::Default { layer, location }),
        ) => {
            let whose = of_file(layer, location);
            format!("No permission rule{whose} allows it without asking a person.")
        }
        (
            AskReason::Policy | AskReason::PolicyRepeated,
            Some(
                Cause::NoPolicy
                | Cause::NothingToRun
                | Cause::Unrestricted
                | Cause::Skill { .. }
                | Cause::SkillFiles { .. },
            )
            | None,
        ) => "No permission rule allows it without asking a person.".to_owned(),
    };
    let repeated = match asked {
        AskReason::PolicyRepeated => " The same call was already made twice in this turn.",
        AskReason::Policy | AskReason::Repeated | AskReason::Resumed => "",
    };
    format!(
        "{by}{repeated} Nobody is there to approve it. Retrying the same call will not help until somebody \
         is: go on without it, or tell the user what you cannot do."
    )
}

/// By what of a skill a call is denied. Its list is quoted as its author wrote it, like the pattern of a
/// rule: that is the one place where another tool may be named.
fn skill_text(name: &str, says: &SkillSays) -> (String, &'static str) {
    const NO: &str = "Retrying will not help while that skill is active, and no person can approve \
                      it: go on without it, or tell the user what you cannot do.";
    let name = shown(name);
    match says {
        SkillSays::NotListed { list } if list.is_empty() => (
            format!("The skill `{name}` is active, and its `allowed-tools` is empty."),
            NO,
        ),
        SkillSays::NotListed { list } => (
            format!(
                "The skill `{name}` is active, and its `allowed-tools` (`{}`) does not list it.",
                shown(list)
            ),
            NO,
        ),
        SkillSays::Disallowed { entry, .. } => (
            format!(
                "The skill `{name}` is active, and its `disallowed-tools` lists it (`{}`).",
                shown(entry)
            ),
            NO,
        ),
        SkillSays::Unresolved { list, why } => {
            let list = match list {
                Some(list) => format!("its `allowed-tools` (`{}`)", shown(list)),
                None => "its `disallowed-tools`".to_owned(),
            };
            (
                format!(
                    "The skill `{name}` is active, and it cannot be told whether {list} lets it \
                     run: {}.",
                    cut(why)
                ),
                WRITE_OUT,
            )
        }
    }
}

/// What a rule does; of another pod it is told which one, for it does not stand where one would look.
fn rule_text(verb: &str, cause: &Cause) -> String {
    let Cause::Rule {
        layer,
        rule: RuleIdx(idx),
        location,
        pattern,
        message,
    } = cause
    else {
        return format!("A permission rule {verb} it.");
    };
    let pattern = shown(pattern);
    let rule = match layer.kind {
        LayerKind::Parent => {
            let (whose, file) = (of_layer(layer), file_name(location));
            let (number, line) = (idx + 1, location.line);
            format!("Rule {number}{whose} (`{pattern}`, `{file}` line {line})")
        }
        _ => format!("A permission rule (`{pattern}`)"), // that of this pod, or of all
    };
    match message {
        Some(message) => format!("{rule} {verb} it: {}", sentence(message)),
        None => format!("{rule} {verb} it."),
    }
}

/// Whose rules they are, where they are those of another pod.
const fn of_layer(layer: &LayerName) -> &'static str {
    match layer.kind {
        LayerKind::Parent => " of a pod above",
        _ => "", // those of this pod, or of all
    }
}

fn file_name(location: &Location) -> String {
    shown(location.file.rsplit('/').next().unwrap_or_default())
}

/// The same, with the file.
fn of_file(layer: &LayerName, location: &Location) -> String {
    match layer.kind {
        LayerKind::Parent => {
            let (whose, file) = (of_layer(layer), file_name(location));
            format!("{whose} (`{file}`)")
        }
        _ => String::new(), // that of this pod, or of all
    }
}

fn ended_text(tool: &str, what: &str, progress: Progress) -> String {
    match progress {
        Progress::NotStarted => format!(
            "Error: this call of `{tool}` was not run, because {what} before it started. It had \
             no effect and can be made again if it is still wanted."
        ),
        Progress::Started => format!(
            "Error: this call of `{tool}` has no result, because {what} while it ran. It may have \
             done all, a part, or nothing of its work: look before you make it again."
        ),
    }
}

/// The operation that the verdict hangs on.
fn deciding_operation(refusal: &Refusal) -> Option<&Operation> {
    let idx = refusal.ruling()?.operation?;
    match refusal.facts()?.lowered() {
        Lowered::Operations(operations) => operations.get(idx),
        Lowered::NothingToRun => None,
    }
}

/// The part of the call that an operation is, without the name of the tool whose rules judge it.
fn part_text(operation: &Operation) -> String {
    match &operation.subject {
        Subject::Command(command) => {
            format!("the command `{}`", shown(&command.written.to_string()))
        }
        Subject::Path(path) | Subject::Tree(path) => {
            let all = match operation.subject {
                Subject::Tree(_) => "all below ",
                _ => "", // one path
            };
            let text = shown(&path.lexical.short.to_string());
            match operation.tool.as_str() {
                EXTERNAL_DIRECTORY => format!("{all}the path `{text}` outside the workspace"),
                "read" => format!("reading {all}`{text}`"),
                "file_write" | "file_edit" => format!("writing {all}`{text}`"),
                _ => format!("the path `{text}`"), // a foreign tool's own paths
            }
        }
        Subject::Url(url) => format!("the address `{}`", shown(&url.text.to_string())),
        Subject::Plain(text) => format!("`{}`", shown(&text.to_string())),
        Subject::Unknown(why) => format!(
            "it would run code that is not known before it runs ({})",
            cut(why.as_str())
        ),
    }
}

/// Text of a call, quoted: control and invisible characters escaped, cut where it is long.
fn shown(text: &str) -> String {
    let mut chars = text.chars();
    let mut shown = String::new();
    for c in chars.by_ref().take(QUOTED_CHARS) {
        match c {
            '\'' | '"' | '\\' => shown.push(c),
            _ => shown.extend(c.escape_debug()),
        }
    }
    if chars.next().is_some() {
        shown.push('…');
    }
    shown
}

/// Text of the user, word for word unless it is very long.
fn cut(text: &str) -> String {
    match text.char_indices().nth(PASSED_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or(text)),
        None => text.to_owned(),
    }
}

/// Text of the user in one line.
fn one_line(text: &str) -> String {
    cut(text).replace(['\n', '\r'], " ")
}

/// Text of the user, which ends like a sentence.
fn sentence(text: &str) -> String {
    let text = cut(text.trim());
    let has_end = text.ends_with(['.', '!', '?', ':', ';', '…', '`', ')']);
    if has_end || text.is_empty() {
        text
    } else {
        text + "."
    }
}

#[cfg(test)]
mod tests;
