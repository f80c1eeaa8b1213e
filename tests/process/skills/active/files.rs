//! The own files of a skill: written by no tool; of an active one read without a question, and nothing
//! else is.

use std::fs;
use std::os::unix::fs::symlink;

use super::{READ, calls, events, id, pod, refused_by, run};
use crate::sandbox::{ALLOW_ALL, Sandbox};
use crate::serving::says;
use crate::session_files::{Ending, Exchange, decisions, exchanges};
use crate::skills::skill;

/// Everything is asked about, and nobody is there; a key is for nobody, and a log always for a person.
const ASKS: &str = r#"
[permissions]
default_action = "ask"
rule = [
    { tool = "read", pattern = "*.key", action = "deny" },
    { tool = "read", pattern = "*.log", action = "ask", grantable = false },
    { tool = "external_directory", pattern = "*", action = "ask" },
    { tool = "skill", pattern = "*", action = "allow" },
]
"#;

/// Whether a person would have had to say yes.
#[track_caller]
fn asked(exchange: &Exchange) {
    let is_asked = exchange.content.contains("Nobody is there to approve it");
    assert!(exchange.is_error && is_asked, "{exchange:#?}");
}

fn at(sandbox: &Sandbox, name: &str) -> String {
    format!("path = \"{}\"", sandbox.path(name).display())
}

type Call = (&'static str, String);

/// Skills `look` and `other`, files beside them, and links that lead out of `look` and into it.
fn lay_out(sandbox: &Sandbox) {
    let lists = "allowed-tools: Read Grep Glob List Bash Write\n";
    skill(sandbox, "look", lists);
    skill(sandbox, "other", "");
    for name in [
        "work/a.txt",
        "secret.txt",
        "skills/look/guide.md",
        "skills/look/deep/more.md",
        "skills/look/a.key",
        "skills/look/a.log",
        "skills/other/guide.md",
        "skills/looking/guide.md",
    ] {
        sandbox.write(name, "words\n");
    }
    let secret = sandbox.path("secret.txt");
    symlink(secret, sandbox.path("skills/look/out.md")).unwrap();
    symlink(sandbox.path("skills/look"), sandbox.work().join("in")).unwrap();
}

/// Calls that do nothing but read the own files of `look`.
fn reads(sandbox: &Sandbox) -> Vec<Call> {
    let in_look = |name: &str| at(sandbox, &format!("skills/look{name}"));
    vec![
        ("read", in_look("/guide.md")),
        ("read", in_look("/deep/../deep/more.md")),
        ("grep", format!("pattern = \"words\", {}", in_look(""))),
        ("glob", format!("pattern = \"*\", {}", in_look(""))),
        ("list", in_look("/deep")),
    ]
}

/// Calls that read other files, or do something else, or that a rule wants a person for each time.
fn others(sandbox: &Sandbox) -> Vec<Call> {
    let in_look = |name: &str| at(sandbox, &format!("skills/look{name}"));
    let guide = sandbox.path("skills/look/guide.md");
    vec![
        ("read", in_look("/out.md")),
        ("read", in_look("/../../secret.txt")),
        ("read", in_look("/a.log")),
        ("read", at(sandbox, "skills/other/guide.md")),
        ("read", at(sandbox, "skills/looking/guide.md")),
        ("read", "path = \"in/guide.md\"".to_owned()),
        ("read", "path = \"a.txt\"".to_owned()),
        ("list", at(sandbox, "skills")),
        ("bash", format!("command = \"cat {}\"", guide.display())),
    ]
}

#[test]
fn a_skills_own_files_are_read_without_a_question_and_nothing_else_is() {
    let sandbox = Sandbox::new();
    lay_out(&sandbox);
    let (reads, others) = (reads(&sandbox), others(&sandbox));
    let denied = ("read", at(&sandbox, "skills/look/a.key"));
    // Nobody could allow it.
    let new = at(&sandbox, "skills/look/new.md");
    let written = ("file_write", format!("content = \"x\", {new}"));
    let all: Vec<(&str, &str)> = reads
        .iter()
        .chain(&others)
        .chain([&denied, &written])
        .map(|(tool, input)| (*tool, &**input))
        .collect();
    let script = calls(&all) + &says("Done.") + &calls(&all[..1]) + &says("Asked.");
    let pod = pod(&sandbox, &script, ASKS);
    let told = events(&run(&sandbox, &[&pod, "/look"]), "tool_call_verdict");
    let told = told
        .iter()
        .filter(|told| told["ruling"]["cause"]["kind"] == "skill_files");
    assert_eq!(told.count(), reads.len());

    let session = sandbox.session();
    let exchanged = exchanges(&session, Ending::Written);
    let (ran, rest) = exchanged.split_at(reads.len());
    assert!(ran.iter().all(|exchange| !exchange.is_error), "{ran:#?}");
    // What a search finds is judged file by file.
    let grep = &ran[2].content;
    assert!(grep.contains("deep/more.md"), "{grep}");
    for name in ["a.key", "a.log", "out.md"] {
        assert!(!grep.contains(name), "{name}: {grep}");
    }
    let (asked_about, refused) = rest.split_at(others.len());
    asked_about.iter().for_each(asked);
    assert!(refused[0].content.contains("`*.key`"), "{refused:#?}");
    let content = &refused[1].content;
    assert!(content.contains("new.md` may not be written"), "{content}");

    // It ends with the skill.
    run(&sandbox, &["--resume", &id(&session), &pod, "again"]);
    asked(exchanges(&session, Ending::Written).last().unwrap());
}

#[test]
fn the_log_and_its_explanation_say_whose_own_files_they_are() {
    let sandbox = Sandbox::new();
    lay_out(&sandbox);
    let read = at(&sandbox, "skills/look/guide.md");
    let script = calls(&[("read", &read)]) + &says("Done.");
    let pod = pod(&sandbox, &script, ASKS);
    let ran = sandbox.run(&["run", &pod, "/look"]).exits(0);
    let said = "the skill look's own files";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);

    let session = sandbox.session();
    let line = &decisions(&session)[0];
    let (verdict, cause) = (&line["verdict"]["verdict"], &line["verdict"]["cause"]);
    assert_eq!(
        (verdict, &cause["kind"]),
        (&"allow".into(), &"skill_files".into())
    );
    assert_eq!(cause["name"], "look");
    let digest = cause["digest"].as_str().unwrap();
    assert!(digest.starts_with("sha256:"), "{digest}");
    let call = line["call"].as_str().unwrap();
    let explain = ["explain", "--session", &id(&session), call];
    let ran = sandbox.run(&explain).exits(0);
    for line in ["cause: skill_files\n", &format!("why: {said}\n")] {
        assert!(ran.stdout.contains(line), "{line}: {}", ran.stdout);
    }
}

