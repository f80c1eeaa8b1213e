use std::collections::HashMap;

use super::{Gram, Grams, MOST_BYTES, Pieces, Stride};

/// All ways to go on behind four bytes, in characters of a text.
fn grams(piece: &str) -> impl Iterator<Item = String> {
    let characters = || (b'!'..b'@').chain(b'a'..b'{').map(char::from);
    let three = move |a: char| {
        let two = move |b: char| characters().map(move |c| [a, b, c]);
        characters().flat_map(two)
    };
    let rest = characters().flat_map(three);
    rest.map(move |rest| piece.chars().chain(rest).collect())
}

/// What another gram with the same hash has added is not what this one adds: else a text could hide a key.
#[test]
fn a_gram_of_the_same_hash_hides_no_key() {
    let long_key = |gram: &str| Gram::of(gram.as_bytes()).key(MOST_BYTES);
    // The lowest bits are told by the first four bytes alone.
    let lowest = |piece: &str| long_key(&format!("{piece}aaa")) % 256;
    let mut others = (b'a'..=b'z').flat_map(|a| (b'a'..=b'z').map(move |b| [a, b]));
    let other = others.find_map(|[a, b]| {
        let piece = format!("{}{}ss", char::from(a), char::from(b));
        (lowest(&piece) == lowest("secr")).then_some(piece)
    });
    let other = other.unwrap();
    let mut pieces = Pieces::default();
    let mut keys = Vec::new();
    for piece in [&other, "secr"] {
        pieces.add(piece.as_bytes(), Stride::One, |key| keys.push(key));
    }
    let all = Grams::new(&pieces);
    let first: HashMap<u32, String> = grams(&other).map(|gram| (long_key(&gram), gram)).collect();
    let mut n_tried = 0;
    for second in grams("secr") {
        let Some(first) = first.get(&long_key(&second)) else {
            continue;
        };
        let text = format!("{first} {second}");
        let mut found = Vec::new();
        all.look_up(text.as_bytes(), Stride::One, |key| found.push(key));
        assert!(keys.iter().all(|key| found.contains(key)), "{text}");
        n_tried += 1;
    }
    assert!(n_tried > 0, "no two grams have the same hash");
}
