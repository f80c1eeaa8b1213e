//! Skills: what is active when, what it restricts, and that no cut of a session loosens it.

use std::sync::{Mutex, OnceLock};

use async_trait::async_trait;
use podward_gate::Question;
use podward_model::Block;
use podward_skill::{WorkflowRecord, read};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

use super::*;
use crate::approver::Approver;
use crate::hook::{Hook, HookError, PreRequest, TurnAction};
use crate::journal::SkillEnd;
use crate::skill::{
    ActiveSkills, LoadedSkill, MOST_ACTIVE_SKILLS, Prompt, SkillError, SkillSource, SkillStarter,
};

/// Every skill whose name begins with what stands here, and what it lists.
const SKILLS: &[(&str, &str)] = &[
    ("only-echo", "allowed-tools: echo"),
    ("echo-skill", "allowed-tools: echo Skill"),
    ("no-fail", "disallowed-tools: fail"),
    ("nothing", "allowed-tools: ''"),
    ("free", "license: x"),
];

const BODY: &str = "Do it with care.";

struct Shelf;

#[async_trait]
impl SkillSource for Shelf {
    async fn load(&self, name: &str, by: SkillStarter) -> Result<LoadedSkill, SkillError> {
        if by == SkillStarter::Model && name == "mine" {
            return Err(SkillError::PersonOnly { name: name.into() });
        }
        let known = SKILLS.iter().find(|(front, _)| name.starts_with(front));
        let (_, lists) = known.ok_or_else(|| SkillError::Unknown {
            name: name.into(),
            hint: None,
        })?;
        let text = format!("---\nname: {name}\ndescription: x\n{lists}\n---\n{BODY}\n");
        let skill = read(name, text.as_bytes()).skill.unwrap();
        Ok(LoadedSkill {
            record: WorkflowRecord::of_skill(&skill, "sha256:x", "SKILL.md", "/skills/x"),
            body: skill.body,
        })
    }
}

/// Writes down which tools each request offers.
#[derive(Default)]
struct Offers(Mutex<Vec<String>>);

#[async_trait]
impl Hook<PreRequest> for Offers {
    fn name(&self) -> &str {
        "offers"
    }

    async fn on(&self, event: &mut PreRequest) -> Result<TurnAction, HookError> {
        let names: Vec<&str> = event.tools().iter().map(|tool| &*tool.name).collect();
        self.0.lock().unwrap().push(names.join(" "));
        Ok(TurnAction::Continue)
    }
}

fn setup() -> Setup {
    Setup {
        skills: Some(Arc::new(Shelf)),
        ..Setup::default()
    }
}

fn active(history: &History) -> Vec<&str> {
    history.skills().map(|skill| &*skill.name).collect()
}

/// How many messages hold instructions.
fn n_instructions(history: &History) -> usize {
    let blocks = history.messages().iter().flat_map(|m| &m.content);
    let texts = blocks.filter_map(|block| match block {
        Block::Text { text } | Block::ToolResult { content: text, .. } => Some(text),
        Block::Thinking { .. } | Block::ToolUse { .. } => None,
    });
    texts.filter(|text| text.contains(BODY)).count()
}

const REFUSED: &str = "! Refused: this call of `fail` was not run: `two`. The skill `only-echo` is \
                       active, and its `allowed-tools` (`echo`) does not list it. Retrying will not \
                       help while that skill is active, and no person can approve it: go on without \
                       it, or tell the user what you cannot do.";

#[tokio::test]
async fn a_skill_restricts_from_the_next_request_to_the_end_of_its_turn() {
    let first = script(&[
        &[("skill", "only-echo"), ("fail", "one")],
        &[("fail", "two"), ("echo", "three"), ("skill", "free")],
    ]);
    let offers = Arc::new(Offers::default());
    let mut kit = Kit::with(
        &(first + &script(&[&[("fail", "four")]])),
        Setup {
            hooks: Hooks::new().pre_request(Arc::clone(&offers) as Arc<dyn Hook<PreRequest>>),
            ..setup()
        },
    );
    kit.turn("go").await;
    assert_eq!(kit.log.ran(), ["one", "three"]);
    kit.turn("go on").await;
    assert_eq!(kit.log.ran(), ["one", "three", "four"]);
    let results = kit.results();
    assert!(
        results[0].starts_with("(The skill `only-echo` has ended"),
        "{results:?}"
    );
    assert_eq!(results[1], "! fail one");
    assert_eq!(results[2], REFUSED);
    assert!(
        results[4].contains("`allowed-tools` (`echo`) does not list it"),
        "{results:?}"
    );
    assert_eq!(n_instructions(kit.worker.history()), 0);
    let all = "broken echo fail far hop meet panic skill slow stuck";
    assert_eq!(*offers.0.lock().unwrap(), [all, "echo", "echo", all, all]);
    let told = kit.told();
    let of_skills: Vec<_> = told
        .iter()
        .filter(|told| told.starts_with("skill"))
        .collect();
    assert_eq!(
        of_skills,
        [
            "skill only-echo Some(1) by call_1_1",
            "skill only-echo ended: turn_ended"
        ]
    );
}

