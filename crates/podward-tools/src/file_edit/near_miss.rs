//! What the model may have meant by text that does not occur.

/// More lines are not compared: a miss is to be explained quickly.
const LINES_MAX: usize = 200_000;

/// Longer text is not compared line by line: the work is the product.
const WANTED_MAX: usize = 200;

/// A longer excerpt is no hint.
const EXCERPT_BYTES_MAX: usize = 2000;

/// Says what nearly occurs in `contents`, and what differs.
pub(crate) fn near_miss(old: &str, contents: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(contents);
    if let Some(bare) = without_line_numbers(old)
        && text.contains(bare.trim_end_matches('\n'))
    {
        return Some("It does without the line numbers, which are not part of the file".to_owned());
    }
    let trimmed = old.trim();
    if !trimmed.is_empty() && trimmed.len() < old.len() && text.contains(trimmed) {
        return Some("It does without the blanks and newlines at its ends".to_owned());
    }
    let wanted: Vec<&str> = trimmed.lines().collect();
    let lines: Vec<&str> = text.lines().take(LINES_MAX).collect();
    find(&lines, &wanted, |a, b| words(a).eq(words(b)))
        .map(|found| located(&lines, found, wanted.len(), "differs in blanks only"))
        .or_else(|| {
            find(&lines, &wanted, |a, b| {
                a.trim().eq_ignore_ascii_case(b.trim())
            })
            .map(|found| {
                located(
                    &lines,
                    found,
                    wanted.len(),
                    "differs in upper and lower case",
                )
            })
        })
        .or_else(|| {
            let first = wanted.first().filter(|line| line.trim().len() >= 4)?;
            let found = lines.iter().position(|line| line.trim() == first.trim())?;
            (wanted.len() > 1).then(|| {
                format!(
                    "Its first line does, at line {}, but not the lines that follow",
                    found + 1
                )
            })
        })
}

/// The text without `   12<tab>` in front of each line; `None` if a line has none.
fn without_line_numbers(old: &str) -> Option<String> {
    let mut bare = String::with_capacity(old.len());
    for line in old.split_inclusive('\n') {
        let (number, rest) = line.split_once('\t')?;
        let number = number.trim_start_matches(' ');
        if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        bare.push_str(rest);
    }
    (!bare.trim().is_empty()).then_some(bare)
}

fn find(lines: &[&str], wanted: &[&str], is_same: impl Fn(&str, &str) -> bool) -> Option<usize> {
    if wanted.is_empty() || wanted.len() > WANTED_MAX {
        return None;
    }
    lines.windows(wanted.len()).position(|window| {
        window
            .iter()
            .zip(wanted)
            .all(|(line, want)| is_same(line, want))
    })
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split_whitespace()
}

fn located(lines: &[&str], start: usize, n_lines: usize, what: &str) -> String {
    let found = lines.get(start..start + n_lines).unwrap_or_default();
    let excerpt = found.join("\n");
    let place = match n_lines {
        1 => format!("Line {}", start + 1),
        _ => format!("The text of lines {} to {}", start + 1, start + n_lines),
    };
    if excerpt.len() > EXCERPT_BYTES_MAX {
        return format!("{place} {what}");
    }
    format!("{place} {what}:\n{excerpt}")
}

#[cfg(test)]
mod tests;
