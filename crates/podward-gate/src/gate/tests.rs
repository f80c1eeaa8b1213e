use std::collections::BTreeMap;

use podward_policy::{
    AskedBy, Asker, Coverage, GrantRule, KnownTools, LayerKind, LayerName, Location, Lowered, Need,
    Operation, Operations, Policy, PolicySpec, RuleSpec, Subject, Text, ToolName,
};

use super::questions::SETTLED_KEPT;
use super::*;
use crate::call::CallId;

fn call(id: &str, tool: &str, arguments: &str, payload: usize) -> Call<usize> {
    Call::new(
        CallFacts::new(
            CallId::new(id).unwrap(),
            ToolName::new(tool).unwrap(),
            arguments,
            Lowered::NothingToRun,
        ),
        payload,
    )
}

fn ruling(action: Action) -> Ruling {
    Ruling {
        action,
        cause: Cause::Default {
            layer: LayerName {
                kind: LayerKind::Manifest,
            },
            location: Location {
                file: "pod.toml".into(),
                line: 1,
                column: 1,
            },
        },
        operation: None,
        coverage: Coverage::Full,
    }
}

impl Gate<usize> {
    /// Decides about a call over which this is the verdict.
    fn admit_now(&mut self, call: Call<usize>, ruling: Ruling) -> Submitted<usize> {
        let asking = Vec::new();
        self.admit(call, Judged { ruling, asking }, Uses::Counted)
    }

    /// Asks about a call, and puts the question.
    fn ask_now(&mut self, id: &str) -> Question {
        let Submitted::Ask(question) = self.admit_now(call(id, "bash", id, 7), ruling(Action::Ask))
        else {
            panic!("not asked");
        };
        assert!(matches!(self.put(question.id()), Ok(Put::Open)));
        question
    }
}

fn gate() -> Gate<usize> {
    Gate::new(Policies::default())
}

/// What became of a call, in a word or two.
fn outcome(submitted: Submitted<usize>) -> String {
    match submitted {
        Submitted::Settled(Settled::Run(permitted)) => format!("run {}", permitted.release().1),
        Submitted::Settled(Settled::Refuse(refusal)) => format!("refuse {}", refusal.cause()),
        Submitted::Ask(question) => format!("ask {}", question.reason().as_str()),
    }
}

#[test]
fn a_verdict_decides_what_becomes_of_a_call() {
    for (action, expected) in [
        (Action::Allow, "run 7"),
        (Action::Deny, "refuse policy"),
        (Action::Ask, "ask policy"),
    ] {
        let submitted = gate().admit_now(call("a", "read", "{}", 7), ruling(action));
        assert_eq!(outcome(submitted), expected);
    }
}

#[test]
fn the_third_same_call_of_a_turn_is_asked_about() {
    let mut gate = gate();
    let submit = |gate: &mut Gate<usize>, id: &str, arguments: &str, action| {
        outcome(gate.admit_now(call(id, "bash", arguments, 0), ruling(action)))
    };
    // Whatever became of the first two.
    assert_eq!(
        submit(&mut gate, "a1", "[1]", Action::Deny),
        "refuse policy"
    );
    assert_eq!(submit(&mut gate, "a2", "[1]", Action::Ask), "ask policy");
    assert_eq!(submit(&mut gate, "b1", "[2]", Action::Allow), "run 0");
    assert_eq!(
        submit(&mut gate, "a3", "[1]", Action::Allow),
        "ask repeated"
    );
    assert_eq!(submit(&mut gate, "b2", "[2]", Action::Allow), "run 0");
    assert_eq!(
        submit(&mut gate, "a4", "[1]", Action::Allow),
        "ask repeated"
    );
    // A deny stays a deny.
    assert_eq!(
        submit(&mut gate, "a5", "[1]", Action::Deny),
        "refuse policy"
    );
    gate.begin_turn();
    assert_eq!(submit(&mut gate, "a6", "[1]", Action::Allow), "run 0");
}

