use proptest::prelude::*;

use super::*;

fn parse(pieces: &[&[u8]]) -> Vec<(String, String)> {
    let mut parser = SseParser::default();
    let mut events = Vec::new();
    for piece in pieces {
        let found = parser.push(piece).unwrap();
        events.extend(found.into_iter().map(|event| (event.name, event.data)));
    }
    events
}

/// The same over a whole text, in a few lines.
fn naive(text: &str) -> Vec<(String, String)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let Some((complete, _)) = text.rsplit_once('\n') else {
        return Vec::new();
    };
    let mut events = Vec::new();
    let (mut name, mut data) = (String::new(), Vec::new());
    for line in complete.split('\n') {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "" if line.is_empty() => {
                if !data.is_empty() {
                    events.push((name.clone(), data.join("\n")));
                }
                (name, data) = (String::new(), Vec::new());
            }
            "event" => name = value.to_owned(),
            "data" => data.push(value.to_owned()),
            _ => {}
        }
    }
    events
}

#[track_caller]
fn check(text: &str, expected: &[(&str, &str)]) {
    let expected: Vec<_> = expected
        .iter()
        .map(|&(name, data)| (name.to_owned(), data.to_owned()))
        .collect();
    assert_eq!(parse(&[text.as_bytes()]), expected, "{text:?}");
    assert_eq!(naive(text), expected, "{text:?}");
}

#[test]
fn events_are_read_as_the_standard_says() {
    check("data: a\n\n", &[("", "a")]);
    check("data:a\r\n\r\n", &[("", "a")]);
    check("data: a\r\rdata: b\n\n", &[("", "a"), ("", "b")]);
    check("event: e\ndata: a\ndata: b\n\n", &[("e", "a\nb")]);
    check("data\n\n", &[("", "")]);
    check("data:  a\n\n", &[("", " a")]);
    check(": a comment\n\nid: 7\nretry: 3\ndata: a\n\n", &[("", "a")]);
    check("event: e\n\ndata: a\n\n", &[("", "a")]);
    check("\u{feff}data: a\n\n", &[("", "a")]);
    check("data: a\n", &[]);
    check("data: a", &[]);
}

#[test]
fn what_is_larger_than_any_event_is_refused() {
    let piece = vec![b'x'; 1024 * 1024];
    let mut parser = SseParser::default();
    let n_taken = (0..100).take_while(|_| parser.push(&piece).is_ok()).count();
    assert_eq!(n_taken, 16);

    let mut parser = SseParser::default();
    let line = [b"data: ".as_slice(), &piece, b"\n"].concat();
    let n_taken = (0..100).take_while(|_| parser.push(&line).is_ok()).count();
    assert_eq!(n_taken, 15);
}

proptest! {
    #[test]
    fn how_a_stream_is_cut_makes_no_difference(
        text in "(data|event|id|:|: |x|\r|\n|\r\n|\n\n|ä|\u{feff}){0,40}",
        cuts in prop::collection::vec(0..200usize, 0..8),
    ) {
        let bytes = text.as_bytes();
        let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]).collect();
        prop_assert_eq!(parse(&pieces), naive(&text));
    }

    #[test]
    fn no_bytes_are_too_odd(pieces in prop::collection::vec(any::<Vec<u8>>(), 0..8)) {
        let mut parser = SseParser::default();
        for piece in pieces {
            parser.push(&piece).unwrap();
        }
    }
}
