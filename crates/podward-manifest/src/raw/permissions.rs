//! `[permissions]`, as it is written.

use std::path::Path;
use std::time::Duration;

use podward_policy::{Action, ByteSpan, EXTERNAL_DIRECTORY};

use crate::approvals::{AutoAnswers, OnAsk};
use crate::diagnostic::Diagnostic;
use crate::policy_test::{PolicyTest, TEST_HOME, TEST_WORKSPACE, TestCall};
use crate::raw::PathBase;
use crate::reader::{Reader, Sited, Table};
use crate::schema::{EXAMPLES, RULE, TEST};

/// `[permissions]`.
#[derive(Debug)]
pub(crate) struct RawPermissions {
    pub(crate) header: ByteSpan,
    pub(crate) default_action: Option<Sited<Action>>,
    pub(crate) unresolved: Option<Sited<Action>>,
    pub(crate) on_ask: Option<Sited<OnAsk>>,
    pub(crate) ask_timeout: Option<Sited<Duration>>,
    pub(crate) client_grace: Option<Sited<Duration>>,
    pub(crate) auto: Option<Sited<AutoAnswers>>,
    pub(crate) rules: Vec<RawRule>,
    /// Of rules first, then those that stand by themselves; the layer is filled in later.
    pub(crate) tests: Vec<PolicyTest>,
}

/// One `[[permissions.rule]]`.
#[derive(Debug)]
pub(crate) struct RawRule {
    pub(crate) header: ByteSpan,
    pub(crate) tool: Option<Sited<String>>,
    pub(crate) pattern: Option<Sited<String>>,
    pub(crate) action: Option<Sited<Action>>,
    pub(crate) message: Option<Sited<String>>,
    pub(crate) ask_timeout: Option<Sited<Duration>>,
    pub(crate) grantable: Option<Sited<bool>>,
}

const ACTIONS: &[(&str, Action)] = &[
    ("allow", Action::Allow),
    ("ask", Action::Ask),
    ("deny", Action::Deny),
];

pub(super) fn permissions(table: &Table<'_>, reader: &mut Reader<'_>) -> RawPermissions {
    reader.missing_key(
        table,
        "default_action",
        "write `default_action = \"ask\"`, `\"deny\"` or, for a layer that only adds rules, `\"allow\"`",
    );
    let on_ask: Vec<_> = OnAsk::ALL
        .iter()
        .map(|word| (word.as_str(), *word))
        .collect();
    let auto: Vec<_> = AutoAnswers::ALL
        .iter()
        .map(|word| (word.as_str(), *word))
        .collect();
    let rules = reader.tables(table, "rule", &RULE);
    let rules = rules.map(|rules| rules.value).unwrap_or_default();
    let mut tests = Vec::new();
    let permissions = RawPermissions {
        header: table.header,
        default_action: reader.word(table, "default_action", ACTIONS),
        unresolved: reader.word(table, "unresolved", ACTIONS.get(1..).unwrap_or(ACTIONS)),
        on_ask: reader.word(table, "on_ask", &on_ask),
        ask_timeout: reader.seconds(table, "ask_timeout"),
        client_grace: reader.grace(table, "client_grace"),
        auto: reader.word(table, "auto", &auto),
        rules: rules
            .iter()
            .map(|rule| self::rule(rule, reader, &mut tests))
            .collect(),
        tests: Vec::new(),
    };
    let written = reader.tables(table, "test", &TEST);
    for written in written.iter().flat_map(|written| &written.value) {
        tests.extend(test(written, reader));
    }
    let permissions = RawPermissions {
        tests,
        ..permissions
    };
    warn_of_longer_rules(&permissions, reader);
    permissions
}

fn rule(table: &Table<'_>, reader: &mut Reader<'_>, tests: &mut Vec<PolicyTest>) -> RawRule {
    reader.missing_key(
        table,
        "tool",
        "write `tool = \"bash\"`, or `tool = \"*\"` for every tool",
    );
    reader.missing_key(table, "pattern", "write `pattern = \"*\"` for every text");
    reader.missing_key(
        table,
        "action",
        "write `action = \"allow\"`, `\"ask\"` or `\"deny\"`",
    );
    let rule = RawRule {
        header: table.header,
        tool: reader.text(table, "tool"),
        pattern: reader.text(table, "pattern"),
        action: reader.word(table, "action", ACTIONS),
        message: reader.text(table, "message"),
        ask_timeout: reader.seconds(table, "ask_timeout"),
        grantable: reader.flag(table, "grantable"),
    };
    only_of_an_ask(&rule, reader);
    tests.extend(examples(table, &rule, reader));
    rule
}

