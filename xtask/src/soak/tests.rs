use super::counts_of;

#[test]
fn the_closing_lines_are_summed() {
    let stdout = "test a ... ok\n\
        test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.1s\n\
        test result: FAILED. 12 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n";
    assert_eq!(counts_of(stdout), (15, 1));
}
