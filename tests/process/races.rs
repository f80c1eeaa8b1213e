//! Of two clients that answer at the same time exactly one wins, and the other hears who did.

use std::sync::{Arc, Barrier};

use serde_json::{Value, json};

use crate::sandbox::Sandbox;
use crate::serving::{Client, Pod, WAITS, asks};
use crate::session_files::{Ending, decisions, exchanges};

/// How many races are run; `cargo xtask soak` sets more.
fn n_races() -> usize {
    std::env::var("PODWARD_RACES").map_or(50, |count| count.parse().unwrap())
}

/// Races in one session: a turn has a limit of requests, and a session is read over and over.
const RACES_PER_POD: usize = 50;

/// A call that writes down that it ran, over and over.
const SCRIPT: &str = "[[step]]\nlabel = \"again\"\n[[step.call]]\ntool = \"bash\"\n\
    input = { command = \"touch ran && echo {{prompt}} >> ran\" }\n\
    [[step]]\ntext = \"done\"\n[[step.next]]\nprompt_contains = \"\"\ngoto = \"again\"\n";

/// What one of the two got.
type Got = Result<Value, Value>;

/// Each races the other to answer; `answers` say what each wants.
fn race(racers: [Client; 2], request: &Value, answers: &[Value; 2]) -> ([Client; 2], [Got; 2]) {
    let start = Arc::new(Barrier::new(2));
    let running: Vec<_> = racers
        .into_iter()
        .zip(answers.clone())
        .map(|(mut client, answer)| {
            let (start, request) = (Arc::clone(&start), request.clone());
            std::thread::spawn(move || {
                start.wait();
                let got = client.reply(&request, answer);
                (client, got)
            })
        })
        .collect();
    let mut clients = Vec::new();
    let mut got = Vec::new();
    for racer in running {
        let (client, its) = racer.join().unwrap();
        clients.push(client);
        got.push(its);
    }
    (
        clients.try_into().unwrap_or_else(|_| unreachable!()),
        got.try_into().unwrap(),
    )
}

/// The names under which they race.
const NAMES: [&str; 2] = ["left", "right"];

#[test]
fn one_of_two_wins_each_race_and_the_call_runs_as_the_winner_said() {
    let mut n_left = n_races();
    let mut n_won = [0; 2];
    while n_left > 0 {
        let n = n_left.min(RACES_PER_POD);
        n_left -= n;
        races(n, &mut n_won);
    }
    assert_eq!(n_won[0] + n_won[1], n_races());
    println!("won: {n_won:?}");
}

fn races(n: usize, n_won: &mut [usize; 2]) {
    let sandbox = Sandbox::new();
    let manifest = sandbox.pod(SCRIPT, &asks(WAITS));
    let pod = Pod::serve(&sandbox, &manifest);
    let mut clients = NAMES.map(|name| Client::approver(&pod, name));
    let mut expected = String::new();
    for number in 0..n {
        clients[0].run(&format!("race{number}"));
        let request = clients[0].request();
        // One says yes, the other yes or no: it runs once, or not at all.
        let once = json!({"kind": "once"});
        let other = match number % 2 {
            0 => once.clone(),
            _ => json!({"kind": "reject"}),
        };
        let answers = match number % 4 {
            0 | 1 => [once, other],
            _ => [other, once],
        };
        let (back, got) = race(clients, &request, &answers);
        clients = back;
        let winner = check(&got, &answers);
        n_won[winner] += 1;
        if answers[winner]["kind"] == "once" {
            expected.push_str(&format!("race{number}\n"));
        }
        let settled = clients[0].event("permission_settled");
        assert_eq!(settled["by"]["name"], NAMES[winner]);
        assert_eq!(settled["id"], request["id"]);
        clients[0].event("turn_ended");
    }
    let ran = std::fs::read_to_string(sandbox.work().join("ran")).unwrap_or_default();
    assert_eq!(ran, expected);
    assert_eq!(exchanges(&pod.session, Ending::Written).len(), n);
    // Asked and answered: one line each, and no more.
    assert_eq!(decisions(&pod.session).len(), 2 * n);
}

/// Which of the two won; fails the test unless it is exactly one, and the other heard who.
fn check(got: &[Got; 2], answers: &[Value; 2]) -> usize {
    let winner = match got {
        [Ok(_), Err(_)] => 0,
        [Err(_), Ok(_)] => 1,
        _ => panic!("no winner, or two: {got:?}"),
    };
    let outcome = match answers[winner]["kind"].as_str() {
        Some("once") => "approved_once",
        _ => "rejected",
    };
    let (won, lost) = (&got[winner], &got[1 - winner]);
    let won = &won.as_ref().unwrap()[0];
    assert_eq!(won["outcome"]["kind"], outcome);
    let lost = lost.as_ref().unwrap_err();
    assert_eq!(lost["code"], "already_settled", "{lost}");
    assert_eq!(lost["data"]["by"]["name"], NAMES[winner], "{lost}");
    assert_eq!(lost["data"]["outcome"]["kind"], outcome, "{lost}");
    winner
}
