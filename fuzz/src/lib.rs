//! The entry points of the fuzz targets: each takes any bytes and must come back without a panic.
//!
//! It must never need a fuzzer: a test runs the entry points over the corpus on stable.

use std::sync::Arc;

use podward_policy::{
    Action, KnownTools, LayerKind, LayerName, Location, Lowered, Need, Operation, Operations,
    Policies, Policy, PolicySpec, RuleSpec, Subject, Text, ToolName,
};
use podward_protocol::{
    Line, MethodName, RawResponse, Response, decode_line, decode_request, encode, encode_request,
    encode_response,
};
use podward_tools::{Place, lower};

#[path = "../../crates/podward-shell/tests/lexical/mod.rs"]
mod lexical;

/// An entry point with the name of its target and of its folder in the corpus.
pub const TARGETS: &[(&str, fn(&[u8]))] = &[
    ("pattern", pattern),
    ("manifest", manifest),
    ("tool_arguments", tool_arguments),
    ("shell", shell),
    ("check", check),
    ("skill", skill_file),
    ("request", request),
    ("line", line),
];

/// A pattern, a newline, a text: a pattern that loads means what the `glob` crate says.
pub fn pattern(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (pattern, text) = text.split_once('\n').unwrap_or((&text, ""));
    let Some(policies) = denying(pattern) else {
        return;
    };
    let operation = Operation {
        tool: skill(),
        subject: Subject::Plain(Text::known(text)),
        need: Need::Full,
        span: None,
        partial: Vec::new(),
    };
    let call = Lowered::Operations(Operations::new(operation, Vec::new()));
    let denied = policies.judge(&call).action == Action::Deny;
    let glob = glob::Pattern::new(pattern).expect("what loads is a glob");
    // The work of the `glob` crate grows exponentially with the stars.
    if pattern.matches('*').count() <= 3 {
        assert_eq!(denied, glob.matches(text), "`{pattern}` over `{text}`");
    }
}

/// A policy that denies what the pattern matches and allows the rest; `None` if it does not load.
fn denying(pattern: &str) -> Option<Policies> {
    let location = Location {
        file: Arc::from("fuzz"),
        line: 1,
        column: 1,
    };
    let spec = PolicySpec {
        default_action: Action::Allow,
        default_location: location.clone(),
        unresolved: None,
        rules: vec![RuleSpec {
            tool: "skill".to_owned(),
            pattern: pattern.to_owned(),
            action: Action::Deny,
            message: None,
            grantable: true,
            ask_timeout: None,
            location,
        }],
    };
    let compiled = Policy::compile(&spec, &KnownTools::built_in()).ok()?;
    let name = LayerName {
        kind: LayerKind::Manifest,
    };
    Some(Policies::new(vec![(name, compiled.policy)]))
}

fn skill() -> ToolName {
    ToolName::new("skill").expect("a tool's name")
}

/// TOML text, or not: errors have a place in it, or it loads.
pub fn manifest(data: &[u8]) {
    let Ok(text) = podward_manifest::decode(&Arc::from("fuzz.toml"), data) else {
        return;
    };
    let isolated = podward_manifest::isolated("fuzz.toml", &text, &KnownTools::built_in());
    if let Err(diagnostics) = isolated {
        assert!(
            !diagnostics.to_string().is_empty(),
            "an error says something"
        );
    }
}

/// A tool's name, a newline, JSON: a bad call, or operations that can be judged.
pub fn tool_arguments(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (tool, arguments) = text.split_once('\n').unwrap_or((&text, ""));
    let Ok(arguments) = serde_json::from_str(arguments) else {
        return;
    };
    let place = Place::new("/home/user/project", Some("/home/user".into())).isolated();
    if let (Ok((canonical, lowered)), Some(policies)) =
        (lower(tool, arguments, &place), denying("*"))
    {
        let again = serde_json::from_str(&canonical).expect("canonical arguments are JSON");
        let (twice, same) = lower(tool, again, &place).expect("canonical arguments fit");
        assert_eq!(canonical, twice, "canonical is canonical");
        assert_eq!(lowered, same, "the same arguments, the same operations");
        let _ = policies.judge(&lowered);
    }
}

/// Command text: operations whose spans lie in it, the same ones each time.
pub fn shell(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let lowered = podward_shell::lower(&text, &lexical::place());
    let Lowered::Operations(operations) = &lowered else {
        assert!(!runs_something(&text), "`{text}` runs something");
        return;
    };
    for operation in operations.iter() {
        if let Some(span) = operation.span {
            assert!(
                text.get(span.range()).is_some(),
                "{span:?} is no part of `{text}`"
            );
        }
    }
    let again = podward_shell::lower(&text, &lexical::place());
    assert_eq!(lowered, again, "the same text, the same operations");
}

