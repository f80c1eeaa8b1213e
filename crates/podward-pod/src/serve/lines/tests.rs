use tokio::io::BufReader;

use super::*;

/// Reads all lines of a text that comes in pieces of `n_bytes`.
async fn read_all(text: &[u8], n_bytes: usize, max: usize) -> Vec<Read> {
    let mut reader = BufReader::with_capacity(n_bytes, text);
    let mut all = Vec::new();
    loop {
        let read = next_line(&mut reader, max).await.unwrap();
        all.push(read.clone());
        if !matches!(read, Read::Line(_)) {
            return all;
        }
    }
}

#[tokio::test]
async fn lines_come_whole_wherever_they_are_cut() {
    let line = |text: &str| Read::Line(text.as_bytes().to_vec());
    for n_bytes in [1, 2, 3, 64] {
        assert_eq!(
            read_all(b"abc\n\ndefg\nlost", n_bytes, 4).await,
            [line("abc"), line(""), line("defg"), Read::End],
            "{n_bytes}"
        );
        assert_eq!(
            read_all(b"abcd\nabcde\n", n_bytes, 4).await,
            [line("abcd"), Read::TooLong],
            "{n_bytes}"
        );
    }
}
