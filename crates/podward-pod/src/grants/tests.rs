mod processes;

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::sync::atomic::{AtomicI64, Ordering};

use podward_policy::{AskedBy, Asker, LayerKind, ToolName};
use podward_worker::GrantLedger as _;

use rustix::io::Errno;

use super::*;
use crate::replace::Step;
use crate::replace::tests::Faults;
use crate::test_user::as_ordinary_user;

/// A clock that is set by hand.
pub(super) struct HandClock(AtomicI64);

impl Clock for HandClock {
    fn now(&self) -> Time {
        Time::from_unix_milliseconds(self.0.load(Ordering::SeqCst)).unwrap()
    }
}

impl HandClock {
    fn set(&self, time: &str) {
        let time: Time = time.parse().unwrap();
        self.0.store(time.unix_milliseconds(), Ordering::SeqCst);
    }
}

const NOON: &str = "2026-01-02T12:00:00.000Z";
const ONE: &str = "2026-01-02T13:00:00.000Z";
const TWO: &str = "2026-01-02T14:00:00.000Z";

pub(super) struct Fixture {
    root: tempfile::TempDir,
    places: Places,
    clock: Arc<HandClock>,
}

fn fixture() -> Fixture {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir_all(root.path().join("project")).unwrap();
    let clock = Arc::new(HandClock(AtomicI64::new(0)));
    clock.set(NOON);
    Fixture {
        places: Places::below(root.path()),
        clock,
        root,
    }
}

fn session(last: char) -> SessionId {
    SessionId::new(&format!("01M8MVW75000000000000000{last}0")).unwrap()
}

impl Fixture {
    fn open(&self, last: char) -> (GrantStore, Vec<GrantProblem>) {
        let workspace = self.root.path().join("project");
        GrantStore::open(&self.places, &workspace, &session(last), self.clock.clone()).unwrap()
    }

    fn store(&self, last: char) -> GrantStore {
        let (store, problems) = self.open(last);
        assert_eq!(problems, []);
        store
    }

    fn file(&self) -> PathBuf {
        let mut files = GrantFile::all(&directory(&self.places)).unwrap();
        assert_eq!(files.len(), 1);
        files.remove(0).path().to_owned()
    }

    fn text(&self) -> String {
        fs::read_to_string(self.file()).unwrap()
    }
}

pub(super) fn rule(pattern: &str) -> GrantRule {
    let asker = Asker {
        layer: LayerKind::Manifest,
        by: AskedBy::Rule {
            tool: "bash".into(),
            pattern: "git *".into(),
        },
    };
    GrantRule::compile(&ToolName::new("bash").unwrap(), pattern, vec![asker]).unwrap()
}

pub(super) fn new_grant(pattern: &str, lasts: GrantFor) -> NewGrant {
    NewGrant {
        rules: vec![rule(pattern)],
        lasts,
        by: "a terminal".to_owned(),
        why: format!("bash: {pattern}"),
    }
}

fn until(time: &str) -> GrantFor {
    GrantFor::Until {
        time: time.parse().unwrap(),
    }
}

fn patterns(store: &GrantStore) -> Vec<String> {
    let grants = store.list();
    let rules = grants.iter().flat_map(|grant| &grant.rules);
    rules.map(|rule| rule.pattern.clone()).collect()
}

/// Whether a use could be taken.
fn take_use(store: &GrantStore, id: &GrantId) -> Result<bool, GrantError> {
    let over = store.take_uses(std::slice::from_ref(id))?;
    Ok(over.is_empty())
}

fn gate_patterns(store: &GrantStore) -> Option<Vec<String>> {
    store.look();
    let grants = store.refresh()?;
    let rules = grants.iter().flat_map(|grant| &grant.rules);
    Some(rules.map(|rule| rule.pattern().to_owned()).collect())
}

