use serde_json::json;

use super::{RUNS, counts_of, kept};

#[test]
fn the_closing_lines_are_summed() {
    let stdout = "test a ... ok\n\
        test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.1s\n\
        test result: FAILED. 12 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n";
    assert_eq!(counts_of(stdout), (15, 1));
}

#[test]
fn a_run_leaves_the_results_of_the_others() {
    let result = |name: &str| json!({"name": name, "commit": "c0ffee"});
    let names = RUNS
        .iter()
        .map(|run| run.name)
        .chain(["a run of earlier times"]);
    let file = json!({"runs": names.map(result).collect::<Vec<_>>()}).to_string();
    let shell: Vec<_> = RUNS.iter().filter(|run| run.name == "shell").collect();
    let others = RUNS.iter().filter(|run| run.name != "shell");
    assert_eq!(
        kept(&file, &shell),
        others.map(|run| result(run.name)).collect::<Vec<_>>()
    );
    assert_eq!(kept("", &shell), Vec::<serde_json::Value>::new());
}
