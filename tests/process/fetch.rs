//! `web_fetch` in a network of its own: a real name server whose answers change, real servers at
//! public and at inner addresses, and the program between them.

mod network;

use std::net::Ipv4Addr;

use serde_json::{Value, json};

use self::network::{Network, inside};
use crate::sandbox::Sandbox;
use crate::serving::{Client, Pod, WAITS};
use crate::session_files::{Ending, decisions, exchanges};

/// Stands for a server of the public internet.
const PUBLIC: Ipv4Addr = Ipv4Addr::new(93, 184, 216, 34);
/// A server that nobody outside may reach.
const INNER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 5);
/// Where clouds keep credentials.
const METADATA: Ipv4Addr = Ipv4Addr::new(169, 254, 169, 254);

const ALL_URLS: &str = "[permissions]\ndefault_action = \"deny\"\n\
    rule = [{ tool = \"web_fetch\", pattern = \"*\", action = \"allow\" }]\n";

/// What became of one fetch.
struct Fetched {
    text: String,
    is_error: bool,
}

/// Fetches URLs one after the other, under these rules; also the decision log.
fn fetch(urls: &[&str], permissions: &str) -> (Vec<Fetched>, Vec<Value>) {
    let sandbox = Sandbox::new();
    let mut script = String::new();
    for url in urls {
        script += &format!(
            "[[step]]\n[[step.call]]\ntool = \"web_fetch\"\ninput = {{ url = \"{url}\" }}\n"
        );
    }
    script += "[[step]]\ntext = \"Done.\"\n";
    let pod = sandbox.pod(&script, permissions);
    let ran = sandbox.run(&["run", pod.to_str().unwrap(), "go"]);
    assert!(
        ran.stdout.ends_with("Done.\n") || ran.stdout.ends_with("Done."),
        "{ran:#?}"
    );
    let session = sandbox.session();
    let fetched = exchanges(&session, Ending::Written)
        .into_iter()
        .map(|exchange| Fetched {
            text: exchange.content,
            is_error: exchange.is_error,
        })
        .collect();
    (fetched, decisions(&session))
}

#[track_caller]
fn refused(fetched: &Fetched, words: &[&str]) {
    assert!(fetched.is_error, "{}", fetched.text);
    for words in words {
        assert!(fetched.text.contains(words), "`{words}`: {}", fetched.text);
    }
}

#[test]
fn a_name_that_is_bound_anew_never_leads_to_an_inner_server() {
    inside(
        "fetch::a_name_that_is_bound_anew_never_leads_to_an_inner_server",
        || {
            let network = Network::new(&[PUBLIC, INNER, Ipv4Addr::LOCALHOST]);
            let answers = [
                vec![PUBLIC],
                vec![INNER],
                vec![Ipv4Addr::LOCALHOST],
                vec![PUBLIC, INNER],
                vec![PUBLIC],
                vec![INNER],
            ];
            network.name("rebind.test", &answers);
            let (fetched, log) = fetch(
                &[
                    "http://rebind.test/1",
                    "http://rebind.test/2",
                    "http://rebind.test/3",
                    "http://rebind.test/4",
                    "http://rebind.test/to/http://rebind.test/5",
                ],
                ALL_URLS,
            );
            assert!(
                fetched[0].text.ends_with("/1 at 93.184.216.34"),
                "{}",
                fetched[0].text
            );
            let leads = "which is not an address of the public internet";
            refused(&fetched[1], &["leads to 10.0.0.5", leads, "Refused"]);
            refused(&fetched[2], &["leads to 127.0.0.1", leads, "Refused"]);
            refused(&fetched[3], &["leads to 10.0.0.5", leads, "Refused"]);
            refused(
                &fetched[4],
                &["[redirected by", "leads to 10.0.0.5", leads, "Refused"],
            );
            // One look-up for each hop, and a connection only to what it said.
            assert_eq!(network.n_looked_up("rebind.test"), 6);
            assert_eq!(
                network.requests(),
                [
                    "93.184.216.34 rebind.test /1",
                    "93.184.216.34 rebind.test /to/http://rebind.test/5",
                ]
            );
            let further: Vec<&Value> = log
                .iter()
                .filter(|line| line["part_of"].is_string())
                .collect();
            let verdicts: Vec<(&str, &str)> = further
                .iter()
                .map(|line| {
                    (
                        line["call"].as_str().unwrap(),
                        line["outcome"].as_str().unwrap(),
                    )
                })
                .map(|(call, outcome)| (call.split('-').nth(1).unwrap(), outcome))
                .collect();
            assert_eq!(
                verdicts,
                [
                    ("address", "refuse"),
                    ("address", "refuse"),
                    ("address", "refuse"),
                    ("redirect", "run"),
                    ("address", "refuse"),
                ]
            );
            assert_eq!(further[0]["arguments"]["addresses"], json!(["10.0.0.5"]));
        },
    );
}

