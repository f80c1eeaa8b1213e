//! Approvals that are remembered: what they cover later, and how they are saved.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::{has, kinds, once, reject, turn, until_the_end};
use crate::sandbox::Sandbox;
use crate::serving::{Client, Pod, asks, step};
use crate::session_files::{decisions, mode_of};

/// What a grant covers is not asked about; a grant that is revoked while the question is open counts
/// no more for it.
#[test]
fn an_always_covers_a_line_together_with_that_of_an_earlier_part() {
    let always = || json!({"kind": "always", "width": 0, "for": {"kind": "project"}});
    let parts = |request: &Value| {
        let asking = request["asking"].as_array().unwrap().iter();
        let texts = asking.map(|one| {
            let place = usize::try_from(one["operation"].as_u64().unwrap()).unwrap();
            request["operations"][place]["text"]
                .as_str()
                .unwrap()
                .to_owned()
        });
        texts.collect::<Vec<_>>()
    };
    let saved = |request: &Value| {
        let parts = request["choices"][0]["parts"].as_array().unwrap().iter();
        parts
            .map(|part| part["pattern"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    for by_the_pod in [true, false] {
        let sandbox = Sandbox::new();
        let line = "touch a.txt && touch b.txt";
        let script = step(&["touch a.txt"]) + &step(&[line]) + &step(&[line]);
        let (pod, mut client) = turn(&sandbox, &script, "");
        let first = client.request();
        let settled = client.reply(&first, always()).unwrap();
        let grant = settled[0]["outcome"]["grants"][0].clone();
        let shown = client.request();
        assert_eq!(shown["arguments"]["command"], line);
        assert_eq!(
            (parts(&shown), saved(&shown)),
            (
                vec!["touch b.txt".to_owned()],
                vec!["touch b.txt".to_owned()]
            )
        );
        assert_eq!(
            shown["ruling"]["operation"],
            shown["asking"][0]["operation"]
        );
        if by_the_pod {
            client.call("grants_revoke", json!({"id": grant})).unwrap();
        } else {
            let id = grant.as_str().unwrap();
            sandbox.run(&["grants", "revoke", id]).exits(0);
            // Nobody has told the pod; it looks before it takes an answer.
            let late = client.reply(&shown, always()).unwrap_err();
            assert_eq!(late["code"], "digest_mismatch");
        }
        let anew = client.request();
        assert_eq!(anew["id"], shown["id"]);
        assert_eq!(client.open(), [anew["id"].clone()]);
        assert_eq!(parts(&anew), ["touch a.txt", "touch b.txt"]);
        for answer in [always(), once()] {
            let late = client.reply(&shown, answer).unwrap_err();
            assert_eq!(late["code"], "digest_mismatch");
        }
        assert!(!has(&sandbox, "b.txt"), "nothing was approved");
        assert_eq!(decisions(&pod.session).len(), 3);
        client.reply(&anew, always()).unwrap();
        client.event("turn_ended");
        assert!(has(&sandbox, "b.txt"));
        let log = decisions(&pod.session);
        assert_eq!(
            log.last().unwrap()["by"]["kind"],
            "grants",
            "the third time by the grant"
        );
    }
}

#[test]
fn always_is_not_asked_again_in_this_session_nor_in_the_next() {
    let sandbox = Sandbox::new();
    let script = step(&["touch a"]) + &step(&["touch b"]) + &step(&["mkdir c"]);
    let (pod, mut client) = turn(&sandbox, &script, "");
    let request = client.request();
    let offered: Vec<&str> = request["choices"]
        .as_array()
        .unwrap()
        .iter()
        .map(|choice| choice["parts"][0]["pattern"].as_str().unwrap())
        .collect();
    let width = offered.iter().position(|pattern| *pattern == "touch *");
    let width = width.unwrap_or_else(|| panic!("{offered:?}"));
    let always = json!({"kind": "always", "width": width, "for": {"kind": "project"}});
    let settled = client.reply(&request, always).unwrap();
    assert_eq!(kinds(&settled), ["approved_always"]);
    let grant = client.event("grant_added")["grant"].clone();
    assert_eq!(grant["id"], settled[0]["outcome"]["grants"][0]);
    // The next question is about something else.
    let other = client.request();
    assert_eq!(other["arguments"]["command"], "mkdir c");
    assert!(has(&sandbox, "a") && has(&sandbox, "b"));
    client.reply(&other, reject()).unwrap();
    client.event("turn_ended");
    assert!(!has(&sandbox, "c"));
    let by: Vec<Value> = decisions(&pod.session)
        .iter()
        .map(|line| line["by"]["kind"].clone())
        .collect();
    assert!(by.contains(&"grants".into()), "{by:?}");

    let folder = sandbox.path("state/podward/grants");
    assert_eq!(mode_of(&folder), 0o700);
    let files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "jsonl")
        })
        .collect();
    assert_eq!(files.len(), 1, "{files:?}");
    assert_eq!(mode_of(&files[0]), 0o600);
    let text = std::fs::read_to_string(&files[0]).unwrap();
    let entry: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&entry["id"], &entry["by"], &entry["rules"][0]["pattern"]),
        (&grant["id"], &"tester".into(), &"touch *".into())
    );

    client.call("stop", json!({})).unwrap();
    assert_eq!(pod.ends(), Some(0));
    let (_pod, mut next) = turn(&sandbox, &step(&["touch d"]), "");
    let names = until_the_end(&mut next);
    assert!(
        !names.contains(&"permission_request".to_owned()),
        "{names:?}"
    );
    assert!(has(&sandbox, "d"));
}

