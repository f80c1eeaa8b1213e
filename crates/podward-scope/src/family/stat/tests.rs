use super::*;

#[test]
fn the_name_of_a_process_is_no_field() {
    let fields = "S 7 1 1 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 4711 9 9";
    let expected = Some(ProcessStat {
        is_marked: false,
        parent: 7,
        start: 4711,
    });
    for name in ["bash", "a b", "x) R 1 (y", ")"] {
        assert_eq!(parse(&format!("12 ({name}) {fields}")), expected, "{name}");
    }
    let marked = parse(&format!("12 ({MARK}) {fields}")).unwrap();
    assert!(marked.is_marked);
    assert_eq!(parse("12 (bash) S 7"), None);
    assert_eq!(parse(""), None);
}

#[test]
fn this_process_has_a_parent() {
    let own = stat_of(rustix::process::getpid().as_raw_pid()).unwrap();
    let parent = rustix::process::getppid().map(rustix::process::Pid::as_raw_pid);
    assert_eq!(Some(own.parent), parent);
}
