//! What clients ask for: who may, and what they get.

use podward_gate::{CallId, RequestId};
use podward_protocol as wire;
use podward_protocol::{
    GrantsList, MAX_LINE_BYTES, Method, MethodError, MethodErrorCode, MethodName, OpenRequests,
    PermissionList, Reply, json_line,
};
use serde::Serialize;

use super::{Hub, stopping};
use crate::serve::LOCAL;
use crate::serve::connection::{ClientNumber, Standing};
use crate::serve::local::LOCAL_NAME;
use crate::serve::pending::ReplyTo;
use crate::skills;

/// Requests and grants in one answer.
const PAGE: usize = 256;

/// Bytes of an answer with more than one request or grant.
const PAGE_BYTES: usize = 1024 * 1024;

/// What an answer has beside its requests or grants, at most.
const FRAME_BYTES: usize =
    r#"{"id":18446744073709551615,"result":{"requests":[],"more":false}}"#.len();

impl Hub {
    /// Does what a client asks for.
    pub(super) fn handle(&mut self, number: ClientNumber, to: ReplyTo, method: Method) {
        // A machine that slept, or a clock that was set, is noticed by whatever happens first: an
        // answer that comes after the end of a question is too late.
        self.close_due();
        if self.is_stopping() {
            return self.respond(to, Err(stopping()));
        }
        if let Err(error) = self.check(number, method.name()) {
            let is_hello = error.code == MethodErrorCode::HelloFirst;
            self.respond(to, Err(error));
            if is_hello {
                let message = "nothing is answered before `hello`";
                self.close(number, wire::CloseReason::BadLine, message);
            }
            return;
        }
        if let Err(error) = self.may_wait(&to) {
            return self.respond(to, Err(error));
        }
        let name = self.name_of(number);
        let result = match method {
            Method::Hello(hello) => return self.hello(number, to, hello),
            Method::Run(run) => return self.begin(to, run),
            Method::Subscribe(subscribe) => return self.subscribe(number, to, subscribe.events),
            Method::PermissionReply(reply) => return self.take_reply(number, to, name, reply),
            Method::PermissionPreview(preview) if self.below.asks(&preview.id) => {
                let asked = preview.id.clone();
                return self.pass_below(to, &asked, |id| {
                    Method::PermissionPreview(wire::PermissionPreview { id, ..preview })
                });
            }
            Method::PermissionPreview(preview) => return self.preview(to, preview),
            Method::PermissionRejectAll(all) => {
                return self.reject_all_and_below(to, &name, all);
            }
            Method::Explain(call) => return self.explain(to, call),
            Method::ExplainCall(wire::ExplainCall { call }) => {
                let id = wire::RequestId::new(call.as_str());
                if !self.below.asks(&id) {
                    return self.explain_call(to, call);
                }
                return self.pass_below(to, &id, |id| {
                    let call = wire::CallId::new(id.as_str());
                    Method::ExplainCall(wire::ExplainCall { call })
                });
            }
            Method::SkillEnd(end) => return self.end_skill(to, &name, &end.name),
            Method::Cancel(_) => self.cancel_turn(),
            Method::Stop(_) => {
                self.respond(to, Ok(Reply::Stop(wire::StopStarted {})));
                return self.stop(Some(number));
            }
            Method::PermissionList(list) => Ok(self.open_requests(&list)),
            Method::GrantsList(list) => return self.list_grants(to, list),
            Method::GrantsRevoke(revoke) => return self.revoke(to, revoke.id),
            Method::Attend(attend) => Ok(self.attend(number, attend.can_approve)),
            Method::Pong(_) => Ok(Reply::Pong(wire::PongHeard {})),
        };
        self.respond(to, result);
    }

    /// Takes an answer: to a question of this pod, or of a child.
    fn take_reply(
        &mut self,
        number: ClientNumber,
        to: ReplyTo,
        name: Box<str>,
        mut reply: wire::PermissionReply,
    ) {
        let name = match reply.by.take() {
            // The pod above says who it was.
            Some(by) if self.above == Some(number) => by.into(),
            Some(_) => {
                let message = "`by` is for the pod above";
                let error = MethodError::new(MethodErrorCode::InvalidParams, message);
                return self.respond(to, Err(error));
            }
            None => name,
        };
        if !self.below.asks(&reply.id) {
            return self.reply(to, &name, reply);
        }
        reply.by = Some(name.into());
        let asked = reply.id.clone();
        self.pass_below(to, &asked, |id| {
            Method::PermissionReply(wire::PermissionReply { id, ..reply })
        });
    }