#[test]
fn the_own_list_of_a_skill_and_those_of_others_count_for_its_files() {
    for (starts, lists, inner) in [
        ("/look", "allowed-tools: Bash\n", ""),
        ("/look", "disallowed-tools: Read\n", ""),
        ("/look", "", "disallowed-tools: Read(*guide.md)\n"),
    ] {
        let sandbox = Sandbox::new();
        skill(&sandbox, "look", lists);
        skill(&sandbox, "inner", inner);
        sandbox.write("skills/look/guide.md", "words\n");
        let read = at(&sandbox, "skills/look/guide.md");
        let nested = match inner {
            "" => String::new(),
            _ => calls(&[("skill", "name = \"inner\"")]),
        };
        let script = nested + &calls(&[("read", &read)]) + &says("Done.");
        let pod = pod(&sandbox, &script, ASKS);
        run(&sandbox, &[&pod, starts]);
        let exchanged = exchanges(&sandbox.session(), Ending::Written);
        let by = if inner.is_empty() { "look" } else { "inner" };
        refused_by(exchanged.last().unwrap(), by);
    }
}

#[test]
fn a_directory_that_holds_the_workspace_has_no_files_of_its_own() {
    for (workspace, is_asked) in [("outer/inner", true), ("work", false)] {
        let sandbox = Sandbox::new();
        let text = "---\nname: outer\ndescription: x\n---\nDo it.\n";
        sandbox.write("outer/SKILL.md", text);
        sandbox.write("outer/inner/a.txt", "words\n");
        sandbox.write("outer/guide.md", "words\n");
        let script = calls(&[("read", &at(&sandbox, "outer/guide.md"))]) + &says("Done.");
        let pod = sandbox.pod(&script, &format!("[skills]\ndirectories = [\".\"]\n{ASKS}"));
        let text = fs::read_to_string(&pod).unwrap();
        let line = format!("workspace = \"{workspace}\"");
        let pod = sandbox.write("pod.toml", &text.replace("workspace = \"work\"", &line));
        run(&sandbox, &[pod.to_str().unwrap(), "/outer"]);
        let exchanged = exchanges(&sandbox.session(), Ending::Written);
        match is_asked {
            true => asked(&exchanged[0]),
            false => assert!(!exchanged[0].is_error, "{exchanged:#?}"),
        }
    }
}