#[test]
fn what_is_added_is_there_for_whoever_opens_it_next() {
    let fixture = fixture();
    let store = fixture.store('A');
    let added = store.add(new_grant("git push", GrantFor::Project)).unwrap();
    assert_eq!(store.list(), std::slice::from_ref(&added));
    assert_eq!(fixture.store('B').list(), std::slice::from_ref(&added));
    assert_eq!(added.at, NOON.parse().unwrap());
    assert_eq!((added.expires_at, added.uses_left), (None, None));
    let gate = gate_grant(&added).unwrap();
    assert_eq!(gate.rules, [rule("git push")]);
    assert_eq!(gate.id.as_str(), added.id.as_str());
}

#[test]
fn a_workspace_by_another_name_has_the_same_grants() {
    let fixture = fixture();
    let store = fixture.store('A');
    store.add(new_grant("git push", GrantFor::Project)).unwrap();
    let link = fixture.root.path().join("link");
    symlink(fixture.root.path().join("project"), &link).unwrap();
    let (linked, _) =
        GrantStore::open(&fixture.places, &link, &session('B'), fixture.clock.clone()).unwrap();
    assert_eq!(patterns(&linked), ["git push"]);
    let (other, _) = GrantStore::open(
        &fixture.places,
        fixture.root.path(),
        &session('B'),
        fixture.clock.clone(),
    )
    .unwrap();
    assert_eq!(patterns(&other), Vec::<String>::new());
}

#[test]
fn a_grant_for_a_session_counts_in_no_other() {
    let fixture = fixture();
    let (one, other) = (fixture.store('A'), fixture.store('B'));
    let grant = one.add(new_grant("git push", GrantFor::Session)).unwrap();
    assert_eq!(patterns(&one), ["git push"]);
    assert_eq!(patterns(&other), Vec::<String>::new());
    assert!(!other.revoke(&grant.id).unwrap());
    assert!(!take_use(&other, &grant.id).unwrap());
    // Also when it is gone on with.
    assert_eq!(patterns(&fixture.store('A')), ["git push"]);
    assert!(one.revoke(&grant.id).unwrap());
    assert_eq!(patterns(&fixture.store('A')), Vec::<String>::new());
}

#[test]
fn the_gate_hears_of_what_others_change() {
    let fixture = fixture();
    let (one, other) = (fixture.store('A'), fixture.store('B'));
    assert_eq!(gate_patterns(&one), Some(vec![]));
    assert_eq!(gate_patterns(&one), None);
    let grant = other.add(new_grant("git push", GrantFor::Project)).unwrap();
    assert_eq!(gate_patterns(&one), Some(vec!["git push".to_owned()]));
    assert_eq!(gate_patterns(&one), None);
    // The same length again, and as fast as it goes.
    other.revoke(&grant.id).unwrap();
    other.add(new_grant("git pull", GrantFor::Project)).unwrap();
    assert_eq!(gate_patterns(&one), Some(vec!["git pull".to_owned()]));
    revoke_all(&fixture.places, None).unwrap();
    assert_eq!(gate_patterns(&one), Some(vec![]));
}

/// Files that are replaced come to have the inode and the times of an earlier one.
#[test]
fn no_change_goes_unseen_however_fast_it_is() {
    let fixture = fixture();
    let (one, other) = (fixture.store('A'), fixture.store('B'));
    let uses = GrantFor::Uses { n: 300 };
    let grant = other.add(new_grant("git push", uses)).unwrap();
    for left in (100..300).rev() {
        assert!(take_use(&other, &grant.id).unwrap());
        one.look();
        let seen = one.refresh().unwrap();
        assert_eq!(seen[0].uses_left, Some(left));
        one.look();
        assert!(one.refresh().is_none());
    }
}

