mod help;

use super::{PROGRAMS, Problem};

#[test]
fn every_line_of_the_data_is_understood() {
    let problems: Vec<&Problem<'_>> = PROGRAMS.problems.iter().collect();
    assert_eq!(problems, Vec::<&Problem<'_>>::new());
    assert!(PROGRAMS.get("git").is_some());
    assert!(PROGRAMS.get("ld-linux-x86-64.so.2").is_some());
}