/// What a session says of a skill restricts it; that its files are not asked about is for the manifest of
/// today to say.
#[test]
fn a_session_that_goes_on_asks_where_the_manifest_names_the_skill_no_longer() {
    for is_named in [true, false] {
        let sandbox = Sandbox::new();
        skill(&sandbox, "look", "allowed-tools: Read\n");
        sandbox.write("skills/look/guide.md", "words\n");
        let read = at(&sandbox, "skills/look/guide.md");
        let script = calls(&[("read", &read)]) + &calls(&[("read", &read)]) + &says("Done.");
        let steps = "[limits]\nmax_steps = 1\n";
        let first = pod(&sandbox, &script, &format!("{steps}{ASKS}"));
        run(&sandbox, &[&first, "/look"]);
        let session = sandbox.session();
        let next = match is_named {
            true => pod(&sandbox, &script, ASKS),
            false => sandbox.pod(&script, ASKS).to_str().unwrap().to_owned(),
        };
        run(&sandbox, &["--resume", &id(&session), &next, "go on"]);
        let exchanged = exchanges(&session, Ending::Written);
        assert_eq!(exchanged.len(), 2, "{exchanged:#?}");
        assert!(!exchanged[0].is_error, "{exchanged:#?}");
        match is_named {
            true => assert!(!exchanged[1].is_error, "{exchanged:#?}"),
            false => asked(&exchanged[1]),
        }
    }
}

#[test]
fn a_directory_that_is_a_link_is_the_skills_by_both_names() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "real/look/SKILL.md",
        "---\nname: look\ndescription: x\n---\nDo it.\n",
    );
    sandbox.write("real/look/guide.md", "words\n");
    sandbox.write("real/guide.md", "words\n");
    fs::create_dir_all(sandbox.path("skills")).unwrap();
    symlink("../real/look", sandbox.path("skills/look")).unwrap();
    let names = [
        "skills/look/guide.md",
        "real/look/guide.md",
        "real/guide.md",
    ];
    let inputs = names.map(|name| at(&sandbox, name));
    let made: Vec<_> = inputs.iter().map(|input| ("read", &**input)).collect();
    let script = calls(&made) + &says("Done.");
    let pod = pod(&sandbox, &script, ASKS);
    run(&sandbox, &[&pod, "/look"]);
    let exchanged = exchanges(&sandbox.session(), Ending::Written);
    let errors: Vec<bool> = exchanged.iter().map(|exchange| exchange.is_error).collect();
    assert_eq!(errors, [false, false, true], "{exchanged:#?}");
}

#[test]
fn no_tool_writes_a_skill() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "work/skills/look/SKILL.md",
        "---\nname: look\ndescription: Looks.\n---\nLook.\n",
    );
    let text = "content = \"x\"";
    let script = calls(&[
        (
            "file_write",
            &format!("path = \"skills/look/SKILL.md\", {text}"),
        ),
        (
            "file_write",
            &format!("path = \"skills/new/SKILL.md\", {text}"),
        ),
        ("bash", "command = \"echo x >> skills/look/SKILL.md\""),
        ("bash", "command = \"mkdir skills/new\""),
        ("bash", "command = \"mv skills elsewhere\""),
        ("bash", "command = \"mkdir missing/new\""),
    ]);
    let settings =
        format!("[skills]\ndirectories = [\"work/skills\", \"work/missing\"]\n{ALLOW_ALL}");
    let pod = sandbox.pod(&script, &settings);
    let ran = run(&sandbox, &[pod.to_str().unwrap(), "go"]).exits(0);
    let level = &events(&ran, "session_started")[0]["confinement"]["level"];
    for exchange in exchanges(&sandbox.session(), Ending::Written) {
        let is_held = exchange.tool != "bash" || level == "kernel";
        assert!(exchange.is_error || !is_held, "{exchange:#?}");
    }
    let kept = fs::read_to_string(sandbox.work().join("skills/look/SKILL.md")).unwrap();
    assert!(kept.ends_with("Look.\n") || level != "kernel", "{kept}");
}

#[test]
fn the_files_of_a_skill_can_be_read_where_little_else_can() {
    let sandbox = Sandbox::new();
    sandbox.write("work/a.txt", "text\n");
    sandbox.write("other.txt", "other\n");
    skill(&sandbox, "look", "allowed-tools: Read\n");
    sandbox.write("skills/look/more.md", "More.\n");
    let read = |name: &str| format!("path = \"{}\"", sandbox.path(name).display());
    let script = calls(&[
        READ,
        ("read", &read("skills/look/more.md")),
        ("read", &read("other.txt")),
    ]);
    let rules = format!("[scope]\nallow = [{{ path = \".\", access = \"write\" }}]\n{ALLOW_ALL}");
    let pod = pod(&sandbox, &script, &rules);
    run(&sandbox, &[&pod, "/look"]);
    let exchanged = exchanges(&sandbox.session(), Ending::Written);
    let errors: Vec<bool> = exchanged.iter().map(|exchange| exchange.is_error).collect();
    assert_eq!(errors, [false, false, true], "{exchanged:#?}");
}
