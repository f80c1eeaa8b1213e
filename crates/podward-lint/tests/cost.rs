//! What lint costs for a thousand rules like those of a real table: steps of its searches, which are counted, and
//! CPU time, which is only told.
//!
//! `cargo test --release -p podward-lint --test cost -- --nocapture`

#![cfg(test)]

#[path = "../../podward-policy/tests/cost/workload.rs"]
#[expect(dead_code, reason = "the tests of judging use all of it")]
mod workload;

use podward_lint::{Attendance, Call, Lint, Lower};
use podward_policy::{KnownTools, Lowered, Policies};
use podward_shell::AddedPrograms;
use podward_tools::{Place, lower};
use rustix::time::{ClockId, clock_gettime};

/// Steps of all searches; a step is about one comparison of a character.
const MOST_STEPS: u64 = 14_000_000;

struct Tools(Place);

impl Lower for Tools {
    fn lower(&self, call: &Call) -> Option<Lowered> {
        let lowered = lower(call.tool.as_str(), call.arguments.clone(), &self.0);
        lowered.ok().map(|(_, lowered)| lowered)
    }
}

#[test]
fn a_thousand_rules_are_looked_into_within_their_budget() {
    let known = KnownTools::built_in();
    let policies = Policies::from(workload::compiled(1000));
    let lint = Lint {
        policies: &policies,
        known: &known,
        lower: &Tools(Place::new("/w", Some("/h".into())).isolated()),
        programs: &AddedPrograms::default(),
        attendance: Attendance::Unsaid,
    };
    let start = clock_gettime(ClockId::ThreadCPUTime);
    let report = lint.run();
    let end = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = end.tv_sec - start.tv_sec;
    let millis = seconds * 1000 + (end.tv_nsec - start.tv_nsec) / 1_000_000;
    let open = report
        .findings
        .iter()
        .filter(|finding| finding.code == podward_lint::Code::Undecided);
    println!(
        "{} steps, {millis} ms of CPU time, {} findings, {} of them undecided",
        report.n_steps,
        report.findings.len(),
        open.count()
    );
    assert!(!report.findings.is_empty());
    assert!(report.n_steps <= MOST_STEPS, "{} steps", report.n_steps);
}