/// D1.1: without a `[permissions]` table the layer is off.
#[test]
fn without_rules_nothing_is_asked_however_often_it_is_repeated() {
    let mut gate = gate();
    for n in 0..10 {
        let ruling = Ruling {
            cause: Cause::NoPolicy,
            ..ruling(Action::Allow)
        };
        let submitted = gate.admit_now(call(&format!("a{n}"), "bash", "[1]", n), ruling);
        assert_eq!(outcome(submitted), format!("run {n}"));
    }
}

/// Submits a call whose operation is `text` to a gate with real policies.
fn submit_text(text: &str, n_times: usize, policies: Policies) -> Vec<String> {
    let mut gate = Gate::new(policies);
    (0..n_times)
        .map(|n| {
            let facts = CallFacts::new(
                CallId::new(&format!("a{n}")).unwrap(),
                ToolName::new("mcp__s__t").unwrap(),
                text,
                Lowered::Operations(Operations::new(
                    Operation {
                        tool: ToolName::new("mcp__s__t").unwrap(),
                        subject: Subject::Plain(Text::known(text)),
                        need: Need::Full,
                        span: None,
                        partial: Vec::new(),
                    },
                    Vec::new(),
                )),
            );
            outcome(gate.submit(Call::new(facts, n)))
        })
        .collect()
}

#[test]
fn the_policies_judge_what_is_submitted() {
    let location = Location {
        file: "pod.toml".into(),
        line: 1,
        column: 1,
    };
    let rule = |pattern: &str, action| RuleSpec {
        tool: "mcp__s__*".to_owned(),
        pattern: pattern.to_owned(),
        action,
        message: None,
        grantable: true,
        ask_timeout: None,
        location: location.clone(),
    };
    let spec = PolicySpec {
        default_action: Action::Allow,
        default_location: location.clone(),
        unresolved: None,
        rules: vec![rule("no*", Action::Deny), rule("maybe*", Action::Ask)],
    };
    let policies = || {
        let compiled = Policy::compile(&spec, &KnownTools::built_in()).unwrap();
        let name = LayerName {
            kind: LayerKind::Manifest,
        };
        Policies::new(vec![(name, compiled.policy)])
    };
    for (text, expected) in [
        ("yes", ["run 0", "run 1", "ask repeated"]),
        ("no", ["refuse policy"; 3]),
        ("maybe", ["ask policy", "ask policy", "ask policy_repeated"]),
    ] {
        assert_eq!(submit_text(text, 3, policies()), expected);
    }
    assert_eq!(
        submit_text("no", 3, Policies::default()),
        ["run 0", "run 1", "run 2"]
    );
}

#[test]
fn a_late_answer_is_told_who_was_first() {
    let mut gate = gate();
    let question = gate.ask_now("a");
    assert_eq!(gate.open(), std::slice::from_ref(&question));
    let first = Answer::Once { by: "ann".into() };
    let Ok(Settled::Run(permitted)) = gate.answer(question.id(), first.clone()) else {
        panic!("not run");
    };
    assert_eq!(permitted.release().1, 7);
    assert_eq!(gate.open(), []);
    let late = gate.answer(question.id(), Answer::NoClient).unwrap_err();
    assert_eq!(
        late,
        AnswerError::AlreadySettled {
            id: question.id().clone(),
            by: first
        }
    );
    assert_eq!(late.to_string(), "the request `a` is already settled: once");
    let never = RequestId::from(CallId::new("b").unwrap());
    assert_eq!(
        gate.answer(&never, Answer::NoClient)
            .unwrap_err()
            .to_string(),
        "there is no request `b`"
    );
}

