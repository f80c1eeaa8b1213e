use proptest::prelude::*;

use super::{COUNT_MAX, Edit, EditError, Occurrences};

fn edit(old: &str, new: &str, occurrences: Occurrences) -> Edit {
    Edit {
        old: old.to_owned(),
        new: new.to_owned(),
        occurrences,
    }
}

fn only(old: &str, new: &str, contents: &[u8]) -> Result<Vec<u8>, EditError> {
    edit(old, new, Occurrences::TheOnlyOne)
        .apply(contents, 10_000)
        .map(|edited| edited.contents)
}

#[test]
fn line_ends_of_the_file_are_kept() {
    for (contents, old, new, expected) in [
        // A model writes LF; the file has CRLF.
        (
            &b"a\r\nb\r\nc\r\n"[..],
            "a\nb",
            "x\ny\nz",
            &b"x\r\ny\r\nz\r\nc\r\n"[..],
        ),
        (b"a\r\nb\r\n", "a", "x\ny", b"x\r\ny\r\nb\r\n"),
        (b"a\r\nb\r\n", "a\r\nb", "x\r\ny", b"x\r\ny\r\n"),
        (b"a\nb\n", "a\r\nb", "x\r\ny", b"x\ny\n"),
        // Mixed ends: exact text only.
        (b"a\r\nb\nc\n", "b\nc", "x\ny", b"a\r\nx\ny\n"),
        (b"\xef\xbb\xbfa\n", "a", "b", b"\xef\xbb\xbfb\n"),
        (b"caf\xe9 a\n", "a\n", "b\n", b"caf\xe9 b\n"),
    ] {
        assert_eq!(only(old, new, contents).unwrap(), expected, "{old:?}");
    }
    assert_eq!(only("a\nb", "x", b"a\r\nb\nc"), Err(EditError::NotFound));
}

#[test]
fn occurrences_that_overlap_are_not_unique() {
    assert_eq!(
        only("aa", "b", b"aaa"),
        Err(EditError::Ambiguous(vec![1, 1]))
    );
    assert_eq!(only("aa", "b", b"aa").unwrap(), b"b");
    let Err(EditError::Ambiguous(lines)) = only("a", "b", &[b'a'; 10_000]) else {
        panic!("many occurrences are ambiguous");
    };
    assert_eq!(lines.len(), COUNT_MAX);
    let all = edit("aa", "b", Occurrences::All)
        .apply(b"aaaaa", 10_000)
        .unwrap();
    assert_eq!((&*all.contents, all.n_replaced), (&b"bba"[..], 2));
}

#[test]
fn a_replacement_does_not_grow_without_bound() {
    let all = edit("a", &"b".repeat(1_000_000), Occurrences::All);
    let error = all.apply(&[b'a'; 1_000_000], 10_000_000).unwrap_err();
    assert_eq!(error, EditError::TooLarge(10_000_000));
}

proptest! {
    #[test]
    fn replacing_all_is_what_the_standard_library_does(
        contents in "[ab\n]{0,40}", old in "[ab\n]{1,3}", new in "[abc]{0,3}",
    ) {
        let edited = edit(&old, &new, Occurrences::All).apply(contents.as_bytes(), 10_000);
        match edited {
            Ok(edited) => {
                prop_assert_eq!(edited.contents, contents.replace(&old, &new).into_bytes());
                prop_assert_eq!(edited.n_replaced, contents.matches(&old).count());
            }
            Err(error) => {
                prop_assert_eq!(error, EditError::NotFound);
                prop_assert!(!contents.contains(&old));
            }
        }
    }

    #[test]
    fn bytes_outside_the_replaced_text_stay(
        before in prop::collection::vec(1_u8..=255, 0..20),
        after in prop::collection::vec(1_u8..=255, 0..20),
    ) {
        let contents = [&before[..], b"<<unique>>", &after[..]].concat();
        let expected = [&before[..], b"new", &after[..]].concat();
        prop_assert_eq!(only("<<unique>>", "new", &contents).unwrap(), expected);
    }
}
