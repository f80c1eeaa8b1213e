use std::sync::Arc;

use podward_policy::{
    Action, Cause, KnownTools, Lowered, Need, Operation, Policies, SkillSays, ToolName,
};
use serde_json::json;

use super::*;

const DIR: &str = "/skills/x";

/// The record of a skill with these lines in its front matter.
fn record(lines: &str) -> WorkflowRecord {
    let text = format!("---\nname: x\ndescription: Does x.\n{lines}---\nDo it.\n");
    let skill = read("x", text.as_bytes()).skill.unwrap();
    WorkflowRecord::of_skill(&skill, "sha256:0", "x/SKILL.md", DIR)
}

fn call(tool: &str, arguments: serde_json::Value) -> (ToolName, Lowered) {
    let place = podward_tools::Place::new("/work", Some("/home/me".into())).isolated();
    let (_, lowered) = podward_tools::lower(tool, arguments, &place).unwrap();
    (ToolName::new(tool).unwrap(), lowered)
}

/// The policies of a record alone: there are no rules.
fn policies(record: &WorkflowRecord) -> Policies {
    let layer = record.layer(&KnownTools::built_in(), Some("/work"));
    Policies::default().under([Arc::new(layer)])
}

fn judge(record: &WorkflowRecord, tool: &str, arguments: serde_json::Value) -> Action {
    let (tool, call) = call(tool, arguments);
    policies(record).judge_call(&tool, &call).ruling.action
}

#[track_caller]
fn check_body(body: &str, arguments: Option<&str>, expected: &str) {
    let text = record("").instructions(body, arguments, Some("/work"));
    let (_, found) = text.split_once("\n\n").unwrap();
    assert_eq!(found, expected, "{body:?} {arguments:?}");
}

#[test]
fn arguments_stand_where_the_author_wants_them_or_at_the_end() {
    check_body("\n# Do\n\nIt.\n", None, "# Do\n\nIt.");
    check_body("Do it.", Some(" now \n"), "Do it.\n\nArguments: now");
    check_body("Do it.", Some("  "), "Do it.");
    check_body("Do $ARGUMENTS.", Some("a b"), "Do a b.");
    check_body("Do $ARGUMENTS, $ARGUMENTS!", Some("a"), "Do a, a!");
    check_body("Do $ARGUMENTS.", None, "Do .");
    // What somebody gives is no template.
    check_body(
        "$ARGUMENTS",
        Some("$ARGUMENTS {baseDir}"),
        "$ARGUMENTS {baseDir}",
    );
}

#[test]
fn words_for_directories_become_their_paths() {
    check_body(
        "Run {baseDir}/a, ${CLAUDE_SKILL_DIR}/b and ${CLAUDE_PROJECT_DIR}/c.",
        None,
        "Run /skills/x/a, /skills/x/b and /work/c.",
    );
    let text = record("").instructions("${CLAUDE_PROJECT_DIR}/c", None, None);
    assert!(text.ends_with("\n\n${CLAUDE_PROJECT_DIR}/c"), "{text}");
}

#[test]
fn long_arguments_in_very_many_places_stay_within_bounds() {
    let body = "$ARGUMENTS{baseDir}".repeat(10_000);
    for n_bytes in [0, 1, 1000, 100_000, 3_000_000] {
        let arguments = "y".repeat(n_bytes);
        let text = record("").instructions(&body, Some(&arguments), None);
        assert!(text.len() < 6_000_000, "{n_bytes}: {}", text.len());
        assert!(text.contains(&arguments), "{n_bytes}");
    }
}

#[track_caller]
fn check_head(lines: &str, expected: &str) {
    let text = record(lines).instructions("Do it.", None, None);
    let head = "The skill `x` is active. Its files are in `/skills/x`.";
    assert_eq!(text, format!("{head}{expected}\n\nDo it."));
}

#[test]
fn instructions_begin_with_what_the_skill_is_held_to() {
    check_head("", "");
    check_head(
        "allowed-tools: Read,  Bash(git:*)\n",
        " While it is active, it allows these tools and no others: `Read Bash(git:*)`.",
    );
    check_head(
        "allowed-tools: []\n",
        " While it is active, no tool may be called.",
    );
    check_head(
        "disallowed-tools: Bash(rm:*)\n",
        " It allows no use of: `Bash(rm:*)`.",
    );
}

#[test]
fn a_long_list_is_quoted_in_part_and_counts_as_a_whole() {
    let all: Vec<String> = (0..250)
        .map(|n| format!("Bash(command-{n:03}:*)"))
        .collect();
    let record = record(&format!("allowed-tools: {}\n", all.join(" ")));
    let text = record.instructions("Do it.", None, None);
    assert!(text.len() < QUOTED_BYTES + 300, "{}", text.len());
    assert!(text.contains("Bash(command-000:*) Bash(command-001:*)"));
    assert!(text.contains(" … and 150 more`."), "{text}");
    let bash = |command: &str| judge(&record, "bash", json!({ "command": command }));
    assert_eq!(bash("command-249 x"), Action::Allow);
    assert_eq!(bash("command-250 x"), Action::Deny);
    let (tool, call) = call("bash", json!({"command": "command-250"}));
    let Cause::Skill {
        says: SkillSays::NotListed { list },
        ..
    } = policies(&record).judge_call(&tool, &call).ruling.cause
    else {
        panic!("it is not listed");
    };
    assert!(list.len() < QUOTED_BYTES + 20 && list.ends_with("more"));
    // One that does not fit is not quoted at all.
    let long = format!("Bash(echo {})", "x".repeat(2500));
    let long = self::record(&format!("allowed-tools: \"{long}\"\n"));
    let text = long.instructions("Do it.", None, None);
    assert!(text.contains(": `… and 1 more`."), "{text}");
}