#[tokio::test]
async fn nested_skills_intersect_and_none_starts_twice() {
    let mut kit = Kit::with(
        &script(&[
            &[("skill", "echo-skill"), ("skill", "echo-skill")],
            &[
                ("skill", "no-fail"),
                ("skill", "mine"),
                ("skill", "unknown"),
            ],
            &[("echo", "a"), ("fail", "b"), ("hop", "c")],
        ]),
        setup(),
    );
    kit.turn("go").await;
    assert_eq!(kit.log.ran(), ["a"]);
    let results = kit.results();
    let n_twice = results
        .iter()
        .filter(|r| r.contains("`echo-skill` is active already"));
    assert_eq!(n_twice.count(), 1, "{results:?}");
    assert_eq!(
        results[3],
        "! Error: the skill `mine` is started by a person only."
    );
    assert_eq!(results[4], "! Error: there is no skill `unknown`.");
}

#[tokio::test]
async fn a_cap_bounds_the_active_skills() {
    let names: Vec<String> = (0..=MOST_ACTIVE_SKILLS)
        .map(|n| format!("free-{n}"))
        .collect();
    let calls: Vec<_> = names.iter().map(|name| ("skill", &**name)).collect();
    let mut kit = Kit::with(&script(&[&calls]), setup());
    kit.turn("go").await;
    let refused = kit
        .results()
        .into_iter()
        .filter(|r| r.starts_with("! Error"));
    let refused: Vec<_> = refused.collect();
    assert!(
        matches!(&refused[..], [one] if one.contains("8 skills are active")),
        "{refused:?}"
    );
}

#[tokio::test]
async fn a_prompt_starts_a_skill_that_outlives_a_turn_that_is_cut_off() {
    let mut kit = Kit::with(
        &script(&[&[("fail", "one")], &[("fail", "two")], &[("fail", "three")]]),
        Setup {
            limits: TurnLimits {
                steps: NonZeroU32::new(1).unwrap(),
                ..TurnLimits::default()
            },
            ..setup()
        },
    );
    let cancel = kit.cancel.clone();
    let unknown = kit
        .worker
        .turn(Prompt::starting("none", "x"), cancel.clone())
        .await;
    assert!(matches!(
        unknown,
        Err(WorkerError::Skill(SkillError::Unknown { .. }))
    ));
    assert_eq!(kit.log.entries(), []);
    let end = kit
        .worker
        .turn(Prompt::starting("only-echo", "go"), cancel.clone())
        .await;
    assert_eq!(end.unwrap().reason, EndReason::Limit(Limit::Steps));
    kit.check();
    let twice = kit
        .worker
        .turn(Prompt::starting("only-echo", ""), cancel)
        .await;
    assert!(matches!(
        twice,
        Err(WorkerError::Skill(SkillError::AlreadyActive { .. }))
    ));
    kit.turn("go on").await;
    assert_eq!(active(kit.worker.history()), ["only-echo"]);
    assert_eq!(kit.log.ran(), [""; 0]);
    // A client ends it between two turns.
    let skills = kit.worker.skills();
    assert!(matches!(
        skills.end("free", "ann"),
        Err(SkillError::NotActive { .. })
    ));
    skills.end("only-echo", "ann").unwrap();
    kit.worker.end_skills().await.unwrap();
    kit.check();
    assert_eq!(skills.list(), []);
    kit.turn("go on").await;
    assert_eq!(kit.log.ran(), ["three"]);
}

/// Ends a skill, then says yes.
#[derive(Default)]
struct EndsAndAgrees(OnceLock<ActiveSkills>);

#[async_trait]
impl Approver for EndsAndAgrees {
    async fn answer(&self, _question: &Question) -> Option<Answer> {
        self.0.get().unwrap().end("only-echo", "ann").unwrap();
        Some(Answer::Once { by: "ann".into() })
    }
}

#[tokio::test]
async fn a_client_ends_a_skill_in_mid_turn_and_nothing_of_the_message_is_loosened() {
    let approver = Arc::new(EndsAndAgrees::default());
    let mut kit = Kit::with(
        &script(&[
            &[("skill", "only-echo")],
            &[("echo", "ask a"), ("fail", "ask b"), ("fail", "two")],
            &[("fail", "three")],
        ]),
        Setup {
            approver: Some(Arc::clone(&approver) as Arc<dyn Approver>),
            ..setup()
        },
    );
    approver.0.set(kit.worker.skills()).unwrap();
    kit.turn("go").await;
    assert_eq!(kit.log.ran(), ["ask a", "three"]);
    let ended = Entry::SkillEnded {
        name: "only-echo".into(),
        why: SkillEnd::Client { by: "ann".into() },
    };
    assert!(kit.log.entries().contains(&ended));
}