    /// Whether a client may ask for something.
    fn check(&self, number: ClientNumber, method: MethodName) -> Result<(), MethodError> {
        if number == LOCAL {
            return Ok(());
        }
        let client = self.clients.get(number);
        let welcomed = client.and_then(|client| client.welcomed.as_ref());
        let standing = client.and_then(|client| client.standing);
        let Some(welcomed) = welcomed else {
            return match method {
                MethodName::Hello => Ok(()),
                _ => Err(MethodError::new(
                    MethodErrorCode::HelloFirst,
                    format!("`{}` came before `hello`", method.as_str()),
                )),
            };
        };
        match method {
            MethodName::Hello
            | MethodName::Subscribe
            | MethodName::PermissionList
            | MethodName::Attend
            | MethodName::Pong => Ok(()),
            MethodName::Run
            | MethodName::Cancel
            | MethodName::Stop
            | MethodName::GrantsList
            | MethodName::GrantsRevoke
            // Nor may it try out what is allowed.
            | MethodName::Explain
            | MethodName::ExplainCall
            | MethodName::PermissionPreview
            | MethodName::SkillEnd => apart(standing, method),
            MethodName::PermissionReply | MethodName::PermissionRejectAll => {
                apart(standing, method)?;
                if welcomed.can_approve {
                    return Ok(());
                }
                let error = MethodError::new(
                    MethodErrorCode::NotAllowed,
                    "the client did not say that it can approve",
                );
                Err(error.with_help("say `\"can_approve\":true` in `hello`, and answer pings"))
            }
        }
    }

    fn begin(&mut self, to: ReplyTo, run: wire::Run) {
        match skills::prompt(run.prompt, run.skill) {
            Ok(prompt) => self.run_turn(to, prompt),
            Err(error) => {
                let error = MethodError::new(MethodErrorCode::InvalidParams, error.to_string());
                self.respond(to, Err(error.with_help("name one of the two")));
            }
        }
    }

    /// The name under which a client answers.
    fn name_of(&self, number: ClientNumber) -> Box<str> {
        let client = self.clients.get(number);
        let welcomed = client.and_then(|client| client.welcomed.as_ref());
        welcomed
            .map_or(LOCAL_NAME, |welcomed| &*welcomed.name)
            .into()
    }

    fn open_requests(&self, list: &PermissionList) -> Reply {
        let after = list.after.as_ref().and_then(request_id);
        let below = list.after.as_ref().and_then(|id| self.below.place(id));
        // Those of children come behind its own.
        let own = (below.is_none()).then(|| self.questions.after(after.as_ref()));
        let own = own.into_iter().flatten();
        let own = own.map(|open| self.asker.request(open));
        let all = own.chain(self.below.open_after(below).cloned());
        let (requests, more) = page(list.limit, all);
        Reply::PermissionList(OpenRequests { requests, more })
    }
}

/// A page of grants.
pub(super) fn grants_page(mut grants: Vec<wire::Grant>, list: &GrantsList) -> Reply {
    if let Some(after) = &list.after
        && let Some(at) = grants.iter().position(|grant| grant.id == *after)
    {
        grants.drain(..=at);
    }
    let (grants, more) = page(list.limit, grants.into_iter());
    Reply::GrantsList(wire::Grants { grants, more })
}

/// Whether a process may say what happens: not one that the pod has started.
fn apart(standing: Option<Standing>, method: MethodName) -> Result<(), MethodError> {
    let why = match standing {
        Some(Standing::Apart) => return Ok(()),
        Some(Standing::Below) => "it was started by the pod itself",
        Some(Standing::BelowAnother) => "it was started by another pod",
        Some(Standing::Unknown) | None => "nothing certain is known of its process",
    };
    let message = format!("this client may not call `{}`: {why}", method.as_str());
    let error = MethodError::new(MethodErrorCode::NotAllowed, message);
    Err(error.with_help("answer from a terminal of your own"))
}

/// The first of some things, as many as fit an answer, and whether there are more.
///
/// What would not fit a line by itself is passed over: nobody is asked about such a thing.
fn page<T: Serialize>(limit: Option<u32>, all: impl Iterator<Item = T>) -> (Vec<T>, bool) {
    let limit = limit.and_then(|limit| usize::try_from(limit).ok());
    let limit = limit.unwrap_or(PAGE).clamp(1, PAGE);
    let mut page = Vec::new();
    let mut n_bytes = 0_usize;
    for one in all {
        let Ok(line) = json_line(&one) else {
            continue;
        };
        let n_more = line.len() + ",".len();
        if n_more > MAX_LINE_BYTES - FRAME_BYTES {
            continue;
        }
        let is_full = page.len() >= limit || n_bytes + n_more > PAGE_BYTES;
        if is_full && !page.is_empty() {
            return (page, true);
        }
        n_bytes += n_more;
        page.push(one);
    }
    (page, false)
}

/// What a question is called at the gate; `None`: none is called so.
pub(super) fn request_id(id: &wire::RequestId) -> Option<RequestId> {
    CallId::new(id.as_str()).ok().map(RequestId::from)
}