/// The format of session files.
#[test]
fn a_record_is_its_header_and_where_it_came_from() {
    let record = record("allowed-tools: Read\n");
    let written = json!({
        "name": "x",
        "digest": "sha256:0",
        "file": "x/SKILL.md",
        "header": "---\nname: x\ndescription: Does x.\nallowed-tools: Read\n---\n",
        "source": {"kind": "skill", "dir": "/skills/x"},
    });
    assert_eq!(serde_json::to_value(&record).unwrap(), written);
    let again: WorkflowRecord = serde_json::from_value(written.clone()).unwrap();
    assert_eq!(again, record);
    // A key of somebody else's may restrict something.
    let mut more = written;
    more["denied"] = json!(["Read"]);
    serde_json::from_value::<WorkflowRecord>(more).unwrap_err();
}

#[test]
fn a_record_that_cannot_be_read_allows_nothing() {
    let whole = record("allowed-tools: Read Bash\n");
    let read_it = |record: &WorkflowRecord| judge(record, "read", json!({"path": "a"}));
    assert_eq!(read_it(&whole), Action::Allow);
    let header = |header: &str| WorkflowRecord {
        header: header.into(),
        ..whole.clone()
    };
    let broken = [
        header(""),
        header("allowed-tools: Read"),
        header("---\nname: x\ndescription: x\nallowed-tools: Read\n"),
        header("---\nname: x\ndescription: x\nallowed-tools: [Read\n---\n"),
        header("---\nname: x\ndescription: x\nallowed-tools: {a: Read}\n---\n"),
        header("---\nname: x\ndescription: x\nallowed-tools: Read\nallowed-tools: Bash\n---\n"),
        header("---\nname: x\ndescription: x\nallowed-tools: Bash(git\n---\n"),
        header("---\nname: another\ndescription: x\n---\n"),
        header(&whole.header.replace("Read", "Read([a)")),
        WorkflowRecord {
            name: "another".into(),
            ..whole.clone()
        },
    ];
    for record in &broken {
        assert_eq!(record.lists(), ToolLists::nothing(), "{record:?}");
        assert_eq!(read_it(record), Action::Deny, "{record:?}");
        let bash = judge(record, "bash", json!({"command": "true"}));
        assert_eq!(bash, Action::Deny, "{record:?}");
        // Not even what would do nothing.
        let comment = judge(record, "bash", json!({"command": "# nothing"}));
        assert_eq!(comment, Action::Deny, "{record:?}");
        let text = record.instructions("Do it.", None, None);
        assert!(text.contains("no tool may be called"), "{text}");
    }
}

#[test]
fn a_skill_that_lists_nothing_restricts_nothing() {
    let record = record("");
    assert!(!record.layer(&KnownTools::built_in(), None).restricts());
    assert_eq!(
        judge(&record, "file_write", json!({"path": "a", "content": ""})),
        Action::Allow
    );
}

/// An address to which a name led has to be listed as such, or the whole tool: that the rules have to
/// name it is theirs to say.
#[test]
fn an_address_that_a_name_led_to_is_listed_by_its_host_or_with_the_tool() {
    let (tool, lowered) = call("web_fetch", json!({"url": "https://10.0.0.1/"}));
    let Lowered::Operations(operations) = lowered else {
        panic!("it fetches something");
    };
    let operation = operations.iter().next().unwrap().clone();
    let address = Operation {
        need: Need::Named,
        ..operation
    };
    for (lines, expected) in [
        ("allowed-tools: WebFetch\n", Action::Allow),
        ("allowed-tools: '*'\n", Action::Allow),
        ("allowed-tools: WebFetch(domain:10.0.0.1)\n", Action::Allow),
        (
            "allowed-tools: WebFetch(domain:example.com)\n",
            Action::Deny,
        ),
        ("allowed-tools: Read\n", Action::Deny),
        (
            "disallowed-tools: WebFetch(domain:example.com)\n",
            Action::Allow,
        ),
        (
            "disallowed-tools: WebFetch(domain:10.0.0.1)\n",
            Action::Deny,
        ),
        ("disallowed-tools: WebFetch\n", Action::Deny),
    ] {
        let call = address.clone().into();
        let found = policies(&record(lines))
            .judge_call(&tool, &call)
            .ruling
            .action;
        assert_eq!(found, expected, "{lines}");
    }
}