/// The uses that are left of each grant on disk.
fn uses_left(sandbox: &Sandbox) -> Vec<Value> {
    let files = std::fs::read_dir(sandbox.path("state/podward/grants")).unwrap();
    let paths = files.map(|entry| entry.unwrap().path());
    let texts = paths
        .filter(|path| path.extension().is_some_and(|it| it == "jsonl"))
        .map(|path| std::fs::read_to_string(path).unwrap());
    let lines: Vec<Value> = texts
        .flat_map(|text| {
            let parsed = text.lines().map(|line| serde_json::from_str(line).unwrap());
            parsed.collect::<Vec<Value>>()
        })
        .collect();
    lines.iter().map(|line| line["uses_left"].clone()).collect()
}

/// The call that was answered takes none of them.
#[test]
fn an_always_for_some_uses_lets_as_many_later_calls_run() {
    for n_uses in 1..=3_usize {
        let sandbox = Sandbox::new();
        let each = |n: usize| step(&[&format!("touch {n}")]) + &step(&[&format!("mkdir d{n}")]);
        let later: String = (1..=n_uses).map(each).collect();
        let script = step(&["touch first"]) + &later + &step(&["touch last"]);
        let (pod, mut client) = turn(&sandbox, &script, "");
        let always = json!({
            "kind": "always",
            "patterns": [{"operation": 0, "pattern": "touch *"}],
            "for": {"kind": "uses", "n": n_uses},
        });
        let first = client.request();
        client.reply(&first, always).unwrap();
        for n in 1..=n_uses {
            let between = client.request();
            let command = format!("mkdir d{n}");
            assert_eq!(between["arguments"]["command"], *command, "of {n_uses}");
            assert!(has(&sandbox, &n.to_string()));
            assert_eq!(uses_left(&sandbox), [json!(n_uses - n)]);
            client.reply(&between, once()).unwrap();
        }
        let last = client.request();
        assert_eq!(last["arguments"]["command"], "touch last");
        client.reply(&last, reject()).unwrap();
        client.event("turn_ended");
        assert!(!has(&sandbox, "last"));
        let log = decisions(&pod.session);
        let by_grants = log.iter().filter(|line| line["by"]["kind"] == "grants");
        assert_eq!(by_grants.count(), n_uses);
    }
}

