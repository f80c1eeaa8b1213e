use podward_gate::{Call, CallFacts, CallId, Gate, Submitted};
use podward_policy::{
    Action, KnownTools, Operation, PathForm, PathSubject, Policies, Policy, PolicySpec, Subject,
    Text, ToolName,
};

use super::*;

fn asker() -> Asker {
    Asker {
        session: SessionId::from_bits(1),
        pod: "test".into(),
        path: Vec::new(),
        cwd: "/w".into(),
        copy_of: None,
        policy_digest: "sha256:1".into(),
        programs: AddedPrograms::default(),
        timeout: None,
    }
}

/// A question about reading a file, which may be a link.
pub(crate) fn question(leads_to: Option<&str>) -> Question {
    let compiled = Policy::compile(&PolicySpec::new(Action::Ask), &KnownTools::built_in());
    let mut gate = Gate::new(Policies::from(compiled.unwrap().policy));
    let form = |text: &str| PathForm {
        short: Text::known(text),
        absolute: Text::known(format!("/w/{text}")),
        home: None,
    };
    let read = ToolName::new("read").unwrap();
    let mut operation = Operation::plain(&read, "");
    operation.subject = Subject::path(PathSubject {
        lexical: form("a"),
        resolved: leads_to.map(form),
        further: Vec::new(),
    });
    let id = CallId::new("call_1").unwrap();
    let facts = CallFacts::new(id, read, r#"{"path":"a"}"#, operation.into());
    match gate.submit(Call::new(facts, ())) {
        Submitted::Ask(question) => question,
        Submitted::Settled(settled) => panic!("{settled:?}"),
    }
}

fn open(question: Question) -> Open {
    Open {
        question,
        skill: None,
        rest: None,
        asked_at: UNTIMED,
        expires: None,
        n_changes: 0,
    }
}

#[test]
fn a_digest_is_of_all_that_is_shown_but_the_times() {
    let asker = asker();
    let plain = open(question(None));
    let digest = asker.digest(&plain);
    let later = Time::from_unix_milliseconds(1).unwrap();
    let again = Open {
        asked_at: later,
        expires: Some(Moment { steady: 0, wall: 1 }),
        ..plain.clone()
    };
    assert_eq!(asker.digest(&again), digest);

    let link = asker.request(&open(question(Some("b"))));
    assert_eq!(link.operations[0].leads_to.as_deref(), Some("b"));
    assert_ne!(link.digest, digest, "where a link leads");

    let shown = PermissionRequest {
        digest: String::new(),
        asked_at: UNTIMED,
        ..asker.request(&plain)
    };
    assert_eq!(asker.digest_of(&shown), digest);
    let other = || "other".to_owned();
    let changes: [fn(&mut PermissionRequest); 11] = [
        |request| request.pod.push('x'),
        |request| request.path.push("above".to_owned()),
        |request| request.part_of = Some(wire::CallId::new("call_0")),
        |request| {
            request
                .redirected_from
                .push("https://a.example/".to_owned())
        },
        |request| {
            let why = String::new();
            request.skill = Some(Box::new(AskedSkill::Fails { why }));
        },
        |request| request.cwd.push('x'),
        |request| request.operations[0].known = false,
        |request| request.reason = wire::AskReason::PolicyRepeated,
        |request| request.asking.clear(),
        |request| request.choices.clear(),
        |request| request.always_in = Some("/v".to_owned()),
    ];
    for (idx, change) in changes.iter().enumerate() {
        let mut changed = shown.clone();
        change(&mut changed);
        assert_ne!(asker.digest_of(&changed), digest, "{idx}");
    }
    let askers = [
        Asker {
            session: SessionId::from_bits(2),
            ..self::asker()
        },
        Asker {
            policy_digest: other(),
            ..self::asker()
        },
    ];
    for asker in askers {
        assert_ne!(asker.digest_of(&shown), digest);
    }
}

#[test]
fn the_shortest_time_counts() {
    let mut asker = asker();
    assert_eq!(asker.timeout(&[]), None);
    asker.timeout = Some(Duration::from_secs(60));
    assert_eq!(asker.timeout(&[]), Some(Duration::from_secs(60)));
}
