use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::time::Duration;

use super::{Plan, Reads, Restrict, Task};
use crate::decl::Shield;
use crate::level::Subtraction;

#[test]
fn arguments_say_the_whole_plan() {
    let odd = PathBuf::from(OsString::from_vec(b"/a b/\xff\n--write".to_vec()));
    let run = Task::Run {
        program: PathBuf::from("/bin/bash"),
        arguments: vec!["-c".into(), "--hide -- '".into(), OsString::new()],
        directory: odd.clone(),
        grace: Duration::from_millis(1500),
    };
    for subtraction in [
        Subtraction::NotNeeded,
        Subtraction::Mounts,
        Subtraction::Entries,
    ] {
        for reads in [
            Reads::Everything,
            Reads::Only(vec![]),
            Reads::Only(vec![odd.clone()]),
        ] {
            for restrict in [Restrict::Landlock, Restrict::Nothing] {
                for task in [Task::Probe, run.clone()] {
                    let plan = Plan {
                        writes: vec![odd.clone(), PathBuf::from("/t")],
                        reads: reads.clone(),
                        shields: vec![
                            (odd.clone(), Shield::Hidden),
                            (PathBuf::from("/s"), Shield::ReadOnly),
                        ],
                        subtraction,
                        restrict,
                    };
                    let arguments = plan.to_arguments(&task).into_iter();
                    assert_eq!(Plan::from_arguments(arguments), Ok((plan, task)));
                }
            }
        }
    }
}

#[test]
fn what_is_not_understood_is_refused() {
    for arguments in [
        vec!["--write"],
        vec!["--unknown", "x"],
        vec!["--subtraction", "magic"],
        vec!["--grace", "soon"],
        vec!["--"],
    ] {
        let arguments = arguments.iter().map(OsString::from);
        assert!(Plan::from_arguments(arguments).is_err());
    }
}