#[test]
fn uses_are_taken_once_each() {
    let fixture = fixture();
    let (one, other) = (fixture.store('A'), fixture.store('B'));
    let grant = one
        .add(new_grant("git push", GrantFor::Uses { n: 3 }))
        .unwrap();
    let id = podward_gate::GrantId::new(grant.id.as_str()).unwrap();
    let taken: Vec<bool> = [&one, &other, &other, &one, &other]
        .iter()
        .map(|store| store.take(std::slice::from_ref(&id)).is_ok())
        .collect();
    assert_eq!(taken, [true, true, true, false, false]);
    assert_eq!(patterns(&one), Vec::<String>::new());
    // One without a limit only has to be there.
    let grant = one.add(new_grant("git push", GrantFor::Project)).unwrap();
    let before = fixture.text();
    assert!(take_use(&other, &grant.id).unwrap());
    assert_eq!(fixture.text(), before);
    assert!(one.revoke(&grant.id).unwrap());
    assert!(!take_use(&other, &grant.id).unwrap());
}

/// A call that several grants cover takes a use of each, or of none.
#[test]
fn uses_of_several_grants_are_taken_together() {
    let fixture = fixture();
    let store = fixture.store('A');
    let add = |pattern, n| {
        store
            .add(new_grant(pattern, GrantFor::Uses { n }))
            .unwrap()
            .id
    };
    let ids = [add("git push", 2), add("git pull", 1)];
    let left = || {
        let grants = store.list();
        grants
            .iter()
            .map(|grant| grant.uses_left)
            .collect::<Vec<_>>()
    };
    assert_eq!(store.take_uses(&ids).unwrap(), []);
    assert_eq!(left(), [Some(1)]);
    let before = fixture.text();
    assert_eq!(store.take_uses(&ids).unwrap(), ids[1..]);
    assert_eq!((left(), fixture.text()), (vec![Some(1)], before));
    assert_eq!(store.take_uses(&ids[..1]).unwrap(), []);
    assert_eq!(left(), []);
}

/// A use that was taken lets its call run, unless the grant was taken back before it could.
#[test]
fn a_use_that_was_taken_counts_until_its_grant_is_taken_back() {
    let fixture = fixture();
    let (one, other) = (fixture.store('A'), fixture.store('B'));
    let grant = one
        .add(new_grant("git push", GrantFor::Uses { n: 2 }))
        .unwrap();
    let last = one
        .add(new_grant("git pull", GrantFor::Uses { n: 1 }))
        .unwrap();
    assert!(!one.still_counts(&GrantId::new("none")));
    assert_eq!(
        one.take_uses(&[grant.id.clone(), last.id.clone()]).unwrap(),
        []
    );
    one.look();
    let counts = || [&grant.id, &last.id].map(|id| one.still_counts(id));
    assert_eq!(counts(), [true, true]);
    assert!(other.revoke(&grant.id).unwrap());
    one.look();
    assert_eq!(counts(), [false, true]);
    {
        let _faults = Faults::of(&[(Step::Sync, Errno::IO), (Step::TakeBack, Errno::IO)]);
        one.add(new_grant("git gc", GrantFor::Project)).unwrap_err();
        assert_eq!(counts(), [false, false]);
    }
}

