//! Runs a text under bash with every program logged, and compares with what was found.

pub(crate) mod generate;

use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use podward_policy::{Lowered, Subject, Text, written_word};

use crate::lexical;

/// Runs each of its arguments in a subshell of its own, in an empty directory, with a log of its
/// own. `eval` reads a text as `bash -c` does: both are one function of bash. The limits end a text
/// that runs on: processor seconds, and blocks of a file.
const DRIVER: &str = r#"
command_not_found_handle() {
    builtin printf -v PODWARD_LINE '%s\001' "$@"
    # One line is one write: parallel parts of a text do not mix.
    builtin printf '%s\n' "${PODWARD_LINE//$'\n'/$'\002'}" >> "$PODWARD_LOG"
    return "$PODWARD_STATUS"
}
ulimit -t 2 -f 64
FUNCNEST=10
PODWARD_INDEX=0
for PODWARD_TEXT; do
    (
        PODWARD_LOG=$PODWARD_ROOT/$PODWARD_INDEX.log
        cd "$PODWARD_ROOT/$PODWARD_INDEX" || exit
        set --
        # File name patterns are written down as they are read.
        set -f
        eval "$PODWARD_TEXT"
        wait
    ) < /dev/null > /dev/null 2> /dev/null
    PODWARD_INDEX=$((PODWARD_INDEX + 1))
done
builtin kill -KILL 0
"#;

/// Texts that one process of bash runs.
const BATCH: usize = 100;

pub(crate) struct Bash {
    program: PathBuf,
}

/// What came of the comparisons.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) misses: Vec<String>,
    /// Texts under which bash started a program.
    n_ran: usize,
    /// Those of them that were understood to the last command.
    n_understood: usize,
}

impl Bash {
    pub(crate) fn find() -> Self {
        let places = ["/bin/bash", "/usr/bin/bash"].map(PathBuf::from);
        let found = places.into_iter().find(|path| path.exists());
        assert!(found.is_some(), "this test compares with bash: install it");
        let program = found.unwrap();
        Self { program }
    }

    /// The words of every program that bash starts, for each text.
    fn run(&self, texts: &[String], status: &str) -> Vec<Vec<Vec<String>>> {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        for idx in 0..texts.len() {
            std::fs::create_dir_all(root.join(idx.to_string()).join("sub")).unwrap();
        }
        Command::new(&self.program)
            .args(["--noprofile", "--norc", "-c", DRIVER, "bash"])
            .args(texts)
            .env_clear()
            .env("PATH", "/nowhere")
            .env("HOME", lexical::HOME)
            .env("LC_ALL", "C.UTF-8")
            .env("PODWARD_ROOT", root)
            .env("PODWARD_STATUS", status)
            .current_dir(root)
            // The driver ends its group: nothing that a text started outlives it.
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        (0..texts.len())
            .map(|idx| calls(&std::fs::read(root.join(format!("{idx}.log"))).unwrap_or_default()))
            .collect()
    }

    /// Runs texts with the programs of `place/bin`: what was started and not found, and how many
    /// texts started something, and how many of those are understood.
    pub(crate) fn wrapped(
        &self,
        texts: &[String],
        place: &std::path::Path,
    ) -> (Vec<String>, usize, usize) {
        let mut tally = Tally::default();
        let log = place.join("log");
        for text in texts {
            std::fs::write(&log, "").unwrap();
            Command::new(&self.program)
                .args(["--noprofile", "--norc", "-c", text])
                .env_clear()
                .env("PATH", place.join("bin"))
                .env("HOME", lexical::HOME)
                .env("LC_ALL", "C.UTF-8")
                .env("PODWARD_LOG", &log)
                .current_dir(place)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .unwrap();
            tally.add(text, &calls(&std::fs::read(&log).unwrap()));
        }
        (tally.misses, tally.n_ran, tally.n_understood)
    }

