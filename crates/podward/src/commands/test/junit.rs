//! The results of tests as build servers read them.

use podward_policy::Action;

use super::super::check::cases::Outcome;
use super::Suite;

/// XML in the form of JUnit: a suite a file, a case a test; a file that does not load is one error.
pub(super) fn report(suites: &[Suite]) -> String {
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n".to_owned();
    for suite in suites {
        let file = escaped(&suite.file);
        match &suite.outcomes {
            Ok(outcomes) => {
                let n_tests = outcomes.len();
                let n_failed = outcomes.iter().filter(|outcome| !outcome.passed).count();
                text.push_str(&format!(
                    "  <testsuite name=\"{file}\" tests=\"{n_tests}\" failures=\"{n_failed}\">\n"
                ));
                text.extend(outcomes.iter().map(|outcome| case(&file, outcome)));
            }
            Err(why) => text.push_str(&format!(
                "  <testsuite name=\"{file}\" tests=\"1\" failures=\"0\" errors=\"1\">\n    \
                 <testcase classname=\"{file}\" name=\"{file}\">\n      \
                 <error message=\"it does not load\">{}</error>\n    </testcase>\n",
                escaped(why)
            )),
        }
        text.push_str("  </testsuite>\n");
    }
    text.push_str("</testsuites>\n");
    text
}

fn case(file: &str, outcome: &Outcome) -> String {
    let name = escaped(&outcome.id);
    let case = format!("    <testcase classname=\"{file}\" name=\"{name}\"");
    if outcome.passed {
        return format!("{case}/>\n");
    }
    let got = outcome.verdict.map_or("not judged", Action::as_str);
    let expect: Vec<&str> = outcome.expect.iter().map(|it| it.as_str()).collect();
    let message = match expect.is_empty() {
        true => got.to_owned(),
        false => format!("{got}, expected {}", expect.join(" or ")),
    };
    format!(
        "{case}>\n      <failure message=\"{}\">{}</failure>\n    </testcase>\n",
        escaped(&message),
        escaped(&outcome.note)
    )
}

/// A text as XML holds it; what XML cannot hold is shown as U+FFFD.
fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            '&' => shown.push_str("&amp;"),
            '"' => shown.push_str("&quot;"),
            '\n' => shown.push_str("&#10;"),
            '\t' => shown.push_str("&#9;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => shown.push('\u{fffd}'),
            c => shown.push(c),
        }
    }
    shown
}
