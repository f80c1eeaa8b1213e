//! What judging costs, in instructions.
//!
//! They are those that callgrind counts, of this program run again with a scenario in its environment.
//! Where valgrind is not installed, CPU times beside each other in one process stand alone, and the
//! test says so.

#![cfg(test)]

mod hostile;
mod instructions;
mod ratios;
mod workload;

use libtest_mimic::{Arguments, Trial};

fn main() {
    if let Some(scenario) = std::env::var_os("PODWARD_COST_SCENARIO") {
        instructions::run(scenario.to_str().unwrap_or_default());
        return;
    }
    let trials = vec![
        Trial::test(
            "a_decision_hardly_takes_longer_by_many_rules",
            ratios::check,
        ),
        Trial::test(
            "instructions_stay_within_their_budgets",
            instructions::check,
        ),
        Trial::test(
            "what_asks_is_found_out_where_it_is_judged",
            instructions::check_asked,
        ),
        Trial::test(
            "hostile_lists_and_texts_cost_in_proportion",
            instructions::check_hostile,
        ),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
