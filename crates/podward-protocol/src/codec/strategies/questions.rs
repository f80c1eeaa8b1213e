//! What is asked, answered and remembered.

use super::*;

pub(super) fn decided_by() -> impl Strategy<Value = DecidedBy> {
    prop_oneof![
        Just(DecidedBy::Policy),
        Just(DecidedBy::Pod),
        Just(DecidedBy::Auto),
        text().prop_map(|name| DecidedBy::Hook { name }),
        (text(), any::<bool>()).prop_map(|(name, edited)| DecidedBy::Client { name, edited }),
        (vec(grant_id(), 1..3), text())
            .prop_map(|(grants, name)| DecidedBy::Grants { grants, name }),
    ]
}

pub(super) fn approvals() -> impl Strategy<Value = Event> {
    let end = prop_oneof![
        Just(GrantEnd::Revoked),
        Just(GrantEnd::Expired),
        Just(GrantEnd::UsedUp),
    ];
    prop_oneof![
        permission_request().prop_map(Event::PermissionRequest),
        settled().prop_map(Event::PermissionSettled),
        grant().prop_map(|grant| Event::GrantAdded(GrantAdded { grant })),
        (grant_id(), end).prop_map(|(id, reason)| Event::GrantRevoked(GrantRevoked { id, reason })),
    ]
}

pub(super) fn permission_request() -> impl Strategy<Value = PermissionRequest> {
    let reasons = prop_oneof![
        Just(AskReason::Policy),
        Just(AskReason::PolicyRepeated),
        Just(AskReason::Repeated),
        Just(AskReason::Resumed)
    ];
    let what = (
        any::<[String; 4]>(),
        json(),
        vec(operation(), 0..3),
        ruling(),
        reasons,
    );
    let ids = (request_id(), call(), option::of(call()), vec(text(), 0..2));
    let answers = (vec(asking(), 0..3), vec(choice(), 0..3), option::of(text()));
    let times = (time(), option::of(time()));
    let more = (
        vec(text(), 0..2),
        option::of(asked_skill().prop_map(Box::new)),
    );
    (ids, what, answers, times, more).prop_map(|(ids, what, answers, times, more)| {
        let (redirected_from, skill) = more;
        let (id, call, part_of, path) = ids;
        let ([pod, tool, cwd, digest], arguments, operations, ruling, reason) = what;
        let (asking, choices, no_always) = answers;
        PermissionRequest {
            id,
            pod,
            path,
            call,
            part_of,
            redirected_from,
            tool,
            arguments,
            skill,
            cwd,
            operations,
            ruling,
            reason,
            asking,
            choices,
            unasked: no_always.is_some(),
            always_in: no_always.clone(),
            no_always,
            digest,
            asked_at: times.0,
            expires_at: times.1,
        }
    })
}

fn asked_skill() -> impl Strategy<Value = AskedSkill> {
    let lists = (option::of(vec(text(), 0..2)), vec(text(), 0..2));
    let found = (any::<[String; 3]>(), lists).prop_map(|(texts, lists)| {
        let [file, digest, description] = texts;
        AskedSkill::Found {
            file,
            digest,
            description,
            allowed_tools: lists.0,
            disallowed_tools: lists.1,
        }
    });
    prop_oneof![found, text().prop_map(|why| AskedSkill::Fails { why })]
}

pub(super) fn asking() -> impl Strategy<Value = Asking> {
    (any::<usize>(), asker(), any::<bool>()).prop_map(|(operation, asker, grantable)| Asking {
        operation,
        asker,
        grantable,
    })
}

pub(super) fn asker() -> impl Strategy<Value = Asker> {
    let by = prop_oneof![
        (text(), text()).prop_map(|(tool, pattern)| AskedBy::Rule { tool, pattern }),
        Just(AskedBy::Default),
        Just(AskedBy::Unresolved),
        Just(AskedBy::Unnamed),
    ];
    (text(), by).prop_map(|(layer, by)| Asker { layer, by })
}

