use super::{MAX_LINE, Typed, next_line};

#[test]
fn only_whole_lines_are_taken_one_at_a_time() {
    let mut typed = b"y\n\nno, be".to_vec();
    assert_eq!(next_line(&mut typed), Some(Typed::Line("y".to_owned())));
    assert_eq!(next_line(&mut typed), Some(Typed::Line(String::new())));
    assert_eq!(next_line(&mut typed), None);
    typed.extend(b"cause \xff\n");
    let rest = "no, because \u{fffd}".to_owned();
    assert_eq!(next_line(&mut typed), Some(Typed::Line(rest)));
    assert!(typed.is_empty());
}

#[test]
fn a_line_that_a_terminal_may_have_cut_is_no_line() {
    let mut typed = vec![b'a'; MAX_LINE];
    typed.push(b'\n');
    assert_eq!(next_line(&mut typed), Some(Typed::TooLong));
}