/// `examples` of a rule.
fn examples(table: &Table<'_>, rule: &RawRule, reader: &mut Reader<'_>) -> Vec<PolicyTest> {
    let Some(examples) = reader.inner(table, "examples", &EXAMPLES) else {
        return Vec::new();
    };
    let mut tests = Vec::new();
    for (word, expect) in ACTIONS {
        let texts = reader.texts(&examples, word, |text| Ok(text.to_owned()));
        for text in texts.into_iter().flat_map(|texts| texts.value) {
            let Some(tool) = &rule.tool else {
                continue; // that there is none was reported
            };
            tests.push(PolicyTest {
                layer: 0,
                tool: tool.value.clone(),
                call: TestCall::Text(text.value),
                cwd: None,
                expect: *expect,
                why: None,
                place: reader.place(text.span),
            });
        }
    }
    if let (Some(tool), false) = (&rule.tool, tests.is_empty())
        && (tool.value.contains(['*', '?', '[']) || tool.value == EXTERNAL_DIRECTORY)
    {
        let message = format!(
            "an example of `{}` does not say which tool is called",
            tool.value
        );
        let help = "write `[[permissions.test]]` with a `tool`";
        reader.error(examples.header, message, help);
    }
    tests
}

/// One `[[permissions.test]]`.
fn test(table: &Table<'_>, reader: &mut Reader<'_>) -> Option<PolicyTest> {
    reader.missing_key(
        table,
        "tool",
        "write `tool = \"bash\"`: the tool that is called",
    );
    let help = "write `expect = \"allow\"`, `\"ask\"` or `\"deny\"`";
    reader.missing_key(table, "expect", help);
    let tool = reader.text(table, "tool");
    let expect = reader.word(table, "expect", ACTIONS);
    let why = reader.text(table, "why");
    let start = PathBase {
        directory: Path::new(TEST_WORKSPACE),
        home: Some(Path::new(TEST_HOME)),
    };
    let cwd = reader.parsed(table, "cwd", |text| start.absolute(text));
    let call = match (reader.text(table, "text"), reader.object(table, "input")) {
        (Some(text), None) => TestCall::Text(text.value),
        (None, Some(input)) => TestCall::Input(input.value),
        (Some(_), Some(input)) => {
            let message = "a test has `text` or `input`, not both".to_owned();
            reader.error(input.key, message, "leave one of them out");
            return None;
        }
        // What is written wrong was reported.
        (None, None) if table.has("input") => return None,
        (None, None) => {
            let help = "write `text = \"git push\"`, or `input = { command = \"git push\" }`";
            reader.missing_key(table, "text", help);
            return None;
        }
    };
    Some(PolicyTest {
        layer: 0,
        tool: tool?.value,
        call,
        cwd: cwd.map(|cwd| cwd.value),
        expect: expect?.value,
        why: why.map(|why| why.value),
        place: reader.place(table.header),
    })
}

/// Reports what says nothing where the rule does not ask.
fn only_of_an_ask(rule: &RawRule, reader: &mut Reader<'_>) {
    let Some(action) = rule
        .action
        .as_ref()
        .filter(|action| action.value != Action::Ask)
    else {
        return;
    };
    let ask_timeout = rule.ask_timeout.as_ref().map(|at| ("ask_timeout", at.key));
    let grantable = rule.grantable.as_ref().map(|at| ("grantable", at.key));
    for (key, at) in ask_timeout.into_iter().chain(grantable) {
        let action = action.value.as_str();
        let message = format!("`{key}` says nothing for a rule whose action is `{action}`");
        reader.error(at, message, "leave it out: only a rule that asks has it");
    }
}

/// A rule shortens what the table says.
fn warn_of_longer_rules(permissions: &RawPermissions, reader: &mut Reader<'_>) {
    let Some(of_all) = &permissions.ask_timeout else {
        return;
    };
    let of_rules = permissions
        .rules
        .iter()
        .filter_map(|rule| rule.ask_timeout.as_ref());
    for longer in of_rules.filter(|of_rule| of_rule.value > of_all.value) {
        let message = "`ask_timeout` of the rule is longer than that of all".to_owned();
        let warning = Diagnostic::warning(message, reader.place(longer.span))
            .with_related("that of all", reader.place(of_all.span))
            .with_help("the shorter one counts");
        reader.report(warning);
    }
}