/// Whether there is more than blanks and comments: a line that begins with a letter.
fn runs_something(text: &str) -> bool {
    text.trim_matches([' ', '\t', '\n'])
        .starts_with(|c: char| c.is_ascii_alphabetic())
}

/// A manifest, a line `---`, a command: a manifest that loads judges the command, and one more deny
/// never makes an allow.
pub fn check(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Some((manifest, command)) = text.split_once("\n---\n") else {
        return;
    };
    let known = KnownTools::built_in();
    let Ok(isolated) = podward_manifest::isolated("fuzz.toml", manifest, &known) else {
        return;
    };
    let place = Place::new("/home/user/project", Some("/home/user".into())).isolated();
    let arguments = serde_json::json!({ "command": command });
    let Ok((_, lowered)) = lower("bash", arguments, &place) else {
        return;
    };
    let ruling = isolated.policies.judge(&lowered);
    if let (Some(idx), Lowered::Operations(operations)) = (ruling.operation, &lowered) {
        assert!(operations.get(idx).is_some(), "the operation exists");
    }
    let tightened = format!(
        "{manifest}\n[[permissions.rule]]\ntool = \"bash\"\npattern = \"rm *\"\naction = \"deny\"\n"
    );
    if let Ok(tightened) = podward_manifest::isolated("fuzz.toml", &tightened, &known) {
        let after = tightened.policies.judge(&lowered).action;
        assert!(
            after != Action::Allow || ruling.action == Action::Allow,
            "{} became {after}",
            ruling.action
        );
    }
}

/// A line of a client: what is read of it is written and read again as the same, or it has an answer that
/// the client can read.
pub fn request(data: &[u8]) {
    match decode_request(data) {
        Ok(request) => {
            // Escapes can make it longer than it was.
            if let Ok(line) = encode_request(&request) {
                assert_eq!(decode_request(line.as_bytes()), Ok(request), "`{line}`");
            }
        }
        Err(refused) => {
            let line = encode_response(&refused.into()).expect("a refusal is short");
            let read = decode_line(&line);
            assert!(matches!(read, Ok(Line::Response(_))), "`{line}`");
        }
    }
}

/// A line of a pod: what is read of it is written and read again as the same.
pub fn line(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match decode_line(&text) {
        Ok(Line::Event(event)) => {
            if let Ok(line) = encode(&event) {
                assert_eq!(
                    decode_line(&line).ok(),
                    Some(Line::Event(event)),
                    "`{line}`"
                );
            }
        }
        Ok(Line::Response(RawResponse { id, result })) => {
            for method in MethodName::ALL {
                let outcome = match result.clone().map(|reply| reply.read(*method)) {
                    Ok(Ok(reply)) => Ok(reply),
                    Ok(Err(_)) => continue, // of another method
                    Err(error) => Err(error),
                };
                let outcome = outcome.into();
                let _ = encode_response(&Response { id, outcome });
            }
        }
        Err(error) => assert!(!error.to_string().is_empty(), "an error says something"),
    }
}

/// A `SKILL.md`, or not: a skill, or errors with a place in it; and a list never grants.
pub fn skill_file(data: &[u8]) {
    let reading = podward_skill::read("fuzz", data);
    for problem in &reading.problems {
        assert!(
            reading.text.get(problem.span.range()).is_some(),
            "{problem:?} has no place in the text"
        );
    }
    let has_error = |problems: &[podward_skill::Problem]| {
        problems
            .iter()
            .any(|problem| problem.gravity == podward_skill::Gravity::Error)
    };
    assert_eq!(reading.skill.is_none(), has_error(&reading.problems));
    let tools = reading.tools();
    let known = KnownTools::built_in();
    let place = podward_skill::ListPlace::new("SKILL.md", &known).in_skill("/skills/fuzz");
    let compiled = tools.compile(&place);
    assert!(!has_error(&compiled.problems), "what was read compiles");
    assert_eq!(compiled.layer.is_none(), tools.restricts_nothing());
    let rules = || denying("x").expect("a rule");
    let call = Lowered::from(Operation::plain(&skill(), "y"));
    let alone = rules().judge(&call).action;
    if let Some(layer) = compiled.layer {
        let restricted = Policies::from(layer).judge(&call).action;
        assert_ne!(restricted, Action::Ask, "a list never asks");
        assert!(restricted.max(alone) >= alone);
    }
    if let Some(mut skill) = reading.skill {
        let again = podward_skill::read("fuzz", skill.header.as_bytes()).skill;
        skill.body = Box::default();
        assert_eq!(again, Some(skill), "a header read again is the same skill");
    }
}