/// What did not run has used nothing, and nothing comes back that was taken back, or is more than was
/// given.
#[test]
fn a_use_is_given_back_once_and_only_while_its_grant_is_there() {
    let fixture = fixture();
    let (one, other) = (fixture.store('A'), fixture.store('B'));
    let uses = |n| GrantFor::Uses { n };
    let add = |pattern, n| one.add(new_grant(pattern, uses(n))).unwrap().id;
    let (two, last) = (add("git push", 2), add("git pull", 1));
    let left = || {
        let grants = other.list().into_iter();
        let left = grants.map(|grant| (grant.id, grant.uses_left.unwrap()));
        left.collect::<BTreeMap<_, _>>()
    };
    let all = BTreeMap::from([(two.clone(), 2), (last.clone(), 1)]);
    for _ in 0..2 {
        let ids = [two.clone(), last.clone()];
        assert_eq!(one.take_uses(&ids).unwrap(), []);
        assert_eq!(one.take_uses(&ids[..1]).unwrap(), []);
        assert_eq!(left(), BTreeMap::new());
        // A grant that is given meanwhile leaves them as they are.
        let id = add("git gc", 1);
        assert_eq!(one.take_uses(std::slice::from_ref(&id)).unwrap(), []);
        let ids = [two.clone(), last.clone(), two.clone()];
        one.give_back_uses(&ids).unwrap();
        assert_eq!(left(), all);
        assert!(other.revoke(&id).unwrap());
    }
    let before = fixture.text();
    one.give_back_uses(&[two.clone(), last.clone()]).unwrap();
    assert_eq!(fixture.text(), before);
    // One that is used up can be taken back: then it stays so.
    assert_eq!(one.take_uses(std::slice::from_ref(&last)).unwrap(), []);
    assert_eq!(
        stored_grants(&fixture.places, &*fixture.clock).unwrap()[0]
            .grants
            .len(),
        1
    );
    revoke_grant(&fixture.places, &*fixture.clock, last.as_str()).unwrap();
    one.give_back_uses(std::slice::from_ref(&last)).unwrap();
    assert_eq!(left(), BTreeMap::from([(two.clone(), 2)]));
    // Nor does it come back when it was used up long ago.
    assert_eq!(one.take_uses(std::slice::from_ref(&two)).unwrap(), []);
    assert_eq!(one.take_uses(std::slice::from_ref(&two)).unwrap(), []);
    fixture.clock.set(ONE);
    one.give_back_uses(std::slice::from_ref(&two)).unwrap();
    assert_eq!((left(), fixture.text()), (BTreeMap::new(), String::new()));
}

#[test]
fn a_grant_ends_at_its_time_and_stays_ended() {
    let fixture = fixture();
    let store = fixture.store('A');
    let grant = store.add(new_grant("git push", until(ONE))).unwrap();
    store.add(new_grant("git pull", until(TWO))).unwrap();
    fixture.clock.set("2026-01-02T12:59:59.999Z");
    assert_eq!(patterns(&store), ["git push", "git pull"]);
    store.look();
    fixture.clock.set(ONE);
    assert_eq!(gate_patterns(&store), Some(vec!["git pull".to_owned()]));
    assert!(!take_use(&store, &grant.id).unwrap());
    // The clock goes back: neither here nor for whoever comes later does it count again.
    fixture.clock.set(NOON);
    assert_eq!(patterns(&store), ["git pull"]);
    assert_eq!(patterns(&fixture.store('B')), ["git pull"]);
    assert!(!take_use(&store, &grant.id).unwrap());
    assert_eq!(store.now_ms(), store.now_milliseconds() as u64);
    assert_eq!(store.now_milliseconds(), 1_767_358_800_000);
}

