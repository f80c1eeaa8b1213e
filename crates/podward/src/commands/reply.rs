//! `podward reply POD ID ANSWER`.

mod answer;

use std::io::Read as _;

use podward_client::{Client, ClientError};
use podward_protocol::{
    Always, Answer, Chosen, ChosenPattern, MethodErrorCode, Outcome, PermissionRejectAll,
    PermissionReply, RequestId, Settled,
};
use podward_view::{Lines, by_text, cause_text, outcome_text, visible};

use self::answer::{Wanted, only_part, wanted};
use super::pending::open;
use super::pods::find;
use crate::arguments::{Format, Reply, ReplyAnswer};
use crate::connection::{CanApprove, connect};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::{Look, Screen};

/// The name of this client, for people and the decision log.
const NAME: &str = "podward reply";

/// What stands for all open questions.
const ALL: &str = "all";

pub(super) fn run(arguments: &Reply, screen: Screen) -> Result<Exit, Failure> {
    let wanted = wanted(arguments, from_standard_input)?;
    let is_all = arguments.id == ALL;
    if is_all && arguments.answer != ReplyAnswer::Reject {
        return Err(Failure::Usage {
            message: "`all` can only be rejected".to_owned(),
            help: "approve questions one by one: `podward pending` shows them",
        });
    }
    if is_all && arguments.digest.is_some() {
        return Err(Failure::Usage {
            message: "`all` is no question, and has no digest".to_owned(),
            help: "to answer a single question, give its id as `podward pending` shows it",
        });
    }
    let socket = find(&arguments.pod)?;
    super::runtime()?.block_on(async {
        let (client, _events) = connect(&socket, NAME, CanApprove::Yes, &["closing"]).await?;
        let result = if is_all {
            let feedback = arguments.feedback.clone();
            client.ask(PermissionRejectAll { feedback }).await
        } else {
            client.ask(reply(&client, arguments, wanted).await?).await
        };
        report(result, arguments.format, screen)
    })
}

fn from_standard_input() -> Result<String, Failure> {
    let mut text = String::new();
    let read = std::io::stdin().lock().read_to_string(&mut text);
    read.map_err(Failure::Stdin)?;
    Ok(text)
}

async fn reply(
    client: &Client,
    arguments: &Reply,
    wanted: Wanted,
) -> Result<PermissionReply, Failure> {
    let Some(digest) = arguments.digest.clone() else {
        return Err(Failure::Usage {
            message: "an answer needs the --digest of what was shown".to_owned(),
            help: "`podward pending` shows each question with it",
        });
    };
    let id = RequestId::new(arguments.id.as_str());
    let answer = match wanted {
        Wanted::Answer(answer) => answer,
        Wanted::PatternForTheOnlyPart { pattern, lasts } => {
            let requests = open(client).await?;
            // One that is not there is the pod's to tell about.
            let request = requests.iter().find(|request| request.id == id);
            let operation = request.map_or(Ok(0), only_part)?;
            let what = Chosen::Patterns(vec![ChosenPattern { operation, pattern }]);
            Answer::Always(Always { what, lasts })
        }
    };
    Ok(PermissionReply {
        id,
        digest: whole_digest(digest),
        answer,
        by: None,
    })
}

/// The digest as the pod says it: by what it was made need not be typed.
fn whole_digest(typed: String) -> String {
    let is_bare = typed.len() == 64 && typed.bytes().all(|byte| byte.is_ascii_hexdigit());
    match is_bare {
        true => format!("sha256:{typed}"),
        false => typed,
    }
}

/// Says what was settled, or why not.
fn report(
    result: Result<Settled, ClientError>,
    format: Format,
    screen: Screen,
) -> Result<Exit, Failure> {
    let error = match result {
        Ok(settled) => {
            let text = match format {
                Format::Json => super::json_line(&settled)?,
                Format::Text => settled_text(&settled),
            };
            if settled.settled.is_empty() {
                screen.say(Look::Strong, "reply", "nothing is asked");
            }
            return super::finish(screen, &text, Exit::Done);
        }
        Err(ClientError::Refused(error)) => error,
        Err(lost) => return Err(lost.into()),
    };
    if format == Format::Json {
        let line = super::json_line(&error)?;
        screen.write_data(&line).map_err(Failure::Stdout)?;
    }
    match &error.code {
        MethodErrorCode::AlreadySettled(settled) => {
            let what = outcome_text(&settled.outcome);
            let by = by_text(&settled.by);
            screen.say(
                Look::Warning,
                "already settled",
                format_args!("{what} ({by})"),
            );
            return Ok(Exit::Settled);
        }
        MethodErrorCode::EditDenied(denied) => {
            screen.say(Look::Strong, "denied", cause_text(&denied.ruling));
        }
        _ => {} // the message says it
    }
    Err(ClientError::Refused(error).into())
}

fn settled_text(settled: &Settled) -> String {
    let line = |one: &podward_protocol::PermissionSettled| {
        let id = visible(one.id.as_str(), Lines::Escape);
        let what = outcome_text(&one.outcome);
        let saved = match &one.outcome {
            Outcome::ApprovedAlways { grants } => grants.as_slice(),
            _ => &[], // nothing is saved
        };
        let saved = saved
            .iter()
            .map(|grant| format!("  saved: `podward grants explain {grant}` says what\n"));
        let by = by_text(&one.by);
        format!("{id}  {what}  ({by})\n{}", saved.collect::<String>())
    };
    settled.settled.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::whole_digest;

    #[test]
    fn a_digest_may_be_typed_without_the_name_of_its_hash() {
        let bare = "0123456789abcdef".repeat(4);
        let whole = format!("sha256:{bare}");
        assert_eq!(whole_digest(bare), whole);
        for other in [whole.as_str(), "abc", ""] {
            assert_eq!(whole_digest(other.to_owned()), other);
        }
    }
}