#[test]
fn each_redirect_is_judged_like_a_call_of_its_own() {
    inside(
        "fetch::each_redirect_is_judged_like_a_call_of_its_own",
        || {
            let network = Network::new(&[PUBLIC, INNER, METADATA]);
            for name in ["a.test", "denied.test", "asked.test", "good.test"] {
                network.name(name, &[vec![PUBLIC]]);
            }
            network.name("inner.test", &[vec![INNER]]);
            let rules = "[permissions]\ndefault_action = \"deny\"\nrule = [\n\
            { tool = \"web_fetch\", pattern = \"http://denied.test/*\", action = \"deny\", message = \"not there\" },\n\
            { tool = \"web_fetch\", pattern = \"http://asked.test/*\", action = \"ask\" },\n\
            { tool = \"web_fetch\", pattern = \"*\", action = \"allow\" }]\n";
            let (fetched, log) = fetch(
                &[
                    "http://a.test/to/http://good.test/x",
                    "http://a.test/to/http://denied.test/x",
                    "http://a.test/to/http://asked.test/x",
                    "http://a.test/to/http://10.0.0.5/x",
                    "http://a.test/to/http://169.254.169.254/latest/meta-data/",
                    "http://a.test/to/http://[::ffff:10.0.0.5]/x",
                    "http://a.test/to/http://inner.test/x",
                    "http://a.test/to/http://localhost/x",
                    "http://a.test/to/file:///etc/passwd",
                    "http://a.test/loop",
                    "http://a.test/chain/11",
                    "http://a.test/chain/10",
                ],
                rules,
            );
            assert!(
                fetched[0].text.contains("/x at 93.184.216.34"),
                "{}",
                fetched[0].text
            );
            refused(
                &fetched[1],
                &["was not followed", "denied.test", "not there"],
            );
            refused(
                &fetched[2],
                &["was not followed", "Nobody is there to approve it"],
            );
            for fetched in &fetched[3..8] {
                refused(
                    fetched,
                    &["which is not an address of the public internet", "Refused"],
                );
            }
            refused(
                &fetched[8],
                &["file:///etc/passwd", "`http` and `https` only"],
            );
            refused(&fetched[9], &["a loop"]);
            refused(&fetched[10], &["after 10 redirects no more are followed"]);
            assert!(!fetched[11].is_error, "{}", fetched[11].text);
            let requests = network.requests();
            assert!(
                requests
                    .iter()
                    .all(|request| request.starts_with("93.184.216.34 ")
                        && !request.contains("denied.test /")
                        && !request.contains("asked.test /")),
                "{requests:#?}"
            );
            let asked: Vec<(&Value, &Value)> = log
                .iter()
                .filter(|line| line["arguments"]["url"] == "http://asked.test/x")
                .map(|line| (&line["outcome"], &line["refusal"]["kind"]))
                .collect();
            assert_eq!(
                asked,
                [
                    (&json!("ask"), &Value::Null),
                    (&json!("refuse"), &json!("no_client"))
                ]
            );
            // A number of redirects is a number of lines.
            let n_hops = log
                .iter()
                .filter(|line| line["part_of"] == log.last().unwrap()["part_of"])
                .count();
            assert_eq!(n_hops, 10);
        },
    );
}