#[test]
fn an_always_settles_what_waits_and_says_so_for_each() {
    let sandbox = Sandbox::new();
    let script = step(&["touch a", "mkdir b", "touch c"]);
    let (_pod, mut client) = turn(&sandbox, &script, "");
    let requests = [client.request(), client.request(), client.request()];
    let always = json!({
        "kind": "always",
        "patterns": [{"operation": 0, "pattern": "touch *"}],
        "for": {"kind": "session"},
    });
    let settled = client.reply(&requests[0], always).unwrap();
    let ids: Vec<&Value> = settled
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["id"])
        .collect();
    assert_eq!(ids, [&requests[0]["id"], &requests[2]["id"]], "{settled}");
    assert_eq!(kinds(&settled), ["approved_always"; 2]);
    assert_eq!(client.open(), [requests[1]["id"].clone()]);
    client.reply(&requests[1], once()).unwrap();
    client.event("turn_ended");
    assert!(["a", "b", "c"].iter().all(|name| has(&sandbox, name)));
}

/// Another process that holds the lock of the file of grants, until this is dropped.
struct Lock(std::process::Child);

impl Lock {
    fn take(sandbox: &Sandbox) -> Self {
        let grants = std::fs::read_dir(sandbox.path("state/podward/grants")).unwrap();
        let mut paths = grants.map(|entry| entry.unwrap().path());
        let path = paths.find(|path| path.extension().is_some_and(|it| it == "lock"));
        let mut child = std::process::Command::new("flock")
            .arg(path.unwrap())
            .args(["sh", "-c", "echo held; exec cat"])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut held = [0; 5];
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut held).unwrap();
        assert_eq!(&held, b"held\n");
        Self(child)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        self.0.wait().unwrap();
    }
}

/// A pod that asks about `touch b` and `mkdir c`, has a grant for `touch a`, and cannot write another:
/// the approval of `touch b` waits for the lock.
fn waits_for_the_lock(sandbox: &Sandbox) -> (Pod, Client, [Value; 2], Lock, u64) {
    let (pod, mut client) = turn(sandbox, &step(&["touch a", "touch b", "mkdir c"]), "");
    let always = json!({"kind": "always", "width": 0, "for": {"kind": "project"}});
    let first = client.request();
    let asked = [client.request(), client.request()];
    client.reply(&first, always.clone()).unwrap();
    let lock = Lock::take(sandbox);
    let waiting = client.send_reply(&asked[0], always);
    // It was heard when what comes after it is answered.
    assert_eq!(
        client.open(),
        [asked[0]["id"].clone(), asked[1]["id"].clone()]
    );
    (pod, client, asked, lock, waiting)
}

#[test]
fn an_approval_that_waits_to_be_saved_holds_up_nobody() {
    let sandbox = Sandbox::new();
    let (pod, mut client, asked, lock, waiting) = waits_for_the_lock(&sandbox);
    let mut other = Client::approver(&pod, "other");
    let settled = other.reply(&asked[1], once()).unwrap();
    assert_eq!(kinds(&settled), ["approved_once"]);
    assert_eq!(client.open(), [asked[0]["id"].clone()]);
    drop(lock);
    let mut settled = client.response(waiting).unwrap().unwrap();
    assert_eq!(kinds(&settled["settled"].take()), ["approved_always"]);
    until_the_end(&mut client);
    assert!(has(&sandbox, "b") && has(&sandbox, "c"));
}

