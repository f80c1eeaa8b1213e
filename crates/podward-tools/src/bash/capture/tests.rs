use proptest::prelude::*;

use super::Capture;

fn captured(bytes_max: usize, chunks: &[&[u8]]) -> String {
    let mut capture = Capture::new(bytes_max);
    for chunk in chunks {
        capture.push(chunk);
    }
    capture.into_text()
}

#[test]
fn head_and_tail_are_kept_and_a_mark_says_how_much_was_cut() {
    for (bytes_max, chunks, text) in [
        (8, &[b"12345678".as_slice()] as &[&[u8]], "12345678"),
        (8, &[b"1234", b"56", b"78"], "12345678"),
        (8, &[b"123456789"], "1234\n[... 1 bytes cut ...]\n6789"),
        (
            8,
            &[b"12\n\n", b"567", b"89ab"],
            "12\n\n[... 3 bytes cut ...]\n89ab",
        ),
        (0, &[b"12345"], "[... 5 bytes cut ...]\n"),
        (8, &[], ""),
    ] {
        assert_eq!(captured(bytes_max, chunks), text);
    }
}

#[test]
fn a_character_is_cut_as_a_whole_and_broken_bytes_are_shown() {
    let euros = "€€€€€".as_bytes();
    assert_eq!(captured(8, &[euros]), "€\n[... 9 bytes cut ...]\n€");
    assert_eq!(captured(100, &[b"a\xff\xfeb\0"]), "a\u{fffd}\u{fffd}b\0");
    assert_eq!(
        captured(4, &[b"a\xffxxxx\xffb"]),
        "a\u{fffd}\n[... 4 bytes cut ...]\n\u{fffd}b"
    );
}

proptest! {
    #[test]
    fn however_it_arrives_the_text_is_the_same(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        chunk in 1_usize..50,
        bytes_max in 0_usize..200,
    ) {
        let chunks: Vec<&[u8]> = bytes.chunks(chunk).collect();
        let text = captured(bytes_max, &chunks);
        prop_assert_eq!(&text, &captured(bytes_max, &[&bytes]));
        if bytes.len() <= bytes_max / 2 * 2 {
            prop_assert_eq!(text, String::from_utf8_lossy(&bytes));
        }
    }
}