#[test]
fn an_inner_address_that_a_rule_names_is_reached_by_its_name() {
    inside(
        "fetch::an_inner_address_that_a_rule_names_is_reached_by_its_name",
        || {
            let network = Network::new(&[PUBLIC, INNER]);
            network.name("wiki.test", &[vec![INNER]]);
            let rules = "[permissions]\ndefault_action = \"deny\"\nrule = [\n\
            { tool = \"web_fetch\", pattern = \"http://wiki.test/*\", action = \"allow\" },\n\
            { tool = \"web_fetch\", pattern = \"http://10.*/*\", action = \"allow\" }]\n";
            let (fetched, log) = fetch(&["http://wiki.test/page"], rules);
            assert!(
                fetched[0].text.contains("/page at 10.0.0.5"),
                "{}",
                fetched[0].text
            );
            assert_eq!(network.requests(), ["10.0.0.5 wiki.test /page"]);
            let outcomes: Vec<&Value> = log.iter().map(|line| &line["outcome"]).collect();
            assert_eq!(outcomes, [&json!("run"), &json!("run")]);
            assert_eq!(log[1]["operations"][0]["need"], "named");
            assert_eq!(log[1]["operations"][0]["text"], "http://10.0.0.5/page");
            assert_eq!(log[1]["replayable"], false);
        },
    );
}

#[test]
fn an_address_that_was_allowed_for_one_url_is_judged_again_for_the_next() {
    inside(
        "fetch::an_address_that_was_allowed_for_one_url_is_judged_again_for_the_next",
        || {
            let network = Network::new(&[PUBLIC, INNER]);
            network.name("wiki.test", &[vec![INNER]]);
            let rules = "[permissions]\ndefault_action = \"deny\"\nrule = [\n\
            { tool = \"web_fetch\", pattern = \"http://wiki.test/*\", action = \"allow\" },\n\
            { tool = \"web_fetch\", pattern = \"http://10.0.0.5/to/*\", action = \"allow\" }]\n";
            let urls = [
                "http://wiki.test/to/http://wiki.test/inner",
                "http://10.0.0.5/to/http://wiki.test/inner",
            ];
            let (fetched, _) = fetch(&urls, rules);
            for fetched in &fetched {
                refused(fetched, &["[redirected by", "leads to 10.0.0.5", "Refused"]);
            }
            // Where the call's own URL spells the address, a redirect may spell it too.
            let (fetched, _) = fetch(&["http://10.0.0.5/to/http://10.0.0.5/page"], ALL_URLS);
            assert!(
                fetched[0].text.contains("/page at 10.0.0.5"),
                "{}",
                fetched[0].text
            );
            assert_eq!(
                network.requests(),
                [
                    "10.0.0.5 wiki.test /to/http://wiki.test/inner",
                    "10.0.0.5 10.0.0.5 /to/http://wiki.test/inner",
                    "10.0.0.5 10.0.0.5 /to/http://10.0.0.5/page",
                    "10.0.0.5 10.0.0.5 /page",
                ]
            );
        },
    );
}

