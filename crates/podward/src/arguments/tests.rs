use clap::{CommandFactory as _, Parser as _};

use super::{Arguments, Command};

#[test]
fn the_command_line_is_consistent() {
    Arguments::command().debug_assert();
}

#[test]
fn check_wants_a_whole_call_or_files_of_cases() {
    let parse = |line: &str| Arguments::try_parse_from(line.split(' '));
    for line in [
        "podward check --manifest a --tool bash --input {}",
        "podward check --manifest a --tool bash --input {} --isolated --workspace d",
        "podward check --cases a b --format json",
    ] {
        assert!(parse(line).is_ok(), "{line}");
    }
    for line in [
        "podward check",
        "podward check --manifest a",
        "podward check --manifest a --tool bash",
        "podward check --tool bash --input {}",
        "podward check --cases a --manifest b --tool bash --input {}",
        "podward check --cases a --isolated",
        "podward check --cases",
    ] {
        assert!(parse(line).is_err(), "{line}");
    }
}

#[test]
fn a_prompt_is_one_argument() {
    let parsed = Arguments::try_parse_from(["podward", "run", "m.toml", "do it"]);
    let Ok(Command::Run(run)) = parsed.map(|arguments| arguments.command) else {
        panic!("it is a run");
    };
    assert_eq!(run.prompt.as_deref(), Some("do it"));
    assert!(Arguments::try_parse_from(["podward", "run", "m.toml", "do", "it"]).is_err());
}

#[test]
fn what_auto_answers_is_never_taken_for_the_prompt() {
    let is_misread = |line: &str| super::misread(line.split(' ').map(Into::into)).is_some();
    for line in [
        "podward run --auto all m.toml",
        "podward run m.toml --auto known go",
    ] {
        assert!(is_misread(line), "{line}");
    }
    for line in [
        "podward run --auto=all m.toml go",
        "podward run --auto m.toml all",
        "podward run m.toml --auto -- all",
    ] {
        assert!(!is_misread(line), "{line}");
    }
}