    pub(crate) fn compare(&self, texts: &[String], tally: &mut Tally) {
        for batch in texts.chunks(BATCH) {
            let succeeding = self.run(batch, "0");
            let failing = self.run(batch, "1");
            for ((text, first), second) in batch.iter().zip(succeeding).zip(failing) {
                let calls: Vec<Vec<String>> = first.into_iter().chain(second).collect();
                tally.add(text, &calls);
            }
        }
    }
}

fn calls(log: &[u8]) -> Vec<Vec<String>> {
    String::from_utf8_lossy(log)
        .lines()
        .map(|line| {
            line.split_terminator('\u{1}')
                .map(|word| word.replace('\u{2}', "\n"))
                .collect()
        })
        .collect()
}

impl Tally {
    fn add(&mut self, text: &str, calls: &[Vec<String>]) {
        let lowered = podward_shell::lower(text, &lexical::place());
        let is_unknown = match &lowered {
            Lowered::NothingToRun => false,
            Lowered::Operations(operations) => operations
                .iter()
                .any(|operation| matches!(operation.subject, Subject::Unknown(_))),
        };
        self.n_ran += usize::from(!calls.is_empty());
        self.n_understood += usize::from(!calls.is_empty() && !is_unknown);
        for call in calls {
            if !is_unknown && !finds(&lowered, call) {
                let miss = format!("{text:?} ran {call:?}");
                if self.misses.last() != Some(&miss) {
                    self.misses.push(miss);
                }
            }
        }
    }

    /// Fails on a miss, and where too little was compared to mean anything.
    pub(crate) fn finish(self, n_cases: usize) {
        eprintln!(
            "{n_cases} texts, {} ran something, {} of them understood",
            self.n_ran, self.n_understood
        );
        assert_eq!(self.misses, Vec::<String>::new());
        assert!(self.n_ran * 4 >= n_cases, "too few texts run anything");
        assert!(
            self.n_understood * 2 >= self.n_ran,
            "too few texts are understood"
        );
    }
}

/// Whether a command with these words is among the operations.
pub(crate) fn finds(lowered: &Lowered, call: &[String]) -> bool {
    let Lowered::Operations(operations) = lowered else {
        return false;
    };
    let words: Vec<_> = call.iter().map(|word| written_word(word)).collect();
    let ran = words.join(" ");
    operations.iter().any(|operation| match &operation.subject {
        Subject::Command(command) => {
            let fits = |ran: &str| fits(&command.written, command.name_start, ran);
            // A `~` stays one in what rules see as written.
            fits(&ran) || fits(&ran.replace(lexical::HOME, "~"))
        }
        _ => false,
    })
}

/// Whether some filling of the holes makes the text behind its assignments this one.
fn fits(text: &Text, start: usize, ran: &str) -> bool {
    let known = text.known_part();
    let mut parts = Vec::new();
    let mut done = start;
    for hole in text.holes().iter().filter(|hole| hole.at >= start) {
        parts.push(&known[done..hole.at]);
        done = hole.at;
    }
    parts.push(&known[done..]);
    if let [only] = parts.as_slice() {
        return *only == ran;
    }
    // A hole may bring or take the quotes and the blank around its word.
    let loose = |part: &str| part.replace(['\'', '"'], "");
    let mut rest = ran.replace(['\'', '"'], "");
    for (n, part) in parts.iter().enumerate() {
        let part = loose(part);
        let part = if n > 0 { part.trim_start() } else { &part };
        let part = if n + 1 < parts.len() {
            part.trim_end()
        } else {
            part
        };
        if n == 0 {
            match rest.strip_prefix(part) {
                Some(after) => rest = after.to_owned(),
                None => return false,
            }
        } else if n + 1 == parts.len() {
            return rest.ends_with(part);
        } else {
            match rest.find(part) {
                Some(at) => rest = rest[at + part.len()..].to_owned(),
                None => return false,
            }
        }
    }
    true
}