/// A redirect that nobody could be asked about: the rule that is told for it lets the same call through.
#[test]
fn a_redirect_that_nobody_answers_has_its_rule_told_and_listed() {
    inside(
        "fetch::a_redirect_that_nobody_answers_has_its_rule_told_and_listed",
        || {
            let network = Network::new(&[PUBLIC]);
            for name in ["a.test", "asked.test"] {
                network.name(name, &[vec![PUBLIC]]);
            }
            let sandbox = Sandbox::new();
            let script = "[[step]]\n[[step.call]]\ntool = \"web_fetch\"\n\
                input = { url = \"http://a.test/to/http://asked.test/x\" }\n\
                [[step]]\ntext = \"Done.\"\n";
            let rules = |more: &str| {
                format!(
                    "[permissions]\ndefault_action = \"ask\"\n{more}[[permissions.rule]]\n\
                     tool = \"web_fetch\"\npattern = \"http://a.test/*\"\naction = \"allow\"\n"
                )
            };
            let pod = sandbox.pod(script, &rules(""));
            let arguments = ["run", pod.to_str().unwrap(), "go", "--format", "json"];
            let ran = sandbox.run(&arguments).exits(10);
            let lines = ran.json_lines();
            let refused = lines
                .iter()
                .find(|line| line["data"]["refusal"].is_object())
                .unwrap();
            assert_eq!(refused["event"], "tool_call_verdict");
            assert_eq!(refused["data"]["part_of"], "call_1_1", "{refused}");
            let allowed_by = &refused["data"]["allowed_by"];
            assert_eq!(allowed_by["kind"], "rules", "{refused}");
            assert_eq!(allowed_by["rules"][0]["pattern"], "http://asked.test/x");
            let listed = crate::headless::rules(&ran);
            sandbox.pod(script, &rules(&listed));
            sandbox.run(&arguments).exits(0);
        },
    );
}

/// Who is asked about the new address sees which one leads there.
#[test]
fn a_question_about_a_redirect_says_where_it_comes_from() {
    inside(
        "fetch::a_question_about_a_redirect_says_where_it_comes_from",
        || {
            let network = Network::new(&[PUBLIC]);
            for name in ["a.test", "asked.test"] {
                network.name(name, &[vec![PUBLIC]]);
            }
            let sandbox = Sandbox::new();
            let script = "[[step]]\n[[step.call]]\ntool = \"web_fetch\"\n\
                input = { url = \"http://a.test/to/http://asked.test/x\" }\n\
                [[step]]\ntext = \"Done.\"\n";
            let rules = format!(
                "[permissions]\ndefault_action = \"allow\"\n{WAITS}[[permissions.rule]]\n\
                 tool = \"web_fetch\"\npattern = \"http://asked.test/*\"\naction = \"ask\"\n"
            );
            let pod = Pod::serve(&sandbox, &sandbox.pod(script, &rules));
            let mut client = Client::approver(&pod, "tester");
            client.run("go");
            let request = client.request();
            let from = "http://a.test/to/http://asked.test/x";
            assert_eq!(request["redirected_from"], json!([from]), "{request}");
            let shown = sandbox.run(&["pending", "test"]).exits(0).stdout;
            let row = format!("  from    {from}, which redirects\n");
            assert!(shown.contains(&row), "{shown}");
            client.reply(&request, json!({"kind": "once"})).unwrap();
            let finished = client.event("tool_call_finished");
            let content = finished["content"].as_str().unwrap();
            assert!(content.ends_with("/x at 93.184.216.34"), "{content}");
        },
    );
}

#[test]
fn an_address_that_no_rule_names_is_told_as_the_cause() {
    inside(
        "fetch::an_address_that_no_rule_names_is_told_as_the_cause",
        || {
            let network = Network::new(&[PUBLIC, INNER]);
            network.name("wiki.test", &[vec![INNER]]);
            for default in ["deny", "ask", "allow"] {
                let rules = ALL_URLS.replace("\"deny\"", &format!("\"{default}\""));
                let (fetched, log) = fetch(&["http://wiki.test/page"], &rules);
                assert!(fetched[0].is_error, "{default}");
                assert_eq!(log[0]["outcome"], "run", "{default}");
                let (verdict, cause) = match default {
                    "allow" => ("ask", "unnamed"),
                    default => (default, "default"),
                };
                assert_eq!(log[1]["verdict"]["verdict"], verdict, "{log:#?}");
                assert_eq!(log[1]["verdict"]["cause"]["kind"], cause, "{log:#?}");
                assert_eq!(log[1]["verdict"]["cause"]["layer"], "manifest", "{log:#?}");
            }
            assert!(network.requests().is_empty());
        },
    );
}