/// Where its end cannot be written down, it is over for this process at least.
#[test]
fn a_grant_stays_ended_where_nothing_can_be_written() {
    if as_ordinary_user("grants::tests::a_grant_stays_ended_where_nothing_can_be_written") {
        return;
    }
    let fixture = fixture();
    let store = fixture.store('A');
    store.add(new_grant("git push", until(ONE))).unwrap();
    let grants = directory(&fixture.places);
    fs::set_permissions(&grants, fs::Permissions::from_mode(0o500)).unwrap();
    fixture.clock.set(ONE);
    assert_eq!(patterns(&store), Vec::<String>::new());
    fixture.clock.set(NOON);
    assert_eq!(patterns(&store), Vec::<String>::new());
    fs::set_permissions(&grants, fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn a_clock_from_before_it_was_given_ends_a_grant_with_an_end() {
    let fixture = fixture();
    let store = fixture.store('A');
    store.add(new_grant("git push", until(TWO))).unwrap();
    store.add(new_grant("git pull", GrantFor::Project)).unwrap();
    fixture.clock.set("2026-01-01T12:00:00.000Z");
    let later = fixture.store('B');
    assert_eq!(patterns(&later), ["git pull"]);
    // When the clock is right again it counts again, without any change of the file.
    fixture.clock.set(ONE);
    assert_eq!(patterns(&later), ["git push", "git pull"]);
}

#[test]
fn a_grant_that_ends_before_it_begins_is_none() {
    let fixture = fixture();
    let store = fixture.store('A');
    for (lasts, expected) in [
        (until(NOON), "`2026-01-02T12:00:00.000Z` is over"),
        (GrantFor::Uses { n: 0 }, "a grant for no use at all"),
    ] {
        let error = store.add(new_grant("git push", lasts)).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    let mut none = new_grant("git push", GrantFor::Project);
    none.rules.clear();
    let error = store.add(none).unwrap_err().to_string();
    assert!(error.contains("1 to 256 rules"), "{error}");
    assert_eq!(store.list(), []);
}

#[test]
fn there_is_an_end_to_grants() {
    let fixture = fixture();
    let store = fixture.store('A');
    let template = store.add(new_grant("git push", GrantFor::Project)).unwrap();
    let mut text = String::new();
    for n in 0..MAX_GRANTS {
        let grant = Grant {
            id: GrantId::new(format!("grant-{n}")),
            ..template.clone()
        };
        let record = Record::new(store.project.clone(), session('A'), grant);
        text.push_str(&record.line().unwrap());
        text.push('\n');
    }
    fs::write(fixture.file(), text).unwrap();
    assert_eq!(store.list().len(), MAX_GRANTS);
    let error = store
        .add(new_grant("git push", GrantFor::Project))
        .unwrap_err();
    assert!(matches!(error, GrantError::Full), "{error}");
    assert!(error.help().unwrap().contains("podward grants revoke"));
    store.revoke(&GrantId::new("grant-7")).unwrap();
    store.add(new_grant("git push", GrantFor::Project)).unwrap();
}

#[test]
fn what_changed_is_told_once() {
    let fixture = fixture();
    let (one, other) = (fixture.store('A'), fixture.store('B'));
    assert_eq!(one.changes(), []);
    let push = other.add(new_grant("git push", GrantFor::Project)).unwrap();
    let ends = one.add(new_grant("git pull", until(ONE))).unwrap();
    let used = one
        .add(new_grant("git gc", GrantFor::Uses { n: 1 }))
        .unwrap();
    let added = |grant: &Grant| GrantChange::Added(Box::new(grant.clone()));
    assert_eq!(one.changes(), [added(&push), added(&ends), added(&used)]);
    assert_eq!(one.changes(), []);
    assert!(take_use(&other, &used.id).unwrap());
    other.revoke(&push.id).unwrap();
    fixture.clock.set(ONE);
    one.look();
    let mut changes = one.changes();
    changes.sort_by_key(|change| match change {
        GrantChange::Added(_) => 0,
        GrantChange::Ended { reason, .. } => 1 + *reason as u8,
    });
    let ended = |grant: &Grant, reason| GrantChange::Ended {
        id: grant.id.clone(),
        reason,
    };
    assert_eq!(
        changes,
        [
            ended(&push, GrantEnd::Revoked),
            ended(&ends, GrantEnd::Expired),
            ended(&used, GrantEnd::UsedUp),
        ]
    );
}

/// What people are told has failed does not count, here and for whoever comes later.
#[test]
fn what_the_directory_did_not_keep_does_not_count() {
    let fixture = fixture();
    let store = fixture.store('A');
    let refused = |store: &GrantStore, counted: &GrantId, other: &GrantId, before: &str| {
        let errors = [
            store
                .add(new_grant("git gc", GrantFor::Project))
                .map(drop)
                .unwrap_err(),
            take_use(store, counted).map(drop).unwrap_err(),
            store.revoke(other).map(drop).unwrap_err(),
        ];
        for error in errors {
            assert!(error.to_string().starts_with("cannot write"), "{error}");
        }
        assert_eq!(fixture.text(), before);
        assert_eq!(patterns(store), ["git push", "git pull"]);
        assert_eq!(patterns(&fixture.store('B')), ["git push", "git pull"]);
    };
    {
        // The first grant of all: no file is left.
        let _faults = Faults::of(&[(Step::Sync, Errno::IO)]);
        store
            .add(new_grant("git gc", GrantFor::Project))
            .unwrap_err();
        assert_eq!(store.list(), []);
        assert_eq!(
            GrantFile::all(&directory(&fixture.places)).unwrap().len(),
            0
        );
    }
    let uses = GrantFor::Uses { n: 2 };
    let counted = store.add(new_grant("git push", uses)).unwrap().id;
    let other = store.add(new_grant("git pull", GrantFor::Project)).unwrap();
    let before = fixture.text();
    for exchange in [None, Some((Step::Exchange, Errno::INVAL))] {
        let steps = [(Step::Sync, Errno::IO)].into_iter().chain(exchange);
        let faults = Faults::of(&steps.collect::<Vec<_>>());
        refused(&store, &counted, &other.id, &before);
        drop(faults);
        assert_eq!(store.list()[0].uses_left, Some(2));
    }
    assert!(take_use(&store, &counted).unwrap());
    assert!(store.revoke(&other.id).unwrap());
    assert_eq!(patterns(&fixture.store('B')), ["git push"]);
}

/// Where nobody knows what the file says, nothing counts until the disk has it.
#[test]
fn nothing_counts_while_nobody_knows_what_the_disk_keeps() {
    let fixture = fixture();
    let store = fixture.store('A');
    store.add(new_grant("git push", GrantFor::Project)).unwrap();
    let faults = Faults::of(&[(Step::Sync, Errno::IO), (Step::TakeBack, Errno::IO)]);
    let error = store
        .add(new_grant("git pull", GrantFor::Project))
        .unwrap_err();
    assert!(
        error.to_string().contains("may count all the same"),
        "{error}"
    );
    assert_eq!(gate_patterns(&store), Some(vec![]));
    assert_eq!(store.list(), []);
    drop(faults);
    assert_eq!(patterns(&store), ["git push", "git pull"]);
}

/// Each is skipped alone, named, and kept as it is.
#[test]
fn a_broken_line_is_skipped_alone() {
    let fixture = fixture();
    let store = fixture.store('A');
    let first = store.add(new_grant("git push", GrantFor::Project)).unwrap();
    store.add(new_grant("git pull", GrantFor::Project)).unwrap();
    let path = fixture.file();
    let good: Vec<String> = fixture.text().lines().map(str::to_owned).collect();
    let later = r#"{"format":2,"shape":["of","tomorrow"]}"#;
    let odd: Vec<String> = vec![
        "not json".to_owned(),
        good[0].replacen("git push", "git pusj", 1),
        later.to_owned(),
        good[0].clone(),
        good[1].get(..40).unwrap().to_owned(),
        good[0].replacen("\"format\":1", "\"format\":1,\"more\":1", 1),
        String::new(),
        "\u{1b}[31m\u{ff}".to_owned(),
    ];
    let mut lines = vec![good[0].clone()];
    lines.extend(odd.iter().cloned());
    lines.push(good[1].clone());
    let text = lines.join("\n") + "\n";
    fs::write(&path, &text).unwrap();
    let (opened, problems) = fixture.open('B');
    assert_eq!(patterns(&opened), ["git push", "git pull"]);
    let at: Vec<_> = problems
        .iter()
        .map(|problem| problem.line.unwrap())
        .collect();
    assert_eq!(at, [2, 3, 4, 5, 6, 7, 8, 9]);
    let shown: Vec<_> = problems.iter().map(ToString::to_string).collect();
    let start = format!("{}:3: this grant does not count: ", path.display());
    assert_eq!(
        shown[1],
        format!("{start}it was changed by something other than podward")
    );
    assert!(shown[2].ends_with("it has format 2, this podward reads 1"));
    assert!(shown[3].ends_with("its id stands in an earlier line"));
    assert!(shown.iter().all(|line| !line.contains('\u{1b}')));
    // A change leaves them where they are.
    assert!(opened.revoke(&first.id).unwrap());
    assert_eq!(fixture.text(), lines[1..].join("\n") + "\n");
}

#[test]
fn a_line_without_its_end_does_not_count() {
    let fixture = fixture();
    let store = fixture.store('A');
    store.add(new_grant("git push", GrantFor::Project)).unwrap();
    let text = fixture.text();
    fs::write(fixture.file(), text.trim_end()).unwrap();
    let (opened, problems) = fixture.open('B');
    assert_eq!(patterns(&opened), Vec::<String>::new());
    assert!(problems[0].why.contains("newline"), "{problems:?}");
    // What is added next stands in a line of its own.
    opened
        .add(new_grant("git pull", GrantFor::Project))
        .unwrap();
    assert_eq!(fixture.text().lines().count(), 2);
}

#[test]
fn a_file_of_another_workspace_grants_nothing_here() {
    let fixture = fixture();
    let store = fixture.store('A');
    store.add(new_grant("git push", GrantFor::Project)).unwrap();
    let other = fixture.root.path().canonicalize().unwrap();
    let other = GrantFile::of(&directory(&fixture.places), other.to_str().unwrap());
    fs::copy(fixture.file(), other.path()).unwrap();
    fs::set_permissions(other.path(), fs::Permissions::from_mode(0o600)).unwrap();
    let (opened, problems) = GrantStore::open(
        &fixture.places,
        fixture.root.path(),
        &session('A'),
        fixture.clock.clone(),
    )
    .unwrap();
    assert_eq!(opened.list(), []);
    assert_eq!(problems[0].why, "it belongs to another workspace");
}

/// Whoever could have written it could have granted anything; whoever can read it need not.
#[test]
fn a_file_that_is_open_to_others_grants_nothing() {
    let fixture = fixture();
    let store = fixture.store('A');
    let grant = store.add(new_grant("git push", GrantFor::Project)).unwrap();
    let path = fixture.file();
    let is_refused = |what: &str| {
        let (opened, problems) = fixture.open('B');
        assert_eq!(opened.list(), [], "{what}");
        assert_eq!(problems.len(), 1, "{what}");
        assert_eq!(problems[0].line, None, "{what}");
        // A store that was open before gives nothing either, and nobody writes to it.
        assert_eq!(store.list(), [], "{what}");
        let id = podward_gate::GrantId::new(grant.id.as_str()).unwrap();
        assert!(store.take(&[id]).is_err());
        store
            .add(new_grant("git pull", GrantFor::Project))
            .unwrap_err();
        store.revoke(&grant.id).unwrap_err();
    };
    let chmod = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    for mode in [0o644, 0o660, 0o602, 0o601, 0o640, 0o666] {
        chmod(&path, mode);
        is_refused(&format!("{mode:o}"));
    }
    chmod(&path, 0o600);
    let grants = directory(&fixture.places);
    for mode in [0o755, 0o770, 0o701] {
        assert_eq!(patterns(&store), ["git push"]);
        chmod(&grants, mode);
        is_refused(&format!("directory {mode:o}"));
        stored_grants(&fixture.places, fixture.clock.as_ref()).unwrap_err();
        chmod(&grants, 0o700);
    }
    let second = fixture.root.path().join("second");
    fs::hard_link(&path, &second).unwrap();
    is_refused("another name");
    fs::remove_file(&second).unwrap();
    fs::rename(&path, &second).unwrap();
    symlink(&second, &path).unwrap();
    is_refused("a link");
    fs::remove_file(&path).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &path,
        rustix::fs::FileType::Fifo,
        0o600.into(),
        0,
    )
    .unwrap();
    is_refused("a pipe");
    fs::remove_file(&path).unwrap();
    fs::rename(&second, &path).unwrap();
    // All is well again.
    assert_eq!(patterns(&store), ["git push"]);
    let elsewhere = fixture.root.path().join("elsewhere");
    fs::rename(&grants, &elsewhere).unwrap();
    symlink(&elsewhere, &grants).unwrap();
    is_refused("a link to the directory");
}

#[test]
fn a_file_of_somebody_else_grants_nothing() {
    if !rustix::process::geteuid().is_root() {
        // Only root can give a file away: one of root's own does for everybody else.
        let root = Path::new("/");
        let error = crate::private::check_private(root, &root.metadata().unwrap()).unwrap_err();
        assert!(error.to_string().contains("another user"), "{error}");
        return;
    }
    let fixture = fixture();
    let store = fixture.store('A');
    store.add(new_grant("git push", GrantFor::Project)).unwrap();
    let owner = Some(crate::test_user::OTHER_ID);
    std::os::unix::fs::chown(fixture.file(), owner, None).unwrap();
    let (opened, problems) = fixture.open('B');
    assert_eq!(opened.list(), []);
    assert!(problems[0].why.contains("another user"), "{problems:?}");
}

#[test]
fn what_is_written_is_the_users_alone() {
    let fixture = fixture();
    let store = fixture.store('A');
    store.add(new_grant("git push", GrantFor::Project)).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    let grants = directory(&fixture.places);
    assert_eq!(mode(&grants), 0o700);
    for entry in fs::read_dir(&grants).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

#[test]
fn nothing_is_made_before_there_is_a_grant() {
    let fixture = fixture();
    let store = fixture.store('A');
    assert_eq!(store.list(), []);
    assert!(!directory(&fixture.places).exists());
    assert!(
        stored_grants(&fixture.places, fixture.clock.as_ref())
            .unwrap()
            .is_empty()
    );
    assert_eq!(
        revoke_all(&fixture.places, None).unwrap(),
        Revoked::default()
    );
}

#[test]
fn grants_of_all_workspaces_are_found_by_the_front_of_their_id() {
    let fixture = fixture();
    let store = fixture.store('A');
    let push = store.add(new_grant("git push", GrantFor::Session)).unwrap();
    let (other, _) = GrantStore::open(
        &fixture.places,
        fixture.root.path(),
        &session('B'),
        fixture.clock.clone(),
    )
    .unwrap();
    let pull = other.add(new_grant("git pull", until(ONE))).unwrap();
    let clock = fixture.clock.as_ref();
    let find = |prefix: &str| find_grant(&fixture.places, clock, prefix);
    let found = find(&push.id.as_str().to_lowercase()).unwrap();
    assert_eq!(found.grant, push);
    assert_eq!(found.only_in(), Some(&session('A')));
    assert_eq!(found.workspace, store.project);
    let front = push.id.as_str().get(..8).unwrap();
    match find(front).unwrap_err() {
        GrantNotFound::Several { candidates, .. } => assert_eq!(candidates.len(), 2),
        other => panic!("{other}"),
    }
    for none in ["", "x", "01M8MVW7Z"] {
        assert!(
            matches!(find(none), Err(GrantNotFound::None { .. })),
            "{none}"
        );
    }
    let revoked = revoke_grant(&fixture.places, clock, pull.id.as_str()).unwrap();
    assert_eq!(revoked.grant, pull);
    assert_eq!(other.list(), []);
    assert_eq!(patterns(&store), ["git push"]);
    let revoked = revoke_all(&fixture.places, Some(&store.project)).unwrap();
    assert_eq!(revoked.grants, [push.id]);
    assert_eq!(store.list(), []);
}

#[test]
fn taking_back_all_also_removes_what_does_not_count() {
    let fixture = fixture();
    let store = fixture.store('A');
    let grant = store.add(new_grant("git push", GrantFor::Project)).unwrap();
    fs::write(fixture.file(), format!("odd\n{}", fixture.text())).unwrap();
    let revoked = revoke_all(&fixture.places, None).unwrap();
    let expected = Revoked {
        grants: vec![grant.id],
        n_others: 1,
    };
    assert_eq!(revoked, expected);
    assert_eq!(fixture.text(), "");
}