/// Nothing is remembered that the person is told has failed.
#[test]
fn an_approval_that_came_too_late_is_not_saved() {
    let sandbox = Sandbox::new();
    let (pod, mut client, asked, lock, waiting) = waits_for_the_lock(&sandbox);
    let mut other = Client::approver(&pod, "other");
    let settled = other.reply(&asked[0], reject()).unwrap();
    assert_eq!(kinds(&settled), ["rejected"]);
    drop(lock);
    let late = client.response(waiting).unwrap().unwrap_err();
    assert_eq!(late["code"], "already_settled", "{late}");
    assert_eq!(late["data"]["by"]["name"], "other", "{late}");
    let grants = client.call("grants_list", json!({})).unwrap();
    let patterns: Vec<_> = grants["grants"]
        .as_array()
        .unwrap()
        .iter()
        .map(|grant| &grant["rules"][0]["pattern"])
        .collect();
    assert_eq!(patterns, ["touch a"]);
    other.reply(&asked[1], once()).unwrap();
    until_the_end(&mut client);
    assert!(!has(&sandbox, "b"));
}

/// Both pods work in one workspace; the other one's clients say what counts for all of its sessions.
#[test]
fn a_grant_of_another_pod_settles_what_it_covers_as_a_whole() {
    let sandbox = Sandbox::new();
    let rules = asks("").replace(
        "rule = [",
        "rule = [\n{ tool = \"bash\", pattern = \"cat *\", action = \"ask\" },",
    );
    let begun = |commands: &[&str]| {
        let pod = Pod::serve(&sandbox, &sandbox.pod(&step(commands), &rules));
        let mut client = Client::approver(&pod, "tester");
        client.run("go");
        (pod, client)
    };
    let (plain, secret) = (sandbox.work().join("n.txt"), sandbox.work().join("secret"));
    std::fs::write(&plain, "plain\n").unwrap();
    std::fs::write(&secret, "secret\n").unwrap();
    let (pod, mut client) = begun(&["touch a", "touch a && mkdir b", "cat n.txt", "mkdir c"]);
    let [whole, in_part, changed, limited] = [(); 4].map(|()| client.request());

    let (_other_pod, mut other) = begun(&["touch a", "cat n.txt", "mkdir c"]);
    std::fs::remove_file(&plain).unwrap();
    std::os::unix::fs::symlink("secret", &plain).unwrap();
    let project = json!({"kind": "project"});
    for (request, lasts) in [
        (other.request(), project.clone()),
        // The file is a link by now, so that the other pod's question is about another one.
        (other.request(), project),
        (other.request(), json!({"kind": "uses", "n": 5})),
    ] {
        let operation = request["asking"][0]["operation"].clone();
        let pattern = request["arguments"]["command"].clone();
        let patterns = json!([{"operation": operation, "pattern": pattern}]);
        let always = json!({"kind": "always", "patterns": patterns, "for": lasts});
        let _ = other.reply(&request, always);
    }
    // Whoever comes makes the pod look.
    let _onlooker = Client::onlooker(&pod, "onlooker");
    let told = client.request();
    assert_eq!(told["id"], in_part["id"]);
    let settled = client.event("permission_settled");
    assert_eq!(settled["id"], whole["id"]);
    assert_eq!(settled["outcome"]["kind"], "approved_always", "{settled}");
    let grant = settled["outcome"]["grants"][0].clone();
    assert_eq!(
        client.open(),
        [&in_part["id"], &changed["id"], &limited["id"]].map(Clone::clone)
    );
    let late = client.reply(&whole, reject()).unwrap_err();
    assert_eq!(late["code"], "already_settled", "{late}");
    let log = decisions(&pod.session);
    let by_grant = log
        .iter()
        .filter(|line| line["by"]["kind"] == "grants")
        .map(|line| (&line["call"], &line["by"]["grants"][0]));
    assert_eq!(by_grant.collect::<Vec<_>>(), [(&whole["call"], &grant)]);
    client.call("permission_reject_all", json!({})).unwrap();
    let mut finished = json!(null);
    while finished["call"] != whole["call"] {
        finished = client.event("tool_call_finished");
    }
    assert_eq!(finished["outcome"]["kind"], "done", "{finished}");
}