pub(super) fn choice() -> impl Strategy<Value = Choice> {
    let widths = prop_oneof![
        Just(Width::Exact),
        Just(Width::Similar),
        Just(Width::Subcommand),
        Just(Width::Program),
        Just(Width::File),
        Just(Width::Directory),
        Just(Width::Url),
        Just(Width::Host),
        Just(Width::SameArguments),
        Just(Width::Tool),
    ];
    let part = (any::<usize>(), text(), text(), widths, given()).prop_map(
        |(operation, tool, pattern, width, given)| ChoicePart {
            operation,
            tool,
            pattern,
            width,
            given,
        },
    );
    vec(part, 0..3).prop_map(|parts| Choice { parts })
}

fn given() -> impl Strategy<Value = Circumstances> {
    let word = (any::<usize>(), text()).prop_map(|(word, spelled)| ExpandedWord { word, spelled });
    let input = prop_oneof![
        text().prop_map(|text| Input::Text { text }),
        text().prop_map(|path| Input::File { path }),
    ];
    (vec(text(), 0..2), vec(word, 0..2), option::of(input)).prop_map(
        |(directories, expanded, input)| Circumstances {
            directories,
            expanded,
            input,
        },
    )
}

pub(super) fn settled() -> impl Strategy<Value = PermissionSettled> {
    (request_id(), settled_as(), decided_by()).prop_map(|(id, outcome, by)| PermissionSettled {
        id,
        outcome,
        by,
    })
}

pub(super) fn grant() -> impl Strategy<Value = Grant> {
    let rule =
        (text(), text(), vec(asker(), 0..2), given()).prop_map(|(tool, pattern, askers, given)| {
            GrantRule {
                tool,
                pattern,
                askers,
                given,
            }
        });
    (
        grant_id(),
        vec(rule, 0..3),
        lasts(),
        text(),
        time(),
        text(),
        option::of(time()),
        option::of(any::<u32>()),
    )
        .prop_map(
            |(id, rules, lasts, by, at, why, expires_at, uses_left)| Grant {
                id,
                rules,
                lasts,
                by,
                at,
                why,
                expires_at,
                uses_left,
            },
        )
}

pub(super) fn lasts() -> impl Strategy<Value = GrantFor> {
    prop_oneof![
        Just(GrantFor::Session),
        Just(GrantFor::Project),
        time().prop_map(|time| GrantFor::Until { time }),
        any::<u32>().prop_map(|n| GrantFor::Uses { n }),
    ]
}

fn chosen_pattern() -> impl Strategy<Value = ChosenPattern> {
    (any::<usize>(), text()).prop_map(|(operation, pattern)| ChosenPattern { operation, pattern })
}

pub(super) fn preview() -> impl Strategy<Value = PermissionPreview> {
    let patterns = vec(chosen_pattern(), 0..3);
    (request_id(), text(), patterns).prop_map(|(id, digest, patterns)| PermissionPreview {
        id,
        digest,
        patterns,
    })
}

pub(super) fn previewed() -> impl Strategy<Value = Preview> {
    let texts = || vec(text(), 0..3);
    let part = (any::<usize>(), texts(), texts()).prop_map(|(operation, covers, covers_not)| {
        PreviewPart {
            operation,
            covers,
            covers_not,
        }
    });
    vec(part, 0..3).prop_map(|parts| Preview { parts })
}

pub(super) fn answer() -> impl Strategy<Value = Answer> {
    let what = prop_oneof![
        any::<usize>().prop_map(Chosen::Width),
        vec(chosen_pattern(), 0..3).prop_map(Chosen::Patterns),
    ];
    prop_oneof![
        Just(Answer::Once),
        (what, lasts()).prop_map(|(what, lasts)| Answer::Always(Always { what, lasts })),
        option::of(text()).prop_map(|feedback| Answer::Reject { feedback }),
        object().prop_map(|arguments| Answer::Edit { arguments }),
    ]
}
