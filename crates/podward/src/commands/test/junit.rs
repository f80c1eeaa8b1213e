//! The results of tests as build servers read them.

use podward_policy::Action;

use super::Suite;

/// XML in the form of JUnit: a suite a file, a case a test.
pub(super) fn report(suites: &[Suite]) -> String {
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n".to_owned();
    for suite in suites {
        let n_tests = suite.outcomes.len();
        let failed = suite.outcomes.iter().filter(|outcome| !outcome.passed);
        let n_failed = failed.count();
        let file = escaped(&suite.file);
        text.push_str(&format!(
            "  <testsuite name=\"{file}\" tests=\"{n_tests}\" failures=\"{n_failed}\">\n"
        ));
        for outcome in &suite.outcomes {
            let name = escaped(&outcome.id);
            let case = format!("    <testcase classname=\"{file}\" name=\"{name}\"");
            if outcome.passed {
                text.push_str(&format!("{case}/>\n"));
                continue;
            }
            let expect: Vec<&str> = outcome
                .expect
                .iter()
                .map(|action| action.as_str())
                .collect();
            let got = outcome.verdict.map_or("not judged", Action::as_str);
            let message = format!("{got}, expected {}", expect.join(" or "));
            text.push_str(&format!(
                "{case}>\n      <failure message=\"{}\">{}</failure>\n    </testcase>\n",
                escaped(&message),
                escaped(&outcome.note)
            ));
        }
        text.push_str("  </testsuite>\n");
    }
    text.push_str("</testsuites>\n");
    text
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