#[tokio::test]
async fn trimming_leaves_out_no_instructions_of_an_active_skill() {
    let long = "x".repeat(3000);
    let calls: Vec<_> = (0..6).map(|_| [("echo", &*long)]).collect();
    let mut steps: Vec<&[(&str, &str)]> = vec![&[("skill", "echo-skill")]];
    steps.extend(calls.iter().take(2).map(|call| &call[..]));
    let seen = Arc::new(Sent::default());
    let mut kit = Kit::with(
        &script(&steps),
        Setup {
            hooks: Hooks::new().pre_request(Arc::clone(&seen) as Arc<dyn Hook<PreRequest>>),
            limits: TurnLimits {
                history_bytes: 2000,
                steps: NonZeroU32::new(4).unwrap(),
                ..TurnLimits::default()
            },
            ..setup()
        },
    );
    kit.turn("go").await;
    assert_eq!(
        *seen.0.lock().unwrap(),
        [(0, false), (1, false), (1, true), (1, true)]
    );
}

/// Of each request: how often the instructions are in it, and whether something is left out.
#[derive(Default)]
struct Sent(Mutex<Vec<(usize, bool)>>);

#[async_trait]
impl Hook<PreRequest> for Sent {
    fn name(&self) -> &str {
        "sent"
    }

    async fn on(&self, event: &mut PreRequest) -> Result<TurnAction, HookError> {
        podward_model::check_pairing(event.messages()).unwrap();
        let text = format!("{:?}", event.messages());
        let sent = (text.matches(BODY).count(), text.contains("were left out"));
        self.0.lock().unwrap().push(sent);
        Ok(TurnAction::Continue)
    }
}

const KINDS: &[(&str, &str)] = &[
    ("skill", "only-echo"),
    ("skill", "echo-skill"),
    ("skill", "no-fail"),
    ("skill", "nothing"),
    ("skill", "free"),
    ("echo", "a"),
    ("fail", "b"),
    ("echo", "ask c"),
    ("fail", "deny d"),
    ("hop", "e>f"),
];

fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(work)
}

proptest! {
    #![proptest_config(Config {
        cases: 48,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..Config::default()
    })]

    /// What is active is what the history holds the instructions of, wherever the session is cut; no
    /// call runs that an active skill does not list, and without any skill the same calls run or more.
    #[test]
    fn no_skill_weakens_a_verdict_and_no_cut_loses_one(
        steps in prop::collection::vec(prop::collection::vec(prop::sample::select(KINDS), 1..4), 1..5),
        n_steps in 1..5_u32,
        begins in prop::option::of(prop::sample::select(SKILLS)),
    ) {
        block_on(async {
            let steps: Vec<&[(&str, &str)]> = steps.iter().map(|step| &step[..]).collect();
            let limits = || TurnLimits {
                steps: NonZeroU32::new(n_steps).unwrap(),
                ..TurnLimits::default()
            };
            let yes = || Answer::Once { by: "ann".into() };
            let text = script(&steps);
            let mut kit = Kit::with(&text, Setup { limits: limits(), answer: yes(), ..setup() });
            let prompt = match begins {
                Some((name, _)) => Prompt::starting(name, "go"),
                None => "go".into(),
            };
            kit.worker.turn(prompt, Default::default()).await.unwrap();
            kit.check();
            let mut free = Kit::with(
                &text.replace("tool = \"skill\"", "tool = \"no-skill\""),
                Setup { limits: limits(), answer: yes(), ..Setup::default() },
            );
            free.turn("go").await;
            let mut left = free.log.ran();
            for ran in kit.log.ran() {
                let at = left.iter().position(|free| *free == ran);
                left.remove(at.expect("it runs without skills too"));
            }
            let entries = kit.log.entries();
            for n_kept in 0..=entries.len() {
                let kept = &entries[..n_kept];
                let replayed = History::replay(kept).unwrap();
                assert_eq!(
                    replayed.history.skills().len(),
                    n_instructions(&replayed.history),
                    "{kept:?}"
                );
                // What is repaired is read back the same.
                let mut whole = kept.to_vec();
                whole.extend(replayed.repairs.clone());
                let again = History::replay(&whole).unwrap();
                let closed = replayed.clone().interrupted().history;
                assert_eq!(again.history, replayed.history);
                assert_eq!(again.clone().interrupted().history, closed);
                assert_eq!(again.repairs, []);
                // A resumed worker is held to it.
                let is_listed = |name: &&str| matches!(*name, "no-fail" | "free");
                let may_fail = active(&replayed.history).iter().all(|name| *name == "free");
                let may_echo = active(&replayed.history).iter().all(|name| *name != "nothing");
                let may_hop = active(&replayed.history).iter().all(is_listed);
                let mut resumed = Kit::with(
                    &script(&[&[("fail", "x"), ("echo", "y"), ("hop", "z")]]),
                    Setup { history: replayed.interrupted().history, ..setup() },
                );
                resumed.worker.turn("go on", Default::default()).await.unwrap();
                let ran = resumed.log.ran();
                // A parked message may have started one more, which only tightens.
                assert!(may_fail || !ran.contains(&"x".to_owned()), "{kept:?}");
                assert!(may_echo || !ran.contains(&"y".to_owned()), "{kept:?}");
                assert!(may_hop || !ran.contains(&"z".to_owned()), "{kept:?}");
            }
        });
    }
}