#[test]
fn each_refusing_answer_has_its_own_cause() {
    for (answer, cause) in [
        (Answer::NoClient, "no_client"),
        (Answer::NotAuto, "not_auto"),
        (Answer::TooLarge, "too_large"),
        (
            Answer::Futile {
                error: "it is not there".into(),
            },
            "futile",
        ),
        (Answer::Cancelled, "cancelled"),
        (Answer::PodStopped, "pod_stopped"),
        (Answer::Interrupted, "interrupted"),
        (
            Answer::Hook {
                name: "h".into(),
                text: "no".into(),
            },
            "hook",
        ),
        (
            Answer::HookFailed {
                name: "h".into(),
                why: "it broke".into(),
            },
            "hook_failed",
        ),
    ] {
        let mut gate = gate();
        let question = gate.ask_now("a");
        match gate.answer(question.id(), answer) {
            Ok(Settled::Refuse(refusal)) => assert_eq!(refusal.cause().as_str(), cause),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn open_questions_are_listed_in_the_order_asked() {
    let mut gate = gate();
    for id in ["z", "m", "a"] {
        gate.ask_now(id);
    }
    let ids: Vec<_> = gate
        .open()
        .iter()
        .map(|q| q.id().as_str().to_owned())
        .collect();
    assert_eq!(ids, ["z", "m", "a"]);
}

#[test]
fn a_gate_forgets_only_the_oldest_answers() {
    let mut gate = gate();
    let ids: Vec<_> = (0..=SETTLED_KEPT).map(|n| format!("q{n}")).collect();
    for id in &ids {
        gate.ask_now(id);
        let id = RequestId::from(CallId::new(id).unwrap());
        gate.answer(&id, Answer::NoClient).unwrap();
    }
    let answer = |gate: &mut Gate<usize>, id: &String| {
        let id = RequestId::from(CallId::new(id).unwrap());
        gate.answer(&id, Answer::Cancelled).unwrap_err()
    };
    assert!(matches!(
        answer(&mut gate, &ids[0]),
        AnswerError::Unknown { .. }
    ));
    assert!(matches!(
        answer(&mut gate, &ids[1]),
        AnswerError::AlreadySettled { .. }
    ));
    assert_eq!(gate.questions.n_settled(), SETTLED_KEPT);
}

/// Whoever gave it and when: the third same call of a turn is for a person.
#[test]
fn no_grant_lets_a_repeated_call_run() {
    let tool = ToolName::new("mcp__s__t").unwrap();
    let spec = PolicySpec::new(Action::Ask);
    let compiled = Policy::compile(&spec, &KnownTools::built_in()).unwrap();
    let submit = |gate: &mut Gate<usize>, id: &str| {
        let id = CallId::new(id).unwrap();
        let operation = Operation::plain(&tool, "deploy");
        let facts = CallFacts::new(id, tool.clone(), "{}", operation.into());
        match gate.submit(Call::new(facts, 7)) {
            Submitted::Ask(question) => {
                assert!(matches!(gate.put(question.id()), Ok(Put::Open)));
                question
            }
            Submitted::Settled(settled) => panic!("{settled:?}"),
        }
    };
    let mut gate = Gate::new(Policies::from(compiled.policy));
    let questions = ["a", "b", "c"].map(|id| submit(&mut gate, id));
    let askers = questions[0].asking().iter().map(|part| part.asker.clone());
    let rule = GrantRule::compile(&tool, "deploy", askers.collect()).unwrap();
    let grant = |id: &str| Grant {
        id: GrantId::new(id).unwrap(),
        rules: vec![rule.clone()],
        expires_at: None,
        uses_left: None,
        by: "ann".into(),
    };
    let settled = gate.grant(grant("g"), Some(questions[0].id())).unwrap();
    let ids: Vec<_> = settled.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["a", "b"]);
    // It can be answered itself.
    let settled = gate.grant(grant("h"), Some(questions[2].id())).unwrap();
    assert_eq!(settled.len(), 1);
    assert_eq!(gate.open(), []);
    submit(&mut gate, "d");
}

/// Two grants together may cover what neither covers alone; then a use of each is taken.
#[test]
fn grants_cover_a_call_together() {
    let tool = ToolName::new("mcp__s__t").unwrap();
    let compiled = Policy::compile(&PolicySpec::new(Action::Ask), &KnownTools::built_in()).unwrap();
    let mut gate = Gate::new(Policies::from(compiled.policy));
    let asker = Asker {
        layer: LayerKind::Manifest,
        by: AskedBy::Default,
    };
    let grant = |id: &str, pattern: &str, uses_left| Grant {
        id: GrantId::new(id).unwrap(),
        rules: vec![GrantRule::compile(&tool, pattern, vec![asker.clone()]).unwrap()],
        expires_at: None,
        uses_left,
        by: "ann".into(),
    };
    gate.grant(grant("one", "a*", Some(1)), None).unwrap();
    gate.grant(grant("two", "b*", None), None).unwrap();
    let facts = |id: &str| {
        let id = CallId::new(id).unwrap();
        let operations = Operations::new(
            Operation::plain(&tool, "a1"),
            vec![Operation::plain(&tool, "b1"), Operation::plain(&tool, "a2")],
        );
        CallFacts::new(id, tool.clone(), "{}", Lowered::Operations(operations))
    };
    let submit = |gate: &mut Gate<usize>, id: &str, uses: Uses<'_>| match gate
        .submit_with(Call::new(facts(id), 7), uses)
    {
        Submitted::Settled(Settled::Run(permitted)) => Some(permitted.by().clone()),
        Submitted::Settled(Settled::Refuse(refusal)) => panic!("{refusal:?}"),
        Submitted::Ask(_) => None,
    };
    let needed = |gate: &Gate<usize>| {
        let needed = gate.uses_for_call(&facts("x")).into_iter();
        needed.map(|grant| grant.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(needed(&gate), ["one"]);
    let by = submit(&mut gate, "a", Uses::Counted);
    let grants = ["one", "two"].map(|id| GrantId::new(id).unwrap()).into();
    let ann = "ann".into();
    assert_eq!(by, Some(DecidedBy::Grants { grants, by: ann }));
    // The only use of the first is gone.
    assert_eq!(needed(&gate), Vec::<String>::new());
    assert_eq!(submit(&mut gate, "b", Uses::Counted), None);
}

/// The gate holds what is left, or a grant no more whose last use it was; either way it counts
/// nothing itself.
#[test]
fn a_use_that_was_taken_elsewhere_lets_one_call_run_and_is_counted_there() {
    for left in [None, Some(1)] {
        let mut two = TwoParts::new();
        let before = two.grant("one", "a*", Some(1 + left.unwrap_or(0)));
        let after = left.map(|_| two.grant("one", "a*", left));
        two.gate.set_grants(Vec::from_iter(after));
        let submit = |two: &mut TwoParts, id: &str, taken: &[Grant]| {
            let tool = two.tool.clone();
            let operation = Operation::plain(&tool, id).into();
            let id = CallId::new(id).unwrap();
            let taken = BTreeMap::from([(RequestId::from(id.clone()), taken.to_vec())]);
            let facts = CallFacts::new(id, tool, "{}", operation);
            match two
                .gate
                .submit_with(Call::new(facts, 7), Uses::Taken(&taken))
            {
                Submitted::Settled(Settled::Run(_)) => "run",
                Submitted::Settled(Settled::Refuse(_)) => "refuse",
                Submitted::Ask(_) => "ask",
            }
        };
        two.gate.begin_turn();
        assert_eq!(submit(&mut two, "aa", std::slice::from_ref(&before)), "run");
        // What nobody has taken a use of counts for nothing, whatever is left.
        assert_eq!(submit(&mut two, "ab", &[]), "ask");
        two.gate.begin_turn();
        let other = two.grant("two", "x*", Some(1));
        assert_eq!(submit(&mut two, "ac", &[other]), "ask");
        two.gate.advance(5);
        two.gate.begin_turn();
        let ended = Grant {
            expires_at: Some(5),
            ..before
        };
        assert_eq!(submit(&mut two, "ad", &[ended]), "ask");
        let counted: Vec<_> = two.gate.grants().map(|grant| grant.uses_left).collect();
        assert_eq!(counted, Vec::from_iter(left.map(Some)));
    }
}

/// Nobody has taken a use of those with limited ones.
#[test]
fn grants_of_elsewhere_settle_what_they_cover_as_a_whole() {
    for (uses_left, is_covered) in [(None, true), (Some(1), false)] {
        let mut two = TwoParts::new();
        let question = two.ask("q");
        let covered = |two: &TwoParts| two.gate.covered().cloned().collect::<Vec<_>>();
        let first = two.grant("one", "a*", None);
        two.gate.set_grants(vec![first.clone()]);
        assert_eq!(covered(&two), []);
        assert!(two.gate.settle_by_grants(question.id()).is_none());
        let second = two.grant("two", "b*", uses_left);
        two.gate.set_grants(vec![first, second]);
        let expected = Vec::from_iter(is_covered.then(|| question.clone()));
        assert_eq!(covered(&two), expected);
        match two.gate.settle_by_grants(question.id()) {
            Some(Settled::Run(permitted)) => {
                let grants = ["one", "two"].map(|id| GrantId::new(id).unwrap()).into();
                let by = "ann".into();
                let granted = Answer::Granted { grants, by };
                assert!(is_covered);
                assert_eq!(*permitted.by(), DecidedBy::Answer(granted));
            }
            Some(Settled::Refuse(refusal)) => panic!("{refusal:?}"),
            None => assert!(!is_covered),
        }
        assert!(two.gate.settle_by_grants(question.id()).is_none());
    }
}

/// Of the grants that questions need, each is taken for one of them.
#[test]
fn what_was_taken_for_a_question_lets_no_other_run() {
    let mut two = TwoParts::new();
    let question = ["q", "r"].map(|id| two.ask(id));
    let first = two.grant("one", "a*", Some(1));
    let second = two.grant("two", "b*", None);
    two.gate.set_grants(vec![first.clone(), second.clone()]);
    let (answered, other) = (question[0].id(), question[1].id());
    let wanted = two.gate.uses_for_grant(&second, Some(answered));
    let wanted: Vec<_> = wanted
        .iter()
        .map(|(id, grants)| (id, grants.iter().map(|grant| &grant.id).collect::<Vec<_>>()))
        .collect();
    assert_eq!(wanted, [(answered, vec![&first.id])]);
    let for_other = BTreeMap::from([(other.clone(), vec![first.clone()])]);
    let refused = two
        .gate
        .grant_with(second.clone(), Some(answered), Uses::Taken(&for_other));
    assert!(matches!(
        refused.unwrap_err(),
        AnswerError::NotCovered { .. }
    ));
    let for_answered = BTreeMap::from([(answered.clone(), vec![first])]);
    let settled = two
        .gate
        .grant_with(second, Some(answered), Uses::Taken(&for_answered))
        .unwrap();
    let ids: Vec<_> = settled.iter().map(|(id, _)| id).collect();
    assert_eq!(ids, [answered]);
}

/// A pod whose default is ask, and calls of two parts.
struct TwoParts {
    gate: Gate<usize>,
    tool: ToolName,
}

impl TwoParts {
    fn new() -> Self {
        let compiled = Policy::compile(&PolicySpec::new(Action::Ask), &KnownTools::built_in());
        Self {
            gate: Gate::new(Policies::from(compiled.unwrap().policy)),
            tool: ToolName::new("mcp__s__t").unwrap(),
        }
    }

    fn grant(&self, id: &str, pattern: &str, uses_left: Option<u32>) -> Grant {
        let asker = Asker {
            layer: LayerKind::Manifest,
            by: AskedBy::Default,
        };
        Grant {
            id: GrantId::new(id).unwrap(),
            rules: vec![GrantRule::compile(&self.tool, pattern, vec![asker]).unwrap()],
            expires_at: None,
            uses_left,
            by: "ann".into(),
        }
    }

    /// Asks about a call that does `a1` and `b1`.
    fn ask(&mut self, id: &str) -> Question {
        let id = CallId::new(id).unwrap();
        let operations = Operations::new(
            Operation::plain(&self.tool, "a1"),
            vec![Operation::plain(&self.tool, "b1")],
        );
        let lowered = Lowered::Operations(operations);
        let facts = CallFacts::new(id, self.tool.clone(), "{}", lowered);
        match self.gate.submit(Call::new(facts, 7)) {
            Submitted::Ask(question) => {
                assert!(matches!(self.gate.put(question.id()), Ok(Put::Open)));
                question
            }
            Submitted::Settled(settled) => panic!("{settled:?}"),
        }
    }

    fn places(&self, question: &Question) -> Option<Vec<usize>> {
        self.gate.rest(question).map(|rest| rest.places.into())
    }
}

/// What grants cover is not asked about, and an "always" to the rest is enough.
#[test]
fn an_always_covers_a_call_together_with_the_grants_of_earlier() {
    let mut two = TwoParts::new();
    let first = two.grant("one", "a*", Some(2));
    two.gate.grant(first, None).unwrap();
    let question = two.ask("q");
    assert_eq!(question.asking().len(), 2);
    let rest = two.gate.rest(&question).unwrap();
    assert_eq!(*rest.places, [1]);
    assert_eq!(rest.ruling.operation, Some(podward_policy::OperationIdx(1)));
    assert_eq!(rest.ruling.action, Action::Ask);
    assert_eq!(*question.ruling(), rest.ruling);
    // A grant that has nothing to do with the rest is no answer.
    let other = two.grant("no", "c*", None);
    let refused = two.gate.grant(other, Some(question.id())).unwrap_err();
    assert!(matches!(refused, AnswerError::NotCovered { .. }));
    let second = two.grant("two", "b*", Some(5));
    let settled = two.gate.grant(second, Some(question.id())).unwrap();
    let [(_, Settled::Run(permitted))] = settled.as_slice() else {
        panic!("{settled:?}");
    };
    let one = GrantId::new("one").unwrap();
    let with = [one].into();
    let answer = Answer::Always {
        by: "ann".into(),
        grant: GrantId::new("two").unwrap(),
        with,
    };
    assert_eq!(*permitted.by(), DecidedBy::Answer(answer));
    // Of the grant that it needs a use is taken, of the one that is the answer none.
    let left: Vec<_> = two.gate.grants().map(|grant| grant.uses_left).collect();
    assert_eq!(left, [Some(1), Some(5)]);
}

/// A grant that ends while a question is open counts no more for it.
#[test]
fn a_grant_that_ended_meanwhile_covers_nothing() {
    type End = fn(&mut Gate<usize>);
    let ends: [End; 4] = [
        |gate| assert!(gate.revoke(&GrantId::new("one").unwrap())),
        |gate| gate.advance(5),
        |gate| gate.set_grants(vec![]),
        // Another call takes the last use of it.
        |gate| {
            let tool = ToolName::new("mcp__s__t").unwrap();
            let facts = CallFacts::new(
                CallId::new("other").unwrap(),
                tool.clone(),
                "{}",
                Operation::plain(&tool, "a2").into(),
            );
            let ran = gate.submit(Call::new(facts, 8));
            assert!(matches!(ran, Submitted::Settled(Settled::Run(_))));
        },
    ];
    for end in ends {
        let mut two = TwoParts::new();
        let first = Grant {
            expires_at: Some(5),
            ..two.grant("one", "a*", Some(1))
        };
        two.gate.grant(first, None).unwrap();
        let question = two.ask("q");
        assert_eq!(two.places(&question), Some(vec![1]));
        let n_changes = two.gate.n_grant_changes();
        end(&mut two.gate);
        assert_ne!(two.gate.n_grant_changes(), n_changes);
        assert_eq!(two.places(&question), None, "all of it is asked about");
        let second = two.grant("two", "b*", None);
        let refused = two.gate.grant(second, Some(question.id())).unwrap_err();
        assert!(matches!(refused, AnswerError::NotCovered { .. }));
        assert_eq!(two.gate.grants().count(), 0, "nothing is remembered");
        assert_eq!(two.gate.open(), std::slice::from_ref(&question));
        // Nor is it skipped where the other part is granted on its own.
        let second = two.grant("two", "b*", None);
        assert!(two.gate.grant(second, None).unwrap().is_empty());
        assert_eq!(two.places(&question), Some(vec![0]));
        let once = Answer::Once { by: "ann".into() };
        let settled = two.gate.answer(question.id(), once).unwrap();
        assert!(matches!(settled, Settled::Run(_)));
    }
}

/// What an answer cannot settle takes no uses of what it would have needed.
#[test]
fn a_grant_that_answers_nothing_needs_no_uses() {
    let mut two = TwoParts::new();
    let questions = ["a", "b", "c"].map(|id| two.ask(id));
    let first = two.grant("one", "a*", Some(9));
    two.gate.grant(first, None).unwrap();
    for (question, pattern, is_answer) in [
        (&questions[0], "b*", true),
        (&questions[0], "c*", false),
        (&questions[2], "b*", false),
    ] {
        let second = two.grant("two", pattern, None);
        let wanted = two.gate.uses_for_grant(&second, Some(question.id()));
        assert_eq!(!wanted.is_empty(), is_answer, "{pattern}");
        if !is_answer {
            let refused = two.gate.grant(second, Some(question.id())).unwrap_err();
            assert!(matches!(refused, AnswerError::NotCovered { .. }));
        }
    }
    let id = questions[1].id();
    two.gate
        .answer(id, Answer::Once { by: "ann".into() })
        .unwrap();
    let second = two.grant("two", "b*", None);
    assert!(two.gate.uses_for_grant(&second, Some(id)).is_empty());
}

/// An ask that is made for the third time is both, and grants of earlier do not count for it.
#[test]
fn a_repeated_ask_says_both() {
    let mut two = TwoParts::new();
    let questions = ["a", "b", "c"].map(|id| two.ask(id));
    let reasons = questions.each_ref().map(Question::reason);
    let (policy, both) = (AskReason::Policy, AskReason::PolicyRepeated);
    assert_eq!(reasons, [policy, policy, both]);
    assert_eq!(questions[2].ruling(), questions[0].ruling());
    let first = two.grant("one", "a*", None);
    two.gate.grant(first, None).unwrap();
    let places = questions.each_ref().map(|question| two.places(question));
    assert_eq!(places, [Some(vec![1]), Some(vec![1]), None]);
    let second = two.grant("two", "b*", None);
    let refused = two.gate.grant(second, Some(questions[2].id())).unwrap_err();
    assert!(matches!(refused, AnswerError::NotCovered { .. }));
}

#[test]
fn no_yes_reaches_over_a_skill_that_began_since() {
    let location = Location {
        file: "SKILL.md".into(),
        line: 1,
        column: 1,
    };
    let lists = podward_policy::SkillLists {
        name: "nothing".into(),
        digest: "sha256:0".into(),
        allowed: Some("".into()),
    };
    let layer = Arc::new(SkillLayer::new(lists, Policy::deny_all(location)));
    let mut gate = gate();
    let question = gate.ask_now("a");
    gate.set_skills(vec![layer]);
    let settled = gate.answer(question.id(), Answer::Once { by: "ann".into() });
    let Ok(Settled::Refuse(refusal)) = settled else {
        panic!("{settled:?}");
    };
    assert_eq!(refusal.cause(), &RefusalCause::Policy);
    // A call that would do nothing is none of the listed tools either.
    let next = gate.submit(call("b", "bash", "b", 8));
    assert_eq!(outcome(next), "refuse policy");
    gate.set_skills(Vec::new());
    assert_eq!(outcome(gate.submit(call("c", "bash", "c", 9))), "run 9");
}

#[test]
fn what_was_approved_before_runs_by_that_answer_unless_the_rules_deny_it() {
    let no = Answer::Rejected {
        by: "ann".into(),
        feedback: None,
    };
    let once = Answer::Once { by: "ann".into() };
    for (action, answer, expected) in [
        (Action::Allow, once.clone(), "policy"),
        (Action::Ask, once.clone(), "once"),
        (Action::Ask, no.clone(), "ask"),
        (Action::Allow, no, "policy"),
        (Action::Deny, once, "refuse"),
    ] {
        let spec = PolicySpec::new(action);
        let policy = Policy::compile(&spec, &KnownTools::built_in()).unwrap();
        let mut gate = Gate::new(Policies::from(policy.policy));
        let tool = ToolName::new("spawn").unwrap();
        let operation = Operation::plain(&tool, "worker");
        let lowered = Lowered::Operations(Operations::from_vec(vec![operation]).unwrap());
        let id = CallId::new("a").unwrap();
        let call = Call::new(CallFacts::new(id, tool, "{}", lowered), 7);
        let became = match gate.submit_approved(call, answer) {
            Submitted::Settled(Settled::Run(permitted)) => permitted.by().as_str(),
            Submitted::Settled(Settled::Refuse(_)) => "refuse",
            Submitted::Ask(_) => "ask",
        };
        assert_eq!(became, expected, "{action:?}");
    }
}
