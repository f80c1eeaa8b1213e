//! "Did you mean".

/// Names longer than this are no slip of the pen.
const MOST_CHARS: usize = 64;

/// The one of the known words that is nearest to a wrong one, whatever the case.
pub(crate) fn nearest<'k>(
    wrong: &str,
    known: impl IntoIterator<Item = &'k str>,
) -> Option<&'k str> {
    if wrong.is_empty() || wrong.chars().count() > MOST_CHARS {
        return None;
    }
    let plain = |word: &str| word.to_lowercase().replace(['-', '_', ' '], "");
    let wrong = plain(wrong);
    let most = (wrong.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|word| (strsim::osa_distance(&wrong, &plain(word)), word))
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}
