use super::{written_word, written_words};

#[test]
fn what_is_written_is_read_back() {
    let lists: &[&[&str]] = &[
        &["git", "push"],
        &["git", "a b", "", "it's", "'", "\"x\"", "a\\b", "\\"],
        &["x", "'\\''", "a\nb", "\u{e9} \u{1f600}"],
        &[""],
    ];
    for list in lists {
        let written: Vec<_> = list.iter().map(|word| written_word(word)).collect();
        let text = written.join(" ");
        let words = written_words(&text);
        let read: Vec<&str> = words.iter().map(|word| &*word.word).collect();
        assert_eq!(read, *list, "{text}");
        let spans: Vec<&str> = words
            .iter()
            .map(|word| text.get(word.span.range()).unwrap())
            .collect();
        assert_eq!(spans, written, "{text}");
    }
}
