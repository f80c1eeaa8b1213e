//! Programs that run several tasks, one after the other.

use super::Call;
use crate::arg::Arg;
use crate::limits;
use crate::options::{Usage, is_setting};
use crate::walk::Walker;

/// Programs all of whose operands are tasks.
const RUNS_EACH: &[&str] = &[
    "make", "gmake", "bmake", "ninja", "samu", "mvn", "mvnw", "gradle", "gradlew", "ant", "rake",
    "task", "go-task", "mage", "invoke", "inv", "doit",
];

impl Walker<'_, '_> {
    /// `make all deploy` runs `make deploy` too: deny rules see each task on its own.
    pub(super) fn further_tasks(&mut self, call: &Call<'_>, usage: &Usage<'_>) {
        let Some(program) = call.args.first() else {
            return;
        };
        let name = program.program().unwrap_or_default();
        let base = name.rsplit('/').next().unwrap_or(&name);
        if !RUNS_EACH.contains(&base) {
            return;
        }
        let arguments = call.args.get(1..).unwrap_or_default();
        let tasks: Vec<&Arg> = usage
            .operands
            .iter()
            .filter_map(|idx| arguments.get(*idx))
            .filter(|arg| !is_setting(arg.prefix()))
            .skip(1)
            .take(limits::LOOP_ROUNDS)
            .collect();
        for task in tasks {
            self.seen_command(call, &[program.clone(), task.clone()]);
        }
    }
}
