use super::{Unit, shown, table, value};
use crate::chores::root;

#[test]
fn a_limit_is_what_its_constant_says() {
    let source = "const A: usize = 2 * 1024;\npub const B: u64 = 2 * a::MAX + 1;\n\
        const C: Duration = Duration::from_secs(10);\nconst D: usize = \"x\".len();\n";
    assert_eq!(value(source, "A", &[]), Some(2048));
    assert_eq!(value(source, "B", &[("MAX", 5)]), Some(11));
    assert_eq!(value(source, "B", &[]), None);
    assert_eq!(value(source, "C", &[]), Some(10));
    assert_eq!(value(source, "D", &[]), None);
    assert_eq!(value(source, "E", &[]), None);
}

#[test]
fn sizes_are_shown_in_the_largest_whole_unit() {
    assert_eq!(shown(8 * 1024 * 1024, Unit::Bytes), "8 MiB");
    assert_eq!(shown(16 * 1024, Unit::Bytes), "16 KiB");
    assert_eq!(shown(1000, Unit::Bytes), "1000 bytes");
    assert_eq!(shown(30, Unit::Seconds), "30 s");
}

#[test]
fn every_limit_is_found() {
    let table = table(&root().unwrap()).unwrap();
    assert!(
        table.contains("| 1 MiB | a line that a pod reads"),
        "{table}"
    );
}
