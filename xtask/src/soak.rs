//! The same tests as CI's at full counts, with a result file that says what ran where.

use std::process::Command;

use serde_json::{Value, json};

use crate::chores::{Outcome, cargo, output_of, root, say};

/// Where the result is written.
const RESULT: &str = "docs/soak/latest.json";

/// One run: a name, the tests of one crate, and the counts they read from the environment.
struct Run {
    name: &'static str,
    arguments: &'static [&'static str],
    counts: &'static [(&'static str, &'static str)],
}

const RUNS: &[Run] = &[
    Run {
        name: "policy",
        arguments: &["--package", "podward-policy"],
        counts: &[("PODWARD_CASES", "20000000")],
    },
    Run {
        name: "shell",
        arguments: &["--package", "podward-shell"],
        counts: &[("PODWARD_CASES", "100000")],
    },
    Run {
        name: "properties",
        arguments: &[
            "--workspace",
            "--exclude",
            "podward",
            "--exclude",
            "podward-policy",
            "--exclude",
            "podward-shell",
        ],
        counts: &[("PROPTEST_CASES", "4096")],
    },
    Run {
        name: "crashes",
        arguments: &["--package", "podward", "--test", "process", "crash"],
        counts: &[("PODWARD_CRASHES", "1000")],
    },
    Run {
        name: "children",
        arguments: &[
            "--package",
            "podward",
            "--test",
            "process",
            "--",
            "children::",
            "children_asked::",
            "children_crash::",
        ],
        counts: &[
            ("PODWARD_CHILD_RUNS", "1000"),
            ("PODWARD_CHILD_CRASHES", "200"),
        ],
    },
    Run {
        name: "questions",
        arguments: &[
            "--package",
            "podward",
            "--test",
            "process",
            "--",
            "races::",
            "parked::",
            "headless::",
            "load::",
        ],
        counts: &[
            ("PODWARD_LOAD_QUESTIONS", "10000"),
            ("PODWARD_LOAD_CLIENTS", "200"),
            ("PODWARD_RACES", "1000"),
            ("PODWARD_ASK_CRASHES", "1000"),
            ("PODWARD_HEADLESS_RUNS", "1000"),
        ],
    },
];

/// Runs what holds `only` in its name, or all. The results of the other runs stay, each with the
/// commit that it measured.
///
/// # Errors
/// A run failed, or the result cannot be written; a failed run is in the result too.
pub(crate) fn run(only: Option<&str>) -> Outcome {
    let root = root()?;
    let commit = git(&["rev-parse", "HEAD"])?;
    let is_clean = git(&["status", "--porcelain"])?.is_empty();
    let is_wanted = |run: &&Run| only.is_none_or(|only| run.name.contains(only));
    let runs: Vec<&Run> = RUNS.iter().filter(is_wanted).collect();
    if runs.is_empty() {
        let names: Vec<&str> = RUNS.iter().map(|run| run.name).collect();
        return Err(format!("soak: no such run; there are {}", names.join(", ")).into());
    }
    let file = root.join(RESULT);
    let mut results = kept(&std::fs::read_to_string(&file).unwrap_or_default(), &runs);
    let mut failed = Vec::new();
    for run in runs {
        let mut result = run_one(run)?;
        if result.get("passed") != Some(&Value::Bool(true)) {
            failed.push(run.name);
        }
        if let Value::Object(result) = &mut result {
            let date = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
            result.insert("commit".to_owned(), json!(commit));
            result.insert("clean".to_owned(), json!(is_clean));
            result.insert("date".to_owned(), json!(date));
        }
        results.push(result);
    }
    let result = json!({
        "machine": machine(),
        "rustc": output_of("rustc", Command::new("rustc").arg("--version"))?.trim(),
        "runs": results,
    });
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(file, format!("{result:#}\n"))?;
    say(&format!("soak: wrote {RESULT}"));
    if failed.is_empty() {
        Ok(())
    } else {
        Err(format!("soak: failed: {}", failed.join(", ")).into())
    }
}

/// The results of an earlier file that these runs do not measure anew.
fn kept(file: &str, runs: &[&Run]) -> Vec<Value> {
    let earlier: Value = serde_json::from_str(file).unwrap_or_default();
    let results = earlier.get("runs").and_then(Value::as_array);
    let is_kept = |result: &&Value| {
        let name = result.get("name").and_then(Value::as_str);
        RUNS.iter().any(|run| Some(run.name) == name)
            && !runs.iter().any(|run| Some(run.name) == name)
    };
    results
        .into_iter()
        .flatten()
        .filter(is_kept)
        .cloned()
        .collect()
}

fn run_one(run: &Run) -> Outcome<Value> {
    say(&format!("== soak: {}", run.name));
    let start = std::time::Instant::now();
    let mut command = cargo(&["test"])?;
    command.args(run.arguments).envs(run.counts.iter().copied());
    let output = command.output()?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    let (n_passed, n_failed) = counts_of(&stdout);
    if !output.status.success() {
        say(&stdout);
        say(&String::from_utf8_lossy(&output.stderr));
    }
    let counts: serde_json::Map<String, Value> = run
        .counts
        .iter()
        .map(|(name, count)| ((*name).to_owned(), json!(count)))
        .collect();
    Ok(json!({
        "name": run.name,
        "command": format!("cargo test {}", run.arguments.join(" ")),
        "counts": counts,
        "passed": output.status.success(),
        "n_passed": n_passed,
        "n_failed": n_failed,
        "seconds": start.elapsed().as_secs(),
    }))
}

/// Passed and failed tests, summed over the closing lines of `cargo test`.
fn counts_of(stdout: &str) -> (u64, u64) {
    let mut sums = (0, 0);
    for line in stdout
        .lines()
        .filter(|line| line.starts_with("test result:"))
    {
        let count_before = |word: &str| {
            line.split_once(word)
                .and_then(|(before, _)| before.split_whitespace().next_back())
                .and_then(|count| count.parse::<u64>().ok())
                .unwrap_or(0)
        };
        sums.0 += count_before(" passed");
        sums.1 += count_before(" failed");
    }
    sums
}

fn git(arguments: &[&str]) -> Outcome<String> {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(root()?);
    Ok(output_of("git", &mut command)?.trim().to_owned())
}

/// What the numbers were made on: cores, memory, kernel.
fn machine() -> Value {
    let first_word_of = |path: &str, key: &str| {
        std::fs::read_to_string(path)
            .unwrap_or_default()
            .lines()
            .find_map(|line| line.strip_prefix(key))
            .map(|rest| rest.trim_start_matches([':', ' ', '\t']).to_owned())
    };
    json!({
        "arch": std::env::consts::ARCH,
        "cores": std::thread::available_parallelism().map_or(0, usize::from),
        "memory": first_word_of("/proc/meminfo", "MemTotal"),
        "kernel": std::fs::read_to_string("/proc/sys/kernel/osrelease")
            .unwrap_or_default()
            .trim(),
    })
}

#[cfg(test)]
mod tests;
